package blocks

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// nodeID is an index into tree.nodes; 0 is the root, and stands for "none" as a sibling or child.
type nodeID int32

// node is one element, text or mark. It is kept small and free of pointers: a page of 10 MB has about half
// a million of them, and a tree of the usual pointer nodes would alone break the memory bound.
type node struct {
	parent, first, last, next nodeID
	// tag is the element's name; 0 for text and for elements that HTML does not know.
	tag atom.Atom
	// off and len locate text in tree.src, or in tree.extra when flagDecoded is set; of an element that HTML
	// does not know they locate its name in tree.extra.
	off, len  uint32
	attr      uint32
	attrCount uint16
	flags     uint16
}

const (
	flagText uint16 = 1 << iota
	flagDecoded
	// flagEndMark is a formatting element's end that came while blocks were still open inside it: the
	// element named by off is over from here on, though the tree still nests under it.
	flagEndMark
	flagHidden
	flagForeign
	flagDropped
	flagMoved   // a streamed part that was read at its placeholder
	flagPreLine // style="white-space: pre", pre-wrap or pre-line
	// flagEnded is set on a formatting element that an end mark refers to.
	flagEnded
)

// attribute is one kept attribute; its value lies in tree.extra.
type attribute struct {
	key      attrKey
	off, len uint32
}

// attrKey names the attributes that extraction looks at. All others are dropped while parsing.
type attrKey uint8

const (
	attrNone attrKey = iota
	attrAlt
	attrAriaHidden
	attrAriaLevel
	attrAriaModal
	attrClass
	attrColspan
	attrContent
	attrDataLang
	attrDatetime
	attrHidden
	attrHref
	attrID
	attrItemprop
	attrItemtype
	attrLang
	attrName
	attrOpen
	attrProperty
	attrRel
	attrRole
	attrRowspan
	attrSrc
	attrStart
	attrStyle
	attrSummary
	attrType
	attrValue
)

func attrKeyOf(name []byte) attrKey {
	switch string(name) {
	case "alt":
		return attrAlt
	case "aria-hidden":
		return attrAriaHidden
	case "aria-level":
		return attrAriaLevel
	case "aria-modal":
		return attrAriaModal
	case "class":
		return attrClass
	case "colspan":
		return attrColspan
	case "content":
		return attrContent
	case "data-lang", "data-language":
		return attrDataLang
	case "datetime":
		return attrDatetime
	case "hidden":
		return attrHidden
	case "href":
		return attrHref
	case "id":
		return attrID
	case "itemprop":
		return attrItemprop
	case "itemtype":
		return attrItemtype
	case "lang", "xml:lang":
		return attrLang
	case "name":
		return attrName
	case "open":
		return attrOpen
	case "property":
		return attrProperty
	case "rel":
		return attrRel
	case "role":
		return attrRole
	case "rowspan":
		return attrRowspan
	case "src":
		return attrSrc
	case "start":
		return attrStart
	case "style":
		return attrStyle
	case "summary":
		return attrSummary
	case "type":
		return attrType
	case "value":
		return attrValue
	}
	return attrNone
}

// tree is a parsed page. Nodes stand in document order, so a parent's index is below its children's.
type tree struct {
	src   []byte
	extra []byte
	nodes []node
	attrs []attribute

	html, head, body nodeID
	jsonLD           []nodeID // text nodes
	scriptBytes      int
	scriptCount      int
	dataURIs         int
	textBytes        int // without white space, hidden text included
	// streamed maps a placeholder to the part of the page that belongs in its place.
	streamed map[nodeID]nodeID
	// placed is, for a part that was read at its placeholder, the element that the placeholder stands in.
	placed map[nodeID]nodeID
	// recovered is set when the page nested deeper than maxDepth and was flattened there.
	recovered bool
	// merged is set when the page has more than maxNodes; rest is then the text of what came after them.
	merged bool
	rest   []byte
}

func (t *tree) text(id nodeID) []byte {
	n := &t.nodes[id]
	if n.flags&flagDecoded != 0 {
		return t.extra[n.off : n.off+n.len]
	}
	return t.src[n.off : n.off+n.len]
}

// get returns the value of an attribute, and whether the element has it.
func (t *tree) get(id nodeID, key attrKey) ([]byte, bool) {
	n := &t.nodes[id]
	for _, a := range t.attrs[n.attr : n.attr+uint32(n.attrCount)] {
		if a.key == key {
			return t.extra[a.off : a.off+a.len], true
		}
	}
	return nil, false
}

func (t *tree) attr(id nodeID, key attrKey) string {
	v, _ := t.get(id, key)
	return string(v)
}

// hasToken reports whether the space-separated attribute holds one of the tokens, case ignored.
func (t *tree) hasToken(id nodeID, key attrKey, tokens ...string) bool {
	v, ok := t.get(id, key)
	if !ok || len(v) == 0 {
		return false
	}
	for f := range strings.FieldsSeq(string(v)) {
		for _, want := range tokens {
			if strings.EqualFold(f, want) {
				return true
			}
		}
	}
	return false
}

// around returns the element that id stands in for a reader: its parent, unless it was moved.
func (t *tree) around(id nodeID) nodeID {
	if t.nodes[id].flags&flagMoved != 0 {
		return t.placed[id]
	}
	return t.nodes[id].parent
}

func (t *tree) isText(id nodeID) bool { return t.nodes[id].flags&flagText != 0 }

func (t *tree) isElement(id nodeID) bool { return t.nodes[id].flags&(flagText|flagEndMark) == 0 }

// skip returns the node after the subtree of id in document order, or 0 at the end of the page.
func (t *tree) skip(id nodeID) nodeID {
	for id != 0 {
		if next := t.nodes[id].next; next != 0 {
			return next
		}
		id = t.nodes[id].parent
	}
	return 0
}

// isBlock reports whether browsers show the element as a block by default.
func isBlock(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center, atom.Dd,
		atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure,
		atom.Footer, atom.Form, atom.Frameset, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header,
		atom.Hgroup, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav,
		atom.Noscript, atom.Ol, atom.Optgroup, atom.Option, atom.P, atom.Plaintext, atom.Pre, atom.Section, atom.Summary,
		atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul, atom.Xmp, atom.Search:
		return true
	}
	return false
}

func headingLevel(a atom.Atom) int {
	switch a {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 0
}
