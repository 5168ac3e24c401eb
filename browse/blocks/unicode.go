package blocks

import (
	"unicode"
	"unicode/utf8"
)

// keepInvisible decides about one rune that has no shape of its own. prev is the rune before it in the text
// (0 at the start), rest is what follows. The joiners stay where a script or an emoji needs them; everything
// else of this kind can only hide text from a reader or a word boundary from a program.
func keepInvisible(r, prev rune, rest []byte) bool {
	next, _ := utf8.DecodeRune(rest)
	switch r {
	case 0x200c, 0x200d:
		if next == utf8.RuneError || prev == 0 {
			return false
		}
		return joins(prev) && joins(next)
	case 0xfe0f, 0xfe0e:
		return prev > ' '
	}
	return false
}

// joins reports whether zero-width joiners shape the rune: cursive and Indic scripts, emoji and their parts.
func joins(r rune) bool {
	switch {
	case r < 0x600:
		return false
	case r <= 0x109f, r >= 0x1780 && r <= 0x18af: // Arabic .. Myanmar; Khmer, Mongolian
		return unicode.IsLetter(r) || unicode.IsMark(r)
	case r == 0xfe0f, r == 0x200d, r >= 0x2190 && r <= 0x2bff, r >= 0x1f000 && r <= 0x1faff:
		return true
	case r >= 0xa800 && r <= 0xabff, r >= 0xfb50 && r <= 0xfdff, r >= 0xfe70 && r <= 0xfefc, r >= 0x11000 && r <= 0x11fff:
		return true
	}
	return false
}

// isInvisible reports whether a rune is a format character, a tag character, a bidirectional control, a
// variation selector or another rune that shows nothing and takes no room.
func isInvisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x180e, r == 0x3164, r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// flagTags returns the length of the tag sequence of a subdivision flag (England's, say) at the start of
// rest: three to six tag letters or digits and a cancel tag. It is 0 for any other use of tag characters.
func flagTags(rest []byte) int {
	n, size := 0, 0
	for {
		r, w := utf8.DecodeRune(rest[size:])
		size += w
		switch {
		case r == 0xe007f && n >= 3:
			return size
		case n < 6 && (r >= 0xe0061 && r <= 0xe007a || r >= 0xe0030 && r <= 0xe0039):
			n++
		default:
			return 0
		}
	}
}

// isWide reports whether one character is one word: Han and kana.
func isWide(r rune) bool {
	return r >= 0x3005 && (r <= 0x30ff || r >= 0x31f0 && r <= 0x31ff || r >= 0x3400 && r <= 0x9fff ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xff66 && r <= 0xff9d || r >= 0x20000 && r <= 0x3134f)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}
