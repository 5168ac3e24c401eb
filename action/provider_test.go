package action

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"web/engines"
	"web/engines/anthropic"
	"web/engines/duckduckgo"
	"web/engines/duckduckgo/ddgtest"
	"web/engines/gemini"
	"web/engines/openai"
	"web/engines/tavily"
	"web/settings/operator"
)

// provider is the other end of a real engine, on the loopback interface.
type provider struct {
	srv *httptest.Server
	// wrap changes the engine's transport, unless it is nil.
	wrap func(http.RoundTripper) http.RoundTripper

	mu   sync.Mutex
	sent []request
}

// request is what reached a provider.
type request struct {
	Method, Path, Body string
	Header             http.Header
}

// provide puts a provider behind the real engine of that name.
func (w *world) provide(name string, h http.HandlerFunc) *provider {
	p := &provider{}
	p.srv = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		p.sent = append(p.sent, request{r.Method, r.URL.RequestURI(), string(body), r.Header.Clone()})
		p.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		h(rw, r)
	}))
	w.t.Cleanup(p.srv.Close)
	w.providers[name] = p
	return p
}

func (p *provider) requests() []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]request(nil), p.sent...)
}

func (p *provider) engine(name string, e operator.Engine) engines.Engine {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if p.wrap != nil {
		c.Transport = p.wrap(c.Transport)
	}
	switch key := e.Key.Reveal(); name {
	case engines.OpenAI:
		return openai.New(openai.Config{Client: c, Key: key, Model: e.Model, BaseURL: p.srv.URL + "/v1"})
	case engines.Anthropic:
		return anthropic.New(anthropic.Config{Client: c, Key: key, Model: e.Model, BaseURL: p.srv.URL})
	case engines.Gemini:
		return gemini.New(gemini.Config{Client: c, Key: key, Model: e.Model, BaseURL: p.srv.URL})
	case engines.Tavily:
		return tavily.New(tavily.Config{Client: c, Key: key, BaseURL: p.srv.URL})
	}
	return duckduckgo.New(duckduckgo.Config{Client: c, BaseURL: p.srv.URL + "/html/"})
}

// says answers every request with one JSON body.
func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
	}
}

// refuses answers with a status and, as providers do, with the key in its text.
func refuses(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, `{"error":{"code":400,"message":"`+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+r.Header.Get("X-Goog-Api-Key")+` is wrong"}}`)
	}
}

// ducks is a DuckDuckGo whose one result for a query has the query in its address.
func ducks() http.HandlerFunc {
	return ddgtest.Handler(func(query string) []engines.Result {
		return []engines.Result{hit("duck", "https://duck.example/"+query, "from DuckDuckGo")}
	}).ServeHTTP
}

// choose has the settings file name an engine, with all that makes it usable.
func (w *world) choose(name string) {
	w.engine(name)
	w.env["WEB_LLM_PROVIDER"] = name
	if name != engines.DuckDuckGo {
		w.env[strings.ToUpper(name)+"_API_KEY"] = "key-of-" + name
	}
}

// build is the engine's Builder, for runners that are used by many at once.
func (p *provider) build(name string) Builder {
	return func(_ operator.Operator, e operator.Engine) (engines.Engine, error) { return p.engine(name, e), nil }
}
