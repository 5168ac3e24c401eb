package fetch

import (
	"bytes"
	"context"
	"strings"

	"web/browse/fault"
	"web/browse/guard"
)

// robotsBytes is how much of a robots.txt is read (RFC 9309 2.5 asks for at least 500 KiB); the rest is ignored.
const robotsBytes int64 = 512 << 10

// Robots are the rules of one robots.txt for one product token (RFC 9309). The zero value allows everything.
type Robots struct {
	rules []robotsRule
}

type robotsRule struct {
	allow   bool
	pattern string // percent-encoding normalised; * is a wildcard
	exact   bool   // the pattern ended in $
}

// ParseRobots reads a robots.txt, whatever its bytes, and keeps the rules for a product token: those of all its
// groups, or else those of all groups for *.
func ParseRobots(text []byte, token string) Robots {
	var own, others []robotsRule
	named, inNames := false, false // own group seen; the last line that counted was a user-agent line
	forOwn, forOthers := false, false
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	for line := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		name, v := strings.ToLower(string(bytes.TrimSpace(key))), string(bytes.TrimSpace(value))
		switch name {
		case "user-agent":
			if !inNames {
				forOwn, forOthers = false, false
			}
			inNames = true
			switch {
			case strings.HasPrefix(v, "*"):
				forOthers = true
			case token != "" && strings.EqualFold(productToken(v), token):
				forOwn, named = true, true
			}
		case "allow", "disallow":
			inNames = false
			if v == "" {
				continue
			}
			rule := newRobotsRule(name == "allow", v)
			if forOwn {
				own = append(own, rule)
			}
			if forOthers {
				others = append(others, rule)
			}
		}
	}
	if named {
		return Robots{own}
	}
	return Robots{others}
}

// productToken is the part of a User-Agent that a robots.txt addresses.
func productToken(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r|0x20 && r|0x20 <= 'z' || r == '_' || r == '-')
	})
	if end < 0 {
		return s
	}
	return s[:end]
}

func newRobotsRule(allow bool, pattern string) robotsRule {
	pattern, exact := strings.CutSuffix(pattern, "$")
	return robotsRule{allow: allow, pattern: normalEscapes(pattern, true), exact: exact}
}

// Allowed tells whether a path with its query may be fetched: the longest rule that matches decides, and
// between equals the one that allows.
func (r Robots) Allowed(target string) bool {
	path, _, _ := strings.Cut(target, "?")
	if path == "/robots.txt" {
		return true
	}
	target = normalEscapes(target, false)
	allowed, length := true, -1
	for _, rule := range r.rules {
		n := len(rule.pattern)
		if n < length || n == length && !rule.allow {
			continue
		}
		if rule.matches(target) {
			allowed, length = rule.allow, n
		}
	}
	return allowed
}

// matches compares piece by piece from the left: the earliest place of a piece leaves most room for the rest,
// so no choice is ever taken back.
func (r robotsRule) matches(target string) bool {
	first, rest, wild := strings.Cut(r.pattern, "*")
	target, ok := strings.CutPrefix(target, first)
	if !ok {
		return false
	}
	for wild {
		var piece string
		piece, rest, wild = strings.Cut(rest, "*")
		if !wild && r.exact {
			return strings.HasSuffix(target, piece)
		}
		i := strings.Index(target, piece)
		if i < 0 {
			return false
		}
		target = target[i+len(piece):]
	}
	return !r.exact || target == ""
}

// normalEscapes makes equal URLs equal strings (RFC 9309 2.2.2): unreserved characters bare, other escapes in
// upper case, and escapes for what is not ASCII or means something in a pattern.
func normalEscapes(s string, pattern bool) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		escaped := false
		if c == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi >= 0 && lo >= 0 {
				c, escaped = byte(hi<<4|lo), true
				i += 2
			}
		}
		switch {
		case isUnreserved(c),
			!escaped && c > ' ' && c < 0x7f && c != '*' && c != '$',
			!escaped && c == '*' && pattern:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
		}
	}
	return b.String()
}

func isUnreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// robotsGate asks each origin once per call.
type robotsGate struct {
	client Client
	asked  map[string]Robots // by the URL of the robots.txt
}

func (c Client) newRobotsGate() *robotsGate {
	return &robotsGate{c, map[string]Robots{}}
}

func (g *robotsGate) allow(ctx context.Context, u guard.URL) *fault.Error {
	at, f := guard.ResolveRedirect(u, "/robots.txt")
	if f != nil {
		return f
	}
	rules, ok := g.asked[at.String()]
	if !ok {
		if rules, f = g.client.robots(ctx, at); f != nil {
			return f
		}
		g.asked[at.String()] = rules
	}
	if rules.Allowed(requestTarget(u)) {
		return nil
	}
	return disallowed()
}

// robots gets the rules at a URL. None there means that all is allowed; a site that cannot be asked is taken
// to refuse (RFC 9309 2.3.1).
func (c Client) robots(ctx context.Context, at guard.URL) (Robots, *fault.Error) {
	res, f := c.follow(ctx, at, journey{limit: robotsBytes, cut: true})
	if f == nil {
		return ParseRobots(res.Body, productToken(c.UserAgent)), nil
	}
	if gone := spent(ctx); gone != nil {
		return Robots{}, f
	}
	switch {
	case f.HTTPStatus >= 400 && f.HTTPStatus < 500, f.Code == fault.TooManyRedirects, f.Code == fault.MissingLocation:
		return Robots{}, nil
	}
	return Robots{}, disallowed().WithCause(f)
}

func disallowed() *fault.Error {
	return fault.New(fault.RobotsDisallowed, "the site's robots.txt does not admit this page",
		"use another source; only the operator can change network.robots")
}
