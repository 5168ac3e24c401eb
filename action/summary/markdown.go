package summary

import "strings"

// FromMarkdown takes out of Markdown what only a renderer needs: addresses of links and images, escapes and
// marks of emphasis. Headings, lists, tables and fences stay, because Extractive reads them.
func FromMarkdown(md string) string {
	var b strings.Builder
	b.Grow(len(md))
	fenced := false
	for line := range strings.Lines(md) {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			fenced = !fenced
			b.WriteString(line)
			continue
		}
		if fenced {
			b.WriteString(line)
			continue
		}
		inline(&b, line)
	}
	return b.String()
}

func inline(b *strings.Builder, line string) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && strings.IndexByte("\\`*_{}[]()#+-.!|<>~", line[i+1]) >= 0:
			i++
			b.WriteByte(line[i])
		case c == '!' && i+1 < len(line) && line[i+1] == '[':
			// The text of an image reads like that of a link.
		case c == '[':
			if !opensLink(line[i:]) {
				b.WriteByte(c)
			}
		case c == ']' && i+1 < len(line) && line[i+1] == '(' && addressEnd(line[i+2:]) >= 0:
			i += 2 + addressEnd(line[i+2:])
		case c == '*' && i+1 < len(line) && line[i+1] == '*':
			i++
		case c == '`':
		default:
			b.WriteByte(c)
		}
	}
}

// maxLinkBytes bounds the search for the end of a link, so that many open brackets cost no quadratic time.
const maxLinkBytes = 4096

// opensLink reports whether the bracket at the start of s opens the text of a link; any other is text.
func opensLink(s string) bool {
	s = s[:min(len(s), maxLinkBytes)]
	end := strings.IndexByte(s, ']')
	return end >= 0 && strings.HasPrefix(s[end:], "](")
}

// addressEnd gives the index of the ")" that ends the address at the start of s, or -1.
func addressEnd(s string) int {
	depth := 0
	for i := 0; i < min(len(s), maxLinkBytes); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return i
			}
			depth--
		case '\n':
			return -1
		}
	}
	return -1
}
