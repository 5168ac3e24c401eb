package blocks

import (
	"net/url"
	"strings"
)

// maxHref bounds an address in bytes; a longer one is no link.
const maxHref = 8 << 10

// Resolve resolves ref against base as browsers do and returns it in normal form: absolute, http or https,
// host in lower case, default port and fragment gone, bytes outside ASCII percent-encoded. It is what
// Extract uses when Options.Resolve is nil. The second result is false where that gives no web address.
func Resolve(base, ref string) (string, bool) {
	ref = trimRef(ref)
	if len(ref) > maxHref {
		return "", false
	}
	b, err := url.Parse(base)
	if err != nil {
		b = &url.URL{}
	}
	u, err := b.Parse(encodeRef(ref))
	if err != nil {
		return "", false
	}
	u.Scheme = strings.ToLower(u.Scheme)
	u.Host = strings.ToLower(u.Host)
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Opaque != "" {
		return "", false
	}
	if p := u.Port(); p == "80" && u.Scheme == "http" || p == "443" && u.Scheme == "https" || strings.HasSuffix(u.Host, ":") {
		u.Host = u.Host[:strings.LastIndexByte(u.Host, ':')]
	}
	u.Fragment, u.RawFragment = "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), true
}

// trimRef takes off what browsers ignore: white space and controls around, tabs and newlines within.
func trimRef(s string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	if strings.ContainsAny(s, "\t\n\r") {
		s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	}
	return s
}

// encodeRef percent-encodes the bytes that may not stand in an address but do on real pages, and turns the
// backslashes of a path into slashes.
func encodeRef(s string) string {
	plain := true
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' || c == '\\' || c == '^' || c == '`' || c == '{' || c == '|' || c == '}' || c == '%' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	// An international host name stays as it is: encoding is for what follows it.
	i := 0
	if at := strings.Index(s, "//"); at >= 0 && !strings.ContainsAny(s[:at], "/?#") {
		end := strings.IndexAny(s[at+2:], "/?#\\")
		if end < 0 {
			return s
		}
		i = at + 2 + end
		b.WriteString(s[:i])
	}
	query := false
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && !query:
			b.WriteByte('/')
		case c == '%' && !(i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])),
			c <= ' ', c >= 0x7f, c == '"', c == '<', c == '>', c == '\\', c == '^', c == '`', c == '{', c == '|', c == '}':
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			query = query || c == '?' || c == '#'
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
