// Package score tells the blocks of a page that a reader wants from its furniture: features of blocks, a
// small ensemble of decision trees over them, and the choice that promises the best balance of precision and
// recall. It knows numbers and hashes only: no HTML, no rendering, no page text.
package score

import (
	"math"
	"slices"
)

// Token is the hash of a word: of a block's text, or of an element's name, class, id or role.
type Token uint32

// Hash is 32-bit FNV-1a over the bytes, begun anew for each namespace so that a class and a word differ.
func Hash(namespace byte, s []byte) Token {
	h := uint32(2166136261)
	h = (h ^ uint32(namespace)) * 16777619
	for _, c := range s {
		h = (h ^ uint32(c)) * 16777619
	}
	return Token(h)
}

// The namespaces of tokens.
const (
	NamespaceWord  = 'w' // a word of a block's text
	NamespaceWhole = 'l' // the whole text of a short block
	NamespaceElem  = 'e' // a word in an element's tag, class, id or role
	NamespacePage  = 'p' // a fact about the page: its Open Graph type, generator, JSON-LD types
)

// The number of hand-made features per unit and per page.
const (
	UnitFeatures = 35
	AncFeatures  = 12
	PageFeatures = 29
	ancLevels    = 5
	elemFeatures = 13
	textFeatures = 5
	neighbours   = 4 // on each side
	nearFeatures = 7
)

// The page features that the choice itself looks at.
const (
	PageSaysArticle    = 20 // by Open Graph
	PageHasArticleData = 22 // by JSON-LD
)

// Elem is an element that has units below it.
type Elem struct {
	Parent int32 // index of an earlier element; -1 for the first
	Tokens []Token
	// Units and Words are the counts below the element, the rest shares and logarithms of them.
	Units, Words int32
	Feat         [AncFeatures]float32
}

// Unit is one block.
type Unit struct {
	Elem   int32
	Words  int32
	Tokens []Token
	Whole  Token // 0 when the block is long
	Feat   [UnitFeatures]float32
	Kind   uint8
	// Group identifies the repeated sibling structure that the unit lies in, -1 for none.
	Group int32
}

// Page is what the features are made from.
type Page struct {
	Elems  []Elem
	Units  []Unit
	Feat   [PageFeatures]float32
	Tokens []Token // facts about the page
}

// Lexicon gives the log-odds of a token standing for wanted text. Tokens it lacks are neutral.
type Lexicon interface {
	Odds(t Token) (float32, bool)
}

// Matrix holds features by column: one slice per feature, one value per unit.
type Matrix [][]float32

// FirstStage returns the features of the first stage.
func FirstStage(p *Page, lex Lexicon) Matrix {
	n := len(p.Units)
	var m Matrix
	column := func() []float32 {
		c := make([]float32, n)
		m = append(m, c)
		return c
	}
	columns := func(k int) []([]float32) {
		at := len(m)
		block := make([]float32, k*n)
		for i := range k {
			m = append(m, block[i*n:(i+1)*n:(i+1)*n])
		}
		return m[at:]
	}
	unit := columns(UnitFeatures)
	for i := range p.Units {
		for f, v := range p.Units[i].Feat {
			unit[f][i] = v
		}
	}
	page := columns(PageFeatures)
	for f, v := range p.Feat {
		c := page[f]
		for i := range c {
			c[i] = v
		}
	}

	wider := p.widerTable()
	// What the words of an element say, alone and along the way up to the root.
	// chain sums own over the elements around the same units.
	type odds struct{ own, sum, low, high, chain float32 }
	eo := make([]odds, len(p.Elems))
	for i := range p.Elems {
		e := &p.Elems[i]
		var own, k float32
		for _, t := range e.Tokens {
			if v, ok := lex.Odds(t); ok {
				own += v
				k++
			}
		}
		if k > 1 {
			own /= float32(math.Sqrt(float64(k)))
		}
		o := odds{own, own, min(own, 0), max(own, 0), own}
		if e.Parent >= 0 {
			q := eo[e.Parent]
			if p.Elems[e.Parent].Units == e.Units {
				o.chain += q.chain
			}
			o.sum += q.sum
			o.low, o.high = min(o.low, q.low), max(o.high, q.high)
		}
		eo[i] = o
	}
	elem := columns(elemFeatures)
	anc := columns(ancLevels * AncFeatures)
	text := columns(textFeatures)
	for i := range p.Units {
		u := &p.Units[i]
		o := eo[u.Elem]
		elem[0][i], elem[1][i], elem[2][i], elem[3][i] = o.own, o.sum, o.low, o.high
		e := u.Elem
		depth := 0
		for e >= 0 && depth < 5 {
			elem[4+depth][i] = eo[e].own
			e = p.Elems[e].Parent
			depth++
		}
		// The words of the elements that stand closest below the point where the page divides.
		e = u.Elem
		for level := range ancLevels {
			if e < 0 {
				break
			}
			for f, v := range p.Elems[e].Feat {
				anc[level*AncFeatures+f][i] = v
			}
			if level < 4 {
				elem[9+level][i] = eo[e].chain
			}
			e = wider[e]
		}
		var sum, low, first float32
		high, k := float32(0), float32(0)
		for j, t := range u.Tokens {
			v, ok := lex.Odds(t)
			if j == 0 {
				first = v
			}
			if !ok {
				continue
			}
			sum += v
			low, high = min(low, v), max(high, v)
			k++
		}
		if k > 0 {
			text[0][i] = sum / float32(math.Sqrt(float64(k)))
		}
		text[1][i], text[2][i], text[3][i] = low, high, first
		if u.Whole != 0 {
			text[4][i], _ = lex.Odds(u.Whole)
		}
	}
	pageOdds := column()
	var po float32
	for _, t := range p.Tokens {
		v, _ := lex.Odds(t)
		po += v
	}
	for i := range pageOdds {
		pageOdds[i] = po
	}

	// Neighbours: length, links, words of text and markup.
	near := columns(2 * neighbours * nearFeatures)
	for i := range p.Units {
		col := 0
		for d := -neighbours; d <= neighbours; d++ {
			if d == 0 {
				continue
			}
			if j := i + d; j >= 0 && j < n {
				u := &p.Units[j]
				near[col][i] = u.Feat[1]
				near[col+1][i] = u.Feat[2]
				near[col+2][i] = float32(u.Kind)
				near[col+3][i] = text[0][j]
				near[col+4][i] = eo[u.Elem].sum
				near[col+5][i] = u.Feat[5]
				near[col+6][i] = float32(p.shared(wider, p.Units[i].Elem, u.Elem))
			} else {
				near[col][i] = -1
				near[col+2][i] = -1
			}
			col += nearFeatures
		}
	}
	return m
}

// widerTable returns, for each element, the nearest ancestor that holds more units than it does, or -1.
func (p *Page) widerTable() []int32 {
	w := make([]int32, len(p.Elems))
	for e := range p.Elems {
		q := p.Elems[e].Parent
		if q >= 0 && p.Elems[q].Units == p.Elems[e].Units {
			q = w[q]
		}
		w[e] = q
	}
	return w
}

// maxClimb bounds the search for the element that two units share.
const maxClimb = 64

// shared says how close two elements are: the level, in dividing ancestors of a, at which they meet.
func (p *Page) shared(wider []int32, a, b int32) int {
	x := b
	steps := 0
	for level := range ancLevels {
		if a < 0 {
			break
		}
		for x > a && steps < maxClimb {
			x = p.Elems[x].Parent
			steps++
		}
		if x == a {
			return level
		}
		a = wider[a]
	}
	return ancLevels
}

// secondFeatures is how many features SecondStage adds.
const secondFeatures = 30

// SecondStage adds to the features of the first stage what its results say about a unit's surroundings.
func SecondStage(p *Page, m Matrix, first []float32) Matrix {
	n := len(p.Units)
	wider := p.widerTable()
	out := slices.Clone(m)
	block := make([]float32, secondFeatures*n)
	cols := make([][]float32, secondFeatures)
	for i := range cols {
		cols[i] = block[i*n : (i+1)*n : (i+1)*n]
	}
	weight := make([]float32, n)
	ew := make([]float32, len(p.Elems))
	ep := make([]float32, len(p.Elems))
	gw, gp := map[int32]float32{}, map[int32]float32{}
	var pw, pp, high float32
	for i := range p.Units {
		u := &p.Units[i]
		w := float32(u.Words) + 1
		weight[i] = w
		ew[u.Elem] += w
		ep[u.Elem] += w * first[i]
		pw += w
		pp += w * first[i]
		high = max(high, first[i])
		if u.Group >= 0 {
			gw[u.Group] += w
			gp[u.Group] += w * first[i]
		}
	}
	for e := len(p.Elems) - 1; e > 0; e-- {
		if q := p.Elems[e].Parent; q >= 0 {
			ew[q] += ew[e]
			ep[q] += ep[e]
		}
	}
	// The element that, taken whole, promises the best balance: the container of an article has one.
	best, bestF := int32(0), float32(-1)
	balance := make([]float32, len(p.Elems))
	for e := range p.Elems {
		if ew[e] > 0 {
			balance[e] = 2 * ep[e] / (ew[e] + pp)
			// Of a chain of wrappers around the same units the innermost is the container.
			if balance[e] >= bestF {
				best, bestF = int32(e), balance[e]
			}
		}
	}
	firstIn, lastIn := n, -1
	inside := make([]bool, n)
	below := p.Below(best)
	for i := range p.Units {
		if below[p.Units[i].Elem] {
			inside[i] = true
			firstIn = min(firstIn, i)
			lastIn = i
		}
	}
	mean := func(e int32) float32 {
		if ew[e] == 0 {
			return 0
		}
		return ep[e] / ew[e]
	}
	var run float32
	for i := range p.Units {
		u := &p.Units[i]
		c := 0
		set := func(v float32) { cols[c][i] = v; c++ }
		set(first[i])
		for _, d := range [...]int{-3, -2, -1, 1, 2, 3} {
			if j := i + d; j >= 0 && j < n {
				set(first[j])
			} else {
				set(-1)
			}
		}
		for _, r := range [...]int{4, 12} {
			var w, s float32
			for j := max(0, i-r); j <= min(n-1, i+r); j++ {
				if j != i {
					w += weight[j]
					s += weight[j] * first[j]
				}
			}
			if w > 0 {
				set(s / w)
			} else {
				set(-1)
			}
		}
		e := u.Elem
		for range 5 {
			if e >= 0 {
				set(mean(e))
				e = wider[e]
			} else {
				set(-1)
			}
		}
		set(pp / pw)
		set(high)
		set(float32(math.Log1p(float64(pp))))
		if u.Group >= 0 {
			set(gp[u.Group] / gw[u.Group])
			set(gp[u.Group] / max(pp, 1))
		} else {
			set(-1)
			set(-1)
		}
		// How much wanted text came before: the furniture below an article is known by it.
		set(run / max(pp, 1))
		set(first[i] - pp/pw)
		run += weight[i] * first[i]
		set((pp - run) / max(pp, 1))
		set(bestF)
		if inside[i] {
			set(1)
		} else {
			set(0)
		}
		switch {
		case i < firstIn:
			set(float32(i - firstIn))
		case i > lastIn:
			set(float32(i - lastIn))
		default:
			set(0)
		}
		e = u.Elem
		for range 4 {
			if e >= 0 {
				set(balance[e] / max(bestF, 0.001))
				e = wider[e]
			} else {
				set(-1)
			}
		}
		set(ew[best] / pw)
	}
	return append(out, cols...)
}

// Below says of each element whether it is top or lies in it.
func (p *Page) Below(top int32) []bool {
	in := make([]bool, len(p.Elems))
	for e := range p.Elems {
		q := p.Elems[e].Parent
		in[e] = int32(e) == top || q >= 0 && in[q]
	}
	return in
}
