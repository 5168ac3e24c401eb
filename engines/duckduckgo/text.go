package duckduckgo

import (
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/html"
)

// text joins all text below n with nothing in between, since highlighting cuts through words and CJK text.
// White space of any kind collapses to one space; control and invisible format characters go.
func text(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	gap := false
	for d := range n.Descendants() {
		if d.Type != html.TextNode {
			continue
		}
		for _, r := range d.Data {
			switch {
			case unicode.IsSpace(r):
				gap = true
			case invisible(r):
			default:
				if gap && b.Len() > 0 {
					b.WriteByte(' ')
				}
				gap = false
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

func invisible(r rune) bool {
	if r < 0x80 {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf)
}

// date takes the day from a stamp such as 2026-03-02T00:00:00.0000000. It names no zone, so its time of day
// cannot be given as RFC 3339; other text is no date.
func date(stamp string) string {
	if len(stamp) < len(time.DateOnly) {
		return ""
	}
	day, rest := stamp[:len(time.DateOnly)], stamp[len(time.DateOnly):]
	if _, err := time.Parse(time.DateOnly, day); err != nil || rest != "" && rest[0] != 'T' {
		return ""
	}
	return day
}
