//go:build unix

package safefile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const limit = 100

// outcome is what the tests compare: the content (nil when none), the problem, the kind.
type outcome struct {
	Data    []byte
	Problem Problem
	Kind    string
}

func read(r Reader, path string) outcome {
	data, err := r.Read(path)
	o := outcome{Data: data}
	var e *Error
	if errors.As(err, &e) {
		o.Problem, o.Kind = e.Problem, e.Kind
	} else if err != nil {
		o.Problem = Problem("untyped: " + err.Error())
	}
	return o
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	x := strings.Repeat("x", limit+1)
	for _, tt := range []struct {
		name           string
		make           func(t *testing.T, path string)
		want, followed outcome // followed is with FollowLink
	}{
		{"missing", func(*testing.T, string) {}, outcome{Problem: Missing}, outcome{Problem: Missing}},
		{"empty", func(t *testing.T, p string) { write(t, p, "") }, outcome{Data: []byte{}}, outcome{Data: []byte{}}},
		{"at the limit", func(t *testing.T, p string) { write(t, p, x[:limit]) },
			outcome{Data: []byte(x[:limit])}, outcome{Data: []byte(x[:limit])}},
		{"over the limit", func(t *testing.T, p string) { write(t, p, x) },
			outcome{Data: []byte(x[:limit]), Problem: TooLarge}, outcome{Data: []byte(x[:limit]), Problem: TooLarge}},
		{"directory", func(t *testing.T, p string) { must(t, os.Mkdir(p, 0o700)) },
			outcome{Problem: NotRegular}, outcome{Problem: NotRegular}},
		{"link to a file", func(t *testing.T, p string) {
			write(t, p+".real", "x")
			must(t, os.Symlink(p+".real", p))
		}, outcome{Problem: NotRegular}, outcome{Data: []byte("x")}},
		{"link to nothing", func(t *testing.T, p string) { must(t, os.Symlink(p+".gone", p)) },
			outcome{Problem: NotRegular}, outcome{Problem: NotRegular}},
		{"link to a device", func(t *testing.T, p string) { must(t, os.Symlink("/dev/zero", p)) },
			outcome{Problem: NotRegular}, outcome{Problem: NotRegular}},
		{"pipe", func(t *testing.T, p string) { must(t, syscall.Mkfifo(p, 0o600)) },
			outcome{Problem: NotRegular}, outcome{Problem: NotRegular}},
		{"link to a pipe", func(t *testing.T, p string) {
			must(t, syscall.Mkfifo(p+".fifo", 0o600))
			must(t, os.Symlink(p+".fifo", p))
		}, outcome{Problem: NotRegular}, outcome{Problem: NotRegular}},
		{"below a file", func(t *testing.T, p string) {
			must(t, os.Remove(filepath.Dir(p)))
			write(t, filepath.Dir(p), "x")
		}, outcome{Problem: Unreadable, Kind: "not a directory"}, outcome{Problem: Unreadable, Kind: "not a directory"}},
		{"in a linked directory", func(t *testing.T, p string) {
			real := filepath.Dir(p) + ".real"
			must(t, os.Rename(filepath.Dir(p), real))
			must(t, os.Symlink(real, filepath.Dir(p)))
			write(t, p, "x")
		}, outcome{Data: []byte("x")}, outcome{Data: []byte("x")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			must(t, os.Mkdir(dir, 0o700))
			path := filepath.Join(dir, "f")
			tt.make(t, path)
			if diff := cmp.Diff(tt.want, read(Reader{MaxBytes: limit}, path)); diff != "" {
				t.Errorf("without links (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.followed, read(Reader{MaxBytes: limit, FollowLink: true}, path)); diff != "" {
				t.Errorf("with links (-want +got):\n%s", diff)
			}
		})
	}
}

// meddler runs a step when the reader reaches a stage: before the file is opened, or once it was read.
type meddler struct {
	fs.File
	before, after func()
}

func (m *meddler) open(path string) (fs.File, error) {
	if m.before != nil {
		m.before()
	}
	f, err := open(path, false)
	if err != nil {
		return nil, err
	}
	m.File = f
	return m, nil
}

func (m *meddler) Read(p []byte) (int, error) {
	n, err := m.File.Read(p)
	if n == 0 && m.after != nil {
		m.after()
		m.after = nil
	}
	return n, err
}

func TestChangedDuringRead(t *testing.T) {
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name string
		step func(t *testing.T, path string)
		// before and after are the outcomes when step happens before the opening, and after the reading.
		before, after outcome
	}{
		{"nothing", func(*testing.T, string) {}, outcome{Data: []byte("old")}, outcome{Data: []byte("old")}},
		{"removed", func(t *testing.T, p string) { must(t, os.Remove(p)) },
			outcome{Problem: Changed}, outcome{Problem: Changed}},
		{"replaced by one of the same size and time", func(t *testing.T, p string) {
			write(t, p+".new", "new")
			must(t, os.Chtimes(p+".new", old, old))
			must(t, os.Rename(p+".new", p))
		}, outcome{Data: []byte("new"), Problem: Changed}, outcome{Data: []byte("old"), Problem: Changed}},
		{"rewritten in place", func(t *testing.T, p string) { write(t, p, "new") },
			outcome{Data: []byte("new"), Problem: Changed}, outcome{Data: []byte("old"), Problem: Changed}},
		{"other size at the same time", func(t *testing.T, p string) {
			write(t, p, "newer")
			must(t, os.Chtimes(p, old, old))
		}, outcome{Data: []byte("newer"), Problem: Changed}, outcome{Data: []byte("old"), Problem: Changed}},
		{"one nanosecond later", func(t *testing.T, p string) { must(t, os.Chtimes(p, old, old.Add(1))) },
			outcome{Data: []byte("old"), Problem: Changed}, outcome{Data: []byte("old"), Problem: Changed}},
		{"grown over the limit", func(t *testing.T, p string) { write(t, p, strings.Repeat("y", limit+1)) },
			outcome{Data: bytes.Repeat([]byte("y"), limit), Problem: Changed}, outcome{Data: []byte("old"), Problem: Changed}},
		// The next two would be followed, or would wait for ever, without the flags of open.
		{"replaced by a link", func(t *testing.T, p string) {
			must(t, os.Rename(p, p+".real"))
			must(t, os.Symlink(p+".real", p))
		}, outcome{Problem: Changed}, outcome{Problem: Changed}},
		{"replaced by a pipe", func(t *testing.T, p string) {
			must(t, os.Remove(p))
			must(t, syscall.Mkfifo(p, 0o600))
		}, outcome{Problem: Changed}, outcome{Problem: Changed}},
	} {
		for _, when := range []string{"before the opening", "after the reading"} {
			t.Run(tt.name+" "+when, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "f")
				write(t, path, "old")
				must(t, os.Chtimes(path, old, old))
				m := &meddler{before: func() { tt.step(t, path) }}
				want := tt.before
				if when == "after the reading" {
					m.before, m.after, want = nil, m.before, tt.after
				}
				got := read(Reader{MaxBytes: limit, Open: m.open}, path)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestSwappedOnlyWhileReading puts something else in the file's place just for the opening: both looks at the
// path see the same file, so only what was opened tells.
func TestSwappedOnlyWhileReading(t *testing.T) {
	for _, tt := range []struct {
		name string
		put  func(t *testing.T, path string)
		want outcome
	}{
		{"file", func(t *testing.T, p string) { write(t, p, "new") }, outcome{Data: []byte("new"), Problem: Changed}},
		{"link", func(t *testing.T, p string) { must(t, os.Symlink(p+".aside", p)) }, outcome{Problem: Changed}},
		{"pipe", func(t *testing.T, p string) { must(t, syscall.Mkfifo(p, 0o600)) }, outcome{Problem: Changed}},
	} {
		path := filepath.Join(t.TempDir(), "f")
		write(t, path, "old")
		r := Reader{MaxBytes: limit, Open: func(p string) (fs.File, error) {
			must(t, os.Rename(p, p+".aside"))
			tt.put(t, p)
			f, err := open(p, false)
			must(t, os.Rename(p+".aside", p))
			return f, err
		}}
		if diff := cmp.Diff(tt.want, read(r, path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// endless gives more bytes than its size says, as a file does that grows and shrinks again meanwhile.
type endless struct{ fs.File }

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'z'
	}
	return len(p), nil
}

func TestMoreThanItsSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "x")
	r := Reader{MaxBytes: limit, Open: func(p string) (fs.File, error) { f, err := os.Open(p); return endless{f}, err }}
	want := outcome{Data: bytes.Repeat([]byte("z"), limit), Problem: Changed}
	if diff := cmp.Diff(want, read(r, path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// failing fails at one stage, as a disk or a permission would.
type failing struct {
	fs.File
	stat, read error
}

func (f failing) Stat() (fs.FileInfo, error) {
	if f.stat != nil {
		return nil, f.stat
	}
	return f.File.Stat()
}

func (f failing) Read(p []byte) (int, error) {
	if f.read != nil {
		return 0, f.read
	}
	return f.File.Read(p)
}

func TestOperatingSystemErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "x")
	for _, tt := range []struct {
		errno syscall.Errno
		kind  string
	}{
		{syscall.EACCES, "permission denied"},
		{syscall.EPERM, "permission denied"},
		{syscall.EMFILE, "too many open files"},
		{syscall.EIO, "input/output error"},
		{syscall.ENXIO, "operating-system error"},
	} {
		err := &fs.PathError{Op: "open", Path: path, Err: tt.errno}
		for stage, open := range map[string]func(string) (fs.File, error){
			"open": func(string) (fs.File, error) { return nil, err },
			"stat": func(p string) (fs.File, error) { f, e := os.Open(p); return failing{File: f, stat: err}, e },
			"read": func(p string) (fs.File, error) { f, e := os.Open(p); return failing{File: f, read: err}, e },
		} {
			r := Reader{MaxBytes: limit, Open: open}
			if diff := cmp.Diff(outcome{Problem: Unreadable, Kind: tt.kind}, read(r, path)); diff != "" {
				t.Errorf("%v in %s (-want +got):\n%s", tt.errno, stage, diff)
			}
			if _, err := r.Read(path); !errors.Is(err, tt.errno) || strings.Contains(err.Error(), path) {
				t.Errorf("%v in %s: error %q loses its cause or shows the path", tt.errno, stage, err)
			}
		}
	}
}

func TestPermissionDenied(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything; TestOperatingSystemErrors covers the outcome")
	}
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "x")
	must(t, os.Chmod(path, 0))
	want := outcome{Problem: Unreadable, Kind: "permission denied"}
	if diff := cmp.Diff(want, read(Reader{MaxBytes: limit}, path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
