package fetch

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/browse/fault"
)

// redirecting answers /start with a Location and everything else with a page, and counts the requests.
func redirecting(status int, location string, requests *int) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		*requests++
		if r.URL.Path != "/start" {
			page(rw, r)
			return
		}
		if location != "none" {
			rw.Header()["Location"] = []string{location}
		}
		rw.WriteHeader(status)
	})
}

func TestRefusedRedirects(t *testing.T) {
	policy := func(code fault.Code, status int) failure { return failure{code, fault.StagePolicy, status, false} }
	missing := func(status int) failure { return failure{fault.MissingLocation, fault.StageHTTP, status, false} }
	tests := []struct {
		name, location string
		status         int
		want           failure
	}{
		{"metadata", "http://169.254.169.254/latest/meta-data/", 302, policy(fault.CloudMetadataBlocked, 0)},
		{"metadata without a scheme", "//169.254.169.254/", 302, policy(fault.CloudMetadataBlocked, 0)},
		{"loopback", "http://127.0.0.1/private", 301, policy(fault.LoopbackBlocked, 0)},
		{"localhost", "http://localhost/", 307, policy(fault.LoopbackBlocked, 0)},
		{"private name", "http://inside.example.com/", 308, policy(fault.PrivateBlocked, 0)},
		{"mixed answers", "http://mixed.example.com/", 303, policy(fault.PrivateBlocked, 0)},
		{"unknown name", "http://nowhere.example/", 302, failure{fault.DNSFailed, fault.StageDNS, 0, true}},
		{"ftp", "ftp://www.example.com/", 302, policy(fault.SchemeNotAllowed, 302)},
		{"javascript", "javascript:alert(1)", 302, policy(fault.SchemeNotAllowed, 302)},
		{"user info", "http://a:b@www.example.com/", 302, policy(fault.UserinfoForbidden, 302)},
		{"too long", "/" + strings.Repeat("a", 8192), 302, policy(fault.MalformedRedirect, 302)},
		{"empty", "", 302, policy(fault.MalformedRedirect, 302)},
		{"white space", "/a b", 302, policy(fault.MalformedURL, 302)},
		{"bad port", "http://www.example.com:0/", 302, policy(fault.MalformedURL, 302)},
		{"no Location 300", "none", 300, missing(300)},
		{"no Location 302", "none", 302, missing(302)},
		{"no Location 304", "none", 304, missing(304)},
		{"no Location 399", "none", 399, missing(399)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).name("www.example.com", siteAddr).name("inside.example.com", "10.0.0.1").name("mixed.example.com", siteAddr)
			w.names["mixed.example.com"][0] = append(w.names["mixed.example.com"][0], mustAddr("192.168.0.1"))
			requests := 0
			w.serve(siteHTTP, redirecting(tt.status, tt.location, &requests))
			if diff := cmp.Diff(tt.want, getFailure(t, t.Context(), w.client(), "http://www.example.com/start")); diff != "" {
				t.Error(diff)
			}
			if requests != 1 {
				t.Errorf("%d requests were made, want exactly one", requests)
			}
			if diff := cmp.Diff([]string{siteHTTP}, w.dialled); diff != "" {
				t.Error("dialled:", diff)
			}
		})
	}
}

func TestFollowedRedirects(t *testing.T) {
	tests := []struct {
		location, final string
		status          int
	}{
		{"/a", "http://www.example.com/a", 301},
		{"b/?q#frag", "http://www.example.com/b/?q", 302},
		{"//www.example.com/c", "http://www.example.com/c", 303},
		{"HTTP://WWW.EXAMPLE.COM/d", "http://www.example.com/d", 307},
		{"/é", "http://www.example.com/%C3%A9", 308},
		{"?q", "http://www.example.com/start?q", 300},
	}
	for _, tt := range tests {
		w := newWorld(t).name("www.example.com", siteAddr)
		w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.RequestURI == "/start" {
				// Of repeated headers the last counts.
				rw.Header()["Location"] = []string{"/wrong", tt.location}
				rw.WriteHeader(tt.status)
				return
			}
			page(rw, r)
		}))
		got := get(t, w.client(), "http://www.example.com/start")
		if got.Final.String() != tt.final {
			t.Errorf("%s: got %s, want %s", tt.location, got.Final, tt.final)
		}
		if diff := cmp.Diff([]string{"http://www.example.com/start"}, got.RedirectChain); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRedirectCount(t *testing.T) {
	tests := []struct{ max, hops, requests int }{
		{0, 5, 6}, {0, 6, 6}, {0, 100, 6}, {4, 4, 5}, {4, 5, 5}, {-1, 0, 1}, {-1, 1, 1},
	}
	for _, tt := range tests {
		w := newWorld(t).name("www.example.com", siteAddr)
		requests := 0
		w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			requests++
			if requests <= tt.hops {
				http.Redirect(rw, r, "/next", http.StatusFound)
				return
			}
			page(rw, r)
		}))
		c := w.client()
		c.MaxRedirects = tt.max
		if allowed := max(0, c.withDefaults().MaxRedirects); tt.hops <= allowed {
			if got := get(t, c, "http://www.example.com/"); len(got.RedirectChain) != tt.hops {
				t.Errorf("%+v: %d URLs in the chain", tt, len(got.RedirectChain))
			}
		} else {
			want := failure{fault.TooManyRedirects, fault.StagePolicy, 302, false}
			if diff := cmp.Diff(want, getFailure(t, t.Context(), c, "http://www.example.com/")); diff != "" {
				t.Errorf("%+v: %s", tt, diff)
			}
		}
		if requests != tt.requests {
			t.Errorf("%+v: %d requests", tt, requests)
		}
	}
}

func TestDowngrade(t *testing.T) {
	tests := []struct {
		location string
		want     failure
	}{
		{"http://www.example.com/", failure{fault.DowngradeBlocked, fault.StagePolicy, 302, false}},
		{"http://nowhere.example/", failure{fault.DowngradeBlocked, fault.StagePolicy, 302, false}},
		{"http://169.254.169.254/", failure{fault.CloudMetadataBlocked, fault.StagePolicy, 0, false}},
		{"http://localhost/", failure{fault.LoopbackBlocked, fault.StagePolicy, 0, false}},
	}
	for _, tt := range tests {
		w := newWorld(t).name("www.example.com", siteAddr)
		plain, requests := 0, 0
		s := w.serveTLS(siteHTTPS, redirecting(302, tt.location, &requests))
		w.serve(siteHTTP, redirecting(200, "", &plain))
		c := w.client()
		c.RootCAs = rootsOf(s)
		if diff := cmp.Diff(tt.want, getFailure(t, t.Context(), c, "https://www.example.com/start")); diff != "" {
			t.Error(diff)
		}
		if plain != 0 || requests != 1 || len(w.lookups) != 1 {
			t.Errorf("%d plain requests, %d TLS requests, %d lookups", plain, requests, len(w.lookups))
		}
	}
	// The other way round is an upgrade.
	w := newWorld(t).name("www.example.com", siteAddr)
	var requests int
	w.serve(siteHTTP, redirecting(302, "https://www.example.com/", &requests))
	s := w.serveTLS(siteHTTPS, http.HandlerFunc(page))
	c := w.client()
	c.RootCAs = rootsOf(s)
	if got := get(t, c, "http://www.example.com/start").Final.String(); got != "https://www.example.com/" {
		t.Error("upgrade ended at", got)
	}
}

// TestRebinding: the name has a public address for the first hop and a private one for the second.
func TestRebinding(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr, "192.168.1.1")
	var requests, inside int
	w.serve(siteHTTP, redirecting(302, "/admin", &requests))
	w.serve("192.168.1.1:80", redirecting(200, "", &inside))
	want := failure{fault.PrivateBlocked, fault.StagePolicy, 0, false}
	if diff := cmp.Diff(want, getFailure(t, t.Context(), w.client(), "http://www.example.com/start")); diff != "" {
		t.Error(diff)
	}
	if requests != 1 || inside != 0 {
		t.Errorf("%d requests outside, %d inside", requests, inside)
	}
	if diff := cmp.Diff([]string{siteHTTP}, w.dialled); diff != "" {
		t.Error("dialled:", diff)
	}
}

// TestOneLookup: within a hop the name is not asked for again, so there is nothing to rebind.
func TestOneLookup(t *testing.T) {
	w := newWorld(t).name("www.example.com", siteAddr, "192.168.1.1")
	w.serve(siteHTTP, http.HandlerFunc(page))
	get(t, w.client(), "http://www.example.com/")
	if diff := cmp.Diff([]string{"www.example.com"}, w.lookups); diff != "" {
		t.Error(diff)
	}
}
