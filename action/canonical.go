package action

import (
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
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
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
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
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

func appendResults(dst []byte, items []ResultItem, indent string) []byte {
	if len(items) == 0 {
		return append(dst, "[]"...)
	}
	field := func(name, value string, last bool) {
		dst = append(dst, "\n    "...)
		dst = append(dst, indent...)
		dst = append(dst, name...)
		dst = appendString(dst, value)
		if !last {
			dst = append(dst, ',')
		}
	}
	dst = append(dst, '[')
	for i, it := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, "\n  "...)
		dst = append(dst, indent...)
		dst = append(dst, '{')
		field(`"title": `, it.Title, false)
		field(`"url": `, it.URL, false)
		field(`"snippet": `, it.Snippet, false)
		if it.LinkRef != nil {
			field(`"link_ref": `, *it.LinkRef, true)
		} else {
			dst = append(append(append(dst, "\n    "...), indent...), `"link_ref": null`...)
		}
		dst = append(dst, "\n  "...)
		dst = append(dst, indent...)
		dst = append(dst, '}')
	}
	dst = append(dst, '\n')
	return append(append(dst, indent...), ']')
}

// canonicalBlocks is the text that decides for a page: id, kind and text of each block on one line. What else
// a block carries on the wire does not count.
func canonicalBlocks(items []BlockItem) []byte {
	size := 64
	for _, it := range items {
		size += len(it.Text) + 64
	}
	dst := append(make([]byte, 0, size), '[')
	for i, it := range items {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, `{"id": `...)
		dst = appendString(dst, it.ID)
		dst = append(dst, `, "kind": `...)
		dst = appendString(dst, it.Kind)
		dst = append(dst, `, "text": `...)
		dst = appendString(dst, it.Text)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// blockID is the id of the n-th block, counted from 1: b0001, b0002, ..., b10000.
func blockID(n int) string {
	s := strconv.Itoa(n)
	for len(s) < 4 {
		s = "0" + s
	}
	return "b" + s
}
