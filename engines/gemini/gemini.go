// Package gemini searches through the Google Search tool of the Gemini API, and summarizes with that API.
//
// One call is one POST and one answer: Search and Summarize send it, read judges what comes back. An answer
// that is only a part of what the model had to say is a failure, never an answer. The URLs of its results are
// redirects of Google's as a rule; they are handed on as they are, to be followed when a page is read. The
// package must not know the envelope, settings files, refs or the environment. Start at Search.
package gemini

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"strings"

	"web/engines"
	"web/engines/internal/exchange"
	"web/engines/internal/prompt"
)

// DefaultBaseURL is the address of the API.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// Config says how to reach Gemini.
type Config struct {
	// Client lends its Transport, the only part that is used. Required.
	Client *http.Client
	// Key is sent in a header and nowhere else.
	Key string
	// Model replaces engines.DefaultModel when it is not "". It may be spelled with "models/" before it.
	Model string
	// BaseURL replaces DefaultBaseURL when it is not "". Absolute http or https, without user info; it may have
	// a path and end with a slash. Google's own libraries take it without the version, so "/v1beta" is added
	// where it does not end with one.
	BaseURL string
}

// Engine asks Gemini. It is safe for concurrent use.
type Engine struct {
	provider      exchange.Provider
	endpoint, key string
}

var _ engines.Engine = (*Engine)(nil)

// New returns an engine. A Config without a Client is a mistake of the program and panics.
func New(cfg Config) *Engine {
	if cfg.Client == nil {
		panic("gemini: New needs a Client")
	}
	model := strings.TrimPrefix(cfg.Model, "models/")
	if model == "" {
		model = engines.DefaultModel(engines.Gemini)
	}
	base := cfg.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	return &Engine{
		provider: provider(exchange.Transport(cfg.Client)),
		endpoint: exchange.Endpoint(versioned(base), "/models/"+url.PathEscape(model)+":generateContent"),
		key:      cfg.Key,
	}
}

func versioned(base string) string {
	if u, err := url.Parse(base); err == nil {
		if last := path.Base(u.Path); len(last) > 1 && last[0] == 'v' && '0' <= last[1] && last[1] <= '9' {
			return base
		}
	}
	return exchange.Endpoint(base, "/v1beta")
}

// Honours says which limits of a query the search tool itself keeps: none.
func Honours() engines.Honours { return engines.Honours{} }

// Name is the engine's name in the catalogue.
func (e *Engine) Name() string { return engines.Gemini }

// Search sends the query once, unmodified and without its limits. Every error is an *engines.Error; those with
// InvalidQuery were found before anything was sent.
func (e *Engine) Search(ctx context.Context, q engines.Query) (engines.Answer, error) {
	if err := e.provider.CheckText(q.Text); err != nil {
		return engines.Answer{}, err
	}
	a, err := e.post(ctx, request{Contents: ask(q.Text), Tools: []tool{{}}})
	if err != nil {
		return engines.Answer{}, err
	}
	return read(a)
}

// Summarize asks the same model, without the search tool, for a summary of input, which it must not obey, for
// somebody whose purpose is reason. A summary that was cut off is an *engines.Error, as all failures are.
func (e *Engine) Summarize(ctx context.Context, input, reason string) (string, error) {
	if err := e.provider.CheckText(input); err != nil {
		return "", err
	}
	instr, text := prompt.Summary(input, reason)
	a, err := e.post(ctx, request{SystemInstruction: &instruction{Parts: []textPart{{Text: instr}}}, Contents: ask(text)})
	if err != nil {
		return "", err
	}
	return readText(a)
}

func ask(text string) []turn { return []turn{{Role: "user", Parts: []textPart{{Text: text}}}} }

func (e *Engine) post(ctx context.Context, r request) (answer, error) {
	var a answer
	err := e.provider.Post(ctx, e.endpoint, http.Header{"X-Goog-Api-Key": {e.key}}, r, &a)
	return a, err
}

func provider(transport http.RoundTripper) exchange.Provider {
	return exchange.Provider{Engine: engines.Gemini, Name: "Gemini", Class: class, Transport: transport}
}

// class names a fault as the provider's own client library and the HTTP client below it do.
func class(f exchange.Fault) string {
	switch f.Kind {
	case exchange.Status:
		switch {
		case f.Status >= 500 && f.Status < 600:
			return "ServerError"
		case f.Status >= 400 && f.Status < 500:
			return "ClientError"
		}
		return "APIError"
	case exchange.Connect, exchange.BadEndpoint:
		return "ConnectError"
	case exchange.ConnectTimeout:
		return "ConnectTimeout"
	case exchange.Timeout:
		return "ReadTimeout"
	case exchange.Broken:
		return "RemoteProtocolError"
	case exchange.Cancelled:
		return "cancelled"
	case exchange.BadKey:
		return "ClientError"
	case exchange.Redirected:
		return "APIError"
	default: // an answer that is none
		return "UnknownApiResponseError"
	}
}
