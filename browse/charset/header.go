package charset

import (
	"strings"
	"unicode/utf8"
)

const (
	// maxHeaderChars is how much of a Content-Type header is looked at, in code points.
	maxHeaderChars = 512
	// maxLabelBytes is the longest label a header may give.
	maxLabelBytes = 40
)

// cutHeader gives the part of a header that is looked at, and whether that is less than the whole.
func cutHeader(header string) (head string, cut bool) {
	if len(header) <= maxHeaderChars {
		return header, false
	}
	chars := 0
	for i := range header {
		if chars == maxHeaderChars {
			return header[:i], true
		}
		chars++
	}
	return header, false
}

// headerCharset finds the first well-formed charset parameter. malformed is about any of them.
func headerCharset(header string) (label string, malformed bool) {
	head, cut := cutHeader(header)
	malformed = cut
	_, rest, more := strings.Cut(head, ";")
	seen := false
	for more {
		var name, value string
		var ok, whole bool
		name, value, ok, rest, more = parameter(rest)
		// The cut may have made another label of the last parameter, one that was never sent.
		whole = !cut || more || strings.HasPrefix(header[len(head):], ";")
		if name != "charset" || !whole {
			continue
		}
		if seen || !ok || !isLabel(value) {
			malformed = true
		}
		if label == "" && ok && isLabel(value) {
			label = value
		}
		seen = true
	}
	return label, malformed
}

// parameter reads one parameter up to its semicolon. ok is false when it has no value or a broken one.
func parameter(s string) (name, value string, ok bool, rest string, more bool) {
	end := strings.IndexAny(s, "=;")
	if end < 0 {
		return paramName(s), "", false, "", false
	}
	name = paramName(s[:end])
	if s[end] == ';' {
		return name, "", false, s[end+1:], true
	}
	s = strings.TrimLeft(s[end+1:], " \t")
	if !strings.HasPrefix(s, `"`) {
		value, rest, more = strings.Cut(s, ";")
		return name, strings.TrimSpace(value), true, rest, more
	}
	value, s, ok = quoted(s[1:])
	// Whatever stands between the closing quote and the semicolon belongs to no value.
	tail, rest, more := strings.Cut(s, ";")
	return name, value, ok && strings.TrimSpace(tail) == "", rest, more
}

// quoted reads a quoted string, whose opening quote is gone, with its escapes resolved.
func quoted(s string) (value, rest string, closed bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), "", false
}

func paramName(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// isLabel reports whether s may be the name of a charset at all.
func isLabel(s string) bool {
	if s == "" || len(s) > maxLabelBytes {
		return false
	}
	for i, c := range []byte(s) {
		alnum := c < utf8.RuneSelf && ('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z')
		if !alnum && (i == 0 || !strings.ContainsRune("._+-", rune(c))) {
			return false
		}
	}
	return true
}

// isToken reports whether s is a token of HTTP (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for _, c := range []byte(s) {
		alnum := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !alnum && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
