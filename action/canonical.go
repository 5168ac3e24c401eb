package action

import (
	"iter"
	"strconv"
	"unicode/utf8"
)

// The canonical text of contract 7.1 decides between inline and artifact and, for search, is the artifact.
// It is written here byte by byte because its form is exact: two-space indent for search, ", " and ": " on
// one line for blocks, and no escapes but the necessary ones.

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. Only `"`, `\` and characters below U+0020 are escaped; bytes
// that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	return append(appendEscaped(append(dst, '"'), valid(s)), '"')
}

// appendEscaped appends what stands between the quotes.
func appendEscaped(dst []byte, s string) []byte {
	for {
		n := plainPrefix(s)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return dst
		}
		switch c := s[n]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
		}
		s = s[n+1:]
	}
}

// plainPrefix is the length of the longest prefix that needs no escape. It looks at eight bytes at a time: a
// result of megabytes is mostly plain text.
func plainPrefix(s string) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		// A byte of zero gives a top bit in (x-ones)&^x; so does one below ' ' in (w-' '*ones)&^w.
		quote, slash := w^('"'*ones), w^('\\'*ones)
		if ((quote-ones)&^quote|(slash-ones)&^slash|(w-' '*ones)&^w)&tops != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// canonicalResults is the text of a search: the bare list, or {"answer", "results"} when the engine gave a
// narrative.
func canonicalResults(items []ResultItem, answer *string) []byte {
	size := 64
	for _, it := range items {
		size += len(it.Title) + len(it.URL) + len(it.Snippet) + 128
	}
	dst := make([]byte, 0, size)
	if answer == nil {
		return appendResults(dst, items, "")
	}
	dst = append(dst, "{\n  \"answer\": "...)
	dst = appendString(dst, *answer)
	dst = append(dst, ",\n  \"results\": "...)
	dst = appendResults(dst, items, "  ")
	return append(dst, "\n}"...)
}

// splitBytes is the size from which a list is written by two goroutines: a large result is waited for.
const splitBytes = 1 << 20

func appendResults(dst []byte, items []ResultItem, indent string) []byte {
	if len(items) == 0 {
		return append(dst, "[]"...)
	}
	dst = append(dst, '[')
	if mid := len(items) / 2; mid > 0 && cap(dst) > splitBytes {
		rest := make(chan []byte, 1)
		go func() { rest <- appendItems(make([]byte, 0, cap(dst)/2), items[mid:], indent) }()
		dst = append(appendItems(dst, items[:mid], indent), ',')
		dst = append(dst, <-rest...)
	} else {
		dst = appendItems(dst, items, indent)
	}
	dst = append(dst, '\n')
	return append(append(dst, indent...), ']')
}

func appendItems(dst []byte, items []ResultItem, indent string) []byte {
	line := func(text string) {
		dst = append(append(append(dst, '\n'), indent...), text...)
	}
	for i, it := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		line("  {")
		line(`    "title": `)
		dst = append(appendString(dst, it.Title), ',')
		line(`    "url": `)
		dst = append(appendString(dst, it.URL), ',')
		line(`    "snippet": `)
		dst = append(appendString(dst, it.Snippet), ',')
		line(`    "link_ref": `)
		if it.LinkRef != nil {
			dst = appendString(dst, *it.LinkRef)
		} else {
			dst = append(dst, "null"...)
		}
		line("  }")
	}
	return dst
}

// pieceBytes bounds the pieces of a long text: a block may be a whole file.
const pieceBytes = 64 << 10

// canonicalBlocks is the text that decides for a page: id, kind and text of each block on one line. What else
// a block carries on the wire does not count. It comes in pieces, each valid until the next, since only its
// length is asked for and it would be as large as the page again.
func canonicalBlocks(items []BlockItem) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		piece := []byte{'['}
		for i, it := range items {
			if i > 0 {
				piece = append(piece, ", "...)
			}
			piece = append(piece, `{"id": `...)
			piece = appendString(piece, it.ID)
			piece = append(piece, `, "kind": `...)
			piece = appendString(piece, it.Kind)
			piece = append(piece, `, "text": "`...)
			for text := valid(it.Text); text != ""; {
				n := min(len(text), pieceBytes)
				for n < len(text) && !utf8.RuneStart(text[n]) {
					n++
				}
				if piece = appendEscaped(piece, text[:n]); !yield(piece) {
					return
				}
				piece, text = piece[:0], text[n:]
			}
			piece = append(piece, `"}`...)
		}
		yield(append(piece, ']'))
	}
}

// blockID is the id of the n-th block, counted from 1: b0001, b0002, ..., b10000.
func blockID(n int) string {
	s := strconv.Itoa(n)
	for len(s) < 4 {
		s = "0" + s
	}
	return "b" + s
}
