package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkProcess compares whole processes, started in turn: the manual through the envelope against a bare
// program that links cobra and jsonschema, compiles the same schema and prints the same text; and a search
// that stores its refs against one that has none to store. Each metric is a ratio of medians.
func BenchmarkProcess(b *testing.B) {
	bin := b.TempDir()
	build := func(pkg, name string) string {
		out := filepath.Join(bin, name)
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
		cmd.Dir = "../.."
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", pkg, err, text)
		}
		return out
	}
	web, bare := build(".", "web"), build("./testdata/startup/bare", "bare")
	schemaFile, err := filepath.Abs("../../action/schema/envelope.json")
	if err != nil {
		b.Fatal(err)
	}
	skill, err := filepath.Abs("../../manual/SKILL.md")
	if err != nil {
		b.Fatal(err)
	}
	w := newWorld(b, "")
	envelope := func(s string) func() *exec.Cmd {
		return func() *exec.Cmd {
			cmd := exec.Command(web, "--workdir", w.dir, "--config", w.config)
			cmd.Stdin = strings.NewReader(s)
			return cmd
		}
	}
	compare := func(name string, one, other func() *exec.Cmd) {
		b.Run(name, func(b *testing.B) {
			var times [2][]time.Duration
			for b.Loop() {
				for i, make := range []func() *exec.Cmd{one, other} {
					cmd := make()
					start := time.Now()
					if err := cmd.Run(); err != nil {
						b.Fatal(err)
					}
					times[i] = append(times[i], time.Since(start))
				}
			}
			medians := [2]float64{}
			for i, t := range times {
				slices.Sort(t)
				medians[i] = float64(t[len(t)/2])
			}
			b.ReportMetric(medians[0]/medians[1], "ratio")
			b.ReportMetric(medians[0]/1e6, "ms")
			b.ReportMetric(medians[1]/1e6, "ms-other")
		})
	}
	compare("manual-over-bare", envelope(`{"action":"manual","input":{},"reasoning":"x"}`),
		func() *exec.Cmd { return exec.Command(bare, schemaFile, skill) })
	compare("search-with-refs-over-without", envelope(`{"action":"search","input":{"query":"results 10"}}`),
		envelope(`{"action":"search","input":{"query":"nothing"}}`))
}
