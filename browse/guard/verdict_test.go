package guard

import (
	"net/netip"
	"testing"

	"web/browse/fault"
)

const public fault.Code = ""

// addresses holds, for every range of the table, its first and last address and the neighbours of both, and
// every form in which an IPv6 address carries an IPv4 one.
var addresses = []struct {
	addr string
	want fault.Code
	why  string
}{
	{"169.254.169.254", fault.CloudMetadataBlocked, "first of 169.254.169.254/32"},
	{"169.254.169.253", fault.LinkLocalBlocked, "before 169.254.169.254/32"},
	{"169.254.169.255", fault.LinkLocalBlocked, "after 169.254.169.254/32"},
	{"100.100.100.200", fault.CloudMetadataBlocked, "first of 100.100.100.200/32"},
	{"100.100.100.199", fault.CGNATBlocked, "before 100.100.100.200/32"},
	{"100.100.100.201", fault.CGNATBlocked, "after 100.100.100.200/32"},
	{"168.63.129.16", fault.CloudMetadataBlocked, "first of 168.63.129.16/32"},
	{"168.63.129.15", public, "before 168.63.129.16/32"},
	{"168.63.129.17", public, "after 168.63.129.16/32"},
	{"192.0.0.192", fault.CloudMetadataBlocked, "first of 192.0.0.192/32"},
	{"192.0.0.191", fault.PrivateBlocked, "before 192.0.0.192/32"},
	{"192.0.0.193", fault.PrivateBlocked, "after 192.0.0.192/32"},
	{"127.0.0.0", fault.LoopbackBlocked, "first of 127.0.0.0/8"},
	{"127.255.255.255", fault.LoopbackBlocked, "last of 127.0.0.0/8"},
	{"126.255.255.255", public, "before 127.0.0.0/8"},
	{"128.0.0.0", public, "after 127.0.0.0/8"},
	{"0.0.0.0", fault.UnspecifiedBlocked, "first of 0.0.0.0/32"},
	{"0.0.0.1", fault.PrivateBlocked, "after 0.0.0.0/32"},
	{"169.254.0.0", fault.LinkLocalBlocked, "first of 169.254.0.0/16"},
	{"169.254.255.255", fault.LinkLocalBlocked, "last of 169.254.0.0/16"},
	{"169.253.255.255", public, "before 169.254.0.0/16"},
	{"169.255.0.0", public, "after 169.254.0.0/16"},
	{"224.0.0.0", fault.MulticastBlocked, "first of 224.0.0.0/4"},
	{"239.255.255.255", fault.MulticastBlocked, "last of 224.0.0.0/4"},
	{"223.255.255.255", public, "before 224.0.0.0/4"},
	{"240.0.0.0", fault.PrivateBlocked, "after 224.0.0.0/4"},
	{"100.64.0.0", fault.CGNATBlocked, "first of 100.64.0.0/10"},
	{"100.127.255.255", fault.CGNATBlocked, "last of 100.64.0.0/10"},
	{"100.63.255.255", public, "before 100.64.0.0/10"},
	{"100.128.0.0", public, "after 100.64.0.0/10"},
	{"192.88.99.0", fault.SixToFourRelayBlocked, "first of 192.88.99.0/24"},
	{"192.88.99.255", fault.SixToFourRelayBlocked, "last of 192.88.99.0/24"},
	{"192.88.98.255", public, "before 192.88.99.0/24"},
	{"192.88.100.0", public, "after 192.88.99.0/24"},
	{"0.255.255.255", fault.PrivateBlocked, "last of 0.0.0.0/8"},
	{"1.0.0.0", public, "after 0.0.0.0/8"},
	{"10.0.0.0", fault.PrivateBlocked, "first of 10.0.0.0/8"},
	{"10.255.255.255", fault.PrivateBlocked, "last of 10.0.0.0/8"},
	{"9.255.255.255", public, "before 10.0.0.0/8"},
	{"11.0.0.0", public, "after 10.0.0.0/8"},
	{"172.16.0.0", fault.PrivateBlocked, "first of 172.16.0.0/12"},
	{"172.31.255.255", fault.PrivateBlocked, "last of 172.16.0.0/12"},
	{"172.15.255.255", public, "before 172.16.0.0/12"},
	{"172.32.0.0", public, "after 172.16.0.0/12"},
	{"192.168.0.0", fault.PrivateBlocked, "first of 192.168.0.0/16"},
	{"192.168.255.255", fault.PrivateBlocked, "last of 192.168.0.0/16"},
	{"192.167.255.255", public, "before 192.168.0.0/16"},
	{"192.169.0.0", public, "after 192.168.0.0/16"},
	{"192.0.0.0", fault.PrivateBlocked, "first of 192.0.0.0/24"},
	{"192.0.0.255", fault.PrivateBlocked, "last of 192.0.0.0/24"},
	{"191.255.255.255", public, "before 192.0.0.0/24"},
	{"192.0.1.0", public, "after 192.0.0.0/24"},
	{"192.0.2.0", fault.PrivateBlocked, "first of 192.0.2.0/24"},
	{"192.0.2.255", fault.PrivateBlocked, "last of 192.0.2.0/24"},
	{"192.0.1.255", public, "before 192.0.2.0/24"},
	{"192.0.3.0", public, "after 192.0.2.0/24"},
	{"192.31.196.0", fault.PrivateBlocked, "first of 192.31.196.0/24"},
	{"192.31.196.255", fault.PrivateBlocked, "last of 192.31.196.0/24"},
	{"192.31.195.255", public, "before 192.31.196.0/24"},
	{"192.31.197.0", public, "after 192.31.196.0/24"},
	{"192.52.193.0", fault.PrivateBlocked, "first of 192.52.193.0/24"},
	{"192.52.193.255", fault.PrivateBlocked, "last of 192.52.193.0/24"},
	{"192.52.192.255", public, "before 192.52.193.0/24"},
	{"192.52.194.0", public, "after 192.52.193.0/24"},
	{"192.175.48.0", fault.PrivateBlocked, "first of 192.175.48.0/24"},
	{"192.175.48.255", fault.PrivateBlocked, "last of 192.175.48.0/24"},
	{"192.175.47.255", public, "before 192.175.48.0/24"},
	{"192.175.49.0", public, "after 192.175.48.0/24"},
	{"198.18.0.0", fault.PrivateBlocked, "first of 198.18.0.0/15"},
	{"198.19.255.255", fault.PrivateBlocked, "last of 198.18.0.0/15"},
	{"198.17.255.255", public, "before 198.18.0.0/15"},
	{"198.20.0.0", public, "after 198.18.0.0/15"},
	{"198.51.100.0", fault.PrivateBlocked, "first of 198.51.100.0/24"},
	{"198.51.100.255", fault.PrivateBlocked, "last of 198.51.100.0/24"},
	{"198.51.99.255", public, "before 198.51.100.0/24"},
	{"198.51.101.0", public, "after 198.51.100.0/24"},
	{"203.0.113.0", fault.PrivateBlocked, "first of 203.0.113.0/24"},
	{"203.0.113.255", fault.PrivateBlocked, "last of 203.0.113.0/24"},
	{"203.0.112.255", public, "before 203.0.113.0/24"},
	{"203.0.114.0", public, "after 203.0.113.0/24"},
	{"255.255.255.255", fault.PrivateBlocked, "last of 240.0.0.0/4"},
	{"fd00:ec2::254", fault.CloudMetadataBlocked, "first of fd00:ec2::254/128"},
	{"fd00:ec2::253", fault.PrivateBlocked, "before fd00:ec2::254/128"},
	{"fd00:ec2::255", fault.PrivateBlocked, "after fd00:ec2::254/128"},
	{"fd20:ce::254", fault.CloudMetadataBlocked, "first of fd20:ce::254/128"},
	{"fd20:ce::253", fault.PrivateBlocked, "before fd20:ce::254/128"},
	{"fd20:ce::255", fault.PrivateBlocked, "after fd20:ce::254/128"},
	{"::1", fault.LoopbackBlocked, "first of ::1/128"},
	{"::", fault.UnspecifiedBlocked, "before ::1/128"},
	{"::2", fault.ReservedBlocked, "after ::1/128"},
	{"fe80::", fault.LinkLocalBlocked, "first of fe80::/10"},
	{"febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.LinkLocalBlocked, "last of fe80::/10"},
	{"fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.ReservedBlocked, "before fe80::/10"},
	{"fec0::", fault.PrivateBlocked, "after fe80::/10"},
	{"ff00::", fault.MulticastBlocked, "first of ff00::/8"},
	{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.MulticastBlocked, "last of ff00::/8"},
	{"feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.PrivateBlocked, "before ff00::/8"},
	{"64:ff9b:1::", fault.PrivateBlocked, "first of 64:ff9b:1::/48"},
	{"64:ff9b:1:ffff:ffff:ffff:ffff:ffff", fault.PrivateBlocked, "last of 64:ff9b:1::/48"},
	{"64:ff9b:0:ffff:ffff:ffff:ffff:ffff", fault.ReservedBlocked, "before 64:ff9b:1::/48"},
	{"64:ff9b:2::", fault.ReservedBlocked, "after 64:ff9b:1::/48"},
	{"100::", fault.PrivateBlocked, "first of 100::/64"},
	{"100::ffff:ffff:ffff:ffff", fault.PrivateBlocked, "last of 100::/64"},
	{"ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.ReservedBlocked, "before 100::/64"},
	{"100:0:0:1::", fault.PrivateBlocked, "after 100::/64"},
	{"100::1:ffff:ffff:ffff:ffff", fault.PrivateBlocked, "last of 100:0:0:1::/64"},
	{"100:0:0:2::", fault.ReservedBlocked, "after 100:0:0:1::/64"},
	{"2001::", fault.PrivateBlocked, "first of 2001::/23"},
	{"2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", fault.PrivateBlocked, "last of 2001::/23"},
	{"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", public, "before 2001::/23"},
	{"2001:200::", public, "after 2001::/23"},
	{"2001:db8::", fault.PrivateBlocked, "first of 2001:db8::/32"},
	{"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", fault.PrivateBlocked, "last of 2001:db8::/32"},
	{"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", public, "before 2001:db8::/32"},
	{"2001:db9::", public, "after 2001:db8::/32"},
	{"2002::", fault.UnspecifiedBlocked, "first of 2002::/16"},
	{"2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.PrivateBlocked, "last of 2002::/16"},
	{"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", public, "before 2002::/16"},
	{"2003::", public, "after 2002::/16"},
	{"2620:4f:8000::", fault.PrivateBlocked, "first of 2620:4f:8000::/48"},
	{"2620:4f:8000:ffff:ffff:ffff:ffff:ffff", fault.PrivateBlocked, "last of 2620:4f:8000::/48"},
	{"2620:4f:7fff:ffff:ffff:ffff:ffff:ffff", public, "before 2620:4f:8000::/48"},
	{"2620:4f:8001::", public, "after 2620:4f:8000::/48"},
	{"3ffe::", fault.PrivateBlocked, "first of 3ffe::/16"},
	{"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.PrivateBlocked, "last of 3ffe::/16"},
	{"3ffd:ffff:ffff:ffff:ffff:ffff:ffff:ffff", public, "before 3ffe::/16"},
	{"3fff::", fault.PrivateBlocked, "after 3ffe::/16"},
	{"3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", fault.PrivateBlocked, "last of 3fff::/20"},
	{"3fff:1000::", public, "after 3fff::/20"},
	{"5f00::", fault.PrivateBlocked, "first of 5f00::/16"},
	{"5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.PrivateBlocked, "last of 5f00::/16"},
	{"5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.ReservedBlocked, "before 5f00::/16"},
	{"5f01::", fault.ReservedBlocked, "after 5f00::/16"},
	{"fc00::", fault.PrivateBlocked, "first of fc00::/7"},
	{"fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.PrivateBlocked, "last of fc00::/7"},
	{"fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.ReservedBlocked, "before fc00::/7"},
	{"fe00::", fault.ReservedBlocked, "after fc00::/7"},
	{"8.8.8.8", public, "public"},
	{"93.184.216.34", public, "public"},
	{"1.1.1.1", public, "public"},
	{"2606:4700:4700::1111", public, "public"},
	{"2a00:1450::1", public, "public"},
	{"2000::", public, "first of 2000::/3"},
	{"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", public, "last of 2000::/3"},
	{"4000::", fault.ReservedBlocked, "after 2000::/3"},
	{"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", fault.ReservedBlocked, "before 2000::/3"},
	{"::ffff:7f00:1", fault.LoopbackBlocked, "mapped loopback"},
	{"::ffff:808:808", fault.ReservedBlocked, "mapped public"},
	{"::ffff:a9fe:a9fe", fault.CloudMetadataBlocked, "mapped metadata"},
	{"::ffff:a00:1", fault.PrivateBlocked, "mapped private"},
	{"::ffff:6440:1", fault.CGNATBlocked, "mapped CGNAT"},
	{"::7f00:1", fault.LoopbackBlocked, "compatible loopback"},
	{"::808:808", fault.ReservedBlocked, "compatible public"},
	{"::a9fe:a9fe", fault.CloudMetadataBlocked, "compatible metadata"},
	{"::ffff:0:a9fe:a9fe", fault.CloudMetadataBlocked, "translated metadata"},
	{"::ffff:0:808:808", fault.ReservedBlocked, "translated public"},
	{"64:ff9b::a9fe:a9fe", fault.CloudMetadataBlocked, "NAT64 metadata"},
	{"64:ff9b::808:808", fault.ReservedBlocked, "NAT64 public"},
	{"64:ff9b::a00:1", fault.PrivateBlocked, "NAT64 private"},
	{"2002:a9fe:a9fe::", fault.CloudMetadataBlocked, "6to4 metadata"},
	{"2002:7f00:1::1", fault.LoopbackBlocked, "6to4 loopback"},
	{"2002:808:808::1", fault.PrivateBlocked, "6to4 public"},
	{"2002:a00:1::", fault.PrivateBlocked, "6to4 private"},
	{"2001::5601:5601", fault.CloudMetadataBlocked, "Teredo metadata"},
	{"2001:0:4136:e378:8000:63bf:f7f7:f7f7", fault.PrivateBlocked, "Teredo public"},
	{"2001::80ff:fffe", fault.LoopbackBlocked, "Teredo loopback"},
	{"fe80::5efe:a00:1", fault.LinkLocalBlocked, "ISATAP below link-local"},
	{"2001:4:112::1", fault.PrivateBlocked, "AS112 inside 2001::/23"},
	{"2001:1::1", fault.PrivateBlocked, "PCP anycast inside 2001::/23"},
	{"2001:20::1", fault.PrivateBlocked, "ORCHIDv2"},
	{"2001:200::1", public, "public, after 2001::/23"},
	{"200::1", fault.ReservedBlocked, "reserved"},
	{"400::1", fault.ReservedBlocked, "reserved"},
	{"800::1", fault.ReservedBlocked, "reserved"},
	{"1000::1", fault.ReservedBlocked, "reserved"},
	{"6000::1", fault.ReservedBlocked, "reserved"},
	{"8000::1", fault.ReservedBlocked, "reserved"},
	{"a000::1", fault.ReservedBlocked, "reserved"},
	{"c000::1", fault.ReservedBlocked, "reserved"},
	{"e000::1", fault.ReservedBlocked, "reserved"},
	{"f000::1", fault.ReservedBlocked, "reserved"},
	{"f800::1", fault.ReservedBlocked, "reserved"},
	{"fe00::1", fault.ReservedBlocked, "reserved"},
	{"192.0.0.9", fault.PrivateBlocked, "PCP anycast"},
	{"192.0.0.170", fault.PrivateBlocked, "NAT64 discovery"},
	{"192.0.0.8", fault.PrivateBlocked, "dummy"},
	{"2606:4700::5efe:10.0.0.1", fault.PrivateBlocked, "ISATAP below a public prefix"},
	{"2606:4700::200:5efe:127.0.0.1", fault.LoopbackBlocked, "ISATAP, universal bit set"},
	{"2606:4700::5efe:8.8.8.8", fault.ReservedBlocked, "ISATAP, public inside"},
	{"fe80::1%eth0", fault.LinkLocalBlocked, "zone"},
	{"2606:4700::1%1", fault.ReservedBlocked, "zone on a public address"},
	{"::1%lo", fault.LoopbackBlocked, "zone on loopback"},
	{"64:ff9b:1:7f00:0:100::", fault.LoopbackBlocked, "local NAT64, the form of a /48"},
	{"64:ff9b:1::a00:1", fault.PrivateBlocked, "local NAT64, the form of a /96"},
	{"64:ff9b:1::a9fe:a9fe", fault.CloudMetadataBlocked, "local NAT64, metadata"},
	{"64:ff9b::1:808:808", fault.ReservedBlocked, "beside the NAT64 prefix"},
	{"2001:0:a00:1::f7f7:f7f7", fault.PrivateBlocked, "Teredo, private server"},
	{"2001:0:7f00:1::f7f7:f7f7", fault.LoopbackBlocked, "Teredo, loopback server"},
	{"fd00::5efe:169.254.169.254", fault.CloudMetadataBlocked, "ISATAP below a private prefix"},
	{"2606:4700::5eff:10.0.0.1", public, "beside the ISATAP mark"},
	{"2606:4700::300:5efe:10.0.0.1", public, "beside the ISATAP mark, group bit set"},
	{"::ffff:0:1", fault.PrivateBlocked, "mapped this-network"},
	{"::fffe:7f00:1", fault.ReservedBlocked, "beside the mapped prefix"},
	{"fd00::1%eth0", fault.PrivateBlocked, "zone on a private address"},
}

func TestVerdict(t *testing.T) {
	if len(addresses) < 150 {
		t.Errorf("the table has %d rows, want at least 150", len(addresses))
	}
	seen := map[string]bool{}
	for _, tt := range addresses {
		if seen[tt.addr] {
			t.Errorf("%s is there twice", tt.addr)
		}
		seen[tt.addr] = true
		code, ok := Verdict(netip.MustParseAddr(tt.addr))
		if code != tt.want || ok != (tt.want == public) {
			t.Errorf("%s (%s): got %q, %v, want %q", tt.addr, tt.why, code, ok, tt.want)
		}
	}
	if code, ok := Verdict(netip.Addr{}); ok || code != fault.UnparseableIP {
		t.Errorf("no address: got %q, %v", code, ok)
	}
}

// A rule that no row reaches would be one that nobody tests.
func TestEveryRangeHasARow(t *testing.T) {
	for _, r := range append(append([]special{}, ipv4Ranges...), ipv6Ranges...) {
		p := netip.MustParsePrefix(r.cidr)
		if p != p.Masked() {
			t.Errorf("%s has host bits", r.cidr)
		}
		if r.why == "" {
			t.Errorf("%s names no source", r.cidr)
		}
		found := false
		for _, tt := range addresses {
			a := netip.MustParseAddr(tt.addr)
			found = found || p.Contains(a.WithZone("")) && tt.want == r.code
		}
		if !found {
			t.Errorf("no row lies in %s with code %s", r.cidr, r.code)
		}
	}
}

func BenchmarkVerdict(b *testing.B) {
	for _, s := range []string{"8.8.8.8", "2606:4700::1111"} {
		a := netip.MustParseAddr(s)
		b.Run(s, func(b *testing.B) {
			for b.Loop() {
				Verdict(a)
			}
		})
	}
}
