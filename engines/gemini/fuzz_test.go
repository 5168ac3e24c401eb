package gemini

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"web/engines"
	"web/engines/enginetest"
)

func FuzzRead(f *testing.F) {
	enginetest.Seed(f)
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"text":"\ud800海"}]},"groundingMetadata":{"groundingChunks":[{"web":{"uri":"u"}}],"groundingSupports":[{"segment":{"startIndex":1,"endIndex":5},"groundingChunkIndices":[0,-1,9]}]}}]}`))
	f.Add([]byte(`{"error":{"code":429}}`))
	f.Add([]byte(`{"x":1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var a answer
		if json.Unmarshal(body, &a, jsontext.AllowInvalidUTF8(true)) != nil {
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
		seen, snippets, rest := map[string]bool{}, 0, len(got.Narrative)
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
			snippets += len(r.Snippet)
			rest += len(r.Title) + len(r.URL)
		}
		if limit := 3*len(body) + len(fallbackTitle)*len(got.Results); snippets > maxSnippetBytes || rest > limit {
			t.Errorf("%d bytes of snippets and %d others of %d", snippets, rest, len(body))
		}
		if text, err := readText(a); err == nil && !utf8.ValidString(text) {
			t.Errorf("text %q", text)
		}
	})
}
