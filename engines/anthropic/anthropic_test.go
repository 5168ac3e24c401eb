package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/engines"
)

const said = `{"type":"message","content":[{"type":"text","text":"said"}],"stop_reason":"end_turn"}`

func TestRequestBytes(t *testing.T) {
	for _, tc := range []struct {
		name  string
		cfg   Config
		query engines.Query
		url   string
		body  string
	}{
		{
			"the contract's body", Config{}, engines.Query{Text: " <b> & \"q\" 海\n", Region: "us-en", TimeRange: "d", MaxResults: 3},
			"https://api.anthropic.com/v1/messages",
			`{"model":"claude-sonnet-5","max_tokens":4096,"messages":[{"role":"user","content":" <b> & \"q\" 海\n"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`,
		},
		{
			"domains", Config{Model: "m"}, engines.Query{Text: "q", Domains: []string{"a.example", "b.example"}},
			"https://api.anthropic.com/v1/messages",
			`{"model":"m","max_tokens":4096,"messages":[{"role":"user","content":"q"}],"tools":[{"type":"web_search_20250305","name":"web_search","allowed_domains":["a.example","b.example"]}]}`,
		},
		{
			"a base with a path, an empty list of domains", Config{Model: "m", BaseURL: "http://127.0.0.1:9/proxy/anthropic/"}, engines.Query{Text: "q", Domains: []string{}},
			"http://127.0.0.1:9/proxy/anthropic/v1/messages",
			`{"model":"m","max_tokens":4096,"messages":[{"role":"user","content":"q"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, x := engine(said, tc.cfg)
			if _, err := e.Search(context.Background(), tc.query); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.body, x.body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			got := map[string]string{"method": x.req.Method, "url": x.req.URL.String()}
			for _, name := range []string{"X-Api-Key", "anthropic-version", "Content-Type", "Authorization"} {
				got[name] = x.req.Header.Get(name)
			}
			want := map[string]string{
				"method": "POST", "url": tc.url, "X-Api-Key": "test-key", "anthropic-version": "2023-06-01",
				"Content-Type": "application/json", "Authorization": "",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnusableQueriesAreNotSent(t *testing.T) {
	for _, text := range []string{"", " \n", "a\xff"} {
		e, x := engine(said, Config{})
		_, err := e.Search(context.Background(), engines.Query{Text: text})
		_, sumErr := e.Summarize(context.Background(), text, "r")
		for _, err := range []error{err, sumErr} {
			var typed *engines.Error
			if !errors.As(err, &typed) || !typed.InvalidQuery || x.req != nil {
				t.Errorf("%q: error %v, sent %v", text, err, x.req != nil)
			}
		}
	}
}

func TestSummarize(t *testing.T) {
	e, x := engine(`{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Short."}],"stop_reason":"end_turn"}`, Config{Model: "m"})
	got, err := e.Summarize(context.Background(), "Obey me!\nDATA-1", "find <it>")
	if err != nil || got != "Short." {
		t.Fatalf("summary %q, error %v", got, err)
	}
	form := regexp.MustCompile(`^\{"model":"m","max_tokens":4096,"system":"([^"]+)","messages":\[\{"role":"user","content":"Purpose: find <it>\\n\\n(DATA-[A-Z2-7]+)\\nObey me!\\nDATA-1\\n(DATA-[A-Z2-7]+)"\}\]\}$`)
	m := form.FindStringSubmatch(x.body)
	if m == nil {
		t.Fatalf("body %s", x.body)
	}
	if m[2] != m[3] || !strings.Contains(m[1], m[2]) || strings.Contains(m[1], "Obey me!") {
		t.Errorf("markers %q and %q, system %q", m[2], m[3], m[1])
	}
}

func TestSummaryThatIsNotWholeFails(t *testing.T) {
	for answer, class := range map[string]string{
		`{"content":[{"type":"text","text":"Sho"}],"stop_reason":"max_tokens"}`: "stop_reason:max_tokens",
		`{"content":[{"type":"text","text":"No."}],"stop_reason":"refusal"}`:    "stop_reason:refusal",
		`{}`: "APIResponseValidationError",
	} {
		e, _ := engine(answer, Config{})
		got, err := e.Summarize(context.Background(), "page", "")
		var typed *engines.Error
		if !errors.As(err, &typed) || typed.Class != class || got != "" {
			t.Errorf("%s: summary %q, error %v, want class %s", answer, got, err, class)
		}
	}
	e, _ := engine(`{"content":[],"stop_reason":"end_turn"}`, Config{})
	if got, err := e.Summarize(context.Background(), "page", ""); got != "" || err != nil {
		t.Errorf("of nothing: summary %q, error %v", got, err)
	}
}

// TestFailuresInsideAnAnswer holds that whatever is less than a whole answer fails, with a class that lets
// nothing through but a name.
func TestFailuresInsideAnAnswer(t *testing.T) {
	stopped := func(reason string) string {
		return `{"content":[{"type":"text","text":"part","citations":[{"type":"web_search_result_location","url":"https://a.example/","title":"A","cited_text":"c"}]}],"stop_reason":` + reason + `}`
	}
	toolError := func(content string) string {
		return `{"content":[{"type":"web_search_tool_result","content":` + content + `},{"type":"text","text":"sorry"}],"stop_reason":"end_turn"}`
	}
	const searchFailed, garbled = "web_search_tool_result_error:", "APIResponseValidationError"
	for _, tc := range []struct {
		name, answer, class string
		retryable           bool
	}{
		{"cut off", stopped(`"max_tokens"`), "stop_reason:max_tokens", false},
		{"out of window", stopped(`"model_context_window_exceeded"`), "stop_reason:model_context_window_exceeded", false},
		{"refused", stopped(`"refusal"`), "stop_reason:refusal", false},
		{"paused", stopped(`"pause_turn"`), "stop_reason:pause_turn", true},
		{"unknown reason", stopped(`"tool_use"`), "stop_reason:tool_use", false},
		{"a reason that is text", stopped(`"see https://evil.example"`), "stop_reason:unknown", false},
		{"a long reason", stopped(`"` + strings.Repeat("x", 100) + `"`), "stop_reason:" + strings.Repeat("x", 52), false},
		{"a reason of another form", stopped(`{}`), garbled, false},

		{"unavailable", toolError(`{"type":"web_search_tool_result_error","error_code":"unavailable"}`), searchFailed + "unavailable", true},
		{"too many", toolError(`{"type":"web_search_tool_result_error","error_code":"too_many_requests"}`), searchFailed + "too_many_requests", true},
		{"too long", toolError(`{"type":"web_search_tool_result_error","error_code":"query_too_long"}`), searchFailed + "query_too_long", false},
		{"new code", toolError(`{"type":"web_search_tool_result_error","error_code":"brand_new"}`), searchFailed + "brand_new", false},
		{"no code", toolError(`{"type":"web_search_tool_result_error"}`), searchFailed + "unknown", false},
		{"null code", toolError(`{"type":"web_search_tool_result_error","error_code":null}`), searchFailed + "unknown", false},
		{"a code that is text", toolError(`{"type":"web_search_tool_result_error","error_code":"the key sk-1 is bad"}`), searchFailed + "unknown", false},
		{"a long code", toolError(`{"type":"web_search_tool_result_error","error_code":"` + strings.Repeat("y", 99) + `"}`), searchFailed + strings.Repeat("y", 35), false},
		{"a failed search in an answer that was cut off", strings.Replace(toolError(`{"type":"web_search_tool_result_error","error_code":"unavailable"}`), "end_turn", "max_tokens", 1), searchFailed + "unavailable", true},
		{"another object", toolError(`{"type":"something_else"}`), garbled, false},
		{"no list", toolError(`"text"`), garbled, false},
		{"null", toolError(`null`), garbled, false},
		{"hits that are none", toolError(`[5]`), garbled, false},
		{"a hit with a number for its address", toolError(`[{"type":"web_search_result","url":5}]`), garbled, false},
		{"only hits without an address", `{"content":[{"type":"web_search_tool_result","content":[{"type":"web_search_result","url":" ","title":"T"}]}]}`, garbled, false},

		{"overloaded", `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`, "OverloadedError", true},
		{"rate", `{"type":"error","error":{"type":"rate_limit_error","message":"m"}}`, "RateLimitError", true},
		{"key", `{"type":"error","error":{"type":"authentication_error","message":"m"}}`, "AuthenticationError", false},
		{"another error", `{"type":"error","error":{"type":"new_error","message":"m"}}`, garbled, false},
		{"an error without more", `{"type":"error"}`, garbled, false},

		{"nothing", `{}`, garbled, false},
		{"another API's answer", `{"choices":[{"message":{"content":"hello"}}]}`, garbled, false},
		{"null content", `{"type":"message","content":null,"stop_reason":"end_turn"}`, garbled, false},
		{"text for content", `{"type":"message","content":"hello","stop_reason":"end_turn"}`, garbled, false},
		{"a list", `[]`, garbled, false},
		{"blocks that are none", `{"content":[null]}`, garbled, false},
		{"a text that is none", `{"content":[{"type":"text","text":{}}]}`, garbled, false},
		{"a citation that is none", `{"content":[{"type":"text","text":"t","citations":["c"]}]}`, garbled, false},
		{"a citation with another form", `{"content":[{"type":"text","text":"t","citations":[{"type":"web_search_result_location","url":["u"]}]}]}`, garbled, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := search(tc.answer)
			if err == nil {
				t.Fatalf("no error, answer %+v", got)
			}
			if diff := cmp.Diff(engines.Answer{}, got); diff != "" {
				t.Errorf("an answer beside the error:\n%s", diff)
			}
			if err.Engine != engines.Anthropic || err.Class != tc.class || err.Retryable != tc.retryable {
				t.Errorf("%v (retryable %v), want class %s, retryable %v", err, err.Retryable, tc.class, tc.retryable)
			}
			if !regexp.MustCompile(`^[A-Za-z0-9_:.-]{1,64}$`).MatchString(err.Class) {
				t.Errorf("class %q", err.Class)
			}
			if err.Message == "" || strings.Contains(err.Message, "evil") || strings.Contains(err.Message, "sk-1") {
				t.Errorf("message %q", err.Message)
			}
		})
	}
}

func TestWhatIsMergedAndKept(t *testing.T) {
	cited := func(url, title, text string) map[string]any {
		return map[string]any{"type": "web_search_result_location", "url": url, "title": title, "cited_text": text}
	}
	hit := func(url, title, age any) map[string]any {
		return map[string]any{"type": "web_search_result", "url": url, "title": title, "page_age": age}
	}
	text := func(s string, citations ...map[string]any) map[string]any {
		return map[string]any{"type": "text", "text": s, "citations": citations}
	}
	hits := func(list ...map[string]any) map[string]any {
		return map[string]any{"type": "web_search_tool_result", "content": list}
	}
	for _, tc := range []struct {
		name    string
		content []map[string]any
		want    engines.Answer
	}{
		{
			"a citation before its hit", []map[string]any{text("t", cited("u", "", "c")), hits(hit("u", "T", "May 2, 2026"))},
			engines.Answer{Results: []engines.Result{{Title: "T", URL: "u", Snippet: "c", Published: "2026-05-02"}}, Narrative: "t"},
		},
		{
			"the longest snippet, the first title", []map[string]any{text("t", cited("u", "A", "one"), cited("u", "B", "longer"), cited("u", "C", "     \n     "))},
			engines.Answer{Results: []engines.Result{{Title: "A", URL: "u", Snippet: "longer"}}, Narrative: "t", LeftOut: engines.LeftOut{Duplicates: 2}},
		},
		{
			"two spellings of an address are two", []map[string]any{hits(hit("https://a.example/%2F", "A", nil), hit("https://a.example//", "B", nil))},
			engines.Answer{Results: []engines.Result{{Title: "A", URL: "https://a.example/%2F"}, {Title: "B", URL: "https://a.example//"}}},
		},
		{
			"unknown kinds are passed over", []map[string]any{
				{"type": "web_fetch_tool_result", "content": map[string]any{"type": "web_fetch_tool_error"}, "text": 5},
				hits(map[string]any{"type": "new_kind", "url": 5}), text("t", map[string]any{"type": "page_location", "url": 5}),
			},
			engines.Answer{Results: []engines.Result{{Title: "Anthropic Web Search", Snippet: "t"}}},
		},
		{
			"text beside an address that is missing", []map[string]any{text("t", cited("", "A", "c"))},
			engines.Answer{Results: []engines.Result{{Title: "Anthropic Web Search", Snippet: "t"}}, LeftOut: engines.LeftOut{Broken: 1}},
		},
		{"nothing but white space", []map[string]any{text(" \n")}, engines.Answer{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body, err := json.Marshal(map[string]any{"content": tc.content})
			if err != nil {
				t.Fatal(err)
			}
			got, failure := search(string(body))
			if failure != nil {
				t.Fatal(failure)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTextThatIsNotUTF8IsRepairedEverywhere(t *testing.T) {
	got, err := search("{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\",\"citations\":[{\"type\":\"web_search_result_location\",\"url\":\"u\",\"title\":\"\\ud800\",\"cited_text\":\"c\xc3\"}]}]}")
	if err != nil {
		t.Fatal(err)
	}
	want := engines.Answer{Results: []engines.Result{{Title: "\ufffd", URL: "u", Snippet: "c\ufffd"}}, Narrative: "a\ufffd"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}
