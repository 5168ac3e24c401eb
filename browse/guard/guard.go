// Package guard decides where a request may go, and takes it there.
//
// It is the one place that judges: ParseURL gives a URL its single spelling, Policy judges names and literal
// addresses before anything is sent and every resolved address before a connection is made, Guard resolves
// once and connects only to what was judged. Verdict is the table underneath, pure and without exceptions.
//
// It must not know HTTP, headers, bodies or redirect counts (fetch does), nor settings files: the operator's
// openings arrive as a Policy, whose zero value refuses all that is not public. Resolver and dialer are
// fields, so nothing here finds a network by itself. Start at Guard.Admit.
package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"web/browse/fault"
)

const (
	// DefaultStagger is the head start of one connection attempt over the next (RFC 8305, section 5).
	DefaultStagger = 250 * time.Millisecond
	// MaxDialed bounds how many of a name's addresses are tried; all of them are judged.
	MaxDialed = 32
	// ProxyLookupTime bounds the lookup that is made only to judge, when a proxy will dial: a machine behind
	// one often has no resolver at all, and must not spend the whole call finding out.
	ProxyLookupTime = 3 * time.Second
)

// Resolver gives all addresses of a name. The network is always "ip".
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// DialFunc connects to one address by TCP. It must call last with the address that the socket is about to
// connect to, and give up when that fails; see SystemDial.
type DialFunc func(ctx context.Context, to netip.AddrPort, last func(netip.AddrPort) error) (net.Conn, error)

// Guard admits URLs and connects to them. It holds no state: calls are independent of each other.
type Guard struct {
	Policy   Policy
	Resolver Resolver
	Dial     DialFunc
	// Stagger is DefaultStagger when 0.
	Stagger time.Duration
	// Proxy is the operator's proxy (http or https), nil for none. Targets are judged here all the same, but
	// the proxy looks the name up again, so Target.Pinned is false.
	Proxy *url.URL
}

// Target is an admitted URL together with the addresses that were judged for it.
type Target struct {
	URL URL
	// Pinned is false when a proxy chooses the address: what was judged here may not be what is reached.
	Pinned bool

	guard *Guard
	addrs []netip.Addr
}

// Admit judges u, resolves its name once and judges every answer; a single refused answer refuses the whole
// request, since which one is dialled is chance. Nothing is sent to the host.
func (g *Guard) Admit(ctx context.Context, u URL) (*Target, *fault.Error) {
	if u.IsZero() {
		return nil, policyFault(fault.MalformedURL, "there is no URL to open")
	}
	if f := g.Policy.Host(u); f != nil {
		return nil, f
	}
	t := &Target{URL: u, Pinned: g.Proxy == nil, guard: g}
	if u.addr.IsValid() {
		t.addrs = []netip.Addr{u.addr}
		return t, nil
	}
	addrs, f := g.lookup(ctx, u.host)
	switch {
	case f != nil && g.Proxy != nil && f.Code != fault.Canceled && ctx.Err() == nil:
		if !strings.Contains(u.host, ".") && !g.Policy.opensName(u) {
			return nil, notPublic(fault.PrivateBlocked) // no public name is a single label
		}
		return t, nil // the proxy may know a name that cannot be resolved here
	case f != nil:
		return nil, f
	}
	for _, a := range addrs {
		if f := g.Policy.Answer(u, a); f != nil {
			return nil, f
		}
	}
	t.addrs = interleave(addrs)
	return t, nil
}

// lookup ends with ctx even when the resolver does not: a stuck one keeps its goroutine, not its caller.
func (g *Guard) lookup(ctx context.Context, host string) ([]netip.Addr, *fault.Error) {
	if g.Proxy != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ProxyLookupTime)
		defer cancel()
	}
	type answer struct {
		addrs []netip.Addr
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		addrs, err := g.Resolver.LookupNetIP(ctx, "ip", host)
		done <- answer{addrs, err}
	}()
	var a answer
	select {
	case a = <-done:
	case <-ctx.Done():
		a.err = ctx.Err()
	}
	var dns *net.DNSError
	switch {
	case a.err == nil && len(a.addrs) > 0:
		// net.Resolver gives A records as ::ffff:a.b.c.d. The kernel reads that as the IPv4 address, so that is
		// what gets judged and dialled; in a URL the same spelling stays refused.
		for i := range a.addrs {
			a.addrs[i] = a.addrs[i].Unmap()
		}
		return a.addrs, nil
	case errors.Is(a.err, context.Canceled) || errors.Is(ctx.Err(), context.Canceled):
		return nil, fault.New(fault.Canceled, "the call was cancelled while the host name was looked up", AdviceRetry).WithCause(context.Canceled)
	case errors.Is(a.err, context.DeadlineExceeded) || ctx.Err() != nil || errors.As(a.err, &dns) && dns.IsTimeout:
		return nil, fault.New(fault.DNSTimeout, "the host name was not resolved in time", AdviceRetry).WithCause(a.err)
	}
	return nil, fault.New(fault.DNSFailed, "the host name could not be resolved",
		"check the spelling of the host name, then retry once").WithCause(a.err)
}

// interleave orders addresses as RFC 8305, section 4, does: families in turn, starting with the family that
// the resolver put first, so that a host without working IPv6 loses one stagger and not all of them.
func interleave(addrs []netip.Addr) []netip.Addr {
	var first, second []netip.Addr
	seen := make(map[netip.Addr]bool, len(addrs))
	for _, a := range addrs {
		switch {
		case seen[a]:
			continue
		case a.Is4() == addrs[0].Is4():
			first = append(first, a)
		default:
			second = append(second, a)
		}
		seen[a] = true
	}
	out := make([]netip.Addr, 0, len(seen))
	for i := range max(len(first), len(second)) {
		if i < len(first) {
			out = append(out, first[i])
		}
		if i < len(second) {
			out = append(out, second[i])
		}
	}
	return out[:min(len(out), MaxDialed)]
}

type targetKey struct{}

// Context gives the request of one hop its target; DialContext reads it back.
func (t *Target) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, targetKey{}, t)
}

var (
	errNoTarget = errors.New("guard: no target was admitted for this connection")
	errUnjudged = errors.New("guard: not an address that was judged for this target")
)

// DialContext has the shape of http.Transport.DialContext. It refuses to connect for a request that carries
// no admitted target, or for another host than that target's; without a proxy it resolves nothing.
func (g *Guard) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	t, _ := ctx.Value(targetKey{}).(*Target)
	switch {
	case t == nil || t.guard != g:
		return nil, errNoTarget
	case g.Proxy != nil:
		return g.dialProxy(ctx)
	case address != net.JoinHostPort(t.URL.host, t.URL.portText()):
		return nil, errNoTarget
	}
	return t.Dial(ctx)
}

// dialProxy is not judged: the operator named the proxy, and it usually has a private address.
func (g *Guard) dialProxy(ctx context.Context) (net.Conn, error) {
	host, service := g.Proxy.Hostname(), g.Proxy.Port()
	if service == "" {
		service = map[string]string{"https": "443"}[strings.ToLower(g.Proxy.Scheme)]
	}
	if service == "" {
		service = "80"
	}
	port, ok := parsePort(service)
	if !ok {
		return nil, errNoTarget
	}
	var addrs []netip.Addr
	if a, err := netip.ParseAddr(host); err == nil {
		addrs = []netip.Addr{a}
	} else if addrs, err = g.Resolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, errNoTarget
	}
	return g.race(ctx, interleave(addrs), port, func(netip.AddrPort) error { return nil })
}

// Dial connects to one of the judged addresses: the first that answers wins.
func (t *Target) Dial(ctx context.Context) (net.Conn, error) {
	port := t.URL.Port()
	return t.guard.race(ctx, t.addrs, port, func(to netip.AddrPort) error {
		for _, a := range t.addrs {
			if a == to.Addr() && to.Port() == port && t.guard.Policy.reaches(t.URL, a) {
				return nil
			}
		}
		if code, ok := Verdict(to.Addr()); !ok {
			return notPublic(code) // typed: not a failure of the connection, and not to be retried
		}
		return errUnjudged
	})
}

// race starts one attempt after another, the next when the last failed or after the stagger.
func (g *Guard) race(ctx context.Context, addrs []netip.Addr, port uint16, last func(netip.AddrPort) error) (net.Conn, error) {
	if len(addrs) == 0 {
		return nil, errNoTarget
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the losers
	type attempt struct {
		conn net.Conn
		err  error
	}
	results := make(chan attempt)
	start := func(a netip.Addr) {
		conn, err := g.Dial(ctx, netip.AddrPortFrom(a, port), last)
		select {
		case results <- attempt{conn, err}:
		case <-ctx.Done():
			if conn != nil {
				_ = conn.Close()
			}
		}
	}
	stagger := g.Stagger
	if stagger == 0 {
		stagger = DefaultStagger
	}
	timer := time.NewTimer(stagger)
	defer timer.Stop()
	go start(addrs[0])
	next, running := 1, 1
	var failed error
	for {
		var more bool
		select {
		case r := <-results:
			if r.err == nil {
				return r.conn, nil
			}
			if failed == nil {
				failed = r.err
			}
			running--
			more = true
		case <-timer.C:
			more = true
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if more && next < len(addrs) {
			go start(addrs[next])
			next++
			running++
			timer.Reset(stagger)
		}
		if running == 0 {
			return nil, failed
		}
	}
}

// SystemDial is the DialFunc of a real network. The last word is spoken between the making of the socket and
// its connect, on the address that the kernel is given.
func SystemDial(ctx context.Context, to netip.AddrPort, last func(netip.AddrPort) error) (net.Conn, error) {
	d := net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil {
			return errUnjudged
		}
		return last(a)
	}}
	return d.DialContext(ctx, "tcp", to.String())
}

// SystemResolver is the Resolver of a real network.
func SystemResolver() Resolver { return &net.Resolver{} }
