package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"web/browse/fault"
)

// names is a resolver that answers from a table.
type names struct {
	mu      sync.Mutex
	answers map[string][]string
	// then, when set for a name, is its answer from the second lookup on.
	then  map[string][]string
	asked []string
}

func (n *names) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list, ok := n.answers[host]
	for _, before := range n.asked {
		if later := n.then[host]; later != nil && before == host {
			list = later
		}
	}
	n.asked = append(n.asked, host)
	if !ok || network != "ip" {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var out []netip.Addr
	for _, s := range list {
		a, _ := netip.ParseAddr(s) // what does not parse stays the zero address
		out = append(out, a)
	}
	return out, nil
}

// lookupFunc is a resolver made of one function.
type lookupFunc func(ctx context.Context) ([]netip.Addr, error)

func (f lookupFunc) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	return f(ctx)
}

func TestLookupFailures(t *testing.T) {
	stuck := lookupFunc(func(context.Context) ([]netip.Addr, error) { select {} })
	timeout := lookupFunc(func(context.Context) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "i/o timeout", Name: "secret.example", IsTimeout: true}
	})
	broken := lookupFunc(func(context.Context) ([]netip.Addr, error) { return nil, errors.New("read secret.example: refused") })
	past, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	gone, cancelNow := context.WithCancel(t.Context())
	cancelNow()
	for _, tt := range []struct {
		name     string
		ctx      context.Context
		resolver Resolver
		want     fault.Code
	}{
		{"stuck past the deadline", past, stuck, fault.DNSTimeout},
		{"stuck and cancelled", gone, stuck, fault.Canceled},
		{"resolver's own time-out", t.Context(), timeout, fault.DNSTimeout},
		{"failing resolver", t.Context(), broken, fault.DNSFailed},
	} {
		for range 2 { // one stuck lookup does not change how the next fails
			_, f := (&Guard{Resolver: tt.resolver}).Admit(tt.ctx, mustURL(t, "http://a.example/"))
			if f == nil || f.Code != tt.want || !f.Retryable {
				t.Errorf("%s: got %v, want %s", tt.name, f, tt.want)
			}
		}
	}
}

func TestAdmitBehindAProxy(t *testing.T) {
	for target, want := range map[string]fault.Code{
		"http://unknown.example/": "", "http://public.example/": "", "http://mixed.example/": fault.PrivateBlocked, "http://10.0.0.1/": fault.PrivateBlocked, "http://a.local/": fault.PrivateBlocked,
	} {
		g := &Guard{Resolver: &names{answers: answers}, Proxy: &url.URL{Scheme: "http", Host: "proxy.corp.example:3128"}}
		got, f := g.Admit(t.Context(), mustURL(t, target))
		var code fault.Code
		if f != nil {
			code = f.Code
		}
		if code != want || f == nil && got.Pinned {
			t.Errorf("%s: got %q, want %q; %+v", target, code, want, got)
		}
	}
}

func TestProxyDoesNotWaitForAStuckResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := lookupFunc(func(ctx context.Context) ([]netip.Addr, error) { <-ctx.Done(); return nil, ctx.Err() })
		g := &Guard{Resolver: waiting, Proxy: &url.URL{Scheme: "http", Host: "10.0.0.2:3128"}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*ProxyLookupTime)
		defer cancel()
		if _, f := g.Admit(ctx, mustURL(t, "http://public.example/")); f != nil {
			t.Errorf("got %v", f)
		}
		if ctx.Err() != nil {
			t.Error("the whole call was spent on the lookup")
		}
		short, cancel := context.WithTimeout(t.Context(), ProxyLookupTime/2)
		defer cancel()
		if _, f := g.Admit(short, mustURL(t, "http://public.example/")); f == nil || f.Code != fault.DNSTimeout {
			t.Errorf("past the deadline: got %v", f)
		}
	})
}

// dials records what is dialled; a connection is one end of a pipe.
type dials struct {
	mu     sync.Mutex
	seen   []string
	refuse map[string]bool
	hang   map[string]bool
	// hanging counts the attempts that have not ended.
	hanging int
	// detour, when valid, is the address that the socket would connect to instead.
	detour netip.AddrPort
}

func (d *dials) dial(ctx context.Context, to netip.AddrPort, last func(netip.AddrPort) error) (net.Conn, error) {
	if d.detour.IsValid() {
		to = d.detour
	}
	if err := last(to); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.seen = append(d.seen, to.String())
	if d.hang[to.String()] {
		d.hanging++
	}
	d.mu.Unlock()
	switch {
	case d.hang[to.String()]:
		<-ctx.Done()
		d.mu.Lock()
		d.hanging--
		d.mu.Unlock()
		return nil, ctx.Err()
	case d.refuse[to.String()]:
		return nil, errors.New("refused")
	}
	a, b := net.Pipe()
	_ = b.Close()
	return a, nil
}

func TestDialTriesEveryAddress(t *testing.T) {
	const dead4, dead6, live = "93.184.216.34:443", "[2606:4700::1]:443", "[2606:4700::2]:443"
	for _, tt := range []struct {
		name string
		*dials
		staggers time.Duration
		want     []string
	}{
		{"first refused, second hangs", &dials{refuse: map[string]bool{dead6: true}, hang: map[string]bool{dead4: true}}, 1, []string{dead6, dead4, live}},
		{"both hang", &dials{hang: map[string]bool{dead6: true, dead4: true}}, 2, []string{dead6, dead4, live}},
		{"both refused", &dials{refuse: map[string]bool{dead6: true, dead4: true}}, 0, []string{dead6, dead4, live}},
		{"first answers", &dials{}, 0, []string{dead6}},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &names{answers: map[string][]string{"h.example": {"2606:4700::1", "2606:4700::2", "93.184.216.34", "::ffff:93.184.216.34"}}}
			g := &Guard{Resolver: r, Dial: tt.dial}
			target, f := g.Admit(t.Context(), mustURL(t, "https://h.example/"))
			if f != nil {
				t.Fatal(f)
			}
			start := time.Now()
			conn, err := target.Dial(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			_ = conn.Close()
			if diff := cmp.Diff(tt.want, tt.seen); diff != "" {
				t.Errorf("%s: dialled (-want +got):\n%s", tt.name, diff)
			}
			// The clock is the bubble's own, so this is exact.
			if got := time.Since(start); got != tt.staggers*DefaultStagger {
				t.Errorf("%s: took %v", tt.name, got)
			}
			synctest.Wait()
			if tt.hanging != 0 {
				t.Errorf("%s: %d attempts go on after one has won", tt.name, tt.hanging)
			}
		})
	}
}

func TestDialFails(t *testing.T) {
	const addr = "93.184.216.34:80"
	r := &names{answers: map[string][]string{"h.example": {"93.184.216.34"}}}
	refusing := &dials{refuse: map[string]bool{addr: true}}
	hanging := &dials{hang: map[string]bool{addr: true}}
	for name, d := range map[string]*dials{"refused": refusing, "hanging": hanging} {
		g := &Guard{Resolver: r, Dial: d.dial}
		target, f := g.Admit(t.Context(), mustURL(t, "http://h.example/"))
		if f != nil {
			t.Fatal(f)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if name == "hanging" {
			cancel()
		}
		if conn, err := target.Dial(ctx); err == nil {
			t.Errorf("%s: connected to %v", name, conn)
		}
		cancel()
	}
}

func TestDialContextRefusesWhatWasNotAdmitted(t *testing.T) {
	d := &dials{}
	g := &Guard{Resolver: &names{answers: answers}, Dial: d.dial}
	other := &Guard{Resolver: g.Resolver, Dial: d.dial}
	target, f := g.Admit(t.Context(), mustURL(t, "http://public.example:81/"))
	if f != nil {
		t.Fatal(f)
	}
	foreign, f := other.Admit(t.Context(), mustURL(t, "http://public.example:81/"))
	if f != nil {
		t.Fatal(f)
	}
	for name, tt := range map[string]struct {
		ctx  context.Context
		addr string
	}{
		"no target":         {t.Context(), "public.example:81"},
		"another guard's":   {foreign.Context(t.Context()), "public.example:81"},
		"another host":      {target.Context(t.Context()), "mixed.example:81"},
		"another port":      {target.Context(t.Context()), "public.example:80"},
		"an address itself": {target.Context(t.Context()), "93.184.216.34:81"},
	} {
		if _, err := g.DialContext(tt.ctx, "tcp", tt.addr); err == nil {
			t.Errorf("%s: connected", name)
		}
	}
	if len(d.seen) != 0 {
		t.Errorf("dialled %v", d.seen)
	}
	conn, err := g.DialContext(target.Context(t.Context()), "tcp", "public.example:81")
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if diff := cmp.Diff([]string{"93.184.216.34:81"}, d.seen); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
}

func TestDialContextGoesToTheProxy(t *testing.T) {
	for host, want := range map[string]string{"10.0.0.2:3128": "10.0.0.2:3128", "[fd00::2]": "[fd00::2]:80", "wiki.corp.example:81": "10.20.1.1:81"} {
		d := &dials{}
		g := &Guard{Resolver: &names{answers: answers}, Dial: d.dial, Proxy: &url.URL{Scheme: "http", Host: host}}
		target, f := g.Admit(t.Context(), mustURL(t, "https://public.example/"))
		if f != nil {
			t.Fatal(f)
		}
		conn, err := g.DialContext(target.Context(t.Context()), "tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		if diff := cmp.Diff([]string{want}, d.seen); diff != "" {
			t.Errorf("dialled (-want +got):\n%s", diff)
		}
		if _, err := g.DialContext(t.Context(), "tcp", host); err == nil {
			t.Error("connected to the proxy without an admitted target")
		}
	}
}

// The address that the socket is given is judged again, whatever led there.
func TestLastWord(t *testing.T) {
	for _, detour := range []string{"127.0.0.1:80", "93.184.216.35:80", "93.184.216.34:22"} {
		d := &dials{detour: netip.MustParseAddrPort(detour)}
		g := &Guard{Resolver: &names{answers: answers}, Dial: d.dial}
		target, f := g.Admit(t.Context(), mustURL(t, "http://public.example/"))
		if f != nil {
			t.Fatal(f)
		}
		if _, err := target.Dial(t.Context()); err == nil || len(d.seen) != 0 {
			t.Errorf("%s: connected", detour)
		}
	}
	// Even a judged address is refused once the policy no longer has it.
	g := &Guard{Resolver: &names{answers: answers}, Policy: policy(t, nil, "loop.example")}
	d := &dials{}
	g.Dial = d.dial
	target, f := g.Admit(t.Context(), mustURL(t, "http://loop.example/"))
	if f != nil {
		t.Fatal(f)
	}
	g.Policy = Policy{}
	if _, err := target.Dial(t.Context()); err == nil || len(d.seen) != 0 {
		t.Error("connected to an address that is refused now")
	}
}

func TestSystemDial(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	to := netip.MustParseAddrPort(listener.Addr().String())

	refusal := errors.New("refused by the last word")
	var asked []netip.AddrPort
	_, err = SystemDial(t.Context(), to, func(a netip.AddrPort) error { asked = append(asked, a); return refusal })
	if !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	if len(asked) != 1 || asked[0] != to {
		t.Errorf("asked about %v", asked)
	}

	// The refused attempt left nothing in the listener's queue: the first connection there is the next one.
	g := &Guard{Policy: policy(t, nil, to.String()), Dial: SystemDial}
	target, f := g.Admit(t.Context(), mustURL(t, "http://"+to.String()+"/"))
	if f != nil {
		t.Fatal(f)
	}
	conn, err := target.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if diff := cmp.Diff(conn.LocalAddr().String(), accepted.RemoteAddr().String()); diff != "" {
		t.Errorf("another connection came first (-want +got):\n%s", diff)
	}
}

// A name that answers public first and private afterwards is refused on the hop where it is private, and the
// first hop keeps to the address that was judged.
func TestRebinding(t *testing.T) {
	r := &names{answers: map[string][]string{"rebind.example": {"93.184.216.34"}}, then: map[string][]string{"rebind.example": {"127.0.0.1"}}}
	d := &dials{}
	g := &Guard{Resolver: r, Dial: d.dial}
	first, f := g.Admit(t.Context(), mustURL(t, "http://rebind.example/"))
	if f != nil {
		t.Fatal(f)
	}
	conn, err := g.DialContext(first.Context(t.Context()), "tcp", "rebind.example:80")
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	next, f := ResolveRedirect(first.URL, "/again")
	if f != nil {
		t.Fatal(f)
	}
	if _, f = g.Admit(t.Context(), next); f == nil || f.Code != fault.LoopbackBlocked {
		t.Errorf("second hop: %v", f)
	}
	if diff := cmp.Diff([]string{"93.184.216.34:80"}, d.seen); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
	if len(r.asked) != 2 {
		t.Errorf("looked up %d times, want once per hop", len(r.asked))
	}
}

func TestManyAddresses(t *testing.T) {
	var list []string
	refuse := map[string]bool{}
	for i := range 2 * MaxDialed {
		a := netip.AddrFrom4([4]byte{93, 184, 216, byte(i)})
		list = append(list, a.String())
		refuse[netip.AddrPortFrom(a, 80).String()] = true
	}
	d := &dials{refuse: refuse}
	g := &Guard{Resolver: &names{answers: map[string][]string{"h.example": list, "last.example": append(list, "10.0.0.1")}}, Dial: d.dial}
	if _, f := g.Admit(t.Context(), mustURL(t, "http://last.example/")); f == nil || f.Code != fault.PrivateBlocked {
		t.Errorf("an address that would not be dialled was not judged: %v", f)
	}
	target, f := g.Admit(t.Context(), mustURL(t, "http://h.example/"))
	if f != nil {
		t.Fatal(f)
	}
	if _, err := target.Dial(t.Context()); err == nil {
		t.Error("connected, though every address refuses")
	}
	if len(d.seen) != MaxDialed {
		t.Errorf("dialled %d addresses, want %d", len(d.seen), MaxDialed)
	}
}
