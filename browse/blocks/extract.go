package blocks

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Mode says how much of a page is wanted.
type Mode int

const (
	// Article is the main content; Extract falls back to Full where isolating it would lose text.
	Article Mode = iota
	// Full is everything that a reader of the page could see.
	Full
)

// The warnings of a Document.
const (
	// WarnRecovered: the markup nested deeper than can be represented and was flattened; no text is lost.
	WarnRecovered = "HTML_PARSE_RECOVERED"
	// WarnMerged: the page has so many elements or blocks that its end is given as the lines of one paragraph, with
	// no marks, links or tables; no text is lost.
	WarnMerged = "BLOCKS_MERGED"
	// WarnFullFallback: the main content could not be told from the rest, so everything visible is given.
	WarnFullFallback = "EXTRACT_FULL_FALLBACK"
	// WarnLinksTruncated: the text is complete, the list of links is not. Here it means that the addresses were
	// longer than is reasonable for the text.
	WarnLinksTruncated = "LINKS_TRUNCATED"
)

// Options says what Extract is to do. The zero value is article mode without an address.
type Options struct {
	Mode Mode
	// Base is the final address of the page. Relative links of a page without one are left out.
	Base string
	// Resolve gives the absolute form of ref as seen from base, and whether it is a web address. It is called
	// with the page's <base>, if it has one, already applied to base. Nil means Resolve of this package.
	Resolve func(base, ref string) (string, bool)
}

// minLinkBytes is how many bytes the addresses of a page's links may always have together; beyond it they may
// have as many as the text.
const minLinkBytes = 4 << 20

// A page whose text is below shellChars characters and whose scripts hold shellScripts bytes or more is a
// shell: what it shows is made by its scripts.
const (
	shellChars   = 600
	shellScripts = 4 << 10
)

// Extract reads a page. src is UTF-8; bytes that are not become U+FFFD. It never fails on what a page holds;
// the error is for the caller's mistakes and is nil today.
func Extract(src []byte, opt Options) (*Document, error) {
	c, facts := read(src, opt.Mode == Full)
	t := c.t
	doc := &Document{Title: facts.title, Meta: facts.meta}
	if t.recovered {
		doc.Warnings = append(doc.Warnings, WarnRecovered)
	}
	keep := make([]bool, len(c.drafts))
	if opt.Mode == Full {
		for i := range keep {
			keep[i] = true
		}
	} else if choose(c, facts, keep) {
		doc.Warnings = append(doc.Warnings, WarnFullFallback)
	}
	if c.merged && len(keep) > 0 {
		doc.Warnings = append(doc.Warnings, WarnMerged)
		keep[len(keep)-1] = true // nobody can say any more what it is made of
	}
	doc.Removed.DataURIs = t.dataURIs
	scripts, scriptBytes := t.scriptCount, t.scriptBytes
	t, c.t = nil, nil // the text is in drafts now: a big page's tree need not stay while they are rendered
	c.deliver(doc, opt, facts, keep)
	doc.Removed.HiddenChars = c.hidden
	doc.Removed.InvisibleChars = c.invisible
	doc.Removed.BoilerplateChars += c.forms
	if doc.Title == "" {
		for _, b := range doc.Blocks {
			if b.Kind == Heading && b.Level == 1 {
				doc.Title = clean(b.Text, maxTitleChars)
				break
			}
		}
	}
	chars := 0
	for i := range c.drafts {
		chars += int(c.drafts[i].end - c.drafts[i].start)
	}
	doc.ScriptShell = chars < shellChars && (scriptBytes >= shellScripts || scripts >= 2 && chars < shellChars/4 ||
		scripts > 0 && chars == 0)
	return doc, nil
}

// read runs the passes before the choice.
func read(src []byte, everything bool) (*collector, pageFacts) {
	if !utf8.Valid(src) {
		src = bytes.ToValidUTF8(src, []byte("\uFFFD"))
	}
	t := parse(src)
	prune(t)
	return collect(t, everything), readFacts(t)
}

// deliver turns the kept drafts into blocks and their links into the document's.
func (c *collector) deliver(doc *Document, opt Options, facts pageFacts, keep []bool) {
	resolve := opt.Resolve
	if resolve == nil {
		resolve = Resolve
	}
	base := opt.Base
	if facts.baseHref != "" {
		if b, ok := resolve(base, facts.baseHref); ok {
			base = b
		}
	}
	self, _ := resolve(opt.Base, "")
	if doc.Meta.CanonicalURL != "" {
		u, ok := resolve(base, doc.Meta.CanonicalURL)
		if !ok {
			u = ""
		}
		doc.Meta.CanonicalURL = u
	}
	// A long base in front of many short links would multiply the page.
	budget := max(minLinkBytes, len(c.text))
	urls := make([]string, len(c.anchors))
	known := make([]bool, len(c.anchors))
	url := func(link int32) string {
		if !known[link] {
			known[link] = true
			href := strings.TrimSpace(c.anchors[link].href)
			if u, ok := resolve(base, href); ok && !(strings.Contains(href, "#") && u == self) && href != "" {
				if budget -= len(u); budget < 0 {
					if len(doc.Warnings) == 0 || doc.Warnings[len(doc.Warnings)-1] != WarnLinksTruncated {
						doc.Warnings = append(doc.Warnings, WarnLinksTruncated)
					}
					return ""
				}
				urls[link] = u
			}
		}
		return urls[link]
	}
	n := 0
	for _, k := range keep {
		if k {
			n++
		}
	}
	doc.Blocks = make([]Block, 0, n)
	// A link around several blocks is written at the first of them.
	written := make([]int32, len(c.anchors))
	kept := 0
	for i := range c.drafts {
		d := &c.drafts[i]
		if !keep[i] {
			doc.Removed.BoilerplateChars += utf8.RuneCount(c.text[d.start:d.end])
			continue
		}
		kept++
		doc.Blocks = append(doc.Blocks, c.blockOf(d, func(link int32) string {
			if written[link] != 0 && written[link] != int32(kept) {
				return ""
			}
			u := url(link)
			written[link] = int32(kept)
			return u
		}))
	}
	c.links(doc, url, keep)
}

func (c *collector) blockOf(d *draft, url func(int32) string) Block {
	b := Block{Kind: d.kind, Level: int(d.level), Depth: int(d.depth), Ordered: int(d.ordered), Quoted: int(d.quoted), Language: d.language}
	if d.kind == Table {
		b.Text = c.tableText(d, nil)
		if md := c.tableText(d, url); md != b.Text {
			b.Markdown = md
		}
		return b
	}
	b.Text = string(c.text[d.start:d.end])
	if d.kind == Code {
		return b
	}
	runs := c.runs[d.r0:d.r1]
	for _, r := range runs {
		if r.style != 0 || r.link >= 0 {
			w := mdWriter{out: make([]byte, 0, len(b.Text)+len(b.Text)/4+16)}
			w.span(c.text, runs, url)
			b.Markdown = string(w.out)
			break
		}
	}
	return b
}

// links lists the links of the kept drafts in document order, each pair of text and address once.
func (c *collector) links(doc *Document, url func(int32) string, keep []bool) {
	texts := make(map[int32][]byte)
	var order []int32
	for i := range c.drafts {
		if !keep[i] {
			continue
		}
		for _, r := range c.runs[c.drafts[i].r0:c.drafts[i].r1] {
			if r.link < 0 || url(r.link) == "" {
				continue
			}
			s, seen := texts[r.link]
			if !seen {
				order = append(order, r.link)
			} else if i > 0 {
				s = append(s, ' ')
			}
			texts[r.link] = append(s, c.text[r.start:r.end]...)
		}
	}
	seen := make(map[Link]bool, len(order))
	for _, id := range order {
		l := Link{Text: strings.Join(strings.Fields(string(texts[id])), " "), URL: url(id)}
		if l.Text != "" && !seen[l] {
			seen[l] = true
			doc.Links = append(doc.Links, l)
		}
	}
}
