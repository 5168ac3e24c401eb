package formats

import (
	"strings"

	"golang.org/x/net/html"
)

// hiddenTag reports whether a start tag keeps its element from being shown.
func hiddenTag(tag string) bool {
	if !containsFold(tag, "hidden") && !containsFold(tag, "style") && !containsFold(tag, "class") {
		return false
	}
	z := html.NewTokenizer(strings.NewReader(tag))
	if z.Next() != html.StartTagToken {
		return false
	}
	hidden, _ := startTag(z)
	return hidden
}

// containsFold is strings.Contains for a lower-case ASCII word in any case.
func containsFold(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if s[i]|0x20 == word[0] && strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// isVoid reports whether the element never has content.
func isVoid(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr":
		return true
	}
	return false
}

// enclosed finds the end tag of the element whose start tag stands before s: where its content ends, and where the
// tag does. Both are 0 when it is never closed, or when there is no fuel to see that.
func (in *inliner) enclosed(s, name string) (inside, after int) {
	open := 1
	for i := 0; i < len(s) && in.fuel > 0; {
		k := strings.IndexByte(s[i:], '<')
		if k < 0 {
			break
		}
		i += k
		tag, closing := tagName(s[i:])
		if tag != name {
			i++
			continue
		}
		n := inlineTag(s[i:])
		if n <= 0 {
			in.fuel += n
			i++
			continue
		}
		switch {
		case !closing:
			open++
		case open > 1:
			open--
		default:
			return i, i + n
		}
		i += n
	}
	return 0, 0
}

// hider follows an element that is not shown to its end. The zero value is in none.
type hider struct {
	name string
	// depth counts elements of the same name inside, lists the lists and tables.
	depth, lists int
}

// hiding reports whether what comes next is not shown.
func (h *hider) hiding() bool { return h.name != "" }

// start takes a start tag inside the element, and reports whether it is still hidden: HTML lets authors leave out the
// end tags of some elements.
func (h *hider) start(name string) bool {
	switch name {
	case "p", "li", "dt", "dd", "tr", "td", "th", "option":
		if name == h.name && h.lists == 0 {
			*h = hider{}
			return false
		}
	case "ul", "ol", "dl", "table", "select":
		h.lists++
	}
	switch {
	case h.name == "p" && breaks(name) && name != "br":
		*h = hider{}
		return false
	case name == h.name:
		h.depth++
	}
	return true
}

// end takes an end tag inside the element, and reports whether it is hidden too.
func (h *hider) end(name string) bool {
	if name == h.name {
		if h.depth--; h.depth < 0 {
			*h = hider{}
		}
		return true
	}
	switch name {
	case "ul", "ol", "dl", "table", "select":
		if h.lists--; h.lists < 0 {
			switch h.name {
			case "p", "li", "dt", "dd", "tr", "td", "th", "option":
				*h = hider{}
				return false
			}
			h.lists = 0
		}
	}
	return true
}
