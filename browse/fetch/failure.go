package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"web/browse/fault"
)

const (
	checkURL  = "check the URL and stop"
	retryOnce = "retry once; if it fails again, stop"
)

// maxRetryAfter is the longest wait that a server may talk the caller into.
const maxRetryAfter = 24 * time.Hour

// spent reports a budget that was used up between two steps.
func spent(ctx context.Context) *fault.Error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return canceled(err)
	default:
		return fault.New(fault.FetchTimeout, "the page took longer than the time allowed for the whole call", retryOnce).WithCause(err)
	}
}

func canceled(err error) *fault.Error {
	return fault.New(fault.Canceled, "the call was cancelled", "repeat the call if it is still wanted").WithCause(err)
}

// transportFault types an error of dialling, TLS, HTTP framing or reading. What the guard said stands.
func transportFault(ctx context.Context, err error) *fault.Error {
	var f *fault.Error
	var timeout net.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(ctx.Err(), context.Canceled):
		return canceled(err)
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return readTimeout(err)
	}
	return fault.New(fault.TransportFailed, "the connection to the server failed", retryOnce).WithCause(err)
}

func readTimeout(err error) *fault.Error {
	return fault.New(fault.ReadTimeout, "the server did not answer completely in the time allowed", retryOnce).WithCause(err)
}

func tooLarge(status int) *fault.Error {
	return fault.New(fault.BodyTooLarge, "the page is larger than the limit", checkURL).WithStatus(status)
}

func sourceBlocked(status int) *fault.Error {
	return fault.New(fault.SourceBlocked, "the site answers automated readers with a challenge or a refusal",
		"use another source for this information, and do not retry this one").WithStatus(status)
}

// refused types a response that is neither a page nor a redirect.
func (c Client) refused(ctx context.Context, resp *http.Response) *fault.Error {
	status := resp.StatusCode
	if isBotWall(resp, func() []byte { return errorBody(ctx, resp) }) {
		return sourceBlocked(status)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return canceled(ctx.Err())
	}
	advice := checkURL
	retryable := status == http.StatusTooManyRequests || status >= 500
	var seconds int64
	if retryable {
		advice = retryOnce
		if wait, ok := c.retryAfter(resp); ok {
			seconds = int64(wait / time.Second)
			advice = fmt.Sprintf("wait %d seconds, then retry once", seconds)
		}
	}
	f := fault.New(fault.HTTPStatus, fmt.Sprintf("the server answered with status %d", status), advice).WithStatus(status)
	f.Retryable, f.RetryAfterMS = retryable, 1000*seconds
	return f
}

// retryAfter reads Retry-After (RFC 9110 10.2.3), rounded up to whole seconds.
func (c Client) retryAfter(resp *http.Response) (time.Duration, bool) {
	value := last(resp.Header, "Retry-After")
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, maxRetryAfter), n > 0
	}
	at, err := http.ParseTime(value)
	if err != nil || c.Now == nil {
		return 0, false
	}
	wait := at.Sub(c.Now()) + time.Second - 1
	return min(wait, maxRetryAfter), wait >= time.Second
}
