package gemini

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"web/engines"
	"web/engines/enginetest"
)

// exchanged is what a loop round trip saw and what it answers.
type exchanged struct {
	answer string
	req    *http.Request
	body   string
}

func (x *exchanged) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	x.req, x.body = req, string(body)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader([]byte(x.answer))), Request: req,
	}, nil
}

// engine returns an engine that gets answer, and what it sends.
func engine(answer string, cfg Config) (*Engine, *exchanged) {
	x := &exchanged{answer: answer}
	cfg.Client = &http.Client{Transport: x}
	if cfg.Key == "" {
		cfg.Key = "test-key"
	}
	return New(cfg), x
}

func search(answer string) (engines.Answer, *engines.Error) {
	e, _ := engine(answer, Config{})
	a, err := e.Search(context.Background(), engines.Query{Text: "q"})
	var typed *engines.Error
	if err != nil && !errors.As(err, &typed) {
		panic("untyped error: " + err.Error())
	}
	return a, typed
}

func TestExchanges(t *testing.T) { enginetest.Replay(t, build) }
