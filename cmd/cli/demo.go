package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
them in a temporary directory: search, browse the first result by its ref, browse it again where it exceeds
the threshold, and read the file back.`,
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
	mux.HandleFunc("/lighthouse", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(demoPage))
	})
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

	step("2. browse: the first result, by its ref, as Markdown")
	ref := (*search.Results)[0].LinkRef
	if ref == nil {
		return demoFailed(ans)
	}
	ans = runner.Do(ctx, action.Browse, map[string]any{"link_ref": *ref}, false)
	page, ok := ans.(*action.BrowseAnswer)
	if !ok {
		return demoFailed(ans)
	}
	fmt.Fprint(a.Stdout, a.renderPage(page, true))

	step("3. spill: the same page where 200 characters are too many is kept whole, not cut")
	ans = runner.Do(ctx, action.Browse, map[string]any{"cursor": page.SnapshotID, "max_chars": json.Number("200")}, false)
	spilled, ok := ans.(*action.BrowseAnswer)
	if !ok || spilled.ArtifactFields == nil {
		return demoFailed(ans)
	}
	fmt.Fprintf(a.Stdout, "delivery    %s (no second fetch: the snapshot %s was used)\n", spilled.Delivery.Kind, spilled.SnapshotID)
	fmt.Fprintf(a.Stdout, "file_path   %s\n", spilled.FilePath)
	for _, o := range spilled.Outline {
		fmt.Fprintf(a.Stdout, "outline     line %3d  %s %s\n", o.Line, strings.Repeat("#", o.Level), o.Text)
	}

	step("4. read back")
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(spilled.FilePath)))
	if err != nil {
		return cannot("read its artifact back")
	}
	sum := sha256.Sum256(data)
	if hex.EncodeToString(sum[:]) != spilled.SHA256 || string(data) != page.Markdown() {
		return failure{"the artifact differs from the page", "report this as a defect of web"}
	}
	fmt.Fprintf(a.Stdout, "%d characters, sha256 as announced, the same text as in step 2\n", spilled.ContentChars)
	fmt.Fprintln(a.Stdout, "\nEverything ran through the real code; the temporary directory is removed again.")
	return nil
}

// demoPage is the page that the demonstration reads, with what a reader has to leave out.
const demoPage = `<!doctype html>
<html lang="en"><head><title>The lighthouse of Aurel Bay - Harbour notes</title>
<meta name="author" content="M. Keeper"><meta property="article:published_time" content="2026-02-01"></head>
<body>
<nav><a href="/">Home</a> <a href="/birds">Birds</a> <a href="/tides">Tides</a></nav>
<div class="cookie-banner">We value your privacy. <button>Accept all</button></div>
<main><article>
<h1>The lighthouse of Aurel Bay</h1>
<p>The light was built in 1874 on the rock that had wrecked eleven ships in the ten winters before, and it has burned
every night since, but for the four years in which the <a href="/war">harbour was dark</a>.</p>
<h2>How to visit</h2>
<p>The tower is open from May to September. Bring shoes with a sole that holds on wet stone:</p>
<ul><li>the causeway is dry for two hours around <em>low water</em>,<ul><li>see the <a href="/tides?month=all">tide tables</a>;</li></ul></li>
<li>there are 142 steps, and no rail on the last twenty.</li></ul>
<h2>The light</h2>
<table><tr><th>Period</th><th>Source</th><th>Range</th></tr>
<tr><td>1874-1921</td><td>paraffin</td><td>14 miles</td></tr><tr><td>1921-1991</td><td>electric arc</td><td>21 miles</td></tr></table>
<p>Its signal, as the almanac writes it:</p>
<pre><code class="language-text">Fl(2) W 10s
    0.5 on, 1.5 off, 0.5 on, 7.5 off</code></pre>
</article></main>
<footer>Harbour notes. All rights reserved.</footer>
</body></html>`

func demoFailed(ans action.Answer) error {
	if f, ok := ans.(*action.Failure); ok {
		return failure{fmt.Sprintf("the demonstration failed: %s (%s)", f.Message, f.Code), f.Advice}
	}
	return failure{"the demonstration did not show what it should", "report this as a defect of web"}
}
