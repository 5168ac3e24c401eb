package formats

import (
	"strings"

	"web/browse/blocks"
)

// JSON reads one JSON value as a code block: indented, with its keys in their order and its numbers and strings
// as they are spelled. What is not JSON is given as it came, with WarnJSONInvalid.
func JSON(text string) *blocks.Document {
	doc, text := start(text)
	if blank(text) {
		return doc
	}
	end, ok := scanJSON(text, 0)
	if ok && skipSpace(text, end) == len(text) {
		doc.Blocks = codeBlock(indentJSON(text[:end]), "json")
		return doc
	}
	doc.Warnings = []string{WarnJSONInvalid}
	switch strings.TrimSpace(text)[0] {
	case '{', '[', '"', '/', ')':
		doc.Blocks = codeBlock(text, "json")
	default:
		// Servers label their error messages JSON too; prose stays prose.
		setParagraphs(doc, text)
	}
	return doc
}

// JSONLines reads newline-delimited JSON as one code block with a record per line, each as it is spelled. A
// line that is not JSON stays where it is and raises WarnJSONInvalid.
func JSONLines(text string) *blocks.Document {
	// JSON text sequences (RFC 7464) are the same with a record separator before each record.
	doc, text := start(strings.ReplaceAll(text, "\x1E", ""))
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if end, ok := scanJSON(line, 0); (!ok || end != len(line)) && doc.Warnings == nil {
			doc.Warnings = []string{WarnJSONInvalid}
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	doc.Blocks = codeBlock(b.String(), "json")
	return doc
}

// isJSON reports whether text is one whole object or array.
func isJSON(text string) bool {
	i := skipSpace(text, 0)
	if i == len(text) || text[i] != '{' && text[i] != '[' {
		return false
	}
	end, ok := scanJSON(text, i)
	return ok && skipSpace(text, end) == len(text)
}

// isJSONLines reports whether text is more than one line and each is an object or array.
func isJSONLines(text string) bool {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		if blank(line) {
			continue
		}
		if !isJSON(line) {
			return false
		}
		n++
	}
	return n > 1
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// scanJSON checks the value that begins at or after i and returns where it ends. It is iterative and unlimited
// in depth: a standard decoder recurses, or stops at a depth that real data can pass.
func scanJSON(s string, i int) (end int, ok bool) {
	var stack []byte
	for {
		// Here a value is due.
		if i = skipSpace(s, i); i == len(s) {
			return i, false
		}
		switch c := s[i]; {
		case c == '{':
			if i = skipSpace(s, i+1); i < len(s) && s[i] == '}' {
				i, ok = i+1, true
				break
			}
			stack = append(stack, '}')
			if i, ok = scanKey(s, i); !ok {
				return i, false
			}
			continue
		case c == '[':
			if i = skipSpace(s, i+1); i < len(s) && s[i] == ']' {
				i, ok = i+1, true
				break
			}
			stack = append(stack, ']')
			continue
		case c == '"':
			i, ok = scanString(s, i)
		case c == '-' || c >= '0' && c <= '9':
			i, ok = scanNumber(s, i)
		default:
			i, ok = scanWord(s, i)
		}
		if !ok {
			return i, false
		}
		// A value has ended.
		for {
			if len(stack) == 0 {
				return i, true
			}
			if i = skipSpace(s, i); i == len(s) {
				return i, false
			}
			if s[i] == ',' {
				i++
				break
			}
			if s[i] != stack[len(stack)-1] {
				return i, false
			}
			stack = stack[:len(stack)-1]
			i++
		}
		if stack[len(stack)-1] == '}' {
			if i, ok = scanKey(s, skipSpace(s, i)); !ok {
				return i, false
			}
		}
	}
}

// scanKey checks a string and its colon.
func scanKey(s string, i int) (int, bool) {
	if i >= len(s) || s[i] != '"' {
		return i, false
	}
	i, ok := scanString(s, i)
	if !ok {
		return i, false
	}
	if i = skipSpace(s, i); i == len(s) || s[i] != ':' {
		return i, false
	}
	return i + 1, true
}

// scanString checks the string that begins at i. Lone surrogates pass, as they do in the standard's grammar.
func scanString(s string, i int) (int, bool) {
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1, true
		case c < 0x20:
			return i, false
		case c == '\\':
			i++
			if i == len(s) {
				return i, false
			}
			if s[i] == 'u' {
				for n := 1; n <= 4; n++ {
					if i+n >= len(s) || !isHex(s[i+n]) {
						return i, false
					}
				}
				i += 4
			} else if !strings.ContainsRune(`"\/bfnrt`, rune(s[i])) {
				return i, false
			}
		}
	}
	return i, false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func scanDigits(s string, i int) (int, bool) {
	from := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i, i > from
}

// scanNumber checks a number by its spelling; its size does not matter, as it is never converted.
func scanNumber(s string, i int) (int, bool) {
	if s[i] == '-' {
		i++
	}
	first := i
	i, ok := scanDigits(s, i)
	if !ok || s[first] == '0' && i > first+1 {
		return i, false
	}
	if i < len(s) && s[i] == '.' {
		if i, ok = scanDigits(s, i+1); !ok {
			return i, false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		i, ok = scanDigits(s, i)
	}
	return i, ok
}

func scanWord(s string, i int) (int, bool) {
	for _, w := range []string{"true", "false", "null"} {
		if strings.HasPrefix(s[i:], w) {
			return i + len(w), true
		}
	}
	return i, false
}

// indentJSON lays out valid JSON with two spaces per level. Deep nesting would make that grow with the square
// of the input, so past a budget the line breaks go on and the indentation stops.
func indentJSON(s string) string {
	var size jsonWriter
	size.layout(s)
	var w jsonWriter
	w.b.Grow(size.n)
	w.layout(s)
	return w.b.String()
}

// jsonWriter writes a layout, or counts its bytes when there is no room for any.
type jsonWriter struct {
	b strings.Builder
	n int
}

func (w *jsonWriter) write(s string) {
	w.n += len(s)
	if w.b.Cap() > 0 {
		w.b.WriteString(s)
	}
}

func (w *jsonWriter) layout(s string) {
	indent := len(s) + 64<<10
	depth := 0
	newline := func() {
		w.write("\n")
		for n := min(2*depth, indent); n > 0; {
			k := min(n, len(spaces))
			w.write(spaces[:k])
			n -= k
			indent -= k
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\n', '\r':
		case '{', '[':
			w.write(s[i : i+1])
			if j := skipSpace(s, i+1); s[j] == c+2 { // '}' and ']' follow their openers by two
				w.write(s[j : j+1])
				i = j
				continue
			}
			depth++
			newline()
		case '}', ']':
			depth--
			newline()
			w.write(s[i : i+1])
		case ',':
			w.write(",")
			newline()
		case ':':
			w.write(": ")
		case '"':
			end, _ := scanString(s, i)
			w.write(s[i:end])
			i = end - 1
		default:
			w.write(s[i : i+1])
		}
	}
}

const spaces = "                                                                "
