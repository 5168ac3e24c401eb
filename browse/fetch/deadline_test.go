package fetch

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"web/browse/fault"
)

// These tests run on the fake clock of synctest: 30 seconds pass at once, and end at the nanosecond.

// drip writes a text one byte a second for as long as anybody listens.
func (w *world) drip(conn net.Conn, text string) {
	for {
		for i := range len(text) {
			if _, err := io.WriteString(conn, text[i:i+1]); err != nil {
				return
			}
			w.pause(time.Second)
		}
	}
}

func (w *world) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-w.over:
	}
}

func TestDeadline(t *testing.T) {
	readTimeout := failure{fault.ReadTimeout, fault.StageConnect, 0, true}
	tests := []struct {
		name  string
		build func(w *world)
		want  failure
	}{
		{"body drips", func(w *world) {
			w.raw(siteHTTP, func(conn net.Conn) {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
				w.drip(conn, "a")
			})
		}, readTimeout},
		{"chunks drip", func(w *world) {
			w.raw(siteHTTP, func(conn net.Conn) {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
				w.drip(conn, "1\r\na\r\n")
			})
		}, readTimeout},
		{"compressed body drips", func(w *world) {
			body := string(encode(w.t, "gzip", strings.NewReader(strings.Repeat("x", 10000))))
			w.raw(siteHTTP, func(conn net.Conn) {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
				w.drip(conn, body)
			})
		}, readTimeout},
		{"headers drip", func(w *world) {
			w.raw(siteHTTP, func(conn net.Conn) {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
				w.drip(conn, "X: y\r\n")
			})
		}, readTimeout},
		{"silence after the request", func(w *world) {
			w.raw(siteHTTP, func(net.Conn) { <-w.over })
		}, readTimeout},
		{"silence in the body", func(w *world) {
			w.raw(siteHTTP, func(conn net.Conn) {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
				<-w.over
			})
		}, readTimeout},
		{"nobody takes the request", func(w *world) {
			w.hosts[netip.MustParseAddrPort(siteHTTP)] = func(context.Context) (net.Conn, error) {
				client, _ := net.Pipe()
				return client, nil
			}
		}, readTimeout},
		{"no connection", func(w *world) {
			w.hosts[netip.MustParseAddrPort(siteHTTP)] = func(ctx context.Context) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		}, readTimeout},
		{"slow redirects", func(w *world) {
			w.raw(siteHTTP, func(conn net.Conn) {
				w.pause(7 * time.Second)
				_, _ = io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: /next\r\n\r\n")
			})
		}, readTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t).name("www.example.com", siteAddr)
				tt.build(w)
				start := time.Now()
				if diff := cmp.Diff(tt.want, getFailure(t, t.Context(), w.client(), bodyURL)); diff != "" {
					t.Error(diff)
				}
				if took := time.Since(start); took != DefaultTimeout {
					t.Errorf("the call took %v", took)
				}
			})
		})
	}
}

// TestTLSDeadline: a server that accepts the connection and never shakes hands.
func TestTLSDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).name("www.example.com", siteAddr)
		closed := make(chan struct{})
		w.hosts[netip.MustParseAddrPort(siteHTTPS)] = func(context.Context) (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				_, _ = io.Copy(io.Discard, server)
				close(closed)
			}()
			return client, nil
		}
		want := failure{fault.ReadTimeout, fault.StageConnect, 0, true}
		if diff := cmp.Diff(want, getFailure(t, t.Context(), w.client(), "https://www.example.com/")); diff != "" {
			t.Error(diff)
		}
		<-closed // the connection does not outlive the call
	})
}

// stuckResolver never answers and does not heed its context.
type stuckResolver struct{ free chan struct{} }

func (s stuckResolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	<-s.free
	return nil, errRefused
}

func TestStuckResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stuck := stuckResolver{make(chan struct{})}
		c := w.client()
		c.Guard.Resolver = stuck
		c.Timeout = 5 * time.Second
		start := time.Now()
		want := failure{fault.DNSTimeout, fault.StageDNS, 0, true}
		if diff := cmp.Diff(want, getFailure(t, t.Context(), c, bodyURL)); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(start); took != c.Timeout {
			t.Errorf("the call took %v", took)
		}
		close(stuck.free)
	})
}

// TestUsedUp: nothing of the budget is left when a step begins.
func TestUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).name("www.example.com", siteAddr)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		<-ctx.Done()
		want := failure{fault.FetchTimeout, fault.StageConnect, 0, true}
		if diff := cmp.Diff(want, getFailure(t, ctx, w.client(), bodyURL)); diff != "" {
			t.Error(diff)
		}
		if len(w.lookups) != 0 {
			t.Error("a name was looked up after the end")
		}
	})
}

// TestErrorBodyWait: the reason for a refusal is not worth the whole budget; the status stands without it.
func TestErrorBodyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).name("www.example.com", siteAddr)
		w.raw(siteHTTP, func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 503 Sorry\r\n\r\n")
			w.drip(conn, " ")
		})
		start := time.Now()
		want := failure{fault.HTTPStatus, fault.StageHTTP, 503, true}
		if diff := cmp.Diff(want, getFailure(t, t.Context(), w.client(), bodyURL)); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(start); took != errorBodyWait {
			t.Errorf("the call took %v", took)
		}
	})
}

// TestSlowButInTime is the neighbour of TestDeadline.
func TestSlowButInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).name("www.example.com", siteAddr)
		w.raw(siteHTTP, func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 29\r\n\r\n")
			w.drip(conn, "a")
		})
		c := w.client()
		c.Now = time.Now
		if got := get(t, c, bodyURL); len(got.Body) != 29 || got.FetchMS != 28_000 {
			t.Errorf("%d bytes in %d ms", len(got.Body), got.FetchMS)
		}
	})
}

// TestCanceledWhileWaiting: each wait ends with the caller's context.
func TestCanceledWhileWaiting(t *testing.T) {
	for _, head := range []string{"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 403 No\r\n\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t).name("www.example.com", siteAddr)
			w.raw(siteHTTP, func(conn net.Conn) {
				_, _ = io.WriteString(conn, head)
				_, _ = conn.Read(make([]byte, 1))
			})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			want := failure{fault.Canceled, fault.StageConnect, 0, true}
			if diff := cmp.Diff(want, getFailure(t, ctx, w.client(), bodyURL)); diff != "" {
				t.Errorf("after %q: %s", head, diff)
			}
		})
	}
}
