// Package safefile reads one small configuration file whole, without being held up or misled by what lies at
// its path: a pipe, a device, a link, a file too large, a file that somebody is writing at that moment.
//
// It knows no format and no wire code. Its errors name a kind; they never hold a path or the operating
// system's own words.
package safefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Problem is why a file was not read.
type Problem string

// The problems.
const (
	Missing    Problem = "not there"
	NotRegular Problem = "not a regular file"
	TooLarge   Problem = "too large"
	Changed    Problem = "changed during read"
	Unreadable Problem = "could not be read"
)

// Error is one failed read. Err is the cause, for errors.Is only; it is never shown.
type Error struct {
	Problem Problem
	// Kind is the kind of operating-system error (see Kind), for Unreadable only.
	Kind string
	Err  error
}

func (e *Error) Error() string {
	if e.Kind != "" {
		return string(e.Problem) + " (" + e.Kind + ")"
	}
	return string(e.Problem)
}

func (e *Error) Unwrap() error { return e.Err }

// Reader says what may be read.
type Reader struct {
	// MaxBytes is the greatest size that is admitted.
	MaxBytes int64
	// FollowLink admits a link to a regular file. Without it the path itself must be a regular file; the
	// directories above it may be links either way.
	FollowLink bool
	// Open stands in for the opening of the file in tests; nil opens it from disk.
	Open func(path string) (fs.File, error)
}

// Read returns the bytes of the file at path, or an *Error.
//
// A regular file that is too large or was changed during the read still gives what was read, at most
// MaxBytes and not nil, beside the error: enough to tell one bad state from the next, never to be used as
// content. Every other error comes with nil.
func (r Reader) Read(path string) ([]byte, error) {
	before, err := r.look(path)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, &Error{Problem: NotRegular}
	}
	tooLarge := before.Size() > r.MaxBytes

	f, err := r.open(path)
	switch {
	case err == nil:
		defer f.Close()
	case tooLarge:
		return nil, &Error{Problem: TooLarge, Err: err}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ELOOP):
		return nil, &Error{Problem: Changed, Err: err} // removed, or replaced by a link, since the first look
	default:
		return nil, unreadable(err)
	}
	opened, err := f.Stat()
	if err != nil {
		return nil, unreadable(err)
	}
	if !opened.Mode().IsRegular() {
		return nil, &Error{Problem: Changed} // nothing was read yet: a pipe or device is left alone
	}
	data, err := io.ReadAll(io.LimitReader(f, r.MaxBytes+1))
	if err != nil {
		return nil, unreadable(err)
	}
	head := data[:min(int64(len(data)), r.MaxBytes)]
	if tooLarge {
		return head, &Error{Problem: TooLarge}
	}
	after, err := r.look(path)
	if err != nil || !after.Mode().IsRegular() {
		return nil, &Error{Problem: Changed, Err: err}
	}
	if len(data) > len(head) || !unchanged(before, opened) || !unchanged(before, after) {
		return head, &Error{Problem: Changed}
	}
	return data, nil
}

func (r Reader) look(path string) (fs.FileInfo, error) {
	stat := os.Lstat
	if r.FollowLink {
		stat = os.Stat
	}
	info, err := stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		// A link that leads nowhere is a broken configuration, not an absent one.
		if _, lerr := os.Lstat(path); lerr == nil {
			return nil, &Error{Problem: NotRegular, Err: err}
		}
		return nil, &Error{Problem: Missing, Err: err}
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return info, nil
}

func (r Reader) open(path string) (fs.File, error) {
	if r.Open != nil {
		return r.Open(path)
	}
	return open(path, r.FollowLink)
}

func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func unreadable(err error) *Error {
	return &Error{Problem: Unreadable, Kind: Kind(err), Err: err}
}

// Kind names an operating-system error in our own few words, without paths.
func Kind(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, fs.ErrNotExist):
		return "not found"
	case errors.Is(err, syscall.ENOTDIR):
		return "not a directory"
	case errors.Is(err, syscall.ELOOP):
		return "too many links"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "name too long"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too many open files"
	case errors.Is(err, syscall.ENOSPC):
		return "no space left"
	case errors.Is(err, syscall.EROFS):
		return "read-only file system"
	case errors.Is(err, syscall.EIO):
		return "input/output error"
	}
	return "operating-system error"
}
