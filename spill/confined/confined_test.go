package confined

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func root(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, dir
}

func TestOpenDir(t *testing.T) {
	r, dir := root(t)
	if _, err := OpenDir(r, "tmp/web", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	d, err := OpenDir(r, "tmp/web", true)
	if err != nil {
		t.Fatal(err)
	}
	_ = d.Close()
	if info, err := os.Stat(filepath.Join(dir, "tmp/web")); err != nil || !info.IsDir() {
		t.Errorf("not created: %v", err)
	}
}

func TestOpenDirRefusesLinks(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(dir string) error
	}{
		{"link that leads out", func(dir string) error { return os.Symlink(os.TempDir(), filepath.Join(dir, "tmp")) }},
		{"link that stays inside", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "real"), 0o755), os.Symlink("real", filepath.Join(dir, "tmp")))
		}},
		{"link below", func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, "tmp/real"), 0o755), os.Symlink("real", filepath.Join(dir, "tmp/web")))
		}},
		{"dangling link", func(dir string) error { return os.Symlink("nowhere", filepath.Join(dir, "tmp")) }},
		{"file", func(dir string) error { return os.WriteFile(filepath.Join(dir, "tmp"), nil, 0o644) }},
	} {
		r, dir := root(t)
		if err := tt.make(dir); err != nil {
			t.Fatal(err)
		}
		for _, create := range []bool{false, true} {
			if _, err := OpenDir(r, "tmp/web", create); !errors.Is(err, ErrLink) {
				t.Errorf("%s, create %v: got %v, want ErrLink", tt.name, create, err)
			}
		}
	}
}

func TestCreateNeverReplaces(t *testing.T) {
	r, dir := root(t)
	if err := Create(r, "a", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := Create(r, "a", []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Create: %v, want fs.ErrExist", err)
	}
	if err := Replace(r, "b", []byte("three")); err != nil {
		t.Fatal(err)
	}
	if err := Replace(r, "b", []byte("four")); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name()] = string(data)
	}
	// No temporary file is left either.
	if diff := cmp.Diff(map[string]string{"a": "one", "b": "four"}, got); diff != "" {
		t.Errorf("directory (-want +got):\n%s", diff)
	}
}

func TestReplaceDoesNotFollowALink(t *testing.T) {
	r, dir := root(t)
	target := filepath.Join(dir, "target")
	if err := errors.Join(os.WriteFile(target, []byte("kept"), 0o644), os.Symlink("target", filepath.Join(dir, "a"))); err != nil {
		t.Fatal(err)
	}
	if err := Replace(r, "a", []byte("new")); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(target); string(data) != "kept" {
		t.Errorf("the link's target holds %q", data)
	}
	if _, err := ReadTail(r, "a", 10); err != nil {
		t.Error(err)
	}
}

func TestReadTail(t *testing.T) {
	r, dir := root(t)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("0123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{10: "0123456789", 11: "0123456789", 4: "6789", 0: ""} {
		if got, err := ReadTail(r, "a", limit); err != nil || string(got) != want {
			t.Errorf("ReadTail(%d) = %q, %v", limit, got, err)
		}
	}
	if err := os.Symlink("a", filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTail(r, "l", 10); !errors.Is(err, ErrLink) {
		t.Errorf("link: %v", err)
	}
}

func TestLock(t *testing.T) {
	r, _ := root(t)
	now, cancel := context.WithCancel(t.Context())
	cancel() // a deadline that has passed: Lock tries once
	first, err := Lock(now, r, "l", false)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Lock(now, r, "l", false)
	if err != nil {
		t.Fatalf("second shared lock: %v", err)
	}
	if _, err := Lock(now, r, "l", true); !errors.Is(err, ErrBusy) {
		t.Errorf("exclusive beside shared: %v, want ErrBusy", err)
	}
	first()
	second()
	third, err := Lock(now, r, "l", true)
	if err != nil {
		t.Fatalf("exclusive after release: %v", err)
	}
	if _, err := Lock(now, r, "l", false); !errors.Is(err, ErrBusy) {
		t.Errorf("shared beside exclusive: %v, want ErrBusy", err)
	}
	third()
}
