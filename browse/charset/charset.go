// Package charset turns the bytes of a page into UTF-8 text and says what had to be replaced on the way.
//
// The order is that of the HTML standard: byte-order mark, Content-Type header, declaration inside the bytes,
// and only then a guess (contract section 4.7, product section 5). It must not know fetching, markup beyond the
// declaration, or blocks; foreign bytes never make it fail. Start at Decode.
package charset

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says where a text may declare its own encoding.
type Kind int

// The kinds.
const (
	// Plain text cannot declare an encoding.
	Plain Kind = iota
	// HTML declares it in a meta element, or, as XHTML, in the XML declaration.
	HTML
	// XML declares it in the XML declaration only.
	XML
)

// The warnings, as they go out on the wire.
const (
	// WarnInvalidUTF8: nothing was declared, the text is UTF-8 by its bytes, and some of them were replaced.
	WarnInvalidUTF8 = "INVALID_UTF8_REPLACED"
	// WarnDecodeError: bytes that are invalid in the declared, or else detected, encoding were replaced.
	WarnDecodeError = "CHARSET_DECODE_ERROR_REPLACED"
	// WarnUnsupported: the header names no encoding that is known. The text is what the bytes themselves say,
	// in the last resort UTF-8.
	WarnUnsupported = "UNSUPPORTED_CHARSET_FALLBACK"
	// WarnMalformed: the header's charset parameter is malformed, empty or repeated, or the header is too long.
	WarnMalformed = "MALFORMED_CHARSET_FALLBACK"
)

// Result is a decoded text.
type Result struct {
	// Text is valid UTF-8 without a byte-order mark, at most three times as long as the body. It may share the
	// body's memory: whoever changes one changes the other.
	Text []byte
	// Name is the encoding the text was read in, as the Encoding standard spells it in lower case.
	Name string
	// Warnings are in the order in which things happened, each at most once; nil when nothing was lost.
	Warnings []string
	// Noise is true when nobody said what the encoding is, the bytes are no text in any that is known, and the
	// likeliest reading lost some of them: the body is compressed, encrypted or the like.
	Noise bool
}

const (
	// maxPairs is the most UTF-8 sequences, with none broken, that a text in a single-byte encoding is believed to
	// hold by intent: they are pairs like "Ã©", which nobody writes thrice and nothing else besides.
	maxPairs = 2
	// maxChance is the same for other encodings, of whose characters about one in six is a sequence by chance.
	maxChance = 7
	// minUTF16Bytes is the length from which a body that is valid UTF-8 without any NUL cannot be UTF-16: eight
	// units in a row without one ASCII character, each half of which continues the other's UTF-8.
	minUTF16Bytes = 16
)

// Decode reads body as text. contentType is the Content-Type header's value, empty when there was none.
//
// A declaration is believed, as the standard wants, unless the bytes plainly are another encoding and believing
// it would lose text: it yields replacement characters where another reading yields none, or it makes mojibake
// of what is UTF-8 throughout. When in doubt the declaration stands and the loss is marked by a warning.
func Decode(body []byte, contentType string, kind Kind) Result {
	label, malformed := headerCharset(contentType)
	var warnings []string
	if malformed {
		warnings = append(warnings, WarnMalformed)
	}
	header, known := lookup(label)
	unsupported := label != "" && !known
	if unsupported {
		warnings = append(warnings, WarnUnsupported)
	}

	if c, rest, ok := byteOrderMark(body); ok {
		return newSource(rest).decode(c, warnings, WarnDecodeError)
	}
	src := newSource(body)
	if header.known() {
		return src.decode(src.contradicted(header, kind), warnings, WarnDecodeError)
	}
	if c := declaration(body, kind); c.known() {
		return src.decode(src.contradicted(c, Plain), warnings, WarnDecodeError)
	}
	if c, noise, ok := src.undeclared(unsupported); ok {
		res := src.decode(c, warnings, WarnDecodeError)
		res.Noise = noise && len(res.Warnings) > len(warnings)
		return res
	}
	if unsupported {
		// That warning already says that the text is UTF-8 with replacements.
		return src.decode(utf8Codec(), warnings, "")
	}
	return src.decode(utf8Codec(), warnings, WarnInvalidUTF8)
}

// undeclared judges a body by its bytes alone; false means UTF-8, with replacements where it is broken. With an
// unsupported label the last resort is UTF-8 rather than windows-1252, so a guess needs better evidence. noise says
// that the bytes are no text in the encoding either.
func (s *source) undeclared(unsupported bool) (c codec, noise, ok bool) {
	if c, ok := utf16ByZeros(s.body); ok {
		return c, false, true
	}
	if c := mustCodec("iso-2022-jp"); hasISO2022JP(s.body) && s.measure(c).replaced == 0 {
		return c, false, true
	}
	if mostlyUTF8(s.body) || looksBinary(s.body) {
		return codec{}, false, false
	}
	g := detect(s.body)
	return g.codec, g.noise, g.confident || !unsupported
}

// contradicted gives the declared codec, or another one if the bytes plainly say so. kind is where they may declare
// something else themselves.
func (s *source) contradicted(declared codec, kind Kind) codec {
	if c, ok := utf16ByZeros(s.body); ok {
		return c
	}
	if declared.name == "utf-8" {
		// A damaged place in a text that otherwise is UTF-8 does not make it another encoding.
		if mostlyUTF8(s.body) {
			return declared
		}
	} else if s.isUTF8(declared) {
		return utf8Codec()
	}
	if s.measure(declared).replaced == 0 {
		return declared
	}
	// A single-byte encoding reads any bytes, so that it can read these proves nothing: the detector has to agree.
	if second := declaration(s.body, kind); second.known() && !second.isSingleByte() && s.measure(second).replaced == 0 {
		return second
	}
	if g := detect(s.body); g.confident && s.measure(g.codec).replaced == 0 {
		return g.codec
	}
	return declared
}

// isUTF8 reports whether the body is UTF-8 although something else was declared.
func (s *source) isUTF8(declared codec) bool {
	if !utf8.Valid(s.body) {
		return false
	}
	if declared.isUTF16() {
		return len(s.body) >= minUTF16Bytes && bytes.IndexByte(s.body, 0) < 0
	}
	good, _ := countUTF8(s.body)
	if good > maxChance || good > maxPairs && declared.isSingleByte() {
		return true
	}
	return good > 0 && s.measure(declared).replaced > 0
}

// Undecodable reports whether a text whose decoding raised warnings is no text at all, such as compressed bytes
// under a text label (contract section 4.8). text is the joined text of all blocks.
func Undecodable(text string, warnings []string) bool {
	const (
		minChars           = 512
		minReplacedPercent = 30
		minControlPercent  = 1
		// Two bytes always make a character of UTF-16. Of random ones a tenth is for private use or not assigned,
		// which is hardly ever written, and few are half of a pair.
		minUnwrittenChars   = 128
		minUnwrittenPercent = 4
	)
	raised := func(w string) bool { return w == WarnInvalidUTF8 || w == WarnDecodeError || w == WarnUnsupported }
	if !slices.ContainsFunc(warnings, raised) {
		return false
	}
	chars, replaced, controls, unwritten := 0, 0, 0, 0
	for _, r := range text {
		chars++
		switch {
		case r == utf8.RuneError:
			replaced++
		case r == '\t' || r == '\n' || r == '\r':
		case unicode.Is(unicode.C, r): // control, format, private use, surrogate, unassigned
			controls++
			if !unicode.In(r, unicode.Cc, unicode.Cf) {
				unwritten++
			}
		}
	}
	return chars >= minChars && replaced*100 >= chars*minReplacedPercent && controls*100 >= chars*minControlPercent ||
		chars >= minUnwrittenChars && unwritten*100 >= chars*minUnwrittenPercent
}

// Binary reports whether decoded text is no text at all though every byte had a meaning, as in a single-byte
// character set: no text is full of control characters. Only its head is looked at.
func Binary(text []byte) bool {
	const (
		headBytes         = 64 << 10
		minBytes          = 512
		minControlPercent = 2
	)
	head := text[:min(len(text), headBytes)]
	controls := 0
	for _, c := range head {
		if c <= 0x08 || c == 0x0B || c >= 0x0E && c <= 0x1A || c >= 0x1C && c <= 0x1F {
			controls++
		}
	}
	return len(head) >= minBytes && controls*100 >= len(head)*minControlPercent
}

// MediaType is the media type that a Content-Type header states before its parameters, in lower case. Of several,
// which proxies make of repeated headers, it is the first that has both its parts; empty when there is none, and
// when it stands for any.
func MediaType(contentType string) string {
	head, _ := cutHeader(contentType)
	types, _, _ := strings.Cut(head, ";")
	for media := range strings.SplitSeq(types, ",") {
		media = strings.ToLower(strings.TrimSpace(media))
		if top, sub, _ := strings.Cut(media, "/"); isToken(top) && isToken(sub) && top != "*" {
			return media
		}
	}
	return ""
}
