package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"web/action"
	"web/browse"
	"web/browse/fault"
	"web/browse/fetch"
	"web/browse/guard"
	"web/engines"
	"web/engines/anthropic"
	"web/engines/duckduckgo"
	"web/engines/gemini"
	"web/engines/openai"
	"web/engines/tavily"
	"web/manual"
	"web/settings/operator"
	"web/settings/safefile"
)

// wiring replaces parts of the program, for the demonstration; its zero value is the real thing.
type wiring struct {
	workdir  string
	operator func() (operator.Operator, error)
	// inline: the command shows results whole, however long.
	inline bool
}

const (
	connectTimeout = 10 * time.Second
	tlsTimeout     = 10 * time.Second
	maxHeaderBytes = 64 << 10
	maxCABytes     = 4 << 20
)

// dir gives the absolute path of the working directory.
func (a *app) dir() string {
	dir := a.workdir
	if dir == "" {
		dir, _ = a.Getenv("WEB_WORKDIR")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.Dir, dir)
	}
	return dir
}

// openRoot looks before it opens: a pipe in a directory's place would be waited for.
func openRoot(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errors.New("not a directory")
	}
	return os.OpenRoot(dir)
}

func (a *app) readOperator() (operator.Operator, error) {
	return operator.Read(operator.Locate(a.config, a.Getenv), a.Getenv)
}

// runner joins the rooms. Nothing is read or opened here but the working directory.
func (a *app) runner(w wiring) (*action.Runner, func()) {
	if w.workdir == "" {
		w.workdir = a.dir()
	}
	if w.operator == nil {
		w.operator = a.readOperator
	}
	closeRoot := func() {}
	root, err := openRoot(w.workdir)
	if err == nil {
		closeRoot = func() { _ = root.Close() }
	}
	return action.NewRunner(action.Deps{
		Root: root, Workdir: w.workdir, Now: a.Now, Operator: w.operator, Guide: manual.Skill,
		Builders: builders(), Fetcher: fetcher, Inline: w.inline,
	}), closeRoot
}

// builders are the engines that this program has. What an engine may know of the operator's configuration is
// its own entry; addresses come from there only.
func builders() map[string]action.Builder {
	build := func(make func(*http.Client, operator.Engine) engines.Engine) action.Builder {
		return func(op operator.Operator, e operator.Engine) (engines.Engine, error) {
			client, err := engineClient(op)
			if err != nil {
				return nil, err
			}
			return make(client, e), nil
		}
	}
	return map[string]action.Builder{
		engines.DuckDuckGo: build(func(c *http.Client, e operator.Engine) engines.Engine {
			return duckduckgo.New(duckduckgo.Config{Client: c, BaseURL: e.BaseURL})
		}),
		engines.OpenAI: build(func(c *http.Client, e operator.Engine) engines.Engine {
			return openai.New(openai.Config{Client: c, Key: e.Key.Reveal(), Model: e.Model, BaseURL: e.BaseURL})
		}),
		engines.Anthropic: build(func(c *http.Client, e operator.Engine) engines.Engine {
			return anthropic.New(anthropic.Config{Client: c, Key: e.Key.Reveal(), Model: e.Model, BaseURL: e.BaseURL})
		}),
		engines.Gemini: build(func(c *http.Client, e operator.Engine) engines.Engine {
			return gemini.New(gemini.Config{Client: c, Key: e.Key.Reveal(), Model: e.Model, BaseURL: e.BaseURL})
		}),
		engines.Tavily: build(func(c *http.Client, e operator.Engine) engines.Engine {
			return tavily.New(tavily.Config{Client: c, Key: e.Key.Reveal(), BaseURL: e.BaseURL})
		}),
	}
}

// fetcher makes what gets pages. Its guard has the system's resolver and sockets and no proxy but the operator's.
func fetcher(op operator.Operator) (browse.Fetcher, error) {
	g := &guard.Guard{Resolver: guard.SystemResolver(), Dial: guard.SystemDial}
	for _, s := range op.Network.Allow {
		e, err := guard.ParseAllow(s)
		if err != nil {
			return nil, errors.New("an entry of network.allow is not understood")
		}
		g.Policy.Allow = append(g.Policy.Allow, e)
	}
	for _, s := range op.Network.FakeIP {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, errors.New("an entry of network.fake_ip is not a range")
		}
		g.Policy.FakeIP = append(g.Policy.FakeIP, p)
	}
	var err error
	if g.Proxy, err = proxyURL(op); err != nil {
		return nil, err
	}
	roots, err := operatorRoots(op)
	if err != nil {
		return nil, err
	}
	return frugal{fetch.Client{
		Guard: g, RootCAs: roots, UserAgent: cmp.Or(op.Network.UserAgent, "web/"+versionText()+" (static-read-only)"),
		BodyBytes: op.Limits.BodyBytes, Timeout: op.Limits.Fetch, RespectRobots: op.Network.Robots == operator.RobotsRespect, Now: time.Now,
	}}, nil
}

// frugal makes the collector run more often once a large page is in memory: its text, tree and blocks would
// otherwise lie there twice. Small pages are read before it runs at all.
type frugal struct{ browse.Fetcher }

const (
	largePageBytes = 2 << 20
	largePageGC    = 25 // percent
)

func (f frugal) Get(ctx context.Context, u guard.URL) (*fetch.Response, *fault.Error) {
	res, err := f.Fetcher.Get(ctx, u)
	if res != nil && len(res.Body) >= largePageBytes {
		debug.SetGCPercent(largePageGC)
	}
	return res, err
}

func proxyURL(op operator.Operator) (*url.URL, error) {
	if !op.Network.Proxy.IsSet() {
		return nil, nil
	}
	u, err := url.Parse(op.Network.Proxy.Reveal())
	if err != nil {
		return nil, errors.New("network.proxy is not a URL")
	}
	return u, nil
}

// engineClient makes the HTTP client for engines. No proxy comes from the environment, only the operator's;
// the addresses of engines are the operator's own choice and are not judged.
func engineClient(op operator.Operator) (*http.Client, error) {
	t := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout:    tlsTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true, // one request, then the process ends
	}
	proxy, err := proxyURL(op)
	if err != nil {
		return nil, err
	}
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
	}
	roots, err := operatorRoots(op)
	if err != nil {
		return nil, err
	}
	if roots != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: t}, nil
}

// operatorRoots are the system's certificate authorities and the operator's, or nil for the system's alone.
func operatorRoots(op operator.Operator) (*x509.CertPool, error) {
	if op.Network.CAFile == "" {
		return nil, nil
	}
	pem, err := safefile.Reader{MaxBytes: maxCABytes, FollowLink: true}.Read(op.Network.CAFile)
	if err != nil {
		return nil, errors.New("network.ca_file cannot be read")
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("network.ca_file holds no certificate")
	}
	return roots, nil
}
