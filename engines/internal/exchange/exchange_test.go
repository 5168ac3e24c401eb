package exchange

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"web/engines"
)

func provider(c *http.Client) Provider {
	return Provider{
		Engine: engines.Gemini, Name: "Provider", Transport: Transport(c),
		Class: func(f Fault) string { return fmt.Sprintf("kind%d.%d", f.Kind, f.Status) },
	}
}

func failure(t *testing.T, err error) *engines.Error {
	t.Helper()
	var e *engines.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *engines.Error", err)
	}
	return e
}

type question struct {
	Text  string   `json:"text"`
	Hosts []string `json:"hosts,omitempty"`
}

type reply struct {
	Words []string `json:"words"`
}

func TestPost(t *testing.T) {
	type sent struct {
		Method, Path, Body string
		Header             http.Header
	}
	for _, tc := range []struct {
		name, base, path string
		request          question
		status           int
		answer           string
		zip              bool
		wantPath         string
		wantBody         string
		want             []string
	}{
		{
			name: "plain", base: "/v1", path: "/ask", request: question{Text: "a <b> & \"ü\"  "}, status: 200, answer: `{"words":["x","y"],"more":{"words":1}}`,
			wantPath: "/v1/ask", wantBody: `{"text":"a <b> & \"ü\"  "}`, want: []string{"x", "y"},
		},
		{
			name: "slash at the end of the base", base: "/v1//", path: "/ask", request: question{Text: "a", Hosts: []string{"b"}}, status: 201, answer: `{"words":["x"]}`, zip: true,
			wantPath: "/v1/ask", wantBody: `{"text":"a","hosts":["b"]}`, want: []string{"x"},
		},
		{
			name: "half a character", path: "/ask", request: question{Text: "a"}, status: 200, answer: "{\"words\":[\"a\\ud83d\",\"b\xc3\"]}\n",
			wantPath: "/ask", wantBody: `{"text":"a"}`, want: []string{"a\ufffd", "b\ufffd"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []sent
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Header.Del("Content-Length")
				r.Header.Del("User-Agent")
				got = append(got, sent{r.Method, r.URL.RequestURI(), string(body), r.Header})
				text := []byte(tc.answer)
				if tc.zip {
					text = zipped(text)
					w.Header().Set("Content-Encoding", "gzip")
				}
				w.WriteHeader(tc.status)
				w.Write(text)
			}))
			defer srv.Close()
			var answer reply
			err := provider(srv.Client()).Post(t.Context(), Endpoint(srv.URL+tc.base, tc.path), http.Header{"x-key": {"k1"}, "Authorization": {"Bearer k2"}}, tc.request, &answer)
			if err != nil {
				t.Fatal(err)
			}
			want := []sent{{"POST", tc.wantPath, tc.wantBody, http.Header{
				"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "Authorization": {"Bearer k2"}, "Content-Type": {"application/json"}, "X-Key": {"k1"},
			}}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, answer.Words); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func zipped(plain []byte) []byte {
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	zw.Write(plain)
	zw.Close()
	return b.Bytes()
}

func TestStatus(t *testing.T) {
	for _, tc := range []struct {
		status     int
		retryAfter string
		kind       Kind
		retryable  bool
		afterMS    int64
		says       string
	}{
		{204, "", Garbled, false, 0, "form of its API"},
		{302, "", Redirected, false, 0, "302"},
		{304, "", Redirected, false, 0, "base_url"},
		{400, "9", Status, false, 0, "400"},
		{401, "", Status, false, 0, "check the key of Provider"},
		{403, "", Status, false, 0, "check the key of Provider"},
		{404, "", Status, false, 0, "model and base_url"},
		{408, "", Status, true, 0, "Try again later"},
		{409, "", Status, true, 0, "Try again later"},
		{413, "", Status, false, 0, "less text"},
		{418, "", Status, false, 0, "418"},
		{422, "", Status, false, 0, "Change the text"},
		{429, "7", Status, true, 7000, "Wait"},
		{429, "Mon, 02 Mar 2026 10:02:00 GMT", Status, true, 120_000, "Wait"},
		{429, "31536000", Status, true, 86_400_000, "Wait"},
		{429, "-5", Status, true, 0, "Wait"},
		{500, "", Status, true, 0, "Try again later"},
		{503, "2", Status, true, 2000, "Try again later"},
		{529, "", Status, true, 0, "529"},
	} {
		t.Run(fmt.Sprint(tc.status, tc.retryAfter), func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Date", "Mon, 02 Mar 2026 10:00:00 GMT")
				if tc.retryAfter != "" {
					w.Header().Set("Retry-After", tc.retryAfter)
				}
				w.WriteHeader(tc.status)
			}))
			defer srv.Close()
			e := failure(t, provider(srv.Client()).Post(t.Context(), srv.URL, nil, question{}, &reply{}))
			f := Fault{Kind: tc.kind}
			if tc.kind != Garbled {
				f.Status = tc.status
			}
			want := engines.Error{Engine: engines.Gemini, Class: fmt.Sprintf("kind%d.%d", f.Kind, f.Status), Message: e.Message, Retryable: tc.retryable, RetryAfterMS: tc.afterMS, HTTPStatus: f.Status}
			if diff := cmp.Diff(want, *e); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
			if !strings.Contains(e.Message, tc.says) || !strings.HasSuffix(e.Message, ".") {
				t.Errorf("message %q does not say %q", e.Message, tc.says)
			}
		})
	}
}

func TestRefusedBeforeAnythingIsSent(t *testing.T) {
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	for _, tc := range []struct {
		name, endpoint, key string
		request             any
		kind                Kind // 0: an invalid query
	}{
		{"no scheme", host, "k", question{}, BadEndpoint},
		{"another scheme", "ftp://" + host, "k", question{}, BadEndpoint},
		{"no host", "http:///v1", "k", question{}, BadEndpoint},
		{"user info", "http://a:b@" + host, "k", question{}, BadEndpoint},
		{"query", srv.URL + "/?a=/ask", "k", question{}, BadEndpoint},
		{"fragment", srv.URL + "/#/ask", "k", question{}, BadEndpoint},
		{"control character", srv.URL + "/\x00", "k", question{}, BadEndpoint},
		{"no key", srv.URL, "", question{}, BadKey},
		{"no key behind the scheme", srv.URL, "Bearer ", question{}, BadKey},
		{"blank key", srv.URL, "Bearer  ", question{}, BadKey},
		{"two lines", srv.URL, "k\r\nX-Other: 1", question{}, BadKey},
		{"line break at the end", srv.URL, "Bearer k\n", question{}, BadKey},
		{"control in the key", srv.URL, "k\x7f", question{}, BadKey},
		{"no ASCII", srv.URL, "ключ", question{}, BadKey},
		{"text that is not UTF-8", srv.URL, "k", question{Text: "a\xff"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := failure(t, provider(srv.Client()).Post(t.Context(), tc.endpoint, http.Header{"X-Key": {tc.key}}, tc.request, &reply{}))
			want := fmt.Sprintf("kind%d.0", tc.kind)
			if tc.kind == 0 {
				want = "invalid_query"
			}
			if e.Class != want || e.InvalidQuery != (tc.kind == 0) || e.Retryable {
				t.Errorf("got %+v, want class %s", e, want)
			}
			if n := requests.Load(); n != 0 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestCheckText(t *testing.T) {
	for text, ok := range map[string]bool{"": false, " \n\t ": false, "a\xff": false, "a": true, " ü ": true} {
		if err := provider(&http.Client{}).CheckText(text); (err == nil) != ok || !ok && !failure(t, err).InvalidQuery {
			t.Errorf("%q: %v", text, err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestConnection tells the failures apart that only differ in how far a connection came.
func TestConnection(t *testing.T) {
	expired, stop := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer stop()
	given, cancel := context.WithCancel(t.Context())
	cancel()
	refused := httptest.NewServer(http.NotFoundHandler())
	refused.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }))
	defer silent.Close()
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"words":["a"]}`)) // a whole value, and yet not the whole answer
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer cut.Close()
	plain := strings.Replace(silent.URL, "http", "https", 1)
	dialTimeout := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	})}
	for _, tc := range []struct {
		name     string
		ctx      context.Context
		client   *http.Client
		endpoint string
		kind     Kind
		cause    error
	}{
		{"refused", t.Context(), &http.Client{}, refused.URL, Connect, nil},
		{"no TLS", t.Context(), &http.Client{}, plain, Connect, nil},
		{"time ran out before the start", expired, &http.Client{}, silent.URL, ConnectTimeout, context.DeadlineExceeded},
		{"dial ran out of time", t.Context(), dialTimeout, silent.URL, ConnectTimeout, context.DeadlineExceeded},
		{"cancelled before the start", given, &http.Client{}, silent.URL, Cancelled, context.Canceled},
		{"closed without an answer", t.Context(), &http.Client{}, silent.URL, Broken, nil},
		{"closed in the answer", t.Context(), &http.Client{}, cut.URL, Broken, io.ErrUnexpectedEOF},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := failure(t, provider(tc.client).Post(tc.ctx, tc.endpoint, nil, question{}, &reply{}))
			if want := fmt.Sprintf("kind%d.0", tc.kind); e.Class != want || e.Retryable != (tc.kind != Cancelled) || tc.cause != nil && !errors.Is(e, tc.cause) {
				t.Errorf("got %+v (%v), want class %s", e, e.Err, want)
			}
			if s := e.Error(); strings.Contains(s, "127.0.0.1") || strings.Contains(s, "dial") || strings.Contains(s, "EOF") {
				t.Errorf("%q quotes its cause", s)
			}
		})
	}
}

func TestGarbledAndTooLarge(t *testing.T) {
	for _, tc := range []struct {
		name, encoding string
		body           []byte
		kind           Kind
	}{
		{"empty", "", nil, Garbled},
		{"text", "", []byte("<html>"), Garbled},
		{"null", "", []byte(" null"), Garbled},
		{"another form", "", []byte(`{"words":"a"}`), Garbled},
		{"cut", "", []byte(`{"words":["a"`), Garbled},
		{"two values", "", []byte(`{"words":[]}{}`), Garbled},
		{"a name twice", "", []byte(`{"words":[],"words":["a"]}`), Garbled},
		{"deep", "", bytes.Repeat([]byte("["), 1<<20), Garbled},
		{"not gzip", "gzip", []byte(`{"words":[]}`), Garbled},
		{"an encoding not asked for", "br", []byte(`{"words":[]}`), Garbled},
		{"gzip cut short", "gzip", zipped([]byte(`{"words":[]}`))[:30], Broken},
		{"too large", "", append([]byte(`{"words":[]}`), bytes.Repeat([]byte(" "), MaxBodyBytes)...), TooLarge},
		{"much out of little", "gzip", zipped(make([]byte, 2*MaxBodyBytes)), TooLarge},
		{"nothing out of much", "gzip", bytes.Repeat(zipped(nil), MaxBodyBytes/len(zipped(nil))+1), TooLarge},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", tc.encoding)
				w.Write(tc.body)
			}))
			defer srv.Close()
			e := failure(t, provider(srv.Client()).Post(t.Context(), srv.URL, nil, question{}, &reply{}))
			if want := fmt.Sprintf("kind%d.0", tc.kind); e.Class != want || e.Retryable != (tc.kind == Broken) {
				t.Errorf("got %+v (%v), want class %s", e, e.Err, want)
			}
		})
	}
}

// TestEveryKindHasAMessage holds that no fault falls through to the words for a status.
func TestEveryKindHasAMessage(t *testing.T) {
	seen := map[string]Kind{}
	for k := Status; k <= BadKey; k++ {
		m := provider(&http.Client{}).Fail(Fault{Kind: k, Status: 418}, "").Message
		if other, twice := seen[m]; twice && k != Timeout && other != ConnectTimeout {
			t.Errorf("kinds %d and %d share %q", other, k, m)
		}
		seen[m] = k
	}
	p := provider(&http.Client{})
	p.Message = func(f Fault) string {
		if f.Kind == TooLarge {
			return "The provider's."
		}
		return ""
	}
	got := []string{p.Fail(Fault{Kind: TooLarge}, "Mine.").Message, p.Fail(Fault{Kind: TooLarge}, "").Message, p.Fail(Fault{Kind: Garbled}, "").Message}
	if diff := cmp.Diff([]string{"Mine.", "The provider's.", provider(&http.Client{}).Fail(Fault{Kind: Garbled}, "").Message}, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	p.Engine = engines.Tavily
	if m := p.Fail(Fault{Status, 404}, "").Message; strings.Contains(m, "model") {
		t.Errorf("%q speaks of a model", m)
	}
}

func FuzzReadBody(f *testing.F) {
	f.Add([]byte("abc"), "", uint16(3))
	f.Add(zipped([]byte("abc")), "gzip", uint16(40))
	f.Add(zipped(make([]byte, 4096)), "x-gzip", uint16(100))
	f.Fuzz(func(t *testing.T, body []byte, encoding string, limit uint16) {
		read := func() ([]byte, error) {
			h := http.Header{}
			h.Set("Content-Encoding", encoding)
			return ReadBody(&http.Response{Header: h, Body: io.NopCloser(bytes.NewReader(body))}, int64(limit))
		}
		got, err := read()
		again, errAgain := read()
		if !bytes.Equal(got, again) || (err == nil) != (errAgain == nil) {
			t.Fatalf("%q, %v; then %q, %v", got, err, again, errAgain)
		}
		if len(got) > int(limit) || err == nil && encoding == "" && !bytes.Equal(got, body) {
			t.Errorf("%d bytes of %d with limit %d", len(got), len(body), limit)
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "7", "-1", "99999999999999999999", "Mon, 02 Mar 2026 10:02:00 GMT"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		h := http.Header{"Retry-After": {value}, "Date": {"Mon, 02 Mar 2026 10:00:00 GMT"}}
		if ms := RetryAfterMS(h); ms < 0 || ms > maxRetryAfter.Milliseconds() {
			t.Errorf("%q is %d ms", value, ms)
		}
	})
}
