package action

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"web/browse"
	"web/browse/blocks"
	"web/browse/fault"
	"web/browse/fetch"
	"web/browse/guard"
	"web/browse/refs"
	"web/browse/snapshots"
	"web/settings/operator"
	"web/settings/strictjson"
)

// online is a world whose pages come over HTTP: the real client behind the real guard. Every name it knows has
// a public address, which leads to a server on loopback; what is looked up, dialled and requested is kept.
type online struct {
	*world
	client fetch.Client
	// lookup stands in for the resolver of the names in it.
	lookup map[string]func(context.Context) ([]netip.Addr, error)

	mu        sync.Mutex
	routes    map[string]http.HandlerFunc // by URL
	lookups   []string
	dialled   []string
	requests  []string // URLs
	received  *http.Request
	refusing  bool // connections, not requests
	plain     *httptest.Server
	encrypted *httptest.Server
}

const publicAddr = "93.184.215.14"

func newOnline(t *testing.T) *online {
	t.Helper()
	o := &online{world: newWorld(t), routes: map[string]http.HandlerFunc{}, lookup: map[string]func(context.Context) ([]netip.Addr, error){}}
	serve := func(scheme string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			url := scheme + "://" + r.Host + r.RequestURI
			if strings.HasPrefix(r.RequestURI, "http") { // as a proxy is asked
				url = r.RequestURI
			}
			o.mu.Lock()
			o.requests, o.received = append(o.requests, url), r
			route := o.routes[url]
			o.mu.Unlock()
			if route == nil {
				route = http.NotFound
			}
			route(w, r)
		})
	}
	o.plain, o.encrypted = httptest.NewServer(serve("http")), httptest.NewUnstartedServer(serve("https"))
	o.encrypted.Config.ErrorLog = log.New(io.Discard, "", 0)
	o.encrypted.StartTLS() // under the certificate of example.com and *.example.com
	t.Cleanup(o.plain.Close)
	t.Cleanup(o.encrypted.Close)
	roots := x509.NewCertPool()
	roots.AddCert(o.encrypted.Certificate())
	o.client = fetch.Client{Guard: &guard.Guard{Resolver: o, Dial: o.dial}, RootCAs: roots, Now: func() time.Time { return clock }}
	return o
}

// LookupNetIP implements guard.Resolver: names of pages are public, all others unknown.
func (o *online) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	o.mu.Lock()
	o.lookups = append(o.lookups, host)
	answer := o.lookup[host]
	known := slices.ContainsFunc(slices.Collect(maps.Keys(o.routes)), func(url string) bool {
		u, f := guard.ParseURL(url)
		return f == nil && u.Hostname() == host
	})
	o.mu.Unlock()
	switch {
	case answer != nil:
		return answer(ctx)
	case known:
		return []netip.Addr{netip.MustParseAddr(publicAddr)}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func (o *online) dial(ctx context.Context, to netip.AddrPort, last func(netip.AddrPort) error) (net.Conn, error) {
	o.mu.Lock()
	o.dialled = append(o.dialled, to.String())
	refusing := o.refusing
	o.mu.Unlock()
	if err := last(to); err != nil {
		return nil, err
	}
	if refusing {
		return nil, errors.New("connection refused")
	}
	server := o.plain
	if to.Port() == 443 {
		server = o.encrypted
	}
	return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
}

// resolve lets a name have these addresses.
func (o *online) resolve(host string, addrs ...string) {
	o.resolver(host, func(context.Context) ([]netip.Addr, error) {
		out := make([]netip.Addr, len(addrs))
		for i, a := range addrs {
			out[i] = netip.MustParseAddr(a)
		}
		return out, nil
	})
}

func (o *online) resolver(host string, answer func(context.Context) ([]netip.Addr, error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lookup[host] = answer
}

func (o *online) handle(url string, h http.HandlerFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.routes[url] = h
}

// page puts a page at a URL. Without a content type the header is sent empty.
func (o *online) page(url, contentType, body string) {
	o.handle(url, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{contentType}
		_, _ = io.WriteString(w, body)
	})
}

// redirect lets a URL redirect; an empty target is no Location at all.
func (o *online) redirect(url string, status int, target string) {
	o.handle(url, func(w http.ResponseWriter, _ *http.Request) {
		if target != "" {
			w.Header().Set("Location", target)
		}
		w.WriteHeader(status)
	})
}

// read browses a URL that is expected to be readable, by url or with more input.
func (o *online) read(url string, more ...string) answer {
	o.t.Helper()
	a := o.browse(strings.Join(append([]string{`"url":` + quote(url)}, more...), ","))
	if a["status"] != "ok" {
		o.t.Fatalf("failed: %s", o.shown)
	}
	return a
}

// html reads one HTML page.
func (o *online) html(body string, more ...string) answer {
	o.t.Helper()
	o.page("http://ex.org/docs/page.html", "text/html; charset=utf-8", body)
	return o.read("http://ex.org/docs/page.html", more...)
}

// browse makes one call and checks what holds for every answer to browse.
func (o *online) browse(input string) answer {
	o.t.Helper()
	r, done := o.runner()
	defer done()
	r.deps.Fetcher = func(operator.Operator) (browse.Fetcher, error) { return o.client, nil }
	state := r.Call(o.t.Context(), []byte(`{"action":"browse","input":{`+input+`},"reasoning":"test"}`))
	o.shown = Marshal(state)
	tree, err := strictjson.Parse(o.shown)
	must(o.t, err)
	a := answer(tree.(map[string]any))
	if bytes.Contains(o.shown, []byte(o.dir)) {
		o.t.Errorf("the working directory's path is in the answer: %s", o.shown)
	}
	if state.State() == OK {
		o.checkPage(a)
	} else {
		o.checkFailure(a)
	}
	return a
}

var (
	requestIDForm  = regexp.MustCompile(`^[0-9a-f]{32}$`)
	snapshotIDForm = regexp.MustCompile(`^snap_[0-9a-f]{12}_[0-9]{4,}$`)
)

// The fields of a page that was read (contract 4.12, 7.3; product 5).
var (
	pageFields = []string{
		"action", "byline", "canonical_url", "content_chars", "content_type", "current_setting", "delivery", "description", "final_url", "http_status",
		"language", "links", "published", "redirect_chain", "removed", "render_mode", "render_reason", "request_id", "requested_url", "retrieved_at",
		"site_name", "snapshot_id", "source_sha256", "status", "timings_ms", "title", "untrusted_content", "warnings",
	}
	inlineFields   = []string{"blocks", "next_cursor", "partial", "returned_chars"}
	artifactFields = []string{
		"artifact", "artifact_lifetime", "artifact_state", "content_kind", "content_scope", "content_sha256", "created_at", "encoding", "file_path",
		"format", "instruction", "max_chars", "output_setting_hash", "output_setting_revision", "output_setting_source",
	}
)

func (o *online) checkPage(a answer) {
	o.t.Helper()
	a.want(o.t, expect{
		"status": "ok", "action": "browse", "render_mode": "static", "render_reason": "static_http_get", "untrusted_content": true,
		"retrieved_at": "2026-03-04T05:06:07+00:00", "error_code": gone{}, "stage": gone{},
	})
	if !requestIDForm.MatchString(fmt.Sprint(a["request_id"])) || !snapshotIDForm.MatchString(fmt.Sprint(a["snapshot_id"])) {
		o.t.Errorf("request_id %v, snapshot_id %v", a["request_id"], a["snapshot_id"])
	}
	fields := slices.Concat(pageFields, inlineFields)
	optional := []string{}
	if a["delivery"] == "artifact" {
		fields, optional = slices.Concat(pageFields, artifactFields), []string{"outline", "delivery_decision_chars", "delivery_decision_basis"}
		file := o.artifact(a)
		sum := sha256.Sum256(file)
		a.want(o.t, expect{"content_chars": utf8.RuneCount(file), "content_sha256": hex.EncodeToString(sum[:])})
	}
	got := slices.DeleteFunc(keys(map[string]any(a)), func(k string) bool { return slices.Contains(optional, k) })
	if diff := cmp.Diff(slices.Sorted(slices.Values(fields)), got); diff != "" {
		o.t.Errorf("fields (-want +got):\n%s", diff)
	}
	chars := 0
	for i, b := range items(a, "blocks") {
		text, _ := b["text"].(string)
		chars += utf8.RuneCountInString(text)
		if b["id"] != fmt.Sprintf("b%04d", i+1) || text == "" {
			o.t.Errorf("block %d is %v", i+1, b)
		}
	}
	if n, given := a.at("returned_chars").(int); given && n != chars {
		o.t.Errorf("returned_chars %d, want %d", n, chars)
	}
	sum := 0
	for _, l := range items(a, "links") {
		url := fmt.Sprint(l["url"])
		sum += utf8.RuneCountInString(url) + utf8.RuneCountInString(fmt.Sprint(l["text"]))
		if len(url) < maxLinkURLChars && l["ref"] != refs.Of(url) {
			o.t.Errorf("ref %v of %s, want %s", l["ref"], url, refs.Of(url))
		}
	}
	if sum > maxLinksChars {
		o.t.Errorf("the links have %d characters", sum)
	}
}

// checkFailure wants every failure typed and free of what was asked for.
func (o *online) checkFailure(a answer) {
	o.t.Helper()
	a.want(o.t, expect{
		"status": "failed", "action": "browse", "message": some, "recommended_action": some,
		"blocks": gone{}, "links": gone{}, "title": gone{}, "next_cursor": gone{}, "delivery": gone{}, "file_path": gone{}, "warnings": gone{},
	})
	for _, field := range []string{"message", "recommended_action"} {
		words := strings.ReplaceAll(fmt.Sprint(a[field]), "http:// or https://", "a web address")
		for _, leak := range []string{"://", "ex.org", "example", "127.0", "169.254", "/a", "secret", "dial", "lookup"} {
			if strings.Contains(words, leak) {
				o.t.Errorf("%s holds %q: %v", field, leak, a[field])
			}
		}
	}
}

// fails browses and wants one typed failure.
func (o *online) fails(input string, code Code, stage fault.Stage, retryable bool, more ...expect) {
	o.t.Helper()
	a := o.browse(input)
	want := expect{
		"error_code": string(code), "stage": string(stage), "retryable": retryable, "request_id": some, "partial": false, "current_setting.source": "not_applicable",
	}
	for _, m := range more {
		maps.Copy(want, m)
	}
	a.want(o.t, want)
}

// refuses wants a URL refused by the address policy.
func (o *online) refuses(url string, code Code) {
	o.t.Helper()
	o.fails(`"url":`+quote(url), code, fault.StagePolicy, false)
}

// untouched checks that nothing was looked up, dialled or requested since forget.
func (o *online) untouched() {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lookups != nil || o.dialled != nil || o.requests != nil {
		o.t.Errorf("looked up %q, dialled %q, requested %q; want nothing", o.lookups, o.dialled, o.requests)
	}
}

// unreached is untouched, but names may have been looked up; they are forgotten.
func (o *online) unreached() {
	o.t.Helper()
	o.mu.Lock()
	o.lookups = nil
	o.mu.Unlock()
	o.untouched()
}

func (o *online) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lookups, o.dialled, o.requests = nil, nil, nil
}

// requested compares the URLs of all requests since forget.
func (o *online) requested(want ...string) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if diff := cmp.Diff(want, o.requests); diff != "" {
		o.t.Errorf("requested (-want +got):\n%s", diff)
	}
}

// items gives a list of objects.
func items(a answer, field string) []map[string]any {
	list, _ := a[field].([]any)
	out := make([]map[string]any, len(list))
	for i, v := range list {
		out[i], _ = v.(map[string]any)
	}
	return out
}

// shape is the blocks of a page, one line each: kind, what qualifies it, text.
func shape(a answer) []string {
	out := []string{}
	for _, b := range items(a, "blocks") {
		s := fmt.Sprint(b["kind"])
		for _, field := range []string{"level", "depth", "language"} {
			if v, ok := b[field]; ok {
				s += fmt.Sprintf(" %v", v)
			}
		}
		out = append(out, s+": "+fmt.Sprint(b["text"]))
	}
	return out
}

func (o *online) shape(a answer, want ...string) {
	o.t.Helper()
	if diff := cmp.Diff(want, shape(a)); diff != "" {
		o.t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func words(a answer) string {
	var out []string
	for _, b := range items(a, "blocks") {
		out = append(out, fmt.Sprint(b["text"]))
	}
	return strings.Join(out, "\n")
}

func warnings(a answer) []any {
	list, _ := a["warnings"].([]any)
	return list
}

func (o *online) warns(a answer, want ...any) {
	o.t.Helper()
	if want == nil {
		want = []any{}
	}
	if diff := cmp.Diff(want, warnings(a)); diff != "" {
		o.t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

// prose is the n-th of a row of paragraphs that any judgement takes for content.
func prose(n int) string {
	return fmt.Sprintf("In the %dth year of the survey the keepers of the lighthouse wrote down every ship that passed, the weather of the day, "+
		"and what the crew had for supper; their books are still the best record of that coast, and number %d is the one that most visitors ask for.", n, n)
}

// pageRow is one acceptance case, by its number.
type pageRow struct {
	n    int
	name string
	run  func(t *testing.T, o *online)
}

var pageSections = []struct {
	name string
	rows []pageRow
}{
	{"9.7 page, provenance, state", provenanceRows},
	{"9.8 policy and transport", transportRows},
	{"9.9 extraction", extractionRows},
}

func TestAcceptanceBrowse(t *testing.T) {
	for _, s := range pageSections {
		t.Run(s.name, func(t *testing.T) {
			for _, r := range s.rows {
				t.Run(fmt.Sprintf("%d %s", r.n, r.name), func(t *testing.T) { r.run(t, newOnline(t)) })
			}
		})
	}
}

// TestEveryBrowseCaseHasItsPlace: each number of sections 9.7 to 9.9 once, in order, and none besides.
func TestEveryBrowseCaseHasItsPlace(t *testing.T) {
	var got, want []int
	for _, s := range pageSections {
		for _, r := range s.rows {
			got = append(got, r.n)
		}
	}
	for n := 90; n <= 132; n++ {
		want = append(want, n)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const (
	exA = "http://ex.org/a"
	exN = "http://ex.org/n"
)

var provenanceRows = []pageRow{
	{90, "a page", func(t *testing.T, o *online) {
		const body = `<title>T</title><h1>H</h1><p>P <a href=/n>next</a></p>`
		o.page(exA, "text/html; charset=utf-8", body)
		a := o.read(exA)
		sum := sha256.Sum256([]byte(body))
		a.want(t, expect{
			"title": "T", "source_sha256": hex.EncodeToString(sum[:]), "requested_url": exA, "final_url": exA, "http_status": 200, "content_type": "text/html",
			"redirect_chain": []any{}, "next_cursor": nil, "partial": false, "delivery": "inline", "warnings": []any{},
			"timings_ms":  map[string]any{"fetch": json.Number("0"), "extract": json.Number("0"), "total": json.Number("0")},
			"snapshot_id": "snap_" + hex.EncodeToString(sum[:])[:12] + "_0001",
			"byline":      nil, "published": nil, "site_name": nil, "language": nil, "description": nil, "canonical_url": nil,
		})
		o.shape(a, "heading 1: H", "paragraph: P next")
		o.requested(exA)
	}},
	{91, "the ref of a link, followed", func(t *testing.T, o *online) {
		o.page(exA, "text/html", `<p>P <a href="n#part">next</a></p>`)
		o.page(exN, "text/plain", "the next page")
		ref := fmt.Sprint(o.read(exA).at("links.0.ref"))
		o.browse(`"link_ref":`+quote(ref)).want(t, expect{"requested_url": exN, "blocks.0.text": "the next page"})
		o.requested(exA, exN)
	}},
	{92, "one spelling for a URL", func(t *testing.T, o *online) {
		for given, want := range map[string]string{
			"HTTPS://EXAMPLE.com/a#x": "https://example.com/a", "https://example.com.": "https://example.com/", "https://example.com?": "https://example.com/",
			"https://example.com/A?Q#": "https://example.com/A?Q", "http://ex.org:8080/a": "http://ex.org:8080/a", "http://ex.org/%7Ea/../b": "http://ex.org/%7Ea/../b",
			"http://ex.org/é?ü": "http://ex.org/%C3%A9?%C3%BC", "http://BÜCHER.example/": "http://xn--bcher-kva.example/",
		} {
			o.forget()
			o.page(want, "text/plain", "text")
			o.read(given).want(t, expect{"requested_url": want, "final_url": want})
			o.requested(want)
		}
		// An explicit default port stays in the URL and goes from the Host header (contract 4.6).
		o.page("https://example.com/b", "text/plain", "text")
		o.read("https://example.com:443/b").want(t, expect{"requested_url": "https://example.com:443/b"})
	}},
	// Product 5: the cursor is the snapshot_id, and needs no target beside it.
	{93, "cursor", func(t *testing.T, o *online) {
		o.redirect(exA, 302, "/n")
		o.page(exN, "text/html; charset=iso-8859-1", "<title>T</title><h1>caf\xe9</h1><p>P <a href=/x>next</a></p>")
		first := o.read(exA)
		o.forget()
		for _, target := range []string{`"url":` + quote(exA), `"url":"HTTP://EX.org/a#x"`, `"url":` + quote(exN), `"url":null,"link_ref":null`} {
			again := o.browse(`"cursor":` + quote(fmt.Sprint(first["snapshot_id"])) + `,` + target)
			again.want(t, expect{"timings_ms": map[string]any{}, "redirect_chain": []any{exA}, "requested_url": exA, "final_url": exN})
			for _, field := range []string{"request_id", "timings_ms"} {
				delete(again, field)
			}
			want := maps.Clone(first)
			delete(want, "request_id")
			delete(want, "timings_ms")
			if diff := cmp.Diff(want, again); diff != "" {
				t.Errorf("%s (-first +again):\n%s", target, diff)
			}
		}
		o.untouched()
	}},
	{94, "a cursor of another form", func(t *testing.T, o *online) {
		o.page(exA, "text/plain", "text")
		id := fmt.Sprint(o.read(exA)["snapshot_id"])
		o.forget()
		for _, cursor := range []string{
			`"broken"`, `""`, `5`, `true`, `[]`, `{}`, quote(strings.Repeat("a", 5000)), `"eyJhIjoxfQ.c2lnbmF0dXJl"`, quote(id + " "), quote(" " + id), quote(strings.ToUpper(id)),
			quote(id[:len(id)-1]), quote(id + "/.."), `"snap_../../../x_0001"`, quote(strings.Replace(id, "_0001", "_00001", 1)), quote(strings.Replace(id, "_0001", "_+001", 1)),
			quote(id + "\n"), quote(id + "\x00"),
		} {
			for _, target := range []string{``, `,"url":` + quote(exA)} {
				o.fails(`"cursor":`+cursor+target, fault.CursorMalformed, fault.StageCursor, false, expect{"snapshot_id": gone{}})
			}
		}
		o.untouched()
	}},
	// Product 5: a snapshot_id carries no tag. One that was never issued is not held; CURSOR_INVALID is not built.
	{95, "a cursor that nobody issued", func(t *testing.T, o *online) {
		o.page(exA, "text/plain", "text")
		id := fmt.Sprint(o.read(exA)["snapshot_id"])
		o.forget()
		for _, cursor := range []string{strings.Replace(id, "_0001", "_0002", 1), "snap_0123456789ab_0001", "snap_0123456789ab_123456789012345"} {
			o.fails(`"cursor":`+quote(cursor)+`,"url":`+quote(exA), fault.CursorSnapshotNotFound, fault.StageCursor, false, expect{"snapshot_id": cursor})
		}
		o.untouched()
	}},
	{96, "a cursor with another page's URL", func(t *testing.T, o *online) {
		o.page(exA, "text/html", "<p>text <a href=/n>next</a></p>")
		first := o.read(exA)
		id := fmt.Sprint(first["snapshot_id"])
		o.forget()
		for _, target := range []string{
			`"url":` + quote(exN), `"url":"https://ex.org/a"`, `"url":"http://ex.org:80/a"`, `"url":"http://ex.org/a?"`, `"link_ref":` + quote(fmt.Sprint(first.at("links.0.ref"))),
		} {
			if strings.HasSuffix(target, `?"`) { // the same page: a bare question mark is dropped
				o.browse(`"cursor":`+quote(id)+`,`+target).want(t, expect{"status": "ok"})
				continue
			}
			o.fails(`"cursor":`+quote(id)+`,`+target, fault.CursorSnapshotMismatch, fault.StageCursor, false, expect{"snapshot_id": id})
		}
		o.untouched()
	}},
	{97, "a cursor that was evicted", func(t *testing.T, o *online) {
		var ids []string
		for i := range snapshots.MaxCount + 1 {
			o.page(exA, "text/plain", fmt.Sprintf("page %d", i))
			ids = append(ids, fmt.Sprint(o.read(exA)["snapshot_id"]))
		}
		o.forget()
		o.fails(`"cursor":`+quote(ids[0]), fault.CursorSnapshotNotFound, fault.StageCursor, false, expect{"snapshot_id": ids[0]})
		o.browse(`"cursor":`+quote(ids[1])).want(t, expect{"status": "ok", "blocks.0.text": "page 1"})
		o.browse(`"cursor":`+quote(ids[snapshots.MaxCount])).want(t, expect{"status": "ok", "blocks.0.text": fmt.Sprintf("page %d", snapshots.MaxCount)})
		o.untouched()
	}},
	// Product 5: a cursor has no index and no offset, so neither can be beyond the document, and it may be
	// combined with another extract and another max_chars.
	{98, "a cursor with another extract and max_chars", func(t *testing.T, o *online) {
		a := o.html("<title>T</title><nav><a href=/x>Menu entry</a></nav><main><h1>H</h1><p>" + prose(1) + "<p>" + prose(2) + "<p>" + prose(3) + "</main>")
		id := `"cursor":` + quote(fmt.Sprint(a["snapshot_id"]))
		o.forget()
		full := o.browse(id + `,"extract":"full"`)
		if strings.Contains(words(a), "Menu entry") || !strings.Contains(words(full), "Menu entry") {
			t.Errorf("article %q, full %q", words(a), words(full))
		}
		o.browse(id+`,"max_chars":10`).want(t, expect{"delivery": "artifact", "max_chars": 10, "output_setting_source": "call_override", "snapshot_id": a["snapshot_id"]})
		o.browse(id+`,"extract":"full","max_chars":100000`).want(t, expect{"delivery": "inline", "blocks.0.text": "Menu entry"})
		if diff := cmp.Diff(shape(a), shape(o.browse(id+`,"extract":"article"`))); diff != "" {
			t.Errorf("article again (-first +again):\n%s", diff)
		}
		o.untouched()
	}},
	// Product 5: a cursor may stand alone; case 93 reads one.
	{99, "targets", func(t *testing.T, o *online) {
		for _, input := range []string{
			``, `"url":null`, `"url":null,"link_ref":null,"cursor":null`, `"url":"http://ex.org/a","link_ref":"ln_fc60963ff0ac20db"`,
			`"url":"http://ex.org/a","link_ref":""`, `"url":5`, `"url":true`, `"url":["http://ex.org/a"]`, `"link_ref":5`, `"link_ref":{}`,
			`"url":"http://ex.org/a","link_ref":5`, `"url":5,"cursor":"snap_0123456789ab_0001"`,
			`"url":"http://ex.org/a","link_ref":"ln_fc60963ff0ac20db","cursor":"snap_0123456789ab_0001"`,
		} {
			o.fails(input, fault.InvalidTarget, fault.StagePolicy, false)
		}
		o.untouched()
	}},
	// Product 5: extract is also "full".
	{100, "extract", func(t *testing.T, o *online) {
		for _, v := range []string{`"markdown"`, `"Article"`, `"FULL"`, `""`, `"article "`, `5`, `true`, `[]`, `["article"]`, `{}`} {
			o.fails(`"url":"http://ex.org/a","extract":`+v, fault.InvalidExtract, fault.StagePolicy, false)
		}
		o.untouched()
		o.page(exA, "text/plain", "text")
		for _, v := range []string{`"article"`, `"full"`, `null`} {
			o.read(exA, `"extract":`+v).want(t, expect{"blocks.0.text": "text"})
		}
	}},
	// Contract Q21: what is no number is not echoed as one.
	{101, "max_chars", func(t *testing.T, o *online) {
		o.threshold(1234)
		for _, v := range []string{`true`, `false`, `0`, `-1`, `100001`, `"5"`, `5.0`, `5e0`, `0.5`, `[5]`, `99999999999999999999`} {
			o.fails(`"url":"http://ex.org/a","max_chars":`+v, fault.InvalidMaxChars, fault.StagePolicy, false, expect{
				"current_setting.output_max_chars": map[string]any{
					"value": nil, "source": "call_override", "settings_revision": "call_override", "settings_hash": nil,
				},
			})
		}
		o.untouched()
		o.page(exA, "text/plain", "t")
		o.read(exA, `"max_chars":1`).want(t, expect{"delivery": "artifact", "max_chars": 1})
		o.read(exA, `"max_chars":100000`).want(t, expect{"delivery": "inline", "current_setting.output_max_chars.value": 100000})
	}},
	// Product 3: the room is for 4,096 page refs and as many search refs.
	{102, "unknown and evicted refs", func(t *testing.T, o *online) {
		unknown := func(ref string) {
			t.Helper()
			o.fails(`"link_ref":`+quote(ref), fault.RefNotFound, fault.StageRef, false)
		}
		const never = "ln_0123456789abcdef"
		unknown(never)
		o.page(exA, "text/html", "<p>text <a href=/n>next</a></p>")
		ref := fmt.Sprint(o.read(exA).at("links.0.ref"))
		o.forget()
		for _, r := range []string{"", never, strings.ToUpper(ref), ref + " ", ref[:len(ref)-1], "../" + ref, exN} {
			unknown(r)
		}
		elsewhere := newOnline(t)
		elsewhere.fails(`"link_ref":`+quote(ref), fault.RefNotFound, fault.StageRef, false)
		o.visit(refs.Budget - 1)
		o.fails(`"link_ref":`+quote(ref)+`,"cursor":"snap_0123456789ab_0001"`, fault.CursorSnapshotNotFound, fault.StageCursor, false)
		o.visit(refs.Budget) // the look-up made it the most recent
		unknown(ref)
		o.untouched()
	}},
	{103, "evicted refs come back with a cursor", func(t *testing.T, o *online) {
		o.page(exA, "text/html", "<p>text <a href=/n>next</a></p>")
		o.page(exN, "text/plain", "the next page")
		first := o.read(exA)
		ref := `"link_ref":` + quote(fmt.Sprint(first.at("links.0.ref")))
		o.visit(refs.Budget)
		o.fails(ref, fault.RefNotFound, fault.StageRef, false)
		o.browse(`"cursor":`+quote(fmt.Sprint(first["snapshot_id"]))).want(t, expect{"links.0.ref": first.at("links.0.ref")})
		o.browse(ref).want(t, expect{"status": "ok", "requested_url": exN})
		o.requested(exA, exN)
	}},
	{104, "long links", func(t *testing.T, o *online) {
		var body strings.Builder
		target := func(i int) string { return fmt.Sprintf("http://ex.org/%02d%s", i, strings.Repeat("x", 3984)) }
		for i := range 32 {
			fmt.Fprintf(&body, `<p>%s <a href="%s">link %d</a></p>`, prose(i), target(i), i)
		}
		a := o.html(body.String())
		links := items(a, "links")
		if len(links) == 0 || len(links) >= 32 {
			t.Fatalf("%d links", len(links))
		}
		o.warns(a, blocks.WarnLinksTruncated)
		a.want(t, expect{"links.0.url": target(0)[:maxLinkURLChars], "links.0.text": "link 0"})
		o.page(target(0), "text/plain", "text")
		o.browse(`"link_ref":`+quote(fmt.Sprint(links[0]["ref"]))).want(t, expect{"status": "ok", "requested_url": target(0)})
	}},
	{105, "many links", func(t *testing.T, o *online) {
		page := func(n int) string {
			var body strings.Builder
			for i := range n {
				fmt.Fprintf(&body, `<p>%s <a href="/%d">link %d</a></p>`, prose(i), i, i)
			}
			return body.String()
		}
		for n, want := range map[int][]any{255: {}, 256: {}, 257: {blocks.WarnLinksTruncated}} {
			a := o.html(page(n))
			o.warns(a, want...)
			if got := len(items(a, "links")); got != min(n, maxLinks) {
				t.Errorf("%d of %d links", got, n)
			}
			a.want(t, expect{"links.0.url": "http://ex.org/0", "links.254.url": "http://ex.org/254", "links.256": gone{}})
		}
	}},
	// Product 5: the page is delivered from memory, so a snapshot that cannot be kept or has gone costs nothing
	// but the cursor. BROWSE_SNAPSHOT_UNAVAILABLE cannot happen.
	{106, "no snapshot", func(t *testing.T, o *online) {
		o.page(exA, "text/plain", "text")
		o.put(StateDir+"/snapshots", "a file in the place of the directory")
		a := o.read(exA)
		o.warns(a, browse.WarnSnapshotNotKept)
		a.want(t, expect{"blocks.0.text": "text"})
		o.fails(`"cursor":`+quote(fmt.Sprint(a["snapshot_id"])), fault.CursorSnapshotNotFound, fault.StageCursor, false)
		o.remove(StateDir)
		a = o.read(exA)
		o.warns(a)
		o.remove(filepath.Join(StateDir, "snapshots", fmt.Sprint(a["snapshot_id"])))
		o.fails(`"cursor":`+quote(fmt.Sprint(a["snapshot_id"])), fault.CursorSnapshotNotFound, fault.StageCursor, false)
	}},
}

// visit remembers n further page refs, as pages with that many links would.
func (o *online) visit(n int) {
	o.t.Helper()
	r, done := o.runner()
	defer done()
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("http://ex.org/visited/%d", i)
	}
	must(o.t, r.pageRefs().Add(o.t.Context(), list))
}

var transportRows = []pageRow{
	{107, "loopback", func(t *testing.T, o *online) {
		for _, url := range []string{"http://127.0.0.1/admin", "http://127.255.255.254/", "https://127.0.0.1:8443/", "http://[::1]/"} {
			o.refuses(url, fault.LoopbackBlocked)
		}
		o.untouched()
	}},
	{108, "user information", func(t *testing.T, o *online) {
		for _, url := range []string{"https://user:password@public.example/page", "https://user@public.example/", "https://@public.example/", "http://public.example:80@127.0.0.1/"} {
			o.refuses(url, fault.UserinfoForbidden)
		}
		o.untouched()
		o.page("http://ex.org/@a?b@c", "text/plain", "text")
		o.read("http://ex.org/@a?b@c")
	}},
	{109, "address classes", func(t *testing.T, o *online) {
		for addr, code := range map[string]Code{
			"169.254.169.254": fault.CloudMetadataBlocked, "169.254.1.1": fault.LinkLocalBlocked, "169.254.169.253": fault.LinkLocalBlocked,
			"10.1.1.1": fault.PrivateBlocked, "172.16.0.1": fault.PrivateBlocked, "172.31.255.255": fault.PrivateBlocked, "192.168.0.1": fault.PrivateBlocked,
			"100.64.0.1": fault.CGNATBlocked, "100.127.255.255": fault.CGNATBlocked, "0.0.0.0": fault.UnspecifiedBlocked, "224.0.0.1": fault.MulticastBlocked,
			"192.88.99.1": fault.SixToFourRelayBlocked, "240.0.0.1": fault.PrivateBlocked, "255.255.255.255": fault.PrivateBlocked, "0.1.2.3": fault.PrivateBlocked,
			"[fe80::1]": fault.LinkLocalBlocked, "[fc00::1]": fault.PrivateBlocked, "[ff02::1]": fault.MulticastBlocked, "[::]": fault.UnspecifiedBlocked,
		} {
			o.refuses("http://"+addr+"/", code)
		}
		o.untouched()
		for _, addr := range []string{"172.32.0.1", "100.128.0.1", "11.0.0.1", "223.255.255.254", "[2606:2800:220:1::1]"} { // the public neighbours
			o.page("http://"+addr+"/", "text/plain", "text")
			o.read("http://" + addr + "/")
		}
		if o.lookups != nil {
			t.Errorf("literals were looked up: %q", o.lookups)
		}
	}},
	// Product 5 adds *.local, *.internal, *.localhost and *.home.arpa.
	{110, "spellings of addresses and local names", func(t *testing.T, o *online) {
		for _, host := range []string{"2130706433", "123.456", "127.0.0.01", "0x7f.1", "0x7f000001", "127.1", "1.2.3.4.5", "１２７.1"} {
			o.refuses("http://"+host+"/", fault.MalformedURL)
		}
		for _, host := range []string{"localhost", "localhost.", "LOCALHOST", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "a.localhost", "127.0.0.1.", "①②⑦.0.0.1", "ｌocalhost"} {
			o.refuses("http://"+host+"/", fault.LoopbackBlocked)
		}
		for _, host := range []string{"printer.local", "db.internal", "router.home.arpa", "a.b.LOCAL."} {
			o.refuses("http://"+host+"/", fault.PrivateBlocked)
		}
		o.untouched()
	}},
	{111, "forms of URLs", func(t *testing.T, o *online) {
		for _, url := range []string{"ftp://h/", "file:///etc/passwd", "gopher://h/", "HTTPX://h/", "ws://h/"} {
			o.refuses(url, fault.SchemeNotAllowed)
		}
		for _, url := range []string{
			"mailto:a@b", "javascript:x", "//h/p", "", "http://a b/", "http://h:0/", "http://h:65536/", "http://h:/", "http://h:1:2/", "http://[::1/", "http://[::1]x/",
			"http:/x", "h/p", "http://ex.org/a\n", " http://ex.org/a", "http://ex.org/\u3000", "http://ex.org/" + strings.Repeat("a", 8192), "http://h:+1/",
		} {
			o.refuses(url, fault.MalformedURL)
		}
		for _, url := range []string{"http://", "http:///p", "http://..../", "https://?q"} {
			o.refuses(url, fault.NoHostname)
		}
		o.untouched()
		longest := "http://ex.org/" + strings.Repeat("a", 8192-len("http://ex.org/"))
		o.page(longest, "text/plain", "text")
		o.read(longest)
	}},
	{112, "a name with a public and a private address", func(t *testing.T, o *online) {
		for _, addrs := range [][]string{{publicAddr, "10.0.0.1"}, {"10.0.0.1", publicAddr}, {publicAddr, "2606:2800:220:1::1", "fd00::1"}} {
			o.resolve("mixed.example", addrs...)
			o.refuses("http://mixed.example/", fault.PrivateBlocked)
			o.unreached()
		}
		o.resolve("mixed.example", "169.254.169.254")
		o.refuses("http://mixed.example/", fault.CloudMetadataBlocked)
		o.unreached()
	}},
	{113, "redirect to loopback", func(t *testing.T, o *online) {
		o.redirect(exA, 302, "http://127.0.0.1/private")
		o.refuses(exA, fault.LoopbackBlocked)
		o.requested(exA)
		o.forget()
		o.resolve("inside.example", "10.0.0.1")
		o.redirect(exA, 301, "http://inside.example/private")
		o.refuses(exA, fault.PrivateBlocked)
		o.requested(exA)
	}},
	// Product 5: from https to http is refused.
	{114, "a safe redirect", func(t *testing.T, o *online) {
		o.redirect(exA, 302, "https://www.example.com/n#part")
		o.page("https://www.example.com/n", "text/html", "<p>moved <a href=x>here</a></p>")
		a := o.read(exA)
		a.want(t, expect{"requested_url": exA, "final_url": "https://www.example.com/n", "redirect_chain": []any{exA}, "blocks.0.text": "moved here"})
		a.want(t, expect{"links.0.url": "https://www.example.com/x"}) // links are seen from the final URL
		o.redirect("https://www.example.com/n", 302, "http://ex.org/plain")
		o.page("http://ex.org/plain", "text/plain", "text")
		o.forget()
		o.fails(`"url":"https://www.example.com/n"`, fault.DowngradeBlocked, fault.StagePolicy, false, expect{"http_status": 302})
		o.requested("https://www.example.com/n")
	}},
	{115, "many redirects", func(t *testing.T, o *online) {
		for i := range 5 {
			o.redirect(fmt.Sprintf("http://ex.org/%d", i), 302, fmt.Sprintf("/%d", i+1))
		}
		o.page("http://ex.org/5", "text/plain", "the end")
		a := o.read("http://ex.org/0")
		a.want(t, expect{"final_url": "http://ex.org/5", "blocks.0.text": "the end"})
		if chain, _ := a["redirect_chain"].([]any); len(chain) != 5 || chain[0] != "http://ex.org/0" || chain[4] != "http://ex.org/4" {
			t.Errorf("chain %v", chain)
		}
		o.forget()
		o.redirect(exA, 302, "/a")
		o.fails(`"url":`+quote(exA), fault.TooManyRedirects, fault.StagePolicy, false, expect{"http_status": 302})
		o.requested(slices.Repeat([]string{exA}, 6)...)
	}},
	{116, "bad redirects", func(t *testing.T, o *online) {
		for _, status := range []int{300, 301, 302, 303, 304, 305, 307, 308} {
			o.redirect(exA, status, "")
			o.fails(`"url":`+quote(exA), fault.MissingLocation, fault.StageHTTP, false, expect{"http_status": status})
		}
		for target, code := range map[string]Code{
			"ftp://ex.org/": fault.SchemeNotAllowed, "javascript:alert(1)": fault.SchemeNotAllowed, "file:///etc/passwd": fault.SchemeNotAllowed,
			"http://ex.org/" + strings.Repeat("a", 8192): fault.MalformedRedirect, "http://u@ex.org/": fault.UserinfoForbidden, "http://ex.org:0/": fault.MalformedURL,
		} {
			o.redirect(exA, 302, target)
			o.fails(`"url":`+quote(exA), code, fault.StagePolicy, false, expect{"http_status": 302})
		}
	}},
	{117, "statuses", func(t *testing.T, o *online) {
		for status, retryable := range map[int]bool{503: true, 500: true, 502: true, 429: true, 404: false, 400: false, 401: false, 403: false, 410: false, 451: false, 999: true} {
			o.handle(exA, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "plain words", status) })
			a := o.browse(`"url":` + quote(exA))
			a.want(t, expect{"error_code": string(fault.HTTPStatus), "stage": "http", "retryable": retryable, "http_status": status})
			if !strings.Contains(fmt.Sprint(a["message"]), fmt.Sprint(status)) {
				t.Errorf("message %q", a["message"])
			}
		}
		o.handle(exA, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(503)
		})
		o.browse(`"url":`+quote(exA)).want(t, expect{"retryable": true, "retry_after_ms": 7000})
		for _, status := range []int{200, 201, 203, 299} {
			o.handle(exA, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); _, _ = io.WriteString(w, "words") })
			o.read(exA).want(t, expect{"http_status": status})
		}
	}},
	// Product 5: JSON, XML, feeds, CSV and Markdown are text; what is not is refused by its name.
	{118, "content types", func(t *testing.T, o *online) {
		for _, c := range []struct{ contentType, body, name string }{
			{"application/pdf", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF document"}, {"application/pdf", "plain words", "PDF document"},
			{"application/octet-stream", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF document"}, {"text/html", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF document"},
			{"image/png", "\x89PNG\r\n\x1a\n\x00\x00", "PNG image"}, {"", "\x89PNG\r\n\x1a\n\x00\x00", "PNG image"}, {"application/zip", "PK\x03\x04", "ZIP archive"},
			{"application/octet-stream", "\x00\x01\x02\x03", "binary file"},
		} {
			o.page(exA, c.contentType, c.body)
			a := o.browse(`"url":` + quote(exA))
			a.want(t, expect{"error_code": string(fault.ContentTypeUnsupported), "stage": "extract", "retryable": false, "http_status": 200, "snapshot_id": gone{}})
			if !strings.Contains(fmt.Sprint(a["message"]), c.name) {
				t.Errorf("%s: message %q does not name a %s", c.contentType, a["message"], c.name)
			}
		}
		for _, c := range []struct{ contentType, body, want string }{
			{"application/json", `{"a":1}`, "code json: {\n  \"a\": 1\n}"}, {"application/xml", "<a><b>words</b></a>", "words"},
			{"text/csv", "name,age\nAda,36\n", "| Ada | 36 |"}, {"text/markdown", "# H\n\nwords", "heading 1: H"},
			{"application/rss+xml", "<rss><channel><title>F</title><item><title>Entry</title><link>http://ex.org/e</link></item></channel></rss>", "heading 2: Entry"},
		} {
			o.page(exA, c.contentType, c.body)
			a := o.read(exA)
			a.want(t, expect{"content_type": c.contentType})
			if got := strings.Join(shape(a), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("%s: %q", c.contentType, got)
			}
		}
		// A missing type is sniffed, and what was found is said.
		for body, want := range map[string]string{"<!doctype html><p>x": "text/html", `{"a":1}`: "application/json", "words": "text/plain"} {
			o.page(exA, "", body)
			o.read(exA).want(t, expect{"content_type": want})
		}
	}},
	// Product 5: 10 MiB, of wire and of decoded bytes each.
	{119, "the limit of the body", func(t *testing.T, o *online) {
		paragraph := strings.Repeat("word ", 1<<10)[:1<<10-2] + "\n\n"
		whole := strings.Repeat(paragraph, 10<<10)
		o.page(exA, "text/plain", whole)
		if int64(len(whole)) != fetch.DefaultBodyBytes {
			t.Fatalf("%d bytes", len(whole))
		}
		o.read(exA).want(t, expect{"delivery": "artifact"})
		tooLarge := func() {
			t.Helper()
			o.fails(`"url":`+quote(exA), fault.BodyTooLarge, fault.StageFetch, false, expect{"http_status": 200, "snapshot_id": gone{}})
		}
		o.page(exA, "text/plain", whole+"x")
		tooLarge()
		o.client.BodyBytes = 100
		o.page(exA, "application/pdf", strings.Repeat("x", 101)) // judged before the type
		tooLarge()
		o.handle(exA, func(w http.ResponseWriter, _ *http.Request) { // no length stated, and no end
			for err := error(nil); err == nil; {
				_, err = io.WriteString(w, paragraph)
			}
		})
		tooLarge()
		o.handle(exA, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, gzipped(strings.Repeat("x", 101)))
		})
		tooLarge()
	}},
	{120, "no such name", func(t *testing.T, o *online) {
		a := o.browse(`"url":"http://unknown.example/"`)
		a.want(t, expect{"error_code": string(fault.DNSFailed), "stage": "dns", "retryable": true, "http_status": gone{}})
		if strings.Contains(strings.ToLower(fmt.Sprint(a["recommended_action"])), "safe") {
			t.Errorf("advice %q", a["recommended_action"])
		}
		o.resolver("unknown.example", func(context.Context) ([]netip.Addr, error) { return nil, nil })
		o.fails(`"url":"http://unknown.example/"`, fault.DNSFailed, fault.StageDNS, true)
		o.unreached()
	}},
	// Contract Q11: look-ups are independent, so a stuck one does not keep others from working.
	{121, "a stuck resolver", func(t *testing.T, o *online) {
		stuck := make(chan struct{})
		o.resolver("stuck.example", func(context.Context) ([]netip.Addr, error) { // deaf to its context
			<-stuck
			return nil, errors.New("too late")
		})
		o.page(exA, "text/plain", "text")
		whole := o.client.Timeout
		for range 2 {
			o.client.Timeout = 50 * time.Millisecond
			o.fails(`"url":"http://stuck.example/"`, fault.DNSTimeout, fault.StageDNS, true)
			o.client.Timeout = whole
			o.unreached()
			o.read(exA)
			o.forget()
		}
		close(stuck)
		o.resolve("stuck.example", publicAddr)
		o.page("http://stuck.example/", "text/plain", "text")
		o.read("http://stuck.example/")
	}},
	// Product 5: compression is asked for.
	{122, "what is sent, and where to", func(t *testing.T, o *online) {
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"} {
			t.Setenv(name, "http://127.0.0.1:1")
		}
		o.resolve("ex.org", "93.184.215.99")
		o.resolve("www.example.com", "93.184.215.98")
		for _, c := range []struct{ url, host, dialled, serverName string }{
			{"http://ex.org/a?b=c", "ex.org", "93.184.215.99:80", ""}, {"http://ex.org:8080/a", "ex.org:8080", "93.184.215.99:8080", ""},
			{"http://EX.org:443/a", "ex.org:443", "", ""}, // plain HTTP to the server for TLS: dialled all the same
			{"https://www.example.com/a", "www.example.com", "93.184.215.98:443", "www.example.com"},
		} {
			o.forget()
			o.page(c.url, "text/plain", "text")
			if c.dialled == "" {
				o.browse(`"url":` + quote(c.url))
				if !slices.Equal(o.dialled, []string{"93.184.215.99:443"}) {
					t.Errorf("dialled %q", o.dialled)
				}
				continue
			}
			o.read(c.url)
			o.requested(c.url)
			got := o.received
			if !slices.Equal(o.dialled, []string{c.dialled}) || got.Host != c.host || got.Method != "GET" {
				t.Errorf("dialled %q, %s to host %q", o.dialled, got.Method, got.Host)
			}
			if c.serverName != "" && (got.TLS == nil || got.TLS.ServerName != c.serverName) {
				t.Errorf("TLS state %v", got.TLS)
			}
			if accept := got.Header.Get("Accept"); !strings.HasPrefix(accept, "text/markdown") || got.Header.Get("Accept-Encoding") != "gzip, deflate, br, zstd" {
				t.Errorf("Accept %q, Accept-Encoding %q", accept, got.Header.Get("Accept-Encoding"))
			}
			for _, name := range []string{"Cookie", "Authorization", "Referer", "Proxy-Authorization"} {
				if got.Header.Get(name) != "" {
					t.Errorf("%s is sent", name)
				}
			}
		}
	}},
	{123, "time-out and refusal of a connection", func(t *testing.T, o *online) {
		over := make(chan struct{})
		t.Cleanup(func() { close(over) }) // before the server's own Close waits for it
		hang := func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-over:
			}
		}
		o.client.Timeout = 250 * time.Millisecond
		o.handle(exA, hang)
		o.fails(`"url":`+quote(exA), fault.ReadTimeout, fault.StageConnect, true)
		o.handle(exA, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "the beginning")
			w.(http.Flusher).Flush()
			hang(w, r)
		})
		o.fails(`"url":`+quote(exA), fault.ReadTimeout, fault.StageConnect, true)
		o.client.Timeout = 0
		o.handle(exA, func(w http.ResponseWriter, r *http.Request) { // cut short
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "the beginning")
		})
		o.fails(`"url":`+quote(exA), fault.TransportFailed, fault.StageConnect, true)
		o.refusing = true
		o.fails(`"url":`+quote(exA), fault.TransportFailed, fault.StageConnect, true)
	}},
}

var extractionRows = []pageRow{
	// Product 5: also tables and quotes; headings carry a level, lists their depth, code its language.
	{124, "nested containers", func(t *testing.T, o *online) {
		a := o.html(`<title>T</title><nav><a href=/>Menu</a></nav><script>var hidden = 1</script><style>p{color:red}</style><main><div>first <section>second <b>bold</b>
			<article><h2>third</h2><p>fourth</p></article></section> fifth</div><ul><li>sixth<ul><li>seventh</li></ul></li></ul><pre><code class="language-go">eighth
	ninth</code></pre><blockquote>tenth</blockquote><table><tr><th>k</th><th>v</th></tr><tr><td>eleventh</td><td>twelfth</td></tr></table></main><footer>Imprint</footer>`)
		o.shape(a, "paragraph: first", "paragraph: second bold", "heading 2: third", "paragraph: fourth", "paragraph: fifth", "list_item 1: sixth",
			"list_item 2: seventh", "code go: eighth\n\tninth", "quote 1: tenth", "table: | k | v |\n| --- | --- |\n| eleventh | twelfth |")
	}},
	// Product 5: a quote is a kind of its own.
	{125, "text around a child", func(t *testing.T, o *online) {
		o.shape(o.html(`<blockquote>before<p>child</p>after</blockquote>`), "quote 1: before", "quote 1: child", "quote 1: after")
		o.shape(o.html(`<h2>before<div>child</div>after</h2>`), "heading 2: before", "paragraph: child", "heading 2: after")
	}},
	{126, "title", func(t *testing.T, o *online) {
		o.html(`<head><script>"<title>wrong</title>"</script><title> the  right
			one </title></head><p>text</p>`).want(t, expect{"title": "the right one"})
		o.html(`<head><script>"<title>wrong</title>"</script></head><p>text</p>`).want(t, expect{"title": ""})
		o.html(`<p>text</p><svg><title>of a drawing</title></svg>`).want(t, expect{"title": ""})
		o.html(`<title>`+strings.Repeat("é", 600)+`</title><p>text</p>`).want(t, expect{"title": strings.Repeat("é", 512)})
	}},
	{127, "invalid bytes in a declared charset", func(t *testing.T, o *online) {
		o.page(exA, "text/plain; charset=shift_jis", "\x82\xa0\x82")
		a := o.read(exA)
		o.shape(a, "paragraph: あ\ufffd")
		o.warns(a, "CHARSET_DECODE_ERROR_REPLACED")
	}},
	// Product 5: with an unknown label the bytes themselves are asked, and UTF-8 is the last resort.
	{128, "unknown charset", func(t *testing.T, o *online) {
		for _, label := range []string{"base64_codec", "not-a-real-codec", "rot13", "utf-99"} {
			o.page(exA, "text/plain; charset="+label, "caf\xc3\xa9 \xff.")
			a := o.read(exA)
			o.shape(a, "paragraph: café \ufffd.")
			o.warns(a, "UNSUPPORTED_CHARSET_FALLBACK")
		}
		for _, label := range []string{"iso-8859-1", "ISO-8859-1", "latin1", `"windows-1252"`} {
			o.page(exA, "text/html; charset="+label, "<p>caf\xe9</p>")
			a := o.read(exA)
			o.shape(a, "paragraph: café")
			o.warns(a)
		}
	}},
	{129, "malformed charset", func(t *testing.T, o *online) {
		for _, contentType := range []string{
			`text/plain; charset="bad name"`, `text/plain; charset=`, `text/plain;charset=utf-8;charset=utf-8`, `text/plain; charset="utf-8`,
			`text/plain; x=` + strings.Repeat("y", 600), `TEXT/Plain ; charset=-x`,
		} {
			o.page(exA, contentType, "café")
			a := o.read(exA)
			a.want(t, expect{"content_type": "text/plain"})
			o.shape(a, "paragraph: café")
			o.warns(a, "MALFORMED_CHARSET_FALLBACK")
		}
	}},
	// Product 5: what says that it is compressed is decompressed.
	{130, "gzip bytes", func(t *testing.T, o *online) {
		var body strings.Builder
		for i := range 400 {
			fmt.Fprintf(&body, "<p>%x</p>", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
		}
		packed := gzipped(body.String())
		// In some sets every byte has a meaning, so the same bytes raise no warning there.
		for _, label := range []string{"utf-8", "iso-8859-1", "windows-1252", "koi8-r"} {
			o.page(exA, "text/html; charset="+label, packed)
			a := o.browse(`"url":` + quote(exA))
			a.want(t, expect{"error_code": string(fault.NoTextBlocks), "stage": "extract", "http_status": 200, "retryable": false, "partial": false})
			if !strings.Contains(fmt.Sprint(a["message"]), "not decodable text") || !strings.Contains(fmt.Sprint(a["recommended_action"]), "legacy extraction fallback") {
				t.Errorf("%s: message %q, advice %q", label, a["message"], a["recommended_action"])
			}
		}
		o.handle(exA, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, packed)
		})
		a := o.read(exA, `"extract":"full"`)
		sum := sha256.Sum256([]byte(packed)) // of the body as it was received
		a.want(t, expect{"source_sha256": hex.EncodeToString(sum[:]), "blocks.399.kind": "paragraph", "warnings": []any{}})
	}},
	{131, "nothing but a menu", func(t *testing.T, o *online) {
		for _, body := range []string{`<nav><a href=/a>A</a> <a href=/b>B</a></nav>`, ``, `<title>T</title>`, `<p> &nbsp; </p>`, `<!-- words -->`, `<img src=x>`} {
			o.page(exA, "text/html", body)
			a := o.browse(`"url":` + quote(exA))
			a.want(t, expect{"error_code": string(fault.NoTextBlocks), "stage": "extract", "http_status": 200, "retryable": false})
			if strings.Contains(fmt.Sprint(a["message"]), "decodable") || strings.Contains(fmt.Sprint(a["recommended_action"]), "legacy") {
				t.Errorf("message %q, advice %q", a["message"], a["recommended_action"])
			}
		}
		for _, contentType := range []string{"text/plain", "text/markdown"} {
			o.page(exA, contentType, " \n\t\n")
			o.fails(`"url":`+quote(exA), fault.NoTextBlocks, fault.StageExtract, false)
		}
	}},
	{132, "text that only looks odd", func(t *testing.T, o *online) {
		want := strings.Repeat("漢😀", 400)
		o.page(exA, "text/plain; charset=utf-8", want)
		a := o.read(exA)
		o.shape(a, "paragraph: "+want)
		o.warns(a)
		o.page(exA, "text/plain; charset=utf-8", strings.Repeat("café ", 200)+"\xff\xfe")
		a = o.read(exA)
		o.shape(a, "paragraph: "+strings.Repeat("café ", 200)+"\ufffd\ufffd")
		o.warns(a, "CHARSET_DECODE_ERROR_REPLACED")
	}},
}
