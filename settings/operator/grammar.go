package operator

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Each check gives the reason why a value is refused, "" when it is not. No reason quotes the value.

// expand puts the environment into s: "${NAME}" only, once, without an escape. first and unset are names of
// variables, "" when there is none; an unset variable contributes nothing.
func expand(s string, getenv Getenv) (text, first, unset, reason string) {
	if len(s) > MaxStringBytes {
		return "", "", "", "longer than 8192 bytes"
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String(), first, unset, ""
		}
		name, after, closed := strings.Cut(rest, "}")
		switch {
		case !closed:
			return "", "", "", "${ without }"
		case !variableName(name):
			return "", "", "", "${...} that holds no variable's name"
		}
		if first == "" {
			first = name
		}
		v, ok := getenv(name)
		if !ok && unset == "" {
			unset = name
		}
		// Checked before it grows: a short file may name a long variable thousands of times.
		if b.Len()+len(v) > MaxStringBytes {
			return "", "", "", "longer than 8192 bytes"
		}
		b.WriteString(v)
		s = after
	}
}

func variableName(s string) bool {
	if s == "" || len(s) > MaxVariableBytes || '0' <= s[0] && s[0] <= '9' {
		return false
	}
	return only(s, func(c byte) bool { return c == '_' || alnum(c) })
}

func alnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func only(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

// visible is ASCII without spaces and control characters.
func visible(c byte) bool { return '!' <= c && c <= '~' }

func printable(s string, most int) string {
	if s == "" || len(s) > most || !only(s, visible) {
		return "must be 1.." + strconv.Itoa(most) + " visible ASCII characters"
	}
	return ""
}

func model(s string) string { return printable(s, MaxModelBytes) }

func userAgent(s string) string {
	if strings.TrimSpace(s) == "" || len(s) > MaxUserAgentBytes || !only(s, func(c byte) bool { return c == ' ' || visible(c) }) {
		return "must be 1..256 visible ASCII characters and spaces"
	}
	return ""
}

// baseURL holds what is put in front of a path, so nothing may come after its own path.
func baseURL(s string) string {
	u := webURL(s)
	switch {
	case u == nil:
		return "must be an absolute http or https URL with a host"
	case u.User != nil:
		return "must not hold user info"
	case strings.ContainsAny(s, "?#"):
		return "must not have a query or fragment"
	}
	return ""
}

func proxyURL(s string) string {
	u := webURL(s)
	switch {
	case u == nil:
		return "must be an absolute http or https URL with a host"
	case u.Path != "" && u.Path != "/" || strings.ContainsAny(s, "?#"):
		return "must not have a path, query or fragment"
	}
	return ""
}

// webURL is nil when s is no absolute http or https URL of a well-formed host.
func webURL(s string) *url.URL {
	if !only(s, visible) {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" {
		return nil
	}
	name := u.Hostname()
	_, err = netip.ParseAddr(name)
	bracketed := strings.HasPrefix(u.Host, "[")
	if bracketed && (err != nil || !strings.Contains(name, ":")) || !bracketed && err != nil && !hostName(name) {
		return nil
	}
	if strings.HasSuffix(u.Host, ":") || u.Port() != "" && !port(u.Port()) {
		return nil
	}
	return u
}

func storeURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Opaque != "" || !only(s, visible) {
		return "must be a postgres:// or postgresql:// URL"
	}
	return ""
}

func allowEntry(s string) string {
	const wrong = "must be a host, host:port, IP address, IP:port ([IPv6]:port) or CIDR range"
	if strings.Contains(s, "/") {
		return cidr(s)
	}
	if address(s) || hostName(s) {
		return ""
	}
	host, p, ok := cutPort(s)
	if !ok || !port(p) {
		return wrong
	}
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		inner, closed := strings.CutSuffix(inner, "]")
		if closed && strings.Contains(inner, ":") && address(inner) {
			return ""
		}
		return wrong
	}
	if !strings.Contains(host, ":") && (address(host) || hostName(host)) {
		return ""
	}
	return wrong
}

func cutPort(s string) (host, port string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

// address refuses zones, which name an interface of this machine, and IPv4-mapped addresses, which are judged
// as the IPv4 address and so would never match.
func address(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Zone() == "" && !a.Is4In6()
}

func cidr(s string) string {
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return "must be a CIDR range"
	case p.Addr().Is4In6():
		return "must be written as an IPv4 range"
	case p != p.Masked():
		return "must be a CIDR range without host bits" // 10.0.0.5/8 may have been meant as one address
	}
	return ""
}

func port(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && s[0] != '0'
}

// hostName is ASCII; other names have to be written in their xn-- form. A name whose last label is a number
// would be read as a misspelt IPv4 address elsewhere.
func hostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' ||
			!only(l, func(c byte) bool { return c == '-' || c == '_' || alnum(c) }) {
			return false
		}
	}
	return !numeric(labels[len(labels)-1])
}

// numeric follows the URL standard: digits, or a hexadecimal number.
func numeric(label string) bool {
	digits := label
	if hex, ok := strings.CutPrefix(strings.ToLower(label), "0x"); ok {
		return only(hex, func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' })
	}
	return only(digits, func(c byte) bool { return '0' <= c && c <= '9' })
}
