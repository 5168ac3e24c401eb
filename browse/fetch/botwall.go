package fetch

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
)

// challengeScanBytes is how far into a page its marks are looked for. Challenge pages are short.
const challengeScanBytes = 64 << 10

// headerMark is a header that only a bot wall sends. An empty value means any.
type headerMark struct{ name, value string }

// mitigated are headers that say, with every status, that this is not the page.
var mitigated = [...]headerMark{
	{"Cf-Mitigated", "challenge"},
	{"Cf-Mitigated", "block"},
	{"X-Amzn-Waf-Action", "challenge"},
	{"X-Amzn-Waf-Action", "captcha"},
	{"X-Vercel-Mitigated", "challenge"},
	{"X-Vercel-Mitigated", "deny"},
	{"Sg-Captcha", "challenge"},
}

// refusalHeaders are sent beside pages too, so they count only beside a refusal.
var refusalHeaders = [...]headerMark{
	{"X-Datadome", ""},
	{"X-Dd-B", ""},
	{"X-Kpsdk-Ct", ""},
	{"X-Sucuri-Block", ""},
	{"Server", "akamaighost"},
}

// refusalMarks are looked for in the body of a refusal, in lower case.
var refusalMarks = [...]string{
	"<title>just a moment...", "_cf_chl_opt", "attention required! | cloudflare", "cf-error-details",
	"captcha", "cf-turnstile", "anomaly-modal", "datadome",
	"perimeterx", "_pxappid", "access to this page has been denied",
	"errors.edgesuite.net", "akamai bot", "sec-if-cpt-container", "bm-verify", "reference&#32;&#35;",
	"_incapsula_resource", "incapsula incident", "pardon our interruption",
	"sucuri website firewall", "ddos-guard", "kpsdk", "anubis_challenge", "vercel security checkpoint",
	"unusual traffic", "you are human", "you are a human", "are you a robot", "not a robot", "not a bot",
	"checking your browser", "whoa there, pardner",
}

// challengePages are sets of marks that, together in the markup of an HTML page, leave no doubt. A page that
// writes about a challenge holds them escaped.
var challengePages = [...][]string{
	{"<title>just a moment...</title>", "_cf_chl_opt"},
	{`id="anubis_challenge"`},
	{`class="anomaly-modal`, "anomaly.js"},
	{"captcha-delivery.com", "var dd="},
	{`id="px-captcha"`},
	{`id="sec-if-cpt-container"`},
	{`id="main-iframe"`, "_incapsula_resource"},
	{"<title>vercel security checkpoint</title>"},
	{"<title>ddos-guard</title>"},
	{"gokuprops", "awswafcookiedomainlist"},
	{"/.well-known/sgcaptcha/", `http-equiv="refresh"`},
}

// isBotWall tells whether an error status comes from a wall against automated readers. The body is only asked
// for where it can decide.
func isBotWall(resp *http.Response, body func() []byte) bool {
	if hasHeader(resp.Header, mitigated[:]) {
		return true
	}
	switch resp.StatusCode {
	case http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable:
	default:
		return false
	}
	if hasHeader(resp.Header, refusalHeaders[:]) {
		return true
	}
	page := bytes.ToLower(body())
	for _, mark := range refusalMarks {
		if bytes.Contains(page, []byte(mark)) {
			return true
		}
	}
	return false
}

// isChallenge tells whether a page with a good status is certainly a challenge.
func isChallenge(resp *http.Response, body []byte) bool {
	if hasHeader(resp.Header, mitigated[:]) {
		return true
	}
	media, _, err := mime.ParseMediaType(last(resp.Header, "Content-Type"))
	if err == nil && media != "text/html" && media != "application/xhtml+xml" {
		return false
	}
	page := bytes.ToLower(body[:min(len(body), challengeScanBytes)])
	if resp.StatusCode == http.StatusAccepted && bytes.Contains(page, []byte("anomaly-modal")) {
		return true
	}
	for _, marks := range challengePages {
		found := 0
		for _, mark := range marks {
			if bytes.Contains(page, []byte(mark)) {
				found++
			}
		}
		if found == len(marks) {
			return true
		}
	}
	return false
}

func hasHeader(h http.Header, marks []headerMark) bool {
	for _, m := range marks {
		for _, v := range h[m.name] {
			if m.value == "" || strings.EqualFold(strings.TrimSpace(v), m.value) {
				return true
			}
		}
	}
	return false
}
