package charset

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// bodies are one page of about n bytes in the encodings that take different ways through the package.
func bodies(t testing.TB, n int) []struct{ name, body, contentType string } {
	fill := func(line string) string { return strings.Repeat(line, n/len(line)+1)[:n/len(line)*len(line)] }
	chinese := encode(t, "gbk", "<p>今天下午我们去图书馆看书，晚上一起吃饭，你有没有时间？</p>\n")
	russian := encode(t, "windows-1251", "<p>Вчера вечером мы долго гуляли по городу и пили чай.</p>\n")
	thai := encode(t, "windows-874", "ภาษาไทย")
	return []struct{ name, body, contentType string }{
		{"ascii", fill("<p>plain text in a page</p>\n"), "text/html"},
		{"utf-8", fill("<p>今天下午我们去图书馆看书</p>\n"), "text/html"},
		{"gbk declared", fill(chinese), "text/html; charset=gbk"},
		{"gbk undeclared", fill(chinese), "text/html"},
		{"gbk as utf-8", fill(chinese), "text/html; charset=utf-8"},
		{"windows-1251 undeclared", fill(russian), "text/html"},
		{"windows-874 declared", fill(thai), "text/html; charset=windows-874"},
		{"utf-16 undeclared", fill(encode(t, "utf-16le", "<p>plain text in a page</p>\n")), "text/html"},
		{"noise", noise(n), "text/html; charset=utf-8"},
		{"noise as gbk", noise(n), "text/html; charset=gbk"},
	}
}

// BenchmarkDecode reports bytes per second, which should not depend on the size.
func BenchmarkDecode(b *testing.B) {
	for _, size := range []int{10 << 10, 100 << 10, 1 << 20, 10 << 20} {
		for _, tc := range bodies(b, size) {
			b.Run(fmt.Sprintf("%s/%dKiB", strings.ReplaceAll(tc.name, " ", "_"), size>>10), func(b *testing.B) {
				body := []byte(tc.body)
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					Decode(body, tc.contentType, HTML)
				}
			})
		}
	}
}

// Beside the body a text takes no more memory than its own length: three times the body at the very most.
func TestMemory(t *testing.T) {
	const size = 4 << 20
	const overhead = 3 << 20 // samples, buffers, tables, whatever the size
	for _, tc := range bodies(t, size) {
		body := []byte(tc.body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text := Decode(body, tc.contentType, HTML).Text
		runtime.ReadMemStats(&after)
		want := uint64(len(text) + overhead)
		if len(text) == len(body) && &text[0] == &body[0] {
			want = overhead
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > want {
			t.Errorf("%s: %d bytes allocated for a text of %d out of %d", tc.name, got, len(text), len(body))
		}
	}
}
