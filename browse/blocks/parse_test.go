package blocks

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// outline writes a tree as nested names and texts, so that trees of two kinds can be compared.
func outlineOf(t *tree, id nodeID, w *strings.Builder) {
	for n := t.nodes[id].first; n != 0; n = t.nodes[n].next {
		x := &t.nodes[n]
		switch {
		case x.flags&flagText != 0:
			if s := strings.TrimSpace(string(t.text(n))); s != "" {
				w.WriteString(s + " ")
			}
		case x.flags&flagEndMark != 0:
		case x.tag == atom.Head, x.tag == atom.Tbody:
			outlineOf(t, n, w)
		default:
			w.WriteString(x.tag.String() + "{")
			outlineOf(t, n, w)
			w.WriteString("} ")
		}
	}
}

func standardOutline(n *html.Node, w *strings.Builder) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			if s := strings.TrimSpace(c.Data); s != "" {
				w.WriteString(s + " ")
			}
		case html.ElementNode:
			// The standard's tree holds a head even of a page without one, and a table's rows in a tbody.
			if c.DataAtom == atom.Tbody || c.DataAtom == atom.Head {
				standardOutline(c, w)
				continue
			}
			w.WriteString(c.DataAtom.String() + "{")
			standardOutline(c, w)
			w.WriteString("} ")
		}
	}
}

// TestParseAsTheStandardSays compares trees with those of golang.org/x/net/html, scripting off, on markup in
// which end tags are missing, stray or in the wrong order.
func TestParseAsTheStandardSays(t *testing.T) {
	for _, src := range []string{
		"<p>a<p>b", "<div><p>a<div>b</div>c</div>", "<ul><li>a<li>b<ul><li>c</ul>d<li>e</ul>f", "<dl><dt>a<dd>b<dt>c</dl>",
		"a<h1>b<h2>c</h1>d", "<table><tr><td>a<td>b<tr><th>c</table>d", "<table><tr><td><table><tr><td>a</table>b<td>c</table>",
		"<table><thead><tr><th>a<tfoot><tr><td>b</table>", "<table><caption>a<tr><td>b</table>", "<p>a</div>b</p>c", "<div>a</span>b</div>c",
		"<span>a</div>b</span>c", "<p>a<table><tr><td>b</table>c", "<a href=x>a<a href=y>b</a>c", "<button>a<button>b</button>c",
		"<select><option>a<option>b</select>c", "<p>a<br/>b<hr>c<img>d", "<title>a<b></title>c",
		"<svg><path/><title>a</title></svg>b", "<svg><g>a<p>b", "<body>a</body>b", "a</html>b",
		"<noscript><p>a</noscript>b", "<li>a<li>b", "<pre>\n a\n</pre>b", "<template><p>a</template>b",
		"<nav>a<p>b", "<head><meta name=a><p>b", "<ruby>a<rt>b<rt>c</ruby>d", "<p><b>a</p>", "<!doctype html><!-- c --><html><head></head><body>a",
	} {
		tr := parse([]byte(src))
		var got, want strings.Builder
		outlineOf(tr, 0, &got)
		doc, err := html.ParseWithOptions(strings.NewReader("<!doctype html>"+src), html.ParseOptionEnableScripting(false))
		if err != nil {
			t.Fatal(err)
		}
		standardOutline(doc, &want)
		// White space between neighbours says how texts were cut, not what belongs where.
		norm := strings.NewReplacer(" ", "", "noscript{}", "")
		if diff := cmp.Diff(norm.Replace(want.String()), norm.Replace(got.String())); diff != "" {
			t.Errorf("%s (-standard +ours):\n%s", src, diff)
		}
	}
}

// TestParseKeepsText holds that no text is lost whatever the nesting: ours against the standard's order.
func TestParseKeepsText(t *testing.T) {
	for _, src := range []string{
		strings.Repeat("<div>", 511) + "needle",
		strings.Repeat("<b>t ", 600),
		strings.Repeat("<div>x", 10_000),
		strings.Repeat("<table><tr><td>y", 3_000),
		strings.Repeat("<ul><li>z", 3_000) + strings.Repeat("</li></ul>w", 3_000),
		strings.Repeat("<span>", 5_000) + "in" + strings.Repeat("</span>", 5_000) + "<p>out",
	} {
		tr := parse([]byte(src))
		var got bytes.Buffer
		for id := nodeID(1); int(id) < len(tr.nodes); id++ {
			if tr.isText(id) {
				got.Write(tr.text(id))
			}
		}
		var want bytes.Buffer
		z := html.NewTokenizer(strings.NewReader(src))
		for z.Next() != html.ErrorToken {
			want.Write(z.Text())
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%.20q...: got %d bytes of text, want %d", src, got.Len(), want.Len())
		}
		if !tr.recovered {
			t.Errorf("%.20q...: not marked as recovered", src)
		}
		for id := range tr.nodes {
			depth := 0
			for n := nodeID(id); n != 0; n = tr.nodes[n].parent {
				depth++
			}
			if depth > maxDepth+1 {
				t.Fatalf("%.20q...: depth %d", src, depth)
			}
		}
	}
}

// TestParseOfRealPages compares the words of real pages, in order, with those of the standard's tree. A few
// differ: pages that leave text in tables outside cells, where the standard moves it.
func TestParseOfRealPages(t *testing.T) {
	pages := everyFourth(t)
	differ := 0
	for _, src := range pages {
		var got, want bytes.Buffer
		tr := parse(src)
		for id := nodeID(1); int(id) < len(tr.nodes); id++ {
			if tr.isText(id) && tr.nodes[tr.nodes[id].parent].tag != atom.Script {
				got.Write(tr.text(id))
				got.WriteByte(' ')
			}
		}
		doc, err := html.ParseWithOptions(bytes.NewReader(src), html.ParseOptionEnableScripting(false))
		if err != nil {
			continue // deeper than the standard parser goes
		}
		for n := range doc.Descendants() {
			if n.Type != html.TextNode {
				continue
			}
			switch n.Parent.DataAtom {
			case atom.Script, atom.Style, atom.Iframe, atom.Noembed, atom.Textarea:
				continue
			}
			want.WriteString(n.Data)
			want.WriteByte(' ')
		}
		if strings.Join(strings.Fields(got.String()), "") != strings.Join(strings.Fields(want.String()), "") {
			differ++
		}
	}
	t.Logf("%d of %d pages differ", differ, len(pages))
	if differ*20 > len(pages) {
		t.Errorf("%d of %d pages have other text than the standard's tree", differ, len(pages))
	}
}
