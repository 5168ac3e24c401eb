package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpRevisions are one revision of each kind: with a handshake and without.
var mcpRevisions = []string{"2024-11-05", "2025-11-25", "2026-07-28"}

// connect starts `web mcp` below the SDK's own client.
func (w world) connect(t *testing.T, revision string, opts *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opts)
	cmd := exec.Command("web", "mcp", "--workdir", w.dir, "--config", w.config)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	session, err := client.Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatalf("connect: %v, stderr %s", err, stderr.String())
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the process ended with %v", err)
		}
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("the process ended as %v", cmd.ProcessState)
		}
		if stderr.Len() > 0 {
			t.Errorf("stderr: %s", stderr.String())
		}
	})
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		t.Fatalf("negotiated %s, want %s", got, revision)
	}
	return session
}

func structured(t *testing.T, res *sdk.CallToolResult) (out struct {
	Status   string
	Code     string `json:"error_code"`
	Query    string
	Count    int
	FilePath string `json:"file_path"`
},
) {
	t.Helper()
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMCPWithTheSDKsClient(t *testing.T) {
	for _, revision := range mcpRevisions {
		t.Run(revision, func(t *testing.T) {
			w := newWorld(t, `{"schema_version":1,"max_chars":2000}`)
			ctx := t.Context()
			told := make(chan string, 100)
			session := w.connect(t, revision, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
					told <- req.Params.Message
				},
			})

			tools, err := session.ListTools(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range tools.Tools {
				names = append(names, tool.Name)
			}
			if !slices.IsSorted(names) || !slices.Contains(names, "web_search_all") || slices.Contains(names, "web") {
				t.Errorf("tools %v", names)
			}

			search := &sdk.CallToolParams{Name: "web_search_all", Arguments: map[string]any{"query": "lighthouse"}}
			search.SetProgressToken("p")
			res, err := session.CallTool(ctx, search)
			if err != nil {
				t.Fatal(err)
			}
			if got := structured(t, res); res.IsError || got.Status != "ok" || got.Query != "lighthouse" || got.Count != 3 {
				t.Errorf("search answered %+v", got)
			}
			if message := <-told; !strings.Contains(message, "under way") {
				t.Errorf("progress: %q", message)
			}

			// A failure is the model's to read, with a code and what to do.
			res, err = session.CallTool(ctx, &sdk.CallToolParams{Name: "web_search_all", Arguments: map[string]any{"query": "challenge"}})
			if err != nil {
				t.Fatal(err)
			}
			got := structured(t, res)
			if text := res.Content[0].(*sdk.TextContent).Text; !res.IsError || got.Status != "failed" || got.Code == "" || !strings.Contains(text, got.Code) || !strings.Contains(text, "What to do: ") {
				t.Errorf("the failure is %+v, text %q", got, text)
			}
			if _, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "web"}); err == nil {
				t.Error("the envelope is a tool")
			}

			// A result that is kept is read back as a resource.
			res, err = session.CallTool(ctx, &sdk.CallToolParams{Name: "web_search_all", Arguments: map[string]any{"query": "results 50"}})
			if err != nil {
				t.Fatal(err)
			}
			kept := structured(t, res)
			name := kept.FilePath[strings.LastIndex(kept.FilePath, "/")+1:]
			listed, err := session.ListResources(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(listed.Resources, func(r *sdk.Resource) bool { return r.Name == name }) {
				t.Errorf("%q is not listed", name)
			}
			contents, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: "web://artifacts/" + name})
			if err != nil {
				t.Fatal(err)
			}
			if text := contents.Contents[0].Text; !strings.Contains(text, "Result 50 for results 50") {
				t.Errorf("the artifact is %.200s", text)
			}
			links := 0
			for _, c := range res.Content {
				if _, ok := c.(*sdk.ResourceLink); ok {
					links++
				}
			}
			if want := map[bool]int{true: 1}[revision >= "2025-06-18"]; links != want {
				t.Errorf("%d links to the artifact, want %d", links, want)
			}
			manual, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: "web://manual"})
			if err != nil || !strings.Contains(manual.Contents[0].Text, "web") {
				t.Errorf("the manual: %v", err)
			}

			// A cancelled call ends on the engine's side too.
			cancelled, cancel := context.WithCancel(ctx)
			failed := make(chan error, 1)
			go func() {
				_, err := session.CallTool(cancelled, &sdk.CallToolParams{Name: "web_search_all", Arguments: map[string]any{"query": "hang"}})
				failed <- err
			}()
			<-w.engine.hanging
			cancel()
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Errorf("the cancelled call gave %v", err)
			}
			<-w.engine.gone

			// And many at once.
			const calls = 100
			var wg sync.WaitGroup
			results, errs := make([]*sdk.CallToolResult, calls), make([]error, calls)
			for i := range calls {
				wg.Go(func() {
					results[i], errs[i] = session.CallTool(ctx, &sdk.CallToolParams{Name: "web_search_all", Arguments: map[string]any{"query": fmt.Sprintf("parallel %d", i)}})
				})
			}
			wg.Wait()
			for i := range calls {
				if errs[i] != nil {
					t.Fatal(errs[i])
				}
				if got := structured(t, results[i]); results[i].IsError || got.Query != fmt.Sprintf("parallel %d", i) || got.Count != 3 {
					t.Errorf("call %d was answered with %+v", i, got)
				}
			}
		})
	}
}

// rawMCP starts `web mcp` and gives its two ends.
func (w world) rawMCP(t *testing.T) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command("web", "mcp", "--workdir", w.dir, "--config", w.config)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, bufio.NewReader(out)
}

const hangingCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_search_all","arguments":{"query":"hang"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"

func TestMCPEndsOnASignal(t *testing.T) {
	w := newWorld(t, "")
	cmd, in, out := w.rawMCP(t)
	if _, err := io.WriteString(in, hangingCall); err != nil {
		t.Fatal(err)
	}
	<-w.engine.hanging
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	line, err := out.ReadString('\n')
	if err != nil || !strings.Contains(line, `"isError":true`) {
		t.Errorf("the call was answered with %q, %v", line, err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitTerminated {
		t.Errorf("the process ended with %v, want status %d", err, exitTerminated)
	}
}

func TestMCPEndsWithItsHost(t *testing.T) {
	w := newWorld(t, "")
	cmd, in, _ := w.rawMCP(t)
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"`); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the process ended with %v", err)
	}
}

func TestMCPDoesNotKeepASettingsFileInMind(t *testing.T) {
	w := newWorld(t, `{"schema_version":1,"max_chars":50}`)
	session := w.connect(t, "2026-07-28", nil)
	delivery := func() string {
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "web_search_all", Arguments: map[string]any{"query": "anything"}})
		if err != nil {
			t.Fatal(err)
		}
		return res.StructuredContent.(map[string]any)["delivery"].(string)
	}
	got := []string{delivery()}
	if err := os.WriteFile(filepath.Join(w.dir, "settings/web.json"), []byte(`{"schema_version":1,"max_chars":50000}`), 0o644); err != nil {
		t.Fatal(err)
	}
	got = append(got, delivery())
	if diff := cmp.Diff([]string{"artifact", "inline"}, got); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}
