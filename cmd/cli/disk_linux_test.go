package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"web/action"
	"web/spill"
)

// TestFullDisk fills a small file system of its own.
func TestFullDisk(t *testing.T) {
	w := newWorld(t, "")
	if err := syscall.Mount("tmpfs", w.dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount a file system of 64 KiB here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(w.dir, syscall.MNT_DETACH) })

	cmd, out := w.web("results 1500")
	_ = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != exitFailed {
		t.Errorf("exit status %d, want %d", got, exitFailed)
	}
	var a struct {
		Code    action.Code `json:"error_code"`
		Message string
		Query   string
		Results []any
		Path    *string `json:"file_path"`
	}
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if a.Code != action.ArtifactWriteFailed || a.Query != "results 1500" || a.Results != nil || a.Path != nil {
		t.Errorf("answer %s", out)
	}
	files, err := os.ReadDir(filepath.Join(w.dir, filepath.FromSlash(spill.Dir)))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
	// What fits is still answered.
	cmd, out = w.web("results 2")
	if err := cmd.Run(); err != nil {
		t.Errorf("small search on the full disk: %v, %s", err, out)
	}
}
