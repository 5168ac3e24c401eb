package formats

import (
	"slices"
	"strings"
	"unicode"

	"web/browse/blocks"
)

const (
	// maxLinks is how many links a document lists. The wire shows far fewer.
	maxLinks = 20_000
	// maxRef is the longest link target in bytes that is looked at.
	maxRef = 8 << 10
)

// linker resolves and collects the links of one document.
type linker struct {
	opt  Options
	doc  *blocks.Document
	seen map[blocks.Link]struct{}
	// budget is how many bytes of URLs may still be resolved: a long base with many short references, or a long
	// target that is defined once and used in every word, would otherwise multiply.
	budget int
	// fragments is how often Options.Fragment may still be called, which costs more than small pieces are worth.
	fragments int
	// self is the document's own address, once it was asked for.
	self *string
}

func newLinker(doc *blocks.Document, opt Options, size int) *linker {
	return &linker{opt: opt, doc: doc, budget: size + 1<<20, fragments: maxFragments}
}

// maxFragments is how many pieces of HTML are read with Options.Fragment; further ones are read plainly.
const maxFragments = blocks.MaxBlocks

// resolve returns the absolute http or https URL of ref. It counts data URIs as removed.
func (l *linker) resolve(base, ref string) (string, bool) {
	ref = strings.TrimSpace(ref)
	if len(ref) >= 5 && strings.EqualFold(ref[:5], "data:") {
		l.doc.Removed.DataURIs++
		return "", false
	}
	if l.opt.ResolveURL == nil || len(ref) > maxRef {
		return "", false
	}
	if l.budget <= 0 {
		l.truncated()
		return "", false
	}
	url, ok := l.opt.ResolveURL(base, ref)
	l.budget -= max(len(url), len(ref))
	if !ok {
		return "", false
	}
	if strings.IndexByte(ref, '#') >= 0 {
		// A jump inside the page is no link.
		if l.self == nil {
			self, _ := l.opt.ResolveURL("", "")
			l.self = &self
		}
		if url, _, _ := strings.Cut(url, "#"); url == *l.self {
			return "", false
		}
	}
	return url, true
}

// add lists a link once per pair of text and URL. Links without text are not listed.
func (l *linker) add(text, url string) {
	text = collapse(text)
	if text == "" || url == "" {
		return
	}
	link := blocks.Link{Text: text, URL: url}
	if _, dup := l.seen[link]; dup {
		return
	}
	if len(l.doc.Links) >= maxLinks {
		l.truncated()
		return
	}
	if l.seen == nil {
		l.seen = make(map[blocks.Link]struct{})
	}
	l.seen[link] = struct{}{}
	l.doc.Links = append(l.doc.Links, link)
}

func (l *linker) truncated() { l.warn(WarnLinksTruncated) }

// warn adds a warning to the document once.
func (l *linker) warn(w string) {
	if !slices.Contains(l.doc.Warnings, w) {
		l.doc.Warnings = append(l.doc.Warnings, w)
	}
}

// hide counts a text that is not shown.
func (l *linker) hide(text string) {
	for _, r := range text {
		if !unicode.IsSpace(r) {
			l.doc.Removed.HiddenChars++
		}
	}
}

// destination writes a URL so that it can stand in the parentheses of a Markdown link, or "" when it cannot.
func destination(url string) string {
	if strings.ContainsAny(url, " \t\n<>\\") {
		return ""
	}
	depth, deepest := 0, 0
	for i := range len(url) {
		switch url[i] {
		case '(':
			depth++
			deepest = max(deepest, depth)
		case ')':
			if depth--; depth < 0 {
				deepest = 2
			}
		}
	}
	if depth != 0 || deepest > 1 {
		return strings.NewReplacer("(", "%28", ")", "%29").Replace(url)
	}
	return url
}

// markdownLink is a link with text, which is inline Markdown; without a usable URL it is the text alone.
func markdownLink(text, url string) string {
	if dest := destination(url); dest != "" && text != "" {
		return "[" + text + "](" + dest + ")"
	}
	return text
}

// escapeMarkdown escapes the characters of plain text that inline Markdown would read as marks.
func escapeMarkdown(s string) string {
	n := escapedLen(s)
	if n == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(n)
	writeEscaped(&b, s)
	return b.String()
}

// escapedLen is the length that text has with its marks escaped.
func escapedLen(s string) int {
	n := len(s)
	for i := range len(s) {
		if isMark(s, i) {
			n++
		}
	}
	return n
}

// writeEscaped writes text with its marks escaped.
func writeEscaped(b *strings.Builder, s string) {
	from := 0
	for i := range len(s) {
		if isMark(s, i) {
			b.WriteString(s[from:i])
			b.WriteByte('\\')
			from = i
		}
	}
	b.WriteString(s[from:])
}

// isMark reports whether inline Markdown would read the byte at i as a mark.
func isMark(s string, i int) bool {
	switch s[i] {
	case '\\', '`', '*', '[', ']', '<':
		return true
	case '_':
		// Inside a word an underscore is no mark.
		return !(i > 0 && isWord(s[i-1]) && i+1 < len(s) && isWord(s[i+1]))
	case '~':
		return i+1 < len(s) && s[i+1] == '~' || i > 0 && s[i-1] == '~'
	case '&':
		_, n := entity(s[i:])
		return n > 0
	}
	return false
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// maxEntity is the longest character reference in bytes, "&" and ";" included.
const maxEntity = 34

// entity reads the character reference at the start of s and returns its text and its length, or 0.
func entity(s string) (string, int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 2 {
		return "", 0
	}
	ref := s[:end+1]
	for i := 1; i < end; i++ {
		if c := ref[i]; !isWord(c) && !(c == '#' && i == 1) || c >= 0x80 {
			return "", 0
		}
	}
	text := unescape(ref)
	if text == ref || strings.HasSuffix(text, ";") && ref != "&semi;" {
		return "", 0
	}
	return text, end + 1
}
