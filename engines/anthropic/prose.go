package anthropic

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// prose puts the model's own words together. The provider begins a new block of text at each citation, in the
// middle of a sentence too, so blocks that follow each other are one text.
type prose struct {
	text strings.Builder
	last rune
	// apart is true where something else stood between two blocks of text.
	apart bool
}

func (p *prose) interrupt() { p.apart = true }

func (p *prose) add(s string) {
	if s == "" {
		return
	}
	first, _ := utf8.DecodeRuneInString(s)
	switch {
	case p.text.Len() == 0, p.last == '\n', first == '\n':
	case p.apart:
		p.text.WriteByte('\n')
	case unicode.IsSpace(p.last), unicode.IsSpace(first):
	case p.last == '.' && (unicode.IsLower(first) || unicode.IsDigit(first)): // inside a number or an address
	case strings.ContainsRune(".!?…:。！？", p.last) && !unicode.IsPunct(first): // whole sentences without a space
		p.text.WriteByte('\n')
	case wordByWord(p.last) && wordByWord(first):
		p.text.WriteByte(' ')
	}
	p.text.WriteString(s)
	p.last, _ = utf8.DecodeLastRuneInString(s)
	p.apart = false
}

// wordByWord knows the letters of scripts that part words by spaces.
func wordByWord(r rune) bool {
	return unicode.IsDigit(r) || unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// String is all of it, or "" when there is nothing but white space.
func (p *prose) String() string {
	if s := p.text.String(); strings.TrimSpace(s) != "" {
		return s
	}
	return ""
}
