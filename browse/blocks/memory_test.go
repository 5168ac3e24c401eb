package blocks

import (
	"bytes"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkPeakMemory reports the highest heap in use while a page of 10 MB is read and rendered, as a
// multiple of the page's size, the page itself included.
func BenchmarkPeakMemory(b *testing.B) {
	src := bytes.Clone(bigPage(10 << 20))
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
