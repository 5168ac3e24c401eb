package refs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/spill/confined"
)

func table(t *testing.T) (Table, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return Table{Name: "refs-search", Open: func(create bool) (*os.Root, error) {
		return confined.OpenDir(root, "tmp/web", create)
	}}, filepath.Join(dir, "tmp/web/refs-search")
}

func resolve(t *testing.T, tab Table, ref string) string {
	t.Helper()
	url, found, err := tab.Resolve(t.Context(), ref)
	if err != nil {
		t.Fatalf("Resolve(%s): %v", ref, err)
	}
	if !found {
		return "not found"
	}
	return url
}

func TestOf(t *testing.T) {
	for url, want := range map[string]string{
		"https://ex.org/a": "ln_fc60963ff0ac20db",
		"https://ex.org/n": "ln_e061d0e93c1dc0e4",
	} {
		if got := Of(url); got != want {
			t.Errorf("Of(%s) = %s, want %s", url, got, want)
		}
	}
}

func TestAddAndResolve(t *testing.T) {
	tab, file := table(t)
	if got := resolve(t, tab, Of("https://ex.org/a")); got != "not found" {
		t.Errorf("before anything was stored: %s", got)
	}
	if err := tab.Add(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Dir(file)); err == nil {
		t.Error("a directory was created with nothing to store")
	}
	urls := []string{"https://ex.org/a", "https://ex.org/ü?q=\"x y\"", "https://ex.org/line\nbreak", "https://ex.org/\xff"}
	if err := tab.Add(t.Context(), urls); err != nil {
		t.Fatal(err)
	}
	for _, u := range urls {
		if got := resolve(t, tab, Of(u)); got != u {
			t.Errorf("Resolve(Of(%q)) = %q", u, got)
		}
	}
	for _, ref := range []string{"", "ln_", "ln_0000000000000000", "LN_fc60963ff0ac20db", "ln_fc60963ff0ac20db0", "\n"} {
		if got := resolve(t, tab, ref); got != "not found" {
			t.Errorf("Resolve(%q) = %q", ref, got)
		}
	}
}

// A killed process may leave half a line, and a careless one anything at all.
func TestTornAndForeignRecords(t *testing.T) {
	tab, file := table(t)
	add := func(u string) {
		t.Helper()
		if err := tab.Add(t.Context(), []string{u}); err != nil {
			t.Fatal(err)
		}
	}
	add("https://ex.org/a")
	whole := appendRecord(nil, "https://ex.org/torn")
	forged := Of("https://ex.org/b") + ` "https://evil.example/"` + "\n"
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{[]byte(forged), {0, 0xff, '\n'}, whole[:len(whole)-6]} {
		if _, err := f.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	_ = f.Close()
	add("https://ex.org/c")
	got := map[string]string{}
	for _, u := range []string{"https://ex.org/a", "https://ex.org/b", "https://ex.org/c", "https://ex.org/torn"} {
		got[u] = resolve(t, tab, Of(u))
	}
	want := map[string]string{
		"https://ex.org/a": "https://ex.org/a", "https://ex.org/b": "not found",
		"https://ex.org/c": "https://ex.org/c", "https://ex.org/torn": "not found",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resolved (-want +got):\n%s", diff)
	}
}

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	tab, file := table(t)
	url := func(i int) string { return fmt.Sprintf("https://ex.org/%d", i) }
	var first []string
	for i := range Budget {
		first = append(first, url(i))
	}
	if err := tab.Add(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	// Using 0 makes 1 the oldest, so one more URL evicts 1 and only 1.
	if got := resolve(t, tab, Of(url(0))); got != url(0) {
		t.Fatal(got)
	}
	if err := tab.Add(t.Context(), []string{url(Budget)}); err != nil {
		t.Fatal(err)
	}
	got := []string{resolve(t, tab, Of(url(0))), resolve(t, tab, Of(url(1))), resolve(t, tab, Of(url(2))), resolve(t, tab, Of(url(Budget)))}
	if diff := cmp.Diff([]string{url(0), "not found", url(2), url(Budget)}, got); diff != "" {
		t.Errorf("after one eviction (-want +got):\n%s", diff)
	}
	for range 5 {
		if err := tab.Add(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(data, []byte{'\n'}); n > 2*Budget+1 {
			t.Errorf("%d lines on disk, want at most %d", n, 2*Budget+1)
		}
	}
	if got := resolve(t, tab, Of(url(Budget-1))); got != url(Budget-1) {
		t.Errorf("newest after rewriting = %q", got)
	}
}

func TestFileIsBoundedInBytes(t *testing.T) {
	tab, file := table(t)
	for i := range 40 {
		if err := tab.Add(t.Context(), []string{fmt.Sprintf("https://ex.org/%d/%s", i, strings.Repeat("x", 1<<20))}); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxFileBytes {
		t.Errorf("file has %d bytes, want at most %d", info.Size(), maxFileBytes)
	}
	last := fmt.Sprintf("https://ex.org/%d/%s", 39, strings.Repeat("x", 1<<20))
	if got := resolve(t, tab, Of(last)); got != last {
		t.Error("the newest ref is gone")
	}
}

func TestManyAtOnce(t *testing.T) {
	tab, _ := table(t)
	var wg sync.WaitGroup
	errs := make([]error, 50)
	for w := range 50 {
		wg.Go(func() {
			for i := range 40 {
				if err := tab.Add(t.Context(), []string{fmt.Sprintf("https://ex.org/%d/%d", w, i)}); err != nil {
					errs[w] = err
				}
			}
		})
	}
	wg.Wait()
	for w, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			u := fmt.Sprintf("https://ex.org/%d/%d", w, i)
			if got := resolve(t, tab, Of(u)); got != u {
				t.Fatalf("%s = %s", u, got)
			}
		}
	}
}

func TestRefusesWhatIsNoFile(t *testing.T) {
	tab, file := table(t)
	if err := os.MkdirAll(file, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := tab.Add(t.Context(), []string{"https://ex.org/"}); err == nil {
		t.Error("Add wrote through a directory")
	}
	if _, _, err := tab.Resolve(t.Context(), Of("https://ex.org/")); err == nil {
		t.Error("Resolve read a directory")
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, file); err != nil {
		t.Fatal(err)
	}
	if err := tab.Add(t.Context(), []string{"https://ex.org/"}); err == nil {
		t.Error("Add followed a link")
	}
}
