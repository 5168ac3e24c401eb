package formats

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"web/browse/blocks"
)

// BenchmarkPeakMemory reports the highest heap in use while a document of 10 MB is read and rendered, as a multiple of
// the document's size, the document itself included. The documents are those whose structure takes the most: a cell, a
// level or a line of one or two bytes. The collector runs as often as the program lets it run for a large page.
func BenchmarkPeakMemory(b *testing.B) {
	const size = 10 << 20
	repeat := func(head, unit string) string { return head + strings.Repeat(unit, size/len(unit)) }
	wide := strings.Repeat("|h", 500) + "|\n" + strings.Repeat("|-", 500) + "|\n"
	for _, k := range []struct {
		name string
		kind Kind
		text string
	}{
		{"csv-commas", KindCSV, repeat("", ",\n") + "x,y"},
		{"csv-one-line", KindCSV, repeat("", "a,")},
		{"csv-quotes", KindCSV, repeat("", `"",`) + "x"},
		{"tsv-one-line", KindTSV, repeat("", "a\t")},
		{"markdown-cells", KindMarkdown, repeat("|a|b|\n|-|-|\n", "||\n")},
		{"markdown-500-columns", KindMarkdown, repeat(wide, "|c|d|\n")},
		{"markdown-row", KindMarkdown, repeat("a|b\n-|-\n", "|")},
		{"markdown-tables", KindMarkdown, repeat("", "|a|b|\n|-|-|\n|c|d|\n\n")},
		{"markdown-brackets", KindMarkdown, repeat("", "[a\n")},
		{"markdown-code", KindMarkdown, repeat("", "    a\n")},
		{"markdown-fence", KindMarkdown, repeat("```\n", "a\n")},
		{"markdown-lines", KindMarkdown, repeat("", "a  \n")},
		{"json-depth", KindJSON, strings.Repeat("[", size/2) + strings.Repeat("]", size/2)},
		{"json-array", KindJSON, strings.Repeat("[", 60) + strings.Repeat("1,", size/2) + "1" + strings.Repeat("]", 60)},
		{"xml-depth", KindXML, repeat("", "<a>")},
		{"feed-entries", KindFeed, repeat("<rss><channel>", "<item><title>a</title></item>")},
		{"feed-depth", KindFeed, repeat("", "<rss>")},
		{"plain-lines", KindPlain, repeat("", "a\n")},
	} {
		b.Run(k.name, func(b *testing.B) { peakMemory(b, k.kind, k.text) })
	}
}

func peakMemory(b *testing.B, kind Kind, text string) {
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	for b.Loop() {
		debug.FreeOSMemory()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		var peak atomic.Uint64
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapInuse))
				select {
				case <-stop:
					return
				case <-tick.C:
				}
			}
		}()
		doc, _ := Convert(kind, "", strings.Clone(text), testOptions)
		md := blocks.Markdown(doc)
		close(stop)
		<-done
		b.ReportMetric(float64(peak.Load()-min(peak.Load(), before.HeapInuse))/float64(len(text))+1, "peak/size")
		runtime.KeepAlive(md)
	}
}
