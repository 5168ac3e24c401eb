//go:build unix

package settings

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPipe hangs when a pipe is opened as a file is.
func TestPipe(t *testing.T) {
	dir := workdir(t, nil)
	for _, file := range []string{SearchFile, OutputFile} {
		must(t, syscall.Mkfifo(filepath.Join(dir, file), 0o600))
		got, _, _ := readEither(In(dir), file)
		want := Snapshot{State: Invalid, Source: "settings_error", Revision: "error", Problem: NotRegular, Diagnostic: file + " is a link or not a regular file"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if got, err := Init(dir, 7); err != nil || got[0].Outcome != Failed || got[1].Outcome != Failed {
		t.Errorf("Init: %+v, %v", got, err)
	}
}
