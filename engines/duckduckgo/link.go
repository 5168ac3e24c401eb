package duckduckgo

import (
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxUnwrap bounds wrappers inside wrappers; two were seen, around advertisements.
const maxUnwrap = 4

type verdict int

const (
	linkOrganic verdict = iota
	linkAd
	// linkUnsafe is not http or https, has no host, or holds user info or characters that do not show.
	linkUnsafe
	// linkBroken cannot be read, wraps nothing, or leads to DuckDuckGo itself.
	linkBroken
)

// follow judges the link of a result and returns its target, byte for byte. Only DuckDuckGo's own /l/ is a
// wrapper and only its own y.js an advertisement: other sites have such paths and parameters too.
func follow(href string, base *url.URL) (string, verdict) {
	// An attribute may be broken over lines; the URL standard takes that out.
	s := strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(href)
	s = strings.Trim(s, " \f")
	if strings.HasPrefix(s, "//") {
		s = base.Scheme + ":" + s
	}
	for depth := range maxUnwrap {
		if s == "" || !utf8.ValidString(s) {
			return "", linkBroken
		}
		if strings.ContainsFunc(s, misleading) {
			return "", linkUnsafe
		}
		u, err := parseURL(s)
		if err != nil {
			return "", linkBroken
		}
		if u.Scheme == "" {
			if depth > 0 {
				return "", linkBroken
			}
			u = base.ResolveReference(u)
			s = u.String()
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Hostname() == "" {
			return "", linkUnsafe
		}
		switch {
		case !ownHost(u):
			return s, linkOrganic
		case u.Path == "/y.js":
			return "", linkAd
		case u.Path != "/l/":
			return "", linkBroken
		}
		// Query has decoded once, and once is right. A value it could not decode is missing here.
		s = u.Query().Get("uddg")
	}
	return "", linkBroken
}

// parseURL is url.Parse, except that a stray per cent sign behind the host does no harm: browsers open such
// addresses, so they are results.
func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	var escape url.EscapeError
	if !errors.As(err, &escape) {
		return u, err
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return nil, err
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return url.Parse(scheme + "://" + rest)
}

func ownHost(u *url.URL) bool {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	return host == "duckduckgo.com" || strings.HasSuffix(host, ".duckduckgo.com")
}
