package formats

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"web/browse/blocks"
)

// start makes the document of a converter and the text it shall read: valid UTF-8, line feeds only, without
// a byte-order mark, and without control characters and others that a reader cannot see but a model would read.
func start(text string) (*blocks.Document, string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.TrimPrefix(text, "\uFEFF")
	text, removed := visible(text)
	doc := &blocks.Document{}
	doc.Removed.InvisibleChars = removed
	return doc, text
}

// visible drops invisible characters, counting them, and turns CR and CRLF into LF, and the form feed and its like into
// spaces. Text that needs none of it is returned as it is, uncopied.
func visible(s string) (string, int) {
	i := strings.IndexFunc(s, suspicious)
	if i < 0 {
		return s, 0
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:i])
	removed := 0
	prev, _ := utf8.DecodeLastRuneInString(s[:i])
	for i < len(s) {
		if s[i] < utf8.RuneSelf {
			// Most text is ASCII between the suspects; it is copied in runs.
			j := i
			for j < len(s) && s[j] < utf8.RuneSelf && !suspicious(rune(s[j])) {
				j++
			}
			if j > i {
				b.WriteString(s[i:j])
				prev, i = rune(s[j-1]), j
				continue
			}
			switch s[i] {
			case '\r':
				if !strings.HasPrefix(s[i:], "\r\n") {
					b.WriteByte('\n')
					prev = '\n'
				}
			case '\f', '\v':
				b.WriteByte(' ')
				prev = ' '
			default:
				removed++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		switch {
		case r == nextLine:
			b.WriteByte(' ')
			prev = ' '
		case invisible(prev, r, next):
			removed++
		default:
			b.WriteString(s[i : i+size])
			prev = r
		}
		i += size
	}
	return b.String(), removed
}

// nextLine is the one control character above ASCII that is white space.
const nextLine = 0x85

func suspicious(r rune) bool {
	switch {
	case r < ' ':
		return r != '\n' && r != '\t'
	case r < 0x7F:
		return false
	}
	return r == nextLine || invisible(0, r, 0)
}

// invisible reports whether r shows nothing between prev and next. Joiners and variation selectors have a
// visible effect inside some scripts and emoji, and stay there; anywhere else they only carry hidden data.
func invisible(prev, r, next rune) bool {
	switch {
	case r < ' ' && r != '\n' && r != '\t', r >= 0x7F && r < 0xA0: // control characters
		return true
	case r == 0x200C || r == 0x200D: // zero-width non-joiner and joiner
		return prev < 0x80 || next < 0x80 || prev == 0x200C || prev == 0x200D || unicode.IsSpace(prev)
	case r >= 0xFE00 && r <= 0xFE0F: // variation selectors: an emoji or symbol stands before
		return prev == 0 || unicode.IsSpace(prev) || prev >= 0xFE00 && prev <= 0xFE0F
	case r >= 0xE0100 && r <= 0xE01EF: // ideographic variation selectors
		return !unicode.Is(unicode.Han, prev)
	case r == 0xAD, r == 0x34F, r == 0x61C, r == 0x180E, r == 0x200B, r == 0x200E, r == 0x200F, r == 0xFEFF:
		return true
	case r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F: // bidi controls, word joiner, invisible operators
		return true
	case r >= 0xFFF9 && r <= 0xFFFB, r >= 0xE0000 && r <= 0xE0FFF: // interlinear marks, tag characters
		return true
	}
	return false
}

// collapse turns each run of white space into one space and trims the ends.
func collapse(s string) string {
	s = strings.TrimSpace(s)
	space := false
	for i, r := range s {
		if !unicode.IsSpace(r) {
			space = false
			continue
		}
		if r != ' ' || space {
			return collapseFrom(s, i)
		}
		space = true
	}
	return s
}

// collapseFrom does the work of collapse when s[:i] needs none of it.
func collapseFrom(s string, i int) string {
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(strings.TrimSuffix(s[:i], " "))
	space := true
	for _, r := range s[i:] {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// blank reports whether s holds nothing but white space.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

// trimLines drops blank lines at both ends and white space at the very end, keeping the first line's indent.
func trimLines(s string) string {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	for {
		line, rest, found := strings.Cut(s, "\n")
		if !found || !blank(line) {
			return s
		}
		s = rest
	}
}
