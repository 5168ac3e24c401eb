// Package peers measures browse/blocks beside the library that comes closest to it in Go. It is a module of
// its own, so that nothing here enters the program's go.mod.
//
//	GOMAXPROCS=1 go test -run '^$' -bench . -benchtime 3x
package peers

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"

	"web/browse/blocks"
)

// pages loads every fourth page of the shared set that is valid UTF-8.
func pages(tb testing.TB) (out [][]byte, size int) {
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		files, _ := filepath.Glob(filepath.Join(dir, "shared", "data", "pages", "pages", "*.html.gz"))
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
				out = append(out, b)
				size += len(b)
			}
		}
		up := filepath.Dir(dir)
		if len(out) > 0 {
			return out, size
		}
		if up == dir {
			tb.Skip("no page set beside the repository (shared/data/pages)")
		}
		dir = up
	}
}

func bench(b *testing.B, extract func(page []byte)) {
	set, size := pages(b)
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, p := range set {
			extract(p)
		}
	}
	b.ReportMetric(float64(len(set)*b.N)/b.Elapsed().Seconds(), "pages/s")
}

func BenchmarkBlocks(b *testing.B) {
	bench(b, func(page []byte) {
		d, err := blocks.Extract(page, blocks.Options{Base: "https://ex.org/"})
		if err != nil {
			b.Fatal(err)
		}
		blocks.Markdown(d)
	})
}

func BenchmarkReadeckThenHTMLToMarkdown(b *testing.B) {
	address, err := url.Parse("https://ex.org/")
	if err != nil {
		b.Fatal(err)
	}
	md := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	bench(b, func(page []byte) {
		article, err := readability.FromReader(bytes.NewReader(page), address)
		if err != nil || article.Node == nil {
			return
		}
		if _, err := md.ConvertNode(article.Node); err != nil {
			b.Fatal(err)
		}
	})
}
