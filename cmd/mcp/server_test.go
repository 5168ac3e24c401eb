package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"web/action"
	"web/spill"
)

// callerFunc answers envelopes in a test.
type callerFunc func(ctx context.Context, envelope []byte) action.Answer

func (f callerFunc) Call(ctx context.Context, envelope []byte) action.Answer { return f(ctx, envelope) }

// echo answers with the envelope, as a manual.
func echo(_ context.Context, envelope []byte) action.Answer {
	return &action.ManualAnswer{Status: action.OK, Action: action.Manual, Manual: string(envelope), Source: "embedded"}
}

// untilCancelled answers once the call is cancelled, with the cause.
func untilCancelled(ctx context.Context, _ []byte) action.Answer {
	<-ctx.Done()
	return &action.Failure{Status: action.Failed, Action: action.Search, Code: action.SearchFailed, Message: context.Cause(ctx).Error(), Advice: "none"}
}

// host is the other end of a server, line by line.
type host struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan error
	// cancel ends the server's context.
	cancel context.CancelFunc
}

func serve(t *testing.T, call callerFunc, change ...func(*Config)) *host {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	dir := t.TempDir()
	cfg := Config{
		In: inR, Out: outW, Version: "1.2.3", Now: time.Now,
		Caller: func() (Caller, func()) { return call, func() {} },
		Root:   func() (*os.Root, error) { return os.OpenRoot(dir) },
	}
	for _, c := range change {
		c(&cfg)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &host{t: t, in: inW, out: bufio.NewReader(outR), ended: make(chan error, 1), cancel: cancel}
	go func() {
		h.ended <- Serve(ctx, cfg)
		_ = outW.Close()
		_ = inR.Close()
	}()
	t.Cleanup(cancel)
	return h
}

func (h *host) send(lines ...string) {
	h.t.Helper()
	if _, err := io.WriteString(h.in, strings.Join(lines, "\n")+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

// receive reads one line, which must be one JSON object or list.
func (h *host) receive() any {
	h.t.Helper()
	line, err := h.out.ReadBytes('\n')
	if err != nil {
		h.t.Fatalf("the server wrote no further line: %v", err)
	}
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		h.t.Fatalf("not JSON: %s", line)
	}
	return v
}

// want expects the next line. "*" in it stands for anything.
func (h *host) want(want string) {
	h.t.Helper()
	got := h.receive()
	if diff := cmp.Diff(blurred(h.t, want, got)); diff != "" {
		h.t.Errorf("line (-want +got):\n%s", diff)
	}
}

// blurred parses want, and puts "*" into got where want has it.
func blurred(t *testing.T, want string, got any) (any, any) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%v in %s", err, want)
	}
	var blur func(w, g any) any
	blur = func(w, g any) any {
		switch w := w.(type) {
		case string:
			if w == "*" && g != nil {
				return "*"
			}
		case map[string]any:
			if g, ok := g.(map[string]any); ok {
				for k := range w {
					if v, ok := g[k]; ok {
						g[k] = blur(w[k], v)
					}
				}
			}
		case []any:
			if g, ok := g.([]any); ok && len(g) == len(w) {
				for i := range w {
					g[i] = blur(w[i], g[i])
				}
			}
		}
		return g
	}
	return w, blur(w, got)
}

// end closes the input and expects the server to end well, having written nothing more.
func (h *host) end() {
	h.t.Helper()
	_ = h.in.Close()
	rest, err := io.ReadAll(h.out)
	if err != nil || len(rest) > 0 {
		h.t.Errorf("the server wrote %q (%v) after the last answer", rest, err)
	}
	if err := <-h.ended; err != nil {
		h.t.Errorf("the server ended with %v", err)
	}
}

func initialize(revision string) []string {
	return []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	}
}

// legacy starts a session of a revision with a handshake.
func (h *host) legacy(revision string) {
	h.t.Helper()
	h.send(initialize(revision)...)
	h.want(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"` + revision + `","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"web","title":"*","version":"1.2.3"},"instructions":"*"}}`)
}

// meta is what every request of the stateless revision carries.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"h","version":"1"}}`

// own is what every result of the stateless revision carries.
const own = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"web","title":"*","version":"1.2.3"}}`

func TestStatelessRevision(t *testing.T) {
	h := serve(t, echo)
	for _, step := range []struct{ send, want string }{
		{ // the very first message: no handshake
			`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"web_manual",` + meta + `}}`,
			`{"jsonrpc":"2.0","id":"a","result":{` + own + `,"content":[{"type":"text","text":"*"}],"structuredContent":{"status":"ok","action":"manual","manual":"{\"action\":\"manual\",\"input\":{}}","manual_path":null,"manual_source":"embedded","current_setting":"*"}}}`,
		},
		{
			`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":1,"result":{` + own + `,"ttlMs":3600000,"cacheScope":"private","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{},"resources":{}},"instructions":"*"}}`,
		},
		{
			`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":2,"result":{` + own + `,"ttlMs":3600000,"cacheScope":"private","tools":"*"}}`,
		},
		{
			`{"jsonrpc":"2.0","id":3,"method":"resources/list","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":3,"result":{` + own + `,"ttlMs":0,"cacheScope":"private","resources":[{"uri":"web://manual","name":"manual","title":"*","description":"*","mimeType":"text/markdown"}]}}`,
		},
		{
			`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"web://manual",` + meta + `}}`,
			`{"jsonrpc":"2.0","id":4,"result":{` + own + `,"ttlMs":60000,"cacheScope":"private","contents":[{"uri":"web://manual","mimeType":"text/markdown","text":"{\"action\":\"manual\",\"input\":{}}"}]}}`,
		},
		{
			`{"jsonrpc":"2.0","id":5,"method":"resources/templates/list","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":5,"result":{` + own + `,"ttlMs":3600000,"cacheScope":"private","resourceTemplates":[{"uriTemplate":"web://artifacts/{name}","name":"artifact","title":"*","description":"*"}]}}`,
		},
		{ // another revision, from nowhere
			`{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			`{"jsonrpc":"2.0","id":6,"error":{"code":-32022,"message":"*","data":{"requested":"2030-01-01","supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]}}}`,
		},
		{ // what the revision took away
			`{"jsonrpc":"2.0","id":7,"method":"ping","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"*"}}`,
		},
		{ // what was never promised
			`{"jsonrpc":"2.0","id":8,"method":"prompts/list","params":{` + meta + `}}`,
			`{"jsonrpc":"2.0","id":8,"error":{"code":-32601,"message":"*"}}`,
		},
		{
			`{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
			`{"jsonrpc":"2.0","id":9,"error":{"code":-32602,"message":"*"}}`,
		},
		{
			`{"jsonrpc":"2.0","id":10,"method":"resources/read","params":{"uri":"web://artifacts/x\u0001.md",` + meta + `}}`,
			`{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"*","data":{"uri":"web://artifacts/x\u0001.md"}}}`,
		},
	} {
		h.send(step.send)
		h.want(step.want)
	}
	h.end()
}

func TestOlderRevisions(t *testing.T) {
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			h := serve(t, echo)
			h.send(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`)
			h.want(`{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"*"}}`) // before the handshake
			h.legacy(revision)
			for _, step := range []struct{ send, want string }{
				{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
				{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"result":{"ttlMs":3600000,"cacheScope":"private","tools":"*"}}`},
				{
					`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"web_manual","arguments":{}}}`,
					`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"*"}],"structuredContent":{"status":"ok","action":"manual","manual":"{\"action\":\"manual\",\"input\":{}}","manual_path":null,"manual_source":"embedded","current_setting":"*"}}}`,
				},
				{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"web","arguments":{}}}`, `{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"unknown tool \"web\""}}`},
				{`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"web://nothing"}}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32002,"message":"*","data":{"uri":"web://nothing"}}}`},
				{`{"jsonrpc":"2.0","id":6,"method":"server/discover"}`, `{"jsonrpc":"2.0","id":6,"error":{"code":-32601,"message":"*"}}`},
				{`{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"debug"}}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"*"}}`},
				{initialize(revision)[0], `{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"*"}}`},
			} {
				h.send(step.send)
				h.want(step.want)
			}
			h.end()
		})
	}
	t.Run("an unknown one", func(t *testing.T) {
		h := serve(t, echo)
		h.send(initialize("2020-01-01")...)
		h.want(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":"*","instructions":"*"}}`)
		h.end()
	})
}

func TestBatches(t *testing.T) {
	h := serve(t, echo)
	h.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`)
	h.want(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"*"}}`)
	h.legacy("2025-03-26")
	h.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},7,{"jsonrpc":"2.0","id":1,"method":"ping"}]`)
	// The batch's own faults are known before its requests are answered.
	h.want(`[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message must be a JSON object"}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"*"}},{"jsonrpc":"2.0","id":1,"result":{}}]`)
	h.send(`[]`)
	h.want(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the batch is empty"}}`)
	h.send(`[1]`)
	h.want(`[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"*"}}]`)
	h.send(`[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	h.want(`{"jsonrpc":"2.0","id":2,"result":{}}`) // nothing answers a batch of notifications
	h.end()
}

// garbage is what a broken host may send, with the code and the ID of the answer; 0 is none.
var garbage = []struct {
	name, send string
	code       int
	id         string
}{
	{"words", `hello`, -32700, "null"},
	{"half a message", `{"jsonrpc":"2.0","id":1,`, -32700, "null"},
	{"two on a line", `{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`, -32700, "null"},
	{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}", -32700, "null"},
	{"NUL bytes", "\x00\x00\x00", -32700, "null"},
	{"duplicate keys", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, -32700, "null"},
	{"too deep", strings.Repeat("[", 100_000), -32700, "null"},
	{"an LSP header", "Content-Length: 52\r", -32700, "null"},
	{"a number", `7`, -32600, "null"},
	{"null", `null`, -32600, "null"},
	{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, "null"},
	{"no version", `{"id":1,"method":"ping"}`, -32600, "1"},
	{"another version", `{"jsonrpc":"1.0","id":"x","method":"ping"}`, -32600, `"x"`},
	{"no method", `{"jsonrpc":"2.0","id":1}`, -32600, "1"},
	{"method is a number", `{"jsonrpc":"2.0","id":1,"method":7}`, -32600, "1"},
	{"method in capitals", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, -32600, "1"},
	{"id is null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
	{"id is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "null"},
	{"id is huge", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, -32600, "null"},
	{"id is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "null"},
	{"params are a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, -32602, "1"},
	{"params are of another form", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["` + strings.Repeat("x", 5000) + `"]}}`, -32602, "1"},
	{"params of initialize are of another form", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}`, -32602, "1"},
	{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, -32600, "1"},
	{"an unknown method", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 5000) + `"}`, -32601, "1"},
	{"a method with no name", `{"jsonrpc":"2.0","id":1,"method":""}`, -32601, "1"},
	{"a notification that is a request", `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, -32600, "1"},
	{"a cursor from nowhere", `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":"../../etc/passwd"}}`, -32602, "1"},
	{"a cursor for tools from nowhere", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"\u0001"}}`, -32602, "1"},
	{"an answer to nothing", `{"jsonrpc":"2.0","id":1,"result":{}}`, 0, ""},
	{"an error for nothing", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, -32600, "null"},
	{"a cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, 0, ""},
	{"a request as a notification", `{"jsonrpc":"2.0","method":"tools/call","params":{}}`, 0, ""},
	{"an unknown notification", `{"jsonrpc":"2.0","method":"notifications/nothing"}`, 0, ""},
	{"empty lines", "\n\r\n  \n", 0, ""},
	{"a line that is too long", strings.Repeat("x", maxMessageBytes+1), -32600, "null"},
}

func TestGarbageIsAnsweredAndTheSessionGoesOn(t *testing.T) {
	h := serve(t, echo)
	h.legacy("2025-11-25")
	for i, g := range garbage {
		t.Run(g.name, func(t *testing.T) {
			h.t = t
			h.send(g.send)
			if g.code != 0 {
				got := h.receive().(map[string]any)
				message, _ := got["error"].(map[string]any)["message"].(string)
				if n := len([]rune(message)); n == 0 || n > maxErrorChars+3 {
					t.Errorf("the message has %d characters", n)
				}
				if strings.Contains(message, "json.") || strings.Contains(message, "mcp.") {
					t.Errorf("the message shows the program's insides: %s", message)
				}
				got["error"].(map[string]any)["message"] = "*"
				want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"*"}}`, g.id, g.code)
				if diff := cmp.Diff(blurred(t, want, any(got))); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
			}
			h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"after %d","method":"ping"}`, i))
			h.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":"after %d","result":{}}`, i))
		})
	}
	h.t = t
	h.end()
}

func TestGarbageFirst(t *testing.T) {
	h := serve(t, echo)
	h.send("\xef\xbb\xbfGET / HTTP/1.1")
	h.want(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"*"}}`)
	h.legacy("2025-06-18")
	h.end()
}

func TestOnlyGarbage(t *testing.T) {
	var out bytes.Buffer
	err := Serve(t.Context(), Config{In: strings.NewReader("\x00\n{{{\n[]\nlast, without an end of line"), Out: &out, Now: time.Now})
	if err != nil || strings.Count(out.String(), `"error"`) != 4 {
		t.Errorf("Serve = %v, wrote %s", err, out.String())
	}
}

func FuzzServe(f *testing.F) {
	for _, g := range garbage {
		if len(g.send) < 1000 {
			f.Add([]byte(g.send))
		}
	}
	hello := strings.Join(initialize("2025-03-26"), "\n") + "\n"
	f.Add([]byte(hello + `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_browse","arguments":{"url":"u","reasoning":"r"}}},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"web://artifacts/a%00",` + meta + `}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, before := range []string{"", hello} {
			var out bytes.Buffer
			err := Serve(t.Context(), Config{
				In: io.MultiReader(strings.NewReader(before), bytes.NewReader(data)), Out: &out, Now: time.Now,
				Caller: func() (Caller, func()) { return callerFunc(echo), func() {} },
				Root:   func() (*os.Root, error) { return os.OpenRoot(dir) },
			})
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(out.Bytes()) {
				var v any
				if err := json.Unmarshal(line, &v); err != nil || !bytes.HasSuffix(line, []byte("\n")) {
					t.Fatalf("stdout has %q: %v", line, err)
				}
				if m, ok := v.(map[string]any); ok && m["jsonrpc"] != "2.0" {
					t.Fatalf("no message of JSON-RPC: %s", line)
				}
			}
		}
	})
}

func TestFailuresAreToolErrors(t *testing.T) {
	answers := map[string]action.Answer{
		"web_browse": &action.Failure{Status: action.Failed, Action: action.Browse, Code: "ROBOTS", Message: "it <refused>", Advice: "read it elsewhere", Retryable: true, RetryAfterMS: 1500},
		"web_manual": &action.Failure{Status: action.Failed, Action: action.Manual, Code: "INTERNAL_ERROR", Message: "m", Advice: "a"},
	}
	h := serve(t, func(_ context.Context, envelope []byte) action.Answer {
		if strings.Contains(string(envelope), "browse") {
			return answers["web_browse"]
		}
		return answers["web_manual"]
	})
	h.legacy("2025-06-18")
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_browse","arguments":{}}}`)
	h.want(`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"it <refused> (ROBOTS)\nWhat to do: read it elsewhere\nThe same call may succeed after 1500 ms."}],
		"structuredContent":{"status":"failed","action":"browse","error_code":"ROBOTS","message":"it <refused>","retryable":true,"retry_after_ms":1500,"recommended_action":"read it elsewhere","current_setting":"*"}}}`)
	h.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"web_manual"}}`)
	h.want(`{"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"m (INTERNAL_ERROR)\nWhat to do: a\nThe same call would fail again."}],
		"structuredContent":{"status":"failed","action":"manual","error_code":"INTERNAL_ERROR","message":"m","retryable":false,"recommended_action":"a","current_setting":"*"}}}`)
	h.end()
}

func TestTextIsTheStructuredContent(t *testing.T) {
	ans := echo(t.Context(), []byte(`{"a":"<é>"}`))
	res := result(ans, "2025-11-25")
	raw, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Content           []struct{ Text string }
		StructuredContent any
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(blurred(t, string(action.Marshal(ans)), got.StructuredContent)); diff != "" {
		t.Errorf("structured (-answer +got):\n%s", diff)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(action.Marshal(ans))), got.Content[0].Text); diff != "" {
		t.Errorf("text (-answer +got):\n%s", diff)
	}
}

func TestCancelledCallIsNotAnswered(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	h := serve(t, func(ctx context.Context, envelope []byte) action.Answer {
		if strings.Contains(string(envelope), "manual") {
			return echo(ctx, envelope)
		}
		close(started)
		defer close(ended)
		return untilCancelled(ctx, envelope)
	})
	h.legacy("2025-11-25")
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_browse","arguments":{}}}`)
	<-started
	h.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`) // its ID is taken
	h.want(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"*"}}`)
	h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"no longer needed"}}`)
	<-ended
	h.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"web_manual"}}`)
	h.want(`{"jsonrpc":"2.0","id":2,"result":{"content":"*","structuredContent":"*"}}`)
	h.end()
}

func TestCallsAreAnsweredAfterTheInputEnded(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	h := serve(t, func(ctx context.Context, envelope []byte) action.Answer {
		close(started)
		<-release
		return echo(ctx, envelope)
	})
	h.legacy("2025-11-25")
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_manual"}}`)
	<-started
	_ = h.in.Close()
	close(release)
	h.want(`{"jsonrpc":"2.0","id":1,"result":{"content":"*","structuredContent":"*"}}`)
	h.end()
}

func TestPatienceEndsAfterTheInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		h := serve(t, untilCancelled)
		h.legacy("2025-11-25")
		h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_browse"}}`)
		synctest.Wait()
		_ = h.in.Close()
		h.want(`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"` + errInputEnded.Error() + ` (SEARCH_FAILED)\nWhat to do: none\nThe same call would fail again."}],"structuredContent":"*"}}`)
		h.end()
		if took := time.Since(start); took != drainGrace {
			t.Errorf("the call was given %v, want %v", took, drainGrace)
		}
	})
}

func TestAStuckCallDoesNotHoldTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := serve(t, func(context.Context, []byte) action.Answer {
			<-release
			return nil
		})
		h.legacy("2025-11-25")
		h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_browse"}}`)
		synctest.Wait()
		_ = h.in.Close()
		if err := <-h.ended; !errors.Is(err, errStuck) {
			t.Errorf("Serve = %v, want %v", err, errStuck)
		}
		close(release)
	})
}

func TestTheContextEndsCallsAndServer(t *testing.T) {
	started := make(chan struct{})
	h := serve(t, func(ctx context.Context, envelope []byte) action.Answer {
		close(started)
		return untilCancelled(ctx, envelope)
	})
	h.legacy("2025-11-25")
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_browse"}}`)
	<-started
	h.cancel()
	h.want(`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"context canceled (SEARCH_FAILED)\nWhat to do: none\nThe same call would fail again."}],"structuredContent":"*"}}`)
	if err := <-h.ended; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestABrokenOutputEndsCallsAndServer(t *testing.T) {
	inR, inW := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(t.Context(), Config{In: inR, Out: brokenPipe{}, Now: time.Now, Caller: func() (Caller, func()) { return callerFunc(untilCancelled), func() {} }})
	}()
	for _, line := range append([]string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_browse",` + meta + `}}`}, initialize("2025-11-25")...) {
		if _, err := io.WriteString(inW, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; !errors.Is(err, syscall.EPIPE) {
		t.Errorf("Serve = %v, want %v", err, syscall.EPIPE)
	}
	_ = inW.Close()
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := serve(t, func(ctx context.Context, envelope []byte) action.Answer {
			time.Sleep(2*progressEvery + time.Millisecond) // the bubble's clock
			return echo(ctx, envelope)
		})
		h.legacy("2025-11-25")
		h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_manual","_meta":{"progressToken":"p"}}}`)
		for seconds := 0; seconds <= 4; seconds += 2 {
			h.want(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":%d,"message":"*"}}`, seconds))
		}
		h.want(`{"jsonrpc":"2.0","id":1,"result":{"content":"*","structuredContent":"*"}}`)
		// Nobody asked.
		h.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"web_manual","_meta":{"progressToken":{}}}}`)
		h.want(`{"jsonrpc":"2.0","id":2,"result":{"content":"*","structuredContent":"*"}}`)
		h.end()
	})
}

func TestParallelCallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 100
		var running atomic.Int64
		release := make(chan struct{})
		h := serve(t, func(ctx context.Context, envelope []byte) action.Answer {
			running.Add(1)
			<-release
			return echo(ctx, envelope)
		})
		h.legacy("2025-11-25")
		for i := range calls {
			h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"web_browse","arguments":{"url":"u%d"}}}`, i, i))
		}
		synctest.Wait() // everything that can run does
		if n := running.Load(); n != maxCalls {
			t.Errorf("%d calls run at once, want %d", n, maxCalls)
		}
		close(release)
		seen := map[string]bool{}
		for range calls {
			m := h.receive().(map[string]any)
			id, _ := m["id"].(string)
			manual, _ := m["result"].(map[string]any)["structuredContent"].(map[string]any)["manual"].(string)
			if want := fmt.Sprintf(`{"action":"browse","input":{"url":"u%s"}}`, strings.TrimPrefix(id, "c")); manual != want {
				t.Errorf("%s was answered with %s", id, manual)
			}
			seen[id] = true
		}
		if len(seen) != calls {
			t.Errorf("%d calls were answered, want %d", len(seen), calls)
		}
		h.end()
	})
}

func TestTooManyUnansweredRequests(t *testing.T) {
	release := make(chan struct{})
	h := serve(t, func(ctx context.Context, envelope []byte) action.Answer {
		<-release
		return echo(ctx, envelope)
	})
	h.legacy("2025-11-25")
	for i := range maxInFlight {
		h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"web_manual"}}`, i))
	}
	h.send(`{"jsonrpc":"2.0","id":"one more","method":"ping"}`)
	h.want(`{"jsonrpc":"2.0","id":"one more","error":{"code":-32000,"message":"*"}}`)
	close(release)
	for range maxInFlight {
		h.receive()
	}
	h.end()
}

func TestADefectIsContained(t *testing.T) {
	h := serve(t, func(context.Context, []byte) action.Answer { panic("defect") })
	h.legacy("2025-11-25")
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_manual"}}`)
	h.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"*"}}`)
	h.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	h.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	h.end()
}

func TestOnlyTheChosenTools(t *testing.T) {
	h := serve(t, echo, func(c *Config) { c.Tools = []string{"web_manual"} })
	h.legacy("2025-11-25")
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	h.want(`{"jsonrpc":"2.0","id":1,"result":{"ttlMs":3600000,"cacheScope":"private","tools":[{"name":"web_manual","title":"Manual of the web tools","description":"*","inputSchema":{"type":"object","properties":{},"additionalProperties":false},
		"annotations":{"title":"Manual of the web tools","readOnlyHint":true,"idempotentHint":true,"destructiveHint":false,"openWorldHint":false}}]}}`)
	h.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"web_browse"}}`)
	h.want(`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"*"}}`)
	h.end()
}

func TestAnnotations(t *testing.T) {
	for _, a := range available() {
		got := wire(t, a.describe())["annotations"]
		want := fmt.Sprintf(`{"title":%q,"readOnlyHint":true,"idempotentHint":true,"destructiveHint":false,"openWorldHint":%v}`, a.title, a.name != "web_manual")
		if diff := cmp.Diff(blurred(t, want, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", a.name, diff)
		}
	}
}

func TestArtifacts(t *testing.T) {
	dir := t.TempDir()
	h := serve(t, echo, func(c *Config) { c.Root = func() (*os.Root, error) { return os.OpenRoot(dir) } })
	h.legacy("2025-11-25")
	read := func(id int, uri string) {
		raw, _ := json.Marshal(uri)
		h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%s}}`, id, raw))
	}
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(spill.Dir), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	page := write("20260102T030405-web-browse-0a0b0c.md", "# Page\n日本")
	write("20260102T030406-web-search-0a0b0c.json", `{"a":1}`)
	secret := write("../../secret", "secret")
	write("notes.md", "not an artifact")
	link := filepath.Join(dir, filepath.FromSlash(spill.Dir), "20260102T030407-web-browse-0a0b0c.md")
	if err := os.Symlink(secret, link); err != nil {
		t.Skip("no symbolic links here")
	}
	h.send(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)
	h.want(`{"jsonrpc":"2.0","id":1,"result":{"ttlMs":0,"cacheScope":"private","resources":[
		{"uri":"web://manual","name":"manual","title":"*","description":"*","mimeType":"text/markdown"},
		{"uri":"web://artifacts/20260102T030406-web-search-0a0b0c.json","name":"20260102T030406-web-search-0a0b0c.json","title":"*","mimeType":"application/json","size":7,"annotations":"*"},
		{"uri":"web://artifacts/20260102T030405-web-browse-0a0b0c.md","name":"20260102T030405-web-browse-0a0b0c.md","title":"*","mimeType":"text/markdown","size":13,"annotations":"*"}]}}`)
	read(2, "web://artifacts/20260102T030405-web-browse-0a0b0c.md")
	h.want(`{"jsonrpc":"2.0","id":2,"result":{"ttlMs":3600000,"cacheScope":"private","contents":[{"uri":"web://artifacts/20260102T030405-web-browse-0a0b0c.md","mimeType":"text/markdown","text":"# Page\n日本"}]}}`)
	for i, uri := range []string{
		"web://artifacts/20260102T030407-web-browse-0a0b0c.md", // a link out of the directory
		"web://artifacts/notes.md", "web://artifacts/", "web://artifacts/.", "web://artifacts/..",
		"web://artifacts/../../secret", "web://artifacts/..%2F..%2Fsecret", "web://artifacts/%2e%2e/%2e%2e/secret",
		"web://artifacts//etc/passwd", "file://" + secret, secret, "",
	} {
		read(10+i, uri)
		got := h.receive().(map[string]any)
		if got["error"].(map[string]any)["code"] != float64(codeNotFound) || strings.Contains(fmt.Sprint(got["result"]), "secret") {
			t.Errorf("%q was answered with %v", uri, got)
		}
	}
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	read(30, "web://artifacts/20260102T030405-web-browse-0a0b0c.md")
	h.want(`{"jsonrpc":"2.0","id":30,"error":{"code":-32002,"message":"*","data":"*"}}`)

	// The whole directory is a link out.
	if err := os.Rename(filepath.Join(dir, "tmp"), filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "tmp")); err != nil {
		t.Fatal(err)
	}
	h.send(`{"jsonrpc":"2.0","id":31,"method":"resources/list"}`)
	h.want(`{"jsonrpc":"2.0","id":31,"error":{"code":-32603,"message":"*"}}`)
	h.end()
}

func TestArtifactsComeInPages(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, filepath.FromSlash(spill.Dir))
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 2*pageSize + 1 {
		name := fmt.Sprintf("20260102T030405-web-search-%06x.json", i)
		if err := os.WriteFile(filepath.Join(below, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	slices.Reverse(want)
	want = append([]string{"manual"}, want...)
	s := &server{cfg: Config{Root: func() (*os.Root, error) { return os.OpenRoot(dir) }, Now: time.Now}}
	var got []string
	cursor := ""
	for page := range 3 {
		res, err := s.resources(cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Resources {
			got = append(got, r.Name)
		}
		if cursor = res.NextCursor; cursor == "" {
			break
		}
		// An artifact that goes between two pages takes nothing else with it.
		if page == 0 {
			if err := os.Remove(filepath.Join(below, cursor)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if cursor != "" {
		t.Errorf("there is still more behind %s", cursor)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

func TestResultsPointToArtifacts(t *testing.T) {
	file := spill.Dir + "/20260102T030405-web-browse-0a0b0c.md"
	kept := action.Delivery{Kind: "artifact", ArtifactFields: &action.ArtifactFields{FilePath: file}}
	for name, tc := range map[string]struct {
		ans      action.Answer
		revision string
		want     []string
	}{
		"a page":                        {&action.BrowseAnswer{Status: action.OK, Delivery: kept}, "2026-07-28", []string{"web://artifacts/20260102T030405-web-browse-0a0b0c.md"}},
		"a search":                      {&action.SearchAnswer{Status: action.OK, Delivery: kept}, "2025-06-18", []string{"web://artifacts/20260102T030405-web-browse-0a0b0c.md"}},
		"an older host knows no links":  {&action.SearchAnswer{Status: action.OK, Delivery: kept}, "2025-03-26", nil},
		"nothing was kept":              {&action.SearchAnswer{Status: action.OK, Delivery: action.Delivery{Kind: "inline"}}, "2026-07-28", nil},
		"a summary of what was kept":    {&action.SummaryAnswer{Status: action.OK, RawLocator: action.RawLocator{FilePath: spill.Dir + "/a.json"}, ContentPath: file}, "2026-07-28", []string{"web://artifacts/a.json", "web://artifacts/20260102T030405-web-browse-0a0b0c.md"}},
		"a file that is no artifact":    {&action.SummaryAnswer{Status: action.OK, RawLocator: action.RawLocator{FilePath: "../a.json"}}, "2026-07-28", nil},
		"a summary without any content": {&action.SummaryAnswer{Status: action.OK}, "2026-07-28", nil},
	} {
		t.Run(name, func(t *testing.T) {
			content, _ := wire(t, result(tc.ans, tc.revision))["content"].([]any)
			var got []string
			for _, c := range content[1:] {
				got = append(got, c.(map[string]any)["uri"].(string))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
		})
	}
}
