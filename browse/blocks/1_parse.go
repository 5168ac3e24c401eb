package blocks

import (
	"bytes"
	"io"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxDepth is how many elements may be open at once. It is the depth at which golang.org/x/net/html gives
// up; here deeper markup is flattened: its text stays, in order and in blocks of its own.
const maxDepth = 512

// maxNodes is how many elements and texts a page may have. It keeps the tree of a page of 10 MB below four
// times the page; only pages of bare tags and single letters have more. What comes after is read as text alone.
const maxNodes = 1 << 20

// maxAttrBytes bounds one kept attribute value in bytes; a longer value is left out, not cut.
const maxAttrBytes = 16 << 10

// builder turns tokens into a tree. It follows the HTML standard's tree construction where that decides
// which text belongs together (implied end tags, scopes, table context, misnested formatting), and is simpler
// where it does not: text that stands in a table outside its cells stays where it is, and formatting that was
// left open ends with its block.
type builder struct {
	t     *tree
	z     *html.Tokenizer
	stack []nodeID
	// open counts the open elements per name, so that a stray end tag costs nothing.
	open map[atom.Atom]int
	// over counts the open elements past maxDepth, unopened those past maxSameFormatting.
	over     int
	unopened int
	foreign  int // stack height at which svg or math was opened, 0 outside
	// nameOff and nameLen locate the name of an unknown element in tree.extra.
	nameOff, nameLen uint32
	pos              int // offset of the current token in src
}

// parse reads a page. It never fails: whatever bytes come, a tree comes out.
func parse(src []byte) *tree {
	t := &tree{src: src}
	// Half of the tags open an element, and text stands before and after most: three nodes for two "<". Growing a
	// slice of this size would cost more memory than estimating too high.
	t.nodes = make([]node, 1, min(64+bytes.Count(src, []byte{'<'})*3/2, maxNodes+maxDepth))
	t.extra = make([]byte, 0, 256+len(src)/12)
	b := &builder{t: t, open: make(map[atom.Atom]int)}
	b.stack = append(make([]nodeID, 0, 64), 0)
	t.html = b.push(atom.Html, nil)
	b.z = html.NewTokenizer(bytes.NewReader(src))
	for {
		if len(t.nodes) >= maxNodes {
			b.readRest()
			return t
		}
		kind := b.z.Next()
		raw := b.z.Raw()
		switch kind {
		case html.ErrorToken:
			if b.z.Err() == io.EOF || b.pos >= len(src) {
				return t
			}
			// The tokenizer only stops early for want of buffer, which has no bound here.
			t.recovered = true
			return t
		case html.TextToken:
			b.textToken(raw)
		case html.StartTagToken, html.SelfClosingTagToken:
			b.startTag(kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			name, _ := b.z.TagName()
			b.endTag(atom.Lookup(name), name)
		}
		b.pos += len(raw)
	}
}

// readRest reads the rest of a page with too many elements as text alone: a line for each block.
func (b *builder) readRest() {
	t := b.t
	t.merged = true
	var unseen atom.Atom // the element whose text is no text of the page
	if tag := b.topTag(); isUnseen(tag) {
		unseen = tag
	}
	for {
		switch b.z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			if unseen == 0 {
				t.rest = append(t.rest, b.z.Text()...)
			}
		case html.StartTagToken:
			name, _ := b.z.TagName()
			switch tag := atom.Lookup(name); {
			case isUnseen(tag):
				unseen = tag
			case tag == atom.Noscript, tag == atom.Noframes:
				b.z.NextIsNotRawText()
			case isBlock(tag), tag == atom.Br:
				t.rest = append(t.rest, '\n')
			}
		case html.EndTagToken:
			name, _ := b.z.TagName()
			tag := atom.Lookup(name)
			if tag == unseen {
				unseen = 0
			}
			if isBlock(tag) {
				t.rest = append(t.rest, '\n')
			}
		}
	}
}

func isUnseen(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Iframe, atom.Noembed, atom.Textarea, atom.Title:
		return true
	}
	return false
}

func (b *builder) top() nodeID       { return b.stack[len(b.stack)-1] }
func (b *builder) topTag() atom.Atom { return b.t.nodes[b.top()].tag }

func (b *builder) add(n node) nodeID {
	t := b.t
	id := nodeID(len(t.nodes))
	p := b.top()
	n.parent = p
	t.nodes = append(t.nodes, n)
	if t.nodes[p].first == 0 {
		t.nodes[p].first = id
	} else {
		t.nodes[t.nodes[p].last].next = id
	}
	t.nodes[p].last = id
	return id
}

// maxSameFormatting is how many formatting elements of one name may be open: pages that never close their
// <b> or <font> would otherwise reach maxDepth, and more of them say nothing new.
const maxSameFormatting = 16

// push adds an element and opens it. At the depth bound the element takes the place of the one on top, so
// that its text still stands apart from what came before.
func (b *builder) push(tag atom.Atom, attrs []attribute) nodeID {
	if tag != atom.A && isFormatting(tag) && b.open[tag] >= maxSameFormatting {
		b.unopened++
		b.t.recovered = b.t.recovered || len(b.stack)+b.unopened >= maxDepth
		return b.addElement(tag, attrs)
	}
	if len(b.stack) >= maxDepth {
		b.t.recovered = true
		b.over++
		b.popOne()
	}
	id := b.addElement(tag, attrs)
	b.stack = append(b.stack, id)
	b.open[tag]++
	return id
}

func (b *builder) addElement(tag atom.Atom, attrs []attribute) nodeID {
	n := node{off: b.nameOff, len: b.nameLen, tag: tag, attr: uint32(len(b.t.attrs)), attrCount: uint16(min(len(attrs), 64))}
	b.t.attrs = append(b.t.attrs, attrs[:n.attrCount]...)
	if b.foreign != 0 {
		n.flags |= flagForeign
	}
	return b.add(n)
}

func (b *builder) popOne() {
	last := len(b.stack) - 1
	b.open[b.t.nodes[b.stack[last]].tag]--
	b.stack = b.stack[:last]
	if b.foreign >= last {
		b.foreign = 0
	}
}

// popTo closes everything from stack index i up.
func (b *builder) popTo(i int) {
	for len(b.stack) > max(i, 2) {
		b.popOne()
	}
}

// find returns the stack index of the innermost open element with the tag, or 0. The search ends at an
// element for which stop holds.
func (b *builder) find(tag atom.Atom, stop func(atom.Atom) bool) int {
	if b.open[tag] == 0 {
		return 0
	}
	for i := len(b.stack) - 1; i > 0; i-- {
		a := b.t.nodes[b.stack[i]].tag
		if a == tag {
			return i
		}
		if stop(a) {
			return 0
		}
	}
	return 0
}

// The scopes of the HTML standard, as the elements that end them.
func stopScope(a atom.Atom) bool {
	switch a {
	case atom.Applet, atom.Caption, atom.Html, atom.Table, atom.Td, atom.Th, atom.Marquee, atom.Object, atom.Template,
		atom.Svg, atom.Math:
		return true
	}
	return false
}

func stopButton(a atom.Atom) bool { return a == atom.Button || stopScope(a) }
func stopList(a atom.Atom) bool   { return a == atom.Ol || a == atom.Ul || stopScope(a) }
func stopTable(a atom.Atom) bool  { return a == atom.Html || a == atom.Table || a == atom.Template }

// closesP reports whether the start tag ends an open paragraph.
func closesP(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Details, atom.Dialog, atom.Dir,
		atom.Div, atom.Dl, atom.Dd, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2,
		atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav,
		atom.Ol, atom.P, atom.Plaintext, atom.Pre, atom.Search, atom.Section, atom.Summary, atom.Table, atom.Ul, atom.Xmp:
		return true
	}
	return false
}

func isFormatting(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike,
		atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Basefont, atom.Bgsound, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr, atom.Img,
		atom.Image, atom.Input, atom.Keygen, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

func inHead(a atom.Atom) bool {
	switch a {
	case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes, atom.Noscript, atom.Script,
		atom.Style, atom.Template, atom.Title, atom.Head:
		return true
	}
	return false
}

// enterBody opens the body unless the page is in it already.
func (b *builder) enterBody() {
	if b.t.body != 0 {
		return
	}
	for len(b.stack) > 2 {
		b.popOne()
	}
	b.t.body = b.push(atom.Body, nil)
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func blank(s []byte) bool {
	for _, c := range s {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

func (b *builder) textToken(raw []byte) {
	if len(raw) == 0 {
		return
	}
	switch b.topTag() {
	case atom.Script:
		b.t.scriptBytes += len(raw)
		if !b.t.hasToken(b.top(), attrType, "application/ld+json") {
			return
		}
		b.t.jsonLD = append(b.t.jsonLD, b.addText(raw))
		return
	case atom.Style, atom.Iframe, atom.Noembed, atom.Textarea:
		return
	case atom.Title, atom.Noscript, atom.Template:
	default:
		if b.t.body == 0 && b.open[atom.Template] == 0 {
			if blank(raw) {
				return
			}
			b.enterBody()
		}
	}
	b.addText(raw)
}

func (b *builder) addText(raw []byte) nodeID {
	n := node{flags: flagText, off: uint32(b.pos), len: uint32(len(raw))}
	if bytes.IndexByte(raw, '&') >= 0 || bytes.IndexByte(raw, '\r') >= 0 || bytes.IndexByte(raw, 0) >= 0 || raw[0] == '<' {
		text := b.z.Text()
		n.flags |= flagDecoded
		n.off, n.len = uint32(len(b.t.extra)), uint32(len(text))
		b.t.extra = append(b.t.extra, text...)
	}
	return b.add(n)
}

func (b *builder) readAttrs(more bool) []attribute {
	var kept []attribute
	for more {
		var key, val []byte
		key, val, more = b.z.TagAttr()
		k := attrKeyOf(key)
		if len(val) > 5 && bytes.EqualFold(val[:5], []byte("data:")) {
			switch string(key) {
			case "src", "href", "data", "poster", "srcset", "data-src":
				b.t.dataURIs++
				continue
			}
		}
		if k == attrStyle && bytes.Contains(val, []byte("url(")) {
			b.t.dataURIs += bytes.Count(val, []byte("url(data:")) + bytes.Count(val, []byte("url('data:")) + bytes.Count(val, []byte(`url("data:`))
		}
		if k == attrNone || len(val) > maxAttrBytes || len(kept) == 64 ||
			slices.ContainsFunc(kept, func(a attribute) bool { return a.key == k }) {
			continue
		}
		kept = append(kept, attribute{k, uint32(len(b.t.extra)), uint32(len(val))})
		b.t.extra = append(b.t.extra, val...)
	}
	return kept
}

func (b *builder) startTag(selfClosing bool) {
	name, more := b.z.TagName()
	tag := atom.Lookup(name)
	b.nameLen = 0
	if tag == 0 && len(name) < maxAttrBytes {
		b.nameOff, b.nameLen = uint32(len(b.t.extra)), uint32(len(name))
		b.t.extra = append(b.t.extra, name...)
	}
	attrs := b.readAttrs(more)
	switch tag {
	case atom.Noscript, atom.Noframes:
		// Scripting is off: what stands here is content like any other.
		b.z.NextIsNotRawText()
	}
	if b.foreign != 0 {
		if !breaksOut(tag) {
			b.z.NextIsNotRawText()
			if selfClosing {
				b.addElement(tag, attrs)
			} else {
				b.push(tag, attrs)
			}
			return
		}
		b.popTo(b.foreign)
	}
	switch tag {
	case atom.Html:
		b.mergeAttrs(b.t.html, attrs)
		return
	case atom.Head:
		if b.t.head == 0 && b.t.body == 0 {
			b.t.head = b.push(tag, attrs)
		}
		return
	case atom.Body:
		b.enterBody()
		b.mergeAttrs(b.t.body, attrs)
		return
	case atom.Frameset:
		b.enterBody()
	}
	inTemplate := b.open[atom.Template] > 0
	if b.t.body == 0 && !inTemplate {
		inNoscript := b.open[atom.Noscript] > 0
		if !inHead(tag) && !(inNoscript && (tag == atom.Img || tag == atom.Iframe)) {
			b.enterBody()
		}
	}
	b.imply(tag)
	switch {
	case tag == atom.Script:
		b.t.scriptCount++
		b.push(tag, attrs)
	case isVoid(tag):
		b.addElement(tag, attrs)
	case tag == atom.Svg || tag == atom.Math:
		if selfClosing {
			b.addElement(tag, attrs)
			return
		}
		b.push(tag, attrs)
		b.foreign = len(b.stack) - 1
	default:
		b.push(tag, attrs)
	}
}

// breaksOut reports whether an HTML start tag ends foreign content.
func breaksOut(a atom.Atom) bool {
	switch a {
	case atom.B, atom.Big, atom.Br, atom.Code, atom.Em, atom.I, atom.Img, atom.Meta, atom.S, atom.Small, atom.Span,
		atom.Strong, atom.Strike, atom.Sub, atom.Sup, atom.Tt, atom.U, atom.Embed, atom.Nobr, atom.Ruby, atom.Var:
		return true
	}
	return isBlock(a) && a != atom.Search
}

func (b *builder) mergeAttrs(id nodeID, attrs []attribute) {
	n := &b.t.nodes[id]
	if n.attrCount != 0 || len(attrs) == 0 {
		return
	}
	n.attr, n.attrCount = uint32(len(b.t.attrs)), uint16(len(attrs))
	b.t.attrs = append(b.t.attrs, attrs...)
}

// imply closes what the start tag ends without saying so.
func (b *builder) imply(tag atom.Atom) {
	if b.open[atom.Select] > 0 && tag != atom.Option && tag != atom.Optgroup && (isBlock(tag) || tag == atom.Input ||
		tag == atom.Textarea || tag == atom.Select) {
		// A select that was never closed would swallow the page.
		if i := b.find(atom.Select, stopScope); i > 0 {
			b.popTo(i)
		}
	}
	if closesP(tag) {
		if i := b.find(atom.P, stopButton); i > 0 {
			b.popTo(i)
		}
	}
	switch tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if headingLevel(b.topTag()) > 0 {
			b.popOne()
		}
	case atom.Li:
		if i := b.find(atom.Li, stopItem); i > 0 {
			b.popTo(i)
		}
	case atom.Dd, atom.Dt:
		i := b.find(atom.Dd, stopItem)
		if j := b.find(atom.Dt, stopItem); j > i {
			i = j
		}
		if i > 0 {
			b.popTo(i)
		}
	case atom.Option, atom.Optgroup:
		if b.topTag() == atom.Option {
			b.popOne()
		}
		if tag == atom.Optgroup && b.topTag() == atom.Optgroup {
			b.popOne()
		}
	case atom.A:
		if i := b.find(atom.A, stopScope); i > 0 && !b.ended(i) {
			b.endFormatting(i)
		}
	case atom.Button:
		if i := b.find(atom.Button, stopScope); i > 0 {
			b.popTo(i)
		}
	case atom.Table:
		switch b.topTag() {
		case atom.Table, atom.Tbody, atom.Tr, atom.Thead, atom.Tfoot:
			if i := b.find(atom.Table, stopHTML); i > 0 {
				b.popTo(i)
			}
		}
	case atom.Td, atom.Th:
		b.tableContext(atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot)
	case atom.Tr:
		b.tableContext(atom.Tbody, atom.Thead, atom.Tfoot)
	case atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption, atom.Colgroup:
		b.tableContext()
	case atom.Col:
		b.tableContext(atom.Colgroup)
	case atom.Rt, atom.Rp:
		if t := b.topTag(); t == atom.Rt || t == atom.Rp {
			b.popOne()
		}
	}
}

func stopHTML(a atom.Atom) bool { return a == atom.Html || a == atom.Template }

// stopItem ends the search for an open list item: any special element but address, div and p.
func stopItem(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Div, atom.P, atom.Li, atom.Dd, atom.Dt:
		return false
	}
	return isBlock(a) || stopButton(a)
}

// tableContext closes open elements of the innermost table until one of keep, or the table, is on top.
func (b *builder) tableContext(keep ...atom.Atom) {
	table := b.find(atom.Table, stopHTML)
	if table == 0 {
		return
	}
	for i := len(b.stack) - 1; i > table; i-- {
		if slices.Contains(keep, b.topTag()) {
			return
		}
		b.popOne()
	}
}

// ended reports whether the formatting element at stack index i was ended while blocks were open inside it.
func (b *builder) ended(i int) bool { return b.t.nodes[b.stack[i]].flags&flagEnded != 0 }

func (b *builder) endFormatting(i int) {
	for j := i + 1; j < len(b.stack); j++ {
		if isBlock(b.t.nodes[b.stack[j]].tag) {
			b.t.nodes[b.stack[i]].flags |= flagEnded
			b.add(node{flags: flagEndMark, off: uint32(b.stack[i])})
			return
		}
	}
	b.popTo(i)
}

func (b *builder) endTag(tag atom.Atom, name []byte) {
	if b.over > 0 {
		// Some element past the depth bound ends; which one does not matter, only that what follows stands apart.
		b.over--
		if isBlock(tag) || b.topTag() == tag {
			b.popOne()
			id := b.addElement(atom.Div, nil)
			b.stack = append(b.stack, id)
			b.open[atom.Div]++
		}
		return
	}
	if b.foreign != 0 {
		if i := b.find(tag, stopNever); i >= b.foreign {
			b.popTo(i)
			return
		}
		if !breaksOut(tag) {
			return
		}
		b.popTo(b.foreign)
	}
	switch tag {
	case atom.Html, atom.Body:
		// What follows the end of the body still belongs to it.
		return
	case atom.Br:
		b.enterBody()
		b.addElement(atom.Br, nil)
		return
	case atom.Head:
		if b.t.body == 0 {
			for len(b.stack) > 2 {
				b.popOne()
			}
		}
		return
	case atom.P:
		if i := b.find(atom.P, stopButton); i > 0 {
			b.popTo(i)
		}
		return
	case atom.Li:
		if i := b.find(atom.Li, stopList); i > 0 {
			b.popTo(i)
		}
		return
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		// Any heading's end tag closes the open heading.
		for i := len(b.stack) - 1; i > 0; i-- {
			a := b.t.nodes[b.stack[i]].tag
			if headingLevel(a) > 0 {
				b.popTo(i)
				return
			}
			if stopScope(a) {
				return
			}
		}
		return
	case atom.Td, atom.Th, atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption, atom.Table:
		if i := b.find(tag, stopTable); i > 0 {
			b.popTo(i)
		}
		return
	case atom.Template, atom.Select:
		if i := b.find(tag, stopNever); i > 0 {
			b.popTo(i)
		}
		return
	}
	if isFormatting(tag) {
		if i := b.find(tag, stopScope); i > 0 && !b.ended(i) {
			b.endFormatting(i)
		}
		return
	}
	if tag == 0 {
		b.endUnknown(name)
		return
	}
	stop := stopScope
	if !isBlock(tag) {
		// An inline end tag does not reach across a block.
		stop = func(a atom.Atom) bool { return isBlock(a) || stopScope(a) }
	}
	if i := b.find(tag, stop); i > 0 {
		b.popTo(i)
	}
}

func stopNever(atom.Atom) bool { return false }

// endUnknown closes the innermost open element with a name that HTML does not know.
func (b *builder) endUnknown(name []byte) {
	if b.open[0] == 0 {
		return
	}
	for i := len(b.stack) - 1; i > 2; i-- {
		n := &b.t.nodes[b.stack[i]]
		if n.tag == 0 && bytes.Equal(b.t.extra[n.off:n.off+n.len], name) {
			b.popTo(i)
			return
		}
		if n.tag != 0 && stopScope(n.tag) {
			return
		}
	}
}
