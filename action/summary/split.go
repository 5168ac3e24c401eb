package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxUnitChars bounds a unit: what has no sentences (minified code, a table of figures, a long list) is
	// cut at the best place before.
	maxUnitChars = 400
	// wrapChars is the length from which a line's end is taken for a wrap inside a paragraph.
	wrapChars = 40
)

// sample bounds what is read.
func sample(text string) string {
	if len(text) <= maxScanBytes {
		return text
	}
	var b strings.Builder
	b.WriteString(strings.ToValidUTF8(text[:headBytes], ""))
	const windows = (maxScanBytes - headBytes) / windowBytes
	rest := text[headBytes:]
	for i := range windows {
		at := (len(rest) - windowBytes) * (i + 1) / windows
		w := rest[at : at+windowBytes]
		// A window begins and ends at a space where there is one near, so that no half word is quoted.
		if sp := strings.IndexAny(w[:windowBytes/16], " \n"); sp >= 0 {
			w = w[sp+1:]
		}
		if sp := strings.LastIndexAny(w, " \n"); i+1 < windows && sp > len(w)-windowBytes/16 {
			w = w[:sp]
		}
		b.WriteString("\n\n")
		b.WriteString(strings.ToValidUTF8(w, ""))
	}
	return b.String()
}

// split makes units of a text, clean and in order.
func split(text string) []unit {
	var out []unit
	paragraph := 0
	add := func(k kind, sentences ...string) {
		opens := true
		for _, s := range sentences {
			for _, part := range short(clean(s)) {
				k := k
				if k == prose && readsLikeCode(part) {
					k = code
				}
				out = append(out, unit{text: part, paragraph: paragraph, opens: opens, kind: k})
				opens = false
			}
		}
		paragraph++
	}
	var wrapped strings.Builder
	flush := func() {
		if wrapped.Len() > 0 {
			add(prose, sentences(wrapped.String())...)
			wrapped.Reset()
		}
	}
	fenced := false
	lastChars, lastOpen := 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			flush()
			fenced = !fenced
			continue
		}
		switch {
		case line == "":
			flush()
		case fenced:
			add(code, line)
		case line[0] == '#':
			flush()
			add(heading, strings.TrimLeft(line, "# "))
		case line[0] == '|':
			flush()
			if strings.Trim(line, "|-: ") != "" {
				add(row, strings.Trim(line, "| "))
			}
		default:
			if wrapped.Len() > 0 && !(lastOpen && lastChars >= wrapChars && continues(line)) {
				flush()
			}
			if wrapped.Len() > 0 {
				wrapped.WriteByte(' ')
			}
			wrapped.WriteString(unlisted(line))
		}
		lastChars = utf8.RuneCountInString(line)
		last, _ := utf8.DecodeLastRuneInString(line)
		lastOpen = !terminal(last) && last != ':'
	}
	flush()
	return out
}

// continues reports whether a line can be the rest of the paragraph before it. List items, quotes, log lines
// and the like begin otherwise.
func continues(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLetter(r) || strings.ContainsRune("\"'(“‘«「『（", r)
}

// unlisted takes the mark of a list item or quote off a line.
func unlisted(line string) string {
	for _, mark := range []string{"- ", "* ", "+ ", "> "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(rest)
		}
	}
	return line
}

func terminal(r rune) bool { return spacedEnd(r) || unspacedEnd(r) }

// spacedEnd ends a sentence when a space follows; unspacedEnd ends it by itself.
func spacedEnd(r rune) bool {
	return strings.ContainsRune(".!?…؟۔।॥።", r) && r != utf8.RuneError
}

func unspacedEnd(r rune) bool { return strings.ContainsRune("。！？｡．", r) }

func closer(r rune) bool { return strings.ContainsRune("\"')]}”’»›」』）］】》", r) }

// sentences splits one paragraph.
func sentences(p string) []string {
	var out []string
	start := 0
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRuneInString(p[i:])
		next := i + size
		if !terminal(r) {
			i = next
			continue
		}
		alone := true // one mark and nothing that makes it stronger
		cjk := unspacedEnd(r)
		for next < len(p) {
			c, n := utf8.DecodeRuneInString(p[next:])
			if !terminal(c) && !closer(c) {
				break
			}
			alone = false
			cjk = cjk || unspacedEnd(c)
			next += n
		}
		if cjk || endsHere(p[next:]) && !(alone && r == '.' && abbreviation(p[start:i])) {
			out = append(out, p[start:next])
			start = next
		}
		i = next
	}
	return append(out, p[start:])
}

// endsHere reports whether what follows a mark begins a new sentence.
func endsHere(rest string) bool {
	after := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if after == "" {
		return true
	}
	r, _ := utf8.DecodeRuneInString(after)
	return len(after) < len(rest) && !unicode.IsLower(r)
}

// abbreviation reports whether the dot after head belongs to its last word: an initial, "e.g", "No", or the
// number of a list item.
func abbreviation(head string) bool {
	at := strings.LastIndexFunc(head, func(r rune) bool { return unicode.IsSpace(r) || closer(r) || r == '(' })
	word := head
	if at >= 0 {
		_, size := utf8.DecodeRuneInString(head[at:])
		word = head[at+size:]
	}
	if utf8.RuneCountInString(word) == 1 {
		r, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(r) || at < 0
	}
	switch strings.ToLower(word) {
	case "mr", "mrs", "ms", "dr", "prof", "st", "vs", "no", "nos", "fig", "figs", "eq", "sec", "vol", "pp", "cf", "al",
		"etc", "approx", "inc", "ltd", "e.g", "i.e", "u.s", "a.m", "p.m":
		return true
	}
	return at < 0 && strings.Trim(word, "0123456789") == ""
}

// short cuts a unit that is too long after the last good separator, and only without one inside a word.
func short(s string) []string {
	var out []string
	for s != "" {
		head := prefix(s, maxUnitChars)
		if len(head) < len(s) {
			for _, separators := range []string{";；、，,", " "} {
				if at := strings.LastIndexAny(head, separators); at > len(head)/2 {
					_, size := utf8.DecodeRuneInString(head[at:])
					head = head[:at+size]
					break
				}
			}
		}
		s = strings.TrimSpace(s[len(head):])
		if head = strings.TrimSpace(head); head != "" {
			out = append(out, head)
		}
	}
	return out
}

// readsLikeCode judges by the share of characters that words are not made of.
func readsLikeCode(s string) bool {
	odd, all := 0, 0
	for _, r := range s {
		all++
		if strings.ContainsRune("{}[]<>=;|\\_$@#%^&*/+~`", r) || unicode.IsDigit(r) {
			odd++
		}
	}
	return odd*6 > all
}

// clean makes one line of s and leaves out what cannot be seen, joiners and marks of direction excepted:
// they are part of words.
func clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case unicode.IsControl(r):
			continue
		case unicode.Is(unicode.Cf, r) && r != zwj && r != '\u200c' && r != '\u200e' && r != '\u200f' && r != '\u061c':
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
