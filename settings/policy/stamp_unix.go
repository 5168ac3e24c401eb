//go:build unix

package policy

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// stamp differs between two looks at a path when the file was written or replaced in between, whatever it
// holds now. The time of the last change of the inode cannot be set back by its owner, other than the time
// of the last write; its grain is that of the kernel's clock, a few milliseconds.
type stamp struct {
	device, inode uint64
	size          int64
	seconds, nano int64
}

// look gives the stamp of the file, and that of its directory while there is no file.
func look(path string) stamp {
	for _, p := range []string{path, filepath.Dir(path)} {
		var s unix.Stat_t
		err := unix.Lstat(p, &s)
		for err == unix.EINTR {
			err = unix.Lstat(p, &s)
		}
		if err == nil {
			seconds, nano := s.Ctim.Unix()
			return stamp{uint64(s.Dev), s.Ino, s.Size, seconds, nano}
		}
	}
	return stamp{}
}
