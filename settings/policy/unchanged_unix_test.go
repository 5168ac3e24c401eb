//go:build unix

package policy

import (
	"os"
	"testing"
	"time"
)

// TestUnchanged lets the file system's clock move on before each step: within its grain a change may go unseen.
func TestUnchanged(t *testing.T) {
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name  string
		start string
		step  func(t *testing.T, path string)
		want  bool
	}{
		{"not touched", full, func(*testing.T, string) {}, true},
		{"missing all along", "", func(*testing.T, string) {}, true},
		{"another text", full, write(`{"schema_version":1}`), false},
		{"replaced by the same text", full, func(t *testing.T, p string) {
			write(full)(t, p+".new")
			must(t, os.Rename(p+".new", p))
		}, false},
		{"removed", full, func(t *testing.T, p string) { must(t, os.Remove(p)) }, false},
		{"put there", "", write(full), false},
		{"put there and removed again", "", func(t *testing.T, p string) {
			write(full)(t, p)
			must(t, os.Remove(p))
		}, false},
		{"written with its old times", full, func(t *testing.T, p string) {
			write(full)(t, p)
			must(t, os.Chtimes(p, old, old))
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, path := workdir(t, tt.start)
			if tt.start != "" {
				must(t, os.Chtimes(path, old, old))
			}
			before := Read(dir)
			tick(t, dir)
			tt.step(t, path)
			if got := before.Unchanged(Read(dir)); got != tt.want {
				t.Errorf("Unchanged is %v", got)
			}
		})
	}
}

// tick returns once the file system's clock has moved on.
func tick(t *testing.T, dir string) {
	t.Helper()
	path := dir + "/tick"
	write("x")(t, path)
	first := look(path)
	for look(path) == first {
		write("x")(t, path)
	}
}
