package duckduckgo

import (
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/html"
)

// text joins all text below n with nothing in between, since highlighting cuts through words and CJK text.
// White space of any kind collapses to one space. Characters go that only mislead a reader: controls, those
// that reorder what follows, and tag characters, which can hide a message. Joiners, marks of direction and
// soft hyphens are part of words in some scripts and stay.
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
			case misleading(r):
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

func misleading(r rune) bool {
	switch {
	case r < ' ', 0x7f <= r && r < 0xa0: // C0, DEL, C1
		return true
	case 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069: // embeddings, overrides, isolates
		return true
	case 0xe0000 <= r && r <= 0xe007f: // tags
		return true
	}
	return r == 0xfeff // a byte-order mark in the middle of text
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
