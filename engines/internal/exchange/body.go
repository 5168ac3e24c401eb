package exchange

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a server may ask a caller to wait: a longer time is not a pause but a refusal.
const maxRetryAfter = 24 * time.Hour

// What ReadBody adds to the errors of the connection and of gzip.
var (
	ErrTooLarge = errors.New("body over the limit")
	ErrEncoding = errors.New("body in an encoding that was not asked for")
)

// ReadBody reads a body of at most limit bytes, counted on the wire and again after decompression. It is for
// requests that asked for gzip themselves: a transport that asks on its own bounds only one side.
func ReadBody(resp *http.Response, limit int64) ([]byte, error) {
	body := io.Reader(&limited{r: resp.Body, left: limit})
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "", "identity":
	case "gzip", "x-gzip":
		zr, err := gzip.NewReader(body)
		if err != nil {
			return nil, err
		}
		body = &limited{r: zr, left: limit}
	default:
		return nil, ErrEncoding
	}
	return io.ReadAll(body)
}

// limited fails with ErrTooLarge once more than left bytes came; io.LimitReader would end like a whole body.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if int64(n) > l.left {
		return int(l.left), ErrTooLarge
	}
	l.left -= int64(n)
	return n, err
}

// RetryAfterMS reads Retry-After in seconds, or as a date against the server's own clock, in milliseconds; 0
// when it says nothing usable.
func RetryAfterMS(h http.Header) int64 {
	value := strings.TrimSpace(h.Get("Retry-After"))
	var wait time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else {
		until, err1 := http.ParseTime(value)
		now, err2 := http.ParseTime(h.Get("Date"))
		if err1 != nil || err2 != nil {
			return 0
		}
		wait = until.Sub(now)
	}
	return min(max(wait, 0), maxRetryAfter).Milliseconds()
}
