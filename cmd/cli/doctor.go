package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

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
	runner, closeRunner := a.runner(wiring{})
	defer closeRunner()
	setting, refused := runner.CheckSearch()
	selected := ""
	if setting.Engine != nil {
		selected = *setting.Engine
	}
	if refused != nil && (refused.Code == action.SearchEngineUnavailable || refused.Code == action.BackendIneligible) {
		out = append(out, finding{"bad", "selected engine " + selected, refused.Message, refused.Advice})
	}
	for _, state := range setting.Engines {
		f := engineFinding(state, op.Engines[state.Name])
		if state.Name == selected && refused == nil {
			f.says += "; selected"
		}
		out = append(out, f)
	}
	if by, problem := runner.CheckSummarizer(); problem != "" {
		out = append(out, finding{"bad", "summarizer", problem + "; " + by + " stands in for it", "mend that, or choose another summarizer.engine in the operator file"})
	} else {
		out = append(out, finding{"ok", "summarizer", by, ""})
	}
	if op.Network.Proxy.IsSet() {
		out = append(out, finding{"note", "network.proxy", "the proxy connects, so the judged address of a page is not pinned", ""})
	}
	if _, err := operatorRoots(op); err != nil {
		out = append(out, finding{"bad", "network.ca_file", err.Error(), "name a readable PEM file"})
	}
	return out
}

// engineFinding says what is known about an engine without asking it.
func engineFinding(state action.EngineState, e operator.Engine) finding {
	f := finding{"ok", "engine " + state.Name, state.Says(), ""}
	if !state.Available() {
		f.state = "note"
		if state.Name == engines.DuckDuckGo { // it needs no key, so its entry is at fault
			f.state = "bad"
		}
		if f.hint = state.Remedy(); f.hint != "" {
			f.hint += " to use it"
		}
		return f
	}
	if e.Key.IsSet() {
		f.says = "key present"
	}
	if e.Custom {
		f.says += ", custom endpoint"
	} else {
		f.says += ", official endpoint"
	}
	if model := cmp.Or(e.Model, engines.DefaultModel(state.Name)); model != "" {
		f.says += ", model " + model
	}
	return f
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

// liveQuery is what engines are asked by doctor --live: anybody finds something for it.
const liveQuery = "example domain"

// askEngines asks every available engine one question, all at once, each for as long as a search may take.
func (a *app) askEngines(ctx context.Context) []finding {
	op, err := a.readOperator()
	if err != nil {
		return nil
	}
	runner, closeRunner := a.runner(wiring{})
	defer closeRunner()
	setting, _ := runner.CheckSearch()
	ctx, cancel := context.WithTimeout(ctx, op.Limits.Search)
	defer cancel()
	out := make([]finding, len(setting.Engines))
	var asked sync.WaitGroup
	for i, state := range setting.Engines {
		if state.Available() {
			asked.Go(func() { out[i] = askEngine(ctx, op, state.Name) })
		}
	}
	asked.Wait()
	return slices.DeleteFunc(out, func(f finding) bool { return f == finding{} })
}

func askEngine(ctx context.Context, op operator.Operator, name string) finding {
	f := finding{state: "bad", what: "live " + name}
	engine, err := builders()[name](op, op.Engines[name])
	if err != nil {
		f.says, f.hint = "could not be initialised: "+err.Error(), "mend the operator file"
		return f
	}
	answer, err := engine.Search(ctx, engines.Query{Text: liveQuery})
	var typed *engines.Error
	switch {
	case err == nil && len(answer.Results) == 0:
		return finding{"note", f.what, "reachable, but found nothing", ""}
	case err == nil:
		return finding{"ok", f.what, fmt.Sprintf("reachable, %d results", len(answer.Results)), ""}
	case !errors.As(err, &typed):
		f.says, f.hint = "failed", "report this as a defect of web"
		return f
	}
	// The message holds the next step of whoever searches; here stands the operator's.
	f.says, _, _ = strings.Cut(typed.Message, ". ")
	f.says = typed.Class + ": " + strings.TrimSuffix(f.says, ".")
	f.hint = liveRemedy(name, typed)
	return f
}

// liveRemedy is what an operator does about an engine that failed.
func liveRemedy(name string, e *engines.Error) string {
	entry := "engines." + name
	switch {
	case errors.Is(e, context.Canceled):
		return "run it again"
	case name == engines.DuckDuckGo && (!e.Retryable || e.Class == "rate_limited"):
		return "wait some minutes, use another network, or choose an engine with a key"
	case e.HTTPStatus == http.StatusUnauthorized || e.HTTPStatus == http.StatusForbidden:
		return "reachable, but the key was refused: check " + entry + ".api_key, or the variable that holds it, and what the key may be used for"
	case e.HTTPStatus == http.StatusNotFound && engines.DefaultModel(name) != "":
		return "reachable, but the model or the address is not known there: check " + entry + ".model and " + entry + ".base_url"
	case e.HTTPStatus == http.StatusTooManyRequests:
		return "reachable, but the rate or the credit of the key is used up: wait, or raise the limit at the provider"
	case e.HTTPStatus >= 500:
		return "reachable, but it fails for now: try again later"
	case e.HTTPStatus >= 400:
		return "reachable, but the request was refused: check key, model and base_url of " + entry
	case e.HTTPStatus >= 300:
		return "check " + entry + ".base_url: it leads somewhere else"
	case e.Retryable:
		return "check the network, network.proxy and " + entry + ".base_url, or try again later"
	}
	return "check key, model and base_url of " + entry
}
