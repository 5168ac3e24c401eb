package spill

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"web/spill/confined"
)

func store(t testing.TB) (Store, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return Store{Root: root, Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 890_000, time.FixedZone("", 3600)) }}, dir
}

func TestWrite(t *testing.T) {
	s, dir := store(t)
	content := []byte("日本 é\n")
	got, err := s.Write("search", "json", content)
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(`^tmp/tool-results/20260304T040607-web-search-[0-9a-f]{6}\.json$`); !want.MatchString(got.Path) {
		t.Errorf("path %s does not match %s", got.Path, want)
	}
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(got.Path)))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	want := Artifact{Path: got.Path, Chars: 5, Bytes: 10, SHA256: hex.EncodeToString(sum[:]), CreatedAt: s.Now().UTC()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("artifact (-want +got):\n%s", diff)
	}
	if string(data) != string(content) {
		t.Errorf("file holds %q", data)
	}
	again, err := s.Write("search", "json", content)
	if err != nil || again.Path == got.Path {
		t.Errorf("second write: %v, path %s", err, again.Path)
	}
}

func TestChars(t *testing.T) {
	for _, s := range []string{"", "a", "é", "日本語", "\U0001f468\u200d\U0001f4bb", "12345678", "1234567é", strings.Repeat("aé日\U0001f600", 99), "\x7f\u0080\u07ff\u0800\uffff\U00010000\U0010ffff"} {
		for i := range len(s) + 1 {
			if !utf8.ValidString(s[i:]) {
				continue
			}
			if got, want := Chars([]byte(s[i:])), utf8.RuneCountInString(s[i:]); got != want {
				t.Errorf("Chars(%q) = %d, want %d", s[i:], got, want)
			}
		}
	}
}

func TestWriteRefusesLinks(t *testing.T) {
	s, dir := store(t)
	outside := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "tmp"), 0o755), os.Symlink(outside, filepath.Join(dir, "tmp/tool-results"))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write("search", "json", []byte("x")); !errors.Is(err, confined.ErrLink) {
		t.Errorf("got %v, want ErrLink", err)
	}
	if files, _ := os.ReadDir(outside); len(files) != 0 {
		t.Errorf("%d files were written outside", len(files))
	}
}

func TestListAndPrune(t *testing.T) {
	s, dir := store(t)
	if got, err := s.List(); err != nil || len(got) != 0 {
		t.Errorf("List without a directory = %v, %v", got, err)
	}
	d := filepath.Join(dir, "tmp", "tool-results")
	if err := os.MkdirAll(d, 0o755); err != nil {
		t.Fatal(err)
	}
	hex32 := strings.Repeat("ab", 16)
	age := map[string]time.Duration{
		"20260301T000000-web-search-00000a.json":                       72 * time.Hour,
		"20260304T000000-web-browse-00000b.md":                         time.Hour,
		".20260301T000000-web-search-00000c.json.77." + hex32 + ".tmp": 72 * time.Hour,
		".20260304T000000-web-search-00000d.json.78." + hex32 + ".tmp": time.Minute,
		"20260301T000000-web-search-00000a.json.bak":                   72 * time.Hour,
		"notes.md": 72 * time.Hour,
	}
	for name, a := range age {
		p := filepath.Join(d, name)
		if err := errors.Join(os.WriteFile(p, []byte("x"), 0o644), os.Chtimes(p, s.Now().Add(-a), s.Now().Add(-a))); err != nil {
			t.Fatal(err)
		}
	}
	paths := func(es []Entry) (out []string) {
		for _, e := range es {
			out = append(out, strings.TrimPrefix(e.Path, Dir+"/"))
		}
		return out
	}
	list, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"20260301T000000-web-search-00000a.json", "20260304T000000-web-browse-00000b.md"}, paths(list)); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	removed, err := s.Prune(24 * time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"20260301T000000-web-search-00000a.json", ".20260301T000000-web-search-00000c.json.77." + hex32 + ".tmp"}
	if diff := cmp.Diff(want, paths(removed)); diff != "" {
		t.Errorf("Prune (-want +got):\n%s", diff)
	}
	if files, _ := os.ReadDir(d); len(files) != len(age)-2 {
		t.Errorf("%d files are left, want %d", len(files), len(age)-2)
	}
}

// BenchmarkWrite compares an artifact of 5 MB with a plain write and fsync of the same bytes.
func BenchmarkWrite(b *testing.B) {
	s, dir := store(b)
	content := []byte(strings.Repeat("0123456789abcde\n", 5<<20/16))
	var plain, whole time.Duration
	for b.Loop() {
		start := time.Now()
		f, err := os.Create(filepath.Join(dir, "plain"))
		if err != nil {
			b.Fatal(err)
		}
		_, werr := f.Write(content)
		if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
			b.Fatal(err)
		}
		plain += time.Since(start)
		start = time.Now()
		a, err := s.Write("search", "json", content)
		whole += time.Since(start)
		if err := errors.Join(err, os.Remove(f.Name()), os.Remove(filepath.Join(dir, a.Path))); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(whole)/float64(plain), "times-plain")
}
