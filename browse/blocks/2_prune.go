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

// A page that hides nearly all of its text does so until its scripts have run: nobody wants that obeyed.
// wholePage is the share of the text, and wholePageChars the number of bytes, at which that is assumed.
const (
	wholePage      = 0.8
	wholePageChars = 1000
)

// minPanelChars and minSeenChars are the least text, in bytes, of a closed panel and of a block that is only
// hidden from screen readers, for these to count as readable.
const (
	minPanelChars = 40
	minSeenChars  = 80
)

// prune marks what no reader sees: hidden elements, templates, drawings, form controls. It removes nothing,
// so that the counts of what was left out can be taken later.
func prune(t *tree) {
	findStreamed(t)
	sizes := textSizes(t)
	total := max(1, sizes[t.html])
	t.textBytes = int(total)
	for id := nodeID(1); int(id) < len(t.nodes); id++ {
		n := &t.nodes[id]
		if n.flags&(flagText|flagEndMark) != 0 || id == t.html || id == t.body {
			continue
		}
		size := sizes[id]
		all := float64(size) >= wholePage*float64(total) && size >= wholePageChars
		switch hides(t, id) {
		case hiddenFromAll:
			n.flags |= flagHidden
			continue
		case hiddenUntilOpened:
			if !all && !(size >= minPanelChars && isPanel(t, id)) {
				n.flags |= flagHidden
				continue
			}
		}
		switch {
		case n.tag == atom.Noscript && size < minNoscriptChars:
			n.flags |= flagDropped
		case dropped(n.tag):
			n.flags |= flagDropped
		case n.attrCount > 0 && t.attr(id, attrAriaHidden) == "true":
			// Only screen readers pass it over. In a line of text that is decoration or a second copy; a block of
			// text is there to be read, unless it waits to be laid over the page.
			if !isBlock(n.tag) || size < minSeenChars && !isPanel(t, id) || !all && isOverlay(t, id) || isCopy(t, id) {
				n.flags |= flagHidden
			}
		}
	}
}

// findStreamed pairs the parts of a page that the server streamed later, <div hidden id="S:n">, with the places
// that scripts move them to, <template id="B:n">. React and the frameworks on it write pages so.
func findStreamed(t *tree) {
	parts := make(map[string]nodeID)
	for id := nodeID(1); int(id) < len(t.nodes); id++ {
		if t.isElement(id) && t.nodes[id].attrCount > 0 {
			if v, ok := t.get(id, attrID); ok && len(v) > 2 && v[0] == 'S' && v[1] == ':' {
				parts[string(v[2:])] = id
			}
		}
	}
	if len(parts) == 0 {
		return
	}
	t.streamed = make(map[nodeID]nodeID)
	t.placed = make(map[nodeID]nodeID)
	for id := nodeID(1); int(id) < len(t.nodes); id++ {
		if t.nodes[id].tag != atom.Template {
			continue
		}
		if v, ok := t.get(id, attrID); ok && len(v) > 2 && v[0] == 'B' && v[1] == ':' {
			// A part follows its place. One that was not placed when the walk comes to it is read there.
			if part, ok := parts[string(v[2:])]; ok && part > id {
				t.streamed[id] = part
			}
		}
	}
}

// isPanel reports whether a hidden element is the closed part of tabs or of an accordion, which a reader opens
// with a click, or a part that the server streamed to be put in place.
func isPanel(t *tree, id nodeID) bool {
	switch t.attr(id, attrRole) {
	case "tabpanel", "region":
		return true
	case "dialog", "alertdialog", "menu", "navigation":
		return false
	}
	if v, ok := t.get(id, attrID); ok && len(v) > 2 && v[0] == 'S' && v[1] == ':' {
		return true
	}
	return t.nameHas(id, "accordion", "accordian", "collaps", "tab-pane", "tabpane", "tab-content", "tab__content", "tabbed", "expand", "toggle",
		"faq") && !isOverlay(t, id) && !t.nameHas(id, "nav", "menu")
}

func isOverlay(t *tree, id nodeID) bool {
	switch t.attr(id, attrRole) {
	case "dialog", "alertdialog", "menu", "navigation":
		return true
	}
	return t.nodes[id].tag == atom.Nav || t.nameHas(id, "modal", "dialog", "popup", "overlay", "drawer", "offcanvas", "off-canvas", "cookie", "consent",
		"lightbox", "menu", "nav", "tooltip", "dropdown", "search", "sidebar")
}

// isCopy reports whether the element is a second copy that carousels and marquees make of their parts.
func isCopy(t *tree, id nodeID) bool {
	return t.nameHas(id, "clone", "duplicate", "katex-html", "marquee")
}

// nameHas reports whether the class or the id of an element contains one of the words, case ignored.
func (t *tree) nameHas(id nodeID, words ...string) bool {
	for _, k := range [...]attrKey{attrClass, attrID} {
		v, ok := t.get(id, k)
		if !ok || len(v) == 0 {
			continue
		}
		low := strings.ToLower(string(v))
		for _, w := range words {
			if strings.Contains(low, w) {
				return true
			}
		}
	}
	return false
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
		atom.Video, atom.Canvas, atom.Object, atom.Annotation, atom.AnnotationXml, atom.Rp, atom.Output:
		return true
	}
	return false
}

// hiding is how an element is kept from sight.
type hiding int

const (
	shown hiding = iota
	// hiddenUntilOpened is what scripts use to show the element later: the hidden attribute, display: none.
	hiddenUntilOpened
	// hiddenFromAll is what only hides: type of size zero, a place off the screen, a screen reader's class.
	hiddenFromAll
)

func hides(t *tree, id nodeID) hiding {
	n := &t.nodes[id]
	how := shown
	if n.tag == atom.Dialog {
		if _, ok := t.get(id, attrOpen); !ok {
			return hiddenFromAll
		}
	}
	if n.attrCount == 0 {
		return how
	}
	if v, ok := t.get(id, attrHidden); ok && !strings.EqualFold(string(v), "until-found") {
		how = hiddenUntilOpened
	}
	if v, ok := t.get(id, attrStyle); ok && len(v) > 5 {
		how = max(how, hidingStyle(v))
		if bytes.Contains(v, []byte("pre-wrap")) || bytes.Contains(v, []byte("pre-line")) {
			n.flags |= flagPreLine
		}
	}
	if v, ok := t.get(id, attrClass); ok && len(v) > 5 {
		for f := range bytes.FieldsSeq(v) {
			if hidingClass(f) {
				return hiddenFromAll
			}
		}
	}
	return how
}

// Hides reports whether an attribute by itself keeps its element from being shown, for readers of HTML that build no
// tree. The key is in lower case.
func Hides(key, value string) bool {
	switch key {
	case "hidden":
		return !strings.EqualFold(value, "until-found")
	case "class":
		for class := range strings.FieldsSeq(value) {
			if hidingClass([]byte(class)) {
				return true
			}
		}
	case "style":
		return hidingStyle([]byte(value)) != shown
	}
	return false
}

// hidingStyle reads a style attribute as far as it can hide text. Of two declarations of one property the last
// one counts, as in browsers.
func hidingStyle(v []byte) hiding {
	var absolute, away, none, invisible, tiny, clipped, flat, shrunk, overflowHidden, transparent bool
	for decl := range bytes.SplitSeq(withoutComments(v), []byte{';'}) {
		name, value, ok := bytes.Cut(decl, []byte{':'})
		if !ok {
			continue
		}
		if i := bytes.IndexByte(value, '!'); i >= 0 {
			value = value[:i]
		}
		val := strings.ToLower(string(bytes.TrimSpace(value)))
		switch strings.ToLower(string(bytes.TrimSpace(name))) {
		case "display":
			none = val == "none"
		case "visibility":
			invisible = val == "hidden" || val == "collapse"
		case "content-visibility":
			none = none || val == "hidden"
		case "opacity":
			transparent = zeroLength(val)
		case "font-size":
			tiny = zeroLength(val)
		case "clip":
			clipped = strings.HasPrefix(val, "rect(") && strings.Trim(val[len("rect("):], "01px,. )") == ""
		case "clip-path":
			clipped = val == "inset(50%)" || val == "inset(100%)" || val == "circle(0)" || val == "circle(0px)"
		case "transform":
			shrunk = strings.HasPrefix(val, "scale(0)") || val == "scale(0, 0)" || val == "scale(0,0)"
		case "height", "max-height", "width", "max-width":
			flat = flat || zeroLength(val) || val == "1px"
		case "overflow":
			overflowHidden = strings.HasPrefix(val, "hidden") || val == "clip"
		case "position":
			absolute = val == "absolute" || val == "fixed"
		case "left", "top", "right", "bottom":
			away = away || farAway(val)
		case "text-indent":
			tiny = tiny || farAway(val)
		}
	}
	switch {
	case tiny, absolute && (away || clipped || transparent):
		return hiddenFromAll
	case none, invisible, shrunk, flat && overflowHidden:
		return hiddenUntilOpened
	}
	// Transparent alone is not hidden: half the pages of some site builders fade in.
	return shown
}

func withoutComments(v []byte) []byte {
	open, end := []byte("/*"), []byte("*/")
	if !bytes.Contains(v, open) {
		return v
	}
	var out []byte
	for {
		before, after, ok := bytes.Cut(v, open)
		out = append(out, before...)
		if !ok {
			return out
		}
		_, v, _ = bytes.Cut(after, end)
	}
}

// farAway reports whether an offset of three digits or more moves the element off the screen.
func farAway(v string) bool {
	if len(v) <= 4 || v[0] != '-' || !strings.HasSuffix(v, "px") && !strings.HasSuffix(v, "em") {
		return false
	}
	whole, _, _ := strings.Cut(strings.TrimRight(v[1:], "pxrem"), ".")
	return len(whole) >= 4 || strings.HasSuffix(v, "em") && len(whole) >= 3
}

func zeroLength(v string) bool {
	v = strings.TrimRight(v, "pxremt%vhw ")
	return v != "" && strings.Trim(v, "0.") == ""
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
