package fetch

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"web/browse/fault"
)

func TestRobotsRules(t *testing.T) {
	const all = "User-agent: *\n"
	tests := []struct {
		name, text string
		allowed    []string
		refused    []string
	}{
		{"empty", "", []string{"/", "/a?b"}, nil},
		{"not a robots.txt", "<!doctype html>\n<p>a: b</p>", []string{"/"}, nil},
		{"rules without a group", "Disallow: /", []string{"/"}, nil},
		{"nothing refused", all + "Disallow:", []string{"/", "/a"}, nil},
		{"all refused", all + "Disallow: /", []string{"/robots.txt", "/robots.txt?x"}, []string{"/", "/a", "/robots.txt/a"}},
		{"prefix", all + "Disallow: /fish", []string{"/", "/Fish", "/a/fish"}, []string{"/fish", "/fish.html", "/fishes/1", "/fish?id=1"}},
		{"directory", all + "Disallow: /fish/", []string{"/fish", "/fish.html"}, []string{"/fish/", "/fish/a"}},
		{"wildcard", all + "Disallow: /fish*.php", []string{"/fish", "/Fish.PHP"}, []string{"/fish.php", "/fishheads/catfish.php?x=1"}},
		{"leading wildcard", all + "Disallow: *.gif$", []string{"/a.gif?x", "/a.gifs"}, []string{"/a.gif", "/x/y.gif"}},
		{"end", all + "Disallow: /*.php$", []string{"/a.php?x", "/a.php5", "/php"}, []string{"/a.php", "/b/a.php", "/a.php.php"}},
		{"end at once", all + "Disallow: /$", []string{"/a"}, []string{"/"}},
		{"dollar inside", all + "Disallow: /a$b", []string{"/a"}, []string{"/a$b", "/a$bc", "/a%24b"}},
		{"many wildcards", all + "Disallow: /*a*b*c$", []string{"/abcd", "/acb"}, []string{"/abc", "/xaxbxcxc"}},
		{"star at the end", all + "Disallow: /a*$", []string{"/b"}, []string{"/a", "/abc"}},
		{"longest wins", all + "Allow: /a/b\nDisallow: /a", []string{"/a/b", "/a/bc", "/x"}, []string{"/a", "/a/c"}},
		{"longest wins, other order", all + "Disallow: /a/b\nAllow: /a", []string{"/a", "/a/c"}, []string{"/a/b"}},
		{"equals allow", all + "Disallow: /a\nAllow: /a", []string{"/a"}, nil},
		{"equals allow, other order", all + "Allow: /a\nDisallow: /a", []string{"/a"}, nil},
		{"query", all + "Disallow: /*?id=", []string{"/a?x"}, []string{"/a?id=1"}},
		{"own group before *", all + "Disallow: /\nUser-agent: web\nDisallow: /x", []string{"/"}, []string{"/x"}},
		{"own empty group", "User-agent: web\nDisallow:\nUser-agent: *\nDisallow: /", []string{"/"}, nil},
		{"own groups are one", "User-agent: WEB\nDisallow: /x\nUser-agent: b\nDisallow: /b\nUser-agent: Web/2.0\nDisallow: /y", []string{"/b"}, []string{"/x", "/y"}},
		{"other token", "User-agent: webcrawler\nDisallow: /", []string{"/"}, nil},
		{"shared group", "User-agent: a\nUser-agent: web\nUser-agent: b\nDisallow: /x", []string{"/"}, []string{"/x"}},
		{"other lines between", "User-agent: web\nCrawl-delay: 5\nSitemap: https://x/\n\nDisallow: /x", nil, []string{"/x"}},
		{"comments and spaces", "\ufeff  USER-AGENT :  web # me\r\n\tDisAllow\t: /x # y\r\n", []string{"/"}, []string{"/x"}},
		{"CR lines", "User-agent: *\rDisallow: /x\r", []string{"/"}, []string{"/x"}},
		{"escapes", all + "Disallow: /a%3cd\nDisallow: /%7ejoe\nDisallow: /x y\nDisallow: /é\nDisallow: /s%2At", []string{"/star"}, []string{"/a%3Cd", "/~joe", "/%7Ejoe/", "/x%20y", "/%c3%a9", "/s*t", "/s%2at"}},
		{"slash stays escaped", all + "Disallow: /a%2Fb", []string{"/a/b"}, []string{"/a%2fb"}},
		{"broken escapes", all + "Disallow: /%zz\nDisallow: /y%", []string{"/%zy"}, []string{"/%zz", "/y%"}},
	}
	for _, tt := range tests {
		r := ParseRobots([]byte(tt.text), "web")
		for _, target := range tt.allowed {
			if !r.Allowed(target) {
				t.Errorf("%s: %s is refused", tt.name, target)
			}
		}
		for _, target := range tt.refused {
			if r.Allowed(target) {
				t.Errorf("%s: %s is allowed", tt.name, target)
			}
		}
	}
}

func FuzzParseRobots(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /a\n"), "/axb")
	f.Add([]byte("\ufeffuser-agent:web\rdisallow:/%7E\x00\xff#x"), "/%7e?%")
	f.Add([]byte("User-agent: web\nDisallow: "+strings.Repeat("*a", 200)), "/"+strings.Repeat("a", 300))
	f.Fuzz(func(t *testing.T, text []byte, target string) {
		r := ParseRobots(text, "web")
		if first := r.Allowed(target); first != r.Allowed(target) || !r.Allowed("/robots.txt") {
			t.Fatal("unsteady, or a site can hide its own rules")
		}
		if len(r.rules) > len(text)/len("allow:x") {
			t.Fatalf("%d rules from %d bytes", len(r.rules), len(text))
		}
		for _, rule := range r.rules {
			if again := normalEscapes(rule.pattern, true); again != rule.pattern {
				t.Fatalf("%q becomes %q", rule.pattern, again)
			}
			plain := normalEscapes(target, false)
			if len(rule.pattern)*len(plain) > 4096 {
				continue // the comparison is quadratic
			}
			if slow := rule.matchesSlowly(plain); rule.matches(plain) != slow {
				t.Fatalf("pattern %q, exact %v, target %q: the plain matcher says %v", rule.pattern, rule.exact, target, slow)
			}
		}
	})
}

// matchesSlowly is the definition of a match, without any cleverness.
func (r robotsRule) matchesSlowly(target string) bool {
	// reach[j] says that the pattern so far can end at target[j].
	reach := make([]bool, len(target)+1)
	reach[0] = true
	for _, c := range []byte(r.pattern) {
		next := make([]bool, len(reach))
		for j := range reach {
			if c == '*' {
				next[j] = reach[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && reach[j-1] && target[j-1] == c
			}
		}
		reach = next
	}
	if r.exact {
		return reach[len(target)]
	}
	for _, ok := range reach {
		if ok {
			return true
		}
	}
	return false
}

func TestRobotsGate(t *testing.T) {
	disallowed := failure{fault.RobotsDisallowed, fault.StagePolicy, 0, false}
	const all = "User-agent: *\n"
	tests := []struct {
		name, text string
		status     int
		agent      string
		refused    bool
	}{
		{"allowed", all + "Disallow: /other", 200, "", false},
		{"refused", all + "Disallow: /page", 200, "", true},
		{"refused by name", "User-agent: web\nDisallow: /", 200, "", true},
		{"another name", "User-agent: web\nDisallow: /", 200, "Reader/1.0 (web)", false},
		{"the operator's name", "User-agent: reader\nDisallow: /", 200, "Reader/1.0", true},
		{"not found", all + "Disallow: /", 404, "", false},
		{"forbidden", all + "Disallow: /", 403, "", false},
		{"forbidden by a wall", "captcha", 403, "", false},
		{"server error", "", 500, "", true},
		{"server busy", "", 503, "", true},
		{"a wall", "captcha", 503, "", true},
		{"not modified", "", 304, "", false},
		{"half a MiB and more", all + "Disallow: /page\n" + strings.Repeat("#\n", int(robotsBytes)), 200, "", true},
		{"beyond half a MiB", all + strings.Repeat("#\n", int(robotsBytes)) + "Disallow: /page\n", 200, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).name("www.example.com", siteAddr)
			var paths []string
			w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				paths = append(paths, r.RequestURI)
				if r.RequestURI != "/robots.txt" {
					page(rw, r)
					return
				}
				rw.WriteHeader(tt.status)
				_, _ = io.WriteString(rw, tt.text)
			}))
			c := w.client()
			c.RespectRobots, c.UserAgent = true, tt.agent
			want := []string{"/robots.txt"}
			if tt.refused {
				if diff := cmp.Diff(disallowed, getFailure(t, t.Context(), c, "http://www.example.com/page")); diff != "" {
					t.Error(diff)
				}
			} else {
				get(t, c, "http://www.example.com/page")
				want = append(want, "/page")
			}
			if diff := cmp.Diff(want, paths); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRobotsHops: every hop is asked for, every origin once, and nothing is asked unless the operator wants it.
func TestRobotsHops(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr).name("other.example.com", "93.184.216.35")
	var paths []string
	h := func(rw http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.Host+r.RequestURI)
		switch r.RequestURI {
		case "/robots.txt":
			_, _ = io.WriteString(rw, "User-agent: *\nDisallow: /closed")
		case "/1":
			http.Redirect(rw, r, "/2", http.StatusFound)
		case "/2":
			http.Redirect(rw, r, "http://other.example.com/3", http.StatusFound)
		case "/3":
			http.Redirect(rw, r, "http://www.example.com/closed", http.StatusFound)
		default:
			page(rw, r)
		}
	}
	w.serve(siteHTTP, http.HandlerFunc(h))
	w.serve("93.184.216.35:80", http.HandlerFunc(h))
	c := w.client()
	get(t, c, "http://www.example.com/1")
	want := []string{"www.example.com/1", "www.example.com/2", "other.example.com/3", "www.example.com/closed"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error("off:", diff)
	}
	paths = nil
	c.RespectRobots = true
	if got := getFailure(t, t.Context(), c, "http://www.example.com/1"); got.Code != fault.RobotsDisallowed {
		t.Error(got)
	}
	want = []string{"www.example.com/robots.txt", "www.example.com/1", "www.example.com/2", "other.example.com/robots.txt", "other.example.com/3"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error("respect:", diff)
	}
}

// TestRobotsUnreachable: a robots.txt that leads inside is not followed there, and the time it takes counts.
func TestRobotsUnreachable(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr)
	requests := 0
	w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		requests++
		http.Redirect(rw, r, "http://169.254.169.254/", http.StatusFound)
	}))
	c := w.client()
	c.RespectRobots = true
	if got := getFailure(t, t.Context(), c, bodyURL); got.Code != fault.RobotsDisallowed || requests != 1 {
		t.Errorf("got %v after %d requests", got, requests)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).name("www.example.com", siteAddr)
		w.raw(siteHTTP, func(conn net.Conn) { w.drip(conn, " ") })
		c := w.client()
		c.RespectRobots = true
		if got := getFailure(t, t.Context(), c, bodyURL); got.Code != fault.ReadTimeout {
			t.Error(got)
		}
	})
}
