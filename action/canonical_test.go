package action

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"web/browse/refs"
)

// TestCanonicalCheckValues holds the lengths that the contract gives (7.1).
func TestCanonicalCheckValues(t *testing.T) {
	ref := refs.Of("https://ex.org/a")
	blocks := make([]BlockItem, 4500)
	for i := range blocks {
		blocks[i] = BlockItem{ID: blockID(i + 1), Kind: "paragraph", Text: "0123456789"}
	}
	for _, tt := range []struct {
		name string
		text []byte
		want int
	}{
		{"two search items", canonicalResults([]ResultItem{{Title: "T", URL: "https://ex.org/a", Snippet: "S", LinkRef: &ref}, {Title: "n", Snippet: "nn"}}, nil), 202},
		{"two blocks", joined([]BlockItem{{ID: "b0001", Kind: "heading", Text: "H"}, {ID: "b0002", Kind: "paragraph", Text: "P next"}}), 105},
		{"4,500 blocks", joined(blocks), 270000},
		{"no results", canonicalResults(nil, nil), 2},
		{"no blocks", joined(nil), 2},
	} {
		if got := utf8.RuneCount(tt.text); got != tt.want {
			t.Errorf("%s: %d characters, want %d", tt.name, got, tt.want)
		}
	}
}

// joined is the whole canonical text of a page.
func joined(items []BlockItem) []byte {
	var text []byte
	for piece := range canonicalBlocks(items) {
		text = append(text, piece...)
	}
	return text
}

func TestCanonicalForm(t *testing.T) {
	ref, answer := "ln_0", "both\nlines"
	items := []ResultItem{{Title: "<&>/\u007f\u2028\u2029", URL: "u", Snippet: "\"\\\b\f\n\r\t\x00\x1f", LinkRef: &ref}, {Title: "é😀"}}
	for _, tt := range []struct{ name, got, want string }{
		{"bare list", string(canonicalResults(items, nil)), `[
  {
    "title": "<&>/` + "\u007f\u2028\u2029" + `",
    "url": "u",
    "snippet": "\"\\\b\f\n\r\t\u0000\u001f",
    "link_ref": "ln_0"
  },
  {
    "title": "é😀",
    "url": "",
    "snippet": "",
    "link_ref": null
  }
]`},
		{"with an answer", string(canonicalResults(items[1:], &answer)), `{
  "answer": "both\nlines",
  "results": [
    {
      "title": "é😀",
      "url": "",
      "snippet": "",
      "link_ref": null
    }
  ]
}`},
		{"an answer alone", string(canonicalResults(nil, &answer)), "{\n  \"answer\": \"both\\nlines\",\n  \"results\": []\n}"},
		// What a block carries besides these three does not count.
		{"blocks", string(joined([]BlockItem{{ID: "b0001", Kind: "heading", Text: "<\n>", Level: 2}, {ID: "b0002", Kind: "code", Language: "go"}})),
			`[{"id": "b0001", "kind": "heading", "text": "<\n>"}, {"id": "b0002", "kind": "code", "text": ""}]`},
		{"a block of several pieces", string(joined([]BlockItem{{ID: "b0001", Kind: "code", Text: strings.Repeat("aé\"", pieceBytes)}})),
			`[{"id": "b0001", "kind": "code", "text": "` + strings.Repeat(`aé\"`, pieceBytes) + `"}]`},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestBlockID(t *testing.T) {
	for n, want := range map[int]string{1: "b0001", 42: "b0042", 9999: "b9999", 10000: "b10000"} {
		if got := blockID(n); got != want {
			t.Errorf("blockID(%d) = %s, want %s", n, got, want)
		}
	}
}

// text is a random valid string rich in what JSON treats specially.
func text(r *rand.Rand) string {
	alphabet := []rune("ab \"\\/<>&\b\f\n\r\t\x00\x1f\x7f\u0080\u00e9\u2028\u2029\ufeff\ufffd漢😀\U0010ffff")
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteRune(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// TestCanonicalAgainstEncoders compares with an encoder whose indented form is the contract's, and reads the
// text back with another.
func TestCanonicalAgainstEncoders(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		items := make([]ResultItem, r.IntN(4))
		blocks := make([]BlockItem, r.IntN(4))
		for i := range items {
			items[i] = ResultItem{Title: text(r), URL: text(r), Snippet: text(r)}
			if s := text(r); s != "" {
				items[i].LinkRef = &s
			}
		}
		for i := range blocks {
			blocks[i] = BlockItem{ID: blockID(i), Kind: text(r), Text: text(r)}
		}
		answer := text(r)
		type withAnswer struct {
			Answer  string       `json:"answer"`
			Results []ResultItem `json:"results"`
		}
		for _, tt := range []struct {
			got  []byte
			of   any
			opts []jsontext.Options
		}{
			{canonicalResults(items, nil), items, []jsontext.Options{jsontext.WithIndent("  ")}},
			{canonicalResults(items, &answer), withAnswer{answer, items}, []jsontext.Options{jsontext.WithIndent("  ")}},
			{joined(blocks), blocks, []jsontext.Options{jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true), jsontext.Multiline(false)}},
		} {
			want, err := jsonv2.Marshal(tt.of, jsonv2.JoinOptions(tt.opts...))
			must(t, err)
			if diff := cmp.Diff(string(want), string(tt.got)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			if !json.Valid(tt.got) {
				t.Fatalf("encoding/json refuses %q", tt.got)
			}
		}
	}
}

// TestEscapeAtEveryPlace: no character hides among plain ones, wherever it stands.
func TestEscapeAtEveryPlace(t *testing.T) {
	for _, around := range []string{"a", "\x7f", "é", "\u2028"} {
		for c := range rune(0x100) {
			for before := range 17 {
				s := strings.Repeat(around, before) + string(c) + strings.Repeat(around, 9)
				want, err := jsontext.AppendQuote(nil, s)
				must(t, err)
				if got := string(appendString(nil, s)); got != string(want) {
					t.Fatalf("%q: %s, want %s", s, got, want)
				}
			}
		}
	}
}

// FuzzAppendString: what was written reads back as the same characters, each byte that is not UTF-8 as
// U+FFFD, and is spelled as a second encoder spells it.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\b\f\n\r\t\x00\x1f\x7f", "<&>/\u2028\u2029", "é漢😀", "\xff", "a\xc3(\xed\xa0\x80z", "\xf0\x9f\x98", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := appendString([]byte("x"), s)
		if got[0] != 'x' {
			t.Fatal("overwrote what was there")
		}
		got = got[1:]
		want := string([]rune(s))
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != want {
			t.Fatalf("%q reads back as %q, %v", got, back, err)
		}
		if !utf8.Valid(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		if other, err := jsontext.AppendQuote(nil, want); err != nil || string(other) != string(got) {
			t.Errorf("%s, another encoder has %s (%v)", got, other, err)
		}
	})
}
