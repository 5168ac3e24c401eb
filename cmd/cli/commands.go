package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"web/action"
	"web/action/schema"
	"web/browse/refs"
	"web/manual"
	"web/settings"
	"web/spill"
)

func (a *app) searchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "search QUERY...", Short: "Search the web",
		Example: "  web search golang context deadline\n  web search --json 'site:go.dev \"context\"'",
		Args:    atLeastOne("a query", "type what to search for: web search \"...\""),
		RunE: func(cmd *cobra.Command, args []string) error {
			input := map[string]any{"query": strings.Join(args, " ")}
			return a.ask(cmd.Context(), action.Search, input, wiring{}, a.renderSearch)
		},
	}
	a.answerFlags(cmd)
	return cmd
}

func atLeastOne(what, hint string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage{what + " is missing", hint}
		}
		return nil
	}
}

func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage{"`" + cmd.CommandPath() + "` takes no arguments", helpHint(cmd)}
	}
	return nil
}

func (a *app) manualCommand() *cobra.Command {
	var install, reference string
	cmd := &cobra.Command{
		Use: "manual", Short: "Print the manual or a part of the reference, or install them for agents",
		Example: "  web manual --reference errors\n  web manual --install\n  web manual --install ~/.claude/skills",
		Args: func(cmd *cobra.Command, args []string) error {
			// --install without "=" takes no value of its own, so that it can stand alone.
			if cmd.Flags().Changed("install") && install == installHere && len(args) == 1 {
				install = args[0]
				return nil
			}
			return none(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch installing, referring := cmd.Flags().Changed("install"), cmd.Flags().Changed("reference"); {
			case installing && referring:
				return usage{"--install and --reference do not go together", "leave one of them out"}
			case installing && install == "":
				return usage{"--install has an empty directory", "name the directory that holds your host's skills, or leave the value out"}
			case installing:
				return a.install(install)
			case referring && (a.json || a.sum):
				return usage{"--reference takes no --json or --summarize", "leave them out"}
			case referring:
				return a.printReference(reference)
			}
			if a.json || a.sum {
				return a.ask(cmd.Context(), action.Manual, map[string]any{}, wiring{}, nil)
			}
			fmt.Fprint(a.Stdout, manual.Body())
			return nil
		},
	}
	a.answerFlags(cmd)
	cmd.Flags().StringVar(&install, "install", "", "write the manual as a skill into the skills `directory` of an agent host; without one, to "+action.InstalledGuide+" in the working directory")
	cmd.Flags().Lookup("install").NoOptDefVal = installHere
	cmd.Flags().StringVar(&reference, "reference", "", "print one part of the reference by its `name`: "+strings.Join(manual.References(), ", "))
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var missing *pflag.ValueRequiredError
		if errors.As(err, &missing) && missing.GetSpecifiedName() == "reference" {
			return noSuchReference("--reference needs a name")
		}
		return flagMistake(cmd, err)
	})
	_ = cmd.RegisterFlagCompletionFunc("reference", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return manual.References(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func (a *app) openWorkdir() (*os.Root, error) {
	root, err := openRoot(a.dir())
	if err != nil {
		return nil, failure{"the working directory cannot be opened", "name an existing directory with --workdir or WEB_WORKDIR"}
	}
	return root, nil
}

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema [ACTION]", Short: "Print the JSON Schema of the envelope, or of one action's input",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return schema.Actions(), cobra.ShellCompDirectiveNoFileComp
		},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && schema.Input(args[0]) == nil {
				return usage{"schema takes at most one action, by its name", "name one of " + strings.Join(schema.Actions(), ", ")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			out := schema.Published()
			if len(args) == 1 {
				out = schema.PublishedInput(args[0])
			}
			_, _ = a.Stdout.Write(out)
			return nil
		},
	}
}

func (a *app) initCommand() *cobra.Command {
	maxChars := settings.DefaultMaxChars
	cmd := &cobra.Command{
		Use: "init", Short: "Create the settings files and install the manual; never overwrites", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := a.openWorkdir()
			if err != nil {
				return err
			}
			defer root.Close()
			done, err := settings.Init(a.dir(), maxChars)
			if errors.Is(err, settings.ErrMaxChars) {
				return usage{"--max-chars must be an integer in 1..100000", "set it below the point where your host cuts tool output, for example 20000"}
			}
			if err != nil {
				return failure{"the settings could not be created", "check the working directory; `web doctor` shows the cause"}
			}
			failed := false
			for _, d := range done {
				line := fmt.Sprintf("%-9s %s", d.Outcome, d.File)
				if d.Outcome == settings.Kept && d.File == settings.OutputFile && cmd.Flags().Changed("max-chars") {
					line += " (its max_chars was not changed: edit the file)"
				}
				if d.Outcome == settings.Failed {
					failed = true
					line += " (" + d.Reason + ")"
				}
				fmt.Fprintln(a.Stdout, line)
			}
			outcome := string(settings.Kept)
			switch info, err := root.Stat(filepath.FromSlash(action.InstalledGuide)); {
			case err != nil:
				if outcome, err = a.installManual(); err != nil {
					return err
				}
			case !info.Mode().IsRegular():
				outcome, failed = string(settings.Failed), true
			}
			fmt.Fprintf(a.Stdout, "%-9s %s\n", outcome, action.InstalledGuide)
			if failed {
				return failure{"not everything could be created", "mend what is named above and run `web init` again"}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&maxChars, "max-chars", maxChars, "delivery threshold in `characters`, for settings/web.json")
	return cmd
}

func (a *app) artifactsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "artifacts", Short: "List or prune the results that were kept in files",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	withStore := func(run func(spill.Store) error) error {
		root, err := a.openWorkdir()
		if err != nil {
			return err
		}
		defer root.Close()
		return run(spill.Store{Root: root, Now: a.Now})
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the kept results, oldest first", Args: none,
		RunE: func(*cobra.Command, []string) error {
			return withStore(func(s spill.Store) error {
				entries, err := s.List()
				if err != nil {
					return failure{"the artifacts cannot be listed", "make " + spill.Dir + " in the working directory a readable directory that is no link"}
				}
				for _, e := range entries {
					fmt.Fprintf(a.Stdout, "%s  %10d  %s\n", e.ModTime.UTC().Format(time.RFC3339), e.Bytes, e.Path)
				}
				return nil
			})
		},
	})
	var age time.Duration
	prune := &cobra.Command{
		Use: "prune --older-than AGE", Short: "Remove kept results older than AGE", Args: none,
		Example: "  web artifacts prune --older-than 168h",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("older-than") || age < 0 {
				return usage{"--older-than is missing or negative", "say how old, for example --older-than 168h for a week"}
			}
			return withStore(func(s spill.Store) error {
				removed, err := s.Prune(age)
				for _, e := range removed {
					fmt.Fprintf(a.Stdout, "removed %s\n", e.Path)
				}
				if err != nil {
					return failure{"not every artifact could be removed", "check the permissions of " + spill.Dir}
				}
				return nil
			})
		},
	}
	prune.Flags().DurationVar(&age, "older-than", 0, "remove what is older than this `age` (for example 168h)")
	cmd.AddCommand(prune)
	return cmd
}

// version is set by the linker for a release; otherwise the build says what it was made from.
var version string

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, the commit it was built from, and Go's version", Args: none,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(a.Stdout, "web %s (%s) %s %s/%s\n", versionText(), commitText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}

func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	text := "devel"
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			text += "-" + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			text += "-modified"
		}
	}
	return text
}

// commitText says from which commit the program was built, and whether the files were those of that commit.
func commitText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "commit unknown"
	}
	return commitOf(info.Settings)
}

func commitOf(settings []debug.BuildSetting) string {
	commit, modified := "", ""
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			if s.Value == "true" {
				modified = ", modified"
			}
		}
	}
	if commit == "" {
		return "commit unknown" // built outside a clone, or without Go being told to look
	}
	return "commit " + commit + modified
}

func (a *app) browseCommand() *cobra.Command {
	var full, links bool
	cmd := &cobra.Command{
		Use: "browse URL|REF", Short: "Read one page as Markdown",
		Example: "  web browse https://go.dev/doc/effective_go\n  web browse ln_fc60963ff0ac20db",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage{"browse takes one URL or ref", "give one URL, or a ref (ln_...) of an earlier search"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			input := map[string]any{"url": args[0]}
			switch {
			case strings.HasPrefix(args[0], refs.Prefix) && !strings.Contains(args[0], ":"):
				input = map[string]any{"link_ref": args[0]}
			case !strings.Contains(args[0], "://"):
				input["url"] = "https://" + args[0] // as a browser's address line does
			}
			if full {
				input["extract"] = "full"
			}
			return a.ask(cmd.Context(), action.Browse, input, wiring{}, func(ans action.Answer) string {
				return a.renderPage(ans, links)
			})
		},
	}
	a.answerFlags(cmd)
	cmd.Flags().BoolVar(&full, "full", false, "everything visible, boilerplate included")
	cmd.Flags().BoolVar(&links, "links", false, "also list the links with their refs")
	return cmd
}
