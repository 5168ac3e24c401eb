package guard

import (
	"errors"
	"net/netip"
	"strings"

	"web/browse/fault"
)

// Policy is what the operator opened. The zero value refuses everything that is not public.
type Policy struct {
	Allow []Entry
	// FakeIP are ranges that a fake-IP resolver answers with for public names: admitted as answers, never as
	// literals.
	FakeIP []netip.Prefix
}

// Entry is one opening: a name or a range of addresses, on every port or on one.
//
// An address entry opens just these addresses, not what is embedded in them. A name entry opens the name and
// whatever it resolves to, but for metadata and link-local addresses: a name never has those for an honest
// reason, so whoever wants them has to name the address.
type Entry struct {
	name   string
	prefix netip.Prefix
	port   uint16 // 0 is every port
}

var errEntry = errors.New("must be a host, host:port, IP address, IP:port ([IPv6]:port) or CIDR range")

// ParseAllow reads one entry of network.allow. The error does not quote it.
func ParseAllow(s string) (Entry, error) {
	if strings.Contains(s, "/") {
		p, err := ParsePrefix(s)
		return Entry{prefix: p}, err
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return address(a, 0)
	}
	host, port, hasPort := s, "", false
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, after, closed := strings.Cut(inner, "]")
		a, err := netip.ParseAddr(inner)
		if !closed || err != nil || !a.Is6() {
			return Entry{}, errEntry
		}
		if after == "" {
			return address(a, 0)
		}
		n, ok := parsePort(strings.TrimPrefix(after, ":"))
		if !ok || after[0] != ':' {
			return Entry{}, errEntry
		}
		return address(a, n)
	}
	host, port, hasPort = strings.Cut(s, ":")
	e := Entry{}
	if hasPort {
		var ok bool
		if e.port, ok = parsePort(port); !ok {
			return Entry{}, errEntry
		}
	}
	name, a, f := hostname(host)
	switch {
	case f != nil:
		return Entry{}, errEntry
	case a.IsValid():
		return address(a, e.port)
	}
	e.name = name
	return e, nil
}

// ParsePrefix reads a CIDR range: no host bits, as 10.0.0.5/8 may have been meant as one address, and no
// IPv4-mapped one, which no address would ever match.
func ParsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil || p != p.Masked() || p.Addr().Is4In6() {
		return netip.Prefix{}, errors.New("must be a CIDR range without host bits")
	}
	return p, nil
}

func address(a netip.Addr, port uint16) (Entry, error) {
	if a.Zone() != "" || a.Is4In6() {
		return Entry{}, errEntry
	}
	return Entry{prefix: netip.PrefixFrom(a, a.BitLen()), port: port}, nil
}

// Host judges what can be judged before a lookup: literal addresses, and names that are not public by
// themselves. nil admits, and says nothing yet about what a name resolves to.
func (p Policy) Host(u URL) *fault.Error {
	if u.addr.IsValid() {
		if code, ok := p.address(u.addr, u.Port()); !ok {
			return notPublic(code)
		}
		return nil
	}
	if code := nameVerdict(u.host); code != "" && !p.opensName(u) {
		return notPublic(code)
	}
	return nil
}

// Answer judges one address that the name of u resolved to.
func (p Policy) Answer(u URL, a netip.Addr) *fault.Error {
	code, ok := p.address(a, u.Port())
	if ok {
		return nil
	}
	local := code == fault.CloudMetadataBlocked || code == fault.LinkLocalBlocked || code == fault.UnparseableIP
	if !local && (p.opensName(u) || contains(p.FakeIP, a)) {
		return nil
	}
	if fakeRange(a) {
		return fakeAnswer(code)
	}
	return notPublic(code)
}

// reaches is the last word, on the address that is dialled for u.
func (p Policy) reaches(u URL, a netip.Addr) bool {
	if u.addr.IsValid() {
		return u.addr == a && p.Host(u) == nil
	}
	return p.Host(u) == nil && p.Answer(u, a) == nil
}

func (p Policy) address(a netip.Addr, port uint16) (fault.Code, bool) {
	code, public := Verdict(a)
	if public || !a.IsValid() || !p.opensAddress(a, port) {
		return code, public
	}
	if a.Is6() {
		for _, inner := range embedded(a) {
			if code, ok := p.address(inner, port); !ok {
				return code, false
			}
		}
	}
	return "", true
}

func (p Policy) opensAddress(a netip.Addr, port uint16) bool {
	for _, e := range p.Allow {
		if e.name == "" && e.prefix.Contains(a) && (e.port == 0 || e.port == port) {
			return true
		}
	}
	return false
}

func (p Policy) opensName(u URL) bool {
	for _, e := range p.Allow {
		if e.name != "" && e.name == u.host && (e.port == 0 || e.port == u.Port()) {
			return true
		}
	}
	return false
}

func contains(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// fakeRange holds the ranges that fake-IP resolvers use unless told otherwise.
func fakeRange(a netip.Addr) bool {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18}), 15).Contains(a) ||
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0xfc}), 18).Contains(a)
}

// nameVerdict gives the code of a name that is not public whatever it resolves to, else "".
func nameVerdict(name string) fault.Code {
	switch name {
	case "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6", "localhost6.localdomain6",
		"ip6-localhost", "ip6-loopback": // the usual content of /etc/hosts
		return fault.LoopbackBlocked
	case "metadata.google.internal":
		return fault.CloudMetadataBlocked
	}
	switch {
	case within(name, "localhost"): // RFC 6761, section 6.3
		return fault.LoopbackBlocked
	case within(name, "local"), // RFC 6762
		within(name, "internal"),  // reserved by ICANN for private use
		within(name, "home.arpa"): // RFC 8375
		return fault.PrivateBlocked
	}
	return ""
}

func within(name, domain string) bool {
	rest, ok := strings.CutSuffix(name, domain)
	return ok && (rest == "" || rest[len(rest)-1] == '.')
}
