package formats

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"web/browse/blocks"
)

var update = flag.Bool("update", false, "write the golden outputs as they are now")

// mediaTypes gives the label that an input's extension stands for.
var mediaTypes = map[string]string{
	"txt": "text/plain", "py": "text/x-python", "css": "text/css", "yaml": "application/yaml", "json": "application/json",
	"problem+json": "application/problem+json", "jsonl": "application/x-ndjson", "xml": "application/xml", "rss": "application/rss+xml",
	"rdf": "application/rdf+xml", "atom": "application/atom+xml", "csv": "text/csv", "tsv": "text/tab-separated-values", "md": "text/markdown",
}

const testPage = "https://ex.org/docs/page"

// testOptions resolves against testPage as the product does.
var testOptions = Options{ResolveURL: func(base, ref string) (string, bool) {
	if base == "" {
		base = testPage
	}
	return blocks.Resolve(base, ref)
}}

// golden is what an .out.json holds: the document without its zero values.
type golden struct {
	Kind     Kind
	Title    string           `json:",omitempty"`
	Meta     *blocks.Metadata `json:",omitempty"`
	Blocks   []goldenBlock    `json:",omitempty"`
	Links    []blocks.Link    `json:",omitempty"`
	Removed  *blocks.Removed  `json:",omitempty"`
	Warnings []string         `json:",omitempty"`
}

type goldenBlock struct {
	Kind     blocks.Kind
	Text     string
	Markdown string `json:",omitempty"`
	Level    int    `json:",omitempty"`
	Depth    int    `json:",omitempty"`
	Quoted   int    `json:",omitempty"`
	Ordered  int    `json:",omitempty"`
	Language string `json:",omitempty"`
}

func goldenOf(kind Kind, doc *blocks.Document) golden {
	g := golden{Kind: kind, Title: doc.Title, Links: doc.Links, Warnings: doc.Warnings}
	if doc.Meta != (blocks.Metadata{}) {
		g.Meta = &doc.Meta
	}
	if doc.Removed != (blocks.Removed{}) {
		g.Removed = &doc.Removed
	}
	for _, b := range doc.Blocks {
		g.Blocks = append(g.Blocks, goldenBlock(b))
	}
	return g
}

func TestGolden(t *testing.T) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	outputs := make(map[string]bool)
	var inputs []string
	for _, f := range files {
		name := f.Name()
		switch {
		case f.IsDir() && name == "fuzz":
		case strings.HasSuffix(name, ".out.json"):
			outputs[name] = true
		case strings.Contains(name, ".in."):
			inputs = append(inputs, name)
		default:
			t.Errorf("stray file testdata/%s", name)
		}
	}
	if len(inputs) < 40 {
		t.Errorf("%d inputs, want at least 40", len(inputs))
	}
	for _, in := range inputs {
		name, ext, _ := strings.Cut(in, ".in.")
		out := name + ".out.json"
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata", in))
			if err != nil {
				t.Fatal(err)
			}
			mediaType, ok := mediaTypes[ext]
			if !ok {
				t.Fatalf("no media type for .%s", ext)
			}
			kind, readable := Classify(mediaType, body)
			if !readable {
				t.Fatalf("Classify(%q) = %q, not readable", mediaType, kind)
			}
			g := golden{Kind: kind}
			if doc, ok := Convert(kind, mediaType, string(body), testOptions); ok {
				check(t, string(body), doc)
				g = goldenOf(kind, doc)
			}
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", " ")
			if err := enc.Encode(g); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", out)
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got.String(), string(want)); diff != "" {
				t.Errorf("%s (-got +want):\n%s", out, diff)
			}
		})
		if !outputs[out] && !*update {
			t.Errorf("testdata/%s has no %s", in, out)
		}
		delete(outputs, out)
	}
	for out := range outputs {
		t.Errorf("testdata/%s has no input", out)
	}
}

// maxGrowth and the fixed part of check bound the bytes of a document by those of its input: a converter that
// can be made to multiply its input is a way to exhaust the process.
const maxGrowth = 5

// check asserts what holds for every document, whatever the length of the resolved URLs.
func check(t *testing.T, input string, doc *blocks.Document) {
	t.Helper()
	checkWithin(t, input, doc, 2<<20)
}

// checkWithin does it with a limit of fixed bytes above maxGrowth times the input.
func checkWithin(t *testing.T, input string, doc *blocks.Document, fixed int) {
	t.Helper()
	size := 0
	text := func(what, s string) {
		size += len(s)
		if !utf8.ValidString(s) {
			t.Errorf("%s is not valid UTF-8: %q", what, s)
		}
	}
	text("title", doc.Title)
	m := doc.Meta
	for _, s := range []string{m.Byline, m.Published, m.SiteName, m.Language, m.Description, m.CanonicalURL} {
		text("metadata", s)
	}
	for i, b := range doc.Blocks {
		text("text", b.Text)
		text("Markdown", b.Markdown)
		text("language", b.Language)
		if strings.TrimSpace(b.Text) == "" {
			t.Errorf("block %d is empty: %+v", i, b)
		}
		switch b.Kind {
		case blocks.Code, blocks.Table:
		case blocks.Heading:
			if b.Level < 1 || b.Level > 6 {
				t.Errorf("block %d: heading level %d", i, b.Level)
			}
			fallthrough
		case blocks.Paragraph, blocks.ListItem, blocks.Quote:
			for line := range strings.SplitSeq(b.Text, "\n") { // some paragraphs keep their lines
				if strings.Join(strings.Fields(line), " ") != line || line == "" || line != b.Text && b.Kind != blocks.Paragraph {
					t.Errorf("block %d: white space is not collapsed: %q", i, b.Text)
				}
			}
			if b.Kind == blocks.ListItem && b.Depth < 1 {
				t.Errorf("block %d: list item without depth", i)
			}
		default:
			t.Errorf("block %d: kind %q", i, b.Kind)
		}
	}
	for _, l := range doc.Links {
		text("link", l.Text)
		text("link", l.URL)
		if !strings.HasPrefix(l.URL, "http://") && !strings.HasPrefix(l.URL, "https://") || l.Text == "" {
			t.Errorf("link %+v is not absolute or has no text", l)
		}
	}
	if limit := maxGrowth*len(input) + fixed; size > limit {
		t.Errorf("document of %d bytes from %d", size, len(input))
	}
}
