package fetch

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"web/browse/fault"
	"web/browse/guard"
)

// TestMain names a proxy that nobody asked for, before net/http could read the environment: if any of it were
// heeded, no test would reach its server.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		if err := os.Setenv(name, "http://192.0.2.1:9"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func rootsOf(s *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

const (
	siteHTTP  = "93.184.216.34:80"
	siteHTTPS = "93.184.216.34:443"
	siteAddr  = "93.184.216.34"
)

func TestGet(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr)
	w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/start" {
			http.Redirect(rw, r, "/page?a=b", http.StatusFound)
			return
		}
		rw.Header()["Content-Type"] = []string{"text/plain", "text/html; charset=x"}
		_, _ = io.WriteString(rw, "hello")
	}))
	c := w.client()
	tick := time.Unix(0, 0)
	c.Now = func() time.Time { tick = tick.Add(250 * time.Millisecond); return tick }

	got := get(t, c, "http://www.example.com/start")
	sum := sha256.Sum256([]byte("hello"))
	want := &Response{
		Requested:     mustURL(t, "http://www.example.com/start"),
		Final:         mustURL(t, "http://www.example.com/page?a=b"),
		RedirectChain: []string{"http://www.example.com/start"},
		Status:        200, ContentType: "text/html; charset=x", Body: []byte("hello"),
		SourceSHA256: hex.EncodeToString(sum[:]), FetchMS: 250,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b guard.URL) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}

// TestRequest holds every byte of what is sent: nothing about the user, nothing from the environment.
func TestRequest(t *testing.T) {
	tests := []struct{ name, url, target, host string }{
		{"default port", "http://www.example.com:80/a?b=c", "/a?b=c", "www.example.com"},
		{"other port", "http://www.example.com:8080/", "/", "www.example.com:8080"},
		{"literal", "http://93.184.216.34/", "/", "93.184.216.34"},
		{"IPv6", "http://[2606:4700::1111]/", "/", "[2606:4700::1111]"},
		{"as written", "http://www.example.com/a%2Fb%7e|c?q=%zz|'", "/a%2Fb%7e|c?q=%zz|'", "www.example.com"},
		{"not ASCII", "http://www.example.com/é?ü", "/%C3%A9?%C3%BC", "www.example.com"},
		{"two slashes", "http://www.example.com//other.example/x", "http://www.example.com//other.example/x", "www.example.com"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).name("www.example.com", siteAddr)
			var got *http.Request
			h := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { got = r; page(rw, r) })
			s := w.serve(siteHTTP, h)
			w.attach("93.184.216.34:8080", s)
			w.attach("[2606:4700::1111]:80", s)
			get(t, w.client(), tt.url)
			if got.Method != "GET" || got.RequestURI != tt.target || got.Host != tt.host || got.ContentLength != 0 {
				t.Errorf("got %s %s for %s", got.Method, got.RequestURI, got.Host)
			}
			want := http.Header{
				"User-Agent": {"web (static-read-only)"}, "Accept": {accept},
				"Accept-Encoding": {"gzip, deflate, br, zstd"}, "Connection": {"close"},
			}
			if diff := cmp.Diff(want, got.Header); diff != "" {
				t.Error(diff)
			}
			if !strings.HasPrefix(accept, "text/markdown, text/html;") {
				t.Error("Accept does not prefer Markdown")
			}
		})
	}
}

// TestBadEscapes: what browsers send as it stands is sent as it stands.
func TestBadEscapes(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr)
	w.raw(siteHTTP, func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\nabc") })
	get(t, w.client(), "http://www.example.com/%ZZ%?100%")
	if got, _, _ := strings.Cut(w.received[0], "\r\n"); got != "GET /%ZZ%?100% HTTP/1.1" {
		t.Errorf("got %q", got)
	}
}

// TestHTTPS: HTTP/2 is negotiated, the server name is the host name, and the certificate is verified.
func TestHTTPS(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr).name("www.example.org", siteAddr)
	var proto, serverName, host, target string
	s := w.serveTLS(siteHTTPS, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		proto, serverName, host, target = r.Proto, r.TLS.ServerName, r.Host, r.RequestURI
		page(rw, r)
	}))
	c := w.client()
	c.RootCAs = rootsOf(s)
	get(t, c, "https://www.example.com//a?b|")
	if diff := cmp.Diff([]string{"HTTP/2.0", "www.example.com", "www.example.com", "//a?b|"}, []string{proto, serverName, host, target}); diff != "" {
		t.Error(diff)
	}
	want := failure{fault.TransportFailed, fault.StageConnect, 0, true}
	if diff := cmp.Diff(want, getFailure(t, t.Context(), c, "https://www.example.org/")); diff != "" {
		t.Error("name not in the certificate:", diff)
	}
	c.RootCAs = x509.NewCertPool()
	if diff := cmp.Diff(want, getFailure(t, t.Context(), c, "https://www.example.com/")); diff != "" {
		t.Error("unknown authority:", diff)
	}
}

func TestStatuses(t *testing.T) {
	tests := []struct {
		status    int
		retryable bool
	}{
		{101, false}, {400, false}, {401, false}, {403, false}, {404, false}, {418, false},
		{429, true}, {500, true}, {503, true}, {599, true}, {999, true},
	}
	for _, tt := range tests {
		w := newWorld(t).name("www.example.com", siteAddr)
		w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(tt.status)
			if tt.status > 199 {
				_, _ = io.WriteString(rw, "<h1>sorry</h1>")
			}
		}))
		want := failure{fault.HTTPStatus, fault.StageHTTP, tt.status, tt.retryable}
		if diff := cmp.Diff(want, getFailure(t, t.Context(), w.client(), "http://www.example.com/")); diff != "" {
			t.Error(diff)
		}
	}
	for _, status := range []int{200, 201, 202, 203, 299} {
		w := newWorld(t).name("www.example.com", siteAddr)
		w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { rw.WriteHeader(status); page(rw, r) }))
		if got := get(t, w.client(), "http://www.example.com/"); got.Status != status || len(got.Body) == 0 {
			t.Errorf("status %d came as %d with %d bytes", status, got.Status, len(got.Body))
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		header, advice string
		ms             int64
	}{
		{"", retryOnce, 0}, {"soon", retryOnce, 0}, {"-5", retryOnce, 0}, {"0", retryOnce, 0}, {"7", "wait 7 seconds, then retry once", 7_000},
		{"999999999", "wait 86400 seconds, then retry once", 86_400_000},
		{"Fri, 02 Jan 2026 03:05:05 GMT", "wait 60 seconds, then retry once", 60_000},
		{"Fri, 02 Jan 2026 03:04:05 GMT", retryOnce, 0},
	}
	for _, tt := range tests {
		w := newWorld(t).name("www.example.com", siteAddr)
		w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", tt.header)
			rw.WriteHeader(503)
		}))
		c := w.client()
		c.Now = func() time.Time { return now }
		_, f := c.Get(t.Context(), mustURL(t, "http://www.example.com/"))
		if f == nil || f.Advice != tt.advice || f.RetryAfterMS != tt.ms {
			t.Errorf("Retry-After %q: got %v", tt.header, f)
		}
	}
}

// TestOneConnectionAHop: a Go server answers this path with a refused HTTP/2 stream, and net/http that with a
// new connection, without end.
func TestOneConnectionAHop(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr)
	s := w.serveTLS(siteHTTPS, http.HandlerFunc(page))
	c := w.client()
	c.RootCAs = rootsOf(s)
	want := failure{fault.TransportFailed, fault.StageConnect, 0, true}
	if diff := cmp.Diff(want, getFailure(t, t.Context(), c, "https://www.example.com/%zz")); diff != "" {
		t.Error(diff)
	}
	if len(w.dialled) != 1 {
		t.Errorf("%d connections, want 1", len(w.dialled))
	}
}

// TestPartIsNoPage: a part that nobody asked for must not look like the whole.
func TestPartIsNoPage(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr)
	w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Range", "bytes 0-5/100")
		rw.WriteHeader(http.StatusPartialContent)
		_, _ = io.WriteString(rw, "a part")
	}))
	want := failure{fault.TransportFailed, fault.StageConnect, http.StatusPartialContent, true}
	if diff := cmp.Diff(want, getFailure(t, t.Context(), w.client(), "http://www.example.com/")); diff != "" {
		t.Error(diff)
	}
}

// TestMalformedResponses: whatever is no HTTP is a typed failure that may be retried.
func TestMalformedResponses(t *testing.T) {
	many := strings.Repeat("X-A: b\r\n", maxHeaderFields+1)
	tests := map[string]string{
		"nothing":             "",
		"not HTTP":            "SSH-2.0-x\r\n\r\n",
		"half a status line":  "HTTP/1.1 2",
		"header without end":  "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
		"header without name": "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
		"two lengths":         "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"length no number":    "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nab",
		"unknown framing":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\n\r\nab",
		"too many fields":     "HTTP/1.1 200 OK\r\n" + many + "\r\n",
		"64 KiB header":       "HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("a", maxHeaderBytes) + "\r\n\r\n",
		"endless 1xx":         strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 10000),
		"short body":          "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
		"no chunks":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"cut chunk":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		"no last chunk":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
		"bad chunk size":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n",
	}
	for name, response := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).name("www.example.com", siteAddr)
			w.raw(siteHTTP, func(conn net.Conn) { _, _ = io.WriteString(conn, response) })
			want := failure{fault.TransportFailed, fault.StageConnect, 0, true}
			if diff := cmp.Diff(want, getFailure(t, t.Context(), w.client(), "http://www.example.com/")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCompleteResponses are the neighbours of TestMalformedResponses.
func TestCompleteResponses(t *testing.T) {
	tests := map[string]struct{ response, body string }{
		"until close":           {"HTTP/1.0 200 OK\r\n\r\nabc", "abc"},
		"exact length":          {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc"},
		"more than length":      {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", "abc"},
		"chunks":                {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "abc"},
		"as many fields as may": {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: b\r\n", maxHeaderFields) + "\r\nabc", "abc"},
		"informational first":   {"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\nabc", "abc"},
		"nothing":               {"HTTP/1.1 204 No Content\r\n\r\n", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).name("www.example.com", siteAddr)
			w.raw(siteHTTP, func(conn net.Conn) { _, _ = io.WriteString(conn, tt.response) })
			if got := string(get(t, w.client(), "http://www.example.com/").Body); got != tt.body {
				t.Errorf("got %q, want %q", got, tt.body)
			}
		})
	}
}

// TestEndlessHeaders: the server goes on for as long as it is listened to, which must not be long.
func TestEndlessHeaders(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr)
	sent := make(chan int, 1)
	w.raw(siteHTTP, func(conn net.Conn) {
		total := 0
		defer func() { sent <- total }()
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
		for err == nil {
			var n int
			n, err = io.WriteString(conn, "X-A: "+strings.Repeat("a", 1000)+"\r\n")
			total += n
		}
	})
	want := failure{fault.TransportFailed, fault.StageConnect, 0, true}
	if diff := cmp.Diff(want, getFailure(t, t.Context(), w.client(), "http://www.example.com/")); diff != "" {
		t.Error(diff)
	}
	if n := <-sent; n > 2*maxHeaderBytes {
		t.Errorf("%d bytes of headers were read", n)
	}
}

func TestConnectFailures(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr)
	c := w.client()
	tests := []struct {
		url  string
		want failure
	}{
		{"http://www.example.com/", failure{fault.TransportFailed, fault.StageConnect, 0, true}}, // refused
		{"http://nowhere.example/", failure{fault.DNSFailed, fault.StageDNS, 0, true}},
		{"http://127.0.0.1/admin", failure{fault.LoopbackBlocked, fault.StagePolicy, 0, false}},
		{"http://localhost/", failure{fault.LoopbackBlocked, fault.StagePolicy, 0, false}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, getFailure(t, t.Context(), c, tt.url)); diff != "" {
			t.Errorf("%s: %s", tt.url, diff)
		}
	}
	if diff := cmp.Diff([]string{siteHTTP}, w.dialled); diff != "" {
		t.Error("dialled:", diff)
	}
	// A verdict that is spoken at the socket is not lost on its way through net/http.
	c.Guard.Dial = func(context.Context, netip.AddrPort, func(netip.AddrPort) error) (net.Conn, error) {
		return nil, fault.New(fault.PrivateBlocked, "no", "stop")
	}
	want := failure{fault.PrivateBlocked, fault.StagePolicy, 0, false}
	if diff := cmp.Diff(want, getFailure(t, t.Context(), c, "http://www.example.com/")); diff != "" {
		t.Error(diff)
	}
}

// closing tells when a connection is closed.
type closing struct {
	net.Conn
	closed context.CancelFunc
}

func (c closing) Close() error {
	defer c.closed()
	return c.Conn.Close()
}

// TestHangUp: no connection outlives its call, however the call ends and whatever the server still wants to send.
func TestHangUp(t *testing.T) {
	endless := func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			rw.Header().Set("Location", "/page")
			rw.WriteHeader(http.StatusFound)
		case "/error":
			rw.WriteHeader(http.StatusNotFound)
		case "/page":
			page(rw, r)
			return
		}
		for r.Context().Err() == nil {
			if _, err := rw.Write(make([]byte, 1<<12)); err != nil {
				return
			}
		}
	}
	w := newWorld(t).name("www.example.com", siteAddr)
	w.serve(siteHTTP, http.HandlerFunc(endless))
	s := w.serveTLS(siteHTTPS, http.HandlerFunc(endless))
	for _, scheme := range []string{"http", "https"} {
		for _, path := range []string{"/page", "/redirect", "/error", "/endless"} {
			c := w.client()
			c.RootCAs = rootsOf(s)
			c.BodyBytes = 1 << 16
			var open []context.Context
			c.Guard.Dial = func(ctx context.Context, to netip.AddrPort, last func(netip.AddrPort) error) (net.Conn, error) {
				conn, err := w.dial(ctx, to, last)
				closed, cancel := context.WithCancel(context.Background())
				open = append(open, closed)
				return closing{conn, cancel}, err
			}
			_, _ = c.Get(t.Context(), mustURL(t, scheme+"://www.example.com"+path))
			for _, closed := range open {
				<-closed.Done()
			}
		}
	}
}

// TestProxy: only the operator's proxy is used, the target is judged all the same, and the result says that
// nothing is pinned.
func TestProxy(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr).name("inside.example.com", "10.0.0.1")
	secure := w.serveTLS("93.184.216.34:8443", http.HandlerFunc(page))
	var seen []string
	w.serve("10.9.9.9:3128", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.RequestURI)
		if r.Method != http.MethodConnect {
			page(rw, r)
			return
		}
		up, err := net.Dial("tcp", secure.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		rw.WriteHeader(200)
		down, buffered, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() { _, _ = io.Copy(up, buffered); _ = up.Close() }()
		_, _ = io.Copy(down, up)
		_ = down.Close()
	}))
	c := w.client()
	c.RootCAs = rootsOf(secure)
	c.Guard.Proxy = &url.URL{Scheme: "http", Host: "10.9.9.9:3128"}
	for _, u := range []string{"http://www.example.com/a%2f?b", "https://www.example.com/secret"} {
		if diff := cmp.Diff([]string{WarnProxyUnpinned}, get(t, c, u).Warnings); diff != "" {
			t.Error(diff)
		}
	}
	for _, u := range []string{"http://inside.example.com/", "http://169.254.169.254/"} {
		if got := getFailure(t, t.Context(), c, u); got.Stage != fault.StagePolicy {
			t.Errorf("%s: got %v", u, got)
		}
	}
	want := []string{"GET http://www.example.com/a%2f?b", "CONNECT www.example.com:443"}
	if diff := cmp.Diff(want, seen, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestCanceled(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr)
	ctx, cancel := context.WithCancel(t.Context())
	w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(rw).Flush()
		cancel()
		<-r.Context().Done()
	}))
	want := failure{fault.Canceled, fault.StageConnect, 0, true}
	if diff := cmp.Diff(want, getFailure(t, ctx, w.client(), "http://www.example.com/")); diff != "" {
		t.Error("in the body:", diff)
	}
	dialled := len(w.dialled)
	if diff := cmp.Diff(want, getFailure(t, ctx, w.client(), "http://www.example.com/")); diff != "" {
		t.Error("before the call:", diff)
	}
	if len(w.dialled) != dialled {
		t.Error("a cancelled call dialled")
	}
}
