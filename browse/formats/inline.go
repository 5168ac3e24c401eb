package formats

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// inliner reads the inline Markdown of one document's blocks.
type inliner struct {
	l    *linker
	refs map[string]string
	// fuel is how many bytes may still be looked at in vain for the end of a tag or a link. It keeps crafted
	// text linear; when it is used up, such text is only text.
	fuel int
	// tableBudget is how many bytes the tables may still have: each cell adds up to four bytes to its one.
	tableBudget int

	// The state of one block.
	src string
	// tail is the text behind the pieces, when there are too many of them, and inTail is set while it is read.
	tail     []byte
	inTail   bool
	pieces   []piece
	delims   []delim
	lastD    int
	brackets []bracket
	// closedBelow is how many brackets from the bottom cannot open a link any more, as a link holds no link.
	closedBelow int
	spans       []span
	noBackticks map[int]int // run length → where no such run follows
	anchor      int         // piece of the open <a href>, or -1
	anchorURL   string
	tagEnd      int // where the next ">" is, len(src) for nowhere
}

// piece is a stretch of the block: what it says, and its Markdown.
type piece struct{ text, md string }

// delim is a run of *, _ or ~ that may open or close emphasis; prev and next link the runs not yet used up.
type delim struct {
	ch                byte
	left, orig        int
	piece             int
	canOpen, canClose bool
	prev, next        int
}

type bracket struct {
	piece, pos int
	image      bool
	// delim is the last delimiter run before the bracket.
	delim int
	// nested is set when another bracket was opened after this one.
	nested bool
}

// span is a link: the pieces between its marks are its text.
type span struct {
	from, to int
	url      string
}

// inline returns the plain text of a block and its inline Markdown, "" when that is the same.
func (in *inliner) inline(raw string) (text, markdown string) {
	text, markdown = in.cell(raw)
	// Taking out tags and folding lines may leave something at the start that only now looks like a block.
	return text, guardStart(markdown)
}

// cell is inline for text that does not begin a line.
func (in *inliner) cell(raw string) (text, markdown string) {
	if !strings.ContainsAny(raw, "\\`*_~[]!<&:") {
		text = collapse(raw)
		if needsEscape(text) {
			return text, text
		}
		return text, ""
	}
	in.src = raw
	clear(in.pieces)
	in.pieces, in.delims, in.brackets, in.spans = in.pieces[:0], in.delims[:0], in.brackets[:0], in.spans[:0]
	in.lastD, in.closedBelow, in.anchor, in.tagEnd = -1, 0, -1, -1
	clear(in.noBackticks)
	in.tail, in.inTail = nil, false
	in.scan()
	in.emphasis(-1)

	tail := string(in.tail)
	in.tail = nil
	textSize, mdSize := len(tail), escapedLen(tail)
	for i := range in.pieces {
		textSize += len(in.pieces[i].text)
		mdSize += len(in.pieces[i].md)
	}
	var t, m strings.Builder
	t.Grow(textSize)
	m.Grow(mdSize)
	next := 0
	from := 0
	for i := range in.pieces {
		if next < len(in.spans) && in.spans[next].from == i {
			from = t.Len()
		}
		t.WriteString(in.pieces[i].text)
		m.WriteString(in.pieces[i].md)
		if next < len(in.spans) && in.spans[next].to == i {
			in.l.add(t.String()[from:], in.spans[next].url)
			next++
		}
	}
	t.WriteString(tail)
	writeEscaped(&m, tail)
	text, markdown = collapse(t.String()), collapse(m.String())
	if text == markdown && !needsEscape(text) {
		return text, ""
	}
	return text, markdown
}

// needsEscape reports whether plain text would change its meaning as Markdown, or be escaped to prevent that.
func needsEscape(s string) bool { return strings.ContainsAny(s, "\\`*_~[]<>&#|+-.!=") }

// guardStart escapes what would make a block of another kind of inline Markdown that begins a line.
func guardStart(s string) string {
	if s == "" {
		return s
	}
	m, isList := listMarker(s)
	_, _, isHeading := atxHeading(s)
	_, _, _, isFence := fenceOpen(s)
	switch {
	case isList && m.ordered:
		return s[:m.width-1] + `\` + s[m.width-1:]
	case isList, isHeading, isFence, isThematicBreak(s), s[0] == '>':
		return `\` + s
	}
	return s
}

// push adds a piece whose text and Markdown are given; pieces are only joined when the block is complete, as
// a later mark decides what an earlier one meant.
func (in *inliner) push(text, md string) {
	if in.inTail {
		in.tail = append(in.tail, text...)
		return
	}
	in.pieces = append(in.pieces, piece{text, md})
}

// maxPieces is how many pieces a block may have. A piece costs up to a hundred bytes, and a mark of one byte
// makes one. Behind so many of them emphasis and links are only text, while escapes, references, code and what
// is not shown are read on.
const maxPieces = 1 << 17

// scan cuts the block into pieces, plain text in runs as long as possible.
func (in *inliner) scan() {
	s := in.src
	for i := 0; i < len(s); {
		if len(in.pieces) >= maxPieces {
			in.inTail, in.anchor = true, -1
			in.l.warn(WarnMerged)
			for i < len(s) {
				j := i + strings.IndexAny(s[i:], "\\`<&")
				if j < i {
					j = len(s)
				}
				in.push(s[i:j], "")
				if i = j; i < len(s) {
					i = in.mark(i)
				}
			}
			return
		}
		j := i
		for j < len(s) && !special(s, j) {
			j++
		}
		if j > i {
			in.push(s[i:j], s[i:j])
			i = j
			continue
		}
		i = in.mark(i)
	}
}

// special reports whether the byte at i may begin something that is not plain text.
func special(s string, i int) bool {
	switch s[i] {
	case '\\', '`', '*', '_', '~', '[', ']', '!', '<', '&':
		return true
	case 'h', 'H':
		return (i == 0 || !isWord(s[i-1])) && bareScheme(s[i:]) > 0
	}
	return false
}

// mark reads what begins at the special byte at i and returns where it ends.
func (in *inliner) mark(i int) int {
	s := in.src
	switch s[i] {
	case '\\':
		if i+1 < len(s) && isPunct(s[i+1]) {
			in.push(s[i+1:i+2], s[i:i+2])
			return i + 2
		}
		if i+1 < len(s) && s[i+1] == '\n' {
			in.push(" ", " ") // a hard line break
			return i + 2
		}
	case '`':
		return in.code(i)
	case '*', '_', '~':
		return in.delimiter(i)
	case '[':
		in.open(i+1, false)
		in.push("[", "[")
		return i + 1
	case '!':
		if i+1 < len(s) && s[i+1] == '[' {
			in.open(i+2, true)
			in.push("![", "![")
			return i + 2
		}
	case ']':
		return in.closeBracket(i)
	case '<':
		if end := in.angle(i); end > 0 {
			return end
		}
		in.push("<", "<")
		return i + 1
	case '&':
		if text, n := entity(s[i:]); n > 0 {
			md := s[i : i+n]
			if r, _ := utf8.DecodeRuneInString(text); r >= utf8.RuneSelf {
				md = text // a reader of Markdown gains nothing from the reference
			}
			in.push(text, md)
			return i + n
		}
	case 'h', 'H':
		if end := bareLink(s, i); end > 0 {
			in.push(s[i:end], s[i:end])
			if url, ok := in.l.resolve("", s[i:end]); ok {
				in.spans = append(in.spans, span{len(in.pieces) - 1, len(in.pieces) - 1, url})
			}
			return end
		}
	}
	in.push(s[i:i+1], s[i:i+1])
	return i + 1
}

func isPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// code reads a code span, or the run of backticks that opens none.
func (in *inliner) code(i int) int {
	s := in.src
	n := runLength(s[i:], '`')
	from := i + n
	if at, ok := in.noBackticks[n]; n <= maxBackticks && (!ok || from < at) {
		for j := from; j < len(s); {
			k := strings.IndexByte(s[j:], '`')
			if k < 0 {
				break
			}
			j += k
			m := runLength(s[j:], '`')
			if m == n {
				in.push(codeText(s[from:j]), s[i:j+n])
				return j + n
			}
			j += m
		}
		if in.noBackticks == nil {
			in.noBackticks = make(map[int]int)
		}
		in.noBackticks[n] = i
	}
	in.push(s[i:from], s[i:from])
	return from
}

// maxBackticks is the longest run that opens code: each length is searched for once.
const maxBackticks = 64

// codeText is what a code span shows: CommonMark takes off one space at each end, which is there to part
// backticks of the code from those of the span.
func codeText(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	if len(s) > 2 && s[0] == ' ' && s[len(s)-1] == ' ' && !blank(s) {
		return s[1 : len(s)-1]
	}
	return s
}

// delimiter reads a run of *, _ or ~. Whether it can open or close emphasis depends on its neighbours: see
// "left-flanking" and "right-flanking" in CommonMark.
func (in *inliner) delimiter(i int) int {
	s := in.src
	ch := s[i]
	n := runLength(s[i:], ch)
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	spaceBefore := i == 0 || unicode.IsSpace(before)
	spaceAfter := i+n == len(s) || unicode.IsSpace(after)
	punctBefore := i > 0 && (unicode.IsPunct(before) || unicode.IsSymbol(before))
	punctAfter := i+n < len(s) && (unicode.IsPunct(after) || unicode.IsSymbol(after))
	left := !spaceAfter && (!punctAfter || spaceBefore || punctBefore)
	right := !spaceBefore && (!punctBefore || spaceAfter || punctAfter)
	d := delim{ch: ch, left: n, orig: n, piece: len(in.pieces), canOpen: left, canClose: right, prev: in.lastD, next: -1}
	if ch == '_' {
		d.canOpen = left && (!right || punctBefore)
		d.canClose = right && (!left || punctAfter)
	}
	in.push(s[i:i+n], s[i:i+n])
	if (d.canOpen || d.canClose) && (ch != '~' || n <= 2) {
		if d.prev >= 0 {
			in.delims[d.prev].next = len(in.delims)
		}
		in.lastD = len(in.delims)
		in.delims = append(in.delims, d)
	}
	return i + n
}

// emphasis pairs the delimiter runs above bottom, as CommonMark's algorithm does, and takes the used marks
// out of the text.
func (in *inliner) emphasis(bottom int) {
	var openers [3][2][3]int // by character, by whether the closer may open, by length modulo 3
	for a := range openers {
		for b := range openers[a] {
			for c := range openers[a][b] {
				openers[a][b][c] = bottom
			}
		}
	}
	first := -1
	for d := in.lastD; d >= 0 && d != bottom; d = in.delims[d].prev {
		first = d
	}
	for closer := first; closer >= 0; {
		c := &in.delims[closer]
		if !c.canClose {
			closer = c.next
			continue
		}
		class, opens := strings.IndexByte("*_~", c.ch), 0
		if c.canOpen {
			opens = 1
		}
		floor := &openers[class][opens][c.orig%3]
		opener := c.prev
		for opener >= 0 && opener != bottom && opener != *floor {
			o := &in.delims[opener]
			if o.ch == c.ch && o.canOpen {
				// CommonMark's rule of three: a run that could do both pairs only where the sum of the lengths
				// is no multiple of three, so that *foo**bar*baz is not taken apart.
				odd := (o.canClose || c.canOpen) && (o.orig+c.orig)%3 == 0 && (o.orig%3 != 0 || c.orig%3 != 0)
				if c.ch == '~' && o.left == c.left || c.ch != '~' && !odd {
					break
				}
			}
			opener = o.prev
		}
		if opener < 0 || opener == bottom || opener == *floor {
			// Nothing below can open for closers of this class: the next one need not look there again,
			// which is what keeps the search linear.
			*floor = c.prev
			next := c.next
			if !c.canOpen {
				in.unlink(closer)
			}
			closer = next
			continue
		}
		o := &in.delims[opener]
		n := 1
		if o.left >= 2 && c.left >= 2 {
			n = 2
		}
		// Marks between the two cannot pair across them.
		for d := c.prev; d != opener; d = in.delims[d].prev {
			in.unlink(d)
		}
		for _, d := range []*delim{o, c} {
			d.left -= n
			in.pieces[d.piece].text = in.pieces[d.piece].text[n:]
		}
		if o.left == 0 {
			in.unlink(opener)
		}
		if c.left == 0 {
			next := c.next
			in.unlink(closer)
			closer = next
		}
	}
	// What is left above bottom can no longer pair with anything.
	in.lastD = bottom
	if bottom >= 0 {
		in.delims[bottom].next = -1
	}
}

// unlink takes a run out of the list of those not yet used up.
func (in *inliner) unlink(i int) {
	d := &in.delims[i]
	if d.prev >= 0 {
		in.delims[d.prev].next = d.next
	}
	if d.next >= 0 {
		in.delims[d.next].prev = d.prev
	} else {
		in.lastD = d.prev
	}
}

// open notes a bracket, the text of which begins at pos.
func (in *inliner) open(pos int, image bool) {
	if n := len(in.brackets); n > 0 {
		in.brackets[n-1].nested = true
	}
	in.brackets = append(in.brackets, bracket{piece: len(in.pieces), pos: pos, image: image, delim: in.lastD})
}

// closeBracket reads the bracket at i: it ends a link or an image, or is only a bracket.
func (in *inliner) closeBracket(i int) int {
	n := len(in.brackets) - 1
	if n < 0 {
		in.push("]", "]")
		return i + 1
	}
	b := in.brackets[n]
	in.brackets = in.brackets[:n]
	active := b.image || n >= in.closedBelow
	in.closedBelow = min(in.closedBelow, n)
	dest, end, ok := "", 0, false
	if active {
		if dest, end, ok = in.inlineTarget(i + 1); !ok {
			dest, end, ok = in.reference(b, i)
		}
	}
	if !ok {
		in.push("]", "]")
		return i + 1
	}
	in.emphasis(b.delim)
	url, resolved := "", false
	if len(dest) <= maxRef {
		url, resolved = in.l.resolve("", unescapeMarkdown(dest))
	}
	target := ""
	if resolved {
		target = destination(url)
	}
	open := &in.pieces[b.piece]
	open.text = ""
	if target == "" {
		// mailto:, data: and the like: the text stays, the link goes.
		open.md = ""
		in.push("", "")
	} else {
		in.push("", "]("+target+")")
	}
	if b.image {
		return end
	}
	in.closedBelow = n // a link holds no links
	if resolved {
		in.addSpan(span{b.piece, len(in.pieces) - 1, url})
	}
	return end
}

// addSpan records a link in the order of their pieces; links found inside it (bare ones) give way.
func (in *inliner) addSpan(s span) {
	for n := len(in.spans); n > 0 && in.spans[n-1].from >= s.from; n-- {
		in.spans = in.spans[:n-1]
	}
	if n := len(in.spans); n > 0 && in.spans[n-1].to >= s.from {
		return
	}
	in.spans = append(in.spans, s)
}

// inlineTarget reads "(destination "title")" at i.
func (in *inliner) inlineTarget(i int) (dest string, end int, ok bool) {
	s := in.src
	if i >= len(s) || s[i] != '(' {
		return "", 0, false
	}
	from := i
	i = skipSpace(s, i+1)
	dest, n, ok := linkDestination(s[i:])
	if !ok {
		in.fuel -= i - from
		return "", 0, false
	}
	i += n
	if after := skipSpace(s, i); after > i && after < len(s) && s[after] != ')' && in.fuel > 0 {
		n := linkTitle(s[after:])
		if n == 0 {
			in.fuel -= len(s) - after
			return "", 0, false
		}
		i = after + n
	}
	i = skipSpace(s, i)
	if i >= len(s) || s[i] != ')' {
		in.fuel -= i - from
		return "", 0, false
	}
	return dest, i + 1, true
}

// linkDestination reads a destination at the start of s. It may be empty.
func linkDestination(s string) (dest string, n int, ok bool) {
	if strings.HasPrefix(s, "<") {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '\n', '<':
				return "", 0, false
			case '>':
				return s[1:i], i + 1, true
			}
		}
		return "", 0, false
	}
	// Balanced parentheses belong to the destination, at most as many as CommonMark asks readers to count.
	depth, i := 0, 0
loop:
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && isPunct(s[i+1]):
			i++
		case c <= ' ':
			break loop
		case c == '(':
			if depth++; depth > 32 {
				return "", 0, false
			}
		case c == ')':
			if depth == 0 {
				break loop
			}
			depth--
		}
	}
	return s[:i], i, depth == 0
}

// linkTitle returns the length of the quoted title that s begins with, or 0.
func linkTitle(s string) int {
	if s == "" {
		return 0
	}
	closer := s[0]
	switch closer {
	case '"', '\'':
	case '(':
		closer = ')'
	default:
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case closer:
			return i + 1
		case '(':
			if closer == ')' {
				return 0
			}
		}
	}
	return 0
}

// reference reads what a bracket that closes at i refers to: [text][label], [label][] or [label].
func (in *inliner) reference(b bracket, i int) (dest string, end int, ok bool) {
	s := in.src
	if len(in.refs) == 0 {
		return "", 0, false
	}
	label, end := "", i+1
	if i+1 < len(s) && s[i+1] == '[' {
		if close := labelEnd(s, i+2); close > i+2 {
			label, end = s[i+2:close], close+1
		} else if close == i+2 {
			end = close + 1
		}
	}
	if label == "" {
		// A label holds no bracket, so text with one in it need not be looked up; without this check nested
		// brackets would cost their square.
		if b.nested || i-b.pos > maxLabel {
			return "", 0, false
		}
		label = s[b.pos:i]
	}
	dest, ok = in.refs[normalLabel(label)]
	return dest, end, ok
}

// unescapeMarkdown decodes backslash escapes and character references in a destination.
func unescapeMarkdown(s string) string {
	s = unescape(s)
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && isPunct(s[i+1]) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// angle reads an autolink, comment or tag at i and returns its end, or 0.
func (in *inliner) angle(i int) int {
	s := in.src
	// Where no ">" follows there is nothing to find, for this bracket and all after it.
	if in.tagEnd < i {
		in.tagEnd = len(s)
		if n := strings.IndexByte(s[i:], '>'); n >= 0 {
			in.tagEnd = i + n
		}
	}
	if in.tagEnd == len(s) || in.fuel <= 0 {
		return 0
	}
	close := in.tagEnd - i
	if inner := s[i+1 : i+close]; isAutolink(inner) {
		if in.inTail {
			in.push(inner, "")
		} else if url, ok := in.l.resolve("", inner); ok {
			in.push(inner, "<"+inner+">")
			in.spans = append(in.spans, span{len(in.pieces) - 1, len(in.pieces) - 1, url})
		} else {
			in.push(inner, escapeMarkdown(inner))
		}
		return i + close + 1
	} else if isEmail(inner) {
		in.push(inner, escapeMarkdown(inner))
		return i + close + 1
	}
	closer := ""
	switch {
	case strings.HasPrefix(s[i:], "<!--"):
		closer = "-->"
	case strings.HasPrefix(s[i:], "<?"):
		closer = "?>"
	case strings.HasPrefix(s[i:], "<![CDATA["):
		closer = "]]>"
	case strings.HasPrefix(s[i:], "<!") && i+2 < len(s) && isLetter(s[i+2]):
		closer = ">"
	}
	if closer != "" {
		end := strings.Index(s[i:], closer)
		if end < 0 {
			in.fuel -= len(s) - i
			return 0
		}
		return i + end + len(closer)
	}
	name, closing := tagName(s[i:])
	if name == "" {
		return 0
	}
	n := inlineTag(s[i:])
	if n <= 0 {
		in.fuel += n // what was looked at in vain
		return 0
	}
	in.tag(name, closing, s[i:i+n])
	end := i + n
	// What stands between these tags is no text even where Markdown does not see them as a block.
	if !closing && (name == "script" || name == "style") {
		if k := indexFold(s[end:], "</"+name); k >= 0 {
			end += k
		} else {
			in.fuel -= len(s) - end
		}
		return end
	}
	if !closing && !isVoid(name) && hiddenTag(s[i:i+n]) {
		if inside, after := in.enclosed(s[end:], name); after > 0 {
			in.l.hide(plainFragment(s[end : end+inside]))
			return end + after
		}
		in.fuel -= len(s) - end
	}
	return end
}

// indexFold is strings.Index for a lower-case ASCII needle, which begins with no letter, in text of any case.
func indexFold(s, lower string) int {
	for i := 0; i+len(lower) <= len(s); i++ {
		if s[i] == lower[0] && strings.EqualFold(s[i:i+len(lower)], lower) {
			return i
		}
	}
	return -1
}

// tag gives an inline tag's share to the text: images their alternative text, anchors their link.
func (in *inliner) tag(name string, closing bool, raw string) {
	switch {
	case name == "br" || name == "hr" || breaks(name):
		in.push(" ", " ")
	case name == "img" && !closing:
		alt := attribute(raw, "alt")
		md := escapeMarkdown(alt)
		if in.inTail {
			md = ""
		} else if url, ok := in.l.resolve("", attribute(raw, "src")); ok && destination(url) != "" {
			md = "![" + md + "](" + destination(url) + ")"
		}
		in.push(alt, md)
	case name == "a" && !closing:
		in.anchor = -1
		href := attribute(raw, "href")
		if href == "" || len(in.brackets) > 0 || in.inTail {
			return
		}
		if url, ok := in.l.resolve("", href); ok && destination(url) != "" {
			in.anchor, in.anchorURL = len(in.pieces), url
			in.push("", "")
		}
	case name == "a" && in.anchor >= 0:
		from := in.anchor
		in.anchor = -1
		if n := len(in.spans); n > 0 && in.spans[n-1].to >= from {
			return // a Markdown link stands inside; it stays
		}
		in.pieces[from].md = "["
		in.push("", "]("+destination(in.anchorURL)+")")
		in.addSpan(span{from, len(in.pieces) - 1, in.anchorURL})
	}
}

// isAutolink reports whether the text between angle brackets is an absolute URI.
func isAutolink(s string) bool {
	colon := strings.IndexByte(s[:min(len(s), 34)], ':')
	if colon < 2 || !isLetter(s[0]) {
		return false
	}
	for i := 1; i < colon; i++ {
		if c := s[i]; !isLetter(c) && (c < '0' || c > '9') && c != '+' && c != '.' && c != '-' {
			return false
		}
	}
	return !strings.ContainsAny(s, " \t\n<")
}

// maxEmail is the longest mail address in bytes (RFC 3696, erratum 1690).
const maxEmail = 254

func isEmail(s string) bool {
	if len(s) > maxEmail {
		return false
	}
	at := strings.IndexByte(s, '@')
	return at > 0 && at < len(s)-1 && !strings.ContainsAny(s, " \t\n<\\\"'=/")
}

// inlineTag returns the length of the whole tag at the start of s. Zero or less means that there is none,
// and how many bytes it took to see that.
func inlineTag(s string) int {
	_, closing := tagName(s)
	i := 1
	for i < len(s) && s[i] != '>' && s[i] != '/' && s[i] > ' ' {
		i++
	}
	if closing {
		i = skipSpace(s, i+1)
		for i < len(s) && s[i] != '>' && s[i] > ' ' && s[i] != '<' {
			i++
		}
		if i = skipSpace(s, i); i < len(s) && s[i] == '>' {
			return i + 1
		}
		return -i
	}
	for {
		space := skipSpace(s, i)
		if space >= len(s) {
			return -space
		}
		switch {
		case s[space] == '>':
			return space + 1
		case strings.HasPrefix(s[space:], "/>"):
			return space + 2
		case space == i:
			return -i
		}
		i = space
		if !isLetter(s[i]) && s[i] != '_' && s[i] != ':' && s[i] != '@' {
			return -i
		}
		for i < len(s) && (isWord(s[i]) && s[i] < 0x80 || strings.IndexByte("_.:-@", s[i]) >= 0) {
			i++
		}
		eq := skipSpace(s, i)
		if eq >= len(s) || s[eq] != '=' {
			continue
		}
		if i = skipSpace(s, eq+1); i >= len(s) {
			return -i
		}
		if q := s[i]; q == '"' || q == '\'' {
			end := strings.IndexByte(s[i+1:], q)
			if end < 0 {
				return -len(s)
			}
			i += end + 2
			continue
		}
		from := i
		for i < len(s) && s[i] > ' ' && strings.IndexByte("\"'=<>`", s[i]) < 0 {
			i++
		}
		if i == from {
			return -i
		}
	}
}

// attribute is the value of an attribute in a whole tag, "" when it has none.
func attribute(tag, key string) string {
	value := ""
	if strings.IndexByte(tag, '=') < 0 {
		return ""
	}
	s := newXMLScanner(tag)
	if s.next() && (s.kind == xmlStart || s.kind == xmlEmpty) {
		s.attrs(func(k, v string) {
			if k == key && value == "" {
				value = v
			}
		})
	}
	return value
}

// bareScheme is the length of the http or https scheme that s begins with, or 0.
func bareScheme(s string) int {
	for _, scheme := range []string{"http://", "https://"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return len(scheme)
		}
	}
	return 0
}

// bareLink returns the end of the URL in running text at i, or 0. Punctuation that closes the sentence and
// brackets that close around the URL are not part of it.
func bareLink(s string, i int) int {
	from := i + bareScheme(s[i:])
	end, open, closed := from, 0, 0
	for end < len(s) && s[end] > ' ' && s[end] != '<' && s[end] != '`' && s[end] != '"' && s[end] != '[' && s[end] != ']' {
		switch s[end] {
		case '(':
			open++
		case ')':
			closed++
		}
		end++
	}
	for end > from {
		c := s[end-1]
		if c == ')' && closed > open {
			closed--
		} else if strings.IndexByte("?!.,:;*_~'", c) < 0 {
			break
		}
		end--
	}
	if end == from {
		return 0
	}
	return end
}

// table makes the plain and the Markdown form of a table from the lines of its rows. rest is the lines of the rows
// that are too many, or too wide.
func (in *inliner) table(lines string) (text, markdown, rest string) {
	rows, cols, cells := 0, 0, 0
	var row, md []string
	for line := range strings.SplitSeq(lines, "\n") {
		if tooWide(line) {
			break
		}
		row = splitRow(line, row[:0])
		cols = max(cols, len(row))
		cells += len(row)
		rows++
	}
	plain := newTable(cols, rows, cells)
	plain.b.Grow(min(len(lines)+2*cells, max(0, in.tableBudget)))
	// Most tables are their own Markdown: the second form begins where the first cell differs.
	var marked *tableWriter
	size := 0
	for rest = lines; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		if rows--; rows < 0 || size > in.tableBudget {
			break
		}
		rest = after
		row, md = splitRow(line, row[:0]), md[:0]
		differs := false
		for i, cell := range row {
			var marks string
			if row[i], marks = in.cell(cell); marks == "" {
				marks = row[i]
			}
			differs = differs || marks != row[i]
			md = append(md, marks)
		}
		if differs && marked == nil {
			marked = plain.clone()
		}
		plain.row(row)
		size = plain.b.Len()
		if marked != nil {
			marked.row(md)
			size = max(size, marked.b.Len())
		}
	}
	in.tableBudget -= size
	text = plain.String()
	if marked != nil {
		markdown = marked.String()
	}
	return text, markdown, rest
}

// rows is the text of table rows, one a line.
func (in *inliner) rows(lines string) string {
	if lines == "" {
		return ""
	}
	var b strings.Builder
	b.Grow(len(lines))
	for line := range strings.SplitSeq(lines, "\n") {
		text, _ := in.cell(line)
		addLine(&b, text)
	}
	return b.String()
}
