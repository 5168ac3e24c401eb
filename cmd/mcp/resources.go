package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"web/action"
	"web/spill"
	"web/spill/confined"
)

// server is one session's own part.
type server struct {
	cfg Config
	// calls ends when no call may go on.
	calls context.Context
	slots chan struct{}
}

// The addresses of the resources.
const (
	manualURI   = "web://manual"
	artifactURI = "web://artifacts/"
)

const (
	// pageSize is how many resources one answer lists.
	pageSize = 100
	// maxArtifactBytes is the longest artifact that is sent; the file of a longer one is still there.
	maxArtifactBytes = 32 << 20
)

func (s *server) manualResource() *sdk.Resource {
	return &sdk.Resource{URI: manualURI, Name: "manual", Title: "Manual of the web tools", MIMEType: "text/markdown", Description: "Every field, every error code, and what to do about it."}
}

func (s *server) addResources(server *sdk.Server) {
	server.AddResource(s.manualResource(), s.readManual)
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: artifactURI + "{name}", Name: "artifact", Title: "A result kept in a file",
		Description: "A complete result that was too long to return; " + spill.Dir + "/{name} in the working directory.",
	}, s.readArtifact)
}

// listResources takes the SDK's place in listing: artifacts come and go on disk, by other processes too.
func (s *server) listResources(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method != "resources/list" {
			return next(ctx, method, req)
		}
		cursor := ""
		if p, ok := req.GetParams().(*sdk.ListResourcesParams); ok && p != nil {
			cursor = p.Cursor
		}
		return s.resources(cursor)
	}
}

// resources lists the manual and then the artifacts by name, which is the newest first. The cursor is the name
// behind which to go on, so a page stays right when artifacts come and go between two.
func (s *server) resources(cursor string) (*sdk.ListResourcesResult, error) {
	if cursor != "" && artifactLink(spill.Dir+"/"+cursor) == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor is not one of this server; list again without it"}
	}
	res := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: sdk.Cacheable{CacheScope: "private"}}
	if cursor == "" {
		res.Resources = append(res.Resources, s.manualResource())
	}
	entries, err := s.entries()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b spill.Entry) int { return strings.Compare(b.Path, a.Path) })
	for _, e := range entries {
		name := path.Base(e.Path)
		if cursor != "" && name >= cursor {
			continue
		}
		if len(res.Resources) == pageSize {
			res.NextCursor = res.Resources[pageSize-1].Name
			break
		}
		link := artifactLink(e.Path)
		res.Resources = append(res.Resources, &sdk.Resource{
			URI: link.URI, Name: link.Name, Title: link.Title, MIMEType: link.MIMEType, Size: e.Bytes,
			Annotations: &sdk.Annotations{LastModified: e.ModTime.UTC().Format(time.RFC3339)},
		})
	}
	return res, nil
}

// artifactLink points to an artifact by its path, relative to the working directory; nil for another file.
func artifactLink(file string) *sdk.ResourceLink {
	name := path.Base(file)
	if path.Dir(file) != spill.Dir || name != file[len(spill.Dir)+1:] || strings.ContainsAny(name, "%/\\?#") {
		return nil
	}
	link := &sdk.ResourceLink{URI: artifactURI + name, Name: name, Title: "Result kept in " + file}
	switch path.Ext(name) {
	case ".md":
		link.MIMEType = "text/markdown"
	case ".json":
		link.MIMEType = "application/json"
	case ".txt":
		link.MIMEType = "text/plain"
	default:
		return nil
	}
	return link
}

var errWorkdir = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the artifacts cannot be read: make " + spill.Dir + " in the working directory a readable directory that is no link"}

func (s *server) entries() ([]spill.Entry, error) {
	root, err := s.cfg.Root()
	if err != nil {
		return nil, errWorkdir
	}
	defer root.Close()
	entries, err := spill.Store{Root: root, Now: s.cfg.Now}.List()
	if err != nil {
		return nil, errWorkdir
	}
	return entries, nil
}

// readArtifact reads nothing but what List lists: a name never becomes a path before it was seen there.
func (s *server) readArtifact(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	name, ok := strings.CutPrefix(req.Params.URI, artifactURI)
	if !ok {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	entries, err := s.entries()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(entries, func(e spill.Entry) bool { return path.Base(e.Path) == name })
	if i < 0 {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	tooLong := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("the artifact is longer than %d bytes; read the file %s", maxArtifactBytes, entries[i].Path)}
	if entries[i].Bytes > maxArtifactBytes {
		return nil, tooLong
	}
	root, err := s.cfg.Root()
	if err != nil {
		return nil, errWorkdir
	}
	defer root.Close()
	dir, err := confined.OpenDir(root, spill.Dir, false)
	if err != nil {
		return nil, errWorkdir
	}
	defer dir.Close()
	data, err := confined.ReadTail(dir, name, maxArtifactBytes+1)
	if err != nil {
		return nil, sdk.ResourceNotFoundError(req.Params.URI) // gone since, or no longer a file
	}
	if len(data) > maxArtifactBytes {
		return nil, tooLong
	}
	contents := &sdk.ResourceContents{URI: req.Params.URI}
	if link := artifactLink(entries[i].Path); link != nil {
		contents.MIMEType = link.MIMEType
	}
	if utf8.Valid(data) {
		contents.Text = string(data)
	} else {
		contents.Blob = data
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
}

// readManual asks for the manual as a tool call does, so that an installed one is the one that is read.
func (s *server) readManual(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	caller, done := s.cfg.Caller()
	defer done()
	switch ans := caller.Call(ctx, []byte(`{"action":"manual","input":{}}`)).(type) {
	case *action.ManualAnswer:
		if ans.Status != action.OK {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: ans.Error}
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: manualURI, MIMEType: "text/markdown", Text: ans.Manual}}}, nil
	case *action.Failure:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: failureText(ans)}
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the manual could not be read"}
}

const (
	statelessRevision = "2026-07-28"
	// codeNotFound is what the revisions before statelessRevision call a resource that is not there.
	codeNotFound = -32002
)

// notFound says that a resource is not there, in the terms of the host's revision. The SDK knows only the newest,
// and quotes the address in a way that is not always JSON.
func notFound(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		read, ok := req.(*sdk.ReadResourceRequest)
		var wire *jsonrpc.Error
		if !ok || !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			return res, err
		}
		out := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such resource; resources/list names those that there are"}
		if read.ProtocolVersion() < statelessRevision {
			out.Code = codeNotFound
		}
		out.Data, err = json.Marshal(map[string]string{"uri": shortened(read.Params.URI)})
		if err != nil {
			out.Data = nil // only text that is not UTF-8 can get here, and shortened repairs it
		}
		return nil, out
	}
}
