package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWordBytes leaves out what is no word: encoded data, minified code.
	maxWordBytes = 64
	// stemChars is how much of a word is compared: "install" and "installation" are one.
	stemChars = 7
)

// lexicon numbers words.
type lexicon struct {
	ids map[string]int
	// figure marks the words that are bare numbers.
	figure map[int]bool
}

// distinct gives the numbers of the words in s, each once.
func (l *lexicon) distinct(s string) []int {
	var out []int
	seen := map[int]bool{}
	words(s, func(w string) {
		id, ok := l.ids[w]
		if !ok {
			id = len(l.ids)
			l.ids[w] = id
			if strings.Trim(w, "0123456789") == "" {
				l.figure[id] = true
			}
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	})
	return out
}

// words visits the content words of s in the form in which they are compared. Scripts that put no space
// between words give pairs of neighbouring characters instead.
func words(s string, visit func(string)) {
	start, last := -1, rune(0)
	lone := false // last stands alone so far
	end := func(to int) {
		if start >= 0 {
			if w := normal(s[start:to]); w != "" {
				visit(w)
			}
			start = -1
		}
	}
	for i, r := range s {
		switch {
		case unspaced(r):
			end(i)
			if last != 0 {
				visit(string([]rune{last, r}))
			}
			lone, last = last == 0, r
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r) || start >= 0 && (unicode.Is(unicode.M, r) || r == '\u200c' || r == zwj):
			if start < 0 {
				start = i
			}
		default:
			end(i)
		}
		if lone {
			visit(string(last))
		}
		lone, last = false, 0
	}
	end(len(s))
	if lone {
		visit(string(last))
	}
}

// unspaced reports the scripts that do not part words, and Hangul, whose particles hang on to them.
func unspaced(r rune) bool {
	return r >= 0xe00 && unicode.IsOneOf([]*unicode.RangeTable{
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	}, r)
}

// normal is a word in the form in which it is compared, or "" for one that carries nothing.
func normal(w string) string {
	if len(w) > maxWordBytes {
		return ""
	}
	low := strings.ToLower(w)
	// Two small letters are a particle in most languages; "Go", "AI" and "x86" are names.
	if n := utf8.RuneCountInString(low); n < 2 || n == 2 && low == w && !strings.ContainsAny(w, "0123456789") || isStop(low) {
		return ""
	}
	if len(low) > 4 && strings.HasSuffix(low, "s") && !strings.HasSuffix(low, "ss") {
		low = low[:len(low)-1]
	}
	return prefix(low, stemChars)
}

// isStop knows the commonest English words; for other languages frequency alone has to do.
func isStop(w string) bool {
	switch w {
	case "the", "and", "for", "are", "but", "not", "you", "all", "any", "can", "had", "her", "was", "one", "our",
		"out", "has", "him", "his", "how", "its", "may", "new", "now", "old", "see", "two", "who", "did", "get",
		"let", "say", "she", "too", "use", "that", "with", "have", "this", "will", "your", "from", "they", "been",
		"were", "when", "what", "which", "their", "there", "would", "about", "into", "than", "then", "them",
		"these", "those", "some", "such", "only", "other", "also", "more", "most", "very", "just", "over",
		"should", "could", "each", "where", "while", "because", "does", "being", "here", "both", "it", "is", "in",
		"on", "at", "if", "we", "an", "as", "or", "to", "of", "by", "be", "he", "so", "no", "do", "my":
		return true
	}
	return false
}
