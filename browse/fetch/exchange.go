package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"web/browse/fault"
	"web/browse/guard"
)

const (
	// Markdown first: a site that offers it saves the reader the whole extraction.
	accept         = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/xml;q=0.5, text/*;q=0.5, application/json;q=0.5, */*;q=0.1"
	acceptEncoding = "gzip, deflate, br, zstd"
)

// exchange sends one GET to an admitted target and gives the response once its headers are in. Closing its body
// ends the connection.
func (c Client) exchange(ctx context.Context, target *guard.Target) (*http.Response, *fault.Error) {
	req := &http.Request{
		Method: http.MethodGet,
		URL:    requestURL(target.URL, !target.Pinned),
		Host:   target.URL.Host(),
		Header: http.Header{
			"User-Agent":      {c.UserAgent},
			"Accept":          {accept},
			"Accept-Encoding": {acceptEncoding},
		},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	// RoundTrip and not http.Client: no redirects, no cookies, no referrer, no credentials.
	transport := c.transport()
	resp, err := transport.RoundTrip(req.WithContext(target.Context(ctx)))
	if err != nil {
		// net/http lets a dial or handshake go on when its request has ended, unless it is told not to.
		transport.CloseIdleConnections()
		return nil, transportFault(ctx, err)
	}
	fields := 0
	for _, values := range resp.Header {
		fields += len(values)
	}
	if fields > maxHeaderFields {
		_ = resp.Body.Close()
		return nil, transportFault(ctx, errors.New("too many header fields"))
	}
	return resp, nil
}

// transport makes the transport of one hop: a connection is never used twice, so no judgement is either.
func (c Client) transport() *http.Transport {
	var dialled atomic.Bool
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			// Over HTTP/2 net/http answers a refused stream with a new connection, without end. A hop is one
			// request on one connection.
			if dialled.Swap(true) {
				return nil, errors.New("fetch: a hop has one connection")
			}
			return c.Guard.DialContext(ctx, network, address)
		},
		TLSClientConfig:        &tls.Config{RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		DisableCompression:     true, // decoded here, where both sizes are bounded
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	// The operator's proxy or none; the environment is not asked.
	if c.Guard.Proxy != nil {
		t.Proxy = http.ProxyURL(c.Guard.Proxy)
	}
	return t
}

// requestURL lets path and query go over the wire exactly as they stand in u. net/url would refuse or rewrite
// much of what browsers send.
func requestURL(u guard.URL, proxied bool) *url.URL {
	opaque := requestTarget(u)
	// Absolute form: for a proxy, and for a path that net/http would take for an authority.
	if proxied && u.Scheme() == "http" || strings.HasPrefix(opaque, "//") {
		opaque = "//" + u.Host() + opaque
	}
	return &url.URL{Scheme: u.Scheme(), Host: u.Host(), Opaque: opaque}
}

// requestTarget is path and query as they are sent.
func requestTarget(u guard.URL) string {
	if u.RawQuery() == "" {
		return u.Path()
	}
	return u.Path() + "?" + u.RawQuery()
}
