package charset

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/transform"
)

// codec is an encoding under its standard name; the zero value is none.
type codec struct {
	name string
	enc  encoding.Encoding
}

func (c codec) known() bool { return c.enc != nil }

func (c codec) isUTF16() bool { return strings.HasPrefix(c.name, "utf-16") }

func (c codec) isSingleByte() bool {
	_, ok := c.enc.(*charmap.Charmap)
	return ok
}

// lookup finds an encoding by one of the labels of the Encoding standard, or by one that only other tables know.
func lookup(label string) (codec, bool) {
	label = strings.ToLower(strings.Trim(label, " \t\n\f\r"))
	// Names that programs write although no browser knows them; to refuse them would only lose text.
	switch label {
	case "cp932", "shiftjis", "shift-jis-2004":
		label = "shift_jis"
	case "cp936", "euc-cn", "gb_18030":
		label = "gbk"
	case "cp949", "uhc", "euckr":
		label = "euc-kr"
	case "cp950":
		label = "big5"
	case "eucjp", "euc_jp":
		label = "euc-jp"
	case "latin-1":
		label = "windows-1252"
	case "utf8mb4", "utf-8-sig", "cp65001":
		label = "utf-8"
	case "x-user-defined":
		// Its private-use characters serve scripts that want bytes, not readers. The standard says the same
		// for a meta element.
		label = "windows-1252"
	}
	enc, err := htmlindex.Get(label)
	if err != nil || enc == nil || enc == encoding.Replacement {
		return codec{}, false
	}
	name, err := htmlindex.Name(enc)
	if err != nil {
		return codec{}, false
	}
	if name == "gbk" {
		// By the standard GBK's decoder is that of GB18030, which reads more.
		enc = simplifiedchinese.GB18030
	}
	return codec{name, enc}, true
}

func mustCodec(name string) codec {
	c, ok := lookup(name)
	if !ok {
		panic("charset: no encoding " + name) // a name written in this package
	}
	return c
}

func utf8Codec() codec { return mustCodec("utf-8") }

// source is one body and what was found out about it.
type source struct {
	body   []byte
	losses map[string]loss // by name of encoding
}

func newSource(body []byte) *source { return &source{body: body, losses: map[string]loss{}} }

// loss is what a decoding makes of a body without its text.
type loss struct {
	size     int // bytes of UTF-8
	replaced int // U+FFFD that do not stand in the body itself
}

// measure decodes the body without keeping the text: a wrong encoding then costs no memory, and the right one
// exactly as much as its text needs.
func (s *source) measure(c codec) loss {
	if l, ok := s.losses[c.name]; ok {
		return l
	}
	var l loss
	s.run(c, func(text []byte) {
		l.size += len(text)
		l.replaced += bytes.Count(text, []byte("\uFFFD"))
	})
	if own := c.replacement(); l.replaced > 0 && own != nil {
		l.replaced = max(0, l.replaced-bytes.Count(s.body, own))
	}
	s.losses[c.name] = l
	return l
}

// replacement is how a text in this encoding writes a U+FFFD of its own; nil where it cannot.
func (c codec) replacement() []byte {
	switch c.name {
	case "utf-8":
		return []byte("\uFFFD")
	case "utf-16le":
		return []byte{0xFD, 0xFF}
	case "utf-16be":
		return []byte{0xFF, 0xFD}
	case "gbk", "gb18030":
		return []byte{0x84, 0x31, 0xA4, 0x37}
	}
	return nil
}

// run decodes the body and hands the text over piece by piece, each of whole characters.
func (s *source) run(c codec, piece func(text []byte)) {
	dec := c.enc.NewDecoder().Transformer
	buf := make([]byte, 16<<10)
	for rest := s.body; ; {
		nDst, nSrc, err := dec.Transform(buf, rest, true)
		piece(buf[:nDst])
		rest = rest[nSrc:]
		if !errors.Is(err, transform.ErrShortDst) {
			return
		}
	}
}

// decode reads the whole body. damage is the warning for replaced bytes, empty for none.
func (s *source) decode(c codec, warnings []string, damage string) Result {
	text := s.body
	if !s.isVerbatim(c) {
		l := s.measure(c)
		text = make([]byte, 0, l.size)
		s.run(c, func(piece []byte) { text = append(text, piece...) })
		if l.replaced > 0 && damage != "" {
			warnings = append(warnings, damage)
		}
	}
	// The mark is no text, also where it was not needed to tell the encoding.
	for bytes.HasPrefix(text, []byte("\uFEFF")) {
		text = text[len("\uFEFF"):]
	}
	return Result{Text: slices.Clip(text), Name: c.name, Warnings: warnings}
}

// isVerbatim reports whether the body is its own text.
func (s *source) isVerbatim(c codec) bool {
	if c.name == "utf-8" {
		return utf8.Valid(s.body)
	}
	// All others but these two read ASCII as itself.
	return !c.isUTF16() && c.name != "iso-2022-jp" && isASCII(s.body)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
