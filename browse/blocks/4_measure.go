package blocks

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"

	"web/browse/blocks/internal/score"
)

// Bounds of the measuring pass.
const (
	maxTextTokens = 48 // words of a block that are looked up
	maxElemTokens = 24
	wholeWords    = 6  // a block of up to so many words is also looked up as a whole
	sentenceWords = 10 // a block of so many words and a full stop reads as prose
	groupSize     = 3  // so many siblings of one shape are a repeated structure
	maxNameBytes  = 40
	minVoteBytes  = 25 // a paragraph this long says where the text of the page is
)

// place says what kind of elements a block stands in, whatever the distance.
type place uint16

const (
	inNav place = 1 << iota
	inFooter
	inAside
	inHeader
	inMain
	inForm
	inNoscript
	inTable
)

// placeOf is what the element itself adds.
func placeOf(t *tree, id nodeID) place {
	n := &t.nodes[id]
	switch n.tag {
	case atom.Nav:
		return inNav
	case atom.Footer:
		return inFooter
	case atom.Aside:
		return inAside
	case atom.Header:
		return inHeader
	case atom.Main, atom.Article:
		return inMain
	case atom.Form:
		return inForm
	case atom.Noscript:
		return inNoscript
	case atom.Table:
		return inTable
	}
	if n.attrCount == 0 {
		return 0
	}
	switch t.attr(id, attrRole) {
	case "navigation", "menu", "menubar":
		return inNav
	case "contentinfo":
		return inFooter
	case "complementary":
		return inAside
	case "banner":
		return inHeader
	case "main", "article":
		return inMain
	}
	return 0
}

// measure turns drafts into the numbers that the chooser works on.
func measure(c *collector, facts pageFacts) *score.Page {
	t := c.t
	p := &score.Page{}
	if len(c.drafts) == 0 {
		return p
	}
	// Elements with drafts below them, in document order: parents come first.
	index := make([]int32, len(t.nodes))
	count := int32(0)
	for i := range c.drafts {
		for n := c.drafts[i].node; n > 0 && index[n] == 0; n = t.around(n) {
			index[n] = 1
		}
	}
	index[0] = 0
	var nodes []nodeID
	for n := range index {
		if index[n] != 0 {
			count++
			index[n] = count
			nodes = append(nodes, nodeID(n))
		}
	}
	p.Elems = make([]score.Elem, count)
	flags := make([]place, count)
	depth := make([]int32, count)
	sig := make([]uint64, count)
	groups := make(map[uint64]int32, count)
	var tokens []score.Token
	type span struct{ from, to int }
	spans := make([]span, count)
	var tb tokenBuffer
	for i, n := range nodes {
		x := &t.nodes[n]
		parent := index[t.around(n)] - 1
		p.Elems[i].Parent = parent
		var f place
		if parent >= 0 {
			f = flags[parent]
			depth[i] = depth[parent] + 1
		}
		f |= placeOf(t, n)
		flags[i] = f
		from := len(tokens)
		tokens = tb.element(tokens, t, n)
		spans[i] = span{from, len(tokens)}
		h := uint64(score.Hash('s', t.attrBytes(n, attrClass)))<<32 | uint64(x.tag)
		sig[i] = h*31 + uint64(parent+1)*0x9e3779b97f4a7c15
		groups[sig[i]]++
	}
	for i, s := range spans {
		p.Elems[i].Tokens = tokens[s.from:s.to:s.to]
	}

	// What stands in each block.
	n := len(c.drafts)
	p.Units = make([]score.Unit, n)
	linkBytes := make([]int32, count)
	allBytes := make([]int32, count)
	prose := make([]int32, count)
	heads := make([]int32, count)
	first := make([]int32, count)
	rank := make([]float32, count)
	for i := range first {
		first[i] = -1
	}
	title := titleWords(facts.title)
	seen := make(map[score.Token]int, n)
	var words, chars, links, proseUnits, proseWords, prices, dates, codes, tableWords, listWords, h1s, h23s, wide, noscripts int
	h1 := -1
	wordTokens := make([]score.Token, 0, min(len(c.text)/4, n*maxTextTokens))
	texts := make([]textFacts, n)
	for i := range c.drafts {
		d := &c.drafts[i]
		tf := &texts[i]
		from := len(wordTokens)
		wordTokens = tf.read(c.text[d.start:d.end], wordTokens, title)
		u := &p.Units[i]
		u.Elem = index[d.node] - 1
		u.Words = int32(tf.words)
		u.Tokens = wordTokens[from:len(wordTokens):len(wordTokens)]
		if tf.words <= wholeWords {
			u.Whole = tf.whole
		}
		if tf.words >= 4 {
			seen[tf.whole]++
		}
		size := int(d.end - d.start)
		words += tf.words
		chars += size
		links += int(d.linkBytes)
		wide += tf.wide
		isProse := tf.words >= sentenceWords && tf.stops > 0 && 3*int(d.linkBytes) < 2*size
		if isProse {
			proseUnits++
			proseWords += tf.words
		}
		switch d.kind {
		case Code:
			codes++
		case Table:
			tableWords += tf.words
		case ListItem:
			listWords += tf.words
		case Heading:
			if d.level == 1 {
				h1s++
				if h1 < 0 {
					h1 = i
				}
			} else if d.level <= 3 {
				h23s++
			}
		}
		if tf.price {
			prices++
		}
		if tf.date {
			dates++
		}
		e := u.Elem
		if flags[e]&inNoscript != 0 {
			noscripts += tf.words
		}
		allBytes[e] += int32(size)
		linkBytes[e] += d.linkBytes
		p.Elems[e].Units++
		p.Elems[e].Words += int32(tf.words)
		if isProse {
			prose[e] += int32(tf.words)
		}
		if size >= minVoteBytes && (d.kind == Paragraph || d.kind == Quote || d.kind == Code) {
			// A paragraph votes for the elements around it: fully for its parent, half for the next, then less.
			vote := float32(1+tf.commas) + min(float32(size)/100, 3)
			q := e
			if d.node > t.html && (t.nodes[d.node].tag == atom.P || p.Elems[e].Units == 1) {
				q = p.Elems[e].Parent
			}
			for k := 0; q >= 0 && k < 5; k++ {
				switch k {
				case 0:
					rank[q] += vote
				case 1:
					rank[q] += vote / 2
				default:
					rank[q] += vote / float32(3*k)
				}
				q = p.Elems[q].Parent
			}
		}
		if d.kind == Heading {
			heads[e]++
		}
		if first[e] < 0 {
			first[e] = int32(i)
		}
	}
	for e := int(count) - 1; e > 0; e-- {
		q := p.Elems[e].Parent
		if q < 0 {
			continue
		}
		p.Elems[q].Units += p.Elems[e].Units
		p.Elems[q].Words += p.Elems[e].Words
		allBytes[q] += allBytes[e]
		linkBytes[q] += linkBytes[e]
		prose[q] += prose[e]
		heads[q] += heads[e]
		if first[q] < 0 || first[e] >= 0 && first[e] < first[q] {
			first[q] = first[e]
		}
	}
	top, topRank := int32(-1), float32(0)
	for e := range rank {
		rank[e] *= 1 - share(linkBytes[e], allBytes[e])
		if rank[e] > topRank {
			top, topRank = int32(e), rank[e]
		}
	}
	for e := range p.Elems {
		el := &p.Elems[e]
		semantic := float32(0)
		switch f := flags[e]; {
		case f&(inNav|inFooter|inAside) != 0:
			semantic = -1
		case f&inMain != 0:
			semantic = 1
		}
		relative := float32(0)
		if topRank > 0 {
			relative = rank[e] / topRank
		}
		el.Feat = [score.AncFeatures]float32{
			log1p(el.Words), share(el.Words, int32(words)), share(linkBytes[e], allBytes[e]), log1p(el.Units),
			float32(el.Words) / float32(max(el.Units, 1)), share(prose[e], el.Words), float32(min(depth[e], 40)),
			log1p(groups[sig[e]]), relative, semantic, share(heads[e], el.Units), float32(first[e]) / float32(n),
		}
	}

	// Repeated structures.
	var groupWords map[uint64]int32
	biggest := int32(0)
	inGroups := 0
	groupID := make(map[uint64]int32)
	groupWords = make(map[uint64]int32)
	for i := range p.Units {
		u := &p.Units[i]
		u.Group = -1
		e := u.Elem
		for k := 0; k < 8 && e >= 0; k++ {
			if g := groups[sig[e]]; g >= groupSize && p.Elems[e].Units >= 1 {
				id, ok := groupID[sig[e]]
				if !ok {
					id = int32(len(groupID))
					groupID[sig[e]] = id
				}
				u.Group = id
				groupWords[sig[e]] += u.Words
				biggest = max(biggest, g)
				inGroups += int(u.Words)
				break
			}
			e = p.Elems[e].Parent
		}
	}

	pos := 0
	below := p.Below(top)
	for i := range c.drafts {
		d := &c.drafts[i]
		u := &p.Units[i]
		tf := &texts[i]
		size := int(d.end - d.start)
		f := flags[u.Elem]
		u.Kind = kindCode(d.kind)
		inTop := float32(0)
		if top >= 0 && below[u.Elem] {
			inTop = 1
		}
		distance := float32(0)
		if h1 >= 0 {
			distance = signedLog(i - h1)
		}
		dup := 0
		if tf.words >= 4 {
			dup = seen[tf.whole] - 1
		}
		u.Feat = [score.UnitFeatures]float32{
			float32(u.Kind), log1p(u.Words), share(d.linkBytes, int32(size)), float32(tf.letters) / float32(max(tf.words, 1)),
			float32(min(tf.commas, 20)), log1p(int32(tf.stops)), b2f(tf.endStop), float32(tf.upper) / float32(max(tf.letters, 1)),
			float32(tf.digits) / float32(max(size, 1)), float32(d.level), float32(d.depth), float32(d.quoted),
			float32(i) / float32(n), float32(pos) / float32(max(chars, 1)), log1p(int32(i)), log1p(int32(n - i)),
			float32(min(dup, 4)), float32(tf.inTitle) / float32(max(len(title), 1)), float32(tf.inTitle) / float32(max(tf.words, 1)),
			distance, b2f(h1 >= 0), b2f(f&inNav != 0), b2f(f&inFooter != 0), b2f(f&inAside != 0), b2f(f&inHeader != 0), b2f(f&inMain != 0), b2f(f&inForm != 0),
			b2f(f&inNoscript != 0), b2f(f&inTable != 0), b2f(d.image), b2f(tf.copyright), b2f(tf.price), b2f(tf.date),
			log1p(int32(d.r1 - d.r0)), inTop,
		}
		pos += size
	}

	topShare := float32(0)
	if top >= 0 {
		topShare = share(p.Elems[top].Words, int32(words))
	}
	articles, mains := 0, 0
	for i := range t.nodes {
		switch t.nodes[i].tag {
		case atom.Article:
			articles++
		case atom.Main:
			mains++
		}
	}
	ld := strings.ToLower(strings.Join(facts.ldTypes, " "))
	p.Feat = [score.PageFeatures]float32{
		log1p(int32(words)), log1p(int32(n)), share(int32(links), int32(chars)), float32(words) / float32(n),
		share(int32(proseWords), int32(words)), log1p(int32(proseUnits)), float32(min(h1s, 5)), log1p(int32(h23s)),
		log1p(int32(articles)), b2f(mains > 0), log1p(int32(c.forms)), share(int32(noscripts), int32(words)),
		log1p(int32(prices)), log1p(int32(dates)), log1p(int32(codes)), share(int32(tableWords), int32(words)),
		share(int32(listWords), int32(words)), log1p(biggest), share(int32(inGroups), int32(words)), topShare,
		b2f(strings.Contains(facts.ogType, "article")), b2f(strings.Contains(facts.ogType, "product")),
		b2f(strings.Contains(ld, "article") || strings.Contains(ld, "posting") && !strings.Contains(ld, "discussion")),
		b2f(strings.Contains(ld, "product")), b2f(strings.Contains(ld, "discussion") || strings.Contains(ld, "qapage")),
		b2f(strings.Contains(ld, "itemlist") || strings.Contains(ld, "collection")),
		b2f(strings.Contains(ld, "organization") || strings.Contains(ld, "business") || strings.Contains(ld, "service")),
		share(int32(wide), int32(words)), log1p(int32(c.hidden)),
	}
	p.Tokens = pageTokens(t, facts)
	return p
}

func pageTokens(t *tree, facts pageFacts) []score.Token {
	var out []score.Token
	add := func(kind, s string) {
		if s != "" && len(out) < 40 {
			out = append(out, score.Hash(score.NamespacePage, []byte(kind+strings.ToLower(s))))
		}
	}
	add("og:", facts.ogType)
	g, _, _ := strings.Cut(facts.generator, " ")
	add("gen:", g)
	for _, l := range facts.ldTypes {
		add("ld:", l)
	}
	for _, n := range [...]nodeID{t.html, t.body} {
		for f := range strings.FieldsSeq(t.attr(n, attrClass)) {
			if len(f) <= maxNameBytes {
				add("body:", f)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (t *tree) attrBytes(id nodeID, key attrKey) []byte {
	v, _ := t.get(id, key)
	return v
}

func b2f(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

func log1p(n int32) float32 { return float32(math.Log1p(float64(max(n, 0)))) }

func signedLog(n int) float32 {
	if n < 0 {
		return -float32(math.Log1p(float64(-n)))
	}
	return float32(math.Log1p(float64(n)))
}

func share(a, b int32) float32 {
	if b <= 0 {
		return 0
	}
	return float32(a) / float32(b)
}

func kindCode(k Kind) uint8 {
	switch k {
	case ListItem:
		return 1
	case Heading:
		return 2
	case Quote:
		return 3
	case Table:
		return 4
	case Code:
		return 5
	}
	return 0
}

// tokenBuffer splits names into words without allocating for each.
type tokenBuffer struct{ word []byte }

// element appends the tokens of an element's tag, class, id and role.
func (b *tokenBuffer) element(out []score.Token, t *tree, id nodeID) []score.Token {
	n := &t.nodes[id]
	start := len(out)
	if n.tag != 0 {
		out = append(out, score.Hash(score.NamespaceElem, []byte(n.tag.String())))
	} else {
		out = b.names(out, start, t.extra[n.off:n.off+n.len])
	}
	if hides(t, id) != shown {
		out = append(out, score.Hash(score.NamespaceElem, []byte("(hidden)")))
	} else if t.attr(id, attrAriaHidden) == "true" {
		out = append(out, score.Hash(score.NamespaceElem, []byte("(aria-hidden)")))
	}
	for _, k := range [...]attrKey{attrClass, attrID, attrRole, attrItemprop} {
		if v, ok := t.get(id, k); ok {
			for f := range bytes.FieldsSeq(v) {
				out = b.names(out, start, f)
			}
		}
	}
	return out
}

// names appends the words of one name, and the whole of it: "postBody-text" gives post, body, text.
func (b *tokenBuffer) names(out []score.Token, start int, name []byte) []score.Token {
	if len(name) > maxNameBytes || len(out)-start >= maxElemTokens {
		return out
	}
	b.word = b.word[:0]
	parts := 0
	from := 0
	flush := func() {
		if len(b.word)-from >= 3 && len(out)-start < maxElemTokens {
			out = append(out, score.Hash(score.NamespaceElem, b.word[from:]))
			parts++
		}
		from = len(b.word)
	}
	lower := false
	for _, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			if lower {
				flush()
			}
			b.word = append(b.word, c|0x20)
			lower = false
		case c >= 'a' && c <= 'z' || c >= utf8.RuneSelf:
			b.word = append(b.word, c)
			lower = true
		default:
			flush()
			lower = false
		}
	}
	flush()
	if parts > 1 && len(out)-start < maxElemTokens {
		out = append(out, score.Hash(score.NamespaceElem, b.word))
	}
	return out
}

// textFacts is what one pass over a block's text finds.
type textFacts struct {
	words, letters, upper, digits, commas, stops, wide, inTitle int
	endStop, copyright, price, date                             bool
	whole                                                       score.Token
}

func titleWords(title string) map[score.Token]bool {
	var f textFacts
	set := make(map[score.Token]bool)
	for _, t := range f.read([]byte(title), nil, nil) {
		set[t] = true
	}
	return set
}

// read measures text and appends the tokens of its first words.
func (f *textFacts) read(s []byte, out []score.Token, title map[score.Token]bool) []score.Token {
	const basis, prime = 2166136261, 16777619
	start := len(out)
	begin := uint32((basis ^ score.NamespaceWord) * uint64(prime) & math.MaxUint32)
	h, whole := begin, uint32(basis)
	in, number, digitsIn := false, 0, 0
	end := func() {
		if !in {
			return
		}
		in = false
		f.words++
		if len(title) > 0 && title[score.Token(h)] {
			f.inTitle++
		}
		if len(out)-start < maxTextTokens {
			out = append(out, score.Token(h))
		}
		if digitsIn == 4 && number >= 1990 && number <= 2039 {
			f.date = true
		}
		h, number, digitsIn = begin, 0, 0
		whole = (whole ^ ' ') * prime
	}
	feed := func(r rune) {
		for r >= utf8.RuneSelf {
			h = (h ^ uint32(r&0x7f|0x80)) * prime
			whole = (whole ^ uint32(r&0x7f|0x80)) * prime
			r >>= 7
		}
		h = (h ^ uint32(r)) * prime
		whole = (whole ^ uint32(r)) * prime
	}
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c >= 'a' && c <= 'z':
				in = true
				f.letters++
				feed(rune(c))
			case c >= 'A' && c <= 'Z':
				in = true
				f.letters++
				f.upper++
				feed(rune(c | 0x20))
			case c >= '0' && c <= '9':
				in = true
				f.digits++
				digitsIn++
				number = number*10%100000 + int(c-'0')
				feed(rune(c))
			default:
				end()
				switch c {
				case ',', ';':
					f.commas++
				case '.', '!', '?':
					if i == len(s) || isSpace(s[i]) || s[i] == '"' || s[i] == ')' {
						f.stops++
					}
				case '$':
					f.price = true
				}
			}
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		i += size
		switch {
		case isWide(r):
			end()
			in = true
			f.wide++
			f.letters++
			feed(r)
			end()
		case isWordRune(r) || in && unicode.IsMark(r):
			in = true
			f.letters++
			if unicode.IsUpper(r) {
				f.upper++
			}
			feed(unicode.ToLower(r))
		default:
			end()
			switch r {
			case '，', '、', '；', '،':
				f.commas++
			case '。', '！', '？', '…', '।':
				f.stops++
			case '€', '£', '¥', '₹':
				f.price = true
			case '©':
				f.copyright = true
			}
		}
	}
	end()
	f.whole = score.Token(whole)
	if last := bytes.TrimRight(s, "\"')]”’»）」"); len(last) > 0 {
		r, _ := utf8.DecodeLastRune(last)
		switch r {
		case '.', '!', '?', '。', '！', '？', '…', '।':
			f.endStop = true
		}
	}
	return out
}
