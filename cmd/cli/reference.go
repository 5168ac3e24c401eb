package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"web/action"
	"web/manual"
	"web/spill/confined"
)

// installHere stands for `web manual --install` without a directory.
const installHere = "WORKDIR/capabilities/web"

// printReference prints one part of the reference.
func (a *app) printReference(name string) error {
	text, ok := manual.Reference(name)
	if !ok {
		return noSuchReference("the reference has no such part")
	}
	if _, err := io.WriteString(a.Stdout, text); err != nil && !errors.Is(err, syscall.EPIPE) {
		return failure{"the reference could not be written to stdout", "check where stdout leads"}
	}
	return nil
}

func noSuchReference(message string) error {
	return usage{message, "name one of " + strings.Join(manual.References(), ", ")}
}

// install writes the skill: into the working directory, or for another host into dir, which is the directory of
// that host's skills or, when it has the skill's own name, the skill's folder itself. Either way the folder is
// named as the format asks.
func (a *app) install(dir string) error {
	if dir == installHere {
		done, err := a.installManual()
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "%s %s\n", done, action.InstalledGuide)
		return nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.Dir, dir)
	}
	if dir = filepath.Clean(dir); filepath.Base(dir) == manual.Name {
		dir = filepath.Dir(dir)
	}
	// The directory is the caller's own word, so links on the way to it are followed; below it none is.
	cannot := failure{"the skill could not be installed", "name a directory that can be written, in which " + manual.Name + " is a directory or nothing, and no link"}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cannot
	}
	root, err := openRoot(dir)
	if err != nil {
		return cannot
	}
	defer root.Close()
	if err := a.writeSkill(root, manual.Name); err != nil {
		return cannot
	}
	for _, f := range manual.Folder() {
		fmt.Fprintf(a.Stdout, "installed %s\n", path.Join(manual.Name, f.Dir, f.Name))
	}
	return nil
}

// installManual writes the embedded skill into the working directory, replacing an older one.
func (a *app) installManual() (string, error) {
	root, err := a.openWorkdir()
	if err != nil {
		return "", err
	}
	defer root.Close()
	folder := path.Dir(action.InstalledGuide)
	if err := a.writeSkill(root, folder); err != nil {
		return "", failure{"the manual could not be installed", "make " + folder + " in the working directory a writable directory that is no link"}
	}
	return "installed", nil
}

// writeSkill writes the skill's folder below root, each file whole or not at all. Files of other names stay.
func (a *app) writeSkill(root *os.Root, folder string) error {
	write := func(f manual.File) error {
		dir, err := confined.OpenDir(root, path.Join(folder, f.Dir), true)
		if err != nil {
			return err
		}
		defer dir.Close()
		confined.Sweep(dir, f.Name, a.Now().Add(-time.Hour))
		return confined.Replace(dir, f.Name, []byte(f.Text))
	}
	for _, f := range manual.Folder() {
		if err := write(f); err != nil {
			return err
		}
	}
	return nil
}
