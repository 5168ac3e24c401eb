package blocks

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// OutlineEntry is one heading of a rendered document. Line is the number of its line in the Markdown,
// counted from 1.
type OutlineEntry struct {
	Line, Level int
	Text        string
}

// Markdown renders a document: blocks apart by an empty line, the items of one list together.
func Markdown(d *Document) string {
	md, _ := MarkdownOutline(d)
	return string(md)
}

// MarkdownOutline renders a document and says where its headings stand.
func MarkdownOutline(d *Document) ([]byte, []OutlineEntry) {
	var w bytes.Buffer
	size := 0
	for i := range d.Blocks {
		b := &d.Blocks[i]
		size += 8
		switch {
		case b.Markdown != "":
			size += len(b.Markdown)
		case b.Kind == Code:
			size += len(b.Text)
		default:
			size += len(b.Text) + len(b.Text)/16 // a few characters are escaped
		}
	}
	w.Grow(size)
	var outline []OutlineEntry
	var at nesting
	line := 1
	for i := range d.Blocks {
		b := &d.Blocks[i]
		if i > 0 {
			prev := &d.Blocks[i-1]
			w.WriteByte('\n')
			line++
			if !(b.Kind == ListItem && prev.Kind == ListItem && b.Quoted == prev.Quoted && !newList(prev, b)) {
				writeQuoteMarks(&w, min(b.Quoted, prev.Quoted))
				w.WriteByte('\n')
				line++
			}
		}
		if b.Kind == Heading {
			outline = append(outline, OutlineEntry{line, b.Level, b.Text})
		}
		line += writeBlock(&w, b, at.indent(b))
	}
	if len(d.Blocks) > 0 {
		w.WriteByte('\n')
	}
	return w.Bytes(), outline
}

// newList reports whether item b begins another list than the one prev ends: numbers start again.
func newList(prev, b *Block) bool {
	return b.Depth == prev.Depth && (b.Ordered > 0) != (prev.Ordered > 0)
}

func writeQuoteMarks(w *bytes.Buffer, n int) {
	for i := range n {
		if i > 0 {
			w.WriteByte(' ')
		}
		w.WriteByte('>')
	}
}

// maxNesting is how many lists within lists are told apart by their indentation.
const maxNesting = 12

// nesting follows the list items that are open where a block is written, and how far each indents what is in it.
type nesting struct {
	open   int
	quoted int
	width  [maxNesting + 1]int
}

// indent is the white space before a block. What says that it is inside a list item is indented only where
// that item is open: without it, a reader of Markdown would take the indentation for code.
func (n *nesting) indent(b *Block) string {
	if b.Quoted != n.quoted {
		n.open, n.quoted = 0, b.Quoted
	}
	if b.Kind == Heading || b.Kind == Quote {
		n.open = 0
		return ""
	}
	depth := min(max(b.Depth, 0), maxNesting)
	if b.Kind == ListItem {
		depth = min(max(depth, 1), n.open+1, maxNesting)
		// Four columns fit under both "- " and "10. ".
		n.open, n.width[depth] = depth, 4
		if b.Ordered > 99 {
			n.width[depth] = len(strconv.Itoa(b.Ordered)) + len(". ")
		}
		depth--
	} else {
		depth = min(depth, n.open)
		n.open = depth
	}
	columns := 0
	for _, w := range n.width[1 : depth+1] {
		columns += w
	}
	return strings.Repeat(" ", columns)
}

// writeBlock writes one block without its last newline and returns the number of newlines written.
func writeBlock(w *bytes.Buffer, b *Block, first string) int {
	rest := first
	var body string
	switch b.Kind {
	case Heading:
		body = strings.Repeat("#", min(max(b.Level, 1), 6)) + " " + closed(oneLine(b.inline())) // a heading ends with its line
	case ListItem:
		if b.Ordered > 0 {
			body = strconv.Itoa(b.Ordered) + ". " + oneLine(b.inline())
		} else {
			body = "- " + oneLine(b.inline())
		}
		rest = first + "    "
	case Code:
		fence := fenceFor(b.Text)
		if first == "" && b.Quoted == 0 {
			// Whole files come as one block: no copy of them is made.
			for _, s := range [...]string{fence, b.Language, "\n", b.Text, "\n", fence} {
				w.WriteString(s)
			}
			return strings.Count(b.Text, "\n") + 2
		}
		body = fence + b.Language + "\n" + b.Text + "\n" + fence
	case Table:
		if body = b.Markdown; body == "" {
			body = b.Text
		}
	case Quote:
		body = b.inline()
	default:
		body = b.inline()
	}
	quoted := b.Quoted
	if quoted == 0 && b.Kind == Quote {
		quoted = max(b.Depth, 1)
	}
	lines := 0
	for ln := range strings.SplitSeq(body, "\n") {
		if lines > 0 {
			w.WriteByte('\n')
			first = rest
		}
		if quoted > 0 {
			writeQuoteMarks(w, quoted)
			w.WriteByte(' ')
		}
		if ln != "" {
			w.WriteString(first)
			w.WriteString(ln)
		}
		lines++
	}
	return lines - 1
}

// closed keeps number signs at the end of a heading from being taken for its closing marks.
func closed(s string) string {
	if text := strings.TrimRight(s, "#"); text != s && (text == "" || strings.HasSuffix(text, " ")) {
		return text + `\` + s[len(text):]
	}
	return s
}

// oneLine writes the line breaks inside a text as spaces. A list item stays on one line as well, for readers
// that take a file line by line; Text keeps its breaks.
func oneLine(s string) string { return strings.ReplaceAll(s, hardBreak, " ") }

// hardBreak is a line break inside a block.
const hardBreak = "  \n"

// inline is the block's inline Markdown.
func (b *Block) inline() string {
	if b.Markdown != "" {
		return b.Markdown
	}
	var w mdWriter
	w.escape([]byte(b.Text), true)
	return string(w.out)
}

func fenceFor(code string) string {
	longest, n := 0, 0
	for i := range len(code) {
		if code[i] == '`' {
			n++
			longest = max(longest, n)
		} else {
			n = 0
		}
	}
	return strings.Repeat("`", max(3, longest+1))
}

// mdWriter writes inline Markdown for the runs of one draft.
type mdWriter struct {
	out     []byte
	inLink  bool
	inTable bool
}

// span writes the text of runs, which lie in text, with links resolved by url ("" is no link).
func (w *mdWriter) span(text []byte, runs []run, url func(link int32) string) {
	for i := 0; i < len(runs); {
		link := runs[i].link
		j := i + 1
		for j < len(runs) && runs[j].link == link {
			j++
		}
		target := ""
		if link >= 0 {
			target = url(link)
		}
		if target == "" {
			w.styles(text, runs[i:j])
		} else {
			w.link(text, runs[i:j], target)
		}
		i = j
	}
}

func (w *mdWriter) link(text []byte, runs []run, target string) {
	start := runs[0].start
	for start < runs[0].end && isSpace(text[start]) {
		w.out = append(w.out, ' ')
		start++
	}
	first := runs[0]
	first.start = start
	runs = append([]run{first}, runs[1:]...)
	if n := len(w.out); n > 0 && w.out[n-1] == '!' {
		w.out = append(w.out[:n-1], '\\', '!') // or the link would be an image
	}
	w.out = append(w.out, '[')
	w.inLink = true
	w.styles(text, runs)
	w.inLink = false
	w.out = append(w.out, "]("...)
	w.out = append(w.out, escapeTarget(target)...)
	w.out = append(w.out, ')')
}

// escapeTarget makes an address safe between parentheses.
func escapeTarget(s string) string {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 || depth > 1 {
			break
		}
	}
	if depth == 0 && !strings.ContainsAny(s, " <>\n\\|") {
		return s
	}
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "\n", "", "\\", "%5C", "|", "%7C").Replace(s)
}

func (w *mdWriter) styles(text []byte, runs []run) {
	for _, r := range runs {
		s := text[r.start:r.end]
		lead := len(s) - len(bytes.TrimLeft(s, " \n"))
		if lead == len(s) {
			w.escape(s, false)
			continue
		}
		trail := len(bytes.TrimRight(s, " \n"))
		w.escape(s[:lead], false)
		inner := s[lead:trail]
		atStart := len(w.out) == 0 || w.out[len(w.out)-1] == '\n'
		switch {
		case r.style&styleCode != 0:
			w.code(inner)
		case r.style == 0 || bytes.IndexByte(inner, '\n') >= 0 || !w.flanks(text, r, lead, trail):
			w.escape(inner, atStart)
		default:
			mark := ""
			if r.style&styleStrike != 0 {
				mark = "~~"
			}
			if r.style&styleBold != 0 {
				mark += "**"
			}
			if r.style&styleItalic != 0 {
				mark += "*"
			}
			w.out = append(w.out, mark...)
			w.escape(inner, false)
			for i := len(mark) - 1; i >= 0; i-- {
				w.out = append(w.out, mark[i])
			}
		}
		w.escape(s[trail:], false)
	}
}

// flanks reports whether emphasis marks around the trimmed run would be read as such: CommonMark refuses
// marks between a letter outside and punctuation inside, and marks that touch other marks are ambiguous.
func (w *mdWriter) flanks(text []byte, r run, lead, trail int) bool {
	inner := text[int(r.start)+lead : int(r.start)+trail]
	f, _ := utf8.DecodeRune(inner)
	l, _ := utf8.DecodeLastRune(inner)
	words := false
	for i := 0; i < len(inner) && !words; {
		c, n := utf8.DecodeRune(inner[i:])
		words = isWordRune(c)
		i += n
	}
	if !words {
		return false
	}
	if len(w.out) > 0 {
		p, _ := utf8.DecodeLastRune(w.out)
		if p == '*' || p == '~' || p == '\\' || isWordRune(p) && (!isWordRune(f) || r.style&styleStrike != 0) {
			return false
		}
	}
	if end := int(r.start) + trail; end < len(text) {
		n, _ := utf8.DecodeRune(text[end:])
		if n == '*' || n == '~' || isWordRune(n) && !isWordRune(l) {
			return false
		}
	}
	return true
}

func (w *mdWriter) code(s []byte) {
	longest, n := 0, 0
	for _, c := range s {
		if c == '`' {
			n++
			longest = max(longest, n)
		} else {
			n = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	if len(w.out) > 0 && w.out[len(w.out)-1] == '`' {
		w.out = append(w.out, ' ')
	}
	w.out = append(w.out, fence...)
	if s[0] == '`' || s[len(s)-1] == '`' {
		w.out = append(w.out, ' ')
	}
	for _, c := range s {
		if c == '\n' {
			c = ' '
		}
		if c == '|' && w.inTable {
			w.out = append(w.out, '\\')
		}
		w.out = append(w.out, c)
	}
	if s[0] == '`' || s[len(s)-1] == '`' {
		w.out = append(w.out, ' ')
	}
	w.out = append(w.out, fence...)
}

// escape writes plain text so that a Markdown reader gets exactly that text back. lineStart says that the
// text begins a line, where more characters have a meaning.
func (w *mdWriter) escape(s []byte, lineStart bool) {
	if lineStart {
		s = w.lineStart(s)
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '\n':
			for len(w.out) > 0 && w.out[len(w.out)-1] == ' ' {
				w.out = w.out[:len(w.out)-1]
			}
			if w.inLink {
				w.out = append(w.out, ' ') // a block mark on a line of its own would end the link
				continue
			}
			w.out = append(w.out, hardBreak...)
			rest := w.lineStart(s[i+1:])
			i = len(s) - len(rest) - 1
			continue
		case '\\':
			if i+1 < len(s) && s[i+1] < utf8.RuneSelf && !isWordRune(rune(s[i+1])) && s[i+1] > ' ' || i+1 == len(s) {
				w.out = append(w.out, '\\')
			}
		case '*', '`':
			w.out = append(w.out, '\\')
		case '_':
			// Between letters or digits an underscore is only an underscore.
			if !(i > 0 && i+1 < len(s) && isWordByte(s[i-1]) && isWordByte(s[i+1])) {
				w.out = append(w.out, '\\')
			}
		case '[':
			if w.inLink || i+1 < len(s) && s[i+1] == '^' {
				w.out = append(w.out, '\\')
			}
		case ']':
			if w.inLink || i+1 < len(s) && (s[i+1] == '(' || s[i+1] == '[' || s[i+1] == ':') || i+1 == len(s) {
				w.out = append(w.out, '\\')
			}
		case '<':
			if i+1 < len(s) && (isWordRune(rune(s[i+1])) || s[i+1] == '/' || s[i+1] == '!' || s[i+1] == '?') {
				w.out = append(w.out, '\\')
			} else if autolinksMail(s[i:]) {
				w.out = append(w.out, '\\')
			}
		case '&':
			if i+1 < len(s) && (s[i+1] == '#' || isWordRune(rune(s[i+1]))) && bytes.IndexByte(s[i:min(len(s), i+36)], ';') > 0 {
				w.out = append(w.out, '\\')
			}
		case '~':
			w.out = append(w.out, '\\')
		case '|':
			if w.inTable {
				w.out = append(w.out, '\\')
			}
		}
		w.out = append(w.out, c)
	}
}

// autolinksMail reports whether s, which begins with "<", could be read as an address between angle brackets.
func autolinksMail(s []byte) bool {
	s = s[:min(len(s), 320)]
	end := bytes.IndexAny(s, " \t\n>")
	return end > 0 && s[end] == '>' && bytes.IndexByte(s[:end], '@') > 0
}

func isWordByte(c byte) bool { return c >= utf8.RuneSelf || isWordRune(rune(c)) }

// lineStart escapes a block mark at the start of a line and returns what is left of s.
func (w *mdWriter) lineStart(s []byte) []byte {
	if w.inTable || w.inLink || len(s) == 0 {
		return s
	}
	switch c := s[0]; {
	case c == '#':
		n := len(s) - len(bytes.TrimLeft(s, "#"))
		if n <= 6 && (n == len(s) || s[n] == ' ' || s[n] == '\n') {
			w.out = append(w.out, '\\')
		}
	case c == '>', c == '=', c == '|', c == ':' && len(s) > 1 && s[1] == '-':
		w.out = append(w.out, '\\')
	case c == '-' || c == '+':
		if len(s) == 1 || s[1] == ' ' || s[1] == '\n' || s[1] == c {
			w.out = append(w.out, '\\')
		}
	case c >= '0' && c <= '9':
		i := 0
		for i < len(s) && i < 10 && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		if i < 10 && i < len(s) && (s[i] == '.' || s[i] == ')') && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n') {
			w.out = append(w.out, s[:i]...)
			w.out = append(w.out, '\\', s[i])
			return s[i+1:]
		}
	}
	return s
}
