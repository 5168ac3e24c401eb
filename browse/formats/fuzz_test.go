package formats

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"web/browse/blocks"
)

// fuzzConverter asserts the properties of every converter: no panic, valid UTF-8, bounded output, absolute
// links, collapsed text, and the same document on a second run.
func fuzzConverter(f *testing.F, kind Kind, seeds ...string) {
	inputs, err := filepath.Glob(filepath.Join("testdata", "*.in.*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range inputs {
		body, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		_, ext, _ := strings.Cut(filepath.Base(path), ".in.")
		if got, _ := Classify(mediaTypes[ext], body); got == kind {
			f.Add(string(body))
		}
	}
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		doc, ok := Convert(kind, "text/x-go", in, testOptions)
		if !ok {
			t.Fatalf("Convert(%q) = false", kind)
		}
		// The resolved URLs of this resolver are short, so little stands above the growth.
		checkWithin(t, in, doc, 128<<10)
		again, _ := Convert(kind, "text/x-go", in, testOptions)
		if diff := cmp.Diff(again, doc); diff != "" {
			t.Errorf("second run differs (-second +first):\n%s", diff)
		}
		if n := utf8.RuneCountInString(in); doc.Removed.InvisibleChars > n {
			t.Errorf("%d invisible characters of %d", doc.Removed.InvisibleChars, n)
		}
		_ = blocks.Markdown(doc)
	})
}

func FuzzPlainText(f *testing.F) { fuzzConverter(f, KindPlain, "a\n\n\u2028b\v\x00c", "\xff\xfe") }
func FuzzCode(f *testing.F)      { fuzzConverter(f, KindCode, "\n \n\ta\n \n") }
func FuzzMarkdown(f *testing.F) {
	fuzzConverter(f, KindMarkdown,
		"*a **b* c** _d_ ~~e~~ `f`` [g](h \"i\") ![j](<k l>) <m@n.o> <p:q> &#8203;\\\n",
		"> - 1. a\n>   b\n\n\tc\n***\n~~~x\n~~~\n<!-- a\n\nb -->c\n<a\nhref=x>y</a>",
		"[a]: <b>\n'c'\n[d]\n===\n|[a]|b\\|\n|-|:-:|\n`|`|<b>|c|d\n", "---\na: >\n b\nc:\n- d\n...\n+++\n", "[x]: [![a](b)][x] <script>c</script\n")
}
func FuzzJSON(f *testing.F)      { fuzzConverter(f, KindJSON, `[{"a":[]},{},1e5,"\ud800"]`, ")]}',\n{}") }
func FuzzJSONLines(f *testing.F) { fuzzConverter(f, KindJSONLines, "\x1e{}\n\x1e[1]\n") }
func FuzzXML(f *testing.F) {
	fuzzConverter(f, KindXML, "<a><![CDATA[<b>]]><!-- c --><d/></a></e><f", "<a "+strings.Repeat("b='c' ", 80)+"><d></d></a>")
}
func FuzzFeed(f *testing.F) {
	fuzzConverter(f, KindFeed, "<feed xml:base='a/'><entry xml:base='b/'><link href=c><content type=xhtml>d<br/><p>e</content></entry><author><name>f",
		"<rss><channel><item><title>a</title><description>&lt;ul&gt;&lt;li&gt;&lt;p&gt;b&lt;pre&gt;c&lt;div&gt;d&lt;a href=e&gt;f&lt;img alt=g&gt;</description><enclosure url=h type=i>")
}
func FuzzCSV(f *testing.F) {
	fuzzConverter(f, KindCSV, "sep=|\na|\"b\"\"c\"d|\\|e\n\n;;;\n", "a\n"+strings.Repeat(",", 50))
}
func FuzzTSV(f *testing.F) { fuzzConverter(f, KindTSV, "a\t\"b\nc\"\td\n\"") }

// FuzzClassify holds the sniffing against itself: a readable kind has a reader, and the scanner of JSON
// agrees with the standard one where that has no limit of its own.
func FuzzClassify(f *testing.F) {
	for _, s := range []string{"", "<!doctype html>", "%PDF-1.4", "{\"a\":[1,2.5e-3,\"\\u00e9\"]}", "PK\x03\x04", "\xff\xfe<\x00", "<?xml version='1.0'?><rss>",
		"[[[]]]", "1 ", "nul", "\"\\", "<!-- a", "GIF89a"} {
		f.Add("", []byte(s))
		f.Add("text/html", []byte(s))
	}
	f.Fuzz(func(t *testing.T, mediaType string, body []byte) {
		kind, ok := Classify(mediaType, body)
		if kind.Name() == "" || ok != kind.Readable() {
			t.Fatalf("Classify = %q, %v", kind, ok)
		}
		if ok && kind != KindHTML && kind != KindXHTML {
			if _, ok := Convert(kind, mediaType, string(body), testOptions); !ok {
				t.Errorf("no converter for %q", kind)
			}
		}
		if lang := Language(mediaType, string(body)); strings.ContainsAny(lang, "` \n") {
			t.Errorf("Language = %q", lang)
		}
		if s := string(body); len(s) < 5000 && utf8.ValidString(s) {
			end, ok := scanJSON(s, 0)
			if got, want := ok && skipSpace(s, end) == len(s), json.Valid(body); got != want {
				t.Errorf("valid JSON = %v, want %v: %q", got, want, s)
			}
		}
	})
}
