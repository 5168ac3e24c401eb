// Package openai searches through the web search tool of OpenAI's Responses API, and summarizes with that API.
//
// One call is one POST and one answer: Search and Summarize send it, read judges what comes back. An answer
// that is only a part of what the model had to say is a failure, never an answer. The package must not know
// the envelope, settings files, refs or the environment, nor what takes its place when it fails. Start at
// Search, and at cited for how a citation finds its sentence.
package openai

import (
	"context"
	"net/http"

	"web/engines"
	"web/engines/internal/exchange"
	"web/engines/internal/prompt"
)

// DefaultBaseURL is the address of the API.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config says how to reach OpenAI.
type Config struct {
	// Client lends its Transport, the only part that is used. Required.
	Client *http.Client
	// Key is sent in a header and nowhere else.
	Key string
	// Model replaces engines.DefaultModel when it is not "".
	Model string
	// BaseURL replaces DefaultBaseURL when it is not "". Absolute http or https, without user info; it may have
	// a path and end with a slash.
	BaseURL string
}

// Engine asks OpenAI. It is safe for concurrent use.
type Engine struct {
	provider             exchange.Provider
	endpoint, key, model string
}

var _ engines.Engine = (*Engine)(nil)

// New returns an engine. A Config without a Client is a mistake of the program and panics.
func New(cfg Config) *Engine {
	if cfg.Client == nil {
		panic("openai: New needs a Client")
	}
	e := &Engine{provider: provider(exchange.Transport(cfg.Client)), key: cfg.Key, model: cfg.Model}
	if e.model == "" {
		e.model = engines.DefaultModel(engines.OpenAI)
	}
	base := cfg.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	e.endpoint = exchange.Endpoint(base, "/responses")
	return e
}

// Honours says what the search tool itself takes of a query.
func Honours() engines.Honours { return engines.Honours{Site: true} }

// Name is the engine's name in the catalogue.
func (e *Engine) Name() string { return engines.OpenAI }

// Search sends the query once, unmodified; of its limits, Domains alone are passed on. Every error is an
// *engines.Error; those with InvalidQuery were found before anything was sent.
func (e *Engine) Search(ctx context.Context, q engines.Query) (engines.Answer, error) {
	if err := e.provider.CheckText(q.Text); err != nil {
		return engines.Answer{}, err
	}
	a, err := e.post(ctx, request{
		Tools: []tool{{Type: "web_search", Filters: filters{q.Domains}}},
		Input: q.Text,
	})
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
	instruction, text := prompt.Summary(input, reason)
	a, err := e.post(ctx, request{Instructions: instruction, Input: text, Store: new(bool)})
	if err != nil {
		return "", err
	}
	return readText(a)
}

func (e *Engine) post(ctx context.Context, r request) (answer, error) {
	r.Model = e.model
	var a answer
	err := e.provider.Post(ctx, e.endpoint, http.Header{"Authorization": {"Bearer " + e.key}}, r, &a)
	return a, err
}

func provider(transport http.RoundTripper) exchange.Provider {
	return exchange.Provider{Engine: engines.OpenAI, Name: "OpenAI", Class: exchange.ClientClass, Transport: transport}
}
