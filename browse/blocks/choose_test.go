package blocks

import (
	"fmt"
	"strings"
	"testing"
)

// TestArticleLeavesFurniture holds what article mode keeps and leaves on pages that are large enough for the
// model, and that full mode gives all of it.
func TestArticleLeavesFurniture(t *testing.T) {
	var prose strings.Builder
	for i := range 4 {
		fmt.Fprintf(&prose, "<p>Paragraph %d tells how the old bridge over the river was repaired last summer, who paid for it, and why it took the town so long to begin.</p>", i)
	}
	furniture := "<div class=sidebar><h3>Related</h3><ul><li><a href=/r1>Another story entirely</a></ul></div>" +
		"<div class=cookie-banner>We use cookies. Accept all cookies to go on.</div><footer>Copyright 2024 Site. All rights reserved.</footer>"
	menu := "<header><a href=/>Site</a></header><nav><ul><li><a href=/a>Alpha</a><li><a href=/b>Beta</a></ul></nav>"
	for _, c := range []struct {
		name, src    string
		keep, leave  []string
		allInArticle bool
	}{
		{name: "an article between menus", src: menu + "<div class=content><h1>The bridge</h1>" + prose.String() + "<ul><li>wood</li><li>steel</li></ul><pre>x = 1</pre>" +
			"<table><tr><th>Year<th>Cost<tr><td>1990<td>7</table></div>" + furniture,
			keep:  []string{"# The bridge", "Paragraph 0", "Paragraph 3", "- wood", "- steel", "x = 1", "| 1990 | 7 |"},
			leave: []string{"Alpha", "Another story", "cookies", "Copyright"}},
		{name: "documentation beside a list of pages", src: "<div class=sidebar><ul><li><a href=1>Introduction</a><li><a href=2>Installing</a><li><a href=3>Using it</a></ul></div>" +
			"<main><h1>Install</h1><p>Run the installer from your shell, as a user that may write to the target folder.</p><pre><code class=language-sh>sh i.sh</code></pre>" +
			"<h2>Options</h2><ul><li><code>--dir</code> sets the folder that it writes to</li><li><code>--quiet</code> prints nothing</li></ul>" +
			"<p>After that the program is ready for use by everyone on the machine.</p></main>",
			keep: []string{"Run the installer", "```sh", "## Options", "`--dir`", "`--quiet`", "After that"}, leave: []string{"Introduction", "Using it"}},
		{name: "a page of products", src: "<h1>Kettles</h1>" + strings.Repeat("<div class=product><h2><a href=/k>Kettle</a></h2><p>Boils water in two minutes flat and whistles.</p><span class=price>$19.99</span><button>Add to cart</button></div>", 12),
			keep: []string{"[Kettle]", "whistles", "$19.99"}, leave: []string{"Add to cart"}},
		{name: "nothing but prose", src: "<h1>The bridge</h1>" + prose.String(), allInArticle: true},
		{name: "one long paragraph", src: "<p>" + strings.Repeat("word ", 5000), allInArticle: true},
		{name: "letters", src: strings.Repeat("<b>t ", 600), allInArticle: true},
		{name: "many short paragraphs", src: strings.Repeat("<p>line</p>", 300), allInArticle: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			opt := Options{Base: "https://ex.org/"}
			d, err := Extract([]byte(c.src), opt)
			if err != nil {
				t.Fatal(err)
			}
			opt.Mode = Full
			full, err := Extract([]byte(c.src), opt)
			if err != nil {
				t.Fatal(err)
			}
			md, all := Markdown(d), Markdown(full)
			for _, s := range c.keep {
				if !strings.Contains(md, s) {
					t.Errorf("%q was left out", s)
				}
			}
			for _, s := range c.leave {
				if strings.Contains(md, s) {
					t.Errorf("%q was kept", s)
				}
				if s != "Add to cart" && !strings.Contains(all, s) {
					t.Errorf("%q is not in the full page", s)
				}
			}
			if c.allInArticle && md != all {
				t.Errorf("article mode gave %d bytes of %d", len(md), len(all))
			}
			if len(c.leave) > 0 && d.Removed.BoilerplateChars == 0 {
				t.Error("what was left out was not counted")
			}
		})
	}
}
