//go:build unix

package confined

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openNonblock keeps an open from waiting for the other end of a pipe that took a file's place.
const openNonblock = unix.O_NONBLOCK

var errLocked = errors.New("locked")

func tryLock(f *os.File, exclusive bool) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return errLocked
		default:
			return err
		}
	}
}
