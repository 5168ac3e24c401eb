package formats

import (
	"cmp"
	"strings"

	"web/browse/blocks"
)

// Feed reads RSS 0.9x, 1.0 and 2.0, and Atom. The feed's title and description are the document's; each
// entry is a heading of level 2 that links to it, a paragraph with date and author, and its text. XML that is
// no feed is given as XML.
//
// The text is parsed twice: a feed may tell its own address behind its entries, and keeping all entries until then
// would take many times the text.
func Feed(text string, opt Options) *blocks.Document {
	doc, text := start(text)
	about := feedParser{l: newLinker(&blocks.Document{}, opt, len(text))}
	about.parse(text)
	if !about.isFeed {
		x := XML(text)
		x.Removed = doc.Removed
		return x
	}
	p := feedParser{l: newLinker(doc, opt, len(text)), feed: about.feed, out: sink{doc: doc}}
	p.entry = p.renderItem
	p.render()
	p.parse(text)
	p.out.finish()
	return doc
}

// feedText is a text as the feed holds it: plain, or HTML of which one level of escaping is undone. Base is
// what its xml:base attributes come to, "" without any.
type feedText struct {
	s    string
	html bool
	base string
}

// feedItem is an entry, or the feed itself.
type feedItem struct {
	title, summary, content feedText
	link, guid              string
	date, updated, author   string
	enclosures              []enclosure
	base                    string
	guidIsLink              bool
	language, self          string
}

type enclosure struct{ url, label string }

// feedElement is an open element.
type feedElement struct {
	name string
	base string
}

type feedParser struct {
	l      *linker
	isFeed bool
	rss    bool
	// prefixes maps the prefixes that the root declares to those commonly used.
	prefixes map[string]string
	stack    []feedElement
	open     map[string]int
	feed     feedItem
	// entry takes each entry as it ends. With nil only the feed itself is read, else only the entries.
	entry func(*feedItem)
	out   sink
	item  *feedItem // the open entry
	// itemDepth is the stack height of the open entry or, outside entries, of the channel.
	itemDepth int
	// feedDepth is the channel's height while an entry is open.
	feedDepth int

	// capture is the stack height of the element whose text is gathered, 0 for none.
	capture int
	kind    string // its type attribute
	text    []byte
	// over is how many elements are open beyond maxDepth.
	over int
}

// maxDepth is how deep elements are followed. Those inside are text of the innermost.
const maxDepth = 1 << 12

// maxBase is the longest xml:base in bytes that is used: bases build on each other, so they could grow without end.
const maxBase = maxRef

// parse walks over the feed once. What is missing an end tag ends with its parent, or with the text.
func (p *feedParser) parse(text string) {
	p.open = make(map[string]int)
	s := newXMLScanner(text)
	for s.next() {
		switch s.kind {
		case xmlText:
			if p.capture > 0 {
				// XHTML is markup as it stands; all other text had its markup escaped once.
				if p.kind == "xhtml" {
					p.text = append(p.text, s.raw...)
				} else {
					p.text = append(p.text, s.text...)
				}
			}
		case xmlStart, xmlEmpty:
			if p.capture > 0 {
				p.markup(s)
				continue
			}
			p.start(s)
			if s.kind == xmlEmpty {
				p.end(p.name(s.name))
			}
		case xmlEnd:
			p.end(p.name(s.name))
		}
	}
	for len(p.stack) > 0 {
		p.end(p.stack[len(p.stack)-1].name)
	}
}

// name is an element's name with the prefix that is usual for its namespace.
func (p *feedParser) name(name string) string {
	prefix, local, found := strings.Cut(name, ":")
	if !found {
		return name
	}
	if usual, ok := p.prefixes[prefix]; ok {
		prefix = usual
	}
	if prefix == "" {
		return local
	}
	return prefix + ":" + local
}

// usualPrefix is the common prefix of a namespace; ok is false for namespaces that do not matter here.
func usualPrefix(ns string) (prefix string, ok bool) {
	switch strings.TrimRight(strings.ToLower(ns), "/") {
	case "http://www.w3.org/2005/atom", "http://purl.org/atom/ns#":
		return "atom", true
	case "http://purl.org/rss/1.0", "http://my.netscape.com/rdf/simple/0.9", "http://backend.userland.com/rss2":
		return "", true
	case "http://purl.org/dc/elements/1.1", "http://purl.org/dc/terms":
		return "dc", true
	case "http://purl.org/rss/1.0/modules/content":
		return "content", true
	case "http://search.yahoo.com/mrss":
		return "media", true
	case "http://www.itunes.com/dtds/podcast-1.0.dtd":
		return "itunes", true
	case "http://www.w3.org/1999/02/22-rdf-syntax-ns#":
		return "rdf", true
	}
	return "", false
}

// base is the xml:base in force, "" for none.
func (p *feedParser) base() string {
	if n := len(p.stack); n > 0 {
		return p.stack[n-1].base
	}
	return ""
}

// markup keeps a tag inside a text: XHTML content, or HTML that somebody forgot to escape.
func (p *feedParser) markup(s *xmlScanner) {
	p.text = append(p.text, s.raw...)
	switch s.name {
	case "br", "hr", "img", "input", "wbr":
		return // HTML never closes them
	}
	if s.kind == xmlStart {
		p.push(feedElement{name: p.name(s.name), base: p.base()})
	}
}

// start opens an element outside texts.
func (p *feedParser) start(s *xmlScanner) {
	var attrs map[string]string
	s.attrs(func(k, v string) {
		if attrs == nil {
			attrs = make(map[string]string)
		}
		if _, dup := attrs[k]; !dup {
			attrs[k] = v
		}
	})
	if len(p.stack) == 0 {
		p.root(s.name, attrs)
	}
	e := feedElement{name: p.name(s.name), base: p.base()}
	if b := attrs["xml:base"]; b != "" {
		if url, ok := p.l.resolve(e.base, b); ok && len(url) <= maxBase {
			e.base = url
		}
	}
	if !p.push(e) {
		return
	}
	switch e.name {
	case "item", "entry":
		if p.item == nil && p.isFeed {
			p.item = &feedItem{base: e.base}
			p.feedDepth, p.itemDepth = p.itemDepth, len(p.stack)
		}
		return
	case "channel", "feed":
		if p.item == nil {
			p.itemDepth = len(p.stack)
			if p.entry == nil {
				p.feed.base = e.base
				p.feed.language = attrs["xml:lang"]
			}
		}
		return
	}
	it := p.target()
	if it == nil {
		return
	}
	if hasFeedText(e.name, p.rss) {
		p.capture, p.kind = len(p.stack), attrs["type"]
		p.text = p.text[:0]
	}
	switch e.name {
	case "link", "atom:link":
		if href := attrs["href"]; href != "" {
			p.capture = 0
			p.atomLink(it, e.base, href, attrs)
		}
	case "enclosure", "media:content":
		url, ok := p.l.resolve(e.base, attrs["url"])
		if ok && attrs["url"] != "" && len(it.enclosures) < maxEnclosures {
			it.enclosures = append(it.enclosures, enclosure{url, attrs["type"]})
		}
	case "guid":
		it.guidIsLink = !strings.EqualFold(attrs["ispermalink"], "false")
	case "content":
		if src := attrs["src"]; src != "" {
			p.capture = 0
			p.atomLink(it, e.base, src, map[string]string{"rel": "enclosure", "type": attrs["type"]})
		}
	}
}

// hasFeedText reports whether the text of an element is wanted.
func hasFeedText(name string, rss bool) bool {
	switch name {
	case "title", "description", "summary", "subtitle", "tagline", "content:encoded", "xhtml:body", "content", "media:description",
		"itunes:summary", "dc:description", "link", "atom:link", "guid", "id", "pubdate", "published", "issued", "dc:date", "dc:created",
		"updated", "modified", "lastbuilddate", "dc:modified", "atom:updated", "name", "atom:name", "dc:creator", "itunes:author",
		"language", "dc:language":
		return true
	case "author":
		return rss // Atom's authors have their name in an element of its own
	}
	return false
}

// maxEnclosures bounds the media files listed for one entry.
const maxEnclosures = 16

// root learns from the root element whether this is a feed and what its prefixes mean.
func (p *feedParser) root(name string, attrs map[string]string) {
	p.prefixes = make(map[string]string)
	own, local, found := strings.Cut(name, ":")
	if !found {
		own, local = "", name
	}
	for k, v := range attrs {
		if declared, ok := strings.CutPrefix(k, "xmlns:"); ok {
			if usual, ok := usualPrefix(v); ok {
				p.prefixes[declared] = usual
			}
		}
	}
	switch local {
	case "rss", "rdf":
		p.isFeed, p.rss = true, true
	case "feed":
		p.isFeed = true
	}
	// A prefixed root means that the feed's own elements are all written so; RDF's root is of another namespace.
	if found && local != "rdf" {
		p.prefixes[own] = ""
	}
}

// target is the entry or feed that the element on top of the stack tells something about, or nil where that is not
// wanted.
func (p *feedParser) target() *feedItem {
	if !p.isFeed || p.itemDepth == 0 || (p.item != nil) != (p.entry != nil) {
		return nil
	}
	n := len(p.stack)
	direct := n == p.itemDepth+1
	if n == p.itemDepth+2 {
		switch p.stack[n-2].name {
		case "author", "atom:author":
			direct = p.stack[n-1].name == "name" || p.stack[n-1].name == "atom:name"
		case "media:group":
			direct = true
		}
	}
	if !direct {
		return nil
	}
	if p.item != nil {
		return p.item
	}
	return &p.feed
}

// push opens an element, unless that would be too deep.
func (p *feedParser) push(e feedElement) bool {
	if len(p.stack) == maxDepth {
		p.over++
		return false
	}
	p.stack = append(p.stack, e)
	p.open[e.name]++
	return true
}

// end closes the innermost element of this name and all inside it. A stray end tag costs nothing: open knows
// that there is no such element without a search.
func (p *feedParser) end(name string) {
	if p.over > 0 {
		p.over--
		return
	}
	if p.open[name] == 0 {
		return
	}
	for {
		n := len(p.stack)
		top := p.stack[n-1]
		if p.capture > 0 && n > p.capture {
			p.text = append(p.text, "</"+top.name+">"...)
		} else if p.capture == n {
			p.assign(top)
			p.capture = 0
		}
		if n == p.itemDepth {
			if p.item == nil {
				p.feedDepth = 0
			} else if p.entry != nil {
				p.entry(p.item)
			}
			p.item, p.itemDepth = nil, p.feedDepth
		}
		p.stack = p.stack[:n-1]
		if p.open[top.name]--; p.open[top.name] == 0 {
			delete(p.open, top.name)
		}
		if top.name == name {
			return
		}
	}
}

// atomLink gives a link to the entry or feed by its relation.
func (p *feedParser) atomLink(it *feedItem, base, href string, attrs map[string]string) {
	url, ok := p.l.resolve(base, href)
	if !ok {
		return
	}
	switch attrs["rel"] {
	case "", "alternate":
		// The first link of a type that people read wins.
		if it.link == "" || strings.HasPrefix(attrs["type"], "text/html") && attrs["hreflang"] == "" {
			it.link = url
		}
	case "self":
		it.self = url
	case "enclosure":
		if len(it.enclosures) < maxEnclosures {
			it.enclosures = append(it.enclosures, enclosure{url, attrs["type"]})
		}
	}
}

// assign gives the gathered text to the entry or feed.
func (p *feedParser) assign(e feedElement) {
	it := p.target()
	if it == nil {
		return
	}
	s := strings.TrimSpace(string(p.text))
	if cap(p.text) > keptBuffer {
		p.text = nil
	}
	if s == "" {
		return
	}
	set := func(dst *string) {
		if *dst == "" {
			*dst = collapse(s)
		}
	}
	text := feedText{s: s, base: e.base, html: p.kind == "html" || p.kind == "xhtml" || p.kind == "text/html" || p.kind == "application/xhtml+xml"}
	if p.rss && p.kind == "" {
		text.html = true // RSS never says; the text is HTML, escaped once
	}
	setText := func(dst *feedText) {
		if dst.s == "" {
			*dst = text
		}
	}
	switch e.name {
	case "title":
		setText(&it.title)
	case "description", "summary", "subtitle", "tagline":
		setText(&it.summary)
	case "content:encoded", "xhtml:body", "content":
		if strings.Contains(p.kind, "/") && !text.html && !strings.HasPrefix(p.kind, "text/") {
			return // an image or the like, in Base64
		}
		text.html = text.html || e.name != "content"
		setText(&it.content)
	case "media:description", "itunes:summary", "dc:description":
		if it.summary.s == "" {
			it.summary = text
		}
	case "link":
		if it.link == "" {
			if url, ok := p.l.resolve(e.base, s); ok {
				it.link = url
			}
		}
	case "guid", "id":
		set(&it.guid)
	case "pubdate", "published", "issued", "dc:date", "dc:created":
		set(&it.date)
	case "updated", "modified", "lastbuilddate", "dc:modified", "atom:updated":
		set(&it.updated)
	case "name", "atom:name", "author", "dc:creator", "itunes:author":
		name := plainFragment(s)
		if it.author == "" {
			it.author = name
		} else if e.name == "name" && len(it.author)+len(name) < 1<<10 {
			it.author += ", " + name
		}
	case "language", "dc:language":
		set(&it.language)
	}
}

// plain is a text on one line.
func (t feedText) plain() string {
	switch {
	case !t.html:
		return collapse(t.s)
	case strings.Contains(t.s, "</") || strings.Contains(t.s, "/>"):
		return plainFragment(t.s)
	}
	// A title such as "Using <b> well" is text with an angle bracket far more often than broken markup.
	return collapse(unescape(t.s))
}

// clean is a text that may have been brought in by character references, on one line.
func (p *feedParser) clean(s string) string {
	s, n := visible(s)
	p.l.doc.Removed.InvisibleChars += n
	return collapse(s)
}

// render writes what the feed tells about itself.
func (p *feedParser) render() {
	doc, f, clean := p.l.doc, &p.feed, p.clean
	doc.Title = clean(f.title.plain())
	doc.Meta.Description = clean(plainFragment(f.summary.s))
	doc.Meta.Byline = clean(f.author)
	doc.Meta.Language = clean(f.language)
	doc.Meta.CanonicalURL = f.self
	doc.Meta.Published = clean(cmp.Or(f.updated, f.date))
	if f.link != "" {
		p.l.add(doc.Title, f.link)
	}
	if f.summary.s != "" && doc.Meta.Description != doc.Title {
		p.out.add(p.body(f.summary, f.base, 1)...)
	}
}

// renderItem adds the blocks of one entry.
func (p *feedParser) renderItem(it *feedItem) {
	clean := p.clean
	base := it.base
	if base == "" && p.rss {
		base = p.feed.link // no standard says so, but feeds without xml:base mean it
	}
	url := it.link
	if url == "" && it.guidIsLink && bareScheme(it.guid) > 0 {
		url, _ = p.l.resolve(base, it.guid)
	}
	title := clean(it.title.plain())
	date := clean(cmp.Or(it.date, it.updated))
	author := clean(it.author)
	heading := title
	if heading == "" {
		// Short messages have no title; their date or address is what names them.
		heading = date
		if heading == "" {
			heading = url
		}
	}
	if heading != "" {
		b := blocks.Block{Kind: blocks.Heading, Level: 2, Text: heading}
		if url != "" {
			b.Markdown = markdownLink(escapeMarkdown(heading), url)
			p.l.add(heading, url)
		} else if md := escapeMarkdown(heading); md != heading {
			b.Markdown = md
		}
		p.out.add(b)
	}
	line := author
	if date != "" && heading != date {
		line = strings.TrimPrefix(date+" · "+author, " · ")
		if author == "" {
			line = date
		}
	}
	if line != "" {
		p.out.add(blocks.Block{Kind: blocks.Paragraph, Text: line})
	}
	text := it.content
	// A summary beside the full text repeats its beginning.
	if text.s == "" {
		text = it.summary
	}
	if text.s != "" {
		if text.base != "" {
			base = text.base
		}
		bs := p.body(text, base, 2)
		if len(bs) != 1 || bs[0].Text != title {
			p.out.add(bs...)
		}
	}
	for _, e := range it.enclosures {
		label := clean(e.label)
		if label == "" {
			label = "enclosure"
		}
		p.l.add(label, e.url)
		if md := markdownLink(escapeMarkdown(label), e.url); md != label {
			p.out.add(blocks.Block{Kind: blocks.Paragraph, Text: label, Markdown: md})
		}
	}
}

// body reads the text of an entry; its headings go below the entry's own.
func (p *feedParser) body(t feedText, base string, shift int) []blocks.Block {
	if t.html {
		return p.l.fragment(t.s, base, shift)
	}
	return p.l.paragraphs(t.s)
}
