package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"web/action"
	"web/engines"
	"web/settings"
	"web/settings/operator"
	"web/spill"
	"web/spill/confined"
)

// finding is one line of the doctor: what was looked at, how it is, and what to do about it.
type finding struct {
	state string // ok, note, bad
	what  string
	says  string
	hint  string
}

func (a *app) doctorCommand() *cobra.Command {
	var live bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check working directory, settings, operator file, keys and engines", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := a.examine()
			if live {
				found = append(found, a.askEngines(cmd.Context())...)
			}
			bad := 0
			for _, f := range found {
				fmt.Fprintf(a.Stdout, "%-5s %-28s %s\n", f.state, f.what, printable(f.says))
				if f.hint != "" {
					fmt.Fprintf(a.Stdout, "      %-28s -> %s\n", "", f.hint)
				}
				if f.state == "bad" {
					bad++
				}
			}
			if code, ok := interrupted(cmd.Context()); ok {
				return answered(code)
			}
			if bad > 0 {
				return answered(exitFailed)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&live, "live", false, "also ask each available engine one question")
	return cmd
}

func (a *app) examine() []finding {
	var out []finding
	root, err := openRoot(a.dir())
	if err != nil {
		out = append(out, finding{"bad", "working directory", "cannot be opened", "name an existing directory with --workdir or WEB_WORKDIR"})
	} else {
		defer root.Close()
		out = append(out, finding{"ok", "working directory", "can be opened", ""}, writable(root, spill.Dir), writable(root, action.StateDir))
	}

	op, opErr := a.readOperator()
	var fault *operator.Error
	switch {
	case errors.As(opErr, &fault):
		out = append(out, finding{"bad", "operator file", fault.Error(), "mend it; nothing that needs the network works until then"})
	case op.FromFile:
		out = append(out, finding{"ok", "operator file", "valid", ""})
	default:
		out = append(out, finding{"ok", "operator file", "none; keys are taken from the environment", ""})
	}
	admitted := func(name string) bool { return opErr != nil || op.Admitted(name) }
	s := settings.ReadSearch(settings.In(a.dir()), admitted)
	out = append(out, settingFinding(settings.SearchFile, s.Snapshot, "the default engine is used"))
	o := settings.ReadOutput(settings.In(a.dir()))
	out = append(out, settingFinding(settings.OutputFile, o.Snapshot, fmt.Sprintf("results over %d characters go to a file", settings.DefaultMaxChars)))
	if opErr != nil {
		return out
	}
	if selected := a.selected(op, s); selected != "" {
		runner, closeRunner := a.runner(wiring{})
		if why := runner.Selectable(selected, s.State == settings.Valid); why != "" {
			out = append(out, finding{"bad", "selected engine " + selected, why, "name another engine in " + settings.SearchFile})
		}
		closeRunner()
	}
	for _, name := range engines.Names() {
		e, ok := op.Engines[name]
		if !ok {
			continue
		}
		f := finding{"ok", "engine " + name, "available", ""}
		if e.KeyMissing && name == engines.DuckDuckGo {
			out = append(out, finding{"bad", f.what, "its configuration names a variable that is not set", "set " + e.KeyEnv})
			continue
		}
		_, built := builders()[name]
		switch {
		case !built && !e.Key.IsSet():
			f = finding{"note", f.what, "not part of this version, and no key", ""}
		case name != engines.DuckDuckGo && !e.Key.IsSet(), e.KeyMissing:
			f = finding{"note", f.what, "no key", "set " + e.KeyEnv + " to use it"}
			if e.KeyEnv == "" {
				f.hint = "give it an api_key in the operator file to use it"
			}
		case !built:
			f = finding{"note", f.what, "key present, but the engine is not part of this version", ""}
		case name != engines.DuckDuckGo:
			f.says = "key present"
		}
		if e.Custom {
			f.says += ", custom endpoint"
		}
		out = append(out, f)
	}
	if op.Network.Proxy.IsSet() {
		out = append(out, finding{"note", "network.proxy", "the proxy connects, so the judged address of a page is not pinned", ""})
	}
	if _, err := operatorRoots(op); err != nil {
		out = append(out, finding{"bad", "network.ca_file", err.Error(), "name a readable PEM file"})
	}
	return out
}

// selected is the engine that somebody chose, or "" when the default is used, which is always there.
func (a *app) selected(op operator.Operator, s settings.Search) string {
	if s.State == settings.Valid {
		return s.Engine
	}
	return op.DefaultEngine
}

func settingFinding(name string, s settings.Snapshot, missing string) finding {
	switch s.State {
	case settings.Invalid:
		return finding{"bad", name, s.Diagnostic, "mend it, or remove it for the default"}
	case settings.Missing:
		return finding{"ok", name, "none; " + missing, ""}
	}
	return finding{"ok", name, "valid", ""}
}

// writable looks at a directory that is made only when it is needed, without making it.
func writable(root *os.Root, rel string) finding {
	dir, err := confined.OpenDir(root, rel, false)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// It is made when something must be kept: below the nearest directory that is there.
		parent, name, _ := strings.Cut(rel, "/")
		if name == "" {
			return probe(root, rel, "not there yet; made when something must be kept")
		}
		dir, err := confined.OpenDir(root, parent, false)
		if err != nil {
			return probe(root, rel, "not there yet; made when something must be kept")
		}
		defer dir.Close()
		return probe(dir, rel, "not there yet; made when something must be kept")
	case errors.Is(err, fs.ErrPermission):
		return finding{"bad", rel, "cannot be opened", "give its owner the permission to read, write and search it"}
	case err != nil:
		return finding{"bad", rel, "is a link, no directory, or cannot be opened", "remove what is in its place"}
	}
	defer dir.Close()
	return probe(dir, rel, "can be written")
}

// probeBytes is what the probe writes: some file systems take a name and then have no room for a byte.
const probeBytes = 4096

func probe(dir *os.Root, rel, says string) finding {
	name := fmt.Sprintf(".doctor-%s.tmp", rand.Text())
	f, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(make([]byte, probeBytes))
		err = errors.Join(err, f.Close(), dir.Remove(name))
	}
	if err != nil {
		return finding{"bad", rel, "cannot be written", "make the working directory writable, and check that the disk is not full"}
	}
	return finding{"ok", rel, says, ""}
}

// askEngines asks every available engine one question.
func (a *app) askEngines(ctx context.Context) []finding {
	op, err := a.readOperator()
	if err != nil {
		return nil
	}
	var out []finding
	for _, name := range engines.Names() {
		build := builders()[name]
		e, admitted := op.Engines[name]
		if build == nil || !admitted || name != engines.DuckDuckGo && !e.Key.IsSet() {
			continue
		}
		f := finding{"ok", "live " + name, "", ""}
		engine, err := build(op, e)
		if err == nil {
			ctx, cancel := context.WithTimeout(ctx, op.Limits.Search)
			var answer engines.Answer
			answer, err = engine.Search(ctx, engines.Query{Text: "example domain"})
			cancel()
			f.says = fmt.Sprintf("%d results", len(answer.Results))
		}
		if err != nil {
			f.state, f.says, f.hint = "bad", "failed", "try again later, or choose another engine"
			var typed *engines.Error
			if errors.As(err, &typed) {
				f.says = typed.Class + ": " + typed.Message
			}
		}
		out = append(out, f)
	}
	return slices.Clip(out)
}
