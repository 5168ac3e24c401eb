// Package anthropic searches through the web search tool of Anthropic's Messages API, and summarizes with it.
//
// One call is one POST and one message: Search and Summarize send it, read judges what comes back. A message
// that is only a part of what the model had to say is a failure, never an answer. The package must not know
// the envelope, settings files, refs or the environment. Start at Search.
package anthropic

import (
	"context"
	"net/http"

	"web/engines"
	"web/engines/internal/exchange"
	"web/engines/internal/prompt"
)

// DefaultBaseURL is the address of the API.
const DefaultBaseURL = "https://api.anthropic.com"

// statusOverloaded is the provider's own status for being overloaded.
const statusOverloaded = 529

// Config says how to reach Anthropic.
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

// Engine asks Anthropic. It is safe for concurrent use.
type Engine struct {
	provider             exchange.Provider
	endpoint, key, model string
}

var _ engines.Engine = (*Engine)(nil)

// New returns an engine. A Config without a Client is a mistake of the program and panics.
func New(cfg Config) *Engine {
	if cfg.Client == nil {
		panic("anthropic: New needs a Client")
	}
	e := &Engine{provider: provider(exchange.Transport(cfg.Client)), key: cfg.Key, model: cfg.Model}
	if e.model == "" {
		e.model = engines.DefaultModel(engines.Anthropic)
	}
	base := cfg.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	e.endpoint = exchange.Endpoint(base, "/v1/messages")
	return e
}

// Honours says which limits of a query the search tool itself keeps.
func Honours() engines.Honours { return engines.Honours{Site: true} }

// Name is the engine's name in the catalogue.
func (e *Engine) Name() string { return engines.Anthropic }

// Search sends the query once, unmodified; of its limits, Domains alone are passed on. Every error is an
// *engines.Error; those with InvalidQuery were found before anything was sent.
func (e *Engine) Search(ctx context.Context, q engines.Query) (engines.Answer, error) {
	if err := e.provider.CheckText(q.Text); err != nil {
		return engines.Answer{}, err
	}
	a, err := e.post(ctx, request{
		Messages: []message{{Role: "user", Content: q.Text}},
		Tools:    []tool{{Type: searchTool, Name: "web_search", AllowedDomains: q.Domains}},
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
	a, err := e.post(ctx, request{System: instruction, Messages: []message{{Role: "user", Content: text}}})
	if err != nil {
		return "", err
	}
	return readText(a)
}

func (e *Engine) post(ctx context.Context, r request) (answer, error) {
	r.Model, r.MaxTokens = e.model, maxTokens
	header := http.Header{"X-Api-Key": {e.key}, "Anthropic-Version": {version}}
	var a answer
	err := e.provider.Post(ctx, e.endpoint, header, r, &a)
	return a, err
}

func provider(transport http.RoundTripper) exchange.Provider {
	return exchange.Provider{Engine: engines.Anthropic, Name: "Anthropic", Class: class, Transport: transport}
}

// class names a fault as the provider's own client library does: as OpenAI's, but for two statuses.
func class(f exchange.Fault) string {
	switch f.Status {
	case http.StatusRequestEntityTooLarge:
		return "RequestTooLargeError"
	case statusOverloaded:
		return "OverloadedError"
	}
	return exchange.ClientClass(f)
}
