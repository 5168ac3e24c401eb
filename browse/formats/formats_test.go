package formats

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/browse/blocks"
)

func TestConvertLeavesPagesAndBinaryAlone(t *testing.T) {
	for _, k := range []Kind{KindHTML, KindXHTML, KindPDF, KindBinary, ""} {
		if doc, ok := Convert(k, "", "<p>x", testOptions); ok || doc != nil {
			t.Errorf("Convert(%q) = %v, %v, want nil, false", k, doc, ok)
		}
	}
}

func TestFragmentSeam(t *testing.T) {
	type call struct{ HTML, Base string }
	var calls []call
	opt := testOptions
	opt.Fragment = func(html, base string) *blocks.Document {
		calls = append(calls, call{html, base})
		return &blocks.Document{
			Blocks:  []blocks.Block{{Kind: blocks.Heading, Level: 5, Text: "from the seam"}, {Kind: blocks.ListItem, Depth: 1, Text: "item"}},
			Links:   []blocks.Link{{Text: "l", URL: "https://l.example/"}},
			Removed: blocks.Removed{HiddenChars: 1, InvisibleChars: 2, DataURIs: 3, BoilerplateChars: 4},
		}
	}
	feed := Feed(`<rss><channel><link>https://f.example/x/</link><item><description>&lt;p&gt;a</description></item></channel></rss>`, opt)
	md := Markdown("- x\n\n  > <div>b</div>\n", opt)

	wantCalls := []call{{"<p>a", "https://f.example/x/"}, {"<div>b</div>", ""}}
	if diff := cmp.Diff(calls, wantCalls); diff != "" {
		t.Errorf("calls (-got +want):\n%s", diff)
	}
	wantFeed := []blocks.Block{{Kind: blocks.Heading, Level: 6, Text: "from the seam"}, {Kind: blocks.ListItem, Depth: 1, Text: "item"}}
	if diff := cmp.Diff(feed.Blocks, wantFeed); diff != "" {
		t.Errorf("feed (-got +want):\n%s", diff)
	}
	wantMD := []blocks.Block{{Kind: blocks.ListItem, Depth: 1, Text: "x"}, {Kind: blocks.Heading, Level: 5, Quoted: 1, Text: "from the seam"}, {Kind: blocks.ListItem, Depth: 2, Quoted: 1, Text: "item"}}
	if diff := cmp.Diff(md.Blocks, wantMD); diff != "" {
		t.Errorf("Markdown (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(md.Removed, blocks.Removed{HiddenChars: 1, InvisibleChars: 2, DataURIs: 3, BoilerplateChars: 4}); diff != "" {
		t.Errorf("removed (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(md.Links, []blocks.Link{{Text: "l", URL: "https://l.example/"}}); diff != "" {
		t.Errorf("links (-got +want):\n%s", diff)
	}
}

func TestNoResolverListsNoLinks(t *testing.T) {
	doc := Markdown("[a](https://x.example/) https://y.example <a href='https://z.example'>z</a>", Options{})
	want := []blocks.Block{{Kind: blocks.Paragraph, Text: "a https://y.example z", Markdown: "a https://y.example z"}}
	if diff := cmp.Diff(doc.Blocks, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if doc.Links != nil {
		t.Errorf("links %v, want none", doc.Links)
	}
}

// A layout of deep nesting grows with the square of its input unless somebody stops it.
func TestJSONDepth(t *testing.T) {
	const depth = 200_000
	in := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	doc := JSON(in)
	check(t, in, doc)
	if doc.Warnings != nil {
		t.Fatalf("warnings %v, want none", doc.Warnings)
	}
	if got := strings.Join(strings.Fields(doc.Blocks[0].Text), ""); got != in {
		t.Errorf("the value changed")
	}
}

func TestJSONSameValue(t *testing.T) {
	in := `{"a":[1.50,{"b":"x\u0041 , : {"},[],{}],"c":-1E+5,"d":" spaced "}`
	var want, got any
	for _, x := range []struct {
		s   string
		dst *any
	}{{in, &want}, {JSON(in).Blocks[0].Text, &got}} {
		if err := json.Unmarshal([]byte(x.s), x.dst); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestScanJSONAgreesWithTheStandard(t *testing.T) {
	for _, s := range []string{
		`1`, `-0`, `01`, `1.`, `.5`, `1e`, `1e+`, `1E-7`, `-`, `--1`, `tru`, `true`, `truex`, `nul`, `"`, `"\u12"`, `"\uD800"`, `"\x"`, "\"\t\"",
		`[`, `]`, `[]`, `[1,]`, `[,1]`, `[1 2]`, `{`, `{}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a":1 "b":2}`, `[}`, `{"a":[}]`, `[[]`,
		`[{}]`, ` [ { } , [ ] ] `, `'a'`, `NaN`, `+1`, `1 2`, `[1]]`, "\v1", `{"a":{"b":[{"c":null}]}}`, `"\`,
	} {
		end, ok := scanJSON(s, 0)
		got := ok && skipSpace(s, end) == len(s)
		if want := json.Valid([]byte(s)); got != want {
			t.Errorf("%q: valid = %v, want %v", s, got, want)
		}
	}
}

// One wide row among many short ones must not fill the table with empty cells.
func TestCSVRaggedIsBounded(t *testing.T) {
	in := strings.Repeat("a,b\n", 20_000) + strings.Repeat("x,", 20_000) + "y\n"
	doc := CSV(in)
	check(t, in, doc)
	if got := strings.Count(doc.Blocks[0].Text, "\n"); got != 20_001 {
		t.Errorf("%d line breaks, want 20001", got)
	}
	if !strings.HasSuffix(doc.Blocks[0].Text, "| x | y |") {
		t.Errorf("the last row is cut")
	}
}

// References and short relative links make long URLs of few bytes.
func TestLinksAreBounded(t *testing.T) {
	long := "https://l.example/" + strings.Repeat("p", 4000)
	for name, in := range map[string]string{
		"references": "[r]: " + long + "\n\n" + strings.Repeat("[r] ", 25_000),
		"relative":   strings.Repeat("[a](b) ", 25_000),
	} {
		opt := Options{ResolveURL: func(base, ref string) (string, bool) { return blocks.Resolve(long+"/", ref) }}
		doc := Markdown(in, opt)
		check(t, in, doc)
		if diff := cmp.Diff(doc.Warnings, []string{WarnLinksTruncated}); diff != "" {
			t.Errorf("%s: warnings (-got +want):\n%s", name, diff)
		}
	}
	var b strings.Builder
	for i := range maxLinks + 10 {
		b.WriteString("[a](" + strconv.Itoa(i) + ")\n")
	}
	doc := Markdown(b.String(), testOptions)
	if len(doc.Links) != maxLinks {
		t.Errorf("%d links, want %d", len(doc.Links), maxLinks)
	}
	if diff := cmp.Diff(doc.Warnings, []string{WarnLinksTruncated}); diff != "" {
		t.Errorf("warnings (-got +want):\n%s", diff)
	}
}

func TestXMLKeepsEveryCharacter(t *testing.T) {
	in := "<?xml version='1.0'?><a b='>'>" + strings.Repeat("<c><d>x y</d><e/></c><!-- n --><![CDATA[<z>]]>", 40) + "</a"
	got := XML(in).Blocks[0].Text
	if got == in {
		t.Errorf("a document on one line was not broken")
	}
	if !strings.Contains(XML("<title><b>1</b><b>2</b>" + strings.Repeat("<c/>", 100) + "</title>").Blocks[0].Text, "</b>\n") {
		t.Errorf("the content of <title> was read as HTML's")
	}
	squeeze := strings.NewReplacer("\n", "", " ", "")
	if diff := cmp.Diff(squeeze.Replace(got), squeeze.Replace(in)); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestInvisible(t *testing.T) {
	for _, c := range []struct {
		in, want string
		n        int
	}{
		{"plain", "plain", 0},
		{"a\u200bb\u2060c\ufeffd", "abcd", 3},
		{"\u202eevil\u202c \u2066x\u2069", "evil x", 4},
		{"x\U000E0049\U000E0067", "x", 2},
		{"so\u00adft", "soft", 1},
		{"👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧", 0},
		{"❤\ufe0f ok", "❤\ufe0f ok", 0},
		{"می\u200cخواهم", "می\u200cخواهم", 0},
		{"a\u200db", "ab", 1},
		{"é\u200d\u200d\u200dé", "é\u200dé", 2},
		{"x\ufe01\ufe02\ufe03", "x\ufe01", 2},
		{"葛\U000E0100", "葛\U000E0100", 0},
		{"a\U000E0100\U000E0101", "a", 2},
		{"a\r\nb\rc", "a\nb\nc", 0},
		{"\r\u200b\n", "\n\n", 1},
	} {
		got, n := visible(c.in)
		if got != c.want || n != c.n {
			t.Errorf("visible(%q) = %q, %d, want %q, %d", c.in, got, n, c.want, c.n)
		}
	}
}

// Inputs that cost parsers of this kind the square of their length. They are long enough that such a parser
// would not come back; the benchmarks show the figures.
func TestCraftedInputsComeBack(t *testing.T) {
	const n = 100_000
	for name, in := range crafted(n) {
		t.Run(name, func(t *testing.T) {
			for kind := range converters {
				doc, _ := Convert(kind, "", in, testOptions)
				check(t, in, doc)
			}
		})
	}
}

// crafted returns the inputs by name, each of about 2 to 20 times n bytes.
func crafted(n int) map[string]string {
	rep := strings.Repeat
	return map[string]string{
		"open brackets":       rep("[", n),
		"open images":         rep("![", n),
		"brackets with links": rep("[", n) + rep("[a](b)", n/2),
		"nested brackets":     rep("[", n) + rep("]", n),
		"open targets":        rep("[a](", n),
		"open angle targets":  rep("[a](<b", n),
		"open titles":         rep("[a](b \"", n),
		"emphasis openers":    rep("*a ", n) + rep("_a ", n),
		"emphasis closers":    rep("a* ", n) + rep("a_ ", n),
		"emphasis mixed":      rep("a**b*c_d~~", n),
		"stars":               rep("*", n) + "a" + rep("*", n),
		"backticks":           backticks(n),
		"less-than":           rep("<", n) + ">",
		"open comments":       rep("<!-- a ", n) + ">",
		"open tags":           rep("<a b='c' ", n) + ">",
		"open quotes in tags": rep("<a b=\"c ", n) + ">",
		"swapped quotes":      rep("<a b='\" c=\"'>", n),
		"open scripts":        rep("a <script>", n),
		"entities":            rep("&amp", n) + rep("&#x", n),
		"nested quotes":       rep(">", n) + "\n" + rep("\n", n),
		"deep quotes":         rep(">", n) + "a" + rep("\n"+rep(">", 40)+"b", n/40),
		"quote lines":         rep("> > > > a\n", n/4),
		"nested lists":        rep("- ", n) + "a" + rep("\n", n) + "b",
		"list staircase":      staircase(400) + rep("\n", n),
		"reference labels":    "[a]: b\n\n" + rep("[a", n) + rep("][", n),
		"definitions":         rep("[a]: b\n", n/4),
		"footnotes":           rep("[^a]: b\n", n/4),
		"table columns":       rep("|a", n) + "\n" + rep("|-", n) + "\n" + rep("|b\n", n/10),
		"setext":              rep("a\n", n) + "===",
		"html lines":          rep("<div><!-- x\n", n/4),
		"front matter":        "---\n" + rep("a: b\n", n/4),
		"xml depth":           rep("<a>", n),
		"xml strays":          rep("<a>", n) + rep("</b>", n),
		"feed entries":        "<rss><channel>" + rep("<item><title>a", n/4),
		"feed depth":          rep("<rss>", n) + rep("<item></item>", n/4),
		"feed bases":          "<feed>" + rep("<entry xml:base='a/'>", n/4),
		"quotes":              rep(`"`, n) + rep(`""`, n),
		"commas":              rep(",", n) + rep("\n,", n),
		"json depth":          rep(`{"a":[`, n/4),
		"json array":          "[" + rep("1,", n) + "1]",
		"invisible":           rep("\u200b\u200d", n),
		"list tags":           rep("<ul><li>", n) + rep("</ul>", n),
		"anchors":             rep("<a href=b>c", n),
		"bare links":          rep("http://a", n) + rep(")", n) + " " + rep("https://a)))) ", n/4),
		"escapes":             rep("\\", n) + rep("\\|", n),
	}
}

func backticks(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		b.WriteString(strings.Repeat("`", i) + " ")
	}
	return b.String()
}

func staircase(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}

// converters gives a document of about n bytes of each kind, for the benchmarks.
var converters = map[Kind]func(n int) string{
	KindPlain: func(n int) string {
		return fill(n, func(i int) string {
			return "A  paragraph of plain words, number " + strconv.Itoa(i) + ",\nin two lines.\n\n"
		})
	},
	KindCode: func(n int) string {
		return fill(n, func(i int) string { return "\tif x == " + strconv.Itoa(i) + " {\n" })
	},
	KindMarkdown: func(n int) string {
		return fill(n, func(i int) string {
			s := strconv.Itoa(i)
			return "## Heading " + s + "\n\nSome *text* with `code`, a [link](page" + s + ".html) and\nmore **words** &amp; such.\n\n- item\n  1. deep\n\n```go\nx := " + s + "\n```\n\n| a | b |\n|---|---|\n| 1 | " + s + " |\n\n"
		})
	},
	KindJSON: func(n int) string {
		return "[" + fill(n, func(i int) string { return `{"id":` + strconv.Itoa(i) + `,"name":"some name","tags":["a","b"]},` }) + "0]"
	},
	KindJSONLines: func(n int) string {
		return fill(n, func(i int) string { return `{"id":` + strconv.Itoa(i) + `,"name":"some name","tags":["a","b"]}` + "\n" })
	},
	KindXML: func(n int) string {
		return "<a>" + fill(n, func(i int) string { return "<b><c>" + strconv.Itoa(i) + "</c><d e='f'/></b>" }) + "</a>"
	},
	KindFeed: func(n int) string {
		return "<rss><channel><title>t</title>" + fill(n, func(i int) string {
			s := strconv.Itoa(i)
			return "<item><title>Entry " + s + "</title><link>https://e.example/" + s + "</link><pubDate>today</pubDate><description>&lt;p&gt;Some text with &lt;a href=\"x" + s + "\"&gt;a link&lt;/a&gt;.&lt;/p&gt;&lt;p&gt;And more of it.&lt;/p&gt;</description></item>"
		}) + "</channel></rss>"
	},
	KindCSV: func(n int) string {
		return fill(n, func(i int) string { return strconv.Itoa(i) + `,"a ""quoted"" name",12.50,plain` + "\n" })
	},
	KindTSV: func(n int) string {
		return fill(n, func(i int) string { return strconv.Itoa(i) + "\tname\t12.50\tplain\n" })
	},
}

func fill(n int, f func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(f(i))
	}
	return b.String()
}

// BenchmarkConvert shows that time and memory grow with the size of the input.
func BenchmarkConvert(b *testing.B) {
	for _, kind := range []Kind{KindPlain, KindCode, KindMarkdown, KindJSON, KindJSONLines, KindXML, KindFeed, KindCSV, KindTSV} {
		for _, mb := range []int{1, 2, 4} {
			in := converters[kind](mb << 20)
			b.Run(strings.ReplaceAll(string(kind), " ", "-")+"/"+strconv.Itoa(mb)+"MB", func(b *testing.B) {
				b.SetBytes(int64(len(in)))
				b.ReportAllocs()
				for b.Loop() {
					Convert(kind, "", in, testOptions)
				}
			})
		}
	}
}

// BenchmarkCrafted does the same for the inputs made to cost Markdown its square.
func BenchmarkCrafted(b *testing.B) {
	for name := range crafted(1) {
		for _, n := range []int{50_000, 100_000, 200_000} {
			in := crafted(n)[name]
			b.Run(strings.ReplaceAll(name, " ", "-")+"/"+strconv.Itoa(n), func(b *testing.B) {
				b.SetBytes(int64(len(in)))
				for b.Loop() {
					Convert(KindMarkdown, "", in, testOptions)
				}
			})
		}
	}
}

// TestEmptyCSV: cells without a character are no text, so that the page counts as one without any.
func TestEmptyCSV(t *testing.T) {
	for in, want := range map[string]int{"": 0, ",\n": 0, "\" \n\t\n\"": 0, ",,\n ,\n": 0, ",x\n": 1} {
		if got := len(CSV(in).Blocks); got != want {
			t.Errorf("CSV(%q) has %d blocks, want %d", in, got, want)
		}
	}
}

// TestMergedEnd: a text of too many blocks loses nothing; its end is one paragraph.
func TestMergedEnd(t *testing.T) {
	const n = blocks.MaxBlocks + 1000
	for _, tt := range []struct {
		name, head, unit, tail string
		kind                   Kind
		n                      int
	}{
		{"lines", "", "w%\n", "", KindPlain, n},
		{"paragraphs", "", "w%\n\n", "", KindPlain, n},
		{"Markdown", "", "w% *x*\n\n", "", KindMarkdown, n},
		{"Markdown items", "", "- w%\n", "", KindMarkdown, n},
		{"entries", "<rss><channel><title>t</title>", "<item><title>w%</title></item>", "</channel></rss>", KindFeed, n},
		{"tables", "", "|w%|\n|-|\n|x|\n\n", "w" + strconv.Itoa(n-1), KindMarkdown, n},
		{"HTML with blocks inside", "", "<p>w%</p><p>x</p>\n\n", "w" + strconv.Itoa(n-1), KindMarkdown, n},
		{"marks in one block", "", "[w% ", "", KindMarkdown, maxPieces},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w strings.Builder
			w.WriteString(tt.head)
			for i := range tt.n {
				w.WriteString(strings.ReplaceAll(tt.unit, "%", strconv.Itoa(i)))
			}
			doc, ok := Convert(tt.kind, "", w.String()+tt.tail, Options{})
			if !ok {
				t.Fatal("not converted")
			}
			if len(doc.Blocks) > blocks.MaxBlocks {
				t.Errorf("%d blocks", len(doc.Blocks))
			}
			if !slices.Contains(doc.Warnings, WarnMerged) {
				t.Errorf("warnings %v", doc.Warnings)
			}
			text := blocks.Markdown(doc)
			for i := 0; i < tt.n; i += 1009 {
				if !strings.Contains(text, "w"+strconv.Itoa(i)) {
					t.Fatalf("w%d is lost", i)
				}
			}
			if last := doc.Blocks[len(doc.Blocks)-1].Text; !strings.HasSuffix(last, "w"+strconv.Itoa(tt.n-1)) && !strings.HasSuffix(last, "w"+strconv.Itoa(tt.n-1)+" x") {
				t.Errorf("the text ends %.40q", last[max(0, len(last)-40):])
			}
		})
	}
}

// TestTooManyCells: a table stops where it would become a multiple of its source; its rows go on as source.
func TestTooManyCells(t *testing.T) {
	const n = 600_000
	for _, tt := range []struct {
		name     string
		kind     Kind
		in, want string // what the last block ends with
	}{
		{"CSV", KindCSV, strings.Repeat(",\n", n) + "x,y\n", ",\nx,y"},
		{"CSV with marks", KindCSV, strings.Repeat("*;*\n", n) + "x;y\n", "*;*\nx;y"},
		{"TSV in one line", KindTSV, strings.Repeat("a\t", n) + "z", "a\ta\tz"},
		{"CSV of nothing up to its end", KindCSV, strings.Repeat("|", n) + "z", "||z"},
		{"CSV with a wide record", KindCSV, "a,b\n1,2\n" + strings.Repeat("c,", n) + "z\n3,4\n", "c,z\n3,4"},
		{"Markdown", KindMarkdown, "|a|b|\n|-|-|\n" + strings.Repeat("||\n", n) + "|x|y|\n", "\n|x|y|"},
		{"Markdown with marks", KindMarkdown, "|a|b|\n|-|-|\n" + strings.Repeat("|*c*||||||\n", n) + "|x|*y*|\n", "\n|x|y|"},
		{"Markdown with a wide row", KindMarkdown, "|a|b|\n|-|-|\n|c|d|\n" + strings.Repeat("|", n) + "z\n|3|4|\n", "|z\n|3|4|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, _ := Convert(tt.kind, "", tt.in, testOptions)
			check(t, tt.in, doc)
			last := doc.Blocks[len(doc.Blocks)-1]
			if last.Kind != blocks.Code || !strings.HasSuffix(last.Text, tt.want) {
				t.Errorf("the last block is %s and ends %q", last.Kind, last.Text[max(0, len(last.Text)-40):])
			}
			if diff := cmp.Diff(doc.Warnings, []string{WarnMerged}); diff != "" {
				t.Errorf("warnings (-got +want):\n%s", diff)
			}
			size := 0
			for _, b := range doc.Blocks {
				size += max(len(b.Text), len(b.Markdown))
			}
			if size > 3*len(tt.in)+2<<20 {
				t.Errorf("%d bytes became %d", len(tt.in), size)
			}
		})
	}
}

// TestMergedEndHides: what is not shown before the end of a long document is not shown in it either, and each escape is
// read once.
func TestMergedEndHides(t *testing.T) {
	const secret = "<div style=\"display: none\">secret</div>"
	extract := testOptions
	extract.Fragment = func(html, base string) *blocks.Document {
		d, err := blocks.Extract([]byte(html), blocks.Options{Mode: blocks.Full, Base: base})
		if err != nil {
			return nil
		}
		return d
	}
	many := func(unit string) string { return strings.Repeat(unit, blocks.MaxBlocks) }
	item := func(html string) string {
		return "<item><description>" + strings.NewReplacer("<", "&lt;", "&", "&amp;").Replace(html) + "</description></item>"
	}
	for _, tt := range []struct {
		name, in, want string
		kind           Kind
	}{
		{"HTML in Markdown", many("a\n\n") + secret + "\n\n<script>secret\n\nsecret</script>\n\n<!-- secret\n\nsecret -->\n\nend \\*\n", "a\nend *", KindMarkdown},
		{"inline in Markdown", many("a\n\n") + "x <span hidden>secret <span>secret</span></span> y <!-- secret -->[z](b \"secret\")\n", "a\nx y z", KindMarkdown},
		{"one long paragraph", strings.Repeat("*a ", maxPieces) + "<b style='visibility:hidden'>secret</b> <!-- secret --> `<i>` &amp;amp; \\* <i>end</i>", "*a <i> &amp; * end", KindMarkdown},
		{"a table", many("a\n\n") + "|a|\n|-|\n|<i hidden>secret</i>end|\n", "|a|\n|end|", KindMarkdown},
		{"definitions behind their use", many("a\n\n") + "[end][r]\n\n[r]: secret\n", "a\nend", KindMarkdown},
		{"a feed", "<rss><channel>" + many(item("a")) + item(secret+"<p>end</p>") + "</channel></rss>", "a\nend", KindFeed},
		{"a feed that closes nothing", "<rss><channel>" + many(item("a")) + item("<p>b<div hidden>secret") + item("end") + "</channel></rss>", "a\nb\nend", KindFeed},
	} {
		for seam, opt := range map[string]Options{"plain": testOptions, "blocks": extract} {
			t.Run(tt.name+"/"+seam, func(t *testing.T) {
				doc, _ := Convert(tt.kind, "", tt.in, opt)
				last := doc.Blocks[len(doc.Blocks)-1]
				if !strings.HasSuffix(last.Text, tt.want) {
					t.Errorf("the text ends %q, want %q", last.Text[max(0, len(last.Text)-60):], tt.want)
				}
				md := blocks.Markdown(doc)
				if strings.Contains(md, "secret") {
					t.Error("what is hidden is shown")
				}
				if strings.Contains(md, `\\*`) {
					t.Error("an escape is escaped")
				}
				if !slices.Contains(doc.Warnings, WarnMerged) {
					t.Errorf("warnings %v", doc.Warnings)
				}
			})
		}
	}
}

// TestHiddenInline: an element inside a paragraph that is not shown is left out and counted.
func TestHiddenInline(t *testing.T) {
	for in, want := range map[string]struct {
		text   string
		hidden int
	}{
		"a <span style=\"color: red; DISPLAY:none\">b c</span> d":          {"a d", 2},
		"a <span HIDDEN>b <span>c</span> d</span> e":                       {"a e", 3},
		"a <b class=\"x sr-only\">b</b> c":                                 {"a c", 1},
		"a <b style=\"position: absolute; left: -9999px\">b</b> c":         {"a c", 1},
		"a <i hidden>never closed":                                         {"a never closed", 0},
		"a <br hidden>b":                                                   {"a b", 0},
		"a <span style=\"opacity:1\">b</span> <b hidden=until-found>c</b>": {"a b c", 0},
	} {
		doc := Markdown(in, Options{})
		if len(doc.Blocks) != 1 || doc.Blocks[0].Text != want.text || doc.Removed.HiddenChars != want.hidden {
			t.Errorf("%s: %+v, %+v", in, doc.Blocks, doc.Removed)
		}
	}
}

// TestPlainFragmentHides holds the plain reader of HTML to what is shown.
func TestPlainFragmentHides(t *testing.T) {
	for in, want := range map[string]string{
		"<div hidden>s<div>s</div>s</div>a":                             "a",
		"<p hidden>s<p>a":                                               "a",
		"<p hidden>s<i>s</i><div>a</div>":                               "a",
		"<ul><li hidden>s<ul><li>s</ul>s<li>a</ul>b":                    "a b",
		"<table><tr><td hidden>s<td>a</table>b":                         "a b",
		"<ul><li hidden>s</ul>a":                                        "a",
		"<script>s</script>a<style>s</style><template>s</template>b":    "a b",
		"a<img hidden>b<span style='font-size: 0 !important'>s</span>c": "abc",
	} {
		doc := &blocks.Document{}
		got := plainFragment(in)
		var texts []string
		for _, b := range newLinker(doc, Options{}, len(in)).fragment(in, "", 0) {
			texts = append(texts, b.Text)
		}
		squeeze := strings.NewReplacer(" ", "")
		if squeeze.Replace(got) != squeeze.Replace(want) || squeeze.Replace(strings.Join(texts, "")) != squeeze.Replace(want) {
			t.Errorf("%s: %q and %q, want %q", in, got, texts, want)
		}
	}
}

// TestControlCharacters: no format shows them; white space among them stays white space.
func TestControlCharacters(t *testing.T) {
	for kind, in := range map[Kind]string{
		KindPlain: "a\x00b\x1b[0m\x7f\u0080\u009fc\fd\u0085e", KindCode: "a\x00b\x1b[0m\x7f\u0080\u009fc\fd\u0085e",
		KindMarkdown: "a\x00b\x1b[0m\x7f\u0080\u009fc\fd\u0085e", KindCSV: "a\x00b\x1b[0m\x7f\u0080\u009fc\fd\u0085e,f", KindTSV: "a\x00b\x1b[0m\x7f\u0080\u009fc\fd\u0085e\tf",
		KindJSON: "\"a\x00b\x1b[0m\x7f\u0080\u009fc\fd\u0085e\"", KindJSONLines: "\x1e\"a\x00b\x1b[0m\x7f\u0080\u009fc\fd\u0085e\"",
		KindXML:  "<a>a\x00b\x1b[0m\x7f\u0080\u009fc\fd\u0085e</a>",
		KindFeed: "<rss><channel><item><description>a\x00b\x1b[0m\x7f\u0080\u009fc\fd\u0085e&amp;#7;</description></item></channel></rss>",
	} {
		doc, _ := Convert(kind, "", in, Options{})
		want := 5
		if kind == KindFeed {
			want++
		}
		if len(doc.Blocks) != 1 || !strings.Contains(doc.Blocks[0].Text, "ab[0mc d e") || doc.Removed.InvisibleChars != want {
			t.Errorf("%s: %+v, %+v", kind, doc.Blocks, doc.Removed)
		}
	}
}

// TestPlainLines: prose that was broken to fit a width is paragraphs, and lines that are meant are kept.
func TestPlainLines(t *testing.T) {
	prose := "The quick brown fox jumps over the lazy dog and then it\nturns around, looks at the dog, and jumps over it again\nuntil both have had enough."
	flat := strings.ReplaceAll(prose, "\n", " ")
	type block struct {
		Kind blocks.Kind
		Text string
	}
	para := func(s string) block { return block{blocks.Paragraph, s} }
	code := func(s string) block { return block{blocks.Code, s} }
	for _, tt := range []struct {
		name, in string
		want     []block
	}{
		{"prose", prose + "\n\n" + prose, []block{para(flat), para(flat)}},
		{"few lines", "one\ntwo\n\nthree", []block{para("one two"), para("three")}},
		{"one paragraph", "one  x\ntwo\nthree\nfour", []block{para("one x"), para("two"), para("three"), para("four")}},
		{"verse", "Rain falls\non the roof\nall day\n\nand then\nit stops", []block{para("Rain falls\non the roof\nall day"), para("and then\nit stops")}},
		{"a list", "Version 2\n\n* one thing\n* another\n  of it\n* a third", []block{para("Version 2"), code("* one thing\n* another\n  of it\n* a third")}},
		{"an address in prose", prose + "\n\n" + prose + "\n\nJo Doe\nMain St 1\n12345 Town\nLand\n\n" + prose,
			[]block{para(flat), para(flat), para("Jo Doe\nMain St 1\n12345 Town\nLand"), para(flat)}},
		{"prose among lines", "a\nb\nc\nd\ne\n\n" + prose, []block{para("a\nb\nc\nd\ne"), para(flat)}},
		{"columns", "name   size\nabc    1\nde     22\nf      3\n\nend", []block{code("name   size\nabc    1\nde     22\nf      3"), para("end")}},
		{"columns alone", "name   size\nabc    1\nde     22\nf      3", []block{code("name   size\nabc    1\nde     22\nf      3")}},
		{"Chinese prose", "一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十\n一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十\n三四\n\n五", []block{para("一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十 一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十 三四"), para("五")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := PlainText(tt.in)
			check(t, tt.in, doc)
			var got []block
			for _, b := range doc.Blocks {
				got = append(got, block{b.Kind, b.Text})
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

// TestFeedDepth: elements are followed to a bounded depth, and what stands behind very deep ones is read as ever.
func TestFeedDepth(t *testing.T) {
	in := "<rss><channel><item><title>one</title>" + strings.Repeat("<a>", 2*maxDepth) + strings.Repeat("</a>", 2*maxDepth) + "</item><item><title>two</title></item></channel></rss>"
	doc := Feed(in, testOptions)
	want := []blocks.Block{{Kind: blocks.Heading, Level: 2, Text: "one"}, {Kind: blocks.Heading, Level: 2, Text: "two"}}
	if diff := cmp.Diff(doc.Blocks, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	p := feedParser{l: newLinker(&blocks.Document{}, Options{}, 0)}
	p.open = map[string]int{}
	for range 2 * maxDepth {
		p.push(feedElement{name: "a"})
	}
	if len(p.stack) != maxDepth || p.over != maxDepth {
		t.Errorf("%d elements are kept and %d are over", len(p.stack), p.over)
	}
}
