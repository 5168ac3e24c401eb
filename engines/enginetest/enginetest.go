// Package enginetest is the suite that every engine behind a JSON interface has to pass: what it sends, what
// it refuses to send, and that each way to fail is a typed failure without a secret in it.
//
// It runs against servers of its own on the loopback address. It must not know a provider's fields: the
// engine's own test brings answers and the classes. Start at Run, and at Replay for recorded answers.
package enginetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"web/engines"
	"web/engines/internal/exchange"
)

// Provider is what the suite must be told about an engine.
type Provider struct {
	// Engine is its name in package engines.
	Engine string
	// New returns the engine that asks base with key. An engine that also has the method Summarize is held to
	// the same rules there.
	New func(client *http.Client, base, key string) engines.Engine
	// Answer is a body that holds at least one result and, where there is Summarize, a text. Empty is a whole
	// answer without any result.
	Answer, Empty string
	// Wrong are bodies of sound JSON that are no answer of this provider.
	Wrong []string
	// Status is the class for each HTTP status that is a failure, Redirect the one for a redirect, and Class
	// that for each kind but exchange.Status and exchange.Redirected.
	Status   map[int]string
	Redirect string
	Class    map[exchange.Kind]string
}

// What must not come out of a failure.
const (
	key    = "sk-secret-3f9a"
	query  = "quiet-query-71c2"
	remark = "foreign-remark-58d0"
)

// call is one of the ways to ask the engine.
type call struct {
	name string
	do   func(ctx context.Context, e engines.Engine, text string) (any, error)
}

type summarizer interface {
	Summarize(ctx context.Context, input, reason string) (string, error)
}

type suite struct {
	Provider
	call
}

// Run holds an engine to the suite.
func Run(t *testing.T, p Provider) {
	t.Helper()
	calls := []call{{"search", func(ctx context.Context, e engines.Engine, text string) (any, error) {
		return e.Search(ctx, engines.Query{Text: text})
	}}}
	if _, ok := p.New(&http.Client{}, "http://127.0.0.1", key).(summarizer); ok {
		calls = append(calls, call{"summarize", func(ctx context.Context, e engines.Engine, text string) (any, error) {
			return e.(summarizer).Summarize(ctx, text, "to know more")
		}})
	}
	for _, c := range calls {
		s := suite{p, c}
		t.Run(c.name, func(t *testing.T) {
			t.Run("answers", s.answers)
			t.Run("sends nothing", s.sendsNothing)
			t.Run("status", s.status)
			t.Run("redirect", s.redirect)
			t.Run("garbled", s.garbled)
			t.Run("size", s.size)
			t.Run("connection", s.connection)
			t.Run("end of patience", s.patience)
		})
	}
	t.Run("empty", func(t *testing.T) {
		base, _ := serve(t, write(p.Empty))
		got, err := p.New(client(t), base, key).Search(t.Context(), engines.Query{Text: query})
		if err != nil || len(got.Results) != 0 || got.Narrative != "" {
			t.Errorf("got %+v, error %v; want an empty answer", got, err)
		}
	})
}

// log of the requests that reached a server.
type requests struct {
	mu  sync.Mutex
	got []*http.Request
	// body of each request, read before the handler runs: a server notices a lost client only after that.
	body []string
}

func (r *requests) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got)
}

// serve returns the address of a server that answers with h.
func serve(t *testing.T, h http.HandlerFunc) (base string, seen *requests) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	seen = &requests{}
	srv := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen.mu.Lock()
		seen.got, seen.body = append(seen.got, r), append(seen.body, string(body))
		seen.mu.Unlock()
		h(w, r)
	})}
	go srv.Serve(listener)
	t.Cleanup(func() { srv.Close() })
	return "http://" + listener.Addr().String(), seen
}

// client returns a client of which all but the transport would spoil every call.
func client(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Nanosecond}
}

func write(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, body) }
}

func zipped(plain string) string {
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	io.WriteString(zw, plain)
	zw.Close()
	return b.String()
}

func writeZipped(plain string) http.HandlerFunc {
	body := zipped(plain)
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, body)
	}
}

func (s suite) ask(t *testing.T, ctx context.Context, base string) (any, error) {
	return s.do(ctx, s.New(client(t), base, key), query)
}

// fails asks and wants the one failure that is described.
func (s suite) fails(t *testing.T, ctx context.Context, base string, want engines.Error) {
	t.Helper()
	got, err := s.ask(t, ctx, base)
	s.isFailure(t, base, got, err, want)
}

var classForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_:.-]{1,64}$`) })

func (s suite) isFailure(t *testing.T, base string, got any, err error, want engines.Error) {
	t.Helper()
	if want.Class == "" {
		t.Fatalf("the suite was not told the class of this failure")
	}
	var e *engines.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %+v, error %v; want an *engines.Error", got, err)
	}
	if !reflect.ValueOf(got).IsZero() {
		t.Errorf("a failure brought an answer: %+v", got)
	}
	want.Engine = s.Engine
	bare := *e
	bare.Message, bare.Err = "", nil
	if bare != want {
		t.Errorf("got %#v\nwant %#v", bare, want)
	}
	if !classForm().MatchString(e.Class) {
		t.Errorf("class %q", e.Class)
	}
	if !strings.HasSuffix(e.Message, ".") || utf8.RuneCountInString(e.Message) > 300 {
		t.Errorf("message %q", e.Message)
	}
	shown := fmt.Sprintf("%s\n%+v\n%s\n%s", err.Error(), err, e.Message, e.Class)
	for _, secret := range []string{query, remark, "://", strings.TrimPrefix(base, "http://"), "127.0.0.1", "169.254"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q shows %q", shown, secret)
		}
	}
	// The key must not even stand in a cause that nobody shows.
	for cause := error(e); cause != nil; cause = errors.Unwrap(cause) {
		if strings.Contains(fmt.Sprintf("%#v %+v", cause, cause), key) {
			t.Errorf("%+v holds the key", cause)
		}
	}
}

func (s suite) answers(t *testing.T) {
	var first any
	for i, h := range []http.HandlerFunc{write(s.Answer), write(s.Answer), writeZipped(s.Answer)} {
		base, seen := serve(t, h)
		got, err := s.ask(t, t.Context(), base)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if i == 0 {
			first = got
		}
		if !reflect.DeepEqual(got, first) {
			t.Errorf("answer %d is %+v, the first %+v", i, got, first)
		}
		s.isComplete(t, got)
		if seen.count() != 1 {
			t.Fatalf("%d requests, want 1", seen.count())
		}
		r, body := seen.got[0], seen.body[0]
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Accept-Encoding") != "gzip" || !strings.Contains(body, query) {
			t.Errorf("request %s %v %q", r.Method, r.Header, body)
		}
		if strings.Contains(r.URL.String(), key) || strings.Contains(body, key) || !strings.Contains(fmt.Sprint(r.Header), key) {
			t.Errorf("the key stands elsewhere than in a header: %s %v %q", r.URL, r.Header, body)
		}
		if r.Header.Get("Cookie") != "" {
			t.Errorf("cookies were sent")
		}
	}
}

func (s suite) isComplete(t *testing.T, got any) {
	t.Helper()
	answer, ok := got.(engines.Answer)
	if !ok {
		if strings.TrimSpace(got.(string)) == "" {
			t.Errorf("no text in the answer")
		}
		return
	}
	if len(answer.Results) == 0 {
		t.Errorf("no result in %+v", answer)
	}
	for _, r := range answer.Results {
		if strings.TrimSpace(r.Title) == "" || !utf8.ValidString(r.Title+r.URL+r.Snippet+r.Published) {
			t.Errorf("result %+v", r)
		}
	}
}

func (s suite) sendsNothing(t *testing.T) {
	base, seen := serve(t, write(s.Answer))
	badKey := engines.Error{Class: s.Class[exchange.BadKey]}
	badEndpoint := engines.Error{Class: s.Class[exchange.BadEndpoint]}
	badText := engines.Error{Class: "invalid_query", InvalidQuery: true}
	for _, c := range []struct {
		name, base, key, text string
		want                  engines.Error
	}{
		{"no key", base, "", query, badKey},
		{"blank key", base, " ", query, badKey},
		{"key with a line break", base, key + "\n", query, badKey},
		{"key that would be two headers", base, key + "\r\nX-Other: 1", query, badKey},
		{"key with a control character", base, key + "\x01", query, badKey},
		{"base without a scheme", strings.TrimPrefix(base, "http://"), key, query, badEndpoint},
		{"base of another scheme", strings.Replace(base, "http", "ftp", 1), key, query, badEndpoint},
		{"base with user info", strings.Replace(base, "//", "//u:p@", 1), key, query, badEndpoint},
		{"base with a query", base + "/?a=b", key, query, badEndpoint},
		{"blank text", base, key, " \n\t", badText},
		{"text that is not UTF-8", base, key, query + "\xff", badText},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.do(t.Context(), s.New(client(t), c.base, c.key), c.text)
			s.isFailure(t, base, got, err, c.want)
		})
	}
	if seen.count() != 0 {
		t.Errorf("%d requests, want none", seen.count())
	}
}

func (s suite) status(t *testing.T) {
	for _, c := range []struct {
		status    int
		retryable bool
	}{
		{400, false}, {401, false}, {402, false}, {403, false}, {404, false}, {408, true}, {409, true}, {413, false}, {418, false}, {422, false},
		{429, true}, {500, true}, {502, true}, {503, true}, {529, true},
	} {
		for _, after := range []string{"", "7"} {
			t.Run(fmt.Sprint(c.status, " after ", after), func(t *testing.T) {
				base, seen := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if after != "" {
						w.Header().Set("Retry-After", after)
					}
					w.WriteHeader(c.status)
					io.WriteString(w, `{"error":{"message":"`+remark+" "+r.Header.Get("Authorization")+`"}}`)
				})
				want := engines.Error{Class: s.Status[c.status], Retryable: c.retryable, HTTPStatus: c.status}
				if c.retryable && after != "" {
					want.RetryAfterMS = 7000
				}
				s.fails(t, t.Context(), base, want)
				if seen.count() != 1 {
					t.Errorf("%d requests, want 1", seen.count())
				}
			})
		}
	}
}

func (s suite) redirect(t *testing.T) {
	private, reached := serve(t, write(s.Answer))
	for _, status := range []int{301, 302, 303, 304, 307, 308} {
		for _, target := range []string{private + "/", "/elsewhere", "http://169.254.169.254/latest", ""} {
			t.Run(fmt.Sprint(status, " to ", target), func(t *testing.T) {
				base, seen := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if target != "" {
						w.Header().Set("Location", target)
					}
					w.WriteHeader(status)
				})
				s.fails(t, t.Context(), base, engines.Error{Class: s.Redirect, HTTPStatus: status})
				if seen.count() != 1 || reached.count() != 0 {
					t.Errorf("%d requests, and %d to the target", seen.count(), reached.count())
				}
			})
		}
	}
}

func (s suite) garbled(t *testing.T) {
	bodies := append([]string{"", " ", "<html>" + remark + "</html>", "null", "true", `"` + remark + `"`, "[]", s.Answer[:len(s.Answer)/2], s.Answer + "{}"}, s.Wrong...)
	for i, body := range bodies {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			base, _ := serve(t, write(body))
			s.fails(t, t.Context(), base, engines.Error{Class: s.Class[exchange.Garbled]})
		})
	}
	t.Run("not gzip", func(t *testing.T) {
		base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, s.Answer)
		})
		s.fails(t, t.Context(), base, engines.Error{Class: s.Class[exchange.Garbled]})
	})
}

func (s suite) size(t *testing.T) {
	pad := func(n int) string { return s.Answer + strings.Repeat(" ", n-len(s.Answer)) }
	t.Run("fits", func(t *testing.T) {
		base, _ := serve(t, write(pad(exchange.MaxBodyBytes)))
		if got, err := s.ask(t, t.Context(), base); err != nil {
			t.Errorf("got %+v, error %v", got, err)
		}
	})
	for name, h := range map[string]http.HandlerFunc{
		"too large":                   write(pad(exchange.MaxBodyBytes + 1)),
		"too large when decompressed": writeZipped(pad(exchange.MaxBodyBytes + 1)),
		"nothing out of much":         writeMembers(exchange.MaxBodyBytes),
	} {
		t.Run(name, func(t *testing.T) {
			base, _ := serve(t, h)
			s.fails(t, t.Context(), base, engines.Error{Class: s.Class[exchange.TooLarge]})
		})
	}
}

// writeMembers sends more than n bytes of gzip that decompress to nothing.
func writeMembers(n int) http.HandlerFunc {
	member := zipped("")
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, strings.Repeat(member, n/len(member)+1))
	}
}

func (s suite) connection(t *testing.T) {
	broken := engines.Error{Class: s.Class[exchange.Broken], Retryable: true}
	t.Run("refused", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatalf("%v", err)
		}
		listener.Close()
		s.fails(t, t.Context(), "http://"+listener.Addr().String(), engines.Error{Class: s.Class[exchange.Connect], Retryable: true})
	})
	t.Run("closed without an answer", func(t *testing.T) {
		base, _ := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		s.fails(t, t.Context(), base, broken)
	})
	t.Run("cut in the answer", func(t *testing.T) {
		base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, s.Answer) // whole, but for the end of the transfer
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		})
		s.fails(t, t.Context(), base, broken)
	})
	t.Run("shorter than announced", func(t *testing.T) {
		base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(s.Answer)+1))
			io.WriteString(w, s.Answer)
		})
		s.fails(t, t.Context(), base, broken)
	})
}

// expiring is a context that runs out of time when expire is called: how far a call came by then is up to the
// test, and not to the machine.
type expiring struct {
	context.Context
	done   chan struct{}
	expire func()
}

func newExpiring(parent context.Context) *expiring {
	done := make(chan struct{})
	return &expiring{parent, done, sync.OnceFunc(func() { close(done) })}
}

func (e *expiring) Done() <-chan struct{} { return e.done }

func (e *expiring) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// patience ends the wait for the headers, for the rest of a body, and for a body that comes byte by byte.
func (s suite) patience(t *testing.T) {
	for name, start := range map[string]func(w http.ResponseWriter, end func()){
		"silence": func(w http.ResponseWriter, end func()) { end() },
		"half": func(w http.ResponseWriter, end func()) {
			io.WriteString(w, s.Answer[:len(s.Answer)/2])
			w.(http.Flusher).Flush()
			end()
		},
		"drip": func(w http.ResponseWriter, end func()) {
			for i := range 1000 {
				io.WriteString(w, " ")
				w.(http.Flusher).Flush()
				if i == 20 {
					end()
				}
			}
		},
	} {
		asked := func(t *testing.T, ctx context.Context, end func(), want engines.Error, cause error) {
			base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				start(w, end)
				<-r.Context().Done()
			})
			got, err := s.ask(t, ctx, base)
			s.isFailure(t, base, got, err, want)
			if !errors.Is(err, cause) {
				t.Errorf("%v does not unwrap to %v", err, cause)
			}
		}
		t.Run("deadline in "+name, func(t *testing.T) {
			ctx := newExpiring(t.Context())
			asked(t, ctx, ctx.expire, engines.Error{Class: s.Class[exchange.Timeout], Retryable: true}, context.DeadlineExceeded)
		})
		t.Run("cancelled in "+name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			asked(t, ctx, cancel, engines.Error{Class: s.Class[exchange.Cancelled]}, context.Canceled)
		})
	}
	t.Run("no time at all", func(t *testing.T) {
		base, seen := serve(t, write(s.Answer))
		ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
		defer cancel()
		s.fails(t, ctx, base, engines.Error{Class: s.Class[exchange.ConnectTimeout], Retryable: true})
		if seen.count() != 0 {
			t.Errorf("%d requests", seen.count())
		}
	})
}
