// Package exchange sends one JSON request to a provider and reads one bounded JSON answer.
//
// It holds what the providers have in common: the limits, the way a failure becomes an *engines.Error, and
// the promise that nothing is followed, repeated or read in part. It must not know any provider's fields,
// classes or headers, and puts nothing that came from outside into a message. Start at Provider.Post.
package exchange

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"web/engines"
)

// MaxBodyBytes bounds an answer on the wire and, counted again, after decompression.
const MaxBodyBytes = 8 << 20

// Provider is what one engine has to say about itself.
type Provider struct {
	// Engine is one of the names of package engines.
	Engine string
	// Name is the provider's name as messages say it, such as "OpenAI".
	Name string
	// Class is the provider's class token for a fault: at most engines.MaxClassChars of [A-Za-z0-9_:.-].
	Class func(Fault) string
	// Message is the provider's own sentence for a fault, or "" for the general one. May be nil.
	Message func(Fault) string
	// Transport carries the request. A client would follow redirects, keep cookies and add a deadline.
	Transport http.RoundTripper
}

// Transport is the only part of a client that takes part in an exchange.
func Transport(c *http.Client) http.RoundTripper {
	if c.Transport == nil {
		return http.DefaultTransport
	}
	return c.Transport
}

// Endpoint joins a base address, which may have a path and end with a slash, and a path that starts with one.
func Endpoint(base, path string) string { return strings.TrimRight(base, "/") + path }

// CheckText refuses a text that is blank or not valid UTF-8, before anything is sent.
func (p Provider) CheckText(text string) error {
	invalid := func(message string) error {
		return &engines.Error{Engine: p.Engine, Class: "invalid_query", Message: message, InvalidQuery: true}
	}
	switch {
	case strings.TrimSpace(text) == "":
		return invalid("The text is empty; " + p.Name + " needs at least one word.")
	case !utf8.ValidString(text):
		return invalid("The text is not valid UTF-8.")
	}
	return nil
}

// Post sends request as JSON to endpoint, once, and decodes an answer of status 2xx, an object, into answer;
// members that answer does not know are ignored. The deadline is ctx's alone. The header holds the key and the
// like: each value is one word of visible ASCII, perhaps behind "Bearer ". Every error is an *engines.Error,
// after which answer is not to be used.
func (p Provider) Post(ctx context.Context, endpoint string, header http.Header, request, answer any) error {
	if !usable(endpoint) {
		return p.Fail(Fault{Kind: BadEndpoint}, "")
	}
	for _, values := range header {
		for _, v := range values {
			if !oneWord(strings.TrimPrefix(v, "Bearer ")) {
				return p.Fail(Fault{Kind: BadKey}, "")
			}
		}
	}
	body, err := json.Marshal(request)
	if err != nil { // only strings come from outside
		return &engines.Error{Engine: p.Engine, Class: "invalid_query", Message: "The text is not valid UTF-8.", InvalidQuery: true}
	}
	// Whether there was a connection tells a failure to connect from a failure to answer.
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(traced, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return p.Fail(Fault{Kind: BadEndpoint}, "")
	}
	for name, values := range header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip")

	resp, err := p.Transport.RoundTrip(req)
	if err != nil {
		return p.failed(ctx, err, connected.Load())
	}
	defer resp.Body.Close()
	switch status := resp.StatusCode; {
	case status >= 400:
		// The status says it all; the text beside it is foreign and is not read.
		e := p.Fail(Fault{Status, status}, "")
		if e.Retryable {
			e.RetryAfterMS = RetryAfterMS(resp.Header)
		}
		return e
	case status < 200, status >= 300:
		return p.Fail(Fault{Redirected, status}, "")
	}
	text, err := ReadBody(resp, MaxBodyBytes)
	if err != nil {
		return p.failed(ctx, err, true)
	}
	// A text that a provider cut in the middle of a character is still an answer: U+FFFD stands for the half.
	// A null would leave answer as it was, so that nothing would look like an empty answer.
	if jsontext.Value(text).Kind() != '{' || json.Unmarshal(text, answer, jsontext.AllowInvalidUTF8(true)) != nil {
		return p.Fail(Fault{Kind: Garbled}, "")
	}
	return nil
}

func (p Provider) failed(ctx context.Context, err error, connected bool) *engines.Error {
	kind := KindOf(ctx, err)
	switch {
	case kind == Timeout && !connected:
		kind = ConnectTimeout
	case kind == Connect && connected:
		kind = Broken
	}
	e := p.Fail(Fault{Kind: kind}, "")
	if e.Err == nil {
		e.Err = err
	}
	return e
}

// usable says whether a request can be sent to an address as it is spelled.
func usable(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && !strings.ContainsAny(endpoint, "?#")
}

func oneWord(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}
