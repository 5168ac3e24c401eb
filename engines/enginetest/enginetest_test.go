package enginetest

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"web/engines"
	"web/engines/internal/exchange"
)

// words is the smallest engine that there can be.
type words struct {
	p         exchange.Provider
	base, key string
}

func (w words) Search(ctx context.Context, q engines.Query) (engines.Answer, error) {
	if err := w.p.CheckText(q.Text); err != nil {
		return engines.Answer{}, err
	}
	var a struct {
		Words []string `json:"words"`
	}
	if err := w.p.Post(ctx, exchange.Endpoint(w.base, "/ask"), http.Header{"X-Key": {w.key}}, map[string]string{"text": q.Text}, &a); err != nil {
		return engines.Answer{}, err
	}
	if a.Words == nil {
		return engines.Answer{}, w.p.Fail(exchange.Fault{Kind: exchange.Garbled}, "")
	}
	out := engines.Answer{}
	for _, s := range a.Words {
		out.Results = append(out.Results, engines.Result{Title: s})
	}
	return out, nil
}

func class(f exchange.Fault) string { return fmt.Sprintf("c%d.%d", f.Kind, f.Status) }

func provider() Provider {
	p := Provider{
		Engine: "words",
		New: func(c *http.Client, base, key string) engines.Engine {
			return words{exchange.Provider{Engine: "words", Name: "Words", Class: class, Transport: exchange.Transport(c)}, base, key}
		},
		Answer: `{"words":["a","b"]}`, Empty: `{"words":[]}`, Wrong: []string{`{}`, `{"words":{}}`, `{"words":[1]}`},
		Status: map[int]string{}, Class: map[exchange.Kind]string{},
	}
	for _, status := range []int{400, 401, 402, 403, 404, 408, 409, 413, 418, 422, 429, 500, 502, 503, 529} {
		p.Status[status] = class(exchange.Fault{Kind: exchange.Status, Status: status})
	}
	for k := exchange.Connect; k <= exchange.BadKey; k++ {
		p.Class[k] = class(exchange.Fault{Kind: k})
	}
	return p
}

func TestSuite(t *testing.T) {
	p := provider()
	p.Redirect = "c8.302"
	p.New = func(c *http.Client, base, key string) engines.Engine {
		e := provider().New(c, base, key).(words)
		e.p.Class = func(f exchange.Fault) string {
			if f.Kind == exchange.Redirected {
				f.Status = 302
			}
			return class(f)
		}
		return e
	}
	Run(t, p)
}
