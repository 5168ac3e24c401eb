package guard

import (
	"strings"
	"unicode/utf8"

	"web/browse/fault"
)

// ResolveRedirect resolves a Location header against the URL that answered with it. A reference that is empty
// or longer than MaxURLChars is MALFORMED_REDIRECT; the target has the codes of ParseURL. It is not judged.
func ResolveRedirect(base URL, ref string) (URL, *fault.Error) {
	if f := checkReference(ref); f != nil {
		return URL{}, f
	}
	ref, _, _ = strings.Cut(ref, "#")
	scheme, _, found := strings.Cut(ref, ":")
	switch {
	case ref == "":
		return base, nil
	case found && isScheme(scheme):
		return absolute(ref, scheme)
	case strings.HasPrefix(ref, "//"):
		return absolute(base.scheme+":"+ref, base.scheme)
	}
	return relative(base, ref)
}

// ResolveLink resolves the href of a page as browsers do: white space around it trimmed, line breaks inside
// dropped, other white space encoded, backslashes read as slashes, missing slashes after the scheme forgiven.
// base is the page's final URL or, where the page has a base element, that element's href resolved against
// it. A link to a place on the page itself ("#x") gives base. It fails like ResolveRedirect.
func ResolveLink(base URL, ref string) (URL, *fault.Error) {
	ref = strings.TrimFunc(ref, func(r rune) bool { return r <= ' ' })
	ref = lineBreaks.Replace(ref)
	if f := checkReference(ref); f != nil {
		return URL{}, f
	}
	ref, _, _ = strings.Cut(ref, "#")
	before, query, hasQuery := strings.Cut(ref, "?")
	before = strings.ReplaceAll(before, `\`, "/")
	if hasQuery {
		query = "?" + encode(query, ` "<>'`)
	}
	scheme, rest, found := strings.Cut(before, ":")
	scheme = strings.ToLower(scheme)
	switch {
	case before == "" && query == "":
		return base, nil
	case found && isScheme(scheme):
		if !strings.HasPrefix(rest, "//") && scheme == base.scheme {
			return relative(base, linkPath(rest)+query) // "http:x", an old way to write "x"
		}
		return absolute(scheme+"://"+linkAuthority(rest)+query, scheme)
	case strings.HasPrefix(before, "//"):
		return absolute(base.scheme+"://"+linkAuthority(before)+query, base.scheme)
	}
	return relative(base, linkPath(before)+query)
}

var lineBreaks = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// linkPath encodes what the URL standard's path percent-encode set has.
func linkPath(s string) string { return encode(s, " \"<>`{}^") }

// linkAuthority takes any number of slashes for two, and leaves the authority as it is.
func linkAuthority(s string) string {
	authority, path, _ := strings.Cut(strings.TrimLeft(s, "/"), "/")
	return authority + "/" + linkPath(path)
}

func checkReference(ref string) *fault.Error {
	if ref == "" || utf8.RuneCountInString(ref) > MaxURLChars {
		return policyFault(fault.MalformedRedirect, "the page leads to a target that is empty or longer than 8192 characters")
	}
	return nil
}

func absolute(ref, scheme string) (URL, *fault.Error) {
	if s := strings.ToLower(scheme); s != "http" && s != "https" {
		return URL{}, schemeRefused()
	}
	u, f := ParseURL(ref)
	if f == nil {
		u.path = removeDots(u.path)
	}
	return u, f
}

// relative joins a reference that has neither scheme nor authority.
func relative(base URL, ref string) (URL, *fault.Error) {
	path, query, hasQuery := strings.Cut(ref, "?")
	if hasQuery {
		query = "?" + query
	}
	switch {
	case path == "":
		path = base.path
	case path[0] == '/':
		path = removeDots(path)
	default:
		path = removeDots(base.path[:strings.LastIndexByte(base.path, '/')+1] + path)
	}
	return ParseURL(base.origin() + path + query)
}

// removeDots follows the URL standard, which also knows encoded dots; a path never climbs above its root.
func removeDots(path string) string {
	if !strings.Contains(path, "/.") && !strings.Contains(path, "/%2") {
		return path
	}
	segments := strings.Split(path[1:], "/")
	out := segments[:0]
	for i, s := range segments {
		last := i == len(segments)-1
		switch dots(s) {
		case 0:
			out = append(out, s)
			continue
		case 2:
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/")
}

// dots is 1 for ".", 2 for "..", else 0.
func dots(segment string) int {
	if len(segment) > len("%2e%2e") {
		return 0
	}
	switch s := strings.ReplaceAll(strings.ToLower(segment), "%2e", "."); s {
	case ".", "..":
		return len(s)
	}
	return 0
}
