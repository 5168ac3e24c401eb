package duckduckgo

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/engines"
)

var update = flag.Bool("update", false, "rewrite the expected files in testdata")

func parse(t *testing.T, body string) Page {
	t.Helper()
	p, err := Parse([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPages reads each page in testdata and compares it with the JSON beside it.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("testdata/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages in testdata (%v)", err)
	}
	goldens, _ := filepath.Glob("testdata/*.json")
	if len(goldens) != len(pages) && !*update {
		t.Errorf("%d pages but %d expected files", len(pages), len(goldens))
	}
	for _, name := range pages {
		t.Run(filepath.Base(name), func(t *testing.T) {
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			p := parse(t, string(body))
			prefix := map[Kind]string{KindResults: "results", KindNoResults: "empty", KindChallenge: "challenge", KindUnexpected: "unexpected"}
			if !strings.HasPrefix(filepath.Base(name), prefix[p.Kind]) {
				t.Errorf("kind %v does not fit the file's name", p.Kind)
			}
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(struct {
				Kind    string
				Results []engines.Result
				LeftOut engines.LeftOut
				Leaves  bool
			}{p.Kind.String(), p.Results, p.LeftOut, p.Leaves}); err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(name, ".html") + ".json"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCasesC3ToC7 holds the cases of public reports by their number.
func TestCasesC3ToC7(t *testing.T) {
	result := func(href, title string) string {
		return `<div class="result web-result"><h2 class="result__title"><a class="result__a" href="` + href + `">` + title +
			`</a></h2><a class="result__snippet">` + title + ` snippet</a></div>`
	}
	links := func(blocks ...string) string {
		return `<html><body><div id="links" class="results">` + strings.Join(blocks, "") + `</div></body></html>`
	}
	one := func(title, url string) engines.Result {
		return engines.Result{Title: title, URL: url, Snippet: title + " snippet"}
	}
	for _, tc := range []struct {
		name, body string
		want       Page
	}{
		{
			"C3 a broken wrapper leaves its neighbours whole",
			links(result("https://ex.org/1", "one"), result("//duckduckgo.com/l/?uddg=https%3A%2F%2Fex.org%2F%ZZ&rut=1", "two"), result("https://ex.org/3", "three")),
			Page{Kind: KindResults, Results: []engines.Result{one("one", "https://ex.org/1"), one("three", "https://ex.org/3")}, LeftOut: engines.LeftOut{Broken: 1}},
		},
		{
			"C4 a relative wrapper with uddg in second place",
			links(result("/l/?rut=abc&uddg=https%3A%2F%2Fpython.org%2Fdocs%3Fa%3D1%26b%3D2", "docs")),
			Page{Kind: KindResults, Results: []engines.Result{one("docs", "https://python.org/docs?a=1&b=2")}},
		},
		{
			"C5 a foreign host's uddg is its own",
			links(result("https://ex.org/l/?uddg=https%3A%2F%2Fevil.example%2F", "own")),
			Page{Kind: KindResults, Results: []engines.Result{one("own", "https://ex.org/l/?uddg=https%3A%2F%2Fevil.example%2F")}},
		},
		{
			"C6 decoded once",
			links(result("//duckduckgo.com/l/?uddg=https%3A%2F%2Fex.org%2F%3Fq%3Dc%252B%252B", "c++")),
			Page{Kind: KindResults, Results: []engines.Result{one("c++", "https://ex.org/?q=c%2B%2B")}},
		},
		{
			"C7 a challenge is no empty answer (its status: TestSearchFailures)",
			`<html><body><div class="anomaly-modal">Select all squares containing a duck</div></body></html>`,
			Page{Kind: KindChallenge},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, parse(t, tc.body)); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKinds(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		want       Page
	}{
		{"a form that posts to the challenge", `<form action="//duckduckgo.com/anomaly.js?sv=lite&q=a b"></form>`, Page{Kind: KindChallenge}},
		{"the challenge's form", `<form id="challenge-form"></form>`, Page{Kind: KindChallenge}},
		{"the challenge's test id", `<div data-testid="anomaly-modal"></div>`, Page{Kind: KindChallenge}},
		{"a challenge that also says nothing was found", `<form id="challenge-form"></form><div class="result--no-result"></div>`, Page{Kind: KindChallenge}},
		{"the query in the form's address", `<form action="/html/?q=/anomaly.js"></form>`, Page{}},
		{"a wrapper around results is none", `<div class="web-result"><div class="web-result"><h2><a href="https://ex.org/">x</a></h2></div></div>`,
			Page{Kind: KindResults, Results: []engines.Result{{Title: "x", URL: "https://ex.org/"}}}},
		{"a result titled EOF with a snippet", `<div class="result"><h2><a href="https://google.com/search?q=x">EOF</a></h2><p class="snippet">x</p></div>`,
			Page{Kind: KindResults, Results: []engines.Result{{Title: "EOF", URL: "https://google.com/search?q=x", Snippet: "x"}}}},
		{"a result titled EOF elsewhere", `<div class="result"><h2><a href="https://ex.org/search?q=x">EOF</a></h2></div>`,
			Page{Kind: KindResults, Results: []engines.Result{{Title: "EOF", URL: "https://ex.org/search?q=x"}}}},
		{"a date in the snippet is no date of the result", `<div class="result"><h2><a href="https://ex.org/">x</a></h2><p class="snippet"><span>2026-03-02</span></p></div>`,
			Page{Kind: KindResults, Results: []engines.Result{{Title: "x", URL: "https://ex.org/", Snippet: "2026-03-02"}}}},
		{"a lite snippet of these words", `<table><tr><td class="result-snippet">No more results.</td></tr></table>`, Page{}},
		{"the refresh of the script shell", `<meta http-equiv="refresh" content="0; url=/html?q=x">`, Page{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, parse(t, tc.body)); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDamagedPagesAreNotRead(t *testing.T) {
	good := `<div id="links"><div class="result web-result"><h2><a class="result__a" href="https://ex.org/">x</a></h2></div></div>`
	if p, err := Parse([]byte("<p>caf\xe9</p>"+good), nil); !errors.Is(err, errNotUTF8) {
		t.Errorf("latin-1 page: got %+v, %v; want %v", p, err, errNotUTF8)
	}
	if p, err := Parse([]byte("\xff<form id=challenge-form></form>"), nil); err != nil || p.Kind != KindChallenge {
		t.Errorf("damaged challenge: got %+v, %v", p, err)
	}
	if p, err := Parse([]byte(strings.Repeat("<div>", 600)+good), nil); err == nil {
		t.Errorf("600 levels: got %+v, want an error", p)
	}
}

func TestFollow(t *testing.T) {
	base := &url.URL{Scheme: "https", Host: "html.duckduckgo.com", Path: "/html/"}
	wrapped := func(target string) string { return "https://duckduckgo.com/l/?uddg=" + url.QueryEscape(target) }
	deep := "https://ex.org/"
	for range maxUnwrap {
		deep = wrapped(deep)
	}
	for _, tc := range []struct {
		name, href, want string
		verdict          verdict
	}{
		{"direct, byte for byte", "https://ex.org/a%2Fb?c=%2b+%26#f", "https://ex.org/a%2Fb?c=%2b+%26#f", linkOrganic},
		{"scheme in capitals", "HTTP://EX.org", "HTTP://EX.org", linkOrganic},
		{"without a scheme", "//ex.org/a%2Fb", "https://ex.org/a%2Fb", linkOrganic},
		{"broken over lines", " https://ex.org/\r\n\tpath ", "https://ex.org/path", linkOrganic},
		{"stray per cent sign", "https://ex.org/100%", "https://ex.org/100%", linkOrganic},
		{"stray per cent sign, scriptless host", "https://duckduckgo.com/100%", "", linkBroken},
		{"raw letters", "https://ex.org/пример", "https://ex.org/пример", linkOrganic},
		{"wrapper on a subdomain", "http://R.DuckDuckGo.com/l/?kh=-1&uddg=http%3A%2F%2Fex.org", "http://ex.org", linkOrganic},
		{"wrapper with a last dot", "https://duckduckgo.com./l/?uddg=http%3A%2F%2Fex.org", "http://ex.org", linkOrganic},
		{"wrapper twice", wrapped(wrapped("https://ex.org/%20")), "https://ex.org/%20", linkOrganic},
		{"wrapper too often", deep, "", linkBroken},
		{"wrapper around a relative address", wrapped("/html/"), "", linkBroken},
		{"wrapper around no host", wrapped("https:///x"), "", linkUnsafe},
		{"wrapper around a script", wrapped("javascript:alert(1)"), "", linkUnsafe},
		{"wrapper around bytes", "/l/?uddg=https%3A%2F%2Fex.org%2F%FF", "", linkBroken},
		{"wrapper around a line end", wrapped("https://ex.org/\r\nX: y"), "", linkUnsafe},
		{"wrapper without a target", "/l/?rut=1", "", linkBroken},
		{"look-alike host", "https://evilduckduckgo.com/y.js", "https://evilduckduckgo.com/y.js", linkOrganic},
		{"look-alike domain", "https://duckduckgo.com.ex.org/l/?uddg=x", "https://duckduckgo.com.ex.org/l/?uddg=x", linkOrganic},
		{"advertisement", "https://duckduckgo.com/y.js?u3=https%3A%2F%2Fex.org", "", linkAd},
		{"wrapped advertisement", wrapped("https://duckduckgo.com/y.js?u3=x"), "", linkAd},
		{"furniture", "/feedback.html", "", linkBroken},
		{"wrapped furniture", wrapped("https://duckduckgo.com/about"), "", linkBroken},
		{"nothing", "", "", linkBroken},
		{"mail", "mailto:a@ex.org", "", linkUnsafe},
		{"user info", "https://duckduckgo.com@ex.org/", "", linkUnsafe},
		{"user info to come", "https://ex.org\\@duckduckgo.com/", "", linkBroken},
		{"no host", "https:ex.org", "", linkUnsafe},
		{"port only", "https://:80/", "", linkUnsafe},
		{"reversed text", "https://ex.org/\u202egpj", "", linkUnsafe},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, v := follow(tc.href, base)
			if got != tc.want || v != tc.verdict {
				t.Errorf("follow(%q) = %q, %d; want %q, %d", tc.href, got, v, tc.want, tc.verdict)
			}
		})
	}
}

func TestText(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"highlighting glues nothing and tears nothing", `go<b>lang</b> <b>net</b>/http, 潮<b>汐</b>`, "golang net/http, 潮汐"},
		{"white space of every kind", "\r\n a&nbsp;&nbsp;b\t\u3000c \u2028d ", "a b c d"},
		{"decoded once", `&amp;rsquo; &amp;lt;b&amp;gt; &#x27;`, `&rsquo; &lt;b&gt; '`},
		{"misleading characters go", "a\u202eb\u2067c\U000e0041d\u0007e\u0085f\ufeff", "abcde f"},
		{"characters of words stay", "a\u200bb\u00adc \u0645\u06cc\u200c\u062e \U0001f468\u200d\U0001f4bb", "a\u200bb\u00adc \u0645\u06cc\u200c\u062e \U0001f468\u200d\U0001f4bb"},
		{"comments and tags", `a<!-- b --><i title="c">d</i>`, "ad"},
		{"emoji keeps its selector", "\u2764\ufe0f", "\u2764\ufe0f"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := parse(t, `<div class="web-result" id="links"><a class="result__a" href="https://ex.org/">`+tc.in+`</a><p class="snippet">`+tc.in+`</p></div>`)
			want := []engines.Result{{Title: tc.want, URL: "https://ex.org/", Snippet: tc.want}}
			if diff := cmp.Diff(want, p.Results); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDate(t *testing.T) {
	for stamp, want := range map[string]string{
		"2026-03-02T00:00:00.0000000": "2026-03-02",
		"2026-03-02":                  "2026-03-02",
		"2026-03-02 days":             "",
		"2026-02-30T00:00:00":         "",
		"2 March 2026":                "",
		"":                            "",
	} {
		if got := date(stamp); got != want {
			t.Errorf("date(%q) = %q, want %q", stamp, got, want)
		}
	}
}

// sharedOrEmpty returns a folder of pages that is kept outside the repository, or "".
func sharedOrEmpty() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		pages := filepath.Join(dir, "shared", "data", "duckduckgo")
		if _, err := os.Stat(pages); err == nil {
			return pages
		}
	}
	return ""
}

// TestSharedPages reads pages that DuckDuckGo once gave, where they are at hand.
func TestSharedPages(t *testing.T) {
	dir := sharedOrEmpty()
	if dir == "" {
		t.Skip("the saved pages in ../shared/data/duckduckgo are not here")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no pages (%v)", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(strings.TrimSuffix(name, ".html") + ".expected.json")
			if err != nil {
				t.Fatal(err)
			}
			var expected struct {
				Kind    string `json:"kind"`
				AdCount int    `json:"ad_count"`
				Results []struct {
					Ad                  bool
					Title, URL, Snippet string
					Date                *string
				} `json:"results"`
			}
			if err := json.Unmarshal(raw, &expected); err != nil {
				t.Fatal(err)
			}
			if expected.Kind == "http_error_body" {
				expected.Kind = "unexpected_page" // the status makes the difference, see TestSearchFailures
			}
			var want []engines.Result
			for _, r := range expected.Results {
				if r.Ad {
					continue
				}
				w := engines.Result{Title: r.Title, URL: r.URL, Snippet: r.Snippet}
				if r.Date != nil {
					w.Published, _, _ = strings.Cut(*r.Date, "T")
				}
				want = append(want, w)
			}
			p := parse(t, string(body))
			if diff := cmp.Diff(want, p.Results); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
			if got := p.Kind.String(); got != expected.Kind {
				t.Errorf("kind %s, want %s", got, expected.Kind)
			}
			if diff := cmp.Diff(engines.LeftOut{Ads: expected.AdCount}, p.LeftOut); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMultiplyingPage: a small page that would become gigabytes is refused before it is parsed.
func TestMultiplyingPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("<p>")
	for i := range 400 {
		fmt.Fprintf(&b, "<b a%d>", i)
	}
	b.WriteString(strings.Repeat("</i>", 400)) // closes nothing
	b.WriteString(strings.Repeat("<p>x", 60_000))
	if _, err := Parse([]byte(b.String()), nil); !errors.Is(err, errMultiplies) {
		t.Errorf("got %v", err)
	}
}
