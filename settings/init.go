package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"web/settings/safefile"
	"web/spill/confined"
)

// Outcome is what Init did about one file.
type Outcome string

// The outcomes.
const (
	Created Outcome = "created"
	Kept    Outcome = "kept"   // a regular file was there; it was not opened
	Failed  Outcome = "failed" // nothing was written
)

// Initialized is the outcome for one file.
type Initialized struct {
	File    string // SearchFile or OutputFile
	Outcome Outcome
	// Reason says why it failed, in a few words without paths; "" otherwise.
	Reason string
}

// ErrMaxChars is returned by Init for a threshold outside MinMaxChars..MaxMaxChars; nothing was created then.
var ErrMaxChars = errors.New("max_chars must be an integer in 1..100000")

// Init creates those of the two settings files that are absent: search by duckduckgo, delivery at maxChars
// characters. It overwrites nothing and writes neither through a link in a file's place nor, by way of a
// linked settings directory, outside the workdir. The workdir itself must exist.
func Init(workdir string, maxChars int) ([]Initialized, error) {
	if maxChars < MinMaxChars || maxChars > MaxMaxChars {
		return nil, ErrMaxChars
	}
	out := []Initialized{{File: SearchFile}, {File: OutputFile}}
	contents := []string{
		`{"schema_version":1,"engine":"duckduckgo"}`,
		fmt.Sprintf(`{"schema_version":1,"max_chars":%d}`, maxChars),
	}
	root, reason := openSettings(workdir)
	if root != nil {
		defer root.Close()
	}
	for i := range out {
		if reason != "" {
			out[i].Outcome, out[i].Reason = Failed, reason
			continue
		}
		out[i].Outcome, out[i].Reason = create(root, filepath.FromSlash(out[i].File), contents[i])
	}
	return out, nil
}

// openSettings opens the workdir and sees to it that it has a settings directory.
func openSettings(workdir string) (*os.Root, string) {
	// Looked at first, because OpenRoot would wait on a pipe.
	if info, err := os.Stat(workdir); err == nil && !info.IsDir() {
		return nil, "workdir: not a directory"
	}
	root, err := os.OpenRoot(workdir)
	if err != nil {
		return nil, "workdir: " + safefile.Kind(err)
	}
	if err := root.Mkdir("settings", 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return root, "settings: " + safefile.Kind(err)
	}
	info, err := root.Stat("settings")
	switch {
	case err != nil && isLink(root, "settings"):
		return root, "settings: a link that leads nowhere or out of the workdir"
	case err != nil:
		return root, "settings: " + safefile.Kind(err)
	case !info.IsDir():
		return root, "settings: not a directory"
	}
	return root, ""
}

func create(root *os.Root, name, content string) (Outcome, string) {
	// Whole or not at all: half a file would be an invalid one from then on. An existing name, a link that
	// leads nowhere included, is never replaced.
	dir, err := root.OpenRoot(filepath.Dir(name))
	if err != nil {
		return Failed, safefile.Kind(err)
	}
	defer dir.Close()
	err = confined.Create(dir, filepath.Base(name), []byte(content))
	if errors.Is(err, fs.ErrExist) {
		info, err := dir.Lstat(filepath.Base(name))
		switch {
		case err != nil:
			return Failed, safefile.Kind(err)
		case info.Mode()&fs.ModeSymlink != 0:
			return Failed, "a link is in its place"
		case !info.Mode().IsRegular():
			return Failed, "something other than a regular file is in its place"
		}
		return Kept, ""
	}
	if err != nil {
		return Failed, safefile.Kind(err)
	}
	return Created, ""
}

func isLink(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
