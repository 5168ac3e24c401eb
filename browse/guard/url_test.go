package guard

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/browse/fault"
)

func mustURL(t testing.TB, s string) URL {
	t.Helper()
	u, f := ParseURL(s)
	if f != nil {
		t.Fatalf("%.80q: %v", s, f)
	}
	return u
}

func TestParseURLNormalForm(t *testing.T) {
	for in, want := range map[string]string{
		"https://ex.org":                        "https://ex.org/",
		"HTTPS://EX.org/a#x":                    "https://ex.org/a",
		"hTtP://ex.org.:80/a/../b?q=%2F&x#f":    "http://ex.org:80/a/../b?q=%2F&x",
		"http://ex.org...":                      "http://ex.org/",
		"http://ex.org?":                        "http://ex.org/",
		"http://ex.org?#x":                      "http://ex.org/",
		"http://ex.org?q":                       "http://ex.org/?q",
		"http://ex.org#a?b":                     "http://ex.org/",
		"http://ex.org/%zz/100%":                "http://ex.org/%zz/100%",
		"http://ex.org//a///?b//":               "http://ex.org//a///?b//",
		"http://ex.org/é?ü=日":                   "http://ex.org/%C3%A9?%C3%BC=%E6%97%A5",
		"http://ex.org/\x7f\u0081":              "http://ex.org/%7F%C2%81",
		"http://ex.org/\xe9":                    "http://ex.org/%E9",
		`http://ex.org/a\b?c"<d>`:               `http://ex.org/a\b?c"<d>`,
		"http://bücher.example/":                "http://xn--bcher-kva.example/",
		"http://BÜCHER.example:8080/":           "http://xn--bcher-kva.example:8080/",
		"http://xn--bcher-kva.example/":         "http://xn--bcher-kva.example/",
		"http://-ab--é-.example/":               "http://xn---ab----fva.example/",
		"http://straße.example/":                "http://xn--strae-oqa.example/",
		"http://ä_b.example/":                   "http://xn--_b-uia.example/",
		"http://例え。テスト/":                        "http://xn--r8jz45g.xn--zckzah/",
		"http://i❤.example/":                    "http://xn--i-7iq.example/",
		"http://１２７.０.０.１/":                     "http://127.0.0.1/",
		"http://127。0。0。1/":                     "http://127.0.0.1/",
		"http://①②⑦.0.0.1/":                     "http://127.0.0.1/",
		"http://ｌｏｃａｌｈｏｓｔ/":                     "http://localhost/",
		"http://loc\u00adalhost。/":              "http://localhost/",
		"http://[::1]/":                         "http://[::1]/",
		"http://[::1]":                          "http://[::1]/",
		"http://[2606:4700::1]:8080/x":          "http://[2606:4700::1]:8080/x",
		"http://[0:0:0:0:0:FFFF:7F00:0001]/":    "http://[0:0:0:0:0:ffff:7f00:0001]/",
		"http://[FE80::1%25Eth0]/":              "http://[fe80::1%25Eth0]/",
		"http://[fe80::1%eth0]:1/":              "http://[fe80::1%25eth0]:1/",
		"http://a_b.ex.org/":                    "http://a_b.ex.org/",
		"http://ex.org:65535/":                  "http://ex.org:65535/",
		"http://ex.org:00080/":                  "http://ex.org:80/",
		"http://ex.org:443/":                    "http://ex.org:443/",
		"http://1.2.3.example/":                 "http://1.2.3.example/",
		"http://0x7f.example/":                  "http://0x7f.example/",
		"http://h/" + strings.Repeat("a", 8183): "http://h/" + strings.Repeat("a", 8183),
	} {
		u, f := ParseURL(in)
		if f != nil {
			t.Errorf("ParseURL(%.80q): %v", in, f)
			continue
		}
		if diff := cmp.Diff(want, u.String()); diff != "" {
			t.Errorf("ParseURL(%.80q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestParseURLRefuses(t *testing.T) {
	for code, list := range map[fault.Code][]string{
		fault.MalformedURL: {
			"", "mailto:a@b", "javascript:x", "javascript:x//://y", "data:text/html,x", "//h/p", "http:/x", "http:x", "://h/", "1http://h/", "ht tp://h/", "h", "h.example/x",
			"http://a b/", "http://h/a b", "http://h/?a b", "http://h/#a b", "http://h/\u00a0", "http://h/\u3000", "http://h\u3000x/", "http://h/\u0085", "http://h/\u2028",
			"http://h/\x00", " http://h/", "http://h/ ", "http://h/\n", "http://h/\t", "http://h\r\nX: y/",
			"http://h:0/", "http://h:65536/", "http://h:/", "http://h:", "http://h:+80/", "http://h:-1/", "http://h:123456/", "http://h:000080/", "http://h:8a/", "http://h:８０/",
			"http://a:1:2/", "http://::1/", "http://[::1/", "http://::1]/", "http://[::1]x/", "http://[::1]:/", "http://[::1]:x/", "http://[127.0.0.1]/", "http://[x]/", "http://[]/",
			"http://[::1%]/", "http://[::1%25]/", "http://[::1%a/b]/", "http://[v1.x]/", "http://x[::1]/", "http://[[::1]]/", "http://[fe80::1%\u00e9]/",
			"http://2130706433/", "http://123.456/", "http://127.0.0.01/", "http://127.1/", "http://0/", "http://127.0.1/", "http://017700000001/", "http://1.2.3.4.5/", "http://256.0.0.1/",
			"http://0x7f000001/", "http://0x7f.1/", "http://0X7F.0.0.1/", "http://0177.0.0.1/", "http://127.0.0.0x1/", "http://0x/", "http://a.1/", "http://a.0xFF/", "http://１２７.１/", "http://0ｘ7f.1./",
			"http://a..b/", "http://.a/", "http://a!b/", "http://a*b/", "http://a%b/", "http://%31%32%37.0.0.1/", "http://a%00b/", `http://a\b/`, "http://a\x7fb/", "http://a|b/", "http://a<b/", "http://a,b/",
			"http://a\xff/", "http://a\u2100b/", "http://a\uff0fb/", "http://a\uff1ab/", "http://a\uff20b/", "http://a\uff1fb/", "http://a\u200db/",
			"http://" + strings.Repeat("a", 64) + ".example/", "http://" + strings.Repeat("a.", 130) + "example/",
			"http://h/" + strings.Repeat("a", 8184), "http://h/" + strings.Repeat("é", 8000),
		},
		fault.SchemeNotAllowed: {"ftp://h/", "file:///etc/passwd", "gopher://h:x/", "ws://h/", "httpss://h/", "view-source://h/", "FTP://a@b/"},
		fault.UserinfoForbidden: {
			"https://user:password@public.example/page", "http://@h/", `http://evil.example\@h/`, "http://a@b:c/", "http://a@", "http://a@[::1/",
		},
		fault.NoHostname: {"http://", "http:///p", "http://..../", "http://:80/", "http://?q", "http://#f", "http://。/", "https://?", "http://\u00ad/"},
	} {
		for _, in := range list {
			u, f := ParseURL(in)
			if f == nil {
				t.Errorf("ParseURL(%.60q) = %s, want %s", in, u, code)
				continue
			}
			if f.Code != code || f.Stage != fault.StagePolicy || f.Retryable {
				t.Errorf("ParseURL(%.60q): got %s in stage %s, want %s", in, f.Code, f.Stage, code)
			}
			if s := f.Message + f.Advice; strings.Contains(s, "example") || strings.Contains(s, "127") {
				t.Errorf("%.60q: the message gives the URL away: %s", in, s)
			}
		}
	}
}

func TestURLParts(t *testing.T) {
	type parts struct {
		Scheme, Hostname, Host, Path, Query string
		Port                                uint16
		DefaultPort, Literal                bool
	}
	for in, want := range map[string]parts{
		"https://ex.org/a%2Fb?c=%2B":  {"https", "ex.org", "ex.org", "/a%2Fb", "c=%2B", 443, true, false},
		"https://ex.org:443/":         {"https", "ex.org", "ex.org", "/", "", 443, true, false},
		"http://ex.org:443/":          {"http", "ex.org", "ex.org:443", "/", "", 443, false, false},
		"http://[2606:4700::1]:81/%z": {"http", "2606:4700::1", "[2606:4700::1]:81", "/%z", "", 81, false, true},
		"http://1.2.3.4//x/?":         {"http", "1.2.3.4", "1.2.3.4", "//x/", "", 80, true, true},
	} {
		u := mustURL(t, in)
		got := parts{u.Scheme(), u.Hostname(), u.Host(), u.Path(), u.RawQuery(), u.Port(), u.DefaultPort(), u.Addr().IsValid()}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
	if (URL{}).String() != "" || !(URL{}).IsZero() || mustURL(t, "http://h").IsZero() {
		t.Error("the zero value is not told from a URL")
	}
}

type resolution struct {
	ref, want string
	code      fault.Code
}

func checkResolve(t *testing.T, name string, resolve func(URL, string) (URL, *fault.Error), base string, rows []resolution) {
	t.Helper()
	for _, tt := range rows {
		got, f := resolve(mustURL(t, base), tt.ref)
		var code fault.Code
		if f != nil {
			code = f.Code
		}
		if got.String() != tt.want || code != tt.code {
			t.Errorf("%s(%.60q) = %q, %q, want %q, %q", name, tt.ref, got, code, tt.want, tt.code)
		}
	}
}

const base = "https://ex.org:8443/docs/page.html?q=1"

// both holds what a redirect and a link have in common.
var both = []resolution{
	{"/r", "https://ex.org:8443/r", ""},
	{"guide/", "https://ex.org:8443/docs/guide/", ""},
	{"../x", "https://ex.org:8443/x", ""},
	{"../../../x/./y/..", "https://ex.org:8443/x/", ""},
	{"..", "https://ex.org:8443/", ""},
	{".", "https://ex.org:8443/docs/", ""},
	{"./", "https://ex.org:8443/docs/", ""},
	{"/a/./b/../c", "https://ex.org:8443/a/c", ""},
	{"/a//../b", "https://ex.org:8443/a/b", ""},
	{"/.a/..b/...", "https://ex.org:8443/.a/..b/...", ""},
	{"%2e%2E/x", "https://ex.org:8443/x", ""},
	{".%2e", "https://ex.org:8443/", ""},
	{"?z", "https://ex.org:8443/docs/page.html?z", ""},
	{"?", "https://ex.org:8443/docs/page.html", ""},
	{"?a=../b", "https://ex.org:8443/docs/page.html?a=../b", ""},
	{"a?b=/../c", "https://ex.org:8443/docs/a?b=/../c", ""},
	{"a?b:c", "https://ex.org:8443/docs/a?b:c", ""},
	{"a/b:c", "https://ex.org:8443/docs/a/b:c", ""},
	{"./x:y", "https://ex.org:8443/docs/x:y", ""},
	{"#f", base, ""},
	{"x#f", "https://ex.org:8443/docs/x", ""},
	{"//other.example/p", "https://other.example/p", ""},
	{"//other.example", "https://other.example/", ""},
	{"//other.example:81?q", "https://other.example:81/?q", ""},
	{"http://other.example", "http://other.example/", ""},
	{"https://other.example/p", "https://other.example/p", ""},
	{"HTTP://OTHER.example/a/../b?c#d", "http://other.example/b?c", ""},
	{"/日本", "https://ex.org:8443/%E6%97%A5%E6%9C%AC", ""},
	{"/caf\xe9", "https://ex.org:8443/caf%E9", ""},
	{"?日", "https://ex.org:8443/docs/page.html?%E6%97%A5", ""},
	{"//bücher.example/", "https://xn--bcher-kva.example/", ""},
	{"x:y/z", "", fault.SchemeNotAllowed},
	{"ftp://h/", "", fault.SchemeNotAllowed},
	{"mailto:a@b.example", "", fault.SchemeNotAllowed},
	{"javascript:void(0)", "", fault.SchemeNotAllowed},
	{"data:text/html,x", "", fault.SchemeNotAllowed},
	{"", "", fault.MalformedRedirect},
	{strings.Repeat("a", MaxURLChars+1), "", fault.MalformedRedirect},
	{strings.Repeat("a", MaxURLChars), "", fault.MalformedURL},
	{"//", "", fault.NoHostname},
	{"//a@b/", "", fault.UserinfoForbidden},
	{"//0x7f.1/", "", fault.MalformedURL},
	{"http://h:0/", "", fault.MalformedURL},
	{"http://a b/", "", fault.MalformedURL},
}

func TestResolveRedirect(t *testing.T) {
	checkResolve(t, "ResolveRedirect", ResolveRedirect, base, both)
	checkResolve(t, "ResolveRedirect", ResolveRedirect, base, []resolution{
		{"/a b", "", fault.MalformedURL},
		{" /a", "", fault.MalformedURL},
		{"/a\r\nX: y", "", fault.MalformedURL},
		{"https:/x", "", fault.MalformedURL},
		{"https:x", "", fault.MalformedURL},
		{"http:", "", fault.MalformedURL},
		{`/a\b`, `https://ex.org:8443/a\b`, ""},
	})
}

func TestResolveLink(t *testing.T) {
	checkResolve(t, "ResolveLink", ResolveLink, base, both)
	checkResolve(t, "ResolveLink", ResolveLink, base, []resolution{
		{"  /a \n", "https://ex.org:8443/a", ""},
		{"/a\r\n\t/b", "https://ex.org:8443/a/b", ""},
		{"ht\ntp://h.example/", "http://h.example/", ""},
		{"/a b\u00a0c?d e", "https://ex.org:8443/a%20b%C2%A0c?d%20e", ""},
		{"a b/", "https://ex.org:8443/docs/a%20b/", ""},
		{`/a"<>` + "`{}^'|", "https://ex.org:8443/a%22%3C%3E%60%7B%7D%5E'|", ""},
		{`?a"<>'` + "`{}", "https://ex.org:8443/docs/page.html?a%22%3C%3E%27`{}", ""},
		{`\\other.example\p\..\q?\`, `https://other.example/q?\`, ""},
		{`..\x`, "https://ex.org:8443/x", ""},
		{"https:x", "https://ex.org:8443/docs/x", ""},
		{"https:/x", "https://ex.org:8443/x", ""},
		{"https:", "https://ex.org:8443/docs/page.html", ""},
		{"https:?x", "https://ex.org:8443/docs/page.html?x", ""},
		{"http:x/y", "http://x/y", ""},
		{"http:/x/y", "http://x/y", ""},
		{"http:////x//y", "http://x//y", ""},
		{"///x.example/y", "https://x.example/y", ""},
		{"//x.example?a/b", "https://x.example/?a/b", ""},
		{"//a b/", "", fault.MalformedURL},
		{" \n", "", fault.MalformedRedirect},
		{`http:\\evil.example\@ex.org/`, "http://evil.example/@ex.org/", ""},
	})
	// The base element's own address is the base of the links below it.
	b, f := ResolveLink(mustURL(t, "https://ex.org/docs/page.html"), "../assets/")
	if f != nil {
		t.Fatal(f)
	}
	checkResolve(t, "ResolveLink", ResolveLink, b.String(), []resolution{
		{"guide.html", "https://ex.org/assets/guide.html", ""},
		{"/r", "https://ex.org/r", ""},
	})
}

// What is stored as a ref comes back through the parser, so the normal form has to be its own normal form;
// and what the guard judges has to be the host that net/url would hand to the transport.
func checkStable(t *testing.T, u URL) {
	t.Helper()
	s := u.String()
	again, f := ParseURL(s)
	if f != nil {
		t.Fatalf("%q is not accepted again: %v", s, f)
	}
	if again != u {
		t.Fatalf("%q becomes %q", s, again.String())
	}
	if len(s) > MaxURLChars || !only(s, func(c byte) bool { return '!' <= c && c <= '~' && c != '#' }) {
		t.Fatalf("%q is not in normal form", s)
	}
	v, err := url.Parse(u.Scheme() + "://" + strings.TrimPrefix(u.origin(), u.Scheme()+"://") + "/")
	if err == nil && v.Hostname() != u.Hostname() {
		t.Fatalf("%q: net/url sees host %q, the guard %q", s, v.Hostname(), u.Hostname())
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{
		"https://ex.org/a?b#c", "http://[::1%25e]:80/", "http://１２７.１/", `http://a\@b/`, "http://xn--bcher-kva.example/", "http://h:65535", "http://0x7f.1/", "http://Bücher。example./é?é",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if u, fail := ParseURL(s); fail == nil {
			checkStable(t, u)
		}
	})
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"../x", "//h", "?x", "/", "http://h", `\\h\..\x`, "http:x", " a b ", "%2e%2e/", "#", "//[::1]:1/", "a\n:b"} {
		f.Add("/docs/page", s)
	}
	f.Fuzz(func(t *testing.T, path, ref string) {
		from, fail := ParseURL("https://ex.org:8443/" + path)
		if fail != nil {
			return
		}
		if u, fail := ResolveRedirect(from, ref); fail == nil {
			checkStable(t, u)
		}
		if u, fail := ResolveLink(from, ref); fail == nil {
			checkStable(t, u)
		}
	})
}
