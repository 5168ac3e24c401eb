package formats

import (
	"strings"
	"unicode/utf8"
)

// Thresholds of layoutKind, most in percent of the lines that are not blank.
const (
	// laidOutPercent of the lines, and at least minLaidOut, are indented in source.
	laidOutPercent = 25
	minLaidOut     = 3
	// sourcePercent of the lines, and at least minSource, are written as only source is.
	sourcePercent = 30
	minSource     = 2
	// flatPercent of the lines, and at least minFlat, could be source: settings, scripts, records.
	flatPercent = 60
	minFlat     = 3
	// raggedPercent of the line breaks in prose stand where no width asks for them, as at the end of a sentence.
	raggedPercent = 30
)

// layout is what the lines of a text look like.
type layout struct {
	lines int
	// indented lines are not those of nested lists, which Markdown indents as well.
	indented int
	// source lines are written as nobody writes prose; maybe lines as settings and comments are.
	source, maybe int
	// The forms of Markdown.
	headings, fences, links, items, rules int
	// patch is set when there is a hunk of a diff.
	patch bool
	// open is set when the text ends inside fenced code.
	open bool
}

// layoutKind tells prose from source, whose line breaks and indentation carry its meaning, and both from Markdown,
// by the start of a text. Source comes first: its comments look like headings and lists. Markdown has to show two of
// its forms: one alone is as often a comment or a chance.
func layoutKind(head string) Kind {
	l := readLayout(head, true)
	if l.open && len(head) < sniffBytes {
		l = readLayout(head, false) // the fence is none
	}
	share := func(n, percent int) bool { return 100*n >= percent*l.lines }
	forms := 0
	for _, n := range [...]int{l.headings, l.fences / 2, l.links, l.items / 2, l.rules} {
		if n > 0 {
			forms++
		}
	}
	first, _, _ := strings.Cut(head, "\n")
	switch {
	case l.patch, strings.HasPrefix(first, "#!"), strings.HasPrefix(first, "<?php"):
		return KindCode
	case l.source >= minSource && share(l.source, sourcePercent) && !wrapped(head):
		return KindCode
	case l.indented >= minLaidOut && share(l.indented, laidOutPercent):
		switch {
		case l.headings > 1 && l.fences+l.links > 1 && !share(l.indented, 2*laidOutPercent) && !share(l.source, sourcePercent/3):
			return KindMarkdown // with HTML or lists that are indented
		case wrapped(head):
			return KindPlain
		}
		return KindCode
	case forms >= 2 && (l.headings > 0 || l.fences > 1 || l.rules > 0) && 2*l.headings < l.lines+2*l.fences:
		return KindMarkdown
	case l.source+l.maybe >= minFlat && share(l.source+l.maybe, flatPercent) && (l.source > 0 || l.maybe == l.lines):
		return KindCode
	}
	return KindPlain
}

// readLayout looks at the lines of a text; those of fenced code say nothing about it.
func readLayout(head string, fences bool) layout {
	var l layout
	before := ""
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, " \t\r\n\f")
		text := strings.TrimLeft(line, " \t")
		if text == "" {
			continue
		}
		if strings.HasPrefix(text, "```") {
			l.fences++
			if fences {
				l.open = !l.open
				continue
			}
		}
		if l.open {
			continue
		}
		l.lines++
		l.patch = l.patch || strings.HasPrefix(line, "@@ -") || strings.HasPrefix(line, "+++ ") && strings.HasPrefix(before, "--- ")
		before = line
		item := isItem(text)
		comment := strings.HasPrefix(text, "#")
		switch {
		case isSource(text):
			l.source++
		case comment, isSetting(strings.TrimPrefix(text, "- ")), isCommand(text):
			l.maybe++
		}
		if strings.HasPrefix(line, "  ") || line[0] == '\t' {
			if !item {
				l.indented++
			}
			continue
		}
		if _, content, ok := atxHeading(line); ok && content != "" {
			l.headings++
		}
		if !comment && (strings.Contains(line, "](http") || strings.Contains(line, "](/") || strings.Contains(line, "](#")) {
			l.links++
		}
		if item {
			l.items++
		}
		if delimiterRow(line) > 1 {
			l.rules++
		}
	}
	return l
}

// isItem reports whether a line is an item of a list as Markdown and people write it. One that names a key is an item
// of YAML.
func isItem(s string) bool {
	m, ok := listMarker(s)
	return ok && !m.empty && !(m.delim == '-' && isSetting(strings.TrimLeft(s[m.width:], " ")))
}

// isSource reports whether a line is written as source is and prose is not.
func isSource(s string) bool {
	switch s[len(s)-1] {
	case ';', '{', '}', '\\':
		return true
	case ':':
		for _, word := range []string{"def ", "class ", "async def ", "else:", "try:", "finally:"} {
			if strings.HasPrefix(s, word) {
				return true
			}
		}
	case ')':
		// A call: a name before the first parenthesis.
		if i := strings.IndexByte(s, '('); i > 0 && isName(s[:i]) {
			return true
		}
	case ']':
		// The head of a section of settings.
		if s[0] == '[' && strings.IndexByte(s[1:len(s)-1], ']') < 0 && len(s) > 2 && s[1] != ' ' && s[1] != '^' {
			return true
		}
	}
	for _, start := range []string{"#!", "//", "/*", "*/", "#include", "#define", "#if", "#endif", "@@ ", "diff --git ", "-- ", `"""`, "$ ", "}"} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	word, rest, _ := strings.Cut(s, " ")
	switch word {
	case "import", "using", "package":
		return isName(strings.Trim(strings.TrimSpace(rest), `"'`))
	case "from":
		module, after, _ := strings.Cut(rest, " ")
		return isName(module) && strings.HasPrefix(after, "import ")
	case "export", "let", "const", "var", "local", "set":
		return isAssignment(rest)
	case "FROM", "RUN", "CMD", "COPY", "ENV", "ENTRYPOINT", "WORKDIR", "EXPOSE", "ARG", "LABEL", "VOLUME", // Dockerfile
		"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "WHERE", "VALUES": // SQL
		return rest != ""
	}
	return isAssignment(s) || isRecord(s)
}

// isAssignment reports whether s gives a value to one name: "a.b = 1", "A=1", "a := b".
func isAssignment(s string) bool {
	name, value, ok := strings.Cut(s, "=")
	return ok && !strings.HasPrefix(value, "=") && isName(strings.TrimRight(strings.TrimRight(name, ":+?"), " "))
}

// isName reports whether s is a name as programs have them, which may lead through others.
func isName(s string) bool {
	if s == "" || !isLetter(s[0]) && s[0] != '_' && s[0] != '$' && s[0] != '.' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || !isWord(c) && strings.IndexByte("_$.-/:[]'\"", c) < 0 {
			return false
		}
	}
	return true
}

// isSetting reports whether s is a name, a colon and maybe a value, as in YAML and the heads of mails.
func isSetting(s string) bool {
	name, value, ok := strings.Cut(s, ":")
	return ok && (value == "" || value[0] == ' ') && isName(name) && strings.IndexByte(name, '/') < 0
}

// isCommand reports whether s begins with a command that scripts use.
func isCommand(s string) bool {
	word, rest, _ := strings.Cut(s, " ")
	switch word {
	case "cd", "echo", "sudo", "apt-get", "npm", "git", "docker", "mkdir", "rm", "cp", "mv", "curl", "pip", "chmod", "export", "source", "exec",
		"fi", "done", "esac":
		return true
	case "set":
		return strings.HasPrefix(rest, "-")
	}
	return strings.HasPrefix(word, "./") || strings.HasSuffix(s, "; then") || strings.HasSuffix(s, "; do")
}

// isRecord reports whether s begins as the lines of a log do: with a time, an address or a level.
func isRecord(s string) bool {
	s = strings.TrimLeft(s, "[(")
	shape := func(pattern string) bool {
		if len(s) < len(pattern) {
			return false
		}
		for i := range len(pattern) {
			digit := s[i] >= '0' && s[i] <= '9'
			if pattern[i] == '0' != digit || pattern[i] != '0' && s[i] != pattern[i] {
				return false
			}
		}
		return true
	}
	word, _, more := strings.Cut(s, " ")
	switch strings.TrimRight(word, "]:") {
	case "INFO", "WARN", "WARNING", "ERROR", "DEBUG", "TRACE", "FATAL", "CRITICAL":
		return more
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec":
		s = s[len(word):]
		return shape(" 00 00:00:00") || shape("  0 00:00:00")
	}
	if shape("0000-00-00T00:00") || shape("0000-00-00 00:00") || shape("0000/00/00 00:00") || shape("00:00:00") {
		return true
	}
	return strings.Count(word, ".") == 3 && strings.Trim(word, "0123456789.") == "" // of the client of a web server
}

const (
	// minWrap is the least width in characters that prose is wrapped at. Shorter lines are meant.
	minWrap = 50
	// longWord is how many characters of the next word count: an address is broken nowhere.
	longWord = 20
	// minBreaks is how many line breaks it takes to see whether a width asks for them.
	minBreaks = 3
)

// wrapped reports whether text is prose that was broken into lines to fit a width: the first word of each line would
// not have fit on the line before.
func wrapped(text string) bool {
	breaks, ragged := 0, 0
	for chunk := range chunks(text) {
		b, r := wrapping(chunk)
		breaks += b
		ragged += r
	}
	return breaks >= minBreaks && 100*ragged < raggedPercent*breaks
}

// wrapping counts the line breaks in a stretch without blank lines, and those of them that no width asks for. Which
// width that is the longest line tells.
func wrapping(chunk string) (breaks, ragged int) {
	width := minWrap
	for line := range lines(chunk) {
		width = max(width, utf8.RuneCountInString(strings.TrimRight(line, " \t\r\n")))
	}
	last := -1
	for line := range lines(chunk) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			continue
		}
		if last >= 0 {
			breaks++
			if last+1+firstWord(strings.TrimLeft(line, " \t>")) <= width {
				ragged++
			}
		}
		last = utf8.RuneCountInString(line)
	}
	return breaks, ragged
}

// firstWord is the length in characters of the first word that a line can be broken behind: in Chinese and Japanese
// any character is one.
func firstWord(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r == ' ' || r == '\t' || n == longWord:
			return n
		case r >= 0x2E80 && n > 0:
			return n
		case r >= 0x2E80:
			return 1
		}
		n++
	}
	return n
}

// inColumns reports whether the white space inside the lines of a chunk means something: lines stand under each other
// by their indentation, or parts of them do.
func inColumns(chunk string) bool {
	first, gaps, shifted := -1, 0, false
	for line := range lines(chunk) {
		text := strings.TrimLeft(line, " \t")
		if text == "" {
			continue
		}
		indent := len(line) - len(text)
		if first < 0 {
			first = indent
		}
		shifted = shifted || indent != first
		if text = strings.TrimRight(text, " \t\r\n"); strings.Contains(text, "   ") || strings.Contains(text, "\t") {
			gaps++
		}
	}
	return shifted || gaps > 1
}
