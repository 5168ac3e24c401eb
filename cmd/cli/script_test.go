package cli

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"web/engines"
	"web/engines/duckduckgo/ddgtest"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

// TestMain lets the test binary run as web: scripts and process tests start it anew for every call.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"web": func() { os.Exit(Run()) }})
}

type testEngine struct {
	*httptest.Server
	// hanging gets a value when a request has begun to hang; gone when its client has gone, unless one is there.
	hanging, gone chan struct{}
}

// engine is a stand-in for DuckDuckGo on the loopback interface. What it answers depends on the query:
// "results N" gives N results, "each N" 20 that no other N has, "nothing" none, "challenge" the robot check with status 202, "status N" that
// status, "hang" nothing at all until the client has gone, and anything else three results.
func engine() testEngine {
	hanging, gone := make(chan struct{}, 1), make(chan struct{}, 1)
	page := ddgtest.Handler(func(query string) []engines.Result {
		n := 3
		switch word, count, _ := strings.Cut(query, " "); word {
		case "results":
			n, _ = strconv.Atoi(count)
		case "each":
			n = 20
		case "nothing":
			n = 0
		}
		out := make([]engines.Result, n)
		for i := range out {
			out[i] = engines.Result{
				Title:   fmt.Sprintf("Result %d for %s", i+1, query),
				URL:     fmt.Sprintf("https://ex.org/%s/%d?a=b%%2Fc", strings.ReplaceAll(query, " ", "-"), i+1),
				Snippet: "Nothing but a snippet, with 日本語 in it.",
			}
		}
		return out
	})
	return testEngine{hanging: hanging, gone: gone, Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch word, arg, _ := strings.Cut(r.FormValue("q"), " "); word {
		case "challenge":
			w.Header().Set("Content-Type", "text/html; charset=UTF-8")
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `<html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html"><div class="anomaly-modal__mask"></div></form></body></html>`)
		case "status":
			code, _ := strconv.Atoi(arg)
			w.WriteHeader(code)
		case "hang":
			hanging <- struct{}{}
			<-r.Context().Done()
			select {
			case gone <- struct{}{}:
			default:
			}
		default:
			page.ServeHTTP(w, r)
		}
	}))}
}

// site is a small site on the loopback interface.
func site() *httptest.Server {
	mux := http.NewServeMux()
	page := func(path, contentType, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, body)
		})
	}
	page("/page", "text/html; charset=utf-8", sitePage)
	page("/long", "text/html", "<!doctype html><title>Long</title><main><h1>Long</h1>"+strings.Repeat("<h2>Part</h2><p>"+strings.Repeat("many words ", 200)+"</p>", 40)+"</main>")
	page("/empty", "text/html", "<!doctype html><title>Nothing</title><nav><a href=/>home</a></nav>")
	page("/pdf", "application/pdf", "%PDF-1.7\n")
	page("/json", "application/problem+json", `{"title":"no"}`)
	page("/sjis", "text/html", "<!doctype html><meta charset=Shift_JIS><p>\x93\xfa\x96\x7b</p>")
	page("/control", "text/plain", "before \x1b[31mred\x1b[0m after")
	mux.HandleFunc("/gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	mux.HandleFunc("/metadata", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/page", http.StatusFound) })
	return httptest.NewServer(mux)
}

const sitePage = `<!doctype html><html lang=en><head><title>Page title</title><base href="https://ex.org/docs/"></head><body>
<nav><a href="/">Home</a></nav>
<main><article><h1>Heading</h1>
<p>First paragraph with a <a href="next?a=b%2Fc">link to the next page</a> and <em>emphasis</em>, long enough to be text.</p>
<ul><li>outer item<ul><li>inner item</li></ul></li></ul>
<pre><code class="language-go">func main() {
	fmt.Println("x")
}</code></pre>
<p>Last paragraph, which also is long enough to be taken for text by anybody who reads it.</p></article></main>
<footer>All rights reserved</footer></body></html>`

// operatorFile writes an operator file that points the program at local servers.
func operatorFile(t testing.TB, dir, engineURL string, allow ...string) string {
	t.Helper()
	path, err := writeOperator(dir, map[string]any{
		"schema_version": 1,
		"engines":        map[string]any{"duckduckgo": map[string]any{"base_url": engineURL}},
		"network":        map[string]any{"allow": append([]string{}, allow...)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func writeOperator(dir string, content map[string]any) (path string, err error) {
	data, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "operator.json")
	return path, os.WriteFile(path, data, 0o600)
}

// providersKey is the key of a script's stand-ins.
type providersKey struct{}

func TestScripts(t *testing.T) {
	srv := engine()
	t.Cleanup(srv.Close)
	pages := site()
	t.Cleanup(pages.Close)
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("WEB_CONFIG", operatorFile(t, t.TempDir(), srv.URL+"/html/", strings.TrimPrefix(pages.URL, "http://")))
			env.Setenv("SITE", pages.URL)
			// Another operator's file, in which every engine's address is a stand-in of this script's own; the keys
			// and the caller's backend come from the script's environment.
			all := newProviders()
			env.Defer(all.Close)
			env.Values[providersKey{}] = all
			entries := map[string]any{"duckduckgo": map[string]any{"base_url": srv.URL + "/html/"}}
			for name := range providerAnswers {
				entries[name] = map[string]any{"base_url": all.URL + "/" + name}
			}
			path, err := writeOperator(t.TempDir(), map[string]any{"schema_version": 1, "engines": entries})
			if err != nil {
				return err
			}
			env.Setenv("ENGINES", path)
			env.Setenv("ENGINES_URL", all.URL)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": exitStatus,
			"json":   jsonField,
			"sent": func(ts *testscript.TestScript, neg bool, args []string) {
				ts.Value(providersKey{}).(*providers).sent(ts, neg, args)
			},
		},
	})
}

// exitStatus: status CODE PROGRAM [ARG...] [< FILE] runs a program and asserts its exit status.
func exitStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE PROGRAM [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// jsonField: json PATH WANT asserts a field of the last stdout, which must be one JSON object and a newline.
// PATH is dotted; WANT is compared with the field's JSON, or with its text for strings; "-" asserts absence.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json PATH WANT")
	}
	out := ts.ReadFile("stdout")
	if !strings.HasSuffix(out, "}\n") || strings.Count(out, "\n") != 1 {
		ts.Fatalf("stdout is not one line of JSON: %q", out)
	}
	var v any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		ts.Fatalf("stdout: %v", err)
	}
	present := true
	for _, key := range strings.Split(args[0], ".") {
		switch node := v.(type) {
		case map[string]any:
			v, present = node[key]
		case []any:
			i, err := strconv.Atoi(key)
			if present = err == nil && i < len(node); present {
				v = node[i]
			}
		default:
			present = false
		}
		if !present {
			break
		}
	}
	got := "-"
	if s, ok := v.(string); ok && present {
		got = s
	} else if present {
		raw, _ := json.Marshal(v)
		got = string(raw)
	}
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %s, want %s (negated: %v)", args[0], got, args[1], neg)
	}
}
