package fetch

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/browse/fault"
)

func TestBotWalls(t *testing.T) {
	blocked, plain := fault.SourceBlocked, fault.HTTPStatus
	head := func(pairs ...string) http.Header {
		h := http.Header{"Content-Type": {"text/html"}}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	html := func(title, body string) string {
		return "<!DOCTYPE html><html><head><title>" + title + "</title></head><body>" + body + "</body></html>"
	}
	cloudflare := html("Just a moment...", "<script>window._cf_chl_opt = {};</script>")
	tests := []struct {
		name   string
		status int
		header http.Header
		body   string
		want   fault.Code // "" for a page
	}{
		{"Cloudflare header", 403, head("CF-Mitigated", "challenge"), "", blocked},
		{"Cloudflare header, other status", 401, head("Cf-Mitigated", "challenge"), "", blocked},
		{"Cloudflare header, good status", 200, head("Cf-Mitigated", "Challenge"), "<p>x", blocked},
		{"Cloudflare page", 503, head(), cloudflare, blocked},
		{"Cloudflare page, good status", 200, head(), cloudflare, blocked},
		{"Cloudflare block", 403, head(), html("Attention Required! | Cloudflare", ""), blocked},
		{"captcha", 403, head(), html("Hello", `<div class="g-recaptcha"></div>`), blocked},
		{"captcha, too many", 429, head(), html("Hello", `<form id="CAPTCHA-form">`), blocked},
		{"anomaly", 202, head(), html("DuckDuckGo", `<div class="anomaly-modal__mask">`), blocked},
		{"anomaly, good status", 200, head(), html("DuckDuckGo", `<form action="/anomaly.js?sv=html"><div class="anomaly-modal__mask">`), blocked},
		{"DataDome header", 403, head("X-DataDome", "protected"), "", blocked},
		{"DataDome page", 403, head(), html("example", `<script>var dd={'host':'geo.captcha-delivery.com'}</script>`), blocked},
		{"DataDome page, good status", 200, head(), html("example", `<script>var dd={'host':'geo.captcha-delivery.com'}</script>`), blocked},
		{"PerimeterX", 403, head(), html("Access to this page has been denied.", `<div id="px-captcha"></div>`), blocked},
		{"Akamai", 403, head("Server", "AkamaiGHost"), html("Access Denied", ""), blocked},
		{"Akamai page", 403, head(), html("Access Denied", "Reference&#32;&#35;18.5a https://errors.edgesuite.net/18.5a"), blocked},
		{"Incapsula, good status", 200, head(), `<html><iframe id="main-iframe" src="/_Incapsula_Resource?x=1"></iframe></html>`, blocked},
		{"AWS, other status", 405, head("x-amzn-waf-action", "captcha"), "", blocked},
		{"AWS, accepted", 202, head("x-amzn-waf-action", "challenge"), "", blocked},
		{"Anubis", 200, head(), html("Making sure", `<script id="anubis_challenge" type="application/json">{}</script>`), blocked},
		{"Vercel", 429, head("X-Vercel-Mitigated", "challenge"), "", blocked},
		{"mark at the end of what is looked at", 403, head(), strings.Repeat(" ", errorBodyBytes-7) + "captcha", blocked},

		{"mark beyond what is looked at", 403, head(), strings.Repeat(" ", errorBodyBytes) + "captcha", plain},
		{"honest refusal", 403, head(), html("Forbidden", "You may not."), plain},
		{"honest maintenance", 503, head(), html("Back soon", "Maintenance."), plain},
		{"mark beside another status", 404, head(), html("Not found", `<div class="g-recaptcha">`), plain},
		{"header that pages have too", 404, head("X-DataDome", "protected"), "", plain},
		{"no body", 429, head(), "", plain},

		{"page with a captcha form", 200, head(), html("Contact", `<div class="g-recaptcha"></div>`), ""},
		{"page behind DataDome", 200, head("X-DataDome", "protected"), html("Shop", "Shoes"), ""},
		{"page about challenges", 200, head(), html("Just a moment... explained", "<pre>&lt;title&gt;Just a moment...&lt;/title&gt; _cf_chl_opt</pre>"), ""},
		{"page with that title only", 200, head(), html("Just a moment...", "A novel."), ""},
		{"page with the marks as text", 200, http.Header{"Content-Type": {"text/markdown"}}, cloudflare, ""},
		{"page with Cloudflare's own script", 200, head(), html("Blog", `<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>`), ""},
		{"accepted", 202, head(), html("Accepted", "Queued."), ""},
		{"mitigated by nothing", 200, head("Cf-Mitigated", ""), html("Blog", ""), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, coding := range []string{"", "gzip", "br"} {
				w := newWorld(t).name("www.example.com", siteAddr)
				w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
					for name, values := range tt.header {
						rw.Header()[name] = values
					}
					body := []byte(tt.body)
					if coding != "" {
						rw.Header().Set("Content-Encoding", coding)
						body = encode(t, coding, bytes.NewReader(body))
					}
					rw.WriteHeader(tt.status)
					_, _ = rw.Write(body)
				}))
				if tt.want == "" {
					get(t, w.client(), bodyURL)
					continue
				}
				want := failure{tt.want, fault.StageHTTP, tt.status, tt.want == plain && (tt.status == 429 || tt.status >= 500)}
				if diff := cmp.Diff(want, getFailure(t, t.Context(), w.client(), bodyURL)); diff != "" {
					t.Errorf("coding %q: %s", coding, diff)
				}
			}
		})
	}
}
