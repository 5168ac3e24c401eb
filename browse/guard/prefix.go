package guard

import (
	"net/netip"
	"sync"

	"web/browse/fault"
)

// special is one range that is not the public internet, or is it only in form.
type special struct {
	cidr string
	code fault.Code
	why  string
}

// Each list is read from the top and the first range that holds the address decides, so a part stands above
// its whole. Sources: IANA's special-purpose address registries for IPv4 and IPv6, globally reachable entries
// included as none of them serves pages, and contract section 4.4.

var ipv4Ranges = []special{
	{"169.254.169.254/32", fault.CloudMetadataBlocked, "cloud instance metadata; RFC 3927"},
	{"100.100.100.200/32", fault.CloudMetadataBlocked, "Alibaba Cloud instance metadata, inside RFC 6598"},
	{"168.63.129.16/32", fault.CloudMetadataBlocked, "Azure's host agent: public by its number, local in fact"},
	{"192.0.0.192/32", fault.CloudMetadataBlocked, "Oracle Cloud instance metadata, inside RFC 6890"},
	{"127.0.0.0/8", fault.LoopbackBlocked, "loopback; RFC 1122, section 3.2.1.3"},
	{"0.0.0.0/32", fault.UnspecifiedBlocked, "this host; RFC 1122, section 3.2.1.3"},
	{"169.254.0.0/16", fault.LinkLocalBlocked, "link local; RFC 3927"},
	{"224.0.0.0/4", fault.MulticastBlocked, "multicast; RFC 1112"},
	{"100.64.0.0/10", fault.CGNATBlocked, "shared address space; RFC 6598"},
	{"192.88.99.0/24", fault.SixToFourRelayBlocked, "6to4 relay anycast, and the 6a44 relay in it; RFC 7526, RFC 6751"},
	{"0.0.0.0/8", fault.PrivateBlocked, "this network; RFC 791, section 3.2"},
	{"10.0.0.0/8", fault.PrivateBlocked, "private use; RFC 1918"},
	{"172.16.0.0/12", fault.PrivateBlocked, "private use; RFC 1918"},
	{"192.168.0.0/16", fault.PrivateBlocked, "private use; RFC 1918"},
	{"192.0.0.0/24", fault.PrivateBlocked, "IETF protocol assignments: DS-Lite, PCP and TURN anycast, NAT64 discovery; RFC 6890, RFC 7335, RFC 7723, RFC 8155, RFC 8880"},
	{"192.0.2.0/24", fault.PrivateBlocked, "documentation, TEST-NET-1; RFC 5737"},
	{"192.31.196.0/24", fault.PrivateBlocked, "AS112; RFC 7535"},
	{"192.52.193.0/24", fault.PrivateBlocked, "AMT relays; RFC 7450"},
	{"192.175.48.0/24", fault.PrivateBlocked, "AS112, direct delegation; RFC 7534"},
	{"198.18.0.0/15", fault.PrivateBlocked, "benchmarking, and the usual range of fake-IP resolvers; RFC 2544"},
	{"198.51.100.0/24", fault.PrivateBlocked, "documentation, TEST-NET-2; RFC 5737"},
	{"203.0.113.0/24", fault.PrivateBlocked, "documentation, TEST-NET-3; RFC 5737"},
	{"240.0.0.0/4", fault.PrivateBlocked, "reserved, limited broadcast included; RFC 1112, RFC 919"},
}

// What none of these holds is 2000::/3, the only part of IPv6 that is handed out for the public internet
// (RFC 4291, section 2.4), without its special ranges.
var ipv6Ranges = []special{
	{"fd00:ec2::254/128", fault.CloudMetadataBlocked, "AWS instance metadata"},
	{"fd20:ce::254/128", fault.CloudMetadataBlocked, "Google Cloud instance metadata"},
	{"::1/128", fault.LoopbackBlocked, "loopback; RFC 4291, section 2.5.3"},
	{"::/128", fault.UnspecifiedBlocked, "unspecified; RFC 4291, section 2.5.2"},
	{"fe80::/10", fault.LinkLocalBlocked, "link local; RFC 4291, section 2.5.6"},
	{"ff00::/8", fault.MulticastBlocked, "multicast; RFC 4291, section 2.7"},
	{"fc00::/7", fault.PrivateBlocked, "unique local; RFC 4193"},
	{"fec0::/10", fault.PrivateBlocked, "site local, deprecated; RFC 3879"},
	{"64:ff9b:1::/48", fault.PrivateBlocked, "NAT64, local use; RFC 8215"},
	{"100::/64", fault.PrivateBlocked, "discard only; RFC 6666"},
	{"100:0:0:1::/64", fault.PrivateBlocked, "dummy prefix; RFC 9780"},
	{"2001::/23", fault.PrivateBlocked, "IETF protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID, drone identities; RFC 2928, RFC 4380, RFC 5180, RFC 7450, RFC 7535, RFC 4843, RFC 7343, RFC 9374"},
	{"2001:db8::/32", fault.PrivateBlocked, "documentation; RFC 3849"},
	{"2002::/16", fault.PrivateBlocked, "6to4; RFC 3056"},
	{"2620:4f:8000::/48", fault.PrivateBlocked, "AS112, direct delegation; RFC 7534"},
	{"3fff::/20", fault.PrivateBlocked, "documentation; RFC 9637"},
	{"3ffe::/16", fault.PrivateBlocked, "6bone, returned; RFC 3701"},
	{"5f00::/16", fault.PrivateBlocked, "segment routing identifiers; RFC 9602"},
	// All the rest outside 2000::/3 is the IETF's, the translation prefixes of embedded among it.
	{"::/3", fault.ReservedBlocked, "reserved; RFC 4291"},
	{"4000::/2", fault.ReservedBlocked, "reserved; RFC 4291"},
	{"8000::/1", fault.ReservedBlocked, "reserved; RFC 4291"},
}

type block struct {
	prefix netip.Prefix
	code   fault.Code
}

type ranges struct{ v4, v6 []block }

// parsed is made when the first address is judged: a run that opens no page does not pay for it.
var parsed = sync.OnceValue(func() ranges {
	parse := func(list []special) []block {
		out := make([]block, len(list))
		for i, s := range list {
			out[i] = block{netip.MustParsePrefix(s.cidr), s.code}
		}
		return out
	}
	return ranges{parse(ipv4Ranges), parse(ipv6Ranges)}
})

// Verdict judges one address, by itself and without exceptions. It gives "" and true for an address of the
// public internet, else the code of the refusal. An IPv6 address that carries an IPv4 address is never public;
// where the inner one is refused, the code is the inner one's. A zone is never public either.
func Verdict(a netip.Addr) (code fault.Code, public bool) {
	if !a.IsValid() {
		return fault.UnparseableIP, false
	}
	if a.Is4() {
		code = lookup(parsed().v4, a)
		return code, code == ""
	}
	zoned := a.Zone() != ""
	a = a.WithZone("")
	code = lookup(parsed().v6, a)
	switch code {
	case fault.CloudMetadataBlocked, fault.LoopbackBlocked, fault.UnspecifiedBlocked, fault.LinkLocalBlocked, fault.MulticastBlocked:
		return code, false // what the whole address is says more than what it may carry
	}
	carried := false
	for _, inner := range embedded(a) {
		carried = true
		if c := lookup(parsed().v4, inner); c != "" {
			return c, false
		}
	}
	if code == "" && (zoned || carried) {
		code = fault.ReservedBlocked
	}
	return code, code == ""
}

func lookup(list []block, a netip.Addr) fault.Code {
	for _, b := range list {
		if b.prefix.Contains(a) {
			return b.code
		}
	}
	return ""
}

// embedded gives the IPv4 addresses inside an IPv6 address, as translators and tunnels would read them.
func embedded(a netip.Addr) []netip.Addr {
	b := a.As16()
	v4 := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	zero := func(from, to int) bool {
		for _, c := range b[from:to] {
			if c != 0 {
				return false
			}
		}
		return true
	}
	head := func(want ...byte) bool { return [8]byte(b[:8]) == [8]byte(append(want, make([]byte, 8-len(want))...)) }
	switch {
	case a.Is4In6(), // RFC 4291, section 2.5.5.2
		zero(0, 8) && [4]byte(b[8:12]) == [4]byte{0xff, 0xff, 0, 0}, // SIIT; RFC 2765
		zero(0, 12) && b[12] != 0,                                   // IPv4-compatible; RFC 4291, section 2.5.5.1
		head(0, 0x64, 0xff, 0x9b) && zero(8, 12):                    // NAT64, well-known prefix; RFC 6052
		return []netip.Addr{v4(12)}
	case [6]byte(b[:6]) == [6]byte{0, 0x64, 0xff, 0x9b, 0, 1}: // NAT64, local use; RFC 8215
		switch {
		case !zero(12, 16):
			return []netip.Addr{v4(12)} // a /96 below it
		case !zero(6, 12):
			return []netip.Addr{netip.AddrFrom4([4]byte{b[6], b[7], b[9], b[10]})} // RFC 6052, the /48 form
		}
	case b[0] == 0x20 && b[1] == 0x02: // 6to4; RFC 3056
		return []netip.Addr{v4(2)}
	case [4]byte(b[:4]) == [4]byte{0x20, 0x01, 0, 0}: // Teredo: the client inverted, then the server; RFC 4380
		client := netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})
		return []netip.Addr{client, v4(4)}
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP, below any prefix; RFC 5214
		return []netip.Addr{v4(12)}
	}
	return nil
}
