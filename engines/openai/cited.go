package openai

import (
	"slices"
	"sort"
	"strings"
	"unicode"
)

const (
	// maxMarkChars is the longest mark of a citation: a longer stretch is text.
	maxMarkChars = 4096
	// maxWholeChars is the longest text that is given whole when nobody knows which part a source supports.
	maxWholeChars = 500
	// maxSupportedChars is the longest stretch that counts as what a source supports.
	maxSupportedChars = 2000
)

// cited is the text of a block without the marks of its citations.
type cited struct {
	text      []rune
	sentences []span
	// places holds for each annotation where in text its mark stood, or what it supports; nil when unknown.
	places []*place
}

type place struct {
	span
	// mark is true where a mark was taken out; the span is empty then.
	mark bool
}

func newCited(b block) cited {
	original := []rune(b.Text)
	dropped := make([]bool, len(original))
	c := cited{places: make([]*place, len(b.Annotations))}
	for i, note := range b.Annotations {
		at, ok := within(note, len(original))
		if !ok || note.Type != "url_citation" {
			continue
		}
		p := place{span: at}
		if isMark(original[at.start:at.end]) {
			p.mark = dropMark(original, dropped, at)
		}
		c.places[i] = &p
	}
	c.text = make([]rune, 0, len(original))
	moved := make([]int, len(original)+1)
	for i, r := range original {
		if dropped[i] {
			moved[i] = len(trimSpaces(c.text))
			continue
		}
		// What stood before a mark needs no space any more when the sentence ends there.
		if i > 0 && dropped[i-1] && (unicode.IsSpace(r) || terminator(r) || strings.ContainsRune(",;:)]", r)) {
			c.text = trimSpaces(c.text)
		}
		moved[i] = len(c.text)
		c.text = append(c.text, r)
	}
	c.text = trimSpaces(c.text)
	moved[len(original)] = len(c.text)
	for _, p := range c.places {
		if p != nil {
			p.start, p.end = min(moved[p.start], len(c.text)), min(moved[p.end], len(c.text))
		}
	}
	c.sentences = sentences(c.text)
	return c
}

func trimSpaces(text []rune) []rune {
	for len(text) > 0 && text[len(text)-1] == ' ' {
		text = text[:len(text)-1]
	}
	return text
}

// within gives the span of an annotation in a text of n characters, unless it has none there.
func within(note annotation, n int) (span, bool) {
	if note.StartIndex == nil || note.EndIndex == nil {
		return span{}, false
	}
	start, end := *note.StartIndex, *note.EndIndex
	if !(start >= 0 && start < float64(n) && end > start) {
		return span{}, false
	}
	return span{int(start), int(min(end, float64(n)))}, true
}

// isMark tells the mark of a citation, "([ex.org](https://ex.org/a))" or another form in brackets, from text
// that a source supports.
func isMark(s []rune) bool {
	if len(s) > maxMarkChars {
		return false
	}
	text := string(s)
	switch s[0] {
	case '【', '\ue200': // forms in which the model writes before they are replaced
		return true
	case '(':
		return strings.HasPrefix(text, "(http") || strings.Contains(text, "](")
	case '[':
		return strings.Contains(text, "](") || strings.Trim(text, "[]0123456789, ") == ""
	}
	return false
}

// dropMark takes a mark out, with the brackets around it when they hold nothing else. It reports false when it
// kept the words of a link in the middle of a sentence, which lives by them.
func dropMark(text []rune, dropped []bool, at span) bool {
	// One too short, as where the end means the last character.
	if s := string(text[at.start:at.end]); at.end < len(text) && text[at.end] == ')' && strings.Count(s, "(") > strings.Count(s, ")") {
		at.end++
	}
	left, right := at.start, at.end
	for left > 0 && at.start-left < maxMarkChars && (dropped[left-1] || strings.ContainsRune(" ,;", text[left-1])) {
		left--
	}
	for right < len(text) && right-at.end < maxMarkChars && (dropped[right] || strings.ContainsRune(" ,;", text[right])) {
		right++
	}
	// What stands around the mark; a line end where there is nothing.
	before, after := '\n', '\n'
	if left > 0 {
		before = text[left-1]
	}
	if right < len(text) {
		after = text[right]
	}
	switch label, ok := link(text, at); {
	case before == '(' && after == ')':
		at = span{left - 1, right + 1}
	case !ok, // no words to keep
		before == '(' && after == '[', // more marks follow
		before == '\n' && after == '\n',
		(terminator(before) || closer(before)) && !unicode.IsLower(after):
	default:
		drop(dropped, span{at.start, label.start})
		drop(dropped, span{label.end, at.end})
		return false
	}
	drop(dropped, at)
	return true
}

func drop(dropped []bool, s span) {
	for i := s.start; i < s.end; i++ {
		dropped[i] = true
	}
}

// link gives the words of a Markdown link that is all of a span.
func link(text []rune, at span) (label span, ok bool) {
	if text[at.start] != '[' || text[at.end-1] != ')' {
		return span{}, false
	}
	for i := at.start + 1; i+1 < at.end; i++ {
		if text[i] == ']' && text[i+1] == '(' {
			return span{at.start + 1, i}, i > at.start+1
		}
	}
	return span{}, false
}

// snippet is what the i-th citation supports: the sentence before its mark, or around its words.
func (c cited) snippet(i int) string {
	p := c.places[i]
	if p == nil || p.end-p.start > maxSupportedChars {
		if len(c.text) > maxWholeChars {
			return ""
		}
		return strings.TrimSpace(string(c.text))
	}
	if p.mark {
		return c.before(p.start)
	}
	// The sentences that the span touches.
	first := sort.Search(len(c.sentences), func(k int) bool { return c.sentences[k].end > p.start })
	last := sort.Search(len(c.sentences), func(k int) bool { return c.sentences[k].start >= p.end })
	if first >= last {
		return ""
	}
	return c.tidy(span{c.sentences[first].start, c.sentences[last-1].end})
}

// before is the sentence that starts before i; where the line does, the one behind.
func (c cited) before(i int) string {
	next := sort.Search(len(c.sentences), func(k int) bool { return c.sentences[k].start >= i })
	sameLine := func(from, to int) bool { return from >= to || !slices.Contains(c.text[from:to], '\n') }
	switch {
	case len(c.sentences) == 0:
		return ""
	case next == 0:
		return c.tidy(c.sentences[0])
	case next < len(c.sentences) && !sameLine(c.sentences[next-1].end, i) && sameLine(i, c.sentences[next].start):
		return c.tidy(c.sentences[next])
	}
	return c.tidy(c.sentences[next-1])
}

// tidy leaves out the mark of a list or heading before the words.
func (c cited) tidy(s span) string {
	text := string(c.text[s.start:s.end])
	if rest := strings.TrimLeft(text, "-*•#>"); strings.HasPrefix(rest, " ") {
		text = strings.TrimSpace(rest)
	}
	return text
}
