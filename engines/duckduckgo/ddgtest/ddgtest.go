// Package ddgtest is a stand-in for DuckDuckGo's HTML endpoint, for demonstrations and tests without a network.
//
// It writes pages of the real structure, with what a reader must leave out: an advertisement and a duplicate.
// It is linked into the program, so it must not import anything of testing, nor the reader it feeds.
package ddgtest

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"

	"web/engines"
)

// Handler answers a submitted query form with the page of the results it is given: wrapped links, a first ad,
// and the first result once more at the end. No results give the page that says so, no query the home page.
func Handler(results func(query string) []engines.Result) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.PostFormValue("q")
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		if query == "" {
			io.WriteString(w, head("DuckDuckGo", "body--home")+"</body></html>\n")
			return
		}
		io.WriteString(w, page(query, results(query)))
	})
}

func page(query string, results []engines.Result) string {
	var b strings.Builder
	b.WriteString(head(html.EscapeString(query)+" at DuckDuckGo", "body--html"))
	b.WriteString(`<form id="search_form_homepage_top" action="/html/" method="post"><input name="q" value="` + html.EscapeString(query) + `" /></form>` + "\n" +
		`<div class="serp__results"><div id="links" class="results">` + "\n")
	if len(results) == 0 {
		b.WriteString(`<div class="result results_links results_links_deep web-result result--no-result"><div class="no-results__container result__title">` +
			`<span class="no-results"><div class="no-results__message"><h1>No results found for <strong>` + html.EscapeString(query) + `</strong></h1></div></span></div></div>` + "\n")
	} else {
		ad := "https://duckduckgo.com/y.js?ad_domain=shop.example&ad_provider=demo&ad_type=txad"
		block(&b, "result--ad", ad, engines.Result{Title: "An advertisement", Snippet: "Left out of the results."})
		for _, r := range results {
			block(&b, "web-result", wrap(r.URL), r)
		}
		block(&b, "web-result", wrap(results[0].URL), results[0])
	}
	b.WriteString("</div></div></body></html>\n")
	return b.String()
}

func head(title, class string) string {
	return `<!DOCTYPE html><html><head><meta http-equiv="content-type" content="text/html; charset=UTF-8"><title>` + title +
		`</title></head><body class="` + class + `">` + "\n"
}

func wrap(target string) string {
	return "//duckduckgo.com/l/?uddg=" + url.QueryEscape(target) + "&rut=0"
}

func block(b *strings.Builder, class, href string, r engines.Result) {
	link := ` href="` + html.EscapeString(href) + `">`
	b.WriteString(`<div class="result results_links results_links_deep ` + class + `"><div class="links_main links_deep result__body">` + "\n" +
		`<h2 class="result__title"><a rel="nofollow" class="result__a"` + link + html.EscapeString(r.Title) + "</a></h2>\n" +
		`<div class="result__extras"><div class="result__extras__url"><a class="result__url"` + link + html.EscapeString(r.URL) + "</a>")
	if r.Published != "" {
		b.WriteString("<span>&nbsp; &nbsp; " + html.EscapeString(r.Published) + "T00:00:00.0000000</span>")
	}
	b.WriteString("</div></div>\n")
	if r.Snippet != "" {
		b.WriteString(`<a class="result__snippet"` + link + html.EscapeString(r.Snippet) + "</a>\n")
	}
	b.WriteString("</div></div>\n")
}
