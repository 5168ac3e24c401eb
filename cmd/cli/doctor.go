package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

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
	root, err := os.OpenRoot(a.dir())
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
	for _, name := range engines.Names() {
		e, ok := op.Engines[name]
		if !ok {
			continue
		}
		f := finding{"ok", "engine " + name, "available", ""}
		_, built := builders()[name]
		switch {
		case name != engines.DuckDuckGo && !e.Key.IsSet(), e.KeyMissing:
			f = finding{"note", f.what, "no key", "set " + e.KeyEnv + " to use it"}
			if e.KeyEnv == "" {
				f.hint = "give it an api_key in the operator file to use it"
			}
		case !built:
			f = finding{"note", f.what, "key present, but this build cannot use the engine", ""}
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
		return finding{"ok", rel, "not there yet; made when something must be kept", ""}
	case err != nil:
		return finding{"bad", rel, "is a link, no directory, or cannot be opened", "remove what is in its place"}
	}
	defer dir.Close()
	const probe = ".doctor.tmp"
	f, err := dir.OpenFile(probe, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Close(), dir.Remove(probe))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return finding{"bad", rel, "cannot be written", "make it writable, and check that the disk is not full"}
	}
	return finding{"ok", rel, "can be written", ""}
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
