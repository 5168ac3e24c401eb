package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"web/action"
	"web/action/schema"
	"web/settings/strictjson"
)

// tool is one action as a host sees it.
type tool struct {
	action, name, title, description string
	// open: the action reaches out to the web.
	open bool
	// root: the envelope's own optional fields, reasoning and summarize, are offered beside the action's.
	root bool
}

// known says how the actions are called and described to a model. An action that is not here is offered too,
// under a plain name.
var known = []tool{
	{
		action: "web_search", name: "web_search", title: "Search the web", open: true,
		description: "Search the public web. Returns up to 20 results with title, URL, snippet and link_ref. Can be narrowed to a site, to recent pages and to a region.",
	},
	{
		action: "web_fetch", name: "web_fetch", title: "Read a web page in parts", open: true,
		description: "Read one public web page as Markdown, at most 32,000 characters at a time. When next_offset is not null there is more: call again with offset set to it and expected_hash set to content_hash.",
	},
	{
		action: "browse", name: "web_browse", title: "Read a whole web page", open: true, root: true,
		description: "Read one public web page completely, with its headings, lists, tables, code and links. Give one of url, link_ref and cursor. A page longer than the threshold is kept whole in a file, which the answer names.",
	},
	{
		action: "manual", name: "web_manual", title: "Manual of the web tools",
		description: "Return the manual of these tools: every field, every error code and what to do about it. Needs no network.",
	},
	{
		action: "search", name: "web_search_all", title: "Search the web, complete results", open: true, root: true,
		description: "Search the public web and get everything that the engine gave: all results, and its own narrative where it writes one. Results longer than the threshold are kept whole in a file, which the answer names.",
	},
}

// available lists the tools of the actions that the program has.
func available() []tool {
	var out []tool
	for _, name := range schema.Actions() {
		i := slices.IndexFunc(known, func(t tool) bool { return t.action == name })
		if i >= 0 {
			out = append(out, known[i])
			continue
		}
		plain := strings.TrimPrefix(name, "web_")
		out = append(out, tool{action: name, name: "web_" + plain, title: "web " + plain, description: "The action " + name + " of web; see web_manual.", open: true})
	}
	slices.SortFunc(out, func(a, b tool) int { return strings.Compare(a.name, b.name) })
	return out
}

// Tools lists the names that Config.Tools may hold, in the order in which a host is shown them.
func Tools() []string {
	var out []string
	for _, t := range available() {
		out = append(out, t.name)
	}
	return out
}

func choose(names []string) ([]tool, error) {
	all := available()
	if len(names) == 0 {
		return all, nil
	}
	for _, n := range names {
		if !slices.ContainsFunc(all, func(t tool) bool { return t.name == n }) {
			return nil, fmt.Errorf("mcp: there is no tool %q", n)
		}
	}
	return slices.DeleteFunc(all, func(t tool) bool { return !slices.Contains(names, t.name) }), nil
}

// describe is the tool on the wire.
func (t tool) describe() *sdk.Tool {
	no := false
	return &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description, InputSchema: t.input(),
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &t.open},
	}
}

// call runs one tool call. A failure of the action is a result that the model reads; an error is one of the
// protocol.
func (s *server) call(ctx context.Context, t tool, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(s.calls, func() { cancel(context.Cause(s.calls)) })
	defer stop()
	quiet := s.report(ctx, t, req)
	defer quiet()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done(): // the action answers that, without doing anything first
	}
	caller, done := s.cfg.Caller()
	defer done()
	ans := caller.Call(ctx, t.envelope(req.Params.Arguments))
	return result(ans, req.ProtocolVersion()), nil
}

// envelope is the program's own request for a call. What is wrong with the arguments is left in, for the action
// to say.
func (t tool) envelope(arguments json.RawMessage) []byte {
	input, root := arguments, map[string]any{}
	if len(input) == 0 || bytes.Equal(bytes.TrimSpace(input), []byte("null")) {
		input = json.RawMessage("{}")
	}
	if tree, err := strictjson.Parse(input); err == nil && t.root {
		if fields, ok := tree.(map[string]any); ok {
			for _, name := range rootFields() {
				if v, given := fields[name]; given {
					root[name] = v
					delete(fields, name)
				}
			}
			if len(root) > 0 {
				input, _ = json.Marshal(fields) // a tree that was just read from JSON
			}
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `{"action":%q,"input":`, t.action)
	out.Write(input)
	for _, name := range rootFields() {
		if v, given := root[name]; given && v != nil {
			value, _ := json.Marshal(v)
			fmt.Fprintf(&out, `,%q:%s`, name, value)
		}
	}
	out.WriteByte('}')
	return out.Bytes()
}

// resourceLinks is the first revision whose hosts know a result that points to a resource.
const resourceLinks = "2025-06-18"

// result is an answer as a host of the given revision reads it: the JSON object that the envelope would have
// returned, as structured content and as text. A failure's text is for the model.
func result(ans action.Answer, revision string) *sdk.CallToolResult {
	raw := bytes.TrimSpace(action.Marshal(ans))
	res := &sdk.CallToolResult{StructuredContent: json.RawMessage(raw)}
	if f, failed := ans.(*action.Failure); failed {
		res.IsError = true
		res.Content = []sdk.Content{&sdk.TextContent{Text: failureText(f)}}
		return res
	}
	res.Content = []sdk.Content{&sdk.TextContent{Text: string(raw)}}
	if revision >= resourceLinks {
		for _, path := range artifacts(ans) {
			if link := artifactLink(path); link != nil {
				res.Content = append(res.Content, link)
			}
		}
	}
	return res
}

func failureText(f *action.Failure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\nWhat to do: %s", f.Message, f.Code, f.Advice)
	switch {
	case f.Retryable && f.RetryAfterMS > 0:
		fmt.Fprintf(&b, "\nThe same call may succeed after %d ms.", f.RetryAfterMS)
	case f.Retryable:
		b.WriteString("\nThe same call may succeed later.")
	default:
		b.WriteString("\nThe same call would fail again.")
	}
	return b.String()
}

// artifacts are the files, relative to the working directory, that an answer points to.
func artifacts(ans action.Answer) []string {
	switch a := ans.(type) {
	case *action.SearchAnswer:
		if a.ArtifactFields != nil {
			return []string{a.FilePath}
		}
	case *action.BrowseAnswer:
		if a.ArtifactFields != nil {
			return []string{a.FilePath}
		}
	case *action.SummaryAnswer:
		if a.ContentPath != "" {
			return []string{a.RawLocator.FilePath, a.ContentPath}
		}
		return []string{a.RawLocator.FilePath}
	}
	return nil
}

// report tells a host that asked for it that the call is under way, at once and then every progressEvery. The
// returned function ends it; nothing is sent afterwards.
func (s *server) report(ctx context.Context, t tool, req *sdk.CallToolRequest) (quiet func()) {
	token := req.Params.GetProgressToken()
	switch token.(type) {
	case string, float64, int, int64:
	default:
		return func() {}
	}
	end, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for n := 0; ; n++ {
			// Progress must grow, and how much there is to do nobody knows: it counts the seconds.
			seconds := n * int(progressEvery/time.Second)
			text := t.title + ": under way"
			if n > 0 {
				text = fmt.Sprintf("%s: under way for %d s", t.title, seconds)
			}
			// A host that cannot be told is found out by the answer.
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(seconds), Message: text})
			select {
			case <-end:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(end); <-gone }
}
