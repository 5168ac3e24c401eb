package action

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/browse/blocks"
	"web/browse/fault"
)

// reported are faults that people met in tools of this kind, each with neighbours: the whole kind has to be
// right, not the one input. The names are those of the list of cases.
var reported = []struct {
	name string
	run  func(t *testing.T, o *online)
}{
	{"C1 more open elements than a parser takes", func(t *testing.T, o *online) {
		body := strings.Repeat("<div>", 511) + "needle"
		if len(body) != 2561 {
			t.Fatalf("%d bytes", len(body))
		}
		for _, mode := range []string{"article", "full"} {
			a := o.html(body, `"extract":`+quote(mode))
			o.shape(a, "paragraph: needle")
			o.warns(a, blocks.WarnRecovered)
		}
		o.warns(o.html(strings.Repeat("<div>", 400) + "needle")) // what every parser takes is not worth a warning
		for name, body := range map[string]string{
			"10,000 divs":       strings.Repeat("<div>", 10000) + "needle",
			"closed ones":       strings.Repeat("<div>", 600) + "needle" + strings.Repeat("</div>", 600),
			"lists":             strings.Repeat("<ul><li>", 600) + "needle",
			"quotes":            strings.Repeat("<blockquote>", 600) + "needle",
			"tables":            strings.Repeat("<table><tr><td>", 300) + "needle",
			"spans in one text": "<p>" + strings.Repeat("<span>", 3000) + "needle",
		} {
			a := o.html(body)
			if !strings.Contains(words(a), "needle") || !slices.Contains(warnings(a), any(blocks.WarnRecovered)) {
				t.Errorf("%s: %.60q, %v", name, words(a), warnings(a))
			}
		}
	}},
	{"C2 formatting that is never closed", func(t *testing.T, o *online) {
		for _, tag := range []string{"b", "i", "a href=/x", "font", "em", "code"} {
			a := o.html(strings.Repeat("<"+tag+">t ", 600))
			if got := strings.Count(words(a), "t"); got != 600 {
				t.Errorf("<%s>: %d of 600", tag, got)
			}
		}
		a := o.html(strings.Repeat("<p><b>t ", 600)) // each paragraph opens all of them again
		if got := strings.Count(words(a), "t"); got != 600 {
			t.Errorf("<p><b>: %d of 600", got)
		}
	}},
	{"C8 charset in the markup", func(t *testing.T, o *online) {
		for _, c := range []struct{ contentType, body, want string }{
			{"text/html", "<meta charset=\"Shift_JIS\">\x93\xfa\x96\x7b", "日本"},
			{"text/html", "<meta charset='EUC-JP'><p>\xc6\xfc\xcb\xdc", "日本"},
			{"text/html", "<meta http-equiv=Content-Type content='text/html; charset=euc-kr'><p>\xc7\xd1\xb1\xb9\xbe\xee</p>", "한국어"},
			{"text/html", "<head><title>x</title><META CHARSET=windows-1251></head><p>\xcf\xf0\xe8\xe2\xe5\xf2</p>", "Привет"},
			{"application/xhtml+xml", "<?xml version='1.0' encoding='iso-8859-2'?><html xmlns='http://www.w3.org/1999/xhtml'><body><p>\xb3\xf3d\xbc</p></body></html>", "łódź"},
			{"text/html; charset=big5", "<meta charset=utf-8><p>\xa4\xa4\xa4\xe5</p>", "中文"}, // the header comes first
			{"text/html; charset=big5", "\xef\xbb\xbf<p>中文</p>", "中文"},                       // and a mark before it
			{"text/html", "\xff\xfe<\x00p\x00>\x00-N\x87e", "中文"},
		} {
			o.page(exA, c.contentType, c.body)
			a := o.read(exA)
			o.warns(a)
			if got := words(a); got != c.want {
				t.Errorf("%s %q: %q, want %q", c.contentType, c.body, got, c.want)
			}
		}
	}},
	{"C9 charset in the header", func(t *testing.T, o *online) {
		for _, c := range []struct{ charset, body, want string }{
			{"gbk", "\xc4\xe3\xba\xc3", "你好"}, {"GB18030", "\xc4\xe3\xba\xc3", "你好"}, {"big5", "\xa7\x41\xa6\x6e", "你好"}, {"euc-jp", "\xa4\xa2", "あ"},
			{"koi8-r", "\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"}, {"windows-1250", "\x9e\xe1ba", "žába"}, {"utf-16le", "`O}Y", "你好"},
		} {
			o.page(exA, "text/plain; charset="+c.charset, c.body)
			a := o.read(exA)
			o.shape(a, "paragraph: "+c.want)
			o.warns(a)
		}
	}},
	{"C10 labels that mean more than they say", func(t *testing.T, o *online) {
		for _, c := range []struct{ charset, body, want string }{
			{"gb2312", "\x81\x40", "丂"}, {"iso-8859-1", "\x80 \x93x\x94", "€ “x”"}, {"us-ascii", "caf\xe9", "café"}, {"iso-8859-9", "\x80\xfe", "€ş"},
			{"ks_c_5601-1987", "\x81\x41", "갂"}, {"shift_jis", "\x87\x40", "①"}, {"tis-620", "\xa1\xd2", "กา"},
		} {
			o.page(exA, "text/plain; charset="+c.charset, c.body)
			a := o.read(exA)
			o.shape(a, "paragraph: "+c.want)
			o.warns(a)
		}
	}},
	{"C11 UTF-8 without a charset", func(t *testing.T, o *online) {
		for contentType, body := range map[string]string{
			"text/html": "<p>café 東京</p>", "application/xhtml+xml": "<html xmlns='http://www.w3.org/1999/xhtml'><body><p>café 東京</p></body></html>",
			"text/plain": "café 東京", "text/markdown": "café 東京", "application/xml": "<a>café 東京</a>", "": "café 東京",
		} {
			o.page(exA, contentType, body)
			a := o.read(exA)
			o.warns(a)
			if !strings.Contains(words(a), "café 東京") {
				t.Errorf("%s: %q", contentType, words(a))
			}
		}
	}},
	{"C12 IPv4-mapped loopback", func(t *testing.T, o *online) {
		o.refusesAddresses([]Code{fault.LoopbackBlocked, fault.PrivateBlocked},
			"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]", "[::FFFF:7F00:1]", "[::ffff:127.255.255.255]", "[::ffff:10.0.0.1]", "[::ffff:c0a8:1]")
	}},
	{"C13 addresses inside addresses", func(t *testing.T, o *online) {
		any := []Code{
			fault.CloudMetadataBlocked, fault.LoopbackBlocked, fault.LinkLocalBlocked, fault.PrivateBlocked, fault.ReservedBlocked, fault.CGNATBlocked, fault.UnspecifiedBlocked,
		}
		o.refusesAddresses(any, "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]", "[::169.254.169.254]", "[::ffff:0:a9fe:a9fe]", "[2001:0:0:0:0:0:5601:5601]", "[fe80::5efe:a00:1]",
			"[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]", "[2002:a00:1::1]", "[::127.0.0.1]", "[::ffff:0:7f00:1]", "[2001:0:4136:e378:8000:63bf:5601:5601]", "[fec0::1]")
		for _, addr := range []string{"64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::169.254.169.254", "fe80::1"} { // as the answer to a name
			o.resolve("ex.org", addr)
			if code := o.browse(`"url":` + quote(exA))["error_code"]; !slices.Contains(any, Code(fmt.Sprint(code))) {
				t.Errorf("%s as an answer: %v", addr, code)
			}
			o.unreached()
		}
	}},
	{"C14 redirect to the metadata service", func(t *testing.T, o *online) {
		o.resolve("metadata.example", "169.254.169.254")
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, target := range []string{"http://169.254.169.254/latest/meta-data/", "//169.254.169.254/", "http://metadata.example/", "HTTP://169.254.169.254:80"} {
				o.forget()
				o.redirect(exA, status, target)
				o.refuses(exA, fault.CloudMetadataBlocked)
				o.requested(exA)
				if !slices.Equal(o.dialled, []string{publicAddr + ":80"}) {
					t.Errorf("dialled %q", o.dialled)
				}
			}
		}
		// From https the target's own code tells more than that the redirect goes to http.
		o.redirect("https://www.example.com/", 302, "http://169.254.169.254/")
		o.refuses("https://www.example.com/", fault.CloudMetadataBlocked)
		o.redirect(exA, 302, "http://[::ffff:a9fe:a9fe]/")
		if code := o.browse(`"url":` + quote(exA))["error_code"]; code != string(fault.CloudMetadataBlocked) && code != string(fault.PrivateBlocked) && code != string(fault.LinkLocalBlocked) {
			t.Errorf("mapped: %v", code)
		}
	}},
	{"C15 JSON under its many names", func(t *testing.T, o *online) {
		for _, contentType := range []string{
			"application/problem+json", "application/json", "application/ld+json; charset=utf-8", "text/json", "application/vnd.api+json", "application/geo+json",
		} {
			o.page(exA, contentType, `{"title":"no","n":12345678901234567890,"é":[1.0,null]}`)
			a := o.read(exA)
			o.shape(a, "code json: {\n  \"title\": \"no\",\n  \"n\": 12345678901234567890,\n  \"é\": [\n    1.0,\n    null\n  ]\n}")
		}
		o.page(exA, "application/json", `{"title":`)
		a := o.read(exA)
		o.warns(a, "JSON_INVALID")
		if !strings.Contains(words(a), `{"title":`) {
			t.Errorf("%q", words(a))
		}
	}},
	{"C16 HTML under a wrong label", func(t *testing.T, o *online) {
		const page = `<!doctype html><html><body><nav>x</nav><p>real</p>`
		for _, contentType := range []string{"text/markdown", "text/x-markdown; charset=utf-8", "application/octet-stream", ""} {
			for _, body := range []string{page, "\ufeff" + page, "\n <!-- c -->\n" + page, `<HTML><body><nav>x</nav><p>real`} {
				o.page(exA, contentType, body)
				o.shape(o.read(exA), "paragraph: real")
			}
		}
		// Markdown that only holds HTML stays Markdown.
		o.page(exA, "text/markdown", "# Title\n\n<p>real</p>\n\n- item\n")
		if got := shape(o.read(exA)); !slices.Contains(got, "heading 1: Title") || !slices.Contains(got, "list_item 1: item") {
			t.Errorf("%q", got)
		}
	}},
	{"C17 code", func(t *testing.T, o *online) {
		for body, want := range map[string]string{
			"<pre><code class=\"language-python\">def f():\n    return 1\n</code></pre>":                                  "code python: def f():\n    return 1",
			"<pre class=\"lang-go\">a\n\tb\n\n\nc</pre>":                                                                  "code go: a\n\tb\n\n\nc",
			"<div class=\"highlight-source-js\"><pre>f( <span>x</span> )\n  y</pre></div>":                                "code js: f( x )\n  y",
			"<pre>no   language\n   here</pre>":                                                                           "code: no   language\n   here",
			"<pre>\n\n  a &lt;b&gt; &amp;c\n</pre>":                                                                       "code:   a <b> &c",
			"<pre><code class='hljs language-c++'>x&lt;y&gt; z;</code></pre>":                                             "code c++: x<y> z;",
			"<pre><code class='language-python'><span class=line>a:</span>\n<span class=line>    b</span>\n</code></pre>": "code python: a:\n    b",
			"<ol><li>step<pre><code class=language-sh>make\n    all</code></pre></li></ol>":                               "code 1 sh: make\n    all",
		} {
			if got := shape(o.html(body)); !slices.Contains(got, want) {
				t.Errorf("%q: %q, want %q", body, got, want)
			}
		}
		// The file keeps it too, behind a fence that the code cannot close.
		a := o.html("<p>"+prose(1)+"</p><pre><code class=language-md>```\n# no heading\n````\n</code></pre><p>"+prose(2)+"</p>", `"max_chars":10`)
		if file := string(o.artifact(a)); !strings.Contains(file, "\n`````md\n```\n# no heading\n````\n`````\n") {
			t.Errorf("%s", file)
		}
	}},
	{"C18 links with a base", func(t *testing.T, o *online) {
		for _, c := range []struct{ base, href, want string }{
			{"../assets/", "guide.html", "http://ex.org/assets/guide.html"}, {"../assets/", "/r", "http://ex.org/r"},
			{"", "guide.html", "http://ex.org/docs/guide.html"}, {"", "../up/", "http://ex.org/up/"}, {"", "sub/../dir/", "http://ex.org/docs/dir/"},
			{"", "?q=1", "http://ex.org/docs/page.html?q=1"}, {"", "//cdn.example/x", "http://cdn.example/x"}, {"", " \n/a\tb ", "http://ex.org/ab"},
			{"", "/a b", "http://ex.org/a%20b"}, {"", "/é?ü", "http://ex.org/%C3%A9?%C3%BC"}, {"", "HTTPS://EX.org", "https://ex.org/"}, {"", "other.html#part", "http://ex.org/docs/other.html"},
			{"https://cdn.example/x/", "y", "https://cdn.example/x/y"}, {"javascript:void(0)", "y", "http://ex.org/docs/y"}, {"data:text/html,x", "y", "http://ex.org/docs/y"},
			{"/v2", "y", "http://ex.org/y"}, {"?lang=en", "y", "http://ex.org/docs/y"}, {"", "javascript:alert(1)", ""}, {"", "mailto:a@b.example", ""}, {"", "#part", ""}, {"", "data:,x", ""},
		} {
			base := ""
			if c.base != "" {
				base = `<base href="` + c.base + `">`
			}
			a := o.html(`<title>T</title>` + base + `<p>Text with <a href="` + c.href + `">a link</a> in it.</p>`)
			want := []string{}
			if c.want != "" {
				want = append(want, c.want)
			}
			if diff := cmp.Diff(want, urls(a)); diff != "" {
				t.Errorf("base %q, href %q (-want +got):\n%s", c.base, c.href, diff)
			}
		}
		a := o.html(`<base target=_blank><base href=/one/><base href=/two/><p>Text with <a href=x>a link</a> and <a href="x"> <img src=i alt="an image"></a> in it.</p>`)
		a.want(t, expect{"links.0.url": "http://ex.org/one/x", "links.0.text": "a link", "links.1.url": "http://ex.org/one/x", "links.1.text": "an image"})
	}},
	{"C19 list items of every make", func(t *testing.T, o *online) {
		article := func(list string) answer {
			return o.html("<title>T</title><article><h1>H</h1><p>" + prose(1) + "</p><p>" + prose(2) + "</p>" + list + "<p>" + prose(3) + "</p></article>")
		}
		for list, want := range map[string][]string{
			`<ul><li><span>A</span></li><li><p>B</p></li><li><a href="/c">C</a></li></ul>`:        {"list_item 1: A", "list_item 1: B", "list_item 1: C"},
			`<ol><li><div>A</div></li><li><p><b>B</b></p></li><li><a href="/c"><p>C</p></a></ol>`: {"list_item 1: A", "list_item 1: B", "list_item 1: C"},
			`<ul><li><strong>A</strong><li><em>B</em><li>C</ul>`:                                  {"list_item 1: A", "list_item 1: B", "list_item 1: C"},
		} {
			a := article(list)
			got := slices.DeleteFunc(shape(a), func(s string) bool { return !strings.HasPrefix(s, "list_item") })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", list, diff)
			}
			for i := 1; i <= 3; i++ {
				if strings.Count(words(a), prose(i)) != 1 {
					t.Errorf("%s: paragraph %d is %d times in the text", list, i, strings.Count(words(a), prose(i)))
				}
			}
		}
		o.shape(o.html(`<ul><li>A<ul><li><p>B</p></li></ul></li><li><span><a href="/c">C</a></span></li></ul>`, `"extract":"full"`),
			"list_item 1: A", "list_item 2: B", "list_item 1: C")
	}},
}

func TestReportedCases(t *testing.T) {
	for _, c := range reported {
		t.Run(c.name, func(t *testing.T) { c.run(t, newOnline(t)) })
	}
}

// TestReportedCasesAreAllHere: C3 to C7 are the search engine's, C20 is the envelope's.
func TestReportedCasesAreAllHere(t *testing.T) {
	var got []string
	for _, c := range reported {
		id, _, _ := strings.Cut(c.name, " ")
		got = append(got, id)
	}
	want := []string{"C1", "C2", "C8", "C9", "C10", "C11", "C12", "C13", "C14", "C15", "C16", "C17", "C18", "C19"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// refusesAddresses wants each host refused with one of the codes before anything is sent.
func (o *online) refusesAddresses(codes []Code, hosts ...string) {
	o.t.Helper()
	for _, host := range hosts {
		for _, url := range []string{"http://" + host + "/", "https://" + host + ":8443/x?y"} {
			a := o.browse(`"url":` + quote(url))
			a.want(o.t, expect{"stage": "policy", "retryable": false, "message": some})
			if !slices.Contains(codes, Code(fmt.Sprint(a["error_code"]))) {
				o.t.Errorf("%s: %v", url, a["error_code"])
			}
		}
	}
	o.untouched()
}

// urls are the targets of a page's links.
func urls(a answer) []string {
	out := []string{}
	for _, l := range items(a, "links") {
		out = append(out, fmt.Sprint(l["url"]))
	}
	return out
}
