package formats

import (
	"strings"

	"golang.org/x/net/html"

	"web/browse/blocks"
)

// XML gives a document as one code block. Text that has lines is left as it is; text without them is broken
// between tags that touch, which changes no character of content. Nothing is expanded or fetched, so
// entities and external declarations are only text.
func XML(text string) *blocks.Document {
	doc, text := start(text)
	text = trimLines(text)
	if len(text) > minifiedLine*(1+strings.Count(text, "\n")) {
		text = breakTags(text)
	}
	doc.Blocks = codeBlock(text, "xml")
	return doc
}

const (
	// minifiedLine is the mean length of lines in bytes above which nobody is taken to have laid them out.
	minifiedLine = 400
	// maxIndent bounds the indentation in levels, so that deep nesting cannot blow up the text.
	maxIndent = 12
)

// breakTags starts a new line, indented, at each tag that follows another tag directly, but for an end tag
// that follows its own start tag.
func breakTags(text string) string {
	var b strings.Builder
	b.Grow(2 * len(text)) // what is not needed is never touched
	s := newXMLScanner(text)
	depth, indent := 0, len(text)/2
	prev := xmlText
	for s.next() {
		if s.kind == xmlEnd {
			depth = max(depth-1, 0)
		}
		if prev != xmlText && s.kind != xmlText && !(prev == xmlStart && s.kind == xmlEnd) {
			b.WriteByte('\n')
			// Past the budget the line breaks go on and the indentation stops.
			n := min(2*min(depth, maxIndent), indent)
			b.WriteString(spaces[:n])
			indent -= n
		}
		b.WriteString(s.raw)
		if s.kind == xmlStart {
			depth++
		}
		if blank(s.raw) {
			continue
		}
		prev = s.kind
	}
	b.WriteString(s.rest())
	return b.String()
}

type xmlKind int

const (
	xmlText xmlKind = iota
	xmlStart
	xmlEnd
	xmlEmpty // <a/>
	xmlOther // comment, declaration, processing instruction
)

// xmlScanner cuts XML into tokens. It stands on the HTML tokenizer, which knows no error, reads any byte
// sequence in linear time and has no notion of declared entities; names come out in lower case.
type xmlScanner struct {
	src  string
	pos  int
	z    *html.Tokenizer
	kind xmlKind
	raw  string
	name string
	// text is the decoded text of a text token.
	text string
}

func newXMLScanner(src string) *xmlScanner {
	s := &xmlScanner{src: src, z: html.NewTokenizer(strings.NewReader(src))}
	s.z.AllowCDATA(true)
	return s
}

func (s *xmlScanner) next() bool {
	tt := s.z.Next()
	if tt == html.ErrorToken {
		return false
	}
	n := len(s.z.Raw())
	s.raw = s.src[s.pos : s.pos+n]
	s.pos += n
	s.name, s.text = "", ""
	switch tt {
	case html.TextToken:
		s.kind = xmlText
		if inner, ok := strings.CutPrefix(s.raw, "<![CDATA["); ok {
			// The tokenizer would decode references in here a second time.
			s.text = strings.TrimSuffix(inner, "]]>")
		} else {
			s.text = string(s.z.Text())
		}
	case html.StartTagToken, html.SelfClosingTagToken:
		s.kind = xmlStart
		if tt == html.SelfClosingTagToken {
			s.kind = xmlEmpty
		}
		name, _ := s.z.TagName()
		s.name = string(name)
		// In XML no element's content is special, <title> and <script> included.
		s.z.NextIsNotRawText()
	case html.EndTagToken:
		s.kind = xmlEnd
		name, _ := s.z.TagName()
		s.name = string(name)
	default:
		s.kind = xmlOther
	}
	return true
}

// attrs calls f with each attribute of the current tag; it may be called once per tag.
func (s *xmlScanner) attrs(f func(key, value string)) {
	if strings.IndexByte(s.raw, '=') < 0 {
		return
	}
	for {
		key, value, more := s.z.TagAttr()
		if len(key) > 0 {
			f(string(key), string(value))
		}
		if !more {
			return
		}
	}
}

// rest is what stood behind the last whole token, such as a tag that never ends.
func (s *xmlScanner) rest() string { return s.src[s.pos:] }
