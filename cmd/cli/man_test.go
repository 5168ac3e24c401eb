package cli

import (
	"context"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestManPage: every command and every flag that people can see is in the man page, and no other command.
func TestManPage(t *testing.T) {
	root := (&app{}).root()
	page := manPage(root)
	seen := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c != root && c.Runnable() && !c.HasSubCommands() && c.Name() != "help" {
			seen++
			if got := strings.Contains(page, `.SS "`+roff(c.CommandPath())+"\"\n"); got == c.Hidden {
				t.Errorf("%s: hidden %v, in the man page %v", c.CommandPath(), c.Hidden, got)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !strings.Contains(page, `\fB`+roff("--"+f.Name)) {
				t.Errorf("%s: --%s is not in the man page", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	if seen < 10 {
		t.Errorf("found only %d commands", seen)
	}
	for _, e := range environment() {
		for name := range strings.SplitSeq(e[0], ", ") {
			if !strings.Contains(page, roff(name)) {
				t.Errorf("%s is not in the man page", name)
			}
		}
	}
	for line := range strings.Lines(page) {
		macro, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !strings.Contains(" .TH .SH .SS .PP .TP .nf .fi ", " "+macro+" ") {
			t.Errorf("a formatter takes this line for a request: %q", line)
		}
	}
}

func TestRoff(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain", "plain"},
		{"--flag", `\-\-flag`},
		{`a\nb`, `a\enb`},
		{".TH at the beginning", `\&.TH at the beginning`},
		{"'quote", `\&'quote`},
		{"`web help`", "web help"},
	} {
		if got := roff(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
	m := &man{}
	m.line(".SS", `a "quoted" title`)
	if want := ".SS \"a \\(dqquoted\\(dq title\"\n"; m.b.String() != want {
		t.Errorf("got %q, want %q", m.b.String(), want)
	}
}

// TestExitStatuses: the man page explains exactly the statuses that there are.
func TestExitStatuses(t *testing.T) {
	want := map[int]bool{exitOK: true, exitFailed: true, exitUsage: true, exitInterrupted: true, exitTerminated: true}
	for _, e := range exitStatuses() {
		if !want[e.status] || e.meaning == "" {
			t.Errorf("status %d: %q", e.status, e.meaning)
		}
		delete(want, e.status)
	}
	if len(want) > 0 {
		t.Errorf("not explained: %v", want)
	}
}

func TestCommitOf(t *testing.T) {
	const rev = "0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct {
		name     string
		settings []debug.BuildSetting
		want     string
	}{
		{"outside a clone", []debug.BuildSetting{{Key: "GOOS", Value: "linux"}}, "commit unknown"},
		{"clean", []debug.BuildSetting{{Key: "vcs.revision", Value: rev}, {Key: "vcs.modified", Value: "false"}}, "commit 0123456789ab"},
		{"changed since", []debug.BuildSetting{{Key: "vcs.revision", Value: rev}, {Key: "vcs.modified", Value: "true"}}, "commit 0123456789ab, modified"},
		{"a short revision", []debug.BuildSetting{{Key: "vcs.revision", Value: "7"}}, "commit 7"},
	} {
		if got := commitOf(c.settings); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestCompletion: each shell's script calls back what gives the completions, and those know the parts of the
// reference and the shells, but not the commands that are hidden.
func TestCompletion(t *testing.T) {
	run := func(args ...string) (string, int) {
		var out, errs strings.Builder
		code := Main(context.Background(), Process{Args: args, Getenv: func(string) (string, bool) { return "", false }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs})
		return out.String(), code
	}
	for _, shell := range shells() {
		if out, code := run("completion", shell); code != exitOK || !strings.Contains(out, "__complete") || !strings.Contains(out, shell) {
			t.Errorf("%s: status %d, %d bytes", shell, code, len(out))
		}
	}
	for _, c := range []struct {
		args       []string
		want, none string
	}{
		{[]string{"completion", ""}, "powershell", ""},
		{[]string{"manual", "--reference", ""}, "threat-model", ""},
		{[]string{"schema", ""}, "browse", ""},
		{[]string{"help", ""}, "completion", "man\n"},
		{[]string{""}, "search", "man\n"},
	} {
		out, _ := run(append([]string{"__completeNoDesc"}, c.args...)...)
		if !strings.Contains(out, c.want+"\n") || c.none != "" && strings.Contains("\n"+out, "\n"+c.none) {
			t.Errorf("%q completes to\n%s", c.args, out)
		}
	}
}
