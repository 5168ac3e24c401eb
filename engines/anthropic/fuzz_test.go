package anthropic

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"web/engines"
	"web/engines/enginetest"
)

func FuzzRead(f *testing.F) {
	enginetest.Seed(f)
	f.Add([]byte(`{"content":[{"type":"text","text":"\ud800","citations":[{"type":"web_search_result_location","url":"u"}]}]}`))
	f.Add([]byte(`{"content":[{"type":"web_search_tool_result","content":[{"type":"web_search_result","url":"u","page_age":"May 1, 2026"}]}],"stop_reason":"pause_turn"}`))
	f.Add([]byte(`{"content":[{"type":"web_search_tool_result","content":{"type":"web_search_tool_result_error","error_code":"x"}}]}`))
	f.Add([]byte(`{"type":"error","error":{"type":"api_error"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var a answer
		if decode(jsontext.Value(body), &a) != nil {
			return
		}
		got, err := read(a)
		again, errAgain := read(a)
		if diff := cmp.Diff(got, again); diff != "" || (err == nil) != (errAgain == nil) {
			t.Fatalf("errors %v, %v; second reading (-first +second):\n%s", err, errAgain, diff)
		}
		var typed *engines.Error
		switch {
		case err != nil && (!errors.As(err, &typed) || len(typed.Class) > engines.MaxClassChars || len(got.Results) > 0):
			t.Fatalf("error %v beside %+v", err, got)
		case len(got.Results) == 0 && got.Narrative != "":
			t.Errorf("a narrative without a source: %+v", got)
		}
		seen, size := map[string]bool{}, len(got.Narrative)
		for _, r := range got.Results {
			for _, s := range []string{r.Title, r.URL, r.Snippet, r.Published, got.Narrative} {
				if !utf8.ValidString(s) {
					t.Errorf("%q is not UTF-8", s)
				}
			}
			if strings.TrimSpace(r.Title) == "" || seen[r.URL] || r.URL == "" && len(got.Results) > 1 {
				t.Errorf("result %+v", r)
			}
			seen[r.URL] = true
			size += len(r.Title) + len(r.URL) + len(r.Snippet) + len(r.Published)
		}
		// Each byte of an answer is used once; a broken one becomes three, and a title may be the fallback.
		if limit := 3*len(body) + (len(fallbackTitle)+len("2026-01-02"))*len(got.Results); size > limit {
			t.Errorf("%d bytes of %d", size, len(body))
		}
		if text, err := readText(a); err == nil && !utf8.ValidString(text) {
			t.Errorf("text %q", text)
		}
	})
}
