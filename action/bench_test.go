package action

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"web/engines"
	"web/settings"
)

var benchEnvelopes = []struct{ name, envelope string }{
	{"search", `{"action":"search","input":{"query":"golang context deadline"},"reasoning":"find the rule"}`},
	{"browse", `{"action":"browse","input":{"url":"https://ex.org/","link_ref":null,"cursor":null,"extract":"full","max_chars":20000},"reasoning":"read"}`},
	{"manual", `{"action":"manual","input":{},"reasoning":"load web guidance"}`},
}

// BenchmarkDecode validates one envelope, the compilation of its schema included. The goal is 2 ms.
func BenchmarkDecode(b *testing.B) {
	for _, bb := range benchEnvelopes {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, f := Decode([]byte(bb.envelope)); f != nil {
					b.Fatal(f)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
		})
	}
}

// coldEnv asks TestFirstDecode to measure.
const coldEnv = "WEB_TEST_FIRST_DECODE"

// TestFirstDecode is the child of BenchmarkFirstDecode: it times the first Decode of a process.
func TestFirstDecode(t *testing.T) {
	name := os.Getenv(coldEnv)
	if name == "" {
		t.Skip("is run by BenchmarkFirstDecode")
	}
	for _, bb := range benchEnvelopes {
		if bb.name == name {
			start := time.Now()
			_, f := Decode([]byte(bb.envelope))
			took := time.Since(start)
			if f != nil {
				t.Fatal(f)
			}
			fmt.Printf("first-decode-ns=%d\n", took.Nanoseconds())
		}
	}
}

// BenchmarkFirstDecode is what a call pays, as the program decodes once per process: with nothing warm and
// the published schema still to be parsed.
func BenchmarkFirstDecode(b *testing.B) {
	for _, bb := range benchEnvelopes {
		b.Run(bb.name, func(b *testing.B) {
			var sum int64
			for b.Loop() {
				cmd := exec.Command(os.Args[0], "-test.run=^TestFirstDecode$")
				cmd.Env = append(os.Environ(), coldEnv+"="+bb.name)
				out, err := cmd.Output()
				must(b, err)
				_, rest, _ := strings.Cut(string(out), "first-decode-ns=")
				digits, _, _ := strings.Cut(rest, "\n")
				ns, err := strconv.ParseInt(digits, 10, 64)
				must(b, err)
				sum += ns
			}
			b.ReportMetric(float64(sum)/1e6/float64(b.N), "ms/decode")
		})
	}
}

// BenchmarkSpillSearch5MB delivers a result set of 5 MB as an artifact, refs included, and beside it, in turn,
// writes and syncs the same bytes plainly. The goal is a ratio of at most 2.
func BenchmarkSpillSearch5MB(b *testing.B) {
	const total = 5 << 20 // bytes
	for _, n := range []int{10, 500, 4000} {
		b.Run(fmt.Sprintf("results=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			root, err := os.OpenRoot(dir)
			must(b, err)
			defer root.Close()
			r := &Runner{deps: Deps{Root: root, Workdir: dir, Now: time.Now}}
			a := engines.Answer{Results: make([]engines.Result, n)}
			for i := range a.Results {
				s := strings.Repeat("A sentence of a snippet. ", total/n/25+1)
				a.Results[i] = hit("title "+strconv.Itoa(i), "https://ex.org/"+strconv.Itoa(i), s[:total/n-150])
			}
			chars := settings.DefaultMaxChars
			out := &SearchAnswer{Status: OK, Action: Search, Setting: CurrentSetting{OutputMax: OutputSetting{Value: &chars}}}

			var spilled, plain []time.Duration
			var same []byte // the bytes of the first artifact: all are alike
			for b.Loop() {
				start := time.Now()
				got, ok := r.finishSearch(b.Context(), out, a).(*SearchAnswer)
				spilled = append(spilled, time.Since(start))
				if !ok || got.ArtifactFields == nil {
					b.Fatal("no artifact")
				}
				path := filepath.Join(dir, filepath.FromSlash(got.FilePath))
				if same == nil {
					same, err = os.ReadFile(path)
					must(b, err)
				}
				must(b, os.Remove(path))
				path = filepath.Join(dir, "plain")
				start = time.Now()
				writeAndSync(b, path, same)
				plain = append(plain, time.Since(start))
				must(b, os.Remove(path))
			}
			b.SetBytes(int64(len(same)))
			// Medians: a disk that is busy with something else must not decide.
			b.ReportMetric(median(spilled)/median(plain), "ratio")
			b.ReportMetric(median(spilled), "spill-ms")
			b.ReportMetric(median(plain), "plain-ms")
		})
	}
}

// median is in milliseconds.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return times[len(times)/2].Seconds() * 1000
}

func writeAndSync(b *testing.B, path string, data []byte) {
	f, err := os.Create(path)
	must(b, err)
	_, err = f.Write(data)
	must(b, err)
	must(b, f.Sync())
	must(b, f.Close())
}
