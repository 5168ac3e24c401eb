package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"web/browse/fault"
	"web/browse/guard"
)

// world is a small internet: names with public addresses, and behind each address something that serves.
type world struct {
	t     testing.TB
	mu    sync.Mutex
	names map[string][][]netip.Addr // one answer per lookup, the last one for all further lookups
	hosts map[netip.AddrPort]func(context.Context) (net.Conn, error)
	// dialled and lookups are in order.
	dialled, lookups []string
	// received are the heads of the requests that raw servers were sent.
	received []string
	// over is closed when the test ends; whatever serves must not wait longer.
	over chan struct{}
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, names: map[string][][]netip.Addr{}, hosts: map[netip.AddrPort]func(context.Context) (net.Conn, error){}, over: make(chan struct{})}
	t.Cleanup(func() { close(w.over) })
	return w
}

// name lets a host name resolve to addr at first, and to each later address once at the lookups after that.
func (w *world) name(host string, addrs ...string) *world {
	for _, a := range addrs {
		w.names[host] = append(w.names[host], []netip.Addr{netip.MustParseAddr(a)})
	}
	return w
}

// serve puts a handler behind a public address and port.
func (w *world) serve(at string, h http.Handler) *httptest.Server {
	s := httptest.NewServer(h)
	w.t.Cleanup(s.Close)
	w.attach(at, s)
	return s
}

// serveTLS is serve for https with HTTP/2, under the certificate of example.com and *.example.com.
func (w *world) serveTLS(at string, h http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	w.t.Cleanup(s.Close)
	w.attach(at, s)
	return s
}

func (w *world) attach(at string, s *httptest.Server) {
	w.hosts[netip.MustParseAddrPort(at)] = func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", s.Listener.Addr().String())
	}
}

// raw puts a function behind an address that gets the server's end of each connection. It reads the request
// for it, and closes the connection when the function returns.
func (w *world) raw(at string, serve func(net.Conn)) {
	w.hosts[netip.MustParseAddrPort(at)] = func(context.Context) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			request, err := readRequest(server)
			if err != nil {
				return
			}
			w.mu.Lock()
			w.received = append(w.received, request)
			w.mu.Unlock()
			serve(server)
		}()
		return client, nil
	}
}

// readRequest reads up to the blank line, byte by byte so that nothing behind it is lost.
func readRequest(conn net.Conn) (string, error) {
	var seen strings.Builder
	b := make([]byte, 1)
	for !strings.HasSuffix(seen.String(), "\r\n\r\n") {
		if _, err := conn.Read(b); err != nil {
			return "", err
		}
		seen.Write(b)
	}
	return seen.String(), nil
}

func (w *world) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookups = append(w.lookups, host)
	answers := w.names[host]
	if len(answers) == 0 {
		return nil, errors.New("no such host")
	}
	if len(answers) > 1 {
		w.names[host] = answers[1:]
	}
	return answers[0], nil
}

var errRefused = errors.New("connection refused")

func (w *world) dial(ctx context.Context, to netip.AddrPort, last func(netip.AddrPort) error) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, to.String())
	connect := w.hosts[to]
	w.mu.Unlock()
	if err := last(to); err != nil {
		return nil, err
	}
	if connect == nil {
		return nil, errRefused
	}
	return connect(ctx)
}

func (w *world) client() Client {
	return Client{Guard: &guard.Guard{Resolver: w, Dial: w.dial}}
}

func mustURL(t testing.TB, s string) guard.URL {
	t.Helper()
	u, f := guard.ParseURL(s)
	if f != nil {
		t.Fatal(f)
	}
	return u
}

// get fetches and fails the test when that fails.
func get(t *testing.T, c Client, url string) *Response {
	t.Helper()
	res, f := c.Get(t.Context(), mustURL(t, url))
	if f != nil {
		t.Fatalf("Get: %v (cause: %v)", f, f.Err)
	}
	return res
}

// failure is what a caller can see of a fault.
type failure struct {
	Code      fault.Code
	Stage     fault.Stage
	Status    int
	Retryable bool
}

// getFailure fetches, wants that to fail, and looks for what no message may hold.
func getFailure(t *testing.T, ctx context.Context, c Client, url string) failure {
	t.Helper()
	res, f := c.Get(ctx, mustURL(t, url))
	if f == nil {
		t.Fatalf("Get succeeded with status %d and %d bytes", res.Status, len(res.Body))
	}
	if res != nil {
		t.Error("a failure came with a response")
	}
	for _, text := range []string{f.Message, f.Advice} {
		if text == "" || strings.Contains(text, "://") || strings.Contains(text, "example") || strings.ContainsAny(text, "[]/") {
			t.Errorf("unfit text for a failure: %q", text)
		}
	}
	return failure{f.Code, f.Stage, f.HTTPStatus, f.Retryable}
}

// page answers every request with an HTML page.
func page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte("<p>hello</p>"))
}

func mustAddr(s string) netip.Addr { return netip.MustParseAddr(s) }
