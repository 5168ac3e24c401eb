package duckduckgo

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
)

// BenchmarkParse measures, turn by turn in one run, this package's reading of saved pages against goquery's
// mere parse of the same bytes. The ratio is to stay below 3.
func BenchmarkParse(b *testing.B) {
	names, _ := filepath.Glob("testdata/results_*.html")
	if dir := sharedOrEmpty(); dir != "" {
		names, _ = filepath.Glob(filepath.Join(dir, "*-0?.html"))
	}
	var pages [][]byte
	size := int64(0)
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		pages = append(pages, body)
		size += int64(len(body))
	}
	b.SetBytes(size)
	var ours, theirs time.Duration
	for b.Loop() {
		for _, body := range pages {
			start := time.Now()
			if _, err := goquery.NewDocumentFromReader(bytes.NewReader(body)); err != nil {
				b.Fatal(err)
			}
			middle := time.Now()
			if _, err := Parse(body, nil); err != nil {
				b.Fatal(err)
			}
			theirs += middle.Sub(start)
			ours += time.Since(middle)
		}
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-goquery")
}
