package formats

import (
	"strings"

	"golang.org/x/net/html"

	"web/browse/blocks"
)

// unescape decodes the character references of HTML. What a reference hides is as invisible as what is
// written plainly, so it is dropped too.
func unescape(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	return html.UnescapeString(s)
}

// fragment reads a piece of HTML into blocks, listing its links. Headings are moved down by shift levels.
func (l *linker) fragment(src, base string, shift int) []blocks.Block {
	if strings.IndexByte(src, '<') < 0 {
		return l.visibleBlocks(l.paragraphs(unescape(src)))
	}
	if l.opt.Fragment != nil && l.fragments > 0 {
		l.fragments--
		d := l.opt.Fragment(src, base)
		if d == nil {
			return nil
		}
		for i := range d.Blocks {
			if d.Blocks[i].Kind == blocks.Heading {
				d.Blocks[i].Level = min(6, d.Blocks[i].Level+shift)
			}
		}
		for _, link := range d.Links {
			l.add(link.Text, link.URL)
		}
		r := &l.doc.Removed
		r.HiddenChars += d.Removed.HiddenChars
		r.InvisibleChars += d.Removed.InvisibleChars
		r.DataURIs += d.Removed.DataURIs
		r.BoilerplateChars += d.Removed.BoilerplateChars
		for _, w := range d.Warnings {
			l.warn(w)
		}
		return d.Blocks
	}
	f := fragmentReader{l: l, base: base, shift: shift, linkFrom: -1}
	f.read(src)
	return l.visibleBlocks(f.out)
}

// paragraphs is the paragraphs of a text inside a document, the last of which holds what is left of too many.
func (l *linker) paragraphs(text string) []blocks.Block {
	bs, rest := paragraphs(text, false)
	if rest = collapse(rest); rest != "" {
		bs = append(bs, blocks.Block{Kind: blocks.Paragraph, Text: rest})
		l.warn(WarnMerged)
	}
	return bs
}

// visibleBlocks drops the invisible characters that character references brought in.
func (l *linker) visibleBlocks(bs []blocks.Block) []blocks.Block {
	out := bs[:0]
	for _, b := range bs {
		if text, n := visible(b.Text); n > 0 {
			l.doc.Removed.InvisibleChars += n
			b.Text = text
			b.Markdown, _ = visible(b.Markdown)
			if b.Kind != blocks.Code && b.Kind != blocks.Table {
				b.Text, b.Markdown = collapse(b.Text), collapse(b.Markdown)
			}
		}
		if !blank(b.Text) {
			out = append(out, b)
		}
	}
	return out
}

// plainFragment is the text of a piece of HTML on one line.
func plainFragment(src string) string {
	if strings.IndexByte(src, '<') < 0 {
		return collapse(unescape(src))
	}
	var b strings.Builder
	var hidden hider
	z := html.NewTokenizer(strings.NewReader(src))
	for {
		switch tt := z.Next(); tt {
		case html.ErrorToken:
			return collapse(b.String())
		case html.TextToken:
			if !hidden.hiding() {
				b.Write(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			hides, name := startTag(z)
			if hidden.hiding() && hidden.start(name) {
				continue
			}
			if tt == html.StartTagToken && (unseen(name) || !isVoid(name) && hides) {
				hidden.name = name
			}
			if breaks(name) || tt == html.SelfClosingTagToken {
				b.WriteByte(' ')
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if hidden.hiding() && hidden.end(string(name)) {
				continue
			}
			if breaks(string(name)) {
				b.WriteByte(' ')
			}
		}
	}
}

// startTag is the name of the tokenizer's tag, and whether an attribute hides its element.
func startTag(z *html.Tokenizer) (hidden bool, name string) {
	tag, more := z.TagName()
	name = string(tag)
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		hidden = hidden || blocks.Hides(string(key), string(value))
	}
	return hidden, name
}

// unseen reports whether browsers show nothing of the element's content.
func unseen(name string) bool {
	switch name {
	case "script", "style", "template", "head", "title", "svg", "math", "iframe", "object", "noembed", "noframes", "select", "textarea":
		return true
	}
	return false
}

// breaks reports whether the element stands apart from the text around it.
func breaks(name string) bool {
	switch name {
	case "p", "div", "br", "hr", "li", "ul", "ol", "dl", "dt", "dd", "pre", "blockquote", "table", "tr", "td", "th", "caption", "section",
		"article", "header", "footer", "main", "aside", "nav", "figure", "figcaption", "details", "summary", "h1", "h2", "h3", "h4", "h5",
		"h6", "address", "form", "fieldset", "center", "body", "html", "tbody", "thead", "tfoot":
		return true
	}
	return false
}

// fragmentReader is the plain reader of HTML: one pass over the tokens, no tree.
type fragmentReader struct {
	l     *linker
	base  string
	shift int
	out   []blocks.Block

	text, md []byte
	kind     blocks.Kind
	level    int
	ordered  int
	// lists holds, per open list, the number of its last item, or -1 for bullets.
	lists []int
	quote int
	pre   bool
	// linkFrom is where the text of the open link starts in text, linkMD in md, or -1.
	linkFrom, linkMD int
	linkURL          string
}

// maxLists bounds the list depth that is kept, as a page may open lists without end.
const maxLists = 64

// read goes over the tokens. The content of an unseen or hidden element is skipped up to its end.
func (f *fragmentReader) read(src string) {
	f.kind = blocks.Paragraph
	z := html.NewTokenizer(strings.NewReader(src))
	var hidden hider
	for {
		switch tt := z.Next(); tt {
		case html.ErrorToken:
			f.flush()
			return
		case html.TextToken:
			s := string(z.Text())
			if hidden.hiding() {
				if !unseen(hidden.name) {
					f.l.hide(s)
				}
				continue
			}
			f.text = append(f.text, s...)
			f.md = append(f.md, escapeMarkdown(s)...)
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttr := z.TagName()
			tag := string(name)
			if hidden.hiding() && hidden.start(tag) {
				continue
			}
			var href, alt, src string
			hide := unseen(tag)
			for hasAttr {
				var key, value []byte
				key, value, hasAttr = z.TagAttr()
				switch string(key) {
				case "href":
					href = string(value)
				case "alt":
					alt = string(value)
				case "src":
					src = string(value)
				default:
					hide = hide || blocks.Hides(string(key), string(value))
				}
			}
			if hide && tt == html.StartTagToken && !isVoid(tag) {
				hidden.name = tag
				continue
			}
			f.open(tag, href, alt, src)
		case html.EndTagToken:
			name, _ := z.TagName()
			if hidden.hiding() && hidden.end(string(name)) {
				continue
			}
			f.close(string(name))
		}
	}
}

// open acts on a start tag; one that breaks ends the block before it.
func (f *fragmentReader) open(tag, href, alt, src string) {
	switch tag {
	case "a":
		f.endLink()
		if url, ok := f.l.resolve(f.base, href); ok && href != "" {
			f.linkFrom, f.linkMD, f.linkURL = len(f.text), len(f.md), url
		}
		return
	case "img":
		f.text = append(f.text, alt...)
		f.md = append(f.md, escapeMarkdown(alt)...)
		if len(src) >= 5 && strings.EqualFold(src[:5], "data:") {
			f.l.doc.Removed.DataURIs++
		}
		return
	case "br":
		f.text = append(f.text, '\n')
		f.md = append(f.md, '\n')
		return
	}
	if !breaks(tag) {
		return
	}
	f.flush()
	switch tag {
	case "ul", "ol":
		if len(f.lists) < maxLists {
			n := -1
			if tag == "ol" {
				n = 0
			}
			f.lists = append(f.lists, n)
		}
	case "li":
		f.kind, f.ordered = blocks.ListItem, 0
		if n := len(f.lists); n > 0 && f.lists[n-1] >= 0 {
			f.lists[n-1]++
			f.ordered = f.lists[n-1]
		}
	case "pre":
		f.kind, f.pre = blocks.Code, true
	case "blockquote":
		f.quote++
	case "h1", "h2", "h3", "h4", "h5", "h6":
		f.kind, f.level = blocks.Heading, min(6, int(tag[1]-'0')+f.shift)
	}
}

// close acts on an end tag.
func (f *fragmentReader) close(tag string) {
	if tag == "a" {
		f.endLink()
		return
	}
	if !breaks(tag) {
		return
	}
	f.flush()
	switch tag {
	case "li":
		f.kind, f.ordered = blocks.Paragraph, 0
	case "ul", "ol":
		f.kind, f.ordered = blocks.Paragraph, 0
		f.lists = f.lists[:max(0, len(f.lists)-1)]
	case "pre":
		f.pre, f.kind = false, blocks.Paragraph
	case "blockquote":
		f.quote = max(0, f.quote-1)
	}
}

// endLink closes the open link, if any, and lists it.
func (f *fragmentReader) endLink() {
	if f.linkFrom < 0 {
		return
	}
	f.l.add(string(f.text[f.linkFrom:]), f.linkURL)
	text := collapse(string(f.md[f.linkMD:]))
	f.md = append(f.md[:f.linkMD], markdownLink(text, f.linkURL)...)
	f.linkFrom = -1
}

// flush ends the block that was being gathered; the next one is a paragraph until a tag says otherwise.
func (f *fragmentReader) flush() {
	f.endLink()
	b := blocks.Block{Kind: f.kind, Level: f.level, Ordered: f.ordered, Quoted: f.quote}
	if f.kind == blocks.Code {
		b.Text = trimLines(string(f.text))
	} else {
		b.Text = collapse(string(f.text))
		if md := collapse(string(f.md)); md != b.Text {
			b.Markdown = guardStart(md)
		}
	}
	switch {
	case f.kind == blocks.ListItem:
		b.Depth = max(1, len(f.lists))
	case f.kind == blocks.Paragraph && f.quote > 0:
		b.Kind, b.Depth = blocks.Quote, f.quote
	}
	f.text, f.md = f.text[:0], f.md[:0]
	if b.Text != "" {
		f.out = append(f.out, b)
	} else if f.kind == blocks.ListItem {
		// An item whose text stands in a <p> keeps its mark until the text comes.
		return
	}
	f.kind, f.level, f.ordered = blocks.Paragraph, 0, 0
	if f.pre {
		f.kind = blocks.Code
	}
}
