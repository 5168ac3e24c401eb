package guard

import (
	"net/netip"
	"strings"
	"testing"

	"web/browse/fault"
)

func policy(t testing.TB, fake []string, allow ...string) Policy {
	t.Helper()
	var p Policy
	for _, s := range allow {
		e, err := ParseAllow(s)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		p.Allow = append(p.Allow, e)
	}
	for _, s := range fake {
		r, err := ParsePrefix(s)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		p.FakeIP = append(p.FakeIP, r)
	}
	return p
}

// answers says what the test names resolve to.
var answers = map[string][]string{
	"public.example": {"93.184.216.34", "2606:2800::1"}, "mixed.example": {"93.184.216.34", "10.0.0.1"}, "mixed6.example": {"2606:2800::1", "fd00::1"},
	"mapped.example": {"::ffff:93.184.216.34"}, "mappedloop.example": {"::ffff:127.0.0.1"}, "wiki.corp.example": {"10.20.1.1"}, "nothing.example": {},
	"fake.example": {"198.18.0.7"}, "fake6.example": {"fc00::1"}, "garbage.example": {"x"}, "metadata.example": {"169.254.169.254"}, "linklocal.example": {"169.254.170.2"},
	"host.local": {"10.0.0.1"}, "db.internal": {"10.20.0.9"}, "nat64.example": {"64:ff9b::808:808"}, "localhost": {"127.0.0.1"}, "loop.example": {"127.0.0.1"},
	"xn--bcher-kva.example": {"10.0.0.1"}, "zoned.example": {"fe80::1%eth0"}, "notlocalhost": {"93.184.216.34"}, "mylocal": {"93.184.216.34"}, "local.example": {"93.184.216.34"},
}

func TestAdmit(t *testing.T) {
	none := Policy{}
	for _, tt := range []struct {
		name, url string
		policy    Policy
		want      fault.Code
		lookups   int
	}{
		{"public name", "https://public.example/", none, "", 1},
		{"one private answer refuses all", "https://mixed.example/", none, fault.PrivateBlocked, 1},
		{"one private IPv6 answer refuses all", "https://mixed6.example/", none, fault.PrivateBlocked, 1},
		{"long form of a public answer", "https://mapped.example/", none, "", 1},
		{"long form of a loopback answer", "https://mappedloop.example/", none, fault.LoopbackBlocked, 1},
		{"answer that is no address", "https://garbage.example/", none, fault.UnparseableIP, 1},
		{"answer with a zone", "https://zoned.example/", none, fault.LinkLocalBlocked, 1},
		{"metadata by name", "http://metadata.example/", none, fault.CloudMetadataBlocked, 1},
		{"no answer", "http://nothing.example/", none, fault.DNSFailed, 1},
		{"failing resolver", "http://unknown.example/", none, fault.DNSFailed, 1},
		{"NAT64 answer", "http://nat64.example/", none, fault.ReservedBlocked, 1},
		{"public literal", "http://93.184.216.34/", none, "", 0},
		{"loopback literal", "http://127.0.0.1/admin", none, fault.LoopbackBlocked, 0},
		{"private literal in full-width digits", "http://１０.0.0.１/", none, fault.PrivateBlocked, 0},
		{"mapped literal", "http://[::ffff:127.0.0.1]/", none, fault.LoopbackBlocked, 0},
		{"mapped literal in hexadecimal", "http://[::ffff:7f00:1]/", none, fault.LoopbackBlocked, 0},
		{"mapped literal in full", "http://[0:0:0:0:0:ffff:7f00:0001]/", none, fault.LoopbackBlocked, 0},
		{"mapped public literal", "http://[::ffff:8.8.8.8]/", none, fault.ReservedBlocked, 0},
		{"NAT64 literal", "http://[64:ff9b::a9fe:a9fe]/", none, fault.CloudMetadataBlocked, 0},
		{"6to4 literal", "http://[2002:a9fe:a9fe::]/", none, fault.CloudMetadataBlocked, 0},
		{"IPv4-compatible literal", "http://[::169.254.169.254]/", none, fault.CloudMetadataBlocked, 0},
		{"SIIT literal", "http://[::ffff:0:a9fe:a9fe]/", none, fault.CloudMetadataBlocked, 0},
		{"Teredo literal", "http://[2001:0:0:0:0:0:5601:5601]/", none, fault.CloudMetadataBlocked, 0},
		{"ISATAP literal", "http://[fe80::5efe:a00:1]/", none, fault.LinkLocalBlocked, 0},
		{"zone", "http://[fe80::1%25eth0]/", none, fault.LinkLocalBlocked, 0},
		{"localhost with a dot", "http://localhost./", none, fault.LoopbackBlocked, 0},
		{"localhost in capitals", "http://LOCALHOST/", none, fault.LoopbackBlocked, 0},
		{"localhost in full-width letters", "http://ｌocalhost。/", none, fault.LoopbackBlocked, 0},
		{"below localhost", "http://a.b.localhost/", none, fault.LoopbackBlocked, 0},
		{"localhost.localdomain", "http://localhost.localdomain/", none, fault.LoopbackBlocked, 0},
		{"ip6-localhost", "http://ip6-localhost/", none, fault.LoopbackBlocked, 0},
		{"ip6-loopback", "http://ip6-loopback/", none, fault.LoopbackBlocked, 0},
		{"local", "http://host.local/", none, fault.PrivateBlocked, 0},
		{"local itself", "http://local/", none, fault.PrivateBlocked, 0},
		{"internal", "http://db.internal/", none, fault.PrivateBlocked, 0},
		{"internal itself", "http://internal/", none, fault.PrivateBlocked, 0},
		{"home.arpa", "http://nas.home.arpa/", none, fault.PrivateBlocked, 0},
		{"metadata by its name", "http://metadata.google.internal/", none, fault.CloudMetadataBlocked, 0},
		{"name that ends in localhost's letters", "http://notlocalhost/", none, "", 1},
		{"name that ends in local's letters", "http://mylocal/", none, "", 1},
		{"local as the first label", "http://local.example/", none, "", 1},

		{"allowed name", "http://wiki.corp.example/", policy(t, nil, "wiki.corp.example"), "", 1},
		{"allowed name at every port", "http://wiki.corp.example:8443/", policy(t, nil, "wiki.corp.example"), "", 1},
		{"allowed name, other port", "http://wiki.corp.example:81/", policy(t, nil, "wiki.corp.example:80"), fault.PrivateBlocked, 1},
		{"allowed name at its port", "http://wiki.corp.example:81/", policy(t, nil, "WIKI.corp.example.:81"), "", 1},
		{"allowed name at its scheme's port", "https://wiki.corp.example/", policy(t, nil, "wiki.corp.example:443"), "", 1},
		{"allowed IDNA name", "http://bücher.example/", policy(t, nil, "BÜCHER.example"), "", 1},
		{"allowed range covers an answer", "http://wiki.corp.example/", policy(t, nil, "10.20.0.0/16"), "", 1},
		{"allowed address covers an answer at its port only", "http://wiki.corp.example:81/", policy(t, nil, "10.20.1.1:80"), fault.PrivateBlocked, 1},
		{"allowed range covers a literal", "http://10.20.3.4:9/", policy(t, nil, "10.20.0.0/16"), "", 0},
		{"literal outside the range", "http://10.21.3.4/", policy(t, nil, "10.20.0.0/16"), fault.PrivateBlocked, 0},
		{"allowed literal", "http://127.0.0.1:8080/", policy(t, nil, "127.0.0.1:8080"), "", 0},
		{"allowed literal, other port", "http://127.0.0.1:8081/", policy(t, nil, "127.0.0.1:8080"), fault.LoopbackBlocked, 0},
		{"mapped spelling of an allowed literal", "http://[::ffff:127.0.0.1]:8080/", policy(t, nil, "127.0.0.1:8080"), fault.LoopbackBlocked, 0},
		{"allowed IPv6 literal", "http://[::1]:8080/", policy(t, nil, "[::1]:8080"), "", 0},
		{"allowed IPv6 literal, other port", "http://[::1]/", policy(t, nil, "[::1]:8080"), fault.LoopbackBlocked, 0},
		{"allowed metadata literal", "http://169.254.169.254/", policy(t, nil, "169.254.169.254"), "", 0},
		{"allowed non-public name", "http://db.internal/", policy(t, nil, "db.internal"), "", 1},
		{"allowed localhost", "http://localhost:8080/", policy(t, nil, "localhost:8080"), "", 1},
		{"localhost is a name, not its address", "http://localhost:8080/", policy(t, nil, "127.0.0.1:8080"), fault.LoopbackBlocked, 0},
		{"an allowed child does not admit its parent", "http://mixed.example/", policy(t, nil, "a.mixed.example"), fault.PrivateBlocked, 1},
		{"an allowed parent does not admit its child", "http://wiki.corp.example/", policy(t, nil, "corp.example"), fault.PrivateBlocked, 1},
		{"an allowed name never means metadata", "http://metadata.example/", policy(t, nil, "metadata.example"), fault.CloudMetadataBlocked, 1},
		{"an allowed name never means link-local", "http://linklocal.example/", policy(t, nil, "linklocal.example"), fault.LinkLocalBlocked, 1},
		{"an allowed name never means garbage", "http://garbage.example/", policy(t, nil, "garbage.example"), fault.UnparseableIP, 1},
		{"allowed NAT64 prefix, public inside", "http://nat64.example/", policy(t, nil, "64:ff9b::/96"), "", 1},
		{"allowed NAT64 prefix, metadata inside", "http://[64:ff9b::a9fe:a9fe]/", policy(t, nil, "64:ff9b::/96"), fault.CloudMetadataBlocked, 0},
		{"allowed NAT64 prefix and what is inside", "http://[64:ff9b::a00:1]/", policy(t, nil, "64:ff9b::/96", "10.0.0.1"), "", 0},
		{"allowed range does not admit a zone", "http://[fe80::1%25eth0]/", policy(t, nil, "fe80::/10"), fault.LinkLocalBlocked, 0},

		{"fake answer", "http://fake.example/", none, fault.PrivateBlocked, 1},
		{"fake answer admitted", "http://fake.example/", policy(t, []string{"198.18.0.0/15"}), "", 1},
		{"fake IPv6 answer admitted", "http://fake6.example/", policy(t, []string{"fc00::/18"}), "", 1},
		{"answer outside the fake range", "http://mixed.example/", policy(t, []string{"198.18.0.0/15"}), fault.PrivateBlocked, 1},
		{"fake range as a literal", "http://198.18.0.7/", policy(t, []string{"198.18.0.0/15"}), fault.PrivateBlocked, 0},
		{"a fake range never means metadata", "http://metadata.example/", policy(t, []string{"169.254.0.0/16"}), fault.CloudMetadataBlocked, 1},
		{"a fake range does not open names", "http://localhost/", policy(t, []string{"127.0.0.0/8"}), fault.LoopbackBlocked, 0},
	} {
		r := &names{answers: answers}
		g := &Guard{Policy: tt.policy, Resolver: r}
		target, f := g.Admit(t.Context(), mustURL(t, tt.url))
		var code fault.Code
		if f != nil {
			code = f.Code
			if strings.Contains(f.Error()+f.Advice, "example") || strings.Contains(f.Message, "0.0") {
				t.Errorf("%s: the message gives the target away: %s", tt.name, f.Error())
			}
		} else if len(target.addrs) == 0 || !target.Pinned {
			t.Errorf("%s: admitted without a pinned address", tt.name)
		}
		if code != tt.want || len(r.asked) != tt.lookups {
			t.Errorf("%s: got %q with %d look-ups, want %q with %d", tt.name, code, len(r.asked), tt.want, tt.lookups)
		}
	}
	if _, f := (&Guard{}).Admit(t.Context(), URL{}); f == nil || f.Code != fault.MalformedURL {
		t.Errorf("no URL: %v", f)
	}
}

func TestAddressClassesShareOneMessage(t *testing.T) {
	messages := map[string]bool{}
	for _, s := range []string{"http://127.0.0.1/", "http://10.1.1.1/", "http://169.254.169.254/", "http://100.64.0.1/", "http://[ff02::1]/", "http://a.local/", "http://198.18.0.1/"} {
		messages[Policy{}.Host(mustURL(t, s)).Message] = true
	}
	if len(messages) != 1 {
		t.Errorf("got %v", messages)
	}
}

func TestFakeIPRefusalNamesItsCause(t *testing.T) {
	for _, name := range []string{"fake.example", "fake6.example"} {
		_, f := (&Guard{Resolver: &names{answers: answers}}).Admit(t.Context(), mustURL(t, "http://"+name+"/"))
		if f == nil || !strings.Contains(f.Message, "fake-IP") || !strings.Contains(f.Message, "network.fake_ip") {
			t.Errorf("%s: got %v", name, f)
		}
	}
}

func TestParseAllowRefuses(t *testing.T) {
	for _, s := range []string{
		"", ":80", ".", "a b", "http://h/", "h:0", "h:", "h:70000", "h:x", "10.0.0.0/33", "10.0.0.5/8", "::ffff:10.0.0.0/104", "::ffff:10.0.0.1", "[::ffff:10.0.0.1]:80",
		"fe80::1%eth0", "h/x", "*.example", "1.2.3", "0x7f.1", "[::1]:", "[::1]x", "[::1", "[10.0.0.1]", "[::1]:0", "::1:80:", "user@h",
	} {
		if e, err := ParseAllow(s); err == nil {
			t.Errorf("ParseAllow(%q) = %+v", s, e)
		} else if s != "" && len(s) > 3 && strings.Contains(err.Error(), s) {
			t.Errorf("ParseAllow(%q): the error quotes the value: %v", s, err)
		}
	}
}

func FuzzParseAllow(f *testing.F) {
	for _, s := range []string{"h", "h:80", "10.0.0.1", "10.0.0.1:80", "[::1]:80", "::1", "10.0.0.0/8", "fd00::/8", "[::1]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseAllow(s)
		if err == nil && (e.name == "") == !e.prefix.IsValid() {
			t.Fatalf("%q opens nothing, or two things: %+v", s, e)
		}
		if err != nil && e != (Entry{}) {
			t.Fatalf("%q is refused and opens %+v", s, e)
		}
	})
}

// An entry never opens an address outside itself.
func FuzzVerdict(f *testing.F) {
	for _, s := range []string{"10.0.0.1", "::1", "64:ff9b::a00:1", "2002:a00:1::", "2606:4700::1"} {
		a := netip.MustParseAddr(s).As16()
		f.Add(a[:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		code, public := Verdict(a)
		if public == (code != "") {
			t.Fatalf("%v: %q, %v", a, code, public)
		}
		if public && (a.IsPrivate() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() || a.IsUnspecified() || a.Is4In6()) {
			t.Fatalf("%v is public", a)
		}
		if a.Is6() {
			if _, public := Verdict(a.WithZone("x")); public {
				t.Fatalf("%v with a zone is public", a)
			}
		}
	})
}
