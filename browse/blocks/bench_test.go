package blocks

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// sharedPages finds the page set beside the repository, walking up from the test's folder.
func sharedPages(tb testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if pages := filepath.Join(filepath.Dir(dir), "shared", "data", "pages", "pages"); isDir(pages) {
			return pages
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Skip("no page set beside the repository (shared/data/pages)")
		}
		dir = up
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// everyFourth loads every fourth page that is valid UTF-8.
func everyFourth(tb testing.TB) [][]byte {
	files, err := filepath.Glob(filepath.Join(sharedPages(tb), "*.html.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	var pages [][]byte
	for i := 0; i < len(files); i += 4 {
		f, err := os.Open(files[i])
		if err != nil {
			tb.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			tb.Fatal(err)
		}
		b, err := io.ReadAll(z)
		f.Close()
		if err != nil {
			tb.Fatal(err)
		}
		if utf8.Valid(b) {
			pages = append(pages, b)
		}
	}
	return pages
}

// BenchmarkPages extracts and renders real pages, one after the other.
func BenchmarkPages(b *testing.B) {
	pages := everyFourth(b)
	size := 0
	for _, p := range pages {
		size += len(p)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range pages {
			d, err := Extract(p, Options{Base: "https://ex.org/"})
			if err != nil {
				b.Fatal(err)
			}
			Markdown(d)
		}
	}
	b.ReportMetric(float64(len(pages)*b.N)/b.Elapsed().Seconds(), "pages/s")
}

// bigPage is an article of about n bytes: prose with links, lists, a table now and then.
func bigPage(n int) []byte {
	var w bytes.Buffer
	w.WriteString("<html><head><title>Big</title></head><body><main><article><h1>Big</h1>")
	for i := 0; w.Len() < n; i++ {
		fmt.Fprintf(&w, "<h2 id=s%d>Section %d</h2>\n", i, i)
		for j := range 6 {
			fmt.Fprintf(&w, "<p class=\"body text\">Paragraph %d of section %d says, with <a href=\"/ref/%d\">a link</a> and <b>some weight</b>, what a paragraph of its length usually says: rather little, but in whole sentences. It goes on for a while, so that it reads like prose.</p>\n", j, i, i*10+j)
		}
		w.WriteString("<ul><li>first point</li><li>second point of the list</li></ul>\n<table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>\n")
	}
	w.WriteString("</article></main></body></html>")
	return w.Bytes()
}

// BenchmarkSize shows that time grows linearly: MB/s must stay about the same from line to line.
func BenchmarkSize(b *testing.B) {
	kinds := []struct {
		name string
		page func(n int) []byte
	}{
		{"prose", bigPage},
		{"text", func(n int) []byte { return []byte("<p>" + strings.Repeat("word and word, ", n/15)) }},
		{"divs", func(n int) []byte { return []byte(strings.Repeat("<div>x", n/6)) }},
		{"bold", func(n int) []byte { return []byte(strings.Repeat("<b>t ", n/5)) }},
		{"strayEnds", func(n int) []byte {
			return []byte("<table><td>" + strings.Repeat("<b><i><u>", 200) + strings.Repeat("</div></p>x", n/11))
		}},
		{"cells", func(n int) []byte { return []byte("<table><tr><th>h" + strings.Repeat("<tr><td>1<td>2", n/14)) }},
		{"items", func(n int) []byte { return []byte("<ul>" + strings.Repeat("<li><a href=x>i</a>", n/19)) }},
		{"nestedTables", func(n int) []byte { return []byte(strings.Repeat("<table><tr><td>a", n/16)) }},
	}
	for _, k := range kinds {
		for _, mb := range []int{1, 2, 4, 8} {
			src := k.page(mb << 20)
			b.Run(fmt.Sprintf("%s/%dMB", k.name, mb), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					d, err := Extract(src, Options{Base: "https://ex.org/"})
					if err != nil {
						b.Fatal(err)
					}
					Markdown(d)
				}
			})
		}
	}
}
