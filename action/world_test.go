package action

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"web/browse"
	"web/browse/fault"
	"web/browse/fetch"
	"web/browse/guard"
	"web/engines"
	"web/settings"
	"web/settings/operator"
	"web/settings/strictjson"
)

// clock is the time in every world.
var clock = time.Date(2026, 3, 4, 5, 6, 7, 890123000, time.UTC)

const guideText = "---\nname: web\n---\n# the embedded guide\n"

// world is everything a call can reach: a working directory of its own, engines that count, a fixed clock, an
// environment that is a map. Each call gets a new Runner, as each process does.
type world struct {
	t   *testing.T
	dir string
	env map[string]string
	// operator is the content of operator.json; "" is no file.
	operator string
	fakes    map[string]*fake
	// providers are asked by the real engines, which then stand in place of the fakes.
	providers map[string]*provider
	built     []build
	// pages are the web, by URL; fetched is what was asked of it.
	pages   map[string]webPage
	fetched []string
	// shown is the last answer's bytes.
	shown []byte
}

// fake is an engine that answers what the test says and remembers what it was asked.
type fake struct {
	answer engines.Answer
	err    error
	// broken makes building it fail.
	broken error
	asked  []engines.Query
	// until holds the deadline of each question.
	until []time.Time
}

func (f *fake) Search(ctx context.Context, q engines.Query) (engines.Answer, error) {
	deadline, _ := ctx.Deadline()
	f.asked, f.until = append(f.asked, q), append(f.until, deadline)
	return f.answer, f.err
}

// webPage is one page of the web.
type webPage struct{ contentType, body string }

// Get implements browse.Fetcher.
func (w *world) Get(_ context.Context, u guard.URL) (*fetch.Response, *fault.Error) {
	w.fetched = append(w.fetched, u.String())
	p, ok := w.pages[u.String()]
	if !ok {
		return nil, fault.New(fault.DNSFailed, "the host name has no address", "retry once")
	}
	sum := sha256.Sum256([]byte(p.body))
	return &fetch.Response{
		Requested: u, Final: u, RedirectChain: []string{}, Status: 200, ContentType: p.contentType, Body: []byte(p.body),
		SourceSHA256: hex.EncodeToString(sum[:]),
	}, nil
}

// build is one use of a Builder.
type build struct{ Name, Key, Model string }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), env: map[string]string{}, fakes: map[string]*fake{}, providers: map[string]*provider{}, pages: map[string]webPage{}}
	for _, name := range engines.Names() {
		w.fakes[name] = &fake{answer: engines.Answer{Results: []engines.Result{hit("T", "https://ex.org/a", "S")}}}
	}
	return w
}

func hit(title, url, snippet string) engines.Result {
	return engines.Result{Title: title, URL: url, Snippet: snippet}
}

// hits are n results whose canonical text is longer than 200 characters each.
func hits(n int) []engines.Result {
	out := make([]engines.Result, n)
	for i := range out {
		s := strconv.Itoa(i)
		out[i] = hit("title "+s, "https://ex.org/"+s, strings.Repeat("snippet ", 20))
	}
	return out
}

func (w *world) getenv(name string) (string, bool) {
	v, ok := w.env[name]
	return v, ok
}

func (w *world) runner() (*Runner, func()) {
	root, err := os.OpenRoot(w.dir)
	must(w.t, err)
	at := operator.Location{}
	if w.operator != "" {
		at = operator.Location{Path: filepath.Join(w.t.TempDir(), "operator.json"), Explicit: true}
		must(w.t, os.WriteFile(at.Path, []byte(w.operator), 0o600))
	}
	builders := map[string]Builder{}
	for name, f := range w.fakes {
		builders[name] = func(_ operator.Operator, e operator.Engine) (engines.Engine, error) {
			w.built = append(w.built, build{name, e.Key.Reveal(), e.Model})
			if p := w.providers[name]; p != nil && f.broken == nil {
				return p.engine(name, e), nil
			}
			return f, f.broken
		}
	}
	return NewRunner(Deps{
		Root: root, Workdir: w.dir, Now: func() time.Time { return clock },
		Operator: func() (operator.Operator, error) { return operator.Read(at, w.getenv) },
		Builders: builders, Guide: func() string { return guideText },
		Fetcher: func(operator.Operator) (browse.Fetcher, error) { return w, nil },
	}), func() { _ = root.Close() }
}

// answer is a decoded answer.
type answer map[string]any

// call sends one envelope and checks what holds for every answer whatsoever.
func (w *world) call(envelope string) answer {
	w.t.Helper()
	r, done := w.runner()
	defer done()
	a := r.Call(w.t.Context(), []byte(envelope))
	w.shown = Marshal(a)
	if bytes.Count(w.shown, []byte("\n")) != 1 || !bytes.HasSuffix(w.shown, []byte("}\n")) {
		w.t.Fatalf("not one line of JSON: %.200q", w.shown)
	}
	tree, err := strictjson.Parse(w.shown)
	must(w.t, err)
	out := answer(tree.(map[string]any))
	if got := Status(fmt.Sprint(out["status"])); got != a.State() {
		w.t.Errorf("status %q on the wire, State() %q", got, a.State())
	}
	_, action := out["action"].(string)
	_, setting := out["current_setting"].(map[string]any)
	_, summary := out["summary_kind"] // a summary stands in place of the result and says neither
	if !summary && !(action && setting) {
		w.t.Errorf("action %v, current_setting %v", action, setting)
	}
	without := maps.Clone(out)
	delete(without, "manual_path") // the one place for an absolute path
	rest, err := json.Marshal(without)
	must(w.t, err)
	if bytes.Contains(rest, []byte(w.dir)) {
		w.t.Errorf("the working directory's path is in the answer: %s", rest)
	}
	for name, v := range w.env {
		if strings.Contains(name, "KEY") && strings.TrimSpace(v) != "" && bytes.Contains(w.shown, []byte(v)) {
			w.t.Errorf("the value of %s is in the answer", name)
		}
	}
	return out
}

// search asks for one query.
func (w *world) search(query string) answer {
	w.t.Helper()
	return w.call(`{"action":"search","input":{"query":` + quote(query) + `},"reasoning":"test"}`)
}

// browse asks for a page; input is the inside of the envelope's input.
func (w *world) browse(input string) answer {
	w.t.Helper()
	return w.call(`{"action":"browse","input":{` + input + `},"reasoning":"test"}`)
}

// page puts a page at https://ex.org/a.
func (w *world) page(contentType, body string) {
	w.pages["https://ex.org/a"] = webPage{contentType, body}
}

func (w *world) manual() answer {
	w.t.Helper()
	return w.call(`{"action":"manual","input":{},"reasoning":"test"}`)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// put writes a file below the working directory.
func (w *world) put(name, content string) {
	w.t.Helper()
	p := filepath.Join(w.dir, name)
	must(w.t, os.MkdirAll(filepath.Dir(p), 0o755))
	must(w.t, os.WriteFile(p, []byte(content), 0o600))
}

func (w *world) remove(name string) { must(w.t, os.RemoveAll(filepath.Join(w.dir, name))) }

// engine names the engine in settings/web.search.json.
func (w *world) engine(name string) {
	w.put(settings.SearchFile, `{"schema_version":1,"engine":`+quote(name)+`}`)
}

// threshold sets max_chars in settings/web.json.
func (w *world) threshold(n int) {
	w.put(settings.OutputFile, fmt.Sprintf(`{"schema_version":1,"max_chars":%d}`, n))
}

// asked gives what each engine was asked, by name.
func (w *world) asked() map[string]int {
	out := map[string]int{}
	for name, f := range w.fakes {
		if len(f.asked) > 0 {
			out[name] = len(f.asked)
		}
	}
	return out
}

// idle checks that no engine was built or asked and that nothing was sent or fetched.
func (w *world) idle() {
	w.t.Helper()
	for name, p := range w.providers {
		if sent := p.requests(); len(sent) > 0 {
			w.t.Errorf("sent to %s: %+v", name, sent)
		}
	}
	if len(w.built) > 0 || len(w.asked()) > 0 || len(w.fetched) > 0 {
		w.t.Errorf("built %v, asked %v, fetched %v; want nothing", w.built, w.asked(), w.fetched)
	}
}

// artifact reads the file of an artifact answer.
func (w *world) artifact(a answer) []byte {
	w.t.Helper()
	path, _ := a["file_path"].(string)
	data, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(path)))
	must(w.t, err)
	return data
}

// gone is what is wanted where there must be no such field.
type gone struct{}

// some is what is wanted where there must be a text, whichever.
const some = "(some text)"

// expect compares fields of an answer, named by their path: "results.0.url".
type expect map[string]any

func (a answer) at(path string) any {
	var v any = map[string]any(a)
	for part := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[part]
			if !ok {
				return gone{}
			}
			v = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(node) {
				return gone{}
			}
			v = node[i]
		default:
			return gone{}
		}
	}
	if n, ok := v.(json.Number); ok && strictjson.IsInteger(n) {
		i, _ := strconv.Atoi(string(n))
		return i
	}
	return v
}

func (a answer) want(t *testing.T, want expect) {
	t.Helper()
	got := expect{}
	for path, v := range want {
		got[path] = a.at(path)
		if s, ok := got[path].(string); ok && s != "" && v == some {
			got[path] = some
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// refused is the form of every failed answer: its code, and an action, a message and advice beside it.
func (a answer) refused(t *testing.T, name Name, code Code) {
	t.Helper()
	a.want(t, expect{
		"status": "failed", "action": string(name), "error_code": string(code), "message": some, "recommended_action": some,
		"results": gone{}, "count": gone{}, "delivery": gone{},
	})
}

// noRead is the current_setting of a call that read no settings file.
var noRead = expect{
	"current_setting.engine": nil, "current_setting.search_engine": nil, "current_setting.selected_engine": nil,
	"current_setting.source": "not_applicable", "current_setting.settings_revision": "not_read", "current_setting.settings_hash": nil,
	"current_setting.settings_error": gone{}, "current_setting.change_hint": some,
	"current_setting.output_max_chars.value": nil, "current_setting.output_max_chars.source": "not_applicable",
	"current_setting.output_max_chars.settings_revision": "not_read", "current_setting.output_max_chars.settings_hash": nil,
	"current_setting.output_max_chars.settings_error": gone{},
}

// keys lists an object's keys, sorted.
func keys(v any) []string {
	m, _ := v.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// typed is a typed failure of an engine, with a secret in the cause that nobody may see.
func typed(engine, class string) error {
	return &engines.Error{
		Engine: engine, Class: class, Message: "the engine failed in a way that has a name",
		Err: errors.New("cause with sk-secret-in-the-cause"),
	}
}
