package snapshots

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"web/spill/confined"
)

// clock goes on by a second whenever it is read.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

func store(t *testing.T) (Store, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	c := &clock{now: time.Now()}
	return Store{Now: c.Now, Open: func(create bool) (*os.Root, error) {
		return confined.OpenDir(root, "tmp/web", create)
	}}, filepath.Join(dir, "tmp/web", dirName)
}

func page(body string) Page {
	return Page{
		SourceSHA256: strings.Repeat("ab", 32), RequestedURL: "https://ex.org/a", FinalURL: "https://ex.org/b",
		RedirectChain: []string{"https://ex.org/a"}, HTTPStatus: 200, ContentType: "text/html; charset=utf-8",
		RetrievedAt: "2026-03-04T05:06:07+00:00", Warnings: []string{"W"}, Body: []byte(body),
	}
}

func add(t *testing.T, s Store, p Page) string {
	t.Helper()
	id, err := s.Add(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestAddAndGet(t *testing.T) {
	s, dir := store(t)
	if _, err := s.Get(t.Context(), "snap_abababababab_0001"); !errors.Is(err, ErrNotFound) {
		t.Errorf("before anything was kept: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("Get created the store")
	}
	want := page("line\nand \xff bytes")
	first, second := add(t, s, want), add(t, s, page(""))
	if first != "snap_abababababab_0001" || second != "snap_abababababab_0002" {
		t.Errorf("identifiers %s and %s", first, second)
	}
	got, err := s.Get(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
}

func TestValidID(t *testing.T) {
	for id, want := range map[string]bool{
		"snap_0123456789ab_0001": true, "snap_0123456789ab_10000": true, "snap_0123456789ab_001": false, "snap_0123456789ab_00001": false,
		"snap_0123456789AB_0001": false, "snap_0123456789a_0001": false, "snap_0123456789ab_0001x": false, "snap_../../../etc_0001": false,
		"": false, "broken": false, "snap_0123456789ab_" + strings.Repeat("9", 40): false, "snap_0123456789ab_-001": false,
	} {
		if got := ValidID(id); got != want {
			t.Errorf("ValidID(%q) = %v, want %v", id, got, want)
		}
	}
}

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	s, dir := store(t)
	base := time.Now().Add(-time.Hour)
	var ids []string
	for i := range MaxCount {
		id := add(t, s, page(fmt.Sprint(i)))
		at := base.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(filepath.Join(dir, id), at, at); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	// Using the oldest makes the second the oldest.
	if _, err := s.Get(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	add(t, s, page("one more"))
	var gone []string
	for _, id := range ids {
		if _, err := s.Get(t.Context(), id); errors.Is(err, ErrNotFound) {
			gone = append(gone, id)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{ids[1]}, gone); diff != "" {
		t.Errorf("evicted (-want +got):\n%s", diff)
	}
}

func TestBoundedInBytes(t *testing.T) {
	s, dir := store(t)
	big := strings.Repeat("x", 20<<20)
	var last string
	for range 5 {
		last = add(t, s, page(big))
	}
	var total int64
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > MaxBytes {
		t.Errorf("the store holds %d bytes", total)
	}
	if _, err := s.Get(t.Context(), last); err != nil {
		t.Errorf("the newest: %v", err)
	}
	if _, err := s.Add(t.Context(), page(strings.Repeat("x", MaxBytes))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a page larger than the store: %v", err)
	}
}

func TestTornAndForeignFiles(t *testing.T) {
	s, dir := store(t)
	id := add(t, s, page("body"))
	file := filepath.Join(dir, id)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{"cut": data[:len(data)-1], "changed": append(data[:len(data)-1:len(data)-1], 'Y'), "no line": []byte("x"), "empty": nil} {
		if err := os.WriteFile(file, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	// The same content under another hash's name is not that snapshot.
	other := "snap_000000000000_0009"
	if err := os.WriteFile(filepath.Join(dir, other), data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), other); !errors.Is(err, ErrNotFound) {
		t.Errorf("foreign name: %v", err)
	}
	left := filepath.Join(dir, ".snap_abababababab_0003.1.x"+confined.TempSuffix)
	if err := errors.Join(os.WriteFile(left, nil, 0o644), os.Remove(file), os.Symlink(os.DevNull, file)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), id); !errors.Is(err, ErrNotFound) {
		t.Errorf("link: %v", err)
	}
	add(t, s, page("next"))
	if _, err := os.Lstat(left); err == nil {
		t.Error("what a killed process left is still there")
	}
}

func TestManyAtOnce(t *testing.T) {
	s, _ := store(t)
	var wg sync.WaitGroup
	ids := make([]string, MaxCount)
	errs := make([]error, MaxCount)
	for i := range MaxCount {
		wg.Go(func() { ids[i], errs[i] = s.Add(t.Context(), page(fmt.Sprint(i))) })
	}
	wg.Wait()
	for i, id := range ids {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if got, err := s.Get(t.Context(), id); err != nil || string(got.Body) != fmt.Sprint(i) {
			t.Errorf("%s: %q, %v", id, got.Body, err)
		}
	}
}
