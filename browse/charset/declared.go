package charset

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// maxDeclarationBytes is how far a declaration is looked for. The standard lets a browser stop after 1,024 bytes
// because it wants to render; pages with their scripts before the meta element are common.
const maxDeclarationBytes = 64 << 10

// byteOrderMark gives the encoding that the first bytes mark and the bytes after the mark.
func byteOrderMark(body []byte) (c codec, rest []byte, ok bool) {
	for _, mark := range []struct{ bytes, name string }{
		{"\xEF\xBB\xBF", "utf-8"}, {"\xFE\xFF", "utf-16be"}, {"\xFF\xFE", "utf-16le"},
	} {
		if rest, ok := bytes.CutPrefix(body, []byte(mark.bytes)); ok {
			return mustCodec(mark.name), rest, true
		}
	}
	return codec{}, body, false
}

// declaration finds what the text says about its own encoding.
func declaration(body []byte, kind Kind) codec {
	head := body[:min(len(body), maxDeclarationBytes)]
	switch kind {
	case HTML:
		if c := metaDeclaration(head); c.known() {
			return c
		}
		return xmlDeclaration(head)
	case XML:
		return xmlDeclaration(head)
	}
	return codec{}
}

// metaDeclaration finds the first meta element that names a known encoding. A tokenizer reads on, so that
// comments and scripts that write such an element declare nothing.
func metaDeclaration(head []byte) codec {
	for z := html.NewTokenizer(bytes.NewReader(head)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return codec{}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			if string(name) != "meta" {
				continue
			}
			attrs := map[string]string{}
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				attrs[string(key)] = string(value) // of repeated ones the tokenizer gives the first
			}
			if c := asciiCompatible(metaLabel(attrs)); c.known() {
				return c
			}
		}
	}
}

// metaLabel is the label that one meta element declares; empty for none.
func metaLabel(attrs map[string]string) string {
	if label, ok := attrs["charset"]; ok {
		return label
	}
	if !strings.EqualFold(attrs["http-equiv"], "content-type") {
		return ""
	}
	const blank = " \t\n\f\r"
	content := lowerASCII(attrs["content"])
	for {
		i := strings.Index(content, "charset")
		if i < 0 {
			return ""
		}
		content = strings.TrimLeft(content[i+len("charset"):], blank)
		value, ok := strings.CutPrefix(content, "=")
		if !ok {
			continue // some other word that begins so
		}
		value = strings.TrimLeft(value, blank)
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			label, _, closed := strings.Cut(value[1:], value[:1])
			if !closed {
				return ""
			}
			return label
		}
		if end := strings.IndexAny(value, ";"+blank); end >= 0 {
			value = value[:end]
		}
		return value
	}
}

// lowerASCII leaves bytes of unknown encoding alone, which strings.ToLower would not.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// xmlDeclaration reads the encoding out of <?xml version="1.0" encoding="...">.
func xmlDeclaration(head []byte) codec {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("<?xml"))
	if !ok {
		return codec{}
	}
	inside, _, ok := bytes.Cut(rest, []byte(">"))
	if !ok {
		return codec{}
	}
	_, value, ok := strings.Cut(string(inside), "encoding")
	if !ok {
		return codec{}
	}
	const blank = " \t\r\n"
	value, ok = strings.CutPrefix(strings.TrimLeft(value, blank), "=")
	value = strings.TrimLeft(value, blank)
	if !ok || value == "" || (value[0] != '"' && value[0] != '\'') {
		return codec{}
	}
	label, _, closed := strings.Cut(value[1:], value[:1])
	if !closed {
		return codec{}
	}
	return asciiCompatible(label)
}

// asciiCompatible looks a label up that was itself read as ASCII. UTF-16 is then certainly wrong, and the
// standard says to take it for UTF-8.
func asciiCompatible(label string) codec {
	c, _ := lookup(label)
	if c.isUTF16() {
		return utf8Codec()
	}
	return c
}
