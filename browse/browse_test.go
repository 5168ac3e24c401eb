package browse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"web/browse/blocks"
	"web/browse/fault"
	"web/browse/fetch"
	"web/browse/guard"
	"web/browse/snapshots"
	"web/spill/confined"
)

var clock = time.Date(2026, 3, 4, 5, 6, 7, 890123000, time.FixedZone("", 3600))

// site is a Fetcher of one page.
type site struct {
	response *fetch.Response
	fault    *fault.Error
	// then runs when the page has been fetched.
	then  func()
	asked int
}

func (s *site) Get(context.Context, guard.URL) (*fetch.Response, *fault.Error) {
	s.asked++
	if s.then != nil {
		s.then()
	}
	return s.response, s.fault
}

func page(t testing.TB, contentType, body string) *fetch.Response {
	sum := sha256.Sum256([]byte(body))
	return &fetch.Response{
		Requested: url(t, "http://ex.org/start"), Final: url(t, "http://ex.org/docs/page"), RedirectChain: []string{"http://ex.org/start"}, Status: 203,
		ContentType: contentType, Body: []byte(body), SourceSHA256: hex.EncodeToString(sum[:]), Warnings: []string{"PROXY_UNPINNED"}, FetchMS: 5,
	}
}

func url(t testing.TB, s string) guard.URL {
	t.Helper()
	u, f := guard.ParseURL(s)
	if f != nil {
		t.Fatal(f)
	}
	return u
}

// reader reads s and keeps snapshots in a directory of its own.
func reader(t *testing.T, s *site) Reader {
	dir := t.TempDir()
	now := func() time.Time { return clock }
	return Reader{Fetch: s, Snapshots: snapshots.Store{Open: func(bool) (*os.Root, error) { return os.OpenRoot(dir) }, Now: now}, Now: now}
}

func TestOpen(t *testing.T) {
	res := page(t, `Text/HTML; Charset="ISO-8859-1"`, "<title>T</title><p>caf\xe9 <a href=x>l</a></p>")
	r := reader(t, &site{response: res})
	p, f := r.Open(t.Context(), res.Requested, Article)
	if f != nil {
		t.Fatal(f)
	}
	want := &Page{
		Page: snapshots.Page{
			SourceSHA256: res.SourceSHA256, RequestedURL: "http://ex.org/start", FinalURL: "http://ex.org/docs/page", RedirectChain: []string{"http://ex.org/start"},
			HTTPStatus: 203, ContentType: res.ContentType, RetrievedAt: "2026-03-04T04:06:07+00:00", Warnings: []string{"PROXY_UNPINNED"}, Body: res.Body,
		},
		SnapshotID: snapshots.ID(res.SourceSHA256, 1), MediaType: "text/html", Warnings: []string{"PROXY_UNPINNED"}, Fetched: true, FetchMS: 5,
		Document: &blocks.Document{
			Title: "T", Blocks: []blocks.Block{{Kind: blocks.Paragraph, Text: "café l", Markdown: "café [l](http://ex.org/docs/x)"}},
			Links: []blocks.Link{{Text: "l", URL: "http://ex.org/docs/x"}},
		},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	again, f := r.Reopen(t.Context(), p.SnapshotID, guard.URL{}, Article)
	if f != nil {
		t.Fatal(f)
	}
	want.Fetched, want.FetchMS = false, 0
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("again (-want +got):\n%s", diff)
	}
}

// noise is what a compressed or encrypted body looks like: the same each time, no text in any encoding.
func noise(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// printable is noise without the bytes by which a sniffer would know it.
func printable(noise string) string {
	var b strings.Builder
	for _, c := range []byte(noise) {
		if c >= ' ' && c != 0x7F {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func TestOpenFails(t *testing.T) {
	broken := errors.New("cause")
	for name, c := range map[string]struct {
		site *site
		code fault.Code
	}{ // nothing of it is kept
		"fetch":           {&site{fault: fault.New(fault.ReadTimeout, "m", "a").WithCause(broken)}, fault.ReadTimeout},
		"type":            {&site{response: page(t, "application/pdf", "%PDF-1.7")}, fault.ContentTypeUnsupported},
		"empty":           {&site{response: page(t, "text/html", "")}, fault.NoTextBlocks},
		"shell":           {&site{response: page(t, "text/html", "<div id=root></div><script src=a.js></script>")}, fault.NeedsJavaScript},
		"noise":           {&site{response: page(t, "text/html; charset=utf-8", noise(4000))}, fault.NoTextBlocks},
		"noise as UTF-16": {&site{response: page(t, "text/plain; charset=utf-16le", noise(4000))}, fault.NoTextBlocks},
		"noise as GBK":    {&site{response: page(t, "text/html", printable(noise(6000)))}, fault.NoTextBlocks},
	} {
		t.Run(name, func(t *testing.T) {
			r := reader(t, c.site)
			p, f := r.Open(t.Context(), url(t, "http://ex.org/"), Article)
			if f == nil || f.Code != c.code || p != nil {
				t.Fatalf("%+v, %v; want %s", p, f, c.code)
			}
			if strings.HasPrefix(name, "noise") && !strings.Contains(f.Message, "not decodable text") {
				t.Errorf("%q", f.Message)
			}
			if c.site.response != nil && f.HTTPStatus != 203 {
				t.Errorf("status %d", f.HTTPStatus)
			}
			if c.site.response != nil {
				if _, err := r.Snapshots.Get(t.Context(), snapshots.ID(c.site.response.SourceSHA256, 1)); !errors.Is(err, snapshots.ErrNotFound) {
					t.Errorf("a failed page was kept: %v", err)
				}
			}
		})
	}
}

// TestOpenKeepsTheSnapshot although the call ended just after the page came, and though the store was busy.
func TestOpenKeepsTheSnapshot(t *testing.T) {
	state, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	store := snapshots.Store{Open: func(bool) (*os.Root, error) { return state.OpenRoot(".") }, Now: func() time.Time { return clock }}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		dir, err := confined.OpenDir(state, "snapshots", true)
		if err != nil {
			t.Fatal(err)
		}
		release, err := confined.Lock(t.Context(), dir, "lock", true)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, release)
		r := Reader{Fetch: &site{response: page(t, "text/plain", "text"), then: cancel}, Snapshots: store, Now: store.Now}
		p, f := r.Open(ctx, url(t, "http://ex.org/"), Article)
		if f != nil {
			t.Fatal(f)
		}
		if _, err := store.Get(t.Context(), p.SnapshotID); err != nil || len(p.Warnings) != 1 {
			t.Errorf("%v, warnings %q", err, p.Warnings)
		}
	})
}

// TestOpenWithoutAStore reads the page all the same.
func TestOpenWithoutAStore(t *testing.T) {
	s := &site{response: page(t, "text/plain", "text")}
	r := reader(t, s)
	r.Snapshots.Open = func(bool) (*os.Root, error) { return nil, errors.New("no") }
	p, f := r.Open(t.Context(), url(t, "http://ex.org/"), Article)
	if f != nil {
		t.Fatal(f)
	}
	if diff := cmp.Diff([]string{"PROXY_UNPINNED", WarnSnapshotNotKept}, p.Warnings); diff != "" || p.SnapshotID != snapshots.ID(p.SourceSHA256, 0) {
		t.Errorf("%s (-want +got):\n%s", p.SnapshotID, diff)
	}
	if _, f := r.Reopen(t.Context(), p.SnapshotID, guard.URL{}, Article); f == nil || f.Code != fault.CursorSnapshotNotFound || f.SnapshotID != p.SnapshotID {
		t.Errorf("%v", f)
	}
	if s.asked != 1 {
		t.Errorf("fetched %d times", s.asked)
	}
}

func TestReopen(t *testing.T) {
	s := &site{response: page(t, "text/html", "<title>T</title><p>text</p>")}
	r := reader(t, s)
	p, f := r.Open(t.Context(), s.response.Requested, Article)
	if f != nil {
		t.Fatal(f)
	}
	for _, c := range []struct {
		cursor, target string
		code           fault.Code
	}{
		{p.SnapshotID, "", ""}, {p.SnapshotID, "http://ex.org/start", ""}, {p.SnapshotID, "HTTP://EX.ORG/docs/page#x", ""},
		{p.SnapshotID, "http://ex.org/other", fault.CursorSnapshotMismatch}, {p.SnapshotID, "https://ex.org/start", fault.CursorSnapshotMismatch},
		{"", "", fault.CursorMalformed}, {"snap_x", "http://ex.org/other", fault.CursorMalformed}, {p.SnapshotID + "\n", "", fault.CursorMalformed},
		{snapshots.ID(p.SourceSHA256, 2), "http://ex.org/start", fault.CursorSnapshotNotFound},
	} {
		target := guard.URL{}
		if c.target != "" {
			target = url(t, c.target)
		}
		got, f := r.Reopen(t.Context(), c.cursor, target, Full)
		switch {
		case c.code == "" && (f != nil || got.Document == nil || got.Fetched):
			t.Errorf("%q, %q: %v", c.cursor, c.target, f)
		case c.code != "" && (f == nil || f.Code != c.code || got != nil):
			t.Errorf("%q, %q: %v, want %s", c.cursor, c.target, f, c.code)
		case c.code != "" && (c.code == fault.CursorMalformed) != (f.SnapshotID == ""):
			t.Errorf("%q: snapshot %q", c.cursor, f.SnapshotID)
		}
	}
	if s.asked != 1 {
		t.Errorf("fetched %d times", s.asked)
	}
}

// TestLinksInEveryType: whatever the type, a link is absolute, in the guard's spelling, and seen from the page.
func TestLinksInEveryType(t *testing.T) {
	for contentType, body := range map[string]string{
		"text/html":             `<p>text <a href="../ü x">l</a></p>`,
		"application/xhtml+xml": `<html xmlns="http://www.w3.org/1999/xhtml"><body><p>text <a href="../ü x">l</a></p></body></html>`,
		"text/markdown":         "text [l](<../ü x>)",
		"application/atom+xml":  `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><title>l</title><link href="../ü x"/></entry></feed>`,
		"application/rss+xml":   `<rss><channel><title>T</title><item><title>l</title><link>../ü x</link></item></channel></rss>`,
	} {
		p, f := read(snapshots.Page{FinalURL: "http://ex.org/docs/page", ContentType: contentType, Body: []byte(body)}, Full)
		if f != nil {
			t.Errorf("%s: %v", contentType, f)
			continue
		}
		if diff := cmp.Diff([]blocks.Link{{Text: "l", URL: "http://ex.org/%C3%BC%20x"}}, p.Document.Links); diff != "" {
			t.Errorf("%s (-want +got):\n%s", contentType, diff)
		}
	}
}

// FuzzRead: any bytes under any label are a whole page or a typed failure, twice the same, in UTF-8, with
// links that the guard would parse.
func FuzzRead(f *testing.F) {
	for _, s := range []struct{ contentType, body string }{
		{"text/html", "<title>T</title><base href=/x/><h1>H</h1><p>a <a href=b>l</a><pre>c\n</pre><table><tr><td>1<td>2</table>"},
		{"text/html; charset=shift_jis", "<meta charset=utf-8><p>\x93\xfa\x96\x7b"}, {"text/html", "<div id=root></div><script>f()</script>"},
		{"text/plain; charset=\"bad name\"", "caf\xe9\n\n\x82"}, {"text/markdown", "# H\n\n- a [l](b)\n\n<p>x</p>\n\n```go\nc\n```\n"},
		{"application/json", `{"a":[1,{"b":null}],"c":"\u00e9"}`}, {"application/xml", "<a b='c'><d>e</d></a>"}, {"text/csv", "a,b\n\"c\nd\",e\n"},
		{"application/atom+xml", "<feed><entry><title>t</title><link href='x'/><content type='html'>&lt;p&gt;y</content></entry></feed>"},
		{"application/pdf", "%PDF-1.7"}, {"", "\xff\xfe<\x00p\x00>\x00"}, {"application/octet-stream", "\x1f\x8b\x08"},
	} {
		f.Add(s.contentType, []byte(s.body), false)
		f.Add(s.contentType, []byte(s.body), true)
	}
	f.Fuzz(func(t *testing.T, contentType string, body []byte, full bool) {
		mode := Article
		if full {
			mode = Full
		}
		kept := snapshots.Page{FinalURL: "http://ex.org/docs/page", HTTPStatus: 200, ContentType: contentType, Body: body}
		p, fail := read(kept, mode)
		again, failAgain := read(kept, mode)
		if diff := cmp.Diff(p, again); diff != "" || (fail == nil) != (failAgain == nil) {
			t.Fatalf("not the same twice: %s", diff)
		}
		if fail != nil {
			if p != nil || fail.Code == fault.Internal || fail.HTTPStatus != 200 || fail.Message == "" || fail.Advice == "" {
				t.Fatalf("%+v, %+v", p, fail)
			}
			return
		}
		if len(p.Document.Blocks) == 0 {
			t.Fatal("a page without text")
		}
		for _, b := range p.Document.Blocks {
			if b.Text == "" || !utf8.ValidString(b.Text) || !utf8.ValidString(b.Markdown) {
				t.Fatalf("block %+v", b)
			}
		}
		for _, l := range p.Document.Links {
			if u, f := guard.ParseURL(l.URL); f != nil || u.String() != l.URL || !utf8.ValidString(l.Text) {
				t.Fatalf("link %+v", l)
			}
		}
		if !utf8.ValidString(p.Document.Title) || !utf8.ValidString(blocks.Markdown(p.Document)) {
			t.Fatal("not UTF-8")
		}
	})
}
