package action

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func mkfifo(t *testing.T, path string) { must(t, syscall.Mkfifo(path, 0o600)) }

// watchOpens gives a function that tells which files of dir were opened since. It proves first that it sees
// an open at all.
func watchOpens(t *testing.T, dir string) func() []string {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	must(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	_, err = syscall.InotifyAddWatch(fd, dir, syscall.IN_OPEN)
	must(t, err)
	opened := func() (names []string) {
		buf := make([]byte, 64<<10)
		n, err := syscall.Read(fd, buf)
		if errors.Is(err, syscall.EAGAIN) {
			return nil
		}
		must(t, err)
		for buf = buf[:n]; len(buf) >= syscall.SizeofInotifyEvent; {
			size := binary.NativeEndian.Uint32(buf[12:])
			name := buf[syscall.SizeofInotifyEvent:][:size]
			names = append(names, strings.TrimRight(string(name), "\x00"))
			buf = buf[syscall.SizeofInotifyEvent+size:]
		}
		return names
	}
	control := filepath.Join(dir, "control")
	must(t, os.WriteFile(control, nil, 0o600))
	must(t, os.Remove(control))
	if !slices.Contains(opened(), "control") {
		t.Fatal("opening a file goes unseen here")
	}
	return opened
}
