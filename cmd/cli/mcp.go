package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"web/cmd/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	var tools []string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the actions as tools to an MCP host, on stdin and stdout", Args: none,
		Long: `Serves the actions as tools to a host that speaks the Model Context Protocol, on stdin and stdout: a host
starts it as a process and ends it by closing its stdin. People have no use for it on a terminal.`,
		Example: "  web mcp --workdir /srv/agent\n  web mcp --tools web_search,web_fetch",
		RunE: func(cmd *cobra.Command, _ []string) error {
			known := mcp.Tools()
			if cmd.Flags().Changed("tools") && len(tools) == 0 || slices.ContainsFunc(tools, func(name string) bool { return !slices.Contains(known, name) }) {
				return usage{"--tools names a tool that there is not", "name some of " + strings.Join(known, ", ") + ", separated by commas, or leave it out for all"}
			}
			if a.StdinTerminal && !a.quiet {
				fmt.Fprintln(a.Stderr, "web: waiting for an MCP host on stdin; Ctrl-D ends it")
			}
			err := mcp.Serve(cmd.Context(), mcp.Config{
				In: a.Stdin, Out: a.Stdout, Version: versionText(), Tools: tools, Now: a.Now,
				Caller: func() (mcp.Caller, func()) { return a.runner(wiring{}) },
				Root:   func() (*os.Root, error) { return openRoot(a.dir()) },
			})
			if err != nil && !errors.Is(err, syscall.EPIPE) {
				return failure{"the MCP server ended before its host did", "check where stdout leads"}
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&tools, "tools", nil, "the `tools` to offer, separated by commas (default all)")
	return cmd
}
