package blocks

import (
	"strings"
	"testing"
)

func TestSmoke(t *testing.T) {
	for _, src := range []string{
		strings.Repeat("<div>", 511) + "needle",
		strings.Repeat("<b>t ", 600),
		strings.Repeat("<div>x", 10000),
		"<article><p>" + strings.Repeat("long words here, and so on. ", 30) + "</p><ul><li><span>A</span></li><li><p>B</p></li><li><a href=\"/c\">C</a></li></ul></article>",
		`<base href="../assets/"><a href="guide.html">G</a><a href="/r">R</a>`,
		"<pre><code class=\"language-python\">def f():\n    return 1\n</code></pre>",
		"<table><tr><th>a<th>b<tr><td>1<td>2<tr><td colspan=2><a href=/x>w|</a></table>",
		"<blockquote>hi <b>there</b><p>x_y *z*<ul><li>a<ul><li>b</ul><li>c</ul></blockquote><h2><a href=/u>T</a></h2>",
	} {
		d, err := Extract([]byte(src), Options{Base: "https://ex.org/docs/page.html"})
		if err != nil {
			t.Fatal(err)
		}
		md := Markdown(d)
		if len(md) > 600 {
			md = md[len(md)-600:]
		}
		t.Logf("%q %v %v\n%s", d.Title, d.Warnings, d.Links, md)
	}
}
