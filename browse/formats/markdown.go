package formats

import (
	"bytes"
	"strings"

	"web/browse/blocks"
)

// Markdown reads CommonMark with the tables, strikethrough and bare links of GitHub's dialect, and front
// matter. The inline Markdown of a block is the author's own, with references turned into links, URLs made
// absolute and HTML tags left out. The title is the front matter's, else the first heading of level 1.
//
// The text is parsed twice: a reference may be defined behind its use, and keeping the blocks until all
// definitions are known would take many times the text.
func Markdown(text string, opt Options) *blocks.Document {
	doc, text := start(text)
	l := newLinker(doc, opt, len(text))
	text = frontMatter(doc, text)
	refs := make(map[string]string)
	if strings.Contains(text, "]:") {
		p := mdParser{refs: refs}
		p.parse(text)
	}
	in := inliner{l: l, refs: refs, fuel: 16*len(text) + 1<<16, tableBudget: len(text) + len(text)/2 + 1<<20}
	out := sink{doc: doc}
	p := mdParser{refs: refs, emit: func(m mdBlock) { out.add(in.read(m, out.full())...) }}
	p.parse(text)
	out.finish()
	if doc.Title == "" {
		for _, b := range doc.Blocks {
			if b.Kind == blocks.Heading && b.Level == 1 {
				doc.Title = b.Text
				break
			}
		}
	}
	return doc
}

// read reads the inline text of a block. HTML may hold more than one block, a table that is too large ends in
// code; where blocks are merged a table is its rows.
func (in *inliner) read(m mdBlock, merged bool) []blocks.Block {
	bs := []blocks.Block{m.Block}
	b := &bs[0]
	switch {
	case m.html:
		return nest(in.l.fragment(m.raw, "", 0), m.Depth, m.Quoted)
	case m.Kind == blocks.Table && merged:
		b.Text = in.rows(m.raw)
	case m.Kind == blocks.Table:
		rest := ""
		b.Text, b.Markdown, rest = in.table(m.raw)
		if rest = in.rows(rest); rest != "" {
			bs = append(bs, blocks.Block{Kind: blocks.Code, Text: rest, Depth: m.Depth, Quoted: m.Quoted})
			in.l.warn(WarnMerged)
		}
	case m.Kind == blocks.Code:
		b.Text = m.raw
	default:
		b.Text, b.Markdown = in.inline(m.raw)
	}
	return in.l.visibleBlocks(bs)
}

// nest puts blocks inside a list item of the given depth and inside quotes.
func nest(bs []blocks.Block, depth, quoted int) []blocks.Block {
	for i := range bs {
		b := &bs[i]
		b.Quoted += quoted
		switch b.Kind {
		case blocks.Heading:
		case blocks.Quote:
			b.Depth += quoted
		default:
			b.Depth += depth
		}
	}
	return bs
}

// mdBlock is a block whose text is not read yet: raw is its lines, without the marks of the containers around it.
type mdBlock struct {
	blocks.Block
	raw  string
	html bool
}

// mdContainer is an open block quote or list item.
type mdContainer struct {
	quote bool
	// width is the columns that the content of an item is indented by.
	width int
	// number is an ordered item's number, 0 for a bullet.
	number int
	// filled is set when the item has its first block, shown when that was a list item, which shows its mark.
	filled, shown bool
	// bare is set while an item has no content but its mark: a blank line then ends it.
	bare bool
}

type mdLeaf int

const (
	leafNone mdLeaf = iota
	leafParagraph
	leafFence
	leafIndented
	leafHTML
	leafTable
)

// maxContainers bounds how deep quotes and lists nest; what is deeper is text of the innermost. Each line is
// matched against all open containers, so without a bound time would not be linear.
const maxContainers = 32

// mdList is the last item of the list at one container depth, for the numbering of the next one.
type mdList struct {
	delim  byte
	number int
}

// maxRefs is how many link references are kept; the definitions of further ones are text.
const maxRefs = 1 << 17

// keptBuffer is the largest buffer in bytes that is kept for the next block.
const keptBuffer = 1 << 20

// mdParser cuts Markdown into blocks.
type mdParser struct {
	// emit takes the blocks as they end; with nil only the definitions of references are read.
	emit       func(mdBlock)
	refs       map[string]string
	containers []mdContainer
	lists      [maxContainers + 1]mdList

	leaf mdLeaf
	// buf is the text of the open leaf, of so many lines. A slice of strings would take many times the text.
	buf   []byte
	lines int
	// pending counts blank lines inside indented code that belong to it only if more code follows.
	pending     int
	fence       byte
	fenceLen    int
	fenceIndent int
	language    string
	htmlEnd     string // what ends an HTML block; "" for a blank line
}

// parse reads a whole text.
func (p *mdParser) parse(text string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		p.line(line)
	}
	p.closeTo(0)
	p.endLeaf()
}

// addLine adds a line to the open leaf.
func (p *mdParser) addLine(s string) {
	if p.lines > 0 {
		p.buf = append(p.buf, '\n')
	}
	p.buf = append(p.buf, s...)
	p.lines++
}

// takeLine takes the last line off the open leaf.
func (p *mdParser) takeLine() string {
	i := bytes.LastIndexByte(p.buf, '\n') + 1
	s := string(p.buf[i:])
	p.buf = p.buf[:max(0, i-1)]
	p.lines--
	return s
}

// takeText takes all text of the open leaf.
func (p *mdParser) takeText() string {
	s := ""
	if p.emit != nil {
		s = string(p.buf)
	}
	p.buf, p.lines = p.buf[:0], 0
	if cap(p.buf) > keptBuffer {
		p.buf = nil
	}
	return s
}

// cursor walks over one line by columns, as tabs stand for up to four of them.
type cursor struct {
	s   string
	pos int
	col int
	// left is how many columns of a tab that was entered half-way remain.
	left int
}

// indent is the number of columns of white space ahead.
func (c *cursor) indent() int {
	n, col := c.left, c.col+c.left
	for i := c.pos; i < len(c.s); i++ {
		switch c.s[i] {
		case ' ':
			n++
			col++
		case '\t':
			w := 4 - col%4
			n += w
			col += w
		default:
			return n
		}
	}
	return n
}

// skip moves over at most n columns of white space.
func (c *cursor) skip(n int) {
	for n > 0 {
		if c.left > 0 {
			k := min(n, c.left)
			c.left -= k
			c.col += k
			n -= k
			continue
		}
		if c.pos == len(c.s) {
			return
		}
		switch c.s[c.pos] {
		case ' ':
			c.pos++
			c.col++
			n--
		case '\t':
			c.left = 4 - c.col%4
			c.pos++
		default:
			return
		}
	}
}

// take moves over n bytes that are no tabs.
func (c *cursor) take(n int) {
	c.pos += n
	c.col += n
}

// text is the rest of the line, with what is left of a half-used tab as spaces.
func (c *cursor) text() string {
	if c.left > 0 {
		return spaces[:c.left] + c.s[c.pos:]
	}
	return c.s[c.pos:]
}

// trimmed is the rest of the line without leading spaces and tabs.
func (c *cursor) trimmed() string { return strings.TrimLeft(c.s[c.pos:], " \t") }

// line reads one line: which of the open containers it continues, what it opens, and what is left as content.
func (p *mdParser) line(s string) {
	c := cursor{s: s}
	matched := 0
	for matched < len(p.containers) {
		k := &p.containers[matched]
		if k.quote {
			if c.indent() > 3 || !strings.HasPrefix(c.trimmed(), ">") {
				break
			}
			p.takeQuoteMark(&c)
		} else if c.trimmed() == "" {
			if k.bare && matched == len(p.containers)-1 {
				break
			}
			c.skip(k.width)
		} else if c.indent() >= k.width {
			c.skip(k.width)
		} else {
			break
		}
		matched++
	}
	all := matched == len(p.containers)
	if all && p.leaf == leafFence {
		p.fenceLine(&c)
		return
	}
	if all && p.leaf == leafHTML {
		p.htmlLine(&c)
		return
	}
	// New containers and blocks, outermost first. The order of the checks is CommonMark's: "---" under text is a
	// heading before it is a rule, and "- - -" is a rule before it is a list.
	opened := false
	for {
		rest := c.trimmed()
		if rest == "" {
			break
		}
		lazy := p.leaf == leafParagraph && matched < len(p.containers) && !opened
		inPara := p.leaf == leafParagraph && !opened && all
		if c.indent() > 3 {
			break // indented code, or a paragraph that goes on
		}
		if rest[0] == '>' && len(p.containers) < maxContainers {
			p.closeTo(matched)
			p.endLeaf()
			p.takeQuoteMark(&c)
			p.containers = append(p.containers, mdContainer{quote: true})
			matched, opened, all = len(p.containers), true, true
			continue
		}
		if level, content, ok := atxHeading(rest); ok {
			p.closeTo(matched)
			p.endLeaf()
			p.add(mdBlock{Block: blocks.Block{Kind: blocks.Heading, Level: level}, raw: content})
			return
		}
		if ch, n, info, ok := fenceOpen(rest); ok {
			p.closeTo(matched)
			p.endLeaf()
			p.leaf, p.fence, p.fenceLen, p.fenceIndent = leafFence, ch, n, c.indent()
			p.language = fenceLanguage(info)
			return
		}
		if end, ok := htmlOpen(rest, inPara || lazy); ok {
			p.closeTo(matched)
			p.endLeaf()
			p.leaf, p.htmlEnd = leafHTML, end
			p.htmlLine(&c)
			return
		}
		if inPara && setextLevel(rest) > 0 && p.takeDefinitions() {
			raw := p.takeText()
			p.leaf = leafNone
			p.add(mdBlock{Block: blocks.Block{Kind: blocks.Heading, Level: setextLevel(rest)}, raw: raw})
			return
		}
		if isThematicBreak(rest) {
			p.closeTo(matched)
			p.endLeaf()
			p.lists[len(p.containers)] = mdList{}
			return
		}
		if item, ok := listMarker(rest); ok && len(p.containers) < maxContainers {
			// Only what is plainly a list interrupts a paragraph: a line may begin with "1986." by chance.
			if inPara && (item.empty || item.ordered && item.start != 1) {
				break
			}
			p.openItem(&c, item, matched)
			matched, opened, all = len(p.containers), true, true
			continue
		}
		break
	}
	rest := c.trimmed()
	if rest != "" && p.leaf == leafParagraph && !all && !opened {
		p.addLine(rest) // a lazy continuation
		return
	}
	p.closeTo(matched)
	p.content(&c, rest)
}

// content gives the rest of a line, all containers settled, to the open leaf or to a new one.
func (p *mdParser) content(c *cursor, rest string) {
	if rest == "" {
		switch p.leaf {
		case leafIndented:
			p.pending++
		case leafParagraph, leafTable:
			p.endLeaf()
		}
		return
	}
	if n := len(p.containers); n > 0 {
		p.containers[n-1].bare = false
	}
	if p.leaf == leafIndented && c.indent() < 4 {
		p.endLeaf()
	}
	if p.leaf != leafParagraph && p.leaf != leafTable && c.indent() >= 4 {
		for ; p.pending > 0; p.pending-- {
			p.addLine("")
		}
		p.leaf = leafIndented
		c.skip(4)
		p.addLine(c.text())
		return
	}
	switch p.leaf {
	case leafTable:
		p.addLine(rest)
		return
	case leafParagraph:
		if p.lines == 0 {
			break
		}
		if isFootnote(rest) || isDefinition(rest) && isFootnote(p.firstLine()) {
			p.endLeaf()
			break
		}
		if cols := delimiterRow(rest); cols > 0 {
			header := p.takeLine()
			if cols == columns(header) && (cols > 1 || strings.Contains(header, "|")) {
				p.endLeaf()
				p.leaf = leafTable
				p.addLine(header)
				return
			}
			p.addLine(header)
		}
	}
	p.leaf = leafParagraph
	p.addLine(rest)
}

// takeQuoteMark moves over a quote's mark and the one column of space that belongs to it.
func (p *mdParser) takeQuoteMark(c *cursor) {
	c.skip(c.indent())
	c.take(1)
	if c.indent() > 0 {
		c.skip(1)
	}
}

// fenceLine gives a line to fenced code, or ends it. The fence's own indent is taken off each line.
func (p *mdParser) fenceLine(c *cursor) {
	if rest := c.trimmed(); c.indent() <= 3 {
		if n := runLength(rest, p.fence); n >= p.fenceLen && blank(rest[n:]) {
			p.endLeaf()
			return
		}
	}
	c.skip(p.fenceIndent)
	p.addLine(c.text())
}

// htmlLine gives a line to an HTML block and ends the block when the line does.
func (p *mdParser) htmlLine(c *cursor) {
	if p.htmlEnd == "" {
		if c.trimmed() == "" {
			p.endLeaf()
			return
		}
		// What a browser would not show may hold blank lines; the block then lasts until it is closed.
		for _, hidden := range [][2]string{{"<script", "</script>"}, {"<style", "</style>"}, {"<!--", "-->"}} {
			if i := indexFold(c.s[c.pos:], hidden[0]); i >= 0 && indexFold(c.s[c.pos+i:], hidden[1]) < 0 {
				p.htmlEnd = hidden[1]
			}
		}
		p.addLine(c.text())
		return
	}
	p.addLine(c.text())
	for _, end := range strings.Fields(p.htmlEnd) {
		if indexFold(c.s[c.pos:], end) >= 0 {
			p.endLeaf()
			return
		}
	}
}

// openItem opens a list item. Its content begins at the column of the first character after the mark.
func (p *mdParser) openItem(c *cursor, item marker, matched int) {
	p.closeTo(matched)
	p.endLeaf()
	depth := len(p.containers)
	last := p.lists[depth]
	number := 0
	if item.ordered {
		number = item.start
		if last.delim == item.delim {
			// Only the first number of a list counts: authors write "1." before every item.
			number = last.number + 1
		}
	}
	indent := c.indent()
	c.skip(indent)
	c.take(item.width)
	width := indent + item.width
	after := c.indent()
	switch {
	case item.empty:
		width++
	case after > 4:
		// More than four columns: the text is indented code, one column after the mark.
		width++
		c.skip(1)
	default:
		width += after
		c.skip(after)
	}
	p.lists[depth] = mdList{delim: item.delim, number: number}
	for i := depth + 1; i < len(p.lists); i++ {
		p.lists[i] = mdList{}
	}
	p.containers = append(p.containers, mdContainer{width: width, number: number, bare: item.empty})
}

// closeTo closes all containers past the first n, and with them the leaf that they hold.
func (p *mdParser) closeTo(n int) {
	if n < len(p.containers) {
		p.endLeaf()
		p.containers = p.containers[:n]
	}
}

// endLeaf emits the open leaf.
func (p *mdParser) endLeaf() {
	leaf := p.leaf
	p.leaf, p.pending = leafNone, 0
	switch leaf {
	case leafNone:
		return
	case leafParagraph:
		if p.takeDefinitions() {
			p.add(mdBlock{Block: blocks.Block{Kind: blocks.Paragraph}, raw: p.takeText()})
		}
	case leafFence, leafIndented:
		lang := ""
		if leaf == leafFence {
			lang = p.language
		}
		if len(bytes.TrimSpace(p.buf)) > 0 {
			p.add(mdBlock{Block: blocks.Block{Kind: blocks.Code, Language: lang}, raw: trimLines(p.takeText())})
		}
	case leafHTML:
		p.add(mdBlock{html: true, raw: p.takeText()})
	case leafTable:
		p.add(mdBlock{Block: blocks.Block{Kind: blocks.Table}, raw: p.takeText()})
	}
	p.buf, p.lines = p.buf[:0], 0
}

// add emits a block, giving it the kind that its innermost container calls for.
func (p *mdParser) add(b mdBlock) {
	n := len(p.containers)
	p.lists[n] = mdList{}
	items := 0
	for _, c := range p.containers {
		if c.quote {
			b.Quoted++
		} else if c.shown {
			items++
		}
	}
	// What follows in an item after its first block continues it. An item that began with code or a table has
	// no list item that could be continued.
	if b.Kind != blocks.Heading {
		b.Depth = items
	}
	if n > 0 {
		k := &p.containers[n-1]
		if b.Kind == blocks.Paragraph {
			switch {
			case k.quote:
				b.Kind, b.Depth = blocks.Quote, b.Quoted
			case !k.filled:
				b.Kind, b.Depth, b.Ordered = blocks.ListItem, items+1, k.number
				k.shown = true
			}
		}
		k.filled = true
	}
	if p.emit != nil {
		p.emit(b)
	}
}

// takeDefinitions moves the link reference definitions at the start of the open paragraph to refs and
// reports whether any text is left.
func (p *mdParser) takeDefinitions() bool {
	if p.lines == 0 || !isDefinition(p.firstLine()) {
		return p.lines > 0
	}
	s := string(p.buf)
	var head [3]string // no definition has more lines
	for p.lines > 0 && strings.HasPrefix(s, "[") {
		rest := s
		for i := range head {
			head[i], rest, _ = strings.Cut(rest, "\n")
		}
		label, dest, n := definition(head[:min(p.lines, len(head))])
		if n == 0 {
			break
		}
		if _, dup := p.refs[label]; !dup {
			if len(p.refs) >= maxRefs {
				break
			}
			p.refs[strings.Clone(label)] = strings.Clone(dest)
		}
		for range n {
			_, s, _ = strings.Cut(s, "\n")
		}
		p.lines -= n
	}
	p.buf = append(p.buf[:0], s...)
	return p.lines > 0
}

// firstLine is the first line of the open leaf.
func (p *mdParser) firstLine() string {
	line, _, _ := bytes.Cut(p.buf, []byte("\n"))
	return string(line[:min(len(line), 2*maxLabel)])
}

// definition reads a link reference definition and returns how many lines it takes, or 0.
func definition(lines []string) (label, dest string, n int) {
	s := lines[0]
	end := labelEnd(s, 1)
	if end < 0 || end+1 >= len(s) || s[end+1] != ':' || s[1] == '^' {
		return "", "", 0
	}
	label = normalLabel(s[1:end])
	rest := strings.TrimSpace(s[end+2:])
	n = 1
	if rest == "" {
		if len(lines) < 2 {
			return "", "", 0
		}
		rest = strings.TrimSpace(lines[1])
		n = 2
	}
	dest, size, ok := linkDestination(rest)
	if !ok || label == "" {
		return "", "", 0
	}
	after := rest[size:]
	rest = strings.TrimSpace(after)
	if rest == "" {
		// A title may stand on a line of its own.
		if n < len(lines) && isTitle(strings.TrimSpace(lines[n])) {
			n++
		}
		return label, dest, n
	}
	if after[0] != ' ' && after[0] != '\t' || !isTitle(rest) {
		return "", "", 0
	}
	return label, dest, n
}

// isDefinition reports whether a line begins as the definition of a link or a footnote.
func isDefinition(s string) bool {
	end := -1
	if s[0] == '[' {
		end = labelEnd(s, 1)
	}
	return end > 1 && end+1 < len(s) && s[end+1] == ':'
}

// isFootnote reports whether a line begins a footnote. Footnotes are kept as text, each a paragraph.
func isFootnote(s string) bool { return strings.HasPrefix(s, "[^") && isDefinition(s) }

// isTitle reports whether s is one whole quoted title.
func isTitle(s string) bool {
	n := linkTitle(s)
	return n > 0 && n == len(s)
}

// labelEnd returns the index of the bracket that closes the label whose text begins at i, or -1.
func labelEnd(s string, i int) int {
	for limit := min(len(s), i+maxLabel); i < limit; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			return -1
		case ']':
			return i
		}
	}
	return -1
}

// maxLabel is the longest link label in bytes, as CommonMark has it.
const maxLabel = 999

// normalLabel makes labels that CommonMark calls equal the same string.
func normalLabel(s string) string { return strings.ToLower(strings.ToUpper(collapse(s))) }

func runLength(s string, ch byte) int {
	n := 0
	for n < len(s) && s[n] == ch {
		n++
	}
	return n
}

// atxHeading reads a heading of the "## " form; a closing run of # is no content.
func atxHeading(s string) (level int, content string, ok bool) {
	level = runLength(s, '#')
	if level == 0 || level > 6 || level < len(s) && s[level] != ' ' && s[level] != '\t' {
		return 0, "", false
	}
	content = strings.TrimSpace(s[level:])
	if end := strings.TrimRight(content, "#"); end == "" || strings.HasSuffix(end, " ") || strings.HasSuffix(end, "\t") {
		content = strings.TrimSpace(end)
	}
	return level, content, true
}

// setextLevel is the level that a line under a paragraph makes it a heading of, or 0.
func setextLevel(s string) int {
	s = strings.TrimRight(s, " \t")
	switch {
	case s != "" && runLength(s, '=') == len(s):
		return 1
	case s != "" && runLength(s, '-') == len(s):
		return 2
	}
	return 0
}

// fenceOpen reads the line that opens fenced code. With backticks in its info string it is a code span.
func fenceOpen(s string) (ch byte, n int, info string, ok bool) {
	if s[0] != '`' && s[0] != '~' {
		return 0, 0, "", false
	}
	ch = s[0]
	n = runLength(s, ch)
	info = strings.TrimSpace(s[n:])
	if n < 3 || ch == '`' && strings.IndexByte(info, '`') >= 0 {
		return 0, 0, "", false
	}
	return ch, n, info, true
}

// fenceLanguage is the language in an info string: its first word, or the class of the {.lang} form.
func fenceLanguage(info string) string {
	lang, _, _ := strings.Cut(strings.TrimLeft(info, "{ ."), " ")
	lang, _, _ = strings.Cut(lang, ",")
	lang, _, _ = strings.Cut(lang, "{")
	lang = strings.ToLower(strings.TrimRight(lang, "}:"))
	if !isLanguageName(lang) {
		return ""
	}
	return lang
}

func isThematicBreak(s string) bool {
	ch := s[0]
	if ch != '-' && ch != '*' && ch != '_' {
		return false
	}
	n := 0
	for i := range len(s) {
		switch s[i] {
		case ch:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// marker is a list item's mark.
type marker struct {
	delim   byte
	ordered bool
	start   int
	width   int
	empty   bool
}

func listMarker(s string) (marker, bool) {
	m := marker{delim: s[0], width: 1}
	if s[0] >= '0' && s[0] <= '9' {
		n := 0
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			m.start = m.start*10 + int(s[n]-'0')
			n++
		}
		if n == len(s) || s[n] != '.' && s[n] != ')' {
			return m, false
		}
		m.delim, m.ordered, m.width = s[n], true, n+1
	} else if s[0] != '-' && s[0] != '*' && s[0] != '+' {
		return m, false
	}
	after := s[m.width:]
	m.empty = blank(after)
	return m, m.empty || after[0] == ' ' || after[0] == '\t'
}

// htmlOpen reports whether a line begins an HTML block and what ends it.
func htmlOpen(s string, inParagraph bool) (end string, ok bool) {
	if s[0] != '<' || len(s) < 2 {
		return "", false
	}
	switch {
	case strings.HasPrefix(s, "<!--"):
		return "-->", true
	case strings.HasPrefix(s, "<?"):
		return "?>", true
	case strings.HasPrefix(s, "<![CDATA["):
		return "]]>", true
	case strings.HasPrefix(s, "<!") && len(s) > 2 && isLetter(s[2]):
		return ">", true
	}
	name, closing := tagName(s)
	if name == "" {
		return "", false
	}
	switch name {
	case "script", "pre", "style", "textarea":
		if !closing {
			return "</script> </pre> </style> </textarea>", true
		}
	}
	if breaks(name) || isHTMLBlock(name) {
		return "", true
	}
	if inParagraph {
		return "", false
	}
	// Any other tag, when it stands alone on its line.
	if n := inlineTag(s); n > 0 && blank(s[n:]) {
		return "", true
	}
	return "", false
}

// isHTMLBlock adds to breaks the elements that begin an HTML block though their text does not stand apart.
func isHTMLBlock(name string) bool {
	switch name {
	case "base", "basefont", "col", "colgroup", "dialog", "dir", "frame", "frameset", "head", "iframe", "legend", "link", "menu", "menuitem",
		"noframes", "optgroup", "option", "param", "search", "title", "track", "meta", "picture", "source", "video", "audio", "svg":
		return true
	}
	return false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// tagName is the lower-case name of the tag that s begins with; "" when s does not begin with a tag.
func tagName(s string) (name string, closing bool) {
	i := 1
	if i < len(s) && s[i] == '/' {
		closing = true
		i++
	}
	from := i
	for i < len(s) && i-from < 32 && (isLetter(s[i]) || i > from && (s[i] >= '0' && s[i] <= '9' || s[i] == '-')) {
		i++
	}
	if i == from || i < len(s) && strings.IndexByte(" \t\n/>", s[i]) < 0 {
		return "", closing
	}
	return strings.ToLower(s[from:i]), closing
}

// maxColumns is how many columns a table may have; wider rows are text.
const maxColumns = 1 << 15

// delimiterRow returns the number of columns when s is the row under a table's header, else 0.
func delimiterRow(s string) int {
	if strings.Trim(s, "|:- \t") != "" || strings.IndexByte(s, '-') < 0 || tooWide(s) {
		return 0
	}
	cells := splitRow(s, nil)
	for _, c := range cells {
		c = strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":")
		if c == "" || runLength(c, '-') != len(c) {
			return 0
		}
	}
	return len(cells)
}

// tooWide reports whether a row may have more columns than are read.
func tooWide(s string) bool { return strings.Count(s, "|") > maxColumns }

// columns is how many cells a table row has, 0 when there are too many.
func columns(s string) int {
	if tooWide(s) {
		return 0
	}
	return len(splitRow(s, nil))
}

// splitRow cuts a table row into its cells, with escaped pipes unescaped, and appends them to cells.
func splitRow(s string, cells []string) []string {
	s = strings.TrimSpace(s)
	s = strings.TrimPrefix(s, "|")
	from, escaped := 0, false
	add := func(cell string) {
		if escaped {
			cell = strings.ReplaceAll(cell, `\|`, "|")
		}
		cells = append(cells, strings.TrimSpace(cell))
		escaped = false
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			escaped = escaped || s[i+1] == '|'
			i++
		case s[i] == '|':
			add(s[from:i])
			from = i + 1
		}
	}
	if from < len(s) {
		add(s[from:])
	}
	return cells
}
