package duckduckgo

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"web/engines"
	"web/engines/internal/exchange"
)

// Failure classes; http_<status> comes beside them.
const (
	classChallenge   = "challenge"
	classRateLimited = "rate_limited"
	classUnexpected  = "unexpected_page"
	classTimeout     = "timeout"
	classConnect     = "connect"
	classCancelled   = "cancelled"
)

// answer judges a response: results first, whatever else the page bears, then challenge, status, the rest.
func (e *Engine) answer(ctx context.Context, query string, resp *http.Response) (engines.Answer, error) {
	status := resp.StatusCode
	if status >= 300 && status < 400 {
		return engines.Answer{}, e.redirect(query, resp)
	}
	success := status >= 200 && status < 300
	body, err := exchange.ReadBody(resp, MaxBodyBytes)
	if err != nil && (success || errors.Is(ctx.Err(), context.Canceled)) {
		return engines.Answer{}, failed(ctx, err)
	}
	// Of a refusal the status counts; its text is read as far as it came.
	page := Page{}
	if isText(resp.Header) {
		if page, err = Parse(body, nil); err != nil {
			page = Page{}
		}
	}
	switch {
	case success && (page.Kind == KindResults || page.Kind == KindNoResults):
		return engines.Answer{Results: page.Results, LeftOut: page.LeftOut}, nil
	case page.Kind == KindChallenge, status == http.StatusAccepted:
		return engines.Answer{}, fail(classChallenge,
			"DuckDuckGo asked for proof of a human, so the search was not carried out. Do not retry at once: wait some minutes, or use another engine or network.")
	case status == http.StatusTooManyRequests, (status == http.StatusForbidden || status == http.StatusTeapot) && refusal(body):
		return engines.Answer{}, rateLimited(resp.Header)
	case !success:
		return engines.Answer{}, httpStatus(resp)
	case page.Leaves:
		return engines.Answer{}, sentAway(query)
	case page.LeftOut.Broken+page.LeftOut.Unsafe > 0:
		return engines.Answer{}, fail(classUnexpected,
			"DuckDuckGo's page held entries, but none with a usable link to another site. This does not mean that nothing was found; rephrase the query or use another engine.")
	default:
		return engines.Answer{}, fail(classUnexpected,
			"DuckDuckGo answered with a page that is not a result page. This does not mean that nothing was found; use another engine, or try again later.")
	}
}

func fail(class, message string) *engines.Error {
	return &engines.Error{Engine: engines.DuckDuckGo, Class: class, Message: message}
}

func rateLimited(h http.Header) *engines.Error {
	err := fail(classRateLimited,
		"DuckDuckGo refuses queries from this address for now, so the search was not carried out. Do not retry at once: wait some minutes, or use another engine or network.")
	err.Retryable, err.RetryAfterMS = true, exchange.RetryAfterMS(h)
	return err
}

func httpStatus(resp *http.Response) *engines.Error {
	status := strconv.Itoa(resp.StatusCode)
	if resp.StatusCode < 500 {
		err := fail("http_"+status, "DuckDuckGo answered with HTTP status "+status+"; the search was not carried out. Use another engine.")
		err.HTTPStatus = resp.StatusCode
		return err
	}
	err := fail("http_"+status, "DuckDuckGo answered with HTTP status "+status+"; the search was not carried out. Try again later, once, or use another engine.")
	err.HTTPStatus, err.Retryable, err.RetryAfterMS = resp.StatusCode, true, exchange.RetryAfterMS(resp.Header)
	return err
}

func sentAway(query string) *engines.Error {
	for word := range strings.FieldsSeq(query) {
		if len(word) > 1 && (word[0] == '!' || word[0] == '\\') {
			return fail(classUnexpected,
				`DuckDuckGo took a part of the query as a command to go to another site, which is never followed: a bang such as "!w", or a leading backslash. Put that word in quotes or leave it out.`)
		}
	}
	return fail(classUnexpected,
		"The query was answered by sending it on to another site, which is never followed. A portal or proxy of this network may be the cause; use another network or engine.")
}

// redirect classifies an answer that points elsewhere; none is accepted.
func (e *Engine) redirect(query string, resp *http.Response) *engines.Error {
	base := &url.URL{Scheme: "https", Host: "html.duckduckgo.com", Path: "/html/"}
	target, err := base.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return httpStatus(resp)
	}
	name := path.Base(target.Path)
	onSite := ownHost(target) || target.Host == e.endpoint.Host
	_, verdict := follow(target.String(), base)
	switch {
	case onSite && (name == "anomaly.js" || strings.HasPrefix(name, "506")):
		return rateLimited(resp.Header)
	case !onSite, ownHost(target) && verdict == linkOrganic: // the latter is a wrapper around another site
		return sentAway(query)
	default:
		return httpStatus(resp)
	}
}

// refusal knows the short text with the support address, and anything that is no HTML page: a page of another
// form comes from a proxy on the way as a rule, and is left to its status.
func refusal(body []byte) bool {
	lower := bytes.ToLower(body)
	return bytes.Contains(lower, []byte("@duckduckgo.com")) ||
		!bytes.Contains(lower, []byte("<html")) && !bytes.Contains(lower, []byte("<body")) && !bytes.Contains(lower, []byte("<!doctype"))
}

// isText says whether the answer may be a page. DuckDuckGo names text/html; a fixed-up copy may name nothing.
func isText(h http.Header) bool {
	value := h.Get("Content-Type")
	if value == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(value)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return false
	}
	return media == "text/html" || media == "text/plain" || media == "application/xhtml+xml"
}

// failed types an error of the way there or back.
func failed(ctx context.Context, err error) *engines.Error {
	e := &engines.Error{Engine: engines.DuckDuckGo, Err: err}
	switch exchange.KindOf(ctx, err) {
	case exchange.Cancelled:
		e.Class, e.Message = classCancelled, "The search was cancelled by its caller."
		e.Err = context.Canceled
	case exchange.Timeout:
		e.Class, e.Retryable = classTimeout, true
		e.Message = "DuckDuckGo did not answer in time. Try again, or use another engine."
	case exchange.TooLarge:
		e.Class = classUnexpected
		e.Message = "DuckDuckGo's answer is larger than any result page; it was not read. Use another engine."
	case exchange.Broken:
		e.Class, e.Retryable = classUnexpected, true
		e.Message = "DuckDuckGo's answer broke off, so it was not used: a part of the results must not look like all. Try again, or use another engine."
	case exchange.Garbled:
		e.Class = classUnexpected
		e.Message = "DuckDuckGo's answer could not be decompressed. Use another engine, or try again later."
	default:
		e.Class, e.Retryable = classConnect, true
		e.Message = "DuckDuckGo could not be reached: the name, TLS or the connection failed. Check the network or proxy, or use another engine."
	}
	return e
}
