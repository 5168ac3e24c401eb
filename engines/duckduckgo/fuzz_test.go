package duckduckgo

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

func FuzzParse(f *testing.F) {
	pages, _ := filepath.Glob("testdata/*.html")
	for _, name := range pages {
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`<div class=result><h2><a class=result__a href="//duckduckgo.com/l/?uddg=https%3A%2F%2F%C3%28">x`))
	f.Add([]byte(`<table><a class=result-link href=https://ex.org/%zz>x<tr class=result-sponsored><a class=result-link href=//ex.org>y`))
	f.Add([]byte("\xef\xbb\xbf<meta http-equiv=refresh content=';url='><div class=web-result><div class='result web-result'>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := Parse(body, nil)
		again, errAgain := Parse(body, nil)
		if diff := cmp.Diff(p, again); diff != "" || (err == nil) != (errAgain == nil) {
			t.Fatalf("errors %v, %v; second reading (-first +second):\n%s", err, errAgain, diff)
		}
		if err != nil && (p.Kind != KindUnexpected || len(p.Results) > 0) {
			t.Errorf("%+v beside error %v", p, err)
		}
		if (p.Kind == KindResults) != (len(p.Results) > 0) {
			t.Errorf("kind %v with %d results", p.Kind, len(p.Results))
		}
		seen := map[string]bool{}
		for _, r := range p.Results {
			for _, s := range []string{r.Title, r.URL, r.Snippet, r.Published} {
				if !utf8.ValidString(s) || strings.ContainsFunc(s, misleading) {
					t.Errorf("%q is not clean", s)
				}
			}
			if strings.Join(strings.Fields(r.Title), " ") != r.Title || strings.Join(strings.Fields(r.Snippet), " ") != r.Snippet {
				t.Errorf("white space left in %q", r)
			}
			u, err := parseURL(r.URL)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || ownHost(u) || seen[r.URL] {
				t.Errorf("URL %q (%v)", r.URL, err)
			}
			seen[r.URL] = true
		}
	})
}

// FuzzWrapper holds that whatever is wrapped comes out byte for byte, or not at all.
func FuzzWrapper(f *testing.F) {
	f.Add("https://ex.org/a%2Fb?c=%2B+d#e")
	f.Add("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fex.org")
	f.Add("https://ex.org/%zz\u202e")
	f.Fuzz(func(t *testing.T, target string) {
		base, err := url.Parse(DefaultBaseURL)
		if err != nil {
			t.Fatal(err)
		}
		href := html.UnescapeString(html.EscapeString("//duckduckgo.com/l/?rut=1&uddg=" + url.QueryEscape(target)))
		got, v := follow(href, base)
		// A target that is a fine link itself, and needs no unwrapping, has to come out of the wrapper as it is.
		if direct, vDirect := follow(target, base); vDirect == linkOrganic && direct == target && (v != linkOrganic || got != target) {
			t.Errorf("%q came out as %q, %d", target, got, v)
		}
	})
}
