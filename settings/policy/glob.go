package policy

import "unicode"

// match reports whether the glob matches all of s. It goes back to the latest * only, so the work is bounded
// by the product of the two lengths, whatever the pattern.
func match(pattern, s string) bool {
	p, t := []rune(pattern), []rune(s)
	star, mark := -1, 0 // where the latest * stands, and how far it has reached
	i, j := 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || fold(p[i]) == fold(t[j])):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// fold gives one character for all that differ in case only: the smallest.
func fold(r rune) rune {
	if r <= unicode.MaxASCII {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}
