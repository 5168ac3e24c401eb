package settings

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInitCreatesThenKeeps(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []Outcome{Created, Kept} {
		got, err := Init(dir, 50000)
		must(t, err)
		if diff := cmp.Diff([]Initialized{{File: SearchFile, Outcome: want}, {File: OutputFile, Outcome: want}}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	// The check values of the contract are those of exactly these bytes.
	if s := ReadSearch(In(dir), builtIn); s.Revision != searchRevision {
		t.Errorf("search: %+v", s)
	}
	if o := ReadOutput(In(dir)); o.Revision != outputRevision {
		t.Errorf("output: %+v", o)
	}
}

func TestInitLeavesWhatIsThere(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(path string) error // puts something in the place of settings/web.json
		want Initialized
	}{
		{"broken file", func(p string) error { return os.WriteFile(p, []byte("mine"), 0o600) },
			Initialized{OutputFile, Kept, ""}},
		{"link to a file", func(p string) error {
			must(t, os.WriteFile(p+".real", []byte("mine"), 0o600))
			return os.Symlink(p+".real", p)
		}, Initialized{OutputFile, Failed, "a link is in its place"}},
		{"link to nothing", func(p string) error { return os.Symlink(p+".gone", p) },
			Initialized{OutputFile, Failed, "a link is in its place"}},
		{"directory", func(p string) error { return os.Mkdir(p, 0o700) },
			Initialized{OutputFile, Failed, "something other than a regular file is in its place"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := workdir(t, nil)
			must(t, tt.make(filepath.Join(dir, OutputFile)))
			got, err := Init(dir, 7)
			must(t, err)
			if diff := cmp.Diff([]Initialized{{SearchFile, Created, ""}, tt.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := os.Stat(filepath.Join(dir, OutputFile+".gone")); err == nil {
				t.Error("wrote through a link")
			}
			for _, name := range []string{OutputFile, OutputFile + ".real"} {
				if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil && string(b) != "mine" {
					t.Errorf("%s now holds %q", name, b)
				}
			}
		})
	}
}

func TestInitWithoutAPlace(t *testing.T) {
	outside := t.TempDir()
	for _, tt := range []struct {
		name, reason string
		make         func(t *testing.T) string
	}{
		{"no workdir", "workdir: not found", func(t *testing.T) string { return filepath.Join(t.TempDir(), "gone") }},
		{"workdir is a file", "workdir: not a directory", func(t *testing.T) string {
			p := filepath.Join(t.TempDir(), "f")
			must(t, os.WriteFile(p, nil, 0o600))
			return p
		}},
		{"settings is a file", "settings: not a directory", func(t *testing.T) string {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "settings"), nil, 0o600))
			return dir
		}},
		{"settings leads outside", "settings: a link that leads nowhere or out of the workdir", func(t *testing.T) string {
			dir := t.TempDir()
			must(t, os.Symlink(outside, filepath.Join(dir, "settings")))
			return dir
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Init(tt.make(t), 7)
			must(t, err)
			want := []Initialized{{SearchFile, Failed, tt.reason}, {OutputFile, Failed, tt.reason}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}

func TestInitRefusesAThresholdThatWouldBeInvalid(t *testing.T) {
	for _, n := range []int{-1, 0, MaxMaxChars + 1} {
		dir := t.TempDir()
		if _, err := Init(dir, n); !errors.Is(err, ErrMaxChars) {
			t.Errorf("Init(%d): %v", n, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 0 {
			t.Errorf("Init(%d) created something", n)
		}
	}
}
