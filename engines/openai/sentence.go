package openai

import (
	"slices"
	"strings"
	"unicode"
)

// maxSentenceChars bounds a sentence: text without an end, such as a table, is parted at a space.
const maxSentenceChars = 1000

// span is a part of a text, in characters.
type span struct{ start, end int }

// sentences parts text at line ends and behind sentences. What is doubtful stays together: a sentence too many
// in a snippet does less harm than half a one.
func sentences(text []rune) []span {
	var out []span
	for start := 0; start < len(text); {
		end := lineEnd(text, start)
		for i := start; i < end; {
			next := sentenceEnd(text, start, i, end)
			for next-i > maxSentenceChars {
				cut := i + maxSentenceChars
				for k := cut; k > i+maxSentenceChars/2; k-- {
					if unicode.IsSpace(text[k]) {
						cut = k
						break
					}
				}
				out = appendTrimmed(out, text, span{i, cut})
				i = cut
			}
			out = appendTrimmed(out, text, span{i, next})
			i = next
		}
		start = end + 1
	}
	return out
}

func lineEnd(text []rune, from int) int {
	if i := slices.Index(text[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(text)
}

func appendTrimmed(out []span, text []rune, s span) []span {
	for s.start < s.end && unicode.IsSpace(text[s.start]) {
		s.start++
	}
	for s.end > s.start && unicode.IsSpace(text[s.end-1]) {
		s.end--
	}
	if s.start == s.end {
		return out
	}
	return append(out, s)
}

// sentenceEnd is where the sentence that starts at from ends, in a line from line to end.
func sentenceEnd(text []rune, line, from, end int) int {
	for i := from; i < end; i++ {
		if !terminator(text[i]) {
			continue
		}
		after := i + 1
		for after < end && (terminator(text[after]) || closer(text[after])) {
			after++
		}
		if after == end || wide(text[i]) || unicode.IsSpace(text[after]) && !(text[i] == '.' && goesOn(text[line:i], text[after:end])) {
			return after
		}
		i = after - 1
	}
	return end
}

// goesOn says whether a full stop between two parts of a line belongs to an abbreviation or a number.
func goesOn(before, after []rune) bool {
	start := len(before)
	for start > 0 && !unicode.IsSpace(before[start-1]) {
		start--
	}
	word := strings.TrimLeft(string(before[start:]), `("'[“‘*_`)
	for _, r := range after {
		if !unicode.IsSpace(r) {
			if unicode.IsLower(r) {
				return true
			}
			break
		}
	}
	switch strings.ToLower(word) {
	case "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "vs", "no", "fig", "vol", "pp", "al", "approx", "ca", "cf":
		return true
	}
	first := []rune(word)
	switch {
	case len(first) == 1 && unicode.IsUpper(first[0]): // an initial
		return true
	case strings.Contains(word, ".") && !strings.Contains(word, "://") && len(first) <= 5: // e.g, U.S, a.m
		return true
	}
	return start == 0 && strings.Trim(word, "0123456789") == "" // the number of an item
}

func terminator(r rune) bool { return strings.ContainsRune(".!?…؟۔।॥", r) || wide(r) }

// wide knows the terminators of scripts that put no space behind a sentence.
func wide(r rune) bool { return strings.ContainsRune("。！？｡．", r) }

func closer(r rune) bool { return strings.ContainsRune(`"')]}”’»›」』）】*_`, r) }
