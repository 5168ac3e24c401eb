package blocks

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// minNoscriptChars is the least text, in bytes without white space, for which a <noscript> counts as content.
// Forums put whole threads there; shorter ones ask to switch scripts on or repeat an image.
const minNoscriptChars = 240

// maxHiddenShare is the part of a page's text that aria-hidden may hide. A page that shows a dialog first
// marks everything else so; nobody who reads the page wants that obeyed.
const maxHiddenShare = 0.3

// prune marks what no reader sees: hidden elements, templates, drawings, form controls. It removes nothing,
// so that the counts of what was left out can be taken later.
func prune(t *tree) {
	sizes := textSizes(t)
	total := max(1, sizes[t.html])
	for id := nodeID(1); int(id) < len(t.nodes); id++ {
		n := &t.nodes[id]
		if n.flags&(flagText|flagEndMark) != 0 || id == t.html || id == t.body {
			continue
		}
		switch {
		case hiddenByMarkup(t, id):
			n.flags |= flagHidden
		case n.tag == atom.Noscript && sizes[id] < minNoscriptChars:
			n.flags |= flagDropped
		case dropped(n.tag):
			n.flags |= flagDropped
		case t.attr(id, attrAriaHidden) == "true" && float64(sizes[id]) < maxHiddenShare*float64(total):
			n.flags |= flagHidden
		}
	}
}

// textSizes returns, per element, the bytes of text below it that are not white space.
func textSizes(t *tree) []int32 {
	sizes := make([]int32, len(t.nodes))
	for id := len(t.nodes) - 1; id > 0; id-- {
		n := &t.nodes[id]
		if n.flags&flagText != 0 {
			if p := t.nodes[n.parent].tag; p == atom.Script || p == atom.Title {
				continue
			}
			k := int32(0)
			for _, c := range t.text(nodeID(id)) {
				if !isSpace(c) {
					k++
				}
			}
			sizes[id] = k
		}
		sizes[n.parent] += sizes[id]
	}
	return sizes
}

// dropped reports whether an element never holds readable text of the page.
func dropped(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Template, atom.Head, atom.Title, atom.Svg, atom.Iframe, atom.Noembed, atom.Select,
		atom.Datalist, atom.Option, atom.Optgroup, atom.Textarea, atom.Input, atom.Progress, atom.Meter, atom.Audio,
		atom.Video, atom.Canvas, atom.Object, atom.Map, atom.Annotation, atom.AnnotationXml, atom.Rp, atom.Output:
		return true
	}
	return false
}

func hiddenByMarkup(t *tree, id nodeID) bool {
	n := &t.nodes[id]
	if n.attrCount == 0 {
		return n.tag == atom.Dialog
	}
	if v, ok := t.get(id, attrHidden); ok && !strings.EqualFold(string(v), "until-found") {
		return true
	}
	if n.tag == atom.Dialog {
		if _, ok := t.get(id, attrOpen); !ok {
			return true
		}
	}
	if v, ok := t.get(id, attrStyle); ok && len(v) > 5 {
		if hidingStyle(v) {
			return true
		}
		if bytes.Contains(v, []byte("pre-wrap")) || bytes.Contains(v, []byte("pre-line")) {
			n.flags |= flagPreLine
		}
	}
	if v, ok := t.get(id, attrClass); ok && len(v) > 5 {
		for f := range bytes.FieldsSeq(v) {
			if hidingClass(f) {
				return true
			}
		}
	}
	return false
}

// hidingStyle reads a style attribute as far as it can hide text.
func hidingStyle(v []byte) bool {
	var absolute, away bool
	for decl := range bytes.SplitSeq(v, []byte{';'}) {
		name, value, ok := bytes.Cut(decl, []byte{':'})
		if !ok {
			continue
		}
		name, value = bytes.TrimSpace(name), bytes.TrimSpace(value)
		if i := bytes.IndexByte(value, '!'); i >= 0 {
			value = bytes.TrimSpace(value[:i])
		}
		switch strings.ToLower(string(name)) {
		case "display":
			if bytes.EqualFold(value, []byte("none")) {
				return true
			}
		case "visibility":
			if bytes.EqualFold(value, []byte("hidden")) || bytes.EqualFold(value, []byte("collapse")) {
				return true
			}
		case "font-size":
			if zeroLength(value) {
				return true
			}
		case "position":
			absolute = bytes.EqualFold(value, []byte("absolute")) || bytes.EqualFold(value, []byte("fixed"))
		case "left", "top", "right", "bottom", "text-indent":
			if len(value) > 4 && value[0] == '-' && (bytes.HasSuffix(value, []byte("px")) || bytes.HasSuffix(value, []byte("em"))) &&
				len(bytes.TrimRight(value[1:], "pxem")) >= 4 {
				away = true
				if string(name) == "text-indent" {
					return true
				}
			}
		}
	}
	return absolute && away
}

func zeroLength(v []byte) bool {
	v = bytes.TrimRight(bytes.ToLower(v), "pxremt%")
	if len(v) == 0 {
		return false
	}
	for _, c := range v {
		if c != '0' && c != '.' {
			return false
		}
	}
	return true
}

// hidingClass knows the class names by which the common frameworks hide text from sight.
func hidingClass(c []byte) bool {
	switch string(c) {
	case "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only", "sr_only",
		"u-visually-hidden", "is-visually-hidden", "element-invisible", "offscreen", "off-screen", "assistive-text", "a11y-hidden",
		"screenreader-only", "show-for-sr", "usa-sr-only", "mw-editsection", "noprint-only", "print-only":
		return true
	}
	return false
}

// visibleRunes counts the characters of text below id that are not white space.
func visibleRunes(t *tree, id nodeID) int {
	count := 0
	end := t.skip(id)
	for n := id; n != end && int(n) < len(t.nodes); n++ {
		if t.isText(n) {
			switch t.nodes[t.nodes[n].parent].tag {
			case atom.Script, atom.Style, atom.Title:
				continue
			}
			for _, f := range bytes.Fields(t.text(n)) {
				count += utf8.RuneCount(f)
			}
		}
	}
	return count
}
