package blocks

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// Bounds of the collecting pass.
const (
	maxItemChars    = 240 // bytes of text up to which a list item of several parts is one line
	maxItemNodes    = 60
	maxTableColumns = 200
	maxMoving       = 8 // streamed parts within streamed parts; deeper ones are read where they stand
)

// style is a set of inline styles.
type style uint8

const (
	styleBold style = 1 << iota
	styleItalic
	styleCode
	styleStrike
)

// run is a stretch of a draft's text in one style; start and end are offsets in the collector's text.
type run struct {
	start, end uint32
	link       int32 // index of the anchor, -1 outside links
	style      style
}

// draft is a block before it is chosen and rendered. In a table's text, tabs part cells and newlines rows.
type draft struct {
	kind       Kind
	language   string
	start, end uint32 // of collector.text
	r0, r1     uint32 // of collector.runs
	node       nodeID // the element that holds the text
	item       nodeID // the list item around it, 0 outside lists
	depth      int32
	ordered    int32
	linkBytes  int32
	level      int8
	quoted     int8
	headerRow  bool
	image      bool // the text is an image's description
}

// anchor is one <a href>.
type anchor struct {
	node nodeID
	href string
}

// scope is what a block inherits from the elements around it.
type scope struct {
	kind    Kind
	node    nodeID
	level   int8
	quoted  int8
	lists   int // open lists
	item    *listItem
	joining bool // block boundaries are spaces: inside table cells and short list items
}

type listItem struct {
	node    nodeID
	depth   int32
	ordered int32
	used    bool
	card    bool // it starts with a heading: what follows are paragraphs, not a list item
}

// collector is the third pass: one walk over the tree that writes all text, in order, into one buffer and
// cuts it into drafts.
type collector struct {
	t       *tree
	text    []byte
	runs    []run
	drafts  []draft
	anchors []anchor

	scope   scope
	cur     draft
	open    bool
	space   bool
	breaks  int
	glue    bool // two inline elements meet without white space between them
	last    rune
	style   style
	link    int32
	ended   style // ended by a mark, until the walk leaves the element
	preLine int
	moving  int // streamed parts around the walk
	spanned int // table cells that only spans have made
	// everything is set when no text that a reader sees may be left out.
	everything bool
	merged     bool // MaxBlocks or maxNodes was reached
	invisible  int
	hidden     int
	forms      int
}

func collect(t *tree, everything bool) *collector {
	c := &collector{t: t, link: -1, everything: everything}
	c.text = make([]byte, 0, t.textBytes+t.textBytes/4+256)
	c.scope = scope{kind: Paragraph, node: t.html}
	c.children(t.html)
	if len(t.rest) > 0 {
		c.flush()
		c.preLine++
		c.inline(t.rest)
	}
	c.merged = c.merged || t.merged
	c.end()
	return c
}

// full says that no draft may begin any more but the last.
func (c *collector) full() bool { return len(c.drafts) >= MaxBlocks }

// flush ends the draft under way.
func (c *collector) flush() {
	if c.open && c.full() {
		c.merged = true
		c.space, c.breaks, c.glue = false, 1, false
		return
	}
	c.end()
}

func (c *collector) end() {
	c.space, c.breaks, c.glue = false, 0, false
	if !c.open {
		return
	}
	c.open = false
	d := c.cur
	d.end = uint32(len(c.text))
	d.r1 = uint32(len(c.runs))
	if d.end > d.start {
		s := &c.scope
		d.kind, d.level, d.quoted, d.node = s.kind, s.level, s.quoted, s.node
		if it := s.item; it != nil {
			d.item = it.node
			switch {
			case d.kind == Paragraph && !it.used:
				d.kind, d.depth, d.ordered = ListItem, it.depth, it.ordered
			case d.kind == Heading && !it.used:
				it.card = true
			case !it.card:
				d.depth = it.depth
			}
			it.used = true
		}
		if d.kind == Paragraph && d.quoted > 0 {
			d.kind, d.depth = Quote, int32(d.quoted)
		}
		c.drafts = append(c.drafts, d)
	}
}

func (c *collector) begin() {
	if !c.open {
		c.open = true
		c.cur = draft{start: uint32(len(c.text)), r0: uint32(len(c.runs))}
		c.last = 0
	}
}

// put appends bytes that are text as it stands, with the pending space or break before them.
func (c *collector) put(b []byte) {
	c.begin()
	start := len(c.text)
	if start > int(c.cur.start) {
		switch {
		case c.breaks == 1 && !c.scope.joining && c.scope.kind != Heading:
			c.text = append(c.text, '\n')
		case c.space || c.breaks > 0:
			c.text = append(c.text, ' ')
		}
	}
	c.space, c.breaks, c.glue = false, 0, false
	c.text = append(c.text, b...)
	style, link := c.style, c.link
	if c.full() {
		style, link = 0, -1
	}
	if link >= 0 {
		c.cur.linkBytes += int32(len(b))
	}
	end := uint32(len(c.text))
	if n := len(c.runs); n > int(c.cur.r0) {
		if r := &c.runs[n-1]; r.style == style && r.link == link {
			r.end = end
			return
		}
	}
	// The white space between two runs belongs to neither style, but to the text: the renderer moves it out.
	c.runs = append(c.runs, run{uint32(start), end, link, style})
}

// inline takes text as HTML shows it: white space collapsed, invisible characters out.
func (c *collector) inline(b []byte) {
	for i := 0; i < len(b); {
		ch := b[i]
		if ch < utf8.RuneSelf {
			if isSpace(ch) {
				if ch == '\n' && c.preLine > 0 && c.open {
					c.br()
				}
				c.space = true
				i++
				continue
			}
			if ch < ' ' || ch == 0x7f {
				i++
				continue
			}
			j := i + 1
			for j < len(b) && b[j] > ' ' && b[j] < 0x7f {
				j++
			}
			c.word(b[i:j], rune(ch), rune(b[j-1]))
			i = j
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			c.word([]byte("\uFFFD"), r, r)
		case r == 0xa0 || r >= 0x2000 && r <= 0x200a || r == 0x2028 || r == 0x2029 || r == 0x202f || r == 0x205f ||
			r == 0x3000 || r == 0x85 || r == 0x1680:
			c.space = true
		case r < 0xa0:
		case isInvisible(r):
			if r == 0x1f3f4 {
				break
			}
			if c.open && !c.space && c.breaks == 0 && keepInvisible(r, c.last, b[i+size:]) {
				c.word(b[i:i+size], r, r)
			} else {
				c.invisible++
			}
		default:
			if r == 0x1f3f4 {
				size += flagTags(b[i+size:])
			}
			// Text in other scripts comes in long stretches: take what is plain in one go.
			j, last := i+size, r
			for j < len(b) && b[j] >= utf8.RuneSelf {
				r2, s2 := utf8.DecodeRune(b[j:])
				if r2 == utf8.RuneError || r2 < 0xc0 || r2 >= 0x2000 && r2 <= 0x206f || r2 == 0x3000 || r2 == 0x1680 || isInvisible(r2) || r2 == 0x1f3f4 {
					break
				}
				j, last = j+s2, r2
			}
			c.word(b[i:j], r, last)
			i = j
			continue
		}
		i += size
	}
}

// word appends a piece without white space in it.
func (c *collector) word(b []byte, first, last rune) {
	if c.breaks >= 2 && !c.scope.joining && c.scope.kind != Heading && c.open {
		// An empty line: what follows is a paragraph of its own.
		c.flush()
	}
	if c.glue && !c.space && c.breaks == 0 && c.open && isWordRune(c.last) && isWordRune(first) {
		c.space = true
	}
	c.put(b)
	c.last = last
}

func (c *collector) br() {
	if c.open {
		c.breaks++
	}
}

// boundary is where a block starts or ends.
func (c *collector) boundary() {
	if c.scope.joining {
		c.space = true
		return
	}
	c.flush()
}

func (c *collector) children(id nodeID) {
	prevInline := false
	for n := c.t.nodes[id].first; n != 0; n = c.t.nodes[n].next {
		x := &c.t.nodes[n]
		switch {
		case x.flags&flagText != 0:
			c.inline(c.t.text(n))
			prevInline = false
		case x.flags&flagEndMark != 0:
			c.endMark(nodeID(x.off))
		default:
			if prevInline && separates(x.tag) {
				c.glue = true
			}
			c.element(n)
			prevInline = separates(x.tag)
		}
	}
}

// separates reports whether pages set the inline element apart by style alone when two of them meet.
func separates(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Span, atom.Time, atom.Label, atom.Button, 0, atom.Img, atom.Svg, atom.Cite, atom.Data:
		return true
	}
	return false
}

func (c *collector) endMark(ended nodeID) {
	switch c.t.nodes[ended].tag {
	case atom.A:
		c.link = -1
	default:
		s := styleOf(c.t.nodes[ended].tag)
		c.style &^= s
		c.ended |= s
	}
}

func styleOf(a atom.Atom) style {
	switch a {
	case atom.B, atom.Strong:
		return styleBold
	case atom.I, atom.Em, atom.Cite, atom.Dfn, atom.Var:
		return styleItalic
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		return styleCode
	case atom.Del, atom.S, atom.Strike:
		return styleStrike
	}
	return 0
}

func (c *collector) element(id nodeID) {
	t := c.t
	n := &t.nodes[id]
	if n.flags&flagMoved != 0 {
		return // read at its placeholder already
	}
	if part, ok := t.streamed[id]; ok && c.moving < maxMoving && t.nodes[part].flags&flagMoved == 0 {
		t.nodes[part].flags |= flagMoved
		t.placed[part] = n.parent
		c.moving++
		c.block(part, nil)
		c.moving--
		return
	}
	if n.flags&flagHidden != 0 {
		c.hidden += visibleRunes(t, id)
		c.space = c.space || isBlock(n.tag)
		return
	}
	if n.flags&flagDropped != 0 {
		if n.tag == atom.Select || n.tag == atom.Textarea {
			c.forms += visibleRunes(t, id)
		}
		return
	}
	switch n.tag {
	case atom.Br:
		c.br()
	case atom.Hr:
		c.boundary()
	case atom.Wbr:
	case atom.Img, atom.Image:
		c.image(id)
	case atom.A:
		c.anchor(id)
	case atom.Button:
		c.button(id)
	case atom.Label, atom.Legend:
		c.label(id)
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		c.pre(id)
	case atom.Code, atom.Samp, atom.Tt:
		if isLineNumber(t, id) {
			return
		}
		if c.isCodeBlock(id) {
			c.pre(id)
			return
		}
		c.styled(id, styleCode)
	case atom.Table:
		c.table(id)
	case atom.Td:
		// Highlighters put the line numbers of code into a cell of their own.
		if isLineNumber(t, id) && t.firstElement(id) == atom.Pre {
			return
		}
		c.block(id, nil)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		c.heading(id, headingLevel(n.tag))
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		c.list(id)
	case atom.Li:
		c.item(id, 0)
	case atom.Blockquote:
		c.block(id, func(s *scope) { s.quoted = min(s.quoted+1, 8) })
	case atom.Q:
		c.inline([]byte("“"))
		c.children(id)
		c.put([]byte("”"))
	case atom.Rt:
		c.inline([]byte("("))
		c.children(id)
		c.inline([]byte(")"))
	default:
		switch {
		case n.attrCount > 0 && t.attr(id, attrRole) == "heading":
			level, err := strconv.Atoi(t.attr(id, attrAriaLevel))
			if err != nil || level < 1 || level > 6 {
				level = 2
			}
			c.heading(id, level)
		case isBlock(n.tag):
			c.block(id, nil)
		case n.flags&flagPreLine != 0:
			c.preLine++
			c.styled(id, styleOf(n.tag))
			c.preLine--
		default:
			c.styled(id, styleOf(n.tag))
		}
	}
}

// styled walks an inline element.
func (c *collector) styled(id nodeID, s style) {
	before := c.style
	c.style |= s
	c.children(id)
	if c.t.nodes[id].flags&flagEnded != 0 {
		c.ended &^= s
	}
	c.style = before
}

// block walks a block element; change adapts the scope for what is inside.
func (c *collector) block(id nodeID, change func(*scope)) {
	c.boundary()
	outer, outerStyle := c.scope, c.style
	c.scope.node = id
	if change != nil {
		change(&c.scope)
	}
	pre := c.t.nodes[id].flags&flagPreLine != 0
	if pre {
		c.preLine++
	}
	c.children(id)
	c.boundary()
	if pre {
		c.preLine--
	}
	c.scope, c.style = outer, outerStyle&^c.ended
}

func (c *collector) heading(id nodeID, level int) {
	if !c.scope.joining && c.holdsBlocks(id) {
		c.splitHeading(id, level)
		return
	}
	c.boundary()
	outer, outerStyle, at := c.scope, c.style, len(c.text)
	c.scope.node = id
	if !outer.joining {
		c.scope.kind, c.scope.level, c.scope.joining = Heading, int8(level), true
	}
	c.children(id)
	if len(c.text) == at {
		if alt := c.firstAlt(id); alt != nil {
			c.inline(alt)
		}
	}
	c.scope.joining = outer.joining
	c.boundary()
	c.scope, c.style = outer, outerStyle&^c.ended
}

// holdsBlocks reports whether a heading has text of its own and, beside it, blocks with text of theirs. A heading
// that is wrapped in blocks as a whole is one heading.
func (c *collector) holdsBlocks(id nodeID) bool {
	own, blocks := false, false
	for n := c.t.nodes[id].first; n != 0; n = c.t.nodes[n].next {
		switch x := &c.t.nodes[n]; {
		case x.flags&(flagHidden|flagDropped|flagEndMark) != 0:
		case x.flags&flagText != 0:
			own = own || !blank(c.t.text(n))
		case isBlock(x.tag):
			blocks = blocks || sizeBelow(c.t, n, 1) > 0
		default:
			own = own || sizeBelow(c.t, n, 1) > 0
		}
	}
	return own && blocks
}

// splitHeading makes headings of the text that a heading holds itself and leaves its blocks what they are.
func (c *collector) splitHeading(id nodeID, level int) {
	c.boundary()
	outer, outerStyle := c.scope, c.style
	for n := c.t.nodes[id].first; n != 0; n = c.t.nodes[n].next {
		x := &c.t.nodes[n]
		c.scope.node = id
		switch {
		case x.flags&flagEndMark != 0:
			c.endMark(nodeID(x.off))
		case x.flags&flagText == 0 && isBlock(x.tag):
			c.scope.joining = false
			c.boundary()
			c.scope = outer
			c.element(n)
		default:
			c.scope.kind, c.scope.level, c.scope.joining = Heading, int8(level), true
			if x.flags&flagText != 0 {
				c.inline(c.t.text(n))
			} else {
				c.element(n)
			}
		}
	}
	c.scope.joining = false
	c.boundary()
	c.scope, c.style = outer, outerStyle&^c.ended
}

func (c *collector) list(id nodeID) {
	ordered := 0
	if c.t.nodes[id].tag == atom.Ol {
		ordered = 1
		if start, err := strconv.Atoi(c.t.attr(id, attrStart)); err == nil && start >= 0 && start < 1_000_000 {
			ordered = start
		}
	}
	c.boundary()
	outer := c.scope
	c.scope.lists++
	c.scope.node = id
	prevInline := false
	for n := c.t.nodes[id].first; n != 0; n = c.t.nodes[n].next {
		x := &c.t.nodes[n]
		switch {
		case x.flags&flagText != 0:
			c.inline(c.t.text(n))
		case x.flags&flagEndMark != 0:
			c.endMark(nodeID(x.off))
		case x.tag == atom.Li:
			if v, err := strconv.Atoi(c.t.attr(n, attrValue)); err == nil && ordered > 0 && v >= 0 && v < 1_000_000 {
				ordered = v
			}
			if x.flags&(flagHidden|flagDropped) != 0 {
				c.element(n)
				continue
			}
			c.item(n, ordered)
			if ordered > 0 {
				ordered++
			}
		default:
			if prevInline && separates(x.tag) {
				c.glue = true
			}
			c.element(n)
			prevInline = separates(x.tag)
			continue
		}
		prevInline = false
	}
	c.boundary()
	c.scope = outer
}

func (c *collector) item(id nodeID, ordered int) {
	short := c.isShortItem(id)
	c.boundary()
	outer, outerStyle := c.scope, c.style
	c.scope.node = id
	if !c.scope.joining {
		c.scope.kind = Paragraph
		c.scope.item = &listItem{node: id, depth: int32(max(1, c.scope.lists)), ordered: int32(ordered)}
		c.scope.joining = short
	}
	c.children(id)
	if !outer.joining {
		c.scope.joining = false
	}
	c.boundary()
	c.scope, c.style = outer, outerStyle&^c.ended
}

// isShortItem reports whether a list item is one line however many blocks it is built of.
func (c *collector) isShortItem(id nodeID) bool {
	t := c.t
	end := t.skip(id)
	size, paras := 0, 0
	for n := id + 1; n != end && int(n) < len(t.nodes); n++ {
		if n > id+maxItemNodes {
			return false
		}
		x := &t.nodes[n]
		switch {
		case x.flags&flagText != 0:
			size += len(bytes.TrimSpace(t.text(n)))
			if size > maxItemChars {
				return false
			}
		case x.flags&flagEndMark != 0:
		default:
			switch x.tag {
			case atom.P:
				paras++
			case atom.Ul, atom.Ol, atom.Menu, atom.Table, atom.Pre, atom.Blockquote, atom.Dl, atom.H1, atom.H2, atom.H3, atom.H4,
				atom.H5, atom.H6:
				return false
			}
			if paras > 1 {
				return false
			}
		}
	}
	return true
}

func (c *collector) anchor(id nodeID) {
	href, ok := c.t.get(id, attrHref)
	if isPermalink(c.t, id) {
		return
	}
	before, beforeStyle, at := c.link, c.style, len(c.text)
	if ok && !c.full() {
		c.link = int32(len(c.anchors))
		c.anchors = append(c.anchors, anchor{id, string(href)})
	}
	c.children(id)
	if len(c.text) == at && !isImageAddress(href) {
		if alt := c.firstAlt(id); alt != nil {
			alone := !c.open
			c.inline(alt)
			c.cur.image = c.cur.image || alone
		}
	}
	c.link, c.style = before, beforeStyle
}

// isImageAddress reports whether a link leads to a picture: it enlarges the one it stands on and has no text.
func isImageAddress(href []byte) bool {
	if i := bytes.IndexAny(href, "?#"); i >= 0 {
		href = href[:i]
	}
	i := bytes.LastIndexByte(href, '.')
	if i < 0 || len(href)-i > 5 {
		return false
	}
	switch strings.ToLower(string(href[i:])) {
	case ".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg":
		return true
	}
	return false
}

// isPermalink recognises the marks that headings carry to link to themselves.
func isPermalink(t *tree, id nodeID) bool {
	first := t.nodes[id].first
	if first == 0 || t.nodes[first].next != 0 || !t.isText(first) {
		return false
	}
	switch string(bytes.TrimSpace(t.text(first))) {
	case "¶", "#", "§", "🔗", "\uf0c1", "": // U+F0C1 is the icon font's link sign
		return true
	}
	return false
}

// firstAlt returns the text that stands for the first described image below id.
func (c *collector) firstAlt(id nodeID) []byte {
	end := c.t.skip(id)
	for n := id + 1; n != end && int(n) < len(c.t.nodes) && n < id+maxItemNodes; n++ {
		if x := &c.t.nodes[n]; x.tag == atom.Img && x.flags&(flagHidden|flagText) == 0 {
			if alt, ok := c.t.get(n, attrAlt); ok && len(bytes.TrimSpace(alt)) > 0 {
				return alt
			}
		}
	}
	return nil
}

// image writes nothing but emoji: pages draw those as images whose description is the character itself.
func (c *collector) image(id nodeID) {
	alt, _ := c.t.get(id, attrAlt)
	if len(alt) == 0 || len(alt) > 32 || utf8.RuneCount(alt) > 6 {
		return
	}
	if r, _ := utf8.DecodeRune(alt); r >= 0x2190 && joins(r) {
		c.inline(alt)
	}
}

// button keeps a button's words only where they are the page's own: the question of an accordion.
func (c *collector) button(id nodeID) {
	switch p := c.t.nodes[c.t.nodes[id].parent].tag; {
	case headingLevel(p) > 0, p == atom.Summary, p == atom.Dt, c.scope.kind == Heading:
		c.children(id)
		return
	}
	// A button around whole paragraphs is a card that reacts to a click; one of an accordion is its heading.
	if sizeBelow(c.t, id, 200) >= 200 || c.t.nameHas(id, "accordion", "collaps", "faq") {
		c.block(id, nil)
		return
	}
	c.forms += visibleRunes(c.t, id)
	c.space = true
}

// label drops the caption of a form field, unless everything is wanted, and keeps a label that is used as a heading
// or a tab.
func (c *collector) label(id nodeID) {
	if c.everything || sizeBelow(c.t, id, 80) >= 80 {
		c.block(id, nil)
		return
	}
	c.forms += visibleRunes(c.t, id)
	c.space = true
}

// sizeBelow counts bytes of text below id, up to a bound.
func sizeBelow(t *tree, id nodeID, bound int) int {
	end, size := t.skip(id), 0
	for n := id + 1; n != end && int(n) < len(t.nodes) && size < bound; n++ {
		if t.isText(n) {
			size += len(bytes.TrimSpace(t.text(n)))
		}
	}
	return size
}

func (c *collector) pre(id nodeID) {
	if c.scope.joining {
		c.styled(id, styleCode)
		return
	}
	if c.full() {
		c.block(id, nil)
		return
	}
	c.flush()
	start := len(c.text)
	c.rawText(id, 0)
	c.trimCode(start)
	if len(c.text) == start {
		return
	}
	d := draft{
		kind: Code, start: uint32(start), end: uint32(len(c.text)), r0: uint32(len(c.runs)), r1: uint32(len(c.runs)),
		node: id, quoted: c.scope.quoted, language: codeLanguage(c.t, id),
	}
	if it := c.scope.item; it != nil {
		d.item = it.node
		if !it.card && it.used {
			d.depth = it.depth
		}
	}
	c.drafts = append(c.drafts, d)
}

// isCodeBlock reports whether a <code> outside <pre> holds lines of code and nothing stands beside it.
func (c *collector) isCodeBlock(id nodeID) bool {
	t := c.t
	if c.open || c.scope.joining || c.scope.kind != Paragraph {
		return false
	}
	for n := t.nodes[id].next; n != 0; n = t.nodes[n].next {
		if !t.isText(n) || !blank(t.text(n)) {
			return false
		}
	}
	end, lines := t.skip(id), 0
	for n := id + 1; n != end && int(n) < len(t.nodes) && lines < 2; n++ {
		switch x := &t.nodes[n]; {
		case x.flags&flagText != 0:
			lines += bytes.Count(bytes.TrimSpace(t.text(n)), []byte{'\n'})
		case x.tag == atom.Br, x.tag == atom.Div:
			lines++
		}
	}
	return lines >= 2
}

// rawText writes the text below id as it stands: code.
func (c *collector) rawText(id nodeID, depth int) {
	t := c.t
	prevLine := false
	for n := t.nodes[id].first; n != 0; n = t.nodes[n].next {
		x := &t.nodes[n]
		switch {
		case x.flags&flagText != 0:
			c.raw(t.text(n))
			prevLine = false
		case x.flags&flagEndMark != 0:
		case x.flags&flagHidden != 0:
			if t.attr(n, attrAriaHidden) != "true" || isLineNumber(t, n) {
				c.hidden += visibleRunes(t, n)
				continue
			}
			c.rawText(n, depth+1)
		case x.flags&flagDropped != 0, x.tag == atom.Button, isLineNumber(t, n):
		case x.tag == atom.Br:
			c.text = append(c.text, '\n')
		case isBlock(x.tag):
			c.newLine()
			c.rawText(n, depth+1)
			c.newLine()
		default:
			line := t.hasToken(n, attrClass, "line", "code-line", "cl", "view-line", "token-line")
			if line && prevLine {
				c.newLine()
			}
			before := len(c.text)
			c.rawText(n, depth+1)
			if line && len(c.text) == before && prevLine {
				c.text = append(c.text, '\n')
			}
			prevLine = line
		}
	}
}

func (c *collector) newLine() {
	if n := len(c.text); n > 0 && c.text[n-1] != '\n' {
		c.text = append(c.text, '\n')
	}
}

func (c *collector) raw(b []byte) {
	plain := true
	for _, ch := range b {
		if ch >= utf8.RuneSelf || ch < ' ' && ch != '\n' && ch != '\t' {
			plain = false
			break
		}
	}
	if plain {
		c.text = append(c.text, b...)
		return
	}
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			c.text = append(c.text, "\uFFFD"...)
		case r == '\r' || r == 0x7f || r < ' ' && r != '\n' && r != '\t':
		case isInvisible(r) && r != 0xfe0f && r != 0x200d && r != 0x200c:
			c.invisible++
		default:
			c.text = append(c.text, b[i:i+size]...)
		}
		i += size
	}
}

// trimCode takes empty lines off both ends of the code that starts at start.
func (c *collector) trimCode(start int) {
	b := c.text[start:]
	from := 0
	for i, ch := range b {
		if ch == '\n' {
			from = i + 1
		} else if ch != ' ' && ch != '\t' {
			break
		}
	}
	b = bytes.TrimRight(b[from:], " \t\n")
	n := copy(c.text[start:], b)
	c.text = c.text[:start+n]
}

func isLineNumber(t *tree, id nodeID) bool {
	return t.hasToken(id, attrClass, "lineno", "linenos", "line-number", "line-numbers", "linenumber", "linenums", "gutter", "blob-num",
		"line-numbers-rows", "crayon-nums", "hljs-ln-numbers", "lnt", "ln", "copy", "copy-button")
}

// firstElement is the tag of the first element in id, looking through plain wrappers.
func (t *tree) firstElement(id nodeID) atom.Atom {
	for n := t.nodes[id].first; n != 0; n = t.nodes[n].next {
		if !t.isElement(n) {
			continue
		}
		if t.nodes[n].tag == atom.Div {
			return t.firstElement(n)
		}
		return t.nodes[n].tag
	}
	return 0
}

// codeLanguage reads the language that a code block states in a class or data attribute, on itself, on the
// element inside it or on one of the three around it.
func codeLanguage(t *tree, id nodeID) string {
	if n := t.nodes[id].first; n != 0 {
		for ; n != 0; n = t.nodes[n].next {
			if t.isElement(n) {
				if l := languageOf(t, n); l != "" {
					return l
				}
				break
			}
		}
	}
	for i, n := 0, id; i < 4 && n > t.html; i, n = i+1, t.nodes[n].parent {
		if l := languageOf(t, n); l != "" {
			return l
		}
	}
	return ""
}

func languageOf(t *tree, id nodeID) string {
	if v := t.attr(id, attrDataLang); v != "" {
		return cleanLanguage(v)
	}
	class := t.attr(id, attrClass)
	brush := false
	for f := range strings.FieldsSeq(class) {
		f = strings.ToLower(strings.Trim(f, ";"))
		if brush {
			return cleanLanguage(f)
		}
		for _, p := range [...]string{"language-", "lang-", "highlight-source-", "highlight-text-", "brush:"} {
			if v, ok := strings.CutPrefix(f, p); ok && v != "" {
				return cleanLanguage(v)
			}
		}
		brush = f == "brush:"
		if v, ok := strings.CutPrefix(f, "highlight-"); ok && strings.Contains(class, "notranslate") {
			return cleanLanguage(v)
		}
	}
	if f := strings.Fields(class); len(f) >= 2 && (f[0] == "sourceCode" || f[0] == "src" || f[0] == "hljs" && len(f) == 2 || f[0] == "highlight" && len(f) == 2) {
		return cleanLanguage(f[1])
	}
	return ""
}

// cleanLanguage accepts what can stand after a fence, and drops the names that mean "none".
func cleanLanguage(s string) string {
	s = strings.ToLower(strings.TrimPrefix(s, "src-"))
	if len(s) > 24 {
		return ""
	}
	for i := range len(s) {
		if c := s[i]; !(isWordRune(rune(c)) || c == '+' || c == '#' || c == '-' || c == '.' || c == '_') || c >= utf8.RuneSelf {
			return ""
		}
	}
	switch s {
	case "none", "plain", "text", "plaintext", "nohighlight", "default", "txt", "undefined", "null", "auto", "hljs", "prettyprint", "notranslate":
		return ""
	}
	return s
}
