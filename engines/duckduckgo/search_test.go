package duckduckgo

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"web/engines"
	"web/engines/duckduckgo/ddgtest"
	"web/engines/internal/exchange"
)

// serve returns an engine that asks h.
func serve(t *testing.T, h http.HandlerFunc) (*Engine, *httptest.Server) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return New(Config{Client: srv.Client(), BaseURL: srv.URL + "/html/"}), srv
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// failure returns the error as *engines.Error and checks what holds for each.
func failure(t *testing.T, got engines.Answer, err error) *engines.Error {
	t.Helper()
	var e *engines.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %+v, error %v; want an *engines.Error", got, err)
	}
	if diff := cmp.Diff(engines.Answer{}, got); diff != "" {
		t.Errorf("a failure brought an answer (-want +got):\n%s", diff)
	}
	if e.Engine != engines.DuckDuckGo || !regexp.MustCompile(`^[a-z0-9_]{1,64}$`).MatchString(e.Class) {
		t.Errorf("engine %q, class %q", e.Engine, e.Class)
	}
	if !strings.HasSuffix(e.Message, ".") || strings.Contains(e.Message, "127.0.0.1") || strings.Contains(e.Message, "://") {
		t.Errorf("message %q", e.Message)
	}
	return e
}

func TestRequest(t *testing.T) {
	type sent struct {
		Method, Path, Body string
		Header             http.Header
	}
	common := http.Header{
		"Accept":                    {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
		"Accept-Encoding":           {"gzip"},
		"Accept-Language":           {"en-US,en;q=0.9"},
		"Content-Type":              {"application/x-www-form-urlencoded"},
		"Sec-Fetch-Dest":            {"document"},
		"Sec-Fetch-Mode":            {"navigate"},
		"Sec-Fetch-Site":            {"same-origin"},
		"Sec-Fetch-User":            {"?1"},
		"Upgrade-Insecure-Requests": {"1"},
		"User-Agent":                {DefaultUserAgent},
	}
	for _, tc := range []struct {
		name string
		q    engines.Query
		body string
	}{
		{"plain", engines.Query{Text: "go lang"}, "q=go+lang&b=&kl="},
		{"encoded once, not trimmed", engines.Query{Text: ` a+b&q=%20 "ü" `}, "q=+a%2Bb%26q%3D%2520+%22%C3%BC%22+&b=&kl="},
		{"bangs unmodified", engines.Query{Text: `!w \x`}, "q=%21w+%5Cx&b=&kl="},
		{"region and time", engines.Query{Text: "x", Region: "de-de", TimeRange: "w"}, "q=x&b=&kl=de-de&df=w"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []sent
			e, srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = append(got, sent{r.Method, r.URL.RequestURI(), string(body), r.Header})
				w.Write(fixture(t, "results_direct.html"))
			})
			if _, err := e.Search(t.Context(), tc.q); err != nil {
				t.Fatal(err)
			}
			header := common.Clone()
			header.Set("Origin", srv.URL)
			header.Set("Referer", srv.URL+"/")
			want := []sent{{http.MethodPost, "/html/", tc.body, header}}
			opt := cmpopts.IgnoreMapEntries(func(k string, _ []string) bool { return k == "Content-Length" })
			if diff := cmp.Diff(want, got, opt); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestToDuckDuckGoItself(t *testing.T) {
	var got *http.Request
	e := New(Config{UserAgent: "Mine/1", Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		got = r
		return nil, errors.New("enough")
	})}})
	_, err := e.Search(t.Context(), engines.Query{Text: "x"})
	if err == nil || got == nil {
		t.Fatalf("request %v, error %v", got, err)
	}
	want := []string{DefaultBaseURL, "https://html.duckduckgo.com", "https://html.duckduckgo.com/", "Mine/1"}
	if diff := cmp.Diff(want, []string{got.URL.String(), got.Header.Get("Origin"), got.Header.Get("Referer"), got.UserAgent()}); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestQueriesRefusedBeforeAnythingIsSent(t *testing.T) {
	var requests atomic.Int32
	e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Write(fixture(t, "results_direct.html"))
	})
	for _, tc := range []struct {
		name  string
		q     engines.Query
		class string // "" is accepted
	}{
		{"empty", engines.Query{}, "invalid_query"},
		{"blank", engines.Query{Text: " \t\u3000"}, "invalid_query"},
		{"not UTF-8", engines.Query{Text: "caf\xe9"}, "invalid_query"},
		{"500 characters", engines.Query{Text: strings.Repeat("ü", 500)}, "invalid_query"},
		{"499 characters", engines.Query{Text: strings.Repeat("ü", 499)}, ""},
		{"region in the order of a language tag", engines.Query{Text: "x", Region: "en-us"}, "invalid_region"},
		{"two regions", engines.Query{Text: "x", Region: "us-en us-es"}, "invalid_region"},
		{"all regions", engines.Query{Text: "x", Region: "wt-wt"}, ""},
		{"time range", engines.Query{Text: "x", TimeRange: "h"}, "invalid_time_range"},
		{"two times", engines.Query{Text: "x", TimeRange: "dw"}, "invalid_time_range"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := requests.Load()
			answer, err := e.Search(t.Context(), tc.q)
			if tc.class == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			f := failure(t, answer, err)
			if f.Class != tc.class || !f.InvalidQuery || f.Retryable {
				t.Errorf("got %+v, want class %s and InvalidQuery", f, tc.class)
			}
			if tc.name == "500 characters" && !strings.Contains(f.Message, "499") {
				t.Errorf("the limit is not in %q", f.Message)
			}
			if requests.Load() != before {
				t.Error("a request was sent")
			}
		})
	}
}

func TestSearchFailures(t *testing.T) {
	type reply struct {
		status  int
		header  map[string]string
		fixture string
		body    string
	}
	const mailText = `If this persists, please <a href="mailto:error-lite+1@duckduckgo.com">write to us</a>.`
	for _, tc := range []struct {
		name  string
		query string
		reply reply
		want  engines.Error
		says  string
	}{
		{name: "C7 202 with the challenge", reply: reply{status: 202, fixture: "challenge.html"}, want: engines.Error{Class: "challenge"}, says: "Do not retry at once"},
		{name: "C7 202 with one of its elements", reply: reply{status: 202, body: `<div class="anomaly-modal__mask"></div>`}, want: engines.Error{Class: "challenge"}, says: "not carried out"},
		{name: "200 with the challenge", reply: reply{status: 200, fixture: "challenge.html"}, want: engines.Error{Class: "challenge"}},
		{name: "403 with the challenge", reply: reply{status: 403, fixture: "challenge.html"}, want: engines.Error{Class: "challenge"}},
		{name: "202 without a body", reply: reply{status: 202}, want: engines.Error{Class: "challenge"}},
		{name: "202 with a page of another kind", reply: reply{status: 202, fixture: "unexpected_home.html"}, want: engines.Error{Class: "challenge"}},
		{name: "429", reply: reply{status: 429, header: map[string]string{"Retry-After": "90"}}, want: engines.Error{Class: "rate_limited", Retryable: true, RetryAfterMS: 90_000}, says: "Do not retry at once"},
		{
			name:  "429 with a date",
			reply: reply{status: 429, header: map[string]string{"Date": "Mon, 02 Mar 2026 10:00:00 GMT", "Retry-After": "Mon, 02 Mar 2026 10:02:00 GMT"}},
			want:  engines.Error{Class: "rate_limited", Retryable: true, RetryAfterMS: 120_000},
		},
		{name: "429 with a date long past", reply: reply{status: 429, header: map[string]string{"Retry-After": "Mon, 02 Mar 2020 10:02:00 GMT"}}, want: engines.Error{Class: "rate_limited", Retryable: true}},
		{name: "429 with a year", reply: reply{status: 429, header: map[string]string{"Retry-After": "31536000"}}, want: engines.Error{Class: "rate_limited", Retryable: true, RetryAfterMS: 86_400_000}},
		{name: "429 with nonsense", reply: reply{status: 429, header: map[string]string{"Retry-After": "-5"}}, want: engines.Error{Class: "rate_limited", Retryable: true}},
		{name: "403 with the support address", reply: reply{status: 403, body: mailText}, want: engines.Error{Class: "rate_limited", Retryable: true}},
		{name: "403 with the support address in a page", reply: reply{status: 403, body: "<html>" + mailText}, want: engines.Error{Class: "rate_limited", Retryable: true}},
		{name: "403 with a word", reply: reply{status: 403, body: "Forbidden"}, want: engines.Error{Class: "rate_limited", Retryable: true}},
		{name: "403 with somebody's page", reply: reply{status: 403, body: "<html><body>Blocked by your proxy</body></html>"}, want: engines.Error{Class: "http_403"}},
		{name: "418", reply: reply{status: 418}, want: engines.Error{Class: "rate_limited", Retryable: true}},
		{name: "400", reply: reply{status: 400}, want: engines.Error{Class: "http_400"}},
		{name: "404 with results is no answer", reply: reply{status: 404, fixture: "results_direct.html"}, want: engines.Error{Class: "http_404"}},
		{name: "500", reply: reply{status: 500, body: "oops"}, want: engines.Error{Class: "http_500", Retryable: true}},
		{name: "503", reply: reply{status: 503, header: map[string]string{"Retry-After": "7"}}, want: engines.Error{Class: "http_503", Retryable: true, RetryAfterMS: 7000}},
		{name: "301 to an anomaly address", reply: reply{status: 301, header: map[string]string{"Location": "/506-01.js"}}, want: engines.Error{Class: "rate_limited", Retryable: true}},
		{name: "301 to another anomaly address", reply: reply{status: 301, header: map[string]string{"Location": "//duckduckgo.com/anomaly.js?sv=html"}}, want: engines.Error{Class: "rate_limited", Retryable: true}},
		{name: "302 on the site", reply: reply{status: 302, header: map[string]string{"Location": "https://html.duckduckgo.com/html/?q=x"}}, want: engines.Error{Class: "http_302"}},
		{name: "302 on the host that was configured", reply: reply{status: 302, header: map[string]string{"Location": "http://HOST/login"}}, want: engines.Error{Class: "http_302"}},
		{name: "303 for a bang", query: "tide !w", reply: reply{status: 303, header: map[string]string{"Location": "https://encyclopedia.example/tide"}}, want: engines.Error{Class: "unexpected_page"}, says: "bang"},
		{name: "303 for a bang through the wrapper", query: "!w tide", reply: reply{status: 303, header: map[string]string{"Location": "/l/?uddg=https%3A%2F%2Fencyclopedia.example%2F"}}, want: engines.Error{Class: "unexpected_page"}, says: "bang"},
		{name: "refresh for a bang", query: "!w kelp", reply: reply{status: 200, fixture: "unexpected_bang.html"}, want: engines.Error{Class: "unexpected_page"}, says: "bang"},
		{name: "302 of a portal", query: "tide!", reply: reply{status: 302, header: map[string]string{"Location": "http://login.example/"}}, want: engines.Error{Class: "unexpected_page"}, says: "portal"},
		{name: "302 to nowhere", reply: reply{status: 302, header: map[string]string{"Location": "http://[/"}}, want: engines.Error{Class: "http_302"}},
		{name: "304", reply: reply{status: 304}, want: engines.Error{Class: "http_304"}},
		{name: "home page", reply: reply{status: 200, fixture: "unexpected_home.html"}, want: engines.Error{Class: "unexpected_page"}, says: "does not mean that nothing was found"},
		{name: "words of an empty page only", reply: reply{status: 200, fixture: "unexpected_words_only.html"}, want: engines.Error{Class: "unexpected_page"}},
		{name: "nothing readable", reply: reply{status: 200, fixture: "unexpected_all_broken.html"}, want: engines.Error{Class: "unexpected_page"}, says: "usable link"},
		{name: "empty body", reply: reply{status: 200}, want: engines.Error{Class: "unexpected_page"}},
		{name: "204", reply: reply{status: 204}, want: engines.Error{Class: "unexpected_page"}},
		{name: "JSON", reply: reply{status: 200, header: map[string]string{"Content-Type": "application/json"}, fixture: "results_direct.html"}, want: engines.Error{Class: "unexpected_page"}},
		{name: "another charset", reply: reply{status: 200, header: map[string]string{"Content-Type": "text/html; charset=iso-8859-1"}, body: `<div class="result"><h2><a href="https://ex.org/">` + "caf\xe9</a></h2></div>"}, want: engines.Error{Class: "unexpected_page"}},
		{name: "not gzip", reply: reply{status: 200, header: map[string]string{"Content-Encoding": "gzip"}, fixture: "results_direct.html"}, want: engines.Error{Class: "unexpected_page"}, says: "decompressed"},
		{name: "an encoding not asked for", reply: reply{status: 200, header: map[string]string{"Content-Encoding": "br"}, fixture: "results_direct.html"}, want: engines.Error{Class: "unexpected_page"}, says: "decompressed"},
		{name: "too large", reply: reply{status: 200, body: strings.Repeat("x", MaxBodyBytes+1)}, want: engines.Error{Class: "unexpected_page"}, says: "larger"},
		{name: "too large and refused", reply: reply{status: 500, body: strings.Repeat("x", MaxBodyBytes+1)}, want: engines.Error{Class: "http_500", Retryable: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var requests atomic.Int32
			e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				w.Header().Set("Content-Type", "text/html; charset=UTF-8")
				for k, v := range tc.reply.header {
					w.Header().Set(k, strings.ReplaceAll(v, "HOST", r.Host))
				}
				body := []byte(tc.reply.body)
				if tc.reply.fixture != "" {
					body = fixture(t, tc.reply.fixture)
				}
				w.WriteHeader(tc.reply.status)
				w.Write(body)
			})
			query := tc.query
			if query == "" {
				query = "tide"
			}
			answer, err := e.Search(t.Context(), engines.Query{Text: query})
			f := failure(t, answer, err)
			tc.want.Engine = engines.DuckDuckGo
			if status, ok := strings.CutPrefix(tc.want.Class, "http_"); ok {
				tc.want.HTTPStatus, _ = strconv.Atoi(status)
			}
			if diff := cmp.Diff(tc.want, *f, cmpopts.IgnoreFields(engines.Error{}, "Message", "Err")); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
			if !strings.Contains(f.Message, tc.says) {
				t.Errorf("message %q does not say %q", f.Message, tc.says)
			}
			if got := requests.Load(); got != 1 {
				t.Errorf("%d requests, want 1", got)
			}
		})
	}
}

func TestSearchAnswers(t *testing.T) {
	direct, err := Parse(fixture(t, "results_direct.html"), nil)
	if err != nil {
		t.Fatal(err)
	}
	full := engines.Answer{Results: direct.Results}
	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	zw.Write(fixture(t, "results_direct.html"))
	zw.Close()
	for _, tc := range []struct {
		name   string
		status int
		header map[string]string
		body   []byte
		want   engines.Answer
	}{
		{"results", 200, nil, fixture(t, "results_direct.html"), full},
		{"results with another 2xx", 202, nil, fixture(t, "results_direct.html"), full},
		{"results without a type", 200, map[string]string{"Content-Type": ""}, fixture(t, "results_direct.html"), full},
		{"results under plain text", 200, map[string]string{"Content-Type": "text/plain; charset"}, fixture(t, "results_direct.html"), full},
		{"results that speak of challenges", 200, nil, fixture(t, "results_about_challenges.html"), engines.Answer{Results: []engines.Result{{
			Title: `anomaly.js: id="challenge-form" class="anomaly-modal__mask"`, URL: "https://code.example/anomaly.js?id=challenge-form",
			Snippet: "No results found for bots use DuckDuckGo too",
		}}}},
		{"gzip", 200, map[string]string{"Content-Encoding": "gzip"}, zipped.Bytes(), full},
		{"empty", 200, nil, fixture(t, "empty_message.html"), engines.Answer{}},
		{"empty but for ads", 200, nil, fixture(t, "empty_ads_only.html"), engines.Answer{LeftOut: engines.LeftOut{Ads: 1}}},
		{"byte-order mark", 200, nil, append([]byte("\ufeff"), fixture(t, "results_direct.html")...), full},
		{"just small enough", 200, nil, append(fixture(t, "results_direct.html"), bytes.Repeat([]byte(" "), MaxBodyBytes-len(fixture(t, "results_direct.html")))...), full},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=UTF-8")
				for k, v := range tc.header {
					w.Header()[k] = []string{v}
					if v == "" {
						w.Header()[k] = nil
					}
				}
				w.WriteHeader(tc.status)
				w.Write(tc.body)
			})
			got, err := e.Search(t.Context(), engines.Query{Text: "tide"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBothSidesOfCompressionAreBounded(t *testing.T) {
	zip := func(plain []byte) []byte {
		var b bytes.Buffer
		zw := gzip.NewWriter(&b)
		zw.Write(plain)
		zw.Close()
		return b.Bytes()
	}
	nothing := zip(nil)
	for _, tc := range []struct {
		name string
		body []byte
	}{
		{"much out of little", zip(make([]byte, 16*MaxBodyBytes))},
		{"nothing out of much", bytes.Repeat(nothing, MaxBodyBytes/len(nothing)+1)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Content-Encoding", "gzip")
				w.Write(tc.body)
			})
			answer, err := e.Search(t.Context(), engines.Query{Text: "x"})
			if f := failure(t, answer, err); f.Class != "unexpected_page" || !errors.Is(f, exchange.ErrTooLarge) {
				t.Errorf("got %v (%v)", f, f.Err)
			}
		})
	}
}

func TestBrokenOffTransferIsNoAnswer(t *testing.T) {
	page := fixture(t, "results_direct.html")
	e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write(page[:len(page)*2/3]) // enough for whole results
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	answer, err := e.Search(t.Context(), engines.Query{Text: "x"})
	if f := failure(t, answer, err); f.Class != "unexpected_page" || !f.Retryable || !strings.Contains(f.Message, "broke off") {
		t.Errorf("got %+v", f)
	}
}

func TestWayThereFails(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, tc := range []struct{ name, base, class string }{
		{"refused connection", closed.URL + "/html/", "connect"},
		{"TLS against plain HTTP", "https" + strings.TrimPrefix(newPlain(t), "http"), "connect"},
		{"base_url without a scheme", "html.duckduckgo.com/html/", "connect"},
		{"base_url with user info", "https://a:b@127.0.0.1/", "connect"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			answer, err := New(Config{Client: &http.Client{Transport: transport}, BaseURL: tc.base}).Search(t.Context(), engines.Query{Text: "x"})
			f := failure(t, answer, err)
			if f.Class != tc.class || strings.Contains(tc.name, "base_url") != strings.Contains(f.Message, "base_url") {
				t.Errorf("got %+v, want class %s", f, tc.class)
			}
		})
	}
	t.Run("name not found", func(t *testing.T) {
		e := New(Config{Client: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "html.duckduckgo.com", IsNotFound: true}}
		})}})
		answer, err := e.Search(t.Context(), engines.Query{Text: "x"})
		if f := failure(t, answer, err); f.Class != "connect" || !f.Retryable {
			t.Errorf("got %+v", f)
		}
	})
}

func newPlain(t *testing.T) string {
	srv := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(srv.Close)
	srv.Config.ErrorLog = nil
	return srv.URL
}

// TestDeadlineAndCancel ends the wait for the headers, and the wait for the rest of the body.
func TestDeadlineAndCancel(t *testing.T) {
	for _, sent := range []string{"", "<html><body>"} {
		for _, class := range []string{"timeout", "cancelled"} {
			t.Run(class+" after "+sent, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				if class == "timeout" {
					ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
				}
				defer cancel()
				e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body) // a server notices a lost client only once the body is read
					if sent != "" {
						io.WriteString(w, sent)
						w.(http.Flusher).Flush()
					}
					if class == "cancelled" {
						cancel()
					}
					<-r.Context().Done()
				})
				answer, err := e.Search(ctx, engines.Query{Text: "x"})
				if f := failure(t, answer, err); f.Class != class || f.Retryable != (class == "timeout") {
					t.Errorf("got %+v, want class %s", f, class)
				}
				if cause := map[string]error{"timeout": context.DeadlineExceeded, "cancelled": context.Canceled}[class]; !errors.Is(err, cause) {
					t.Errorf("%v is not %v", err, cause)
				}
			})
		}
	}
}

// TestRefusalWithoutItsText: a status that came counts even if its text did not, unless the caller has gone.
func TestRefusalWithoutItsText(t *testing.T) {
	for _, tc := range []struct {
		cancel bool
		want   string
	}{{false, "http_503"}, {true, "cancelled"}} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		body := readerFunc(func([]byte) (int, error) {
			if tc.cancel {
				cancel()
			}
			return 0, io.ErrUnexpectedEOF
		})
		e := New(Config{Client: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: io.NopCloser(body)}, nil
		})}})
		answer, err := e.Search(ctx, engines.Query{Text: "x"})
		if f := failure(t, answer, err); f.Class != tc.want {
			t.Errorf("cancel %t: class %s, want %s", tc.cancel, f.Class, tc.want)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestNothingIsKeptBetweenSearches(t *testing.T) {
	e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Cookie"); got != "" {
			t.Errorf("cookie %q", got)
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		w.Write(fixture(t, "results_direct.html"))
	})
	for range 2 {
		if _, err := e.Search(t.Context(), engines.Query{Text: "x"}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStandIn holds the stand-in of the demonstration against the reader: what goes in comes out.
func TestStandIn(t *testing.T) {
	results := []engines.Result{
		{Title: `Tides & "clocks" <b>`, URL: "https://clocks.example/a%2Fb?c=1&d=%2B#e", Snippet: "It's 5 > 4.", Published: "2026-03-02"},
		{Title: "Quay", URL: "http://quay.example/"},
	}
	e, srv := serve(t, ddgtest.Handler(func(query string) []engines.Result {
		if query == "tide & <time>" {
			return results
		}
		return nil
	}).ServeHTTP)
	got, err := e.Search(t.Context(), engines.Query{Text: "tide & <time>"})
	if diff := cmp.Diff(engines.Answer{Results: results, LeftOut: engines.LeftOut{Ads: 1, Duplicates: 1}}, got); err != nil || diff != "" {
		t.Errorf("error %v, answer (-want +got):\n%s", err, diff)
	}
	if got, err := e.Search(t.Context(), engines.Query{Text: "nothing"}); err != nil || len(got.Results) > 0 {
		t.Errorf("got %+v, %v; want an empty answer", got, err)
	}
	resp, err := http.PostForm(srv.URL, url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); !bytes.Contains(body, []byte("body--home")) {
		t.Errorf("without a query: %s", body)
	}
}
