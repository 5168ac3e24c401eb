// Package action holds the rules of web: one envelope in, one answer out.
//
// It reads the envelope, decides which error code a fault becomes, runs search, browse and manual over the
// engines, the page pipeline and the settings, and delivers every result inline or as an artifact. It must
// not know a process: files, clock, operator configuration and engines arrive in Deps, and what it returns
// is written by a door in cmd. Start at Runner.Call.
package action

import (
	"context"
	"os"
	"sync"
	"time"

	"web/browse"
	"web/browse/refs"
	"web/browse/snapshots"
	"web/engines"
	"web/settings/operator"
	"web/spill"
	"web/spill/confined"
)

// Deps is what actions reach the world through.
type Deps struct {
	// Root is the working directory; Workdir is its absolute path, shown as manual_path and nowhere else.
	Root    *os.Root
	Workdir string
	Now     func() time.Time
	// Operator reads the operator's configuration. It is called at most once per Runner.
	Operator func() (operator.Operator, error)
	// Builders make the engines that this program has, by name, each only when it is needed. An engine that is
	// also a Summarizer can be asked for summaries.
	Builders map[string]Builder
	// Guide is the embedded manual.
	Guide func() string
	// Fetcher makes what gets pages, behind the address guard, only when a call needs it.
	Fetcher func(op operator.Operator) (browse.Fetcher, error)
	// Inline is for a caller that shows the whole result itself, as a person's command does: nothing is
	// written to a file for its length.
	Inline bool
}

// Builder makes a client for one engine. It must not touch the network.
type Builder func(op operator.Operator, e operator.Engine) (engines.Engine, error)

// Runner runs calls for one working directory.
type Runner struct {
	deps     Deps
	operator func() (operator.Operator, error)
}

// NewRunner makes a Runner. Nothing is read until a call needs it.
func NewRunner(deps Deps) *Runner {
	return &Runner{deps: deps, operator: sync.OnceValues(deps.Operator)}
}

// Call reads one envelope and answers it.
func (r *Runner) Call(ctx context.Context, data []byte) Answer {
	e, f := Decode(data)
	return r.answer(ctx, e, f)
}

// Do answers an action asked for inside the program; input is checked like an envelope's.
func (r *Runner) Do(ctx context.Context, name Name, input map[string]any, summarize bool) Answer {
	e, f := check(map[string]any{"action": string(name), "input": input, "summarize": summarize})
	return r.answer(ctx, e, f)
}

// Refuse answers a call that never became an envelope.
func (r *Runner) Refuse(code Code, message, advice string) Answer {
	f := fail(Unknown, code, message, advice)
	f.Setting = r.noRead()
	return f
}

func (r *Runner) answer(ctx context.Context, e *Envelope, f *Failure) (a Answer) {
	if f != nil {
		f.Setting = r.noRead()
		return f
	}
	// A defect must not look like a crash to a caller that parses the answer.
	defer func() {
		if recover() != nil {
			f := internal(e.Action)
			f.Setting = r.noRead()
			a = f
		}
	}()
	if r.deps.Root == nil && e.Action != Manual {
		f := fail(e.Action, WorkdirInvalid, "the working directory cannot be opened", "name an existing directory with --workdir or WEB_WORKDIR")
		f.Setting = r.noRead()
		return f
	}
	switch e.Action {
	case Search:
		a = r.search(ctx, e)
	case Browse:
		a = r.browse(ctx, e)
	default:
		a = r.manual()
	}
	if e.Summarize {
		return r.summarize(ctx, e, a)
	}
	return a
}

// StateDir is where refs and snapshots live, relative to the working directory.
const StateDir = "tmp/web"

func (r *Runner) openState(create bool) (*os.Root, error) {
	return confined.OpenDir(r.deps.Root, StateDir, create)
}

func (r *Runner) searchRefs() refs.Table { return refs.Table{Open: r.openState, Name: "refs-search"} }

func (r *Runner) pageRefs() refs.Table { return refs.Table{Open: r.openState, Name: "refs-page"} }

func (r *Runner) snapshots() snapshots.Store {
	return snapshots.Store{Open: r.openState, Now: r.deps.Now}
}

func (r *Runner) store() spill.Store { return spill.Store{Root: r.deps.Root, Now: r.deps.Now} }

// timeLayout is the wire's form of a time: UTC, seconds, a numeric offset.
const timeLayout = "2006-01-02T15:04:05+00:00"

func (r *Runner) now() string { return r.deps.Now().UTC().Format(timeLayout) }
