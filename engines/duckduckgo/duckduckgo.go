// Package duckduckgo searches DuckDuckGo through its HTML page for browsers without JavaScript.
//
// One query is one POST and one page: Search sends it, Parse reads it. A failure is never an empty list and
// an empty list is never a failure. The package must not know the envelope, settings files or refs, follows
// no redirect, repeats nothing, and never tries to get round a refusal. Start at Search for the way to the
// page and at Parse for what stands on it.
package duckduckgo

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"web/engines"
	"web/engines/internal/exchange"
)

const (
	// DefaultBaseURL is the address of the page. Without its last slash some clients met a redirect.
	DefaultBaseURL = "https://html.duckduckgo.com/html/"

	// DefaultUserAgent is a complete string of a browser with long support: a missing, cut or old one is
	// answered with 403 or with the script shell.
	DefaultUserAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0"

	// MaxQueryChars is the longest query, in characters, that DuckDuckGo answers.
	MaxQueryChars = 499

	// MaxBodyBytes bounds the page on the wire and, counted again, after decompression. Real pages have 8 to 56 KB.
	MaxBodyBytes = 2 << 20
)

// Config says how to reach DuckDuckGo.
type Config struct {
	// Client lends its Transport, the only part that is used: a client's redirects, cookies and own deadline
	// must not take part. Required.
	Client *http.Client
	// BaseURL replaces DefaultBaseURL when it is not "". Absolute http or https, without user info.
	BaseURL string
	// UserAgent replaces DefaultUserAgent when it is not "".
	UserAgent string
}

// Engine asks DuckDuckGo. It is safe for concurrent use.
type Engine struct {
	transport http.RoundTripper
	endpoint  *url.URL // nil when BaseURL is unusable
	userAgent string
}

var _ engines.Engine = (*Engine)(nil)

// New returns an engine. A Config without a Client is a mistake of the program and panics.
func New(cfg Config) *Engine {
	if cfg.Client == nil {
		panic("duckduckgo: New needs a Client")
	}
	e := &Engine{transport: exchange.Transport(cfg.Client), userAgent: cfg.UserAgent}
	if e.userAgent == "" {
		e.userAgent = DefaultUserAgent
	}
	base := cfg.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	if u, err := url.Parse(base); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil {
		e.endpoint = u
	}
	return e
}

// Honours says what DuckDuckGo itself takes of a query.
func Honours() engines.Honours { return engines.Honours{Time: true, Region: true} }

// Search sends the query once, unmodified, and reads the one page that comes back. The deadline is ctx's
// alone. Every error is an *engines.Error; those with InvalidQuery were found before anything was sent.
func (e *Engine) Search(ctx context.Context, q engines.Query) (engines.Answer, error) {
	if err := check(q); err != nil {
		return engines.Answer{}, err
	}
	if e.endpoint == nil {
		return engines.Answer{}, &engines.Error{
			Engine: engines.DuckDuckGo, Class: classConnect,
			Message: "The configured base_url of DuckDuckGo is not an absolute http or https address; correct it in the operator file.",
		}
	}
	req, err := e.request(ctx, q)
	if err != nil {
		return engines.Answer{}, failed(ctx, err)
	}
	// A client would parse Location and follow it, keep cookies and add a deadline of its own.
	resp, err := e.transport.RoundTrip(req)
	if err != nil {
		return engines.Answer{}, failed(ctx, err)
	}
	defer resp.Body.Close()
	return e.answer(ctx, q.Text, resp)
}

func check(q engines.Query) error {
	invalid := func(class, message string) error {
		return &engines.Error{Engine: engines.DuckDuckGo, Class: class, Message: message, InvalidQuery: true}
	}
	switch {
	case strings.TrimSpace(q.Text) == "":
		return invalid("invalid_query", "The query is empty; DuckDuckGo needs at least one word.")
	case !utf8.ValidString(q.Text):
		return invalid("invalid_query", "The query is not valid UTF-8.")
	case utf8.RuneCountInString(q.Text) > MaxQueryChars:
		return invalid("invalid_query", fmt.Sprintf("The query is longer than the %d characters that DuckDuckGo takes; shorten it.", MaxQueryChars))
	case q.Region != "" && !ValidRegion(q.Region):
		return invalid("invalid_region", "The region is not a DuckDuckGo region code such as us-en, uk-en or wt-wt.")
	case !validTimeRange(q.TimeRange):
		return invalid("invalid_time_range", "The time range is not d, w, m or y.")
	}
	return nil
}

func (e *Engine) request(ctx context.Context, q engines.Query) (*http.Request, error) {
	// In the order of the page's own form; url.Values would sort.
	form := "q=" + url.QueryEscape(q.Text) + "&b=&kl=" + url.QueryEscape(q.Region)
	if q.TimeRange != "" {
		form += "&df=" + url.QueryEscape(q.TimeRange)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.endpoint.String(), strings.NewReader(form))
	if err != nil {
		return nil, err
	}
	origin := e.endpoint.Scheme + "://" + e.endpoint.Host
	// What a browser sends when the page's form is submitted: with parts of it missing, queries were refused.
	// Accept-Encoding is what a transport would ask for; asked for here, it is undone here, where both sides of
	// the decompression are bounded.
	for _, h := range [...][2]string{
		{"User-Agent", e.userAgent},
		{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
		{"Accept-Encoding", "gzip"},
		{"Accept-Language", "en-US,en;q=0.9"},
		{"Content-Type", "application/x-www-form-urlencoded"},
		{"Origin", origin},
		{"Referer", origin + "/"}, // the page's referrer policy is "origin"
		{"Sec-Fetch-Dest", "document"},
		{"Sec-Fetch-Mode", "navigate"},
		{"Sec-Fetch-Site", "same-origin"},
		{"Sec-Fetch-User", "?1"},
		{"Upgrade-Insecure-Requests", "1"},
	} {
		req.Header.Set(h[0], h[1])
	}
	return req, nil
}
