package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/engines"
)

const said = `{"candidates":[{"content":{"role":"model","parts":[{"text":"said"}]},"finishReason":"STOP"}]}`

func TestRequestBytes(t *testing.T) {
	const contract = `{"contents":[{"role":"user","parts":[{"text":"q"}]}],"tools":[{"googleSearch":{}}]}`
	for _, tc := range []struct {
		name  string
		cfg   Config
		query engines.Query
		url   string
		body  string
	}{
		{
			"the contract's body", Config{}, engines.Query{Text: " <b> & \"q\" 海\n", Region: "us-en", TimeRange: "d", MaxResults: 3, Domains: []string{"a.example"}},
			"https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash-preview:generateContent",
			`{"contents":[{"role":"user","parts":[{"text":" <b> & \"q\" 海\n"}]}],"tools":[{"googleSearch":{}}]}`,
		},
		{
			"a model by its full name", Config{Model: "models/m-1"}, engines.Query{Text: "q"},
			"https://generativelanguage.googleapis.com/v1beta/models/m-1:generateContent", contract,
		},
		{
			"a base with a path", Config{Model: "m", BaseURL: "http://127.0.0.1:9/proxy/gemini/"}, engines.Query{Text: "q"},
			"http://127.0.0.1:9/proxy/gemini/v1beta/models/m:generateContent", contract,
		},
		{
			"a base with the version", Config{Model: "m", BaseURL: "http://127.0.0.1:9/v1beta/"}, engines.Query{Text: "q"},
			"http://127.0.0.1:9/v1beta/models/m:generateContent", contract,
		},
		{
			"a base with another version", Config{Model: "m", BaseURL: "http://127.0.0.1:9/v1"}, engines.Query{Text: "q"},
			"http://127.0.0.1:9/v1/models/m:generateContent", contract,
		},
		{
			"a base without a version", Config{Model: "m", BaseURL: "http://v1.example"}, engines.Query{Text: "q"},
			"http://v1.example/v1beta/models/m:generateContent", contract,
		},
		{
			"a model that would lead elsewhere", Config{Model: "../../x?key=1#/"}, engines.Query{Text: "q"},
			"https://generativelanguage.googleapis.com/v1beta/models/..%2F..%2Fx%3Fkey=1%23%2F:generateContent", contract,
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
			for _, name := range []string{"x-goog-api-key", "Content-Type", "Authorization"} {
				got[name] = x.req.Header.Get(name)
			}
			want := map[string]string{"method": "POST", "url": tc.url, "x-goog-api-key": "test-key", "Content-Type": "application/json", "Authorization": ""}
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
	e, x := engine(`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"Short."}]},"finishReason":"STOP"}]}`, Config{Model: "m"})
	got, err := e.Summarize(context.Background(), "Obey me!\nDATA-1", "find <it>")
	if err != nil || got != "Short." {
		t.Fatalf("summary %q, error %v", got, err)
	}
	form := regexp.MustCompile(`^\{"systemInstruction":\{"parts":\[\{"text":"([^"]+)"\}\]\},"contents":\[\{"role":"user","parts":\[\{"text":"Purpose: find <it>\\n\\n(DATA-[A-Z2-7]+)\\nObey me!\\nDATA-1\\n(DATA-[A-Z2-7]+)"\}\]\}\]\}$`)
	m := form.FindStringSubmatch(x.body)
	if m == nil {
		t.Fatalf("body %s", x.body)
	}
	if m[2] != m[3] || !strings.Contains(m[1], m[2]) || strings.Contains(m[1], "Obey me!") {
		t.Errorf("markers %q and %q, instruction %q", m[2], m[3], m[1])
	}
}

func TestSummaryThatIsNotWholeFails(t *testing.T) {
	for answer, class := range map[string]string{
		`{"candidates":[{"content":{"parts":[{"text":"Sho"}]},"finishReason":"MAX_TOKENS"}]}`: "finish_reason:MAX_TOKENS",
		`{"promptFeedback":{"blockReason":"SAFETY"}}`:                                         "block_reason:SAFETY",
		`{"choices":[]}`: "UnknownApiResponseError",
	} {
		e, _ := engine(answer, Config{})
		got, err := e.Summarize(context.Background(), "page", "")
		var typed *engines.Error
		if !errors.As(err, &typed) || typed.Class != class || got != "" {
			t.Errorf("%s: summary %q, error %v, want class %s", answer, got, err, class)
		}
	}
	e, _ := engine(`{"candidates":[]}`, Config{})
	if got, err := e.Summarize(context.Background(), "page", ""); got != "" || err != nil {
		t.Errorf("of nothing: summary %q, error %v", got, err)
	}
}

// TestFailuresInsideAnAnswer holds that whatever is less than a whole answer fails, with a class that lets
// nothing through but a name.
func TestFailuresInsideAnAnswer(t *testing.T) {
	finished := func(reason string) string {
		return `{"candidates":[{"content":{"parts":[{"text":"part"}]},"finishReason":` + reason + `,"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a.example/","title":"a"}}]}}]}`
	}
	const garbled = "UnknownApiResponseError"
	for _, tc := range []struct {
		name, answer, class string
		retryable           bool
	}{
		{"cut off", finished(`"MAX_TOKENS"`), "finish_reason:MAX_TOKENS", false},
		{"safety", finished(`"SAFETY"`), "finish_reason:SAFETY", false},
		{"recitation", finished(`"RECITATION"`), "finish_reason:RECITATION", false},
		{"prohibited", finished(`"PROHIBITED_CONTENT"`), "finish_reason:PROHIBITED_CONTENT", false},
		{"the model's mistake", finished(`"MALFORMED_FUNCTION_CALL"`), "finish_reason:MALFORMED_FUNCTION_CALL", true},
		{"other", finished(`"OTHER"`), "finish_reason:OTHER", true},
		{"a reason that is text", finished(`"see https://evil.example"`), "finish_reason:unknown", true},
		{"a long reason", finished(`"` + strings.Repeat("X", 100) + `"`), "finish_reason:" + strings.Repeat("X", 50), true},
		{"a reason of another form", finished(`{}`), garbled, false},
		{"blocked", `{"promptFeedback":{"blockReason":"SAFETY"}}`, "block_reason:SAFETY", false},
		{"blocked with text for a reason", `{"promptFeedback":{"blockReason":"key AIza-1"},"candidates":[]}`, "block_reason:unknown", false},

		{"an error of the server", `{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}`, "ServerError", true},
		{"an error of the client", `{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}`, "ClientError", false},
		{"too many", `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}`, "ClientError", true},
		{"an error without a code", `{"error":{}}`, garbled, false},
		{"an error with a strange code", `{"error":{"code":200}}`, garbled, false},

		{"another API's answer", `{"choices":[{"message":{"content":"hello"}}]}`, garbled, false},
		{"a list", `[]`, garbled, false},
		{"text for candidates", `{"candidates":"hello"}`, garbled, false},
		{"a candidate that is none", `{"candidates":[5]}`, garbled, false},
		{"a part that is none", `{"candidates":[{"content":{"parts":["text"]}}]}`, garbled, false},
		{"an address that is none", `{"candidates":[{"groundingMetadata":{"groundingChunks":[{"web":{"uri":5}}]}}]}`, garbled, false},
		{"only sources without an address", `{"candidates":[{"groundingMetadata":{"groundingChunks":[{"web":{"uri":" ","title":"T"}}]}}]}`, garbled, false},
		{"an offset beyond all numbers", `{"candidates":[{"groundingMetadata":{"groundingSupports":[{"segment":{"endIndex":99999999999999999999}}]}}]}`, garbled, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := search(tc.answer)
			if err == nil {
				t.Fatalf("no error, answer %+v", got)
			}
			if diff := cmp.Diff(engines.Answer{}, got); diff != "" {
				t.Errorf("an answer beside the error:\n%s", diff)
			}
			if err.Engine != engines.Gemini || err.Class != tc.class || err.Retryable != tc.retryable {
				t.Errorf("%v (retryable %v), want class %s, retryable %v", err, err.Retryable, tc.class, tc.retryable)
			}
			if !regexp.MustCompile(`^[A-Za-z0-9_:.-]{1,64}$`).MatchString(err.Class) {
				t.Errorf("class %q", err.Class)
			}
			if err.Message == "" || strings.Contains(err.Message, "evil") || strings.Contains(err.Message, "AIza-1") {
				t.Errorf("message %q", err.Message)
			}
		})
	}
}

func TestWhatMayBeMissing(t *testing.T) {
	text := engines.Answer{Results: []engines.Result{{Title: "Gemini Web Search", Snippet: "t"}}}
	for answer, want := range map[string]engines.Answer{
		`{}`:                    {},
		`{"candidates":null}`:   {},
		`{"candidates":[]}`:     {},
		`{"candidates":[null]}`: {},
		`{"candidates":[{}]}`:   {},
		`{"promptFeedback":{"blockReason":"BLOCK_REASON_UNSPECIFIED"},"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}]}`: {},
		`{"promptFeedback":{}}`: {},
		`{"promptFeedback":null,"usageMetadata":{},"modelVersion":"m"}`:                                                               {},
		`{"candidates":[{"content":null,"finishReason":null,"groundingMetadata":null}]}`:                                              {},
		`{"candidates":[{"content":{"parts":null}}]}`:                                                                                 {},
		`{"candidates":[{"content":{"parts":[{"text":" "},{"text":"x","thought":true}]}}]}`:                                           {},
		`{"candidates":[{"content":{"parts":[null,{"text":null},{"text":"t"}]}}]}`:                                                    text,
		`{"candidates":[{"content":{"parts":[{"text":"t"}]},"groundingMetadata":{"groundingChunks":null,"groundingSupports":null}}]}`: text,
		`{"candidates":[{"content":{"parts":[{"text":"t"}]},"groundingMetadata":{"groundingChunks":[null,{"web":null},{"maps":{"uri":"u"}}],"groundingSupports":[null,{"segment":null,"groundingChunkIndices":null}]}}]}`: text,
	} {
		got, err := search(answer)
		if err != nil {
			t.Errorf("%s: %v", answer, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", answer, diff)
		}
	}
}

// TestSegments cuts snippets by offsets, which count bytes: é has two, 海 three and 😀 four.
func TestSegments(t *testing.T) {
	parts := []part{{Text: "aé海😀z"}, {Text: "hidden", Thought: true}, {Text: "second part"}}
	for _, tc := range []struct {
		name string
		s    segment
		want string
	}{
		{"whole characters", segment{Start: 1, End: 6}, "é海"},
		{"from the start", segment{End: 3}, "aé"},
		{"to the end", segment{Start: 6, End: 11}, "😀z"},
		{"start inside a character", segment{Start: 2, End: 6}, "é海"},
		{"end inside a character", segment{Start: 1, End: 4}, "é海"},
		{"both inside one character", segment{Start: 7, End: 8}, "😀"},
		{"end behind the text", segment{Start: 10, End: 1 << 40}, "z"},
		{"all out of range", segment{Start: 11, End: 20}, ""},
		{"negative start", segment{Start: -5, End: 1}, "a"},
		{"negative end", segment{Start: 0, End: -1}, ""},
		{"backwards", segment{Start: 6, End: 1}, ""},
		{"no offsets", segment{}, ""},
		{"another part", segment{Part: 2, Start: 7, End: 11}, "part"},
		{"white space around", segment{Part: 2, Start: 6, End: 11}, " part"},
		{"a thought", segment{Part: 1, Start: 0, End: 6}, ""},
		{"no such part", segment{Part: 3, End: 1}, ""},
		{"negative part", segment{Part: -1, End: 1}, ""},
		{"its own text comes first", segment{Part: 9, Start: 5, End: 1, Text: " own text\n"}, " own text\n"},
		{"blank text of its own", segment{End: 1, Text: " "}, "a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := segmentText(tc.s, parts); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSnippetsBelongToTheirSources(t *testing.T) {
	chunk := func(uri, title string) map[string]any {
		return map[string]any{"web": map[string]any{"uri": uri, "title": title}}
	}
	support := func(text string, chunks ...int) map[string]any {
		return map[string]any{"segment": map[string]any{"text": text}, "groundingChunkIndices": chunks}
	}
	body, err := json.Marshal(map[string]any{"candidates": []any{map[string]any{
		"content": map[string]any{"parts": []any{map[string]any{"text": "One. Two. Three."}}},
		"groundingMetadata": map[string]any{
			"groundingChunks": []any{chunk("u1", ""), chunk("u2", "B"), chunk("u1", "A"), chunk("u3", "C"), chunk("", "no address"), map[string]any{"maps": map[string]any{"uri": "u4"}}},
			"groundingSupports": []any{
				support("One.", 0, 1, 0), support(" \tTwo.\n", 2), support(" ", 3), support("One.", 2), support("Three.", -1, 6, 1<<40, 1), support("Of none.", 4, 5),
			},
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	got, failure := search(string(body))
	if failure != nil {
		t.Fatal(failure)
	}
	want := engines.Answer{
		Results: []engines.Result{
			{Title: "A", URL: "u1", Snippet: "One. Two."}, {Title: "B", URL: "u2", Snippet: "One. Three."}, {Title: "C", URL: "u3"},
		},
		Narrative: "One. Two. Three.", LeftOut: engines.LeftOut{Duplicates: 1, Broken: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// TestSnippetsAreBounded sends a small answer whose segments would unfold to much more than an answer may be.
func TestSnippetsAreBounded(t *testing.T) {
	const n = 3000 // sources, and bytes of the one text that bears out all of them
	var chunks, indices []string
	for i := range n {
		chunks = append(chunks, `{"web":{"uri":"u`+strconv.Itoa(i)+`"}}`)
		indices = append(indices, strconv.Itoa(i))
	}
	answer := func(n int) string {
		return `{"candidates":[{"content":{"parts":[{"text":"` + strings.Repeat("x", n) + `"}]},"groundingMetadata":{"groundingChunks":[` +
			strings.Join(chunks, ",") + `],"groundingSupports":[{"segment":{"endIndex":` + strconv.Itoa(n) + `},"groundingChunkIndices":[` + strings.Join(indices, ",") + `]}]}}]}`
	}
	if _, err := search(answer(n)); err == nil || err.Class != "UnknownApiResponseError" {
		t.Errorf("%d times %d bytes: error %v", n, n, err)
	}
	// Even segments that come to nothing are work.
	blanks := `{"candidates":[{"content":{"parts":[{"text":"` + strings.Repeat(" ", 100_000) + `"}]},"groundingMetadata":{"groundingChunks":[{"web":{"uri":"u"}}],"groundingSupports":[` +
		strings.TrimSuffix(strings.Repeat(`{"segment":{"endIndex":100000},"groundingChunkIndices":[0]},`, 100), ",") + `]}}]}`
	if _, err := search(blanks); err == nil || err.Class != "UnknownApiResponseError" {
		t.Errorf("100 times 100,000 blanks: error %v", err)
	}
	if got, err := search(answer(1000)); err != nil || len(got.Results) != n || len(got.Results[n-1].Snippet) != 1000 {
		t.Errorf("%d times 1000 bytes: %d results, error %v", n, len(got.Results), err)
	}
}
