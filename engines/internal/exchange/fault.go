package exchange

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"

	"web/engines"
)

// Kind is what went wrong.
type Kind int

// The kinds of Fault.
const (
	Status         Kind = iota + 1 // an HTTP status of 400 or more; Fault.Status holds it
	Connect                        // no connection: the name, TLS or the network failed
	ConnectTimeout                 // time ran out before there was a connection
	Timeout                        // time ran out on a connection
	Broken                         // the connection broke off before the answer was complete
	Garbled                        // an answer that is not JSON, or not of the expected form
	TooLarge                       // an answer over MaxBodyBytes
	Redirected                     // an answer that points elsewhere; Fault.Status holds its status
	Cancelled                      // the caller gave up
	BadEndpoint                    // the configured address cannot be used; nothing was sent
	BadKey                         // the key cannot be one; nothing was sent
)

// Fault is what a provider's class is made of.
type Fault struct {
	Kind Kind
	// Status is the HTTP status for Status and Redirected, else 0.
	Status int
}

// KindOf tells what kind of failure err is, an error of a round trip or of ReadBody. Only the context knows a
// cancelled call from one that ran out of time. What nothing else explains is Connect.
func KindOf(ctx context.Context, err error) Kind {
	var timeout net.Error
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return Cancelled
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return Timeout
	case errors.Is(err, ErrTooLarge):
		return TooLarge
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Broken
	case errors.Is(err, ErrEncoding), errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return Garbled
	}
	return Connect
}

// Fail makes the failure for f. An empty message is replaced by the provider's for f, or by what is known about
// f in general; any other is one sentence that holds nothing foreign.
func (p Provider) Fail(f Fault, message string) *engines.Error {
	if message == "" && p.Message != nil {
		message = p.Message(f)
	}
	if message == "" {
		message = p.message(f)
	}
	e := &engines.Error{Engine: p.Engine, Class: p.Class(f), Message: message, HTTPStatus: f.Status}
	switch f.Kind {
	case Connect, ConnectTimeout, Timeout, Broken:
		e.Retryable = true
	case Status:
		e.Retryable = retryable(f.Status)
	case Cancelled:
		e.Err = context.Canceled
	}
	return e
}

func retryable(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusConflict || status == http.StatusTooManyRequests || status >= 500
}

func (p Provider) message(f Fault) string {
	status := strconv.Itoa(f.Status)
	switch f.Kind {
	case Connect:
		return p.Name + " could not be reached: the name, TLS or the connection failed. Check the network, or use another engine."
	case ConnectTimeout, Timeout:
		return p.Name + " did not answer in time. Try again, or use another engine."
	case Broken:
		return "The connection to " + p.Name + " broke off before its answer was complete, so nothing of it was used. Try again, or use another engine."
	case Garbled:
		return p.Name + "'s answer does not have the form of its API, so it was not used. Use another engine, or have the operator check " + p.settings() + "."
	case TooLarge:
		return p.Name + "'s answer is larger than any answer to a search, so it was not read. Use another engine."
	case Redirected:
		return p.Name + " answered with a redirect (HTTP status " + status + "), which is never followed. Have the operator check base_url."
	case Cancelled:
		return "The call to " + p.Name + " was cancelled by its caller."
	case BadEndpoint:
		return p.Name + "'s configuration gives no usable http or https address. Have the operator correct " + p.settings() + "."
	case BadKey:
		return "The configured key of " + p.Name + " is empty or holds a space, a line break or another character that no key holds, so nothing was sent. Have the operator correct it."
	}
	switch f.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return p.Name + " refused the key (HTTP status " + status + "). Have the operator check the key of " + p.Name + " and what it may be used for."
	case http.StatusNotFound:
		return p.Name + " does not know what was asked for (HTTP status 404). Have the operator check " + p.settings() + "."
	case http.StatusRequestEntityTooLarge:
		return p.Name + " refused the request as too large (HTTP status 413). Send less text."
	case http.StatusTooManyRequests:
		return p.Name + " takes no more requests for now (HTTP status 429): the rate or the credit of the key is used up. Wait before the next call, or use another engine."
	}
	if retryable(f.Status) {
		return p.Name + " could not answer for now (HTTP status " + status + "). Try again later, once, or use another engine."
	}
	return p.Name + " refused the request (HTTP status " + status + "). Change the text, use another engine, or have the operator check key, " + p.settings() + "."
}

// settings names what the operator may have got wrong besides the key.
func (p Provider) settings() string {
	if engines.DefaultModel(p.Engine) == "" {
		return "base_url"
	}
	return "model and base_url"
}
