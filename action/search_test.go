package action

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"web/engines"
	"web/settings/operator"
)

// TestNarrative: an engine's own text is given once beside the results, and moves to the artifact with them.
func TestNarrative(t *testing.T) {
	w := newWorld(t)
	w.fakes[engines.DuckDuckGo].answer.Narrative = "what the engine says"
	inline := w.search("q")
	inline.want(t, expect{"answer": "what the engine says", "count": 1, "delivery": "inline"})
	w.threshold(1)
	a := w.search("q")
	a.want(t, expect{"answer": gone{}, "results": gone{}, "count": 1, "content_chars": inline.at("content_chars")})
	if s := string(w.artifact(a)); !strings.HasPrefix(s, "{\n  \"answer\": \"what the engine says\",\n  \"results\": [\n    {\n") {
		t.Errorf("the file begins %.80q", s)
	}
}

func TestLeftOut(t *testing.T) {
	w := newWorld(t)
	w.search("q").want(t, expect{"left_out": gone{}})
	w.fakes[engines.DuckDuckGo].answer = engines.Answer{LeftOut: engines.LeftOut{Ads: 1, Duplicates: 2, Unsafe: 3, Broken: 4}}
	w.search("q").want(t, expect{
		"status": "ok", "count": 0, "left_out.ads": 1, "left_out.duplicates": 2, "left_out.unsafe": 3, "left_out.broken": 4,
	})
}

// TestRefsCannotBeKept: a search never fails for that; it says so and gives no ref that would not resolve.
func TestRefsCannotBeKept(t *testing.T) {
	for name, spoil := range map[string]func(w *world){
		"state directory is a file": func(w *world) { w.put("tmp/web", "") },
		"table is a directory":      func(w *world) { must(t, os.MkdirAll(filepath.Join(w.dir, "tmp/web/refs-search"), 0o755)) },
		"tmp is a link":             func(w *world) { must(t, os.Symlink(t.TempDir(), filepath.Join(w.dir, "tmp"))) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			spoil(w)
			w.search("q").want(t, expect{
				"status": "ok", "count": 1, "results.0.url": "https://ex.org/a", "results.0.link_ref": nil, "warnings": []any{RefsNotStored},
			})
		})
	}
}

// TestForeignBytes: no answer holds bytes that are not UTF-8, whatever an engine gives.
func TestForeignBytes(t *testing.T) {
	w := newWorld(t)
	w.fakes[engines.DuckDuckGo].answer = engines.Answer{
		Results: []engines.Result{hit("a\xffb", "https://ex.org/\xc3", "\xed\xa0\x80")}, Narrative: "\xf0\x9f",
	}
	w.search("q").want(t, expect{"results.0.title": "a\ufffdb", "results.0.url": "https://ex.org/\ufffd", "results.0.snippet": "\ufffd\ufffd\ufffd", "answer": "\ufffd\ufffd"})
}

// TestTypedFailure: what an engine says about its failure reaches the caller.
func TestTypedFailure(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  engines.Error
		want expect
	}{
		{"final", engines.Error{Class: "challenge", Message: "m"},
			expect{"error_code": "SEARCH_FAILED", "message": "m", "retryable": false, "retry_after_ms": gone{}, "provider_failure_class": "challenge"}},
		{"retryable", engines.Error{Class: "timeout", Message: "m", Retryable: true},
			expect{"error_code": "SEARCH_FAILED", "retryable": true, "retry_after_ms": gone{}, "recommended_action": "repeat the call once; if it fails again, choose another engine in settings/web.search.json"}},
		{"the key", engines.Error{Class: "AuthenticationError", Message: "m", HTTPStatus: 401},
			expect{"retryable": false, "recommended_action": "have the operator check the engine with `web doctor --live`, or choose another engine in settings/web.search.json"}},
		{"too often", engines.Error{Class: "RateLimitError", Message: "m", HTTPStatus: 429, Retryable: true},
			expect{"retryable": true, "recommended_action": "wait some minutes before the next search, or choose another engine in settings/web.search.json"}},
		{"too often for a while", engines.Error{Class: "RateLimitError", Message: "m", HTTPStatus: 429, Retryable: true, RetryAfterMS: 7000},
			expect{"retry_after_ms": 7000, "recommended_action": "wait as long as retry_after_ms says, then repeat the call once, or choose another engine in settings/web.search.json"}},
		{"after a while", engines.Error{Class: "rate_limited", Message: "m", Retryable: true, RetryAfterMS: 60000},
			expect{"error_code": "SEARCH_FAILED", "retryable": true, "retry_after_ms": 60000}},
		{"the query", engines.Error{Class: "query_too_long", Message: "m", InvalidQuery: true},
			expect{"error_code": "INVALID_QUERY", "retryable": false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.fakes[engines.DuckDuckGo].err = &tt.err
			w.search("q").want(t, tt.want)
		})
	}
}

// TestSearchTime: one deadline for the call, of which DuckDuckGo keeps a share when OpenAI is asked first.
func TestSearchTime(t *testing.T) {
	for limit, share := range map[string]time.Duration{"25": fallbackShare, "6": 2 * time.Second} {
		w := newWorld(t)
		w.operator = `{"schema_version":1,"limits":{"search_seconds":` + limit + `}}`
		w.openAI(typed("openai", "timeout"))
		w.search("q").want(t, expect{"actual_engine": "duckduckgo"})
		first, second := w.fakes[engines.OpenAI].until[0], w.fakes[engines.DuckDuckGo].until[0]
		if first.IsZero() || second.Sub(first) != share {
			t.Errorf("limit %s s: deadlines %v apart, want %v", limit, second.Sub(first), share)
		}
	}
}

// TestInvalidOperatorFile: nothing networked works, the manual does, and the answer says where the fault is
// without a value.
func TestInvalidOperatorFile(t *testing.T) {
	w := newWorld(t)
	w.env["OPENAI_API_KEY"] = "key-of-openai"
	w.operator = `{"schema_version":1,"engines":{"openai":{"api_key":"literal-` + secret + `","modell":"x"}}}`
	a := w.search("q")
	a.refused(t, Search, OperatorConfigInvalid)
	a.want(t, expect{
		"current_setting.operator_error": "operator configuration: engines.openai: unknown key; known are api_key, model, base_url",
		"current_setting.available_engine_status": map[string]any{
			"anthropic": "unavailable", "duckduckgo": "unavailable", "gemini": "unavailable", "openai": "unavailable",
		},
	})
	if strings.Contains(string(w.shown), secret) || strings.Contains(string(w.shown), "modell") {
		t.Errorf("quotes the file: %s", w.shown)
	}
	w.manual().want(t, expect{"status": "ok", "current_setting.operator_error": some})
	w.idle()
}

// TestSettingsOnlyDefault: operator.json cannot make such an engine the default; if anything else did, the
// action would still refuse it.
func TestSettingsOnlyDefault(t *testing.T) {
	w := newWorld(t)
	w.env["ANTHROPIC_API_KEY"], w.env["WEB_LLM_PROVIDER"] = "key-of-anthropic", "anthropic"
	r, done := w.runner()
	defer done()
	op, err := r.operator()
	must(t, err)
	op.DefaultEngine = engines.Anthropic
	r.operator = func() (operator.Operator, error) { return op, nil }
	if f, ok := r.Call(t.Context(), []byte(`{"action":"search","input":{"query":"q"}}`)).(*Failure); !ok || f.Code != BackendIneligible {
		t.Errorf("got %v", f)
	}
	w.idle()
}

func TestCustomEndpoint(t *testing.T) {
	w := newWorld(t)
	w.operator = `{"schema_version":1,"engines":{"duckduckgo":{"base_url":"https://ddg.corp.example/html/"}}}`
	w.search("q").want(t, expect{"current_setting.available_engines.1": map[string]any{"name": "duckduckgo", "status": "available", "endpoint": "custom"}})
	if strings.Contains(string(w.shown), "corp.example") {
		t.Error("shows the operator's address")
	}
}

// TestTavily is admitted only where the operator configured it.
func TestTavily(t *testing.T) {
	w := newWorld(t)
	w.env["TAVILY_API_KEY"] = "key-of-tavily"
	w.search("q").want(t, expect{"engine": "duckduckgo", "current_setting.available_engine_status.tavily": "available"})
	w.operator = `{"schema_version":1,"default_engine":"tavily"}`
	w.search("q").want(t, expect{"engine": "tavily", "current_setting.source": "operator_default"})
	if diff := cmp.Diff([]build{{Name: "duckduckgo"}, {Name: "tavily", Key: "key-of-tavily"}}, w.built); diff != "" {
		t.Errorf("built (-want +got):\n%s", diff)
	}
}

// TestEngineThatIsNotBuiltIn: an engine of the catalogue that this program has no builder for is unavailable,
// and is neither the default nor replaced.
func TestEngineThatIsNotBuiltIn(t *testing.T) {
	w := newWorld(t)
	w.env["OPENAI_API_KEY"] = "key-of-openai"
	delete(w.fakes, engines.OpenAI)
	w.search("q").want(t, expect{"engine": "duckduckgo", "current_setting.available_engine_status.openai": "unavailable"})
	w.built, w.fakes[engines.DuckDuckGo].asked = nil, nil
	w.engine(engines.OpenAI)
	w.search("q").refused(t, Search, SearchEngineUnavailable)
	w.idle()
}

// TestFallbackCannotBeBuilt: the failure has both classes then too.
func TestFallbackCannotBeBuilt(t *testing.T) {
	w := newWorld(t)
	w.openAI(typed("openai", "Timeout"))
	w.fakes[engines.DuckDuckGo].broken = errors.New("text of the defect")
	a := w.search("q")
	a.refused(t, Search, SearchFailed)
	a.want(t, expect{"openai_failure_class": "Timeout", "duckduckgo_failure_class": some})
}
