package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"web/action"
	"web/engines"
	"web/engines/duckduckgo/ddgtest"
	"web/settings/operator"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Show the whole path without any network", Args: none,
		Long: `Starts a small search engine and a site on the loopback interface, then runs the real code against
them in a temporary directory: search, and the same search again with a threshold that it exceeds.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context()) },
	}
}

// demoResults is what the demonstration's engine knows.
func demoResults(site string) func(query string) []engines.Result {
	return func(query string) []engines.Result {
		if strings.TrimSpace(query) == "" {
			return nil
		}
		return []engines.Result{
			{Title: "The lighthouse of Aurel Bay", URL: site + "/lighthouse", Snippet: "Built in 1874, automated in 1991: the light, its keepers, and how to visit it."},
			{Title: "Tide tables, explained", URL: site + "/tides?month=all", Snippet: "How to read a tide table, with a worked example."},
			{Title: "Birds of the northern cliffs", URL: site + "/birds", Snippet: "Forty species, when they come and where to stand."},
		}
	}
}

func (a *app) demo(ctx context.Context) error {
	cannot := func(what string) error {
		return failure{"the demonstration could not " + what, "check that the loopback interface and the temporary directory can be used"}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return cannot("listen on the loopback interface")
	}
	host := listener.Addr().String()
	mux := http.NewServeMux()
	mux.Handle("/html/", ddgtest.Handler(demoResults("http://"+host)))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		_ = server.Close()
		<-served
	}()
	dir, err := os.MkdirTemp("", "web-demo-")
	if err != nil {
		return cannot("make a temporary directory")
	}
	defer os.RemoveAll(dir)

	w := wiring{workdir: dir, operator: func() (operator.Operator, error) {
		op, err := operator.Read(operator.Location{}, func(string) (string, bool) { return "", false })
		op.Engines[engines.DuckDuckGo] = operator.Engine{Configured: true, BaseURL: "http://" + host + "/html/", Custom: true}
		op.Network.Allow = []string{host}
		return op, err
	}}
	runner, closeRunner := a.runner(w)
	defer closeRunner()
	step := func(format string, args ...any) { fmt.Fprintf(a.Stdout, "\n== "+format+"\n\n", args...) }

	step("1. search: an engine on this machine stands in for DuckDuckGo")
	ans := runner.Do(ctx, action.Search, map[string]any{"query": "lighthouse visit"}, false)
	search, ok := ans.(*action.SearchAnswer)
	if !ok {
		return demoFailed(ans)
	}
	fmt.Fprint(a.Stdout, a.renderSearch(search))

	step("2. the same search where 100 characters are too many: kept whole, not cut")
	settingsFile := filepath.Join(dir, "settings", "web.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(settingsFile), 0o755), os.WriteFile(settingsFile, []byte(`{"schema_version":1,"max_chars":100}`), 0o644)); err != nil {
		return cannot("write its settings")
	}
	ans = runner.Do(ctx, action.Search, map[string]any{"query": "lighthouse visit"}, false)
	if search, ok = ans.(*action.SearchAnswer); !ok || search.ArtifactFields == nil {
		return demoFailed(ans)
	}
	fmt.Fprint(a.Stdout, a.renderSearch(search))
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(search.FilePath)))
	if err != nil {
		return cannot("read its artifact back")
	}
	fmt.Fprintf(a.Stdout, "read back: %d bytes, sha256 %s\n", len(data), search.SHA256)
	fmt.Fprintf(a.Stdout, "\nEverything ran through the real code; %s\n", "the temporary directory is removed again.")
	return nil
}

func demoFailed(ans action.Answer) error {
	if f, ok := ans.(*action.Failure); ok {
		return failure{fmt.Sprintf("the demonstration failed: %s (%s)", f.Message, f.Code), f.Advice}
	}
	return failure{"the demonstration did not show what it should", "report this as a defect of web"}
}
