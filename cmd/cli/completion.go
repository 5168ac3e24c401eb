package cli

import (
	"errors"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// shells are those that `web completion` can write a script for.
func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// completionCommand stands in for cobra's own, which answers a shell that it does not know with its help and
// status 0.
func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print the completion script for " + strings.Join(shells(), ", "),
		Long: `Print the completion script for a shell. To load it in every new session:

  bash         web completion bash > ~/.local/share/bash-completion/completions/web
  zsh          web completion zsh > "${fpath[1]}/_web"
  fish         web completion fish > ~/.config/fish/completions/web.fish
  powershell   web completion powershell >> $PROFILE`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return shells(), cobra.ShellCompDirectiveNoFileComp
		},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells(), args[0]) {
				return usage{"completion takes one shell by its name", "name one of " + strings.Join(shells(), ", ")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := cmd.Root(), error(nil)
			switch args[0] {
			case "bash":
				err = root.GenBashCompletionV2(a.Stdout, true)
			case "zsh":
				err = root.GenZshCompletion(a.Stdout)
			case "fish":
				err = root.GenFishCompletion(a.Stdout, true)
			default:
				err = root.GenPowerShellCompletionWithDesc(a.Stdout)
			}
			if err != nil && !errors.Is(err, syscall.EPIPE) {
				return failure{"the completion script could not be written", "check where stdout leads"}
			}
			return nil
		},
	}
}
