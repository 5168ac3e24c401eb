// Package cli is the door through which people and programs call web as a process.
//
// It turns arguments and stdin into one action call and the answer into bytes and an exit status. It is the
// only room that knows a process; rules, error codes and limits belong to package action. Start at Main.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"web/action"
	"web/settings"
	"web/settings/operator"
)

// Process is what a process has: everything that the commands read or write comes through here.
type Process struct {
	Args   []string
	Getenv operator.Getenv
	Dir    string // the current directory, absolute
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// StdinTerminal says that nobody pipes an envelope.
	StdinTerminal bool
	// Width is the width of the terminal on stdout, in columns; 0 when stdout is not a terminal.
	Width int
	// StderrTerminal says that somebody watches.
	StderrTerminal bool
	Now            func() time.Time
}

// Run runs the real process and gives its exit status.
func Run() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := signalled{<-signals}
		cancel(s)
		// Whatever holds the call up (a full pipe, a lock, a device) does not hold the process for longer than
		// this; a second signal ends it at once.
		select {
		case <-signals:
		case <-time.After(signalGrace):
		}
		os.Exit(s.status())
	}()
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // the working directory is then opened by name, and refused in words if that fails
	}
	p := Process{
		Args: os.Args[1:], Getenv: os.LookupEnv, Dir: dir, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdinTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		StderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Now:            time.Now,
	}
	if term.IsTerminal(int(os.Stdout.Fd())) {
		if p.Width, _, err = term.GetSize(int(os.Stdout.Fd())); err != nil || p.Width < minWidth {
			p.Width = pipeWidth
		}
	}
	return Main(ctx, p)
}

// output remembers that something could not be written, for the many places that print a line.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// signalGrace is how long a cancelled call may take to clean up and to answer.
const signalGrace = 2 * time.Second

// app is one call of the program.
type app struct {
	Process
	workdir, config  string
	json, quiet, sum bool
}

// Main runs one command and gives the exit status.
func Main(ctx context.Context, p Process) int {
	out := &output{w: p.Stdout}
	p.Stdout = out
	a := &app{Process: p}
	root := a.root()
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	err := root.ExecuteContext(ctx)
	var (
		done answered
		use  usage
		bad  failure
	)
	code, signalled := interrupted(ctx)
	switch {
	case err == nil && signalled: // whatever was still shown, somebody ended it
		return code
	case err == nil && out.err != nil && !errors.Is(out.err, syscall.EPIPE):
		a.complain("the output could not be written", "check where stdout leads")
		return exitFailed
	case err == nil:
		return exitOK
	case errors.As(err, &done):
		return int(done)
	case errors.As(err, &use):
		a.complain(use.message, use.hint)
		return exitUsage
	case errors.As(err, &bad):
		a.complain(bad.message, bad.hint)
		if signalled {
			return code
		}
		return exitFailed
	}
	// What is left comes from cobra: unknown commands, wrong numbers of arguments.
	a.complain(firstLine(err.Error()), "see `web help`")
	return exitUsage
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "web",
		Short: "Search the public web and read pages, for agents and people",
		Long: `web reads ONE JSON envelope {action, input, reasoning, summarize} from stdin and writes ONE JSON object:

  echo '{"action":"search","input":{"query":"go context"},"reasoning":"docs"}' | web

People type the commands below. ` + "`web manual`" + ` explains everything.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage{"unknown command", "see `web help`; to search, type web search \"...\""}
			}
			return nil
		},
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.StdinTerminal {
				return cmd.Help()
			}
			return a.envelope(cmd.Context())
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagMistake(cmd, err) })
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND]", Short: "Help about a command",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, d cobra.ShellCompDirective) {
			if len(args) == 0 {
				for _, c := range root.Commands() {
					if !c.Hidden {
						names = append(names, c.Name())
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usage{"there is no such command", "see `web help` for the list"}
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	})
	f := root.PersistentFlags()
	f.StringVar(&a.workdir, "workdir", "", "working `directory`: settings, files and refs (env WEB_WORKDIR, default the current directory)")
	f.StringVar(&a.config, "config", "", "operator `file` (env WEB_CONFIG, default $XDG_CONFIG_HOME/web/operator.json)")
	f.BoolVar(&a.quiet, "quiet", false, "no progress and no hints on stderr")
	root.AddCommand(a.searchCommand(), a.browseCommand(), a.manualCommand(), a.schemaCommand(), a.initCommand(),
		a.doctorCommand(), a.demoCommand(), a.artifactsCommand(), a.mcpCommand(),
		a.versionCommand(), a.completionCommand(), a.manCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

// flagMistake words what cobra found wrong with the flags; its own words for values are those of Go's parsers.
func flagMistake(cmd *cobra.Command, err error) error {
	hint := helpHint(cmd)
	var unknown interface{ GetSpecifiedName() string }
	if errors.As(err, &unknown) && unknown.GetSpecifiedName() == "engine" {
		hint = "the engine is chosen in " + settings.SearchFile + " of the working directory, and only there; `web doctor` lists the engines"
	}
	var value interface{ GetValue() string }
	if !errors.As(err, &value) {
		return usage{firstLine(err.Error()), hint}
	}
	_, name, _ := strings.Cut(err.Error(), `for "--`)
	name, _, _ = strings.Cut(name, `"`)
	want := "another value"
	if f := cmd.Flag(name); f != nil {
		switch f.Value.Type() {
		case "int":
			want = "a whole number"
		case "duration":
			want = "a time with its unit, such as 90m or 168h"
		case "bool":
			want = "true or false"
		}
	}
	return usage{"--" + name + " takes " + want, hint}
}

func helpHint(cmd *cobra.Command) string {
	return "see `" + strings.Replace(cmd.CommandPath(), "web", "web help", 1) + "`"
}

// answerFlags adds what all commands have that print an action's answer.
func (a *app) answerFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print exactly what the envelope would have returned")
	cmd.Flags().BoolVar(&a.sum, "summarize", false, "print a summary; the raw result is kept in a file")
}

// envelope is `web` without a command.
func (a *app) envelope(ctx context.Context) error {
	type input struct {
		data []byte
		err  error
	}
	// A writer that never closes its end must not outlast a signal.
	read := make(chan input, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(a.Stdin, action.MaxEnvelopeBytes+1))
		read <- input{data, err}
	}()
	var in input
	select {
	case in = <-read:
	case <-ctx.Done():
		in.err = ctx.Err()
	}
	runner, closeRunner := a.runner(wiring{})
	defer closeRunner()
	ans := runner.Call(ctx, in.data)
	if in.err != nil {
		ans = runner.Refuse(action.EnvelopeInvalid, "the envelope could not be read from stdin", "pipe one JSON object to web")
	}
	return a.finish(ctx, ans)
}

// finish writes an answer as JSON and ends the command with its status.
func (a *app) finish(ctx context.Context, ans action.Answer) error {
	if _, err := a.Stdout.Write(action.Marshal(ans)); err != nil && !errors.Is(err, syscall.EPIPE) {
		return failure{"the answer could not be written to stdout", "check where stdout leads"}
	}
	return answered(statusOf(ctx, ans))
}

// ask runs one action for a people's command and shows its answer with render, or as JSON.
func (a *app) ask(ctx context.Context, name action.Name, input map[string]any, w wiring, render func(action.Answer) string) error {
	w.inline = !a.json
	runner, closeRunner := a.runner(w)
	defer closeRunner()
	stop := a.progress(string(name))
	ans := runner.Do(ctx, name, input, a.sum)
	stop()
	if a.json {
		return a.finish(ctx, ans)
	}
	if f, failed := ans.(*action.Failure); failed {
		a.complain(fmt.Sprintf("%s (%s)", f.Message, f.Code), f.Advice)
		return answered(statusOf(ctx, ans))
	}
	text := ""
	if s, summarized := ans.(*action.SummaryAnswer); summarized {
		text = renderSummary(s)
	} else {
		text = render(ans)
	}
	if _, err := io.WriteString(a.Stdout, text); err != nil && !errors.Is(err, syscall.EPIPE) {
		return failure{"the answer could not be written to stdout", "check where stdout leads"}
	}
	return answered(statusOf(ctx, ans))
}

// progressDelay is how long a call may take before a terminal is told what it waits for.
const progressDelay = 500 * time.Millisecond

// progress shows one line on a terminal while a slow call runs. The returned function takes it away.
func (a *app) progress(what string) (stop func()) {
	if !a.StderrTerminal || a.quiet {
		return func() {}
	}
	end, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-end:
		case <-time.After(progressDelay):
			fmt.Fprintf(a.Stderr, "web: %s is under way ...", what)
			<-end
			fmt.Fprint(a.Stderr, "\r\x1b[K")
		}
	}()
	return func() { close(end); <-gone }
}

// complain writes what went wrong and what to do about it, for people.
func (a *app) complain(message, hint string) {
	fmt.Fprintf(a.Stderr, "error: %s\n", printable(message))
	if hint != "" && !a.quiet {
		fmt.Fprintf(a.Stderr, "hint: %s\n", printable(hint))
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
