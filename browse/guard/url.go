package guard

import (
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"web/browse/fault"
)

// MaxURLChars is the greatest length of a URL in Unicode characters, before and after normalisation.
const MaxURLChars = 8192

// URL is a web address in its one normal form (contract section 4.3): scheme and host in lower case, the host
// in ASCII without trailing dots, an explicit port kept, no fragment, no user info, all bytes printable ASCII.
// URLs of the same spelling are equal under ==. The zero value is no URL.
type URL struct {
	scheme string     // http or https
	host   string     // without brackets; as spelled when it is an IPv6 address
	port   uint16     // 0 when the URL states none
	path   string     // starts with a slash
	query  string     // with its question mark, or empty
	addr   netip.Addr // the host as an address; invalid when it is a name
}

// ParseURL reads an absolute http or https URL that somebody gave. Host names in other scripts become their
// IDNA form, look-alikes of digits and dots included, so what is judged is what would be resolved. A host
// that ends in a number and is no dotted quad without leading zeros (127.1, 0x7f.1, 0177.0.0.1, 2130706433)
// is MALFORMED_URL: resolvers disagree on what it means.
func ParseURL(s string) (URL, *fault.Error) {
	if s == "" {
		return URL{}, malformed("the URL is empty")
	}
	if utf8.RuneCountInString(s) > MaxURLChars {
		return URL{}, malformed("the URL is longer than 8192 characters")
	}
	for _, r := range s {
		if r < ' ' || unicode.IsSpace(r) {
			return URL{}, malformed("the URL holds white space or a control character")
		}
	}
	scheme, rest, found := strings.Cut(s, "://")
	if !found || !isScheme(scheme) {
		return URL{}, malformed("the URL does not start with http:// or https://")
	}
	u := URL{scheme: strings.ToLower(scheme)}
	if !u.web() {
		return URL{}, schemeRefused()
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	switch {
	case strings.Contains(authority, "@"):
		return URL{}, policyFault(fault.UserinfoForbidden, "the URL holds user information")
	case authority == "":
		return URL{}, noHostname()
	}
	if f := u.setAuthority(authority); f != nil {
		return URL{}, f
	}
	rest, _, _ = strings.Cut(rest, "#")
	path, query, _ := strings.Cut(rest, "?")
	u.path = "/"
	if path != "" {
		u.path = encode(path, "")
	}
	if query != "" {
		u.query = "?" + encode(query, "")
	}
	// The normal form is parsed again when it comes back as a ref, so it has to be within the limit as well.
	if len(u.String()) > MaxURLChars {
		return URL{}, malformed("the URL is longer than 8192 characters once it is percent-encoded")
	}
	return u, nil
}

func schemeRefused() *fault.Error {
	return policyFault(fault.SchemeNotAllowed, "only http and https URLs can be opened")
}

func noHostname() *fault.Error {
	return policyFault(fault.NoHostname, "the URL has no host name")
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		letter := 'a' <= c && c <= 'z'
		other := '0' <= s[i] && s[i] <= '9' || s[i] == '+' || s[i] == '.' || s[i] == '-'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return s != ""
}

func (u *URL) web() bool { return u.scheme == "http" || u.scheme == "https" }

func (u *URL) setAuthority(authority string) *fault.Error {
	host, port, hasPort := authority, "", false
	if inner, ok := strings.CutPrefix(authority, "["); ok {
		inner, after, closed := strings.Cut(inner, "]")
		if !closed || after != "" && after[0] != ':' {
			return malformed("the host of the URL is malformed")
		}
		addr, ok := ipv6(inner)
		if !ok {
			return malformed("the host of the URL is malformed")
		}
		u.host, u.addr = addr.String(), addr
		if addr.Zone() == "" {
			u.host = strings.ToLower(inner)
		}
		port, hasPort = strings.CutPrefix(after, ":")
	} else {
		host, port, hasPort = strings.Cut(authority, ":")
		if strings.Contains(port, ":") {
			return malformed("the host of the URL is malformed")
		}
		var f *fault.Error
		if u.host, u.addr, f = hostname(host); f != nil {
			return f
		}
	}
	if hasPort {
		var ok bool
		if u.port, ok = parsePort(port); !ok {
			return malformed("the port of the URL is malformed")
		}
	}
	return nil
}

// parsePort wants 1 to 5 digits, 1..65535.
func parsePort(s string) (uint16, bool) {
	if len(s) > 5 || !digits(s) {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err == nil && n > 0
}

// ipv6 reads what stands in brackets. A zone is read, in its RFC 6874 spelling and in the bare one that other
// programs take, only so that it can be refused with the address's own code.
func ipv6(s string) (netip.Addr, bool) {
	bare, zone, zoned := strings.Cut(s, "%")
	zone = strings.TrimPrefix(zone, "25")
	addr, err := netip.ParseAddr(bare)
	if err != nil || !addr.Is6() || zoned && (zone == "" || !only(zone, func(c byte) bool { return nameByte(c) || c == '.' || c == '~' })) {
		return netip.Addr{}, false
	}
	return addr.WithZone(zone), true
}

// profile is the URL standard's "domain to ASCII": UTS 46 without the rules that real host names break. It
// is made when a name first needs it, as most runs see none.
var profile = sync.OnceValue(func() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(),
		idna.CheckHyphens(false), idna.StrictDomainName(false), idna.VerifyDNSLength(false))
})

// Limits of DNS (RFC 1035, section 2.3.4), in bytes; a name beyond them has no address.
const (
	maxNameBytes  = 253
	maxLabelBytes = 63
)

// hostname gives a host its ASCII form and reads it as an address where it is one.
func hostname(s string) (string, netip.Addr, *fault.Error) {
	wrong := func() (string, netip.Addr, *fault.Error) {
		return "", netip.Addr{}, malformed("the host of the URL is malformed")
	}
	if !only(s, func(c byte) bool { return c < utf8.RuneSelf }) {
		ascii, err := profile().ToASCII(s)
		if err != nil || !utf8.ValidString(s) {
			return wrong()
		}
		s = ascii
	}
	s = strings.TrimRight(strings.ToLower(s), ".")
	if s == "" {
		return "", netip.Addr{}, noHostname()
	}
	if len(s) > maxNameBytes {
		return wrong()
	}
	var label string
	for label = range strings.SplitSeq(s, ".") {
		// After mapping, as it can make a slash, a colon or an at sign out of one letter.
		if label == "" || len(label) > maxLabelBytes || !only(label, nameByte) {
			return wrong()
		}
	}
	if !numeric(label) {
		return s, netip.Addr{}, nil
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return wrong()
	}
	return s, addr, nil
}

// numeric is the URL standard's test on the last label for "this is an IPv4 address or nothing".
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return only(hex, func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' })
	}
	return digits(label)
}

func digits(s string) bool {
	return s != "" && only(s, func(c byte) bool { return '0' <= c && c <= '9' })
}

// nameByte also takes the underscore, which no host name may have and many have.
func nameByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

func only(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

// encode percent-encodes each byte that is not printable ASCII, and those in also. What is encoded already
// stays, a stray percent sign too: the server knows what it meant.
func encode(s, also string) string {
	const hex = "0123456789ABCDEF"
	plain := func(c byte) bool { return ' ' <= c && c <= '~' && strings.IndexByte(also, c) < 0 }
	if only(s, plain) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if plain(s[i]) {
			b.WriteByte(s[i])
		} else {
			b.Write([]byte{'%', hex[s[i]>>4], hex[s[i]&15]})
		}
	}
	return b.String()
}

// IsZero reports whether u is no URL at all.
func (u URL) IsZero() bool { return u.scheme == "" }

// Scheme is "http" or "https".
func (u URL) Scheme() string { return u.scheme }

// Hostname is the host without port and brackets, in lower-case ASCII.
func (u URL) Hostname() string { return u.host }

// Addr is the host as an address; it is not valid when the host is a name.
func (u URL) Addr() netip.Addr { return u.addr }

// Port is the port that is connected to.
func (u URL) Port() uint16 {
	if u.port == 0 {
		return u.defaultPort()
	}
	return u.port
}

// DefaultPort reports whether Port is the usual one of the scheme, stated or not.
func (u URL) DefaultPort() bool { return u.Port() == u.defaultPort() }

func (u URL) defaultPort() uint16 {
	if u.scheme == "https" {
		return 443
	}
	return 80
}

func (u URL) portText() string { return strconv.Itoa(int(u.Port())) }

// Host is the value of the Host header: the port only when it is not the scheme's own.
func (u URL) Host() string {
	host := bracketed(u.host)
	if u.DefaultPort() {
		return host
	}
	return host + ":" + u.portText()
}

// Path starts with a slash and is percent-encoded, though perhaps not everywhere correctly.
func (u URL) Path() string { return u.path }

// RawQuery is the query without its question mark.
func (u URL) RawQuery() string { return strings.TrimPrefix(u.query, "?") }

func (u URL) origin() string {
	host := bracketed(u.host)
	if u.port != 0 {
		host += ":" + strconv.Itoa(int(u.port))
	}
	return u.scheme + "://" + host
}

// String is the normal form, the one spelling that is shown, stored and compared. Empty for the zero value.
func (u URL) String() string {
	if u.IsZero() {
		return ""
	}
	return u.origin() + u.path + u.query
}

func bracketed(host string) string {
	if !strings.Contains(host, ":") {
		return host
	}
	return "[" + strings.Replace(host, "%", "%25", 1) + "]" // RFC 6874 has the zone's sign encoded
}
