// Package confined is the only code that creates files or directories below a working directory.
//
// It opens a directory one component at a time and refuses links, writes a file whole or not at all, and
// locks between processes. It knows nothing of what the files mean: artifacts (package spill), refs and
// snapshots (browse) and the installed manual and settings are written through it. Everything goes through
// os.Root, so no name can lead out of the working directory.
package confined

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// ErrLink reports that a component of the path is a link or no directory; it is never followed.
var ErrLink = errors.New("path component is a link or not a directory")

// ErrBusy reports that a lock stayed taken until the deadline.
var ErrBusy = errors.New("lock is held by another process")

const (
	dirPerm  = 0o755
	filePerm = 0o644
)

// OpenDir opens the directory rel ("tmp/web") below root. With create, missing components are made and
// recorded durably; without, a missing one is fs.ErrNotExist. A component that is a link is ErrLink even
// where it stays inside root: os.Root alone would follow it.
func OpenDir(root *os.Root, rel string, create bool) (*os.Root, error) {
	dir := root
	for name := range strings.SplitSeq(path.Clean(rel), "/") {
		next, err := step(dir, name, create)
		if dir != root {
			_ = dir.Close()
		}
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

func step(dir *os.Root, name string, create bool) (*os.Root, error) {
	seen, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err := dir.Mkdir(name, dirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if err := syncDir(dir); err != nil {
			return nil, err
		}
		seen, err = dir.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, ErrLink
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// A link put there between the two looks would have been followed: the opened one must be the seen one.
	opened, err := next.Stat(".")
	if err != nil || !os.SameFile(seen, opened) {
		_ = next.Close()
		return nil, errors.Join(ErrLink, err)
	}
	return next, nil
}

// Create writes a new file name in dir: complete and synced, or not there at all, even when the process is
// killed. An existing name is never replaced: fs.ErrExist.
func Create(dir *os.Root, name string, content []byte) error {
	return write(dir, name, [][]byte{content}, true, func(tmp string) error {
		err := dir.Link(tmp, name)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return errors.Join(err, dir.Remove(tmp))
		}
		// A file system without hard links: look, then rename. Names are random, so the gap is harmless.
		if _, seen := dir.Lstat(name); seen == nil {
			return fs.ErrExist
		}
		return dir.Rename(tmp, name)
	}, func() error { return dir.Remove(name) })
}

// Replace writes the file name in dir, replacing what was there in one step.
func Replace(dir *os.Root, name string, content []byte) error {
	return write(dir, name, [][]byte{content}, true, func(tmp string) error { return dir.Rename(tmp, name) }, nil)
}

// ReplaceVolatile writes a file like Replace, whole or not at all even when the process is killed, but does
// not wait for the disk, and takes its content in parts: after a loss of power it may be missing or torn. It is for what proves itself and
// can be made again.
func ReplaceVolatile(dir *os.Root, name string, parts ...[]byte) error {
	return write(dir, name, parts, false, func(tmp string) error { return dir.Rename(tmp, name) }, nil)
}

func write(dir *os.Root, name string, parts [][]byte, sync bool, publish func(tmp string) error, undo func() error) (err error) {
	var salt [16]byte
	_, _ = rand.Read(salt[:]) // never fails: crypto/rand ends the process instead
	tmp := fmt.Sprintf(".%s.%d.%s%s", name, os.Getpid(), hex.EncodeToString(salt[:]), TempSuffix)
	f, err := dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = dir.Remove(tmp)
		}
	}()
	for _, part := range parts {
		if _, err = f.Write(part); err != nil {
			break
		}
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err = publish(tmp); err != nil || !sync {
		return err
	}
	if err = syncDir(dir); err != nil && undo != nil {
		_ = undo()
	}
	return err
}

// Sweep removes what killed processes left of files called name: unfinished ones, last written before the
// given time. The caller holds the lock, if others write name at the same time.
func Sweep(dir *os.Root, name string, before time.Time) {
	files, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), "."+name+".") || !strings.HasSuffix(f.Name(), TempSuffix) {
			continue
		}
		if info, err := f.Info(); err == nil && info.ModTime().Before(before) {
			_ = dir.Remove(f.Name())
		}
	}
}

// TempSuffix ends the name of a file that is still being written, or was when its process was killed. Such
// names begin with a dot.
const TempSuffix = ".tmp"

func syncDir(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// ReadTail reads a regular file in dir, or the last limit bytes of a larger one. A link, a pipe or a device
// is ErrLink and is never waited for.
func ReadTail(dir *os.Root, name string, limit int64) ([]byte, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrLink
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil || !os.SameFile(info, opened) {
		return nil, errors.Join(ErrLink, err)
	}
	from := max(0, opened.Size()-limit)
	return io.ReadAll(io.NewSectionReader(f, from, opened.Size()-from))
}

// lockPoll is how long Lock waits between two tries.
const lockPoll = 2 * time.Millisecond

// Lock takes the lock file name in dir, shared or exclusive, and gives the function that releases it. The
// lock dies with its process. It is ErrBusy when ctx ends first.
func Lock(ctx context.Context, dir *os.Root, name string, exclusive bool) (release func(), err error) {
	if info, err := dir.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, ErrLink
	}
	f, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE|openNonblock, filePerm)
	if err != nil {
		return nil, err
	}
	for {
		switch err := tryLock(f, exclusive); {
		case err == nil:
			return func() { _ = f.Close() }, nil // closing drops the lock
		case !errors.Is(err, errLocked):
			_ = f.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, ErrBusy
		case <-time.After(lockPoll):
		}
	}
}
