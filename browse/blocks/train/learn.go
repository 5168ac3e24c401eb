package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"web/browse/blocks/internal/score"
)

// Parameters of the learning, chosen by the folds.
const (
	maxBins     = 40
	maxRows     = 250 // blocks of one page
	depth       = 6
	seeds       = 2
	trees1      = 130
	trees2      = 110
	rate        = 0.09
	lambda      = 12.0
	pageShare   = 0.6 // pages a tree sees
	columnShare = 0.3
	minDomains  = 3
)

// counts says how often a token stood for wanted text, per domain.
type counts struct{ num, den float64 }

// stats are the counts of tokens over the domains of some folds.
type stats struct {
	perDomain map[string]map[score.Token]counts
	kind      map[score.Token]byte
	sum, n    map[score.Token]float64
	base      map[byte]float64
}

// gather counts the tokens of all pages for which use holds.
func gather(pages []*page, use func(*page) bool) *stats {
	s := &stats{perDomain: map[string]map[score.Token]counts{}, kind: map[score.Token]byte{}, sum: map[score.Token]float64{},
		n: map[score.Token]float64{}, base: map[byte]float64{}}
	total := map[byte]*counts{'w': {}, 'e': {}, 'p': {}}
	for _, p := range pages {
		if !use(p) {
			continue
		}
		m := s.perDomain[p.domain]
		if m == nil {
			m = map[score.Token]counts{}
			s.perDomain[p.domain] = m
		}
		add := func(kind byte, t score.Token, y, w float64) {
			c := m[t]
			c.num += y * w
			c.den += w
			m[t] = c
			s.kind[t] = kind
		}
		num := make([]float64, len(p.in.Page.Elems))
		den := make([]float64, len(p.in.Page.Elems))
		var all counts
		var pageTotal float64
		for i := range p.in.Page.Units {
			pageTotal += float64(p.in.Page.Units[i].Words)
		}
		for i := range p.in.Page.Units {
			u := &p.in.Page.Units[i]
			y := float64(p.label[i])
			seen := map[score.Token]bool{}
			for _, t := range u.Tokens {
				if !seen[t] {
					seen[t] = true
					add('w', t, y, 1)
				}
			}
			if u.Whole != 0 {
				add('w', u.Whole, y, 1)
			}
			total['w'].num += y / float64(len(p.in.Page.Units))
			total['w'].den += 1 / float64(len(p.in.Page.Units))
			w := float64(u.Words) + 1
			num[u.Elem] += y * w
			den[u.Elem] += w
			all.num += y * w
			all.den += w
		}
		for e := len(num) - 1; e >= 0; e-- {
			el := &p.in.Page.Elems[e]
			for _, t := range el.Tokens {
				if den[e] > 0 {
					add('e', t, num[e]/den[e], den[e])
				}
			}
			if el.Parent >= 0 {
				num[el.Parent] += num[e]
				den[el.Parent] += den[e]
			}
		}
		if all.den > 0 {
			total['e'].num += all.num / all.den
			total['e'].den++
			total['p'].num += all.num / all.den
			total['p'].den++
			for _, t := range p.in.Page.Tokens {
				add('p', t, all.num/all.den, 1)
			}
		}
	}
	for _, m := range s.perDomain {
		for t, c := range m {
			s.sum[t] += c.num / c.den
			s.n[t]++
		}
	}
	for k, c := range total {
		s.base[k] = c.num / max(c.den, 1)
	}
	return s
}

const prior = 2.0

func (s *stats) odds(t score.Token, sum, n float64) float32 {
	b := s.base[s.kind[t]]
	v := math.Log((sum+prior*b)/(n-sum+prior*(1-b))) - math.Log(b/(1-b))
	return float32(max(-4, min(4, v)))
}

// without is the lexicon as it would be if the domain had never been seen. A page must not be judged by
// words that were counted on it: training on them would teach to trust them.
type without struct {
	s   *stats
	own map[score.Token]counts
}

func (w without) Odds(t score.Token) (float32, bool) {
	sum, n := w.s.sum[t], w.s.n[t]
	if c, ok := w.own[t]; ok {
		sum -= c.num / c.den
		n--
	}
	if n < minDomains {
		return 0, false
	}
	return float32(math.Round(float64(w.s.odds(t, max(sum, 0), n))*16) / 16), true
}

func (s *stats) lexicon() map[score.Token]float32 {
	out := map[score.Token]float32{}
	for t, n := range s.n {
		if n < minDomains {
			continue
		}
		if v := s.odds(t, s.sum[t], n); v > 0.15 || v < -0.15 {
			out[t] = v
		}
	}
	return out
}

// learned holds what the folds gave, and can train the final stages.
type learned struct {
	pages  []*page
	stats  *stats
	all1   []score.Matrix // features of every page by the statistics of all folds
	first  [][]float32    // first-stage probabilities of each page by a model that has not seen its fold
	second [][]float32
}

func learn(pages []*page) *learned {
	l := &learned{pages: pages, first: make([][]float32, len(pages)), second: make([][]float32, len(pages))}
	start := time.Now()
	l.stats = gather(pages, func(*page) bool { return true })
	l.all1 = make([]score.Matrix, len(pages))
	for i, p := range pages {
		l.all1[i] = score.FirstStage(p.in.Page, without{l.stats, l.stats.perDomain[p.domain]})
	}
	n := 0
	for _, p := range pages {
		n += min(len(p.label), maxRows)
	}
	fmt.Printf("%d pages, %d blocks, %d features, %.0fs\n", len(pages), n, len(l.all1[0]), time.Since(start).Seconds())
	labels := make([][]float32, len(pages))
	for i, p := range pages {
		labels[i] = p.label
	}
	report("chosen by the labels (ceiling)", pages, labels)
	// Statistics of words are taken over all folds but never over the page's own domain, so a fold's features
	// know nothing of its pages' labels.
	for f := range folds {
		m := l.stage1(f)
		for i, p := range pages {
			if p.fold == f {
				l.first[i] = m.Predict(l.all1[i], len(p.label))
			}
		}
		fmt.Printf("fold %d first stage, %.0fs\n", f, time.Since(start).Seconds())
	}
	report("first stage", pages, l.first)
	for f := range folds {
		m := l.stage2(f)
		for i, p := range pages {
			if p.fold == f {
				l.second[i] = m.Predict(score.SecondStage(p.in.Page, l.all1[i], l.first[i]), len(p.label))
			}
		}
		fmt.Printf("fold %d second stage, %.0fs\n", f, time.Since(start).Seconds())
	}
	report("second stage", pages, l.second)
	return l
}

func (l *learned) stage1(fold int) score.Ensemble {
	return boost(l.pages, l.all1, fold, trees1)
}

func (l *learned) stage2(fold int) score.Ensemble {
	x := make([]score.Matrix, len(l.pages))
	for i, p := range l.pages {
		x[i] = score.SecondStage(p.in.Page, l.all1[i], l.first[i])
	}
	return boost(l.pages, x, fold, trees2)
}

// boost trains an ensemble on the pages outside a fold (-1: on all): the mean of several that saw other samples,
// because with so few pages one alone depends on its luck.
func boost(pages []*page, x []score.Matrix, fold, trees int) score.Ensemble {
	var sum score.Ensemble
	for seed := range seeds {
		e := boostOnce(pages, x, fold, trees, seed)
		sum.Bias += e.Bias / seeds
		for _, t := range e.Trees {
			for i := range t.Leaf {
				t.Leaf[i] /= seeds
			}
			sum.Trees = append(sum.Trees, t)
		}
	}
	return sum
}

func boostOnce(pages []*page, x []score.Matrix, fold, trees, seed int) score.Ensemble {
	var y, w []float32
	var pageOf []int32
	var cols [][]float32
	k := 0
	for i, p := range pages {
		if p.fold == fold || len(p.label) == 0 {
			continue
		}
		if cols == nil {
			cols = make([][]float32, len(x[i]))
		}
		var sum float64
		for j := range p.label {
			sum += rowWeight(p.in.Page.Units[j].Words)
		}
		// Of a long page a sample stands for the whole.
		step := max(1, float64(len(p.label))/maxRows)
		for at := 0.0; int(at) < len(p.label); at += step {
			j := int(at)
			y = append(y, p.label[j])
			w = append(w, float32(step*100*p.weight*rowWeight(p.in.Page.Units[j].Words)/sum))
			pageOf = append(pageOf, int32(k))
			for f := range cols {
				cols[f] = append(cols[f], x[i][f][j])
			}
		}
		k++
	}
	n := len(y)
	borders := make([][]float32, len(cols))
	bins := make([][]uint8, len(cols))
	each(len(cols), func(f int) {
		borders[f] = cut(cols[f])
		b := make([]uint8, n)
		for i, v := range cols[f] {
			b[i] = uint8(sort.Search(len(borders[f]), func(k int) bool { return borders[f][k] >= v }))
		}
		bins[f] = b
		cols[f] = nil
	})
	var e score.Ensemble
	var sy, sw float64
	for i := range y {
		sy += float64(y[i] * w[i])
		sw += float64(w[i])
	}
	e.Bias = float32(math.Log(sy / (sw - sy)))
	sum := make([]float32, n)
	for i := range sum {
		sum[i] = e.Bias
	}
	rng := rand.New(rand.NewPCG(uint64(seed+1), uint64(fold+2)))
	grad := make([]float32, n)
	hess := make([]float32, n)
	for range trees {
		in := make([]bool, k)
		for i := range in {
			in[i] = rng.Float64() < pageShare
		}
		var rows []int32
		for i := range n {
			if in[pageOf[i]] {
				p := float32(1 / (1 + math.Exp(-float64(sum[i]))))
				grad[i] = w[i] * (y[i] - p)
				hess[i] = w[i] * max(p*(1-p), 0.01)
				rows = append(rows, int32(i))
			}
		}
		var use []int
		for f := range cols {
			if len(borders[f]) > 0 && rng.Float64() < columnShare {
				use = append(use, f)
			}
		}
		t := grow(rows, bins, borders, use, grad, hess)
		e.Trees = append(e.Trees, t)
		leaf := make([]uint8, n)
		for level, f := range t.Feature {
			cutBin := uint8(sort.Search(len(borders[f]), func(k int) bool { return borders[f][k] >= t.Threshold[level] }))
			for i, b := range bins[f] {
				if b > cutBin {
					leaf[i] |= 1 << level
				}
			}
		}
		for i, lf := range leaf {
			sum[i] += t.Leaf[lf]
		}
	}
	return e
}

func rowWeight(words int32) float64 { return math.Pow(float64(words)+2, 0.8) }

// cut returns the borders of at most maxBins bins of about equal count.
func cut(v []float32) []float32 {
	s := slices.Clone(v)
	slices.Sort(s)
	var out []float32
	for i := 1; i < maxBins; i++ {
		b := s[i*len(s)/maxBins]
		if b < s[len(s)-1] && (len(out) == 0 || b > out[len(out)-1]) {
			out = append(out, b)
		}
	}
	return out
}

// grow builds one oblivious tree.
func grow(rows []int32, bins [][]uint8, borders [][]float32, use []int, grad, hess []float32) score.Tree {
	var t score.Tree
	leaf := make([]uint8, len(rows))
	for level := range depth {
		leaves := 1 << level
		gain := make([]float64, len(use))
		at := make([]int, len(use))
		each(len(use), func(u int) {
			f := use[u]
			nb := len(borders[f]) + 1
			hg := make([]float64, leaves*nb)
			hh := make([]float64, leaves*nb)
			b := bins[f]
			for k, i := range rows {
				c := int(leaf[k])*nb + int(b[i])
				hg[c] += float64(grad[i])
				hh[c] += float64(hess[i])
			}
			total := make([]float64, nb-1)
			for l := range leaves {
				var g, h float64
				for j := range nb {
					g += hg[l*nb+j]
					h += hh[l*nb+j]
				}
				var gl, hl float64
				for j := range nb - 1 {
					gl += hg[l*nb+j]
					hl += hh[l*nb+j]
					total[j] += gl*gl/(hl+lambda) + (g-gl)*(g-gl)/(h-hl+lambda)
				}
			}
			for j, v := range total {
				if v > gain[u] {
					gain[u], at[u] = v, j
				}
			}
		})
		best := 0
		for u := range use {
			if gain[u] > gain[best] {
				best = u
			}
		}
		f := use[best]
		t.Feature = append(t.Feature, uint16(f))
		t.Threshold = append(t.Threshold, borders[f][at[best]])
		for k, i := range rows {
			if int(bins[f][i]) > at[best] {
				leaf[k] |= 1 << level
			}
		}
	}
	g := make([]float64, 1<<depth)
	h := make([]float64, 1<<depth)
	for k, i := range rows {
		g[leaf[k]] += float64(grad[i])
		h[leaf[k]] += float64(hess[i])
	}
	t.Leaf = make([]float32, 1<<depth)
	for i := range t.Leaf {
		t.Leaf[i] = float32(rate * g[i] / (h[i] + lambda))
	}
	return t
}

// each runs f for 0..n-1 on two processors.
func each(n int, f func(int)) {
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := w; i < n; i += 2 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// report prints the scorer's headline figures for the choice that probabilities lead to.
func report(name string, pages []*page, prob [][]float32) {
	type sums struct{ n, p, r, f, full float64 }
	by := map[string]*sums{}
	for i, p := range pages {
		keep := p.in.Select(prob[i])
		var text []string
		for j, k := range keep {
			if k {
				text = append(text, words(p.in.Blocks[j].Text)...)
			}
		}
		a, r, f := f1(text, p.truth)
		s := by[p.kind]
		if s == nil {
			s = &sums{}
			by[p.kind] = s
		}
		s.n++
		s.p += a
		s.r += r
		s.f += f
		if r >= 0.95 {
			s.full++
		}
	}
	var all sums
	fmt.Println(name)
	for _, k := range []string{"article", "documentation", "forum", "product", "listing", "collection", "service", "other:mozread", "other:defuddle"} {
		s := by[k]
		if s == nil {
			continue
		}
		fmt.Printf("  %-15s %4.0f  P %.3f  R %.3f  F %.3f  full %.3f\n", k, s.n, s.p/s.n, s.r/s.n, s.f/s.n, s.full/s.n)
		if !strings.HasPrefix(k, "other:") {
			all.n++
			all.p += s.p / s.n
			all.r += s.r / s.n
			all.f += s.f / s.n
			all.full += s.full / s.n
		}
	}
	fmt.Printf("  %-15s       P %.3f  R %.3f  F %.3f  full %.3f\n", "types", all.p/all.n, all.r/all.n, all.f/all.n, all.full/all.n)
}
