//go:build unix

package operator

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipe hangs when a pipe is opened as a file is.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	must(t, os.Symlink("pipe", filepath.Join(dir, "link")))
	for _, name := range []string{"pipe", "link"} {
		_, err := Read(Location{Path: filepath.Join(dir, name)}, environment(nil))
		var e *Error
		if !errors.As(err, &e) || e.Kind != Unreadable {
			t.Errorf("%s: %v", name, err)
		}
	}
}
