// Package tavily searches with Tavily's search endpoint.
//
// One query is one POST and one list of results: Search sends it, read judges what comes back. The package
// must not know the envelope, settings files, refs or the environment. Start at Search.
package tavily

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"web/engines"
	"web/engines/internal/exchange"
)

// DefaultBaseURL is the address of the API.
const DefaultBaseURL = "https://api.tavily.com"

// fallbackTitle names Tavily's own text when it has no sources.
const fallbackTitle = "Tavily Web Search"

// Config says how to reach Tavily.
type Config struct {
	// Client lends its Transport, the only part that is used. Required.
	Client *http.Client
	// Key is sent in a header and nowhere else.
	Key string
	// BaseURL replaces DefaultBaseURL when it is not "". Absolute http or https, without user info; it may have
	// a path and end with a slash.
	BaseURL string
}

// Engine asks Tavily. It is safe for concurrent use.
type Engine struct {
	provider      exchange.Provider
	endpoint, key string
}

var _ engines.Engine = (*Engine)(nil)

// New returns an engine. A Config without a Client is a mistake of the program and panics.
func New(cfg Config) *Engine {
	if cfg.Client == nil {
		panic("tavily: New needs a Client")
	}
	base := cfg.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	return &Engine{provider: provider(exchange.Transport(cfg.Client)), endpoint: exchange.Endpoint(base, "/search"), key: cfg.Key}
}

// Honours says what Tavily itself takes of a query.
func Honours() engines.Honours { return engines.Honours{Site: true, Time: true} }

// Search sends the query once, unmodified, with its limits but for the region. Every error is an
// *engines.Error; those with InvalidQuery were found before anything was sent.
func (e *Engine) Search(ctx context.Context, q engines.Query) (engines.Answer, error) {
	if err := e.provider.CheckText(q.Text); err != nil {
		return engines.Answer{}, err
	}
	r := request{Query: q.Text, MaxResults: min(max(q.MaxResults, 0), maxResults), IncludeDomains: q.Domains}
	switch q.TimeRange {
	case "":
	case "d":
		r.TimeRange = "day"
	case "w":
		r.TimeRange = "week"
	case "m":
		r.TimeRange = "month"
	case "y":
		r.TimeRange = "year"
	default:
		return engines.Answer{}, &engines.Error{
			Engine: engines.Tavily, Class: "invalid_time_range", Message: "The time range is not d, w, m or y.", InvalidQuery: true,
		}
	}
	var a answer
	if err := e.provider.Post(ctx, e.endpoint, http.Header{"Authorization": {"Bearer " + e.key}}, r, &a); err != nil {
		return engines.Answer{}, err
	}
	return read(a)
}

// read takes the results out of an answer. Every error is an *engines.Error.
func read(a answer) (engines.Answer, error) {
	garbled := func() error { return provider(nil).Fail(exchange.Fault{Kind: exchange.Garbled}, "") }
	if a.Results == nil {
		return engines.Answer{}, garbled()
	}
	var out engines.Answer
	at := map[string]int{}
	for _, r := range a.Results {
		i, seen := at[r.URL]
		switch {
		case strings.TrimSpace(r.URL) == "":
			out.LeftOut.Broken++
		case seen:
			out.LeftOut.Duplicates++
			if have := &out.Results[i]; len(r.Content) > len(have.Snippet) {
				have.Snippet = r.Content
			}
		default:
			at[r.URL] = len(out.Results)
			out.Results = append(out.Results, engines.Result{Title: r.Title, URL: r.URL, Snippet: r.Content, Published: day(r.PublishedDate)})
		}
	}
	if strings.TrimSpace(a.Answer) != "" {
		out.Narrative = a.Answer
	}
	switch {
	case len(out.Results) > 0:
	case out.Narrative != "":
		out.Results = []engines.Result{{Title: fallbackTitle, Snippet: out.Narrative}}
		out.Narrative = ""
	case out.LeftOut.Broken > 0: // sources without an address are not the same as none
		return engines.Answer{}, garbled()
	}
	return out, nil
}

// day turns a date into an RFC 3339 date, in the zone in which it was given; "" when it is none.
func day(stamp string) string {
	for _, layout := range [...]string{
		time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", time.DateTime,
		"Mon, 2 Jan 2006 15:04:05 MST", "Mon, 2 Jan 2006 15:04:05 -0700",
	} {
		if t, err := time.Parse(layout, strings.TrimSpace(stamp)); err == nil {
			return t.Format(time.DateOnly)
		}
	}
	return ""
}

func provider(transport http.RoundTripper) exchange.Provider {
	return exchange.Provider{Engine: engines.Tavily, Name: "Tavily", Class: exchange.ClientClass, Message: message, Transport: transport}
}

func message(f exchange.Fault) string {
	switch f.Status {
	case http.StatusBadRequest:
		return fmt.Sprintf("Tavily refused the request (HTTP status 400). Shorten the query if it has more than %d characters, or use another engine.", maxQueryChars)
	case statusPlanUsedUp, statusPaidUsedUp:
		return fmt.Sprintf("What the key of Tavily may spend is used up (HTTP status %d). Use another engine, or have the operator raise the limit.", f.Status)
	}
	return ""
}
