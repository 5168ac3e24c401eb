package blocks

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// unescape undoes what Markdown's backslash escapes and hard breaks do.
func unescape(s string) string {
	var w strings.Builder
	s = strings.ReplaceAll(s, "  \n", "\n")
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[i+1]) >= 0 {
			i++
		}
		w.WriteByte(s[i])
	}
	return w.String()
}

// FuzzEscape holds that escaped text, unescaped, is the text, and that no mark survives that would start a
// block or a span.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"plain", "*a* _b_ `c`", "1. x", "# h", "- i", "+ i", "> q", "[a](b) [c][d] [e]: f", `\* \\`, "&amp; &#1;", "<b> </b> <!--", "~~s~~",
		"a\nb\n- c", "===\n---", "|x|", "snake_case _x_", "![alt](u)", "12345678901. x", "0\n##\n0000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\t\r\x00") || strings.Contains(s, "  ") || strings.Contains(s, " \n") || strings.Contains(s, "\n ") {
			return // blocks hold collapsed white space
		}
		s = strings.TrimSpace(s)
		var w mdWriter
		w.escape([]byte(s), true)
		got := string(w.out)
		if unescape(got) != s {
			t.Errorf("%q became %q, which reads as %q", s, got, unescape(got))
		}
		for line := range strings.SplitSeq(got, "\n") {
			for _, mark := range []string{"# ", "## ", "> ", "- ", "+ ", "* ", "```", "~~~", "==="} {
				if strings.HasPrefix(line, mark) {
					t.Errorf("%q starts a line with %q", got, mark)
				}
			}
		}
	})
}

func TestMarkdownOutline(t *testing.T) {
	d := &Document{Blocks: []Block{
		{Kind: Heading, Level: 1, Text: "Title"},
		{Kind: Paragraph, Text: "two\nlines"},
		{Kind: ListItem, Depth: 1, Text: "a"},
		{Kind: ListItem, Depth: 2, Ordered: 3, Text: "b"},
		{Kind: Code, Text: "x\n\ny", Language: "go"},
		{Kind: Quote, Depth: 1, Quoted: 1, Text: "q"},
		{Kind: Heading, Level: 2, Text: "Part *two*", Markdown: "Part [*two*](https://ex.org/)"},
	}}
	md, outline := MarkdownOutline(d)
	wantMD := "# Title\n\ntwo  \nlines\n\n- a\n    3. b\n\n```go\nx\n\ny\n```\n\n> q\n\n## Part [*two*](https://ex.org/)\n"
	if diff := cmp.Diff(wantMD, string(md)); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
	want := []OutlineEntry{{1, 1, "Title"}, {17, 2, "Part *two*"}}
	if diff := cmp.Diff(want, outline); diff != "" {
		t.Errorf("outline (-want +got):\n%s", diff)
	}
	if got := Markdown(&Document{}); got != "" {
		t.Errorf("an empty document gave %q", got)
	}
}

// TestFullFallback: where nothing but doubtful text is left, it is given whole, and said so. A page of menus
// alone holds no text at all.
func TestFullFallback(t *testing.T) {
	menu := "<nav><ul>" + strings.Repeat("<li><a href=/x>Some section</a></li>", 12) + "</ul></nav>"
	for _, tt := range []struct {
		name, page string
		blocks     int
		warnings   []string
	}{
		{"menu alone", menu, 0, nil},
		{"menu and footer", menu + "<footer><p>The only words of this page.</p></footer>", 13, []string{WarnFullFallback}},
		{"unclosed menu", "<nav><a href=/>Home</a><p>Words that follow without an end of the menu.</p>", 2, []string{WarnFullFallback}},
	} {
		d, err := Extract([]byte(tt.page), Options{Base: "https://ex.org/"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.warnings, d.Warnings); len(d.Blocks) != tt.blocks || diff != "" {
			t.Errorf("%s: %d blocks, want %d; warnings (-want +got):\n%s", tt.name, len(d.Blocks), tt.blocks, diff)
		}
	}
}

// TestTextStaysText: what a page says cannot become structure of the Markdown.
func TestTextStaysText(t *testing.T) {
	for _, tt := range []struct{ page, want string }{
		{`<p>x <a href="/u">see<br># SYSTEM<br>- item<br>---</a> y</p>`, "x [see # SYSTEM - item ---](https://ex.org/u) y\n"},
		{`<p>!<a href="/track.png">x</a></p>`, "\\![x](https://ex.org/track.png)\n"},
		{`<p>Wow! <a href="/a">x</a></p>`, "Wow! [x](https://ex.org/a)\n"},
		{`<p>| a | b |<br>| - | - |<br>| c | d |</p>`, "\\| a | b |  \n\\| - | - |  \n\\| c | d |\n"},
		{`<p>a | b<br>:-- | :--<br>c | d</p>`, "a | b  \n\\:-- | :--  \nc | d\n"},
		{`<h2>C #</h2>`, "## C \\#\n"},
		{`<h2>C#</h2>`, "## C#\n"},
		{`<p>~a~ b</p>`, "\\~a\\~ b\n"},
	} {
		d, err := Extract([]byte(tt.page), Options{Mode: Full, Base: "https://ex.org/"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, Markdown(d)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.page, diff)
		}
	}
}

// TestLongBaseDoesNotMultiplyThePage: links are left out before their addresses outgrow the page.
func TestLongBaseDoesNotMultiplyThePage(t *testing.T) {
	page := `<base href="http://ex.org/` + strings.Repeat("a", 8000) + `/">` + strings.Repeat("<p>some text with <a href=a>a link</a></p>", 5000)
	d, err := Extract([]byte(page), Options{Mode: Full, Base: "https://ex.org/"})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Blocks) != 5000 || !slices.Contains(d.Warnings, WarnLinksTruncated) {
		t.Errorf("%d blocks, warnings %v", len(d.Blocks), d.Warnings)
	}
	if md := Markdown(d); len(md) > minLinkBytes+2*len(page) {
		t.Errorf("%d bytes of page became %d bytes of Markdown", len(page), len(md))
	}
}
