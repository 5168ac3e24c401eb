package blocks

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkPeakMemory reports the highest heap in use while a page of 10 MB is read and rendered, as a
// multiple of the page's size, the page itself included: pages as they are, and pages of nothing but tags. The
// collector runs as often as the program lets it run for a large page.
func BenchmarkPeakMemory(b *testing.B) {
	const size = 10 << 20
	repeat := func(head, unit string) func() []byte {
		return func() []byte { return []byte(head + strings.Repeat(unit, (size-len(head))/len(unit))) }
	}
	for _, k := range []struct {
		name string
		page func() []byte
	}{
		{"prose", func() []byte { return bytes.Clone(bigPage(size)) }},
		{"links", repeat("<ul>", "<li><a href=\"/wiki/some_page\">some page</a></li>\n")},
		{"cells", repeat("<table><tr><th>h", "<tr><td>1234</td><td>5678</td></tr>\n")},
		{"spans", repeat("<table>", "<tr><th colspan=200>x")},
		{"letters", repeat("", "<p>x")},
		{"deep", repeat(strings.Repeat("<ul>", 400), "<li>x")},
		{"anchors", repeat("", "<a href=/x>x</a> ")},
	} {
		b.Run(k.name, func(b *testing.B) { peakMemory(b, k.page()) })
	}
}

func peakMemory(b *testing.B, src []byte) {
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	for b.Loop() {
		runtime.GC()
		var peak atomic.Uint64
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				if now := m.HeapInuse + m.StackInuse; now > peak.Load() {
					peak.Store(now)
				}
				select {
				case <-stop:
					return
				case <-tick.C:
				}
			}
		}()
		d, err := Extract(src, Options{Base: "https://ex.org/"})
		if err != nil {
			b.Fatal(err)
		}
		md := Markdown(d)
		close(stop)
		<-done
		b.ReportMetric(float64(peak.Load())/float64(len(src)), "peak/size")
		runtime.KeepAlive(md)
	}
}
