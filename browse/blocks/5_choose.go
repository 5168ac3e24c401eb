package blocks

import (
	"bytes"
	_ "embed"
	"strings"
	"sync"

	"golang.org/x/net/html/atom"

	"web/browse/blocks/internal/score"
)

//go:embed model.bin
var modelFile string

// model is decoded when the first page is judged, not when the program starts.
var model = sync.OnceValue(func() *score.Model {
	m, err := score.Decode([]byte(modelFile))
	if err != nil {
		panic(err) // the file is part of the program
	}
	return m
})

// Bounds of the choice.
const (
	// minModelWords is the number of words below which a page is too small to be judged by a model that has
	// learned from whole pages: there only what says that it is furniture is left out.
	minModelWords = 60
	// maxModelUnits is the number of blocks up to which a page is judged by the model. A page beyond is a book
	// or a dump: its furniture is no part of its bulk that is worth the memory of judging it.
	maxModelUnits = 20_000
	// minPromise is the balance of precision and recall below which isolating is a guess.
	minPromise = 0.25
)

// choose marks the drafts that belong to the main content. It reports whether it gave up and kept all.
func choose(c *collector, facts pageFacts, keep []bool) bool {
	if len(keep) == 0 {
		return false
	}
	if len(keep) > maxModelUnits || c.words() < minModelWords {
		return withoutFurniture(c, keep)
	}
	p := measure(c, facts)
	return selectUnits(c, p, model().Probabilities(p), keep)
}

// words counts the words of all drafts as far as minModelWords asks.
func (c *collector) words() int {
	var f textFacts
	for i := 0; i < len(c.drafts) && f.words < minModelWords; i++ {
		f.read(c.text[c.drafts[i].start:c.drafts[i].end], nil, nil)
	}
	return f.words
}

// withoutFurniture keeps what does not stand in an element that is furniture by its own word. A page of
// nothing but menus and banners has no text; one whose only text is a footer, an aside or the prose that an
// unclosed menu has swallowed is given whole.
func withoutFurniture(c *collector, keep []bool) bool {
	const inFurniture = inTable << 1
	// What a first-level heading stands in is no furniture by its name: it may be a page about cookies.
	titled := make([]bool, len(c.t.nodes))
	for n := range titled {
		if c.t.nodes[n].tag == atom.H1 {
			for up := nodeID(n); up > 0 && !titled[up]; up = c.t.around(up) {
				titled[up] = true
			}
		}
	}
	places := make([]place, len(c.t.nodes))
	for n := c.t.html + 1; int(n) < len(places); n++ {
		if c.t.isElement(n) {
			places[n] = places[c.t.around(n)] | placeOf(c.t, n)
			if !titled[n] && c.isFurniture(n) {
				places[n] |= inFurniture
			}
		}
	}
	kept, text := false, false
	for i := range keep {
		f := places[c.drafts[i].node]
		d := &c.drafts[i]
		text = text || f&(inNav|inFurniture) == 0 || f&inFurniture == 0 && 2*int(d.linkBytes) < int(d.end-d.start)
		keep[i] = f&(inNav|inFurniture) == 0 && (f&inMain != 0 || f&(inFooter|inAside) == 0)
		kept = kept || keep[i]
	}
	if kept || !text {
		return false
	}
	for i := range keep {
		keep[i] = true
	}
	return true
}

// isFurniture reports whether an element is called what it is: a dialog, a cookie banner, a menu.
func (c *collector) isFurniture(id nodeID) bool {
	switch c.t.attr(id, attrRole) {
	case "dialog", "alertdialog":
		return true
	}
	if id <= c.t.body {
		return false
	}
	for _, k := range [...]attrKey{attrClass, attrID} {
		if c.t.hasToken(id, k, "sidebar", "nav", "navbar", "navigation", "menu", "breadcrumb", "breadcrumbs", "footer") {
			return true
		}
	}
	return c.t.nameHas(id, "cookie", "consent", "gdpr", "newsletter")
}

// selectUnits turns probabilities into a choice.
func selectUnits(c *collector, p *score.Page, prob []float32, keep []bool) bool {
	if len(prob) == 0 {
		return false
	}
	article := p.Feat[score.PageSaysArticle] > 0 || p.Feat[score.PageHasArticleData] > 0
	choice := score.Choose(p, prob, article)
	copy(keep, choice.Keep)
	if choice.Promise < minPromise {
		for i := range keep {
			keep[i] = true
		}
		return true
	}
	together(c, p, prob, choice, keep)
	c.completeLists(choice, keep)
	if !article {
		c.keepTopic(prob, choice.Cut, keep)
	}
	return false
}

// topicShare is the part of the cut's probability that a page's topic needs.
const topicShare = 0.4

// keepTopic keeps the last first-level heading before the kept text, which says what the text is about. On
// pages that call themselves articles the model knows better: there it mostly repeats the title.
func (c *collector) keepTopic(prob []float32, cut float32, keep []bool) {
	topic := -1
	for i := range keep {
		if c.drafts[i].kind == Heading && c.drafts[i].level == 1 {
			topic = i
		}
		if keep[i] {
			break
		}
	}
	if topic >= 0 && prob[topic] >= topicShare*cut {
		keep[topic] = true
	}
}

// minListItems is how many items make a list that is judged as a whole.
const minListItems = 3

// contentsShare: a table of contents beside the text is kept where the text is so many times as long. There it
// costs little and says what a reader may look for.
const contentsShare = 17

// listShare: a list of which one item in so many is kept is kept whole.
const listShare = 4

// completeLists keeps the lists that the text around them needs: one that a kept paragraph introduces with a
// colon, one of which a part is kept, and the text's own table of contents, whose entries lead to places on this
// page.
func (c *collector) completeLists(choice score.Choice, keep []bool) {
	size := 0
	for i, k := range keep {
		if k {
			size += int(c.drafts[i].end - c.drafts[i].start)
		}
	}
	c.eachRun(func(i int) bool { return c.drafts[i].kind == ListItem }, func(from, to int) {
		introduced := from > 0 && keep[from-1] && choice.Inside[from] && c.endsInColon(&c.drafts[from-1])
		kept := 0
		for i := from; i < to; i++ {
			if keep[i] && choice.Inside[i] {
				kept++
			}
		}
		// Half a list is worse than none: what is kept of it speaks for the rest.
		if introduced || kept > 0 && listShare*kept >= to-from {
			keepAll(keep[from:to])
		}
	})
	given := make(map[string]bool)
	c.eachRun(func(i int) bool { return c.drafts[i].kind == ListItem && c.leadsHere(&c.drafts[i]) }, func(from, to int) {
		text := c.text[c.drafts[from].start:c.drafts[to-1].end]
		small := contentsShare*len(text) <= size
		// Pages hold a second copy for narrow screens.
		if to-from >= minListItems && (small || choice.Inside[from]) && !given[string(text)] {
			given[string(text)] = true
			keepAll(keep[from:to])
		}
	})
}

// eachRun calls f for every longest run of drafts that belong together.
func (c *collector) eachRun(belongs func(i int) bool, f func(from, to int)) {
	for from := 0; from < len(c.drafts); from++ {
		to := from
		for to < len(c.drafts) && belongs(to) {
			to++
		}
		if to > from {
			f(from, to)
			from = to
		}
	}
}

func keepAll(keep []bool) {
	for i := range keep {
		keep[i] = true
	}
}

func (c *collector) endsInColon(d *draft) bool {
	text := bytes.TrimRight(c.text[d.start:d.end], " \n")
	return bytes.HasSuffix(text, []byte(":")) || bytes.HasSuffix(text, []byte("\uff1a"))
}

// leadsHere reports whether the whole text is a link to a place on the page itself.
func (c *collector) leadsHere(d *draft) bool {
	if 10*int(d.linkBytes) < 8*int(d.end-d.start) {
		return false
	}
	for _, r := range c.runs[d.r0:d.r1] {
		if r.link >= 0 && !strings.HasPrefix(strings.TrimSpace(c.anchors[r.link].href), "#") {
			return false
		}
	}
	return true
}

// together mends a choice by what belongs together: a heading with the text it stands over, the items of one
// list, code and tables with the prose around them.
func together(c *collector, p *score.Page, prob []float32, choice score.Choice, keep []bool) {
	n := len(keep)
	half := choice.Cut / 2
	for from := 0; from < n; {
		to := from + 1
		if c.drafts[from].kind == ListItem {
			list := c.t.nodes[c.drafts[from].item].parent
			for to < n && c.drafts[to].kind == ListItem && c.t.nodes[c.drafts[to].item].parent == list {
				to++
			}
			if to-from >= 3 {
				var kept, all float32
				for i := from; i < to; i++ {
					w := float32(p.Units[i].Words) + 1
					all += w
					if keep[i] {
						kept += w
					}
				}
				for i := from; i < to; i++ {
					switch {
					case kept >= 0.6*all:
						keep[i] = true
					case kept <= 0.25*all && prob[i] < 0.6:
						keep[i] = false
					}
				}
			}
		}
		from = to
	}
	for i := n - 1; i >= 0; i-- {
		d := &c.drafts[i]
		next := i+1 < n && keep[i+1]
		switch {
		case keep[i]:
		case d.kind == Heading:
			keep[i] = next && prob[i] >= half/2
		case d.kind == Code, d.kind == Table:
			before := i > 0 && keep[i-1]
			keep[i] = (before || next) && prob[i] >= half && choice.Inside[i]
		}
	}
}

// Inspection is a page as the training command sees it: every block, what is known of it, and the choice
// that Extract would make for given probabilities.
type Inspection struct {
	Page   *score.Page
	Blocks []Block

	c     *collector
	facts pageFacts
}

// Inspect reads a page for the training command.
func Inspect(src []byte) *Inspection {
	c, facts := read(src, false)
	var doc Document
	keep := make([]bool, len(c.drafts))
	for i := range keep {
		keep[i] = true
	}
	c.deliver(&doc, Options{}, facts, keep)
	return &Inspection{Page: measure(c, facts), Blocks: doc.Blocks, c: c, facts: facts}
}

// Select returns the blocks that Extract would keep if the model gave these probabilities.
func (in *Inspection) Select(prob []float32) []bool {
	keep := make([]bool, len(prob))
	selectUnits(in.c, in.Page, prob, keep)
	return keep
}

// Markdown renders the kept blocks.
func (in *Inspection) Markdown(keep []bool) string {
	var doc Document
	in.c.deliver(&doc, Options{}, in.facts, keep)
	return Markdown(&doc)
}
