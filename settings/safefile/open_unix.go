//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

// open never waits: without O_NONBLOCK a pipe put in the file's place after the first look would hold the
// program until somebody writes to it.
func open(path string, followLink bool) (fs.File, error) {
	flags := os.O_RDONLY | syscall.O_NONBLOCK
	if !followLink {
		flags |= syscall.O_NOFOLLOW
	}
	return os.OpenFile(path, flags, 0)
}
