package action

import (
	"os"
	"path/filepath"

	"web/settings/safefile"
)

// InstalledGuide is where a host installs the guide, relative to the working directory.
const InstalledGuide = "capabilities/web/SKILL.md"

// maxGuideBytes bounds an installed guide.
const maxGuideBytes = 1 << 20

// manual returns the installed guide, or the embedded one when no guide was ever installed. It reads no
// settings file and touches no engine.
func (r *Runner) manual() Answer {
	a := &ManualAnswer{Status: OK, Action: Manual, Source: "embedded", Setting: r.noRead()}
	path := filepath.Join(r.deps.Workdir, filepath.FromSlash(InstalledGuide))
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		a.Manual = r.deps.Guide()
		return a
	}
	shown := valid(path) // a path may hold any bytes, an answer may not
	a.Path, a.Source = &shown, "installed"
	text, ok := readGuide(path)
	if !ok {
		a.Status = Degraded
		a.Error = "the installed web manual is missing or cannot be read; `web manual --install` restores it, `web manual` prints the built-in one"
		return a
	}
	a.Manual = text
	return a
}

// readGuide follows a link, as the contract asks, but reads nothing that is not a regular file.
func readGuide(path string) (string, bool) {
	data, err := safefile.Reader{MaxBytes: maxGuideBytes, FollowLink: true}.Read(path)
	return valid(string(data)), err == nil
}
