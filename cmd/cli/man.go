package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"web/action"
	"web/settings"
	"web/settings/operator"
	"web/spill"
	"web/spill/confined"
)

// manName is the file of the man page.
const manName = "web.1"

// manCommand is for those who package web. The page is made from the commands themselves; cobra's own generator
// would bring a Markdown reader and a YAML writer into every process.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man [DIR]", Short: "Print the man page, or write it as " + manName + " into DIR", Hidden: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && args[0] == "" {
				return usage{"man takes at most one directory", helpHint(cmd)}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			page := manPage(cmd.Root())
			if len(args) == 0 {
				if _, err := io.WriteString(a.Stdout, page); err != nil && !errors.Is(err, syscall.EPIPE) {
					return failure{"the man page could not be written to stdout", "check where stdout leads"}
				}
				return nil
			}
			if err := a.writeMan(args[0], page); err != nil {
				return failure{"the man page could not be written", "name a directory that can be written"}
			}
			fmt.Fprintf(a.Stdout, "written %s\n", manName)
			return nil
		},
	}
}

func (a *app) writeMan(dir, page string) error {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.Dir, dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := openRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return confined.Replace(root, manName, []byte(page))
}

// manPage is the whole page in the macros of man(7). It holds no date, so that one program makes one page.
func manPage(root *cobra.Command) string {
	m := &man{}
	m.line(".TH", "WEB", "1", "", "web "+versionText(), "")
	m.section("NAME")
	m.text("web - " + lowerFirst(root.Short))
	m.section("SYNOPSIS")
	m.synopsis("web [flags] < ENVELOPE")
	for _, c := range manCommands(root) {
		m.synopsis(c.UseLine())
	}
	m.section("DESCRIPTION")
	m.prose(root.Long)
	m.section("COMMANDS")
	for _, c := range manCommands(root) {
		m.line(".SS", c.CommandPath())
		m.synopsis(c.UseLine())
		if c.Long != "" {
			m.prose(c.Long)
		} else {
			m.line(".PP")
			m.text(c.Short + ".")
		}
		m.flags(c.LocalNonPersistentFlags())
		if c.Example != "" {
			m.line(".PP")
			m.literal(c.Example)
		}
	}
	m.section("COMMON FLAGS")
	m.flags(root.PersistentFlags())
	m.section("ENVIRONMENT")
	for _, e := range environment() {
		m.entry(e[0], e[1])
	}
	m.section("FILES")
	for _, f := range [][2]string{
		{"$XDG_CONFIG_HOME/web/operator.json", "Keys, limits and permissions. See web manual --reference operator."},
		{settings.OutputFile, "In the working directory: the delivery threshold. See web manual --reference settings."},
		{settings.SearchFile, "In the working directory: the search engine."},
		{action.InstalledGuide, "In the working directory: the installed manual."},
		{spill.Dir, "In the working directory: results that were too long to return, whole. See web artifacts."},
		{action.StateDir, "In the working directory: refs and snapshots. It may be removed at any time."},
	} {
		m.entry(f[0], f[1])
	}
	m.section("EXIT STATUS")
	for _, e := range exitStatuses() {
		m.entry(fmt.Sprint(e.status), e.meaning)
	}
	m.section("SEE ALSO")
	m.text("web manual prints the manual, web manual --reference NAME the reference, web schema the JSON Schema of the envelope.")
	return m.b.String()
}

// environment are the variables that are read, and what for.
func environment() [][2]string {
	return [][2]string{
		{"WEB_WORKDIR", "The working directory, where --workdir does not name it."},
		{operator.EnvConfig, "The operator file, where --config does not name it."},
		{"XDG_CONFIG_HOME", "Where web/operator.json is looked for, if nobody names it."},
		{operator.EnvOpenAIKey + ", " + operator.EnvAnthropicKey + ", " + operator.EnvGeminiKey + ", " + operator.EnvTavilyKey,
			"The keys of the engines, where the operator file does not hold them."},
		{operator.EnvLLMProvider + ", " + operator.EnvLLMBaseURL, "The provider on which the caller itself runs, where the operator file does not say."},
		{"NO_COLOR", "Switches colour off."},
	}
}

// exitMeaning is one exit status for people.
type exitMeaning struct {
	status  int
	meaning string
}

func exitStatuses() []exitMeaning {
	return []exitMeaning{
		{exitOK, "Success: status ok, degraded or summary_unavailable."},
		{exitFailed, "Status failed, wrong values in a well-formed envelope included."},
		{exitUsage, "Wrong use: bad flags or arguments, or an envelope that is not valid; the JSON failure is printed all the same."},
		{exitInterrupted, "Ended by SIGINT."},
		{exitTerminated, "Ended by SIGTERM."},
	}
}

// manCommands are the commands that do something, in the order of their names, each before its own commands.
func manCommands(root *cobra.Command) (out []*cobra.Command) {
	for _, c := range root.Commands() {
		if c.Hidden || c.Name() == "help" {
			continue
		}
		if !c.HasSubCommands() {
			out = append(out, c)
		}
		out = append(out, manCommands(c)...)
	}
	return out
}

// man writes the macros of man(7).
type man struct{ b strings.Builder }

// roff makes text that no formatter takes for a request: backslashes, hyphens that must stay ASCII, and a dot
// or quote at the beginning of a line.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", "").Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

func (m *man) line(macro string, args ...string) {
	m.b.WriteString(macro)
	for _, a := range args {
		m.b.WriteString(` "` + strings.ReplaceAll(roff(a), `"`, `\(dq`) + `"`)
	}
	m.b.WriteByte('\n')
}

func (m *man) section(title string) { m.line(".SH", title) }

func (m *man) text(s string) {
	for line := range strings.Lines(s) {
		m.b.WriteString(roff(strings.TrimSpace(line)) + "\n")
	}
}

func (m *man) synopsis(s string) {
	m.b.WriteString(".PP\n\\fB" + roff(s) + "\\fR\n")
}

func (m *man) literal(s string) {
	m.b.WriteString(".nf\n")
	for line := range strings.Lines(s) {
		m.b.WriteString(roff(strings.TrimRight(line, "\n")) + "\n")
	}
	m.b.WriteString(".fi\n")
}

// prose writes paragraphs; one that is indented is an example and keeps its lines.
func (m *man) prose(s string) {
	for _, p := range strings.Split(strings.Trim(s, "\n"), "\n\n") {
		m.line(".PP")
		if strings.HasPrefix(p, "  ") {
			m.literal(p)
		} else {
			m.text(p)
		}
	}
}

func (m *man) entry(term, what string) {
	m.b.WriteString(".TP\n\\fB" + roff(term) + "\\fR\n")
	m.text(what)
}

func (m *man) flags(fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, what := pflag.UnquoteUsage(f)
		term := "--" + f.Name
		switch {
		case value == "":
		case f.NoOptDefVal != "":
			term += " [" + value + "]"
		default:
			term += " " + value
		}
		m.entry(term, upperFirst(what)+".")
	})
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
