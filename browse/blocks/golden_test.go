package blocks

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares NAME.in.html, read as https://ex.org/docs/page.html, with NAME.out.md: the Markdown and,
// after a rule, everything else that the document says. A page that begins with <!-- full --> is read in full.
func TestGolden(t *testing.T) {
	const dir = "testdata/golden"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, e := range entries {
		name, isIn := strings.CutSuffix(e.Name(), ".in.html")
		if !isIn {
			if out, isOut := strings.CutSuffix(e.Name(), ".out.md"); isOut {
				if _, err := os.Stat(filepath.Join(dir, out+".in.html")); err == nil {
					continue
				}
			}
			if e.Name() != ".gitattributes" {
				t.Errorf("stray file %s", e.Name())
			}
			continue
		}
		pages++
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			opt := Options{Base: "https://ex.org/docs/page.html"}
			if bytes.HasPrefix(src, []byte("<!-- full -->")) {
				opt.Mode = Full
			}
			doc, err := Extract(src, opt)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(doc)
			path := filepath.Join(dir, name+".out.md")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
	if pages < 60 {
		t.Errorf("got %d golden pages, want at least 60", pages)
	}
}

func describe(d *Document) string {
	md, outline := MarkdownOutline(d)
	var w strings.Builder
	w.Write(md)
	w.WriteString("\n=====\n")
	for _, b := range d.Blocks {
		fmt.Fprintf(&w, "%s", b.Kind)
		for _, f := range []struct {
			name string
			v    int
		}{{"level", b.Level}, {"depth", b.Depth}, {"ordered", b.Ordered}, {"quoted", b.Quoted}} {
			if f.v != 0 {
				fmt.Fprintf(&w, " %s=%d", f.name, f.v)
			}
		}
		if b.Language != "" {
			fmt.Fprintf(&w, " language=%s", b.Language)
		}
		text := b.Text
		if len(text) > 200 {
			text = text[:100] + "..." + text[len(text)-100:]
		}
		fmt.Fprintf(&w, " %+q\n", text)
	}
	if d.Title != "" {
		fmt.Fprintf(&w, "title %q\n", d.Title)
	}
	if d.Meta != (Metadata{}) {
		fmt.Fprintf(&w, "meta %+v\n", d.Meta)
	}
	for _, l := range d.Links {
		fmt.Fprintf(&w, "link %q %s\n", l.Text, l.URL)
	}
	for _, o := range outline {
		fmt.Fprintf(&w, "outline line %d level %d %q\n", o.Line, o.Level, o.Text)
	}
	if d.Removed != (Removed{}) {
		fmt.Fprintf(&w, "removed %+v\n", d.Removed)
	}
	for _, s := range d.Warnings {
		fmt.Fprintf(&w, "warning %s\n", s)
	}
	if d.ScriptShell {
		w.WriteString("script shell\n")
	}
	return w.String()
}
