// Package summary writes an extractive summary: the sentences of a text that say most about it, word for
// word and in their order.
//
// It needs no network and no model, so it is always there, and it can invent nothing. It must not know what
// an answer, a page or an artifact is: package action chooses the text. Start at Extractive.
package summary

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// DefaultChars is a length that is read at a glance, in characters.
	DefaultChars = 1500
	// maxScanBytes is how much of a text is read. What is longer is sampled: its beginning, where most texts
	// say what they are about, and windows spread evenly over the rest.
	maxScanBytes   = 2 << 20
	headBytes      = 1 << 20
	windowBytes    = 64 << 10
	maxReasonChars = 2000
	// maxCandidates bounds the units that compete for the room, so that a text of a million tiny units costs
	// one sort and not a million comparisons per choice.
	maxCandidates = 1000
	// minRoom is the room, in characters, below which nothing more is worth adding.
	minRoom = 12
	// worthAdding is the share of the best unit's score below which a sentence only repeats what was said.
	worthAdding = 0.04
	// figureWeight is what a bare number counts beside a word: a table or a log is full of rare numbers.
	figureWeight = 0.1
)

// Extractive gives at most maxChars characters of text. The words of reason draw the choice to what the
// reader came for; "" draws to nothing. Text may be prose in any script, Markdown, code or JSON, and need
// not be valid UTF-8; the summary is. It is empty only when text holds nothing visible.
func Extractive(text, reason string, maxChars int) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if flat, ok := flattenJSON(text); ok {
		text = flat
	}
	text = sample(text)
	units := split(text)
	if len(units) == 0 {
		// Nothing but marks of a format, which are then what there is to see.
		units = []unit{{text: clean(text)}}
	}
	return choose(units, reason, maxChars, worthAdding)
}

// Pick gives those of lines that say most, whole, one per line, in at most maxChars characters. Only when not
// even one of them fits is one cut.
func Pick(lines []string, reason string, maxChars int) string {
	units := make([]unit, 0, len(lines))
	for i, l := range lines {
		units = append(units, unit{text: clean(strings.ToValidUTF8(l, "\ufffd")), paragraph: i, opens: true})
	}
	return choose(units, reason, maxChars, 0)
}

// unit is what is chosen or left out as a whole.
type unit struct {
	text string
	// paragraph numbers the paragraph it comes from; opens is true for the first unit of one.
	paragraph int
	opens     bool
	kind      kind

	chars int
	words []int // distinct, as numbered by lexicon
	base  float64
}

type kind int

const (
	prose kind = iota
	heading
	row  // of a table
	code // a line in a fence, or one that reads like it
)

// worth is what a unit of each kind counts for: code and table rows mean little outside of their place.
func (k kind) worth() float64 {
	switch k {
	case heading:
		return 0.55
	case row:
		return 0.6
	case code:
		return 0.4
	default:
		return 1
	}
}

// choose takes the best unit that fits again and again, until there is no room or no unit has a score of at
// least enough times that of the best.
func choose(units []unit, reason string, maxChars int, enough float64) string {
	if maxChars <= 0 {
		return ""
	}
	seen := map[string]bool{}
	units = slices.DeleteFunc(units, func(u unit) bool {
		again := u.text == "" || seen[u.text]
		seen[u.text] = true
		return again
	})
	if len(units) == 0 {
		return ""
	}
	total := 0
	for i := range units {
		units[i].chars = utf8.RuneCountInString(units[i].text)
		total += units[i].chars + 1
	}
	if total-1 <= maxChars {
		return join(units)
	}
	s := newScorer(units, reason)
	candidates := make([]int, len(units))
	for i := range candidates {
		candidates[i] = i
		units[i].base = s.base(units[i], i)
	}
	first := make([]float64, len(units))
	for i := range units {
		first[i] = s.score(units[i])
	}
	slices.SortFunc(candidates, func(a, b int) int { return cmp.Or(cmp.Compare(first[b], first[a]), cmp.Compare(a, b)) })
	best := candidates[0]
	candidates = candidates[:min(len(candidates), maxCandidates)]

	var chosen []int
	for room := maxChars; room >= min(minRoom, maxChars); {
		at, top := -1, 0.0
		for i, c := range candidates {
			if units[c].chars > room {
				continue
			}
			if v := s.score(units[c]); at < 0 || v > top {
				at, top = i, v
			}
		}
		if at < 0 || top < enough*first[best] {
			break
		}
		c := candidates[at]
		candidates = slices.Delete(candidates, at, at+1)
		chosen = append(chosen, c)
		room -= units[c].chars + 1
		s.said(units[c])
	}
	if len(chosen) == 0 {
		return cut(units[best].text, maxChars)
	}
	slices.Sort(chosen)
	out := make([]unit, len(chosen))
	for i, c := range chosen {
		out[i] = units[c]
	}
	return join(out)
}

// join puts sentences of one paragraph on one line and everything else on its own.
func join(units []unit) string {
	var b strings.Builder
	for i, u := range units {
		switch {
		case i == 0:
		case u.kind == prose && units[i-1].kind == prose && u.paragraph == units[i-1].paragraph:
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
		b.WriteString(u.text)
	}
	return b.String()
}

// cut shortens s to n characters and shows that it did.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	head := prefix(s, n-1)
	// A word is cut only where the text has no better place near.
	if sp := strings.LastIndexByte(head, ' '); sp > len(head)/2 {
		head = head[:sp]
	}
	return strings.TrimRightFunc(head, unicode.IsSpace) + "…"
}

// prefix gives at most the first n characters of s and does not part a mark from its letter.
func prefix(s string, n int) string {
	end, count := len(s), 0
	for i := range s {
		if count == n {
			end = i
			break
		}
		count++
	}
	for i := end; i > 0 && i < len(s); {
		r, _ := utf8.DecodeRuneInString(s[i:])
		last, size := utf8.DecodeLastRuneInString(s[:i])
		if !unicode.Is(unicode.M, r) && r != zwj && last != zwj {
			return s[:i]
		}
		i -= size
	}
	return s[:end]
}

const zwj = '\u200d'

// scorer weighs words by how often the text comes back to them, and units by their words.
type scorer struct {
	total   int
	weights []float64
	// wanted is the share of the reason that a word is.
	wanted map[int]float64
}

func newScorer(units []unit, reason string) *scorer {
	lex := lexicon{ids: map[string]int{}, figure: map[int]bool{}}
	var frequency []int
	var inHeading []bool
	for i := range units {
		units[i].words = lex.distinct(units[i].text)
		for len(frequency) < len(lex.ids) {
			frequency, inHeading = append(frequency, 0), append(inHeading, false)
		}
		for _, w := range units[i].words {
			frequency[w]++
			inHeading[w] = inHeading[w] || units[i].kind == heading
		}
	}
	n := float64(len(units))
	rarity := func(w int) float64 { return math.Log((n + 1) / float64(frequency[w])) }
	s := &scorer{total: len(units), weights: make([]float64, len(frequency)), wanted: map[int]float64{}}
	for w, f := range frequency {
		s.weights[w] = math.Sqrt(float64(f)) * rarity(w)
		if inHeading[w] {
			s.weights[w] *= 1.5
		}
		if lex.figure[w] {
			s.weights[w] *= figureWeight
		}
	}
	sum := 0.0
	known := len(lex.ids)
	for _, w := range lex.distinct(prefix(strings.ToValidUTF8(reason, "\ufffd"), maxReasonChars)) {
		if w < known {
			s.wanted[w] = rarity(w)
			sum += rarity(w)
		}
	}
	for w := range s.wanted {
		s.wanted[w] /= sum
	}
	return s
}

// base is the part of a unit's score that no choice changes.
func (s *scorer) base(u unit, i int) float64 {
	v := u.kind.worth()
	switch {
	case i == 0:
		v *= 1.5
	case i < s.total/10:
		v *= 1.2
	}
	if u.opens {
		v *= 1.1
	}
	if len(u.words) < 3 && u.kind != heading {
		v *= 0.3
	}
	return v
}

func (s *scorer) score(u unit) float64 {
	sum, overlap := 0.0, 0.0
	for _, w := range u.words {
		sum += s.weights[w]
		overlap += s.wanted[w]
	}
	// Dividing by less than the number of words lets a full sentence win over a fragment of it.
	return u.base * sum / math.Pow(float64(len(u.words)+4), 0.6) * (1 + 3*overlap)
}

// said halves the weight of what a chosen unit has said, so that the next one says something else.
func (s *scorer) said(u unit) {
	for _, w := range u.words {
		s.weights[w] /= 2
		if v, ok := s.wanted[w]; ok {
			s.wanted[w] = v / 2
		}
	}
}
