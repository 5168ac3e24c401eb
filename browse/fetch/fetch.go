// Package fetch gets one page over HTTP/1.1 or HTTP/2: redirects by hand, compression within bounds, one
// deadline over everything, and every failure a typed fault.
//
// Which address may be reached is the guard's decision alone: every hop is parsed and judged anew, and the
// transport of a hop knows no other way to connect than the judged target. The package must not know what a
// page says (character sets, HTML, links), the wire or the settings; it reads no environment and keeps
// nothing between two calls. It looks into a body for one purpose: to tell a bot wall from a page.
package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"web/browse/fault"
	"web/browse/guard"
)

// The limits in force where a Client does not set its own, and those that nobody changes.
const (
	DefaultBodyBytes    int64 = 10 << 20
	DefaultTimeout            = 30 * time.Second
	DefaultMaxRedirects       = 5
	DefaultUserAgent          = "web (static-read-only)"

	maxHeaderBytes  = 64 << 10
	maxHeaderFields = 100
)

// WarnProxyUnpinned says that the operator's proxy dialled, so that the address judged here may not be the one
// that was reached.
const WarnProxyUnpinned = "PROXY_UNPINNED"

// Client gets pages. It holds no state, so one value serves any number of calls at once.
type Client struct {
	// Guard admits every hop and makes every connection.
	Guard *guard.Guard
	// RootCAs verifies servers; nil is the system's store.
	RootCAs *x509.CertPool
	// UserAgent defaults to DefaultUserAgent.
	UserAgent string
	// BodyBytes bounds the body twice: as received and as decoded. Without a positive number it is DefaultBodyBytes.
	BodyBytes int64
	// Timeout bounds the whole call: resolution, every hop, body. Without a positive number it is
	// DefaultTimeout.
	Timeout time.Duration
	// MaxRedirects is how many redirects are followed. 0 is DefaultMaxRedirects, a negative number is none.
	MaxRedirects int
	// RespectRobots asks each origin's robots.txt before a page of it is requested.
	RespectRobots bool
	// Now is read for Response.FetchMS and for dates in Retry-After; nil leaves both out.
	Now func() time.Time
}

// Response is a complete page with a status in 200..299.
type Response struct {
	Requested, Final guard.URL
	// RedirectChain holds the URLs that redirected, oldest first, without Final. It is never nil.
	RedirectChain []string
	Status        int
	// ContentType is the Content-Type header as sent, "" without one; of repeated headers the last.
	ContentType string
	// Body is decoded: no content coding is left that Accept-Encoding names.
	Body []byte
	// SourceSHA256 is the hex hash of the body as received (contract 4.10): after the framing of HTTP is
	// removed and before any content coding is. It equals the hash of Body exactly when nothing was compressed.
	SourceSHA256 string
	Warnings     []string
	// FetchMS is the time from the beginning of the call to the end of the body.
	FetchMS int64
}

// Get fetches u and whatever it redirects to.
func (c Client) Get(ctx context.Context, u guard.URL) (*Response, *fault.Error) {
	c = c.withDefaults()
	var start time.Time
	if c.Now != nil {
		start = c.Now()
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()

	plan := journey{limit: c.BodyBytes}
	if c.RespectRobots {
		plan.gate = c.newRobotsGate().allow
	}
	res, f := c.follow(ctx, u, plan)
	if f != nil {
		return nil, f
	}
	if c.Now != nil {
		res.FetchMS = c.Now().Sub(start).Milliseconds()
	}
	return res, nil
}

func (c Client) withDefaults() Client {
	if c.UserAgent == "" {
		c.UserAgent = DefaultUserAgent
	}
	if c.BodyBytes <= 0 {
		c.BodyBytes = DefaultBodyBytes
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxRedirects == 0 {
		c.MaxRedirects = DefaultMaxRedirects
	}
	return c
}

// journey is what differs between getting a page and getting a robots.txt.
type journey struct {
	limit int64
	// cut keeps the first limit bytes of a longer body instead of refusing it.
	cut bool
	// gate may refuse a hop that the guard has admitted.
	gate func(context.Context, guard.URL) *fault.Error
}

// follow goes from hop to hop until one is no redirect.
func (c Client) follow(ctx context.Context, u guard.URL, plan journey) (*Response, *fault.Error) {
	res := &Response{Requested: u, Final: u, RedirectChain: []string{}}
	for {
		next, f := c.hop(ctx, res, plan)
		if f != nil {
			return nil, f
		}
		if next.IsZero() {
			return res, nil
		}
		res.RedirectChain = append(res.RedirectChain, res.Final.String())
		res.Final = next
	}
}

// hop requests res.Final and either completes res or gives the next hop.
func (c Client) hop(ctx context.Context, res *Response, plan journey) (next guard.URL, _ *fault.Error) {
	if f := spent(ctx); f != nil {
		return next, f
	}
	target, f := c.Guard.Admit(ctx, res.Final)
	if f != nil {
		return next, f
	}
	if plan.gate != nil {
		if f := plan.gate(ctx, res.Final); f != nil {
			return next, f
		}
	}
	if f := spent(ctx); f != nil {
		return next, f
	}
	resp, f := c.exchange(ctx, target)
	if f != nil {
		return next, f
	}
	defer func() { _ = resp.Body.Close() }()

	status := resp.StatusCode
	switch {
	case status >= 300 && status < 400:
		return c.redirect(res, resp)
	case status < 200 || status >= 400:
		return next, c.refused(ctx, resp)
	case status == http.StatusPartialContent:
		// Nobody asked for a part, and a part must not look like the whole.
		return next, transportFault(ctx, errors.New("partial content")).WithStatus(status)
	}
	if f := spent(ctx); f != nil {
		return next, f
	}
	body, sum, f := readBody(ctx, resp, plan)
	if f != nil {
		return next, f
	}
	res.Status, res.Body, res.SourceSHA256 = status, body, sum
	res.ContentType = last(resp.Header, "Content-Type")
	if !target.Pinned {
		res.Warnings = []string{WarnProxyUnpinned}
	}
	if isChallenge(resp, body) {
		return next, sourceBlocked(status)
	}
	return next, nil
}

// redirect gives the next hop. The order of the checks decides which code a target gets that is wrong twice.
func (c Client) redirect(res *Response, resp *http.Response) (guard.URL, *fault.Error) {
	none, status := guard.URL{}, resp.StatusCode
	if len(resp.Header["Location"]) == 0 {
		return none, fault.New(fault.MissingLocation, "the server redirects without naming a target", checkURL).WithStatus(status)
	}
	if len(res.RedirectChain) >= c.MaxRedirects {
		return none, fault.New(fault.TooManyRedirects, "the page redirects too often", guard.AdvicePublic).WithStatus(status)
	}
	next, f := guard.ResolveRedirect(res.Final, last(resp.Header, "Location"))
	if f != nil {
		return none, f.WithStatus(status)
	}
	if res.Final.Scheme() == "https" && next.Scheme() == "http" {
		// A target that is forbidden anyway gets its own, more telling code. No name is looked up for that.
		if f := c.Guard.Policy.Host(next); f != nil {
			return none, f
		}
		return none, fault.New(fault.DowngradeBlocked, "the page redirects from https to http", "use a direct https URL, and do not retry this one").WithStatus(status)
	}
	return next, nil
}

// last is the value of a header; of repeated headers the last counts (contract 4.6).
func last(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}
