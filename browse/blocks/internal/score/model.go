package score

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Tree is an oblivious decision tree: on each level all branches ask the same question. Leaf i is reached by
// the answers as bits, the first question lowest.
type Tree struct {
	Feature   []uint16
	Threshold []float32
	Leaf      []float32 // 1 << len(Feature) values
}

// Ensemble sums trees over a bias; the sum is a log-odds.
type Ensemble struct {
	Bias  float32
	Trees []Tree
}

// Predict returns the probability for every row of the matrix.
func (e *Ensemble) Predict(m Matrix, rows int) []float32 {
	sum := e.Sum(m, rows)
	for i, s := range sum {
		sum[i] = float32(1 / (1 + math.Exp(-float64(s))))
	}
	return sum
}

// Sum returns the bare sum of the trees for every row of the matrix.
func (e *Ensemble) Sum(m Matrix, rows int) []float32 {
	sum := make([]float32, rows)
	for i := range sum {
		sum[i] = e.Bias
	}
	leaf := make([]uint8, rows)
	for t := range e.Trees {
		tree := &e.Trees[t]
		clear(leaf)
		for level, f := range tree.Feature {
			col, th, bit := m[f][:rows], tree.Threshold[level], uint8(1)<<level
			for i, v := range col {
				if v > th {
					leaf[i] |= bit
				}
			}
		}
		for i, l := range leaf {
			sum[i] += tree.Leaf[l]
		}
	}
	return sum
}

// Words is a Lexicon in two sorted columns.
type Words struct {
	Tokens []Token
	Values []int8 // in sixteenths
}

// Odds implements Lexicon.
func (w *Words) Odds(t Token) (float32, bool) {
	lo, hi := 0, len(w.Tokens)
	// Hashes are spread evenly, so the place can be guessed closely.
	if hi > 64 {
		at := int(uint64(t) * uint64(hi) >> 32)
		if a := max(0, at-256); w.Tokens[a] <= t {
			lo = a
		}
		if b := min(hi-1, at+256); w.Tokens[b] >= t {
			hi = b + 1
		}
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if w.Tokens[mid] < t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(w.Tokens) && w.Tokens[lo] == t {
		return float32(w.Values[lo]) / 16, true
	}
	return 0, false
}

// Model is everything that training learns.
type Model struct {
	Words         Words
	First, Second Ensemble
}

// Probabilities runs both stages.
func (m *Model) Probabilities(p *Page) []float32 {
	n := len(p.Units)
	if n == 0 {
		return nil
	}
	x := FirstStage(p, &m.Words)
	first := m.First.Predict(x, n)
	return m.Second.Predict(SecondStage(p, x, first), n)
}

// The file is: magic, the word list (delta-coded hashes, values), then for each stage its bias and trees.
const magic = "web blocks model 1\n"

var errModel = errors.New("score: malformed model")

// Encode writes the model in the form that Decode reads.
func (m *Model) Encode() []byte {
	b := []byte(magic)
	b = binary.AppendUvarint(b, uint64(len(m.Words.Tokens)))
	last := Token(0)
	for _, t := range m.Words.Tokens {
		b = binary.AppendUvarint(b, uint64(t-last))
		last = t
	}
	for _, v := range m.Words.Values {
		b = append(b, byte(v))
	}
	for _, e := range [...]*Ensemble{&m.First, &m.Second} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(e.Bias))
		b = binary.AppendUvarint(b, uint64(len(e.Trees)))
		for i := range e.Trees {
			t := &e.Trees[i]
			b = append(b, byte(len(t.Feature)))
			for l, f := range t.Feature {
				b = binary.AppendUvarint(b, uint64(f))
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(t.Threshold[l]))
			}
			for _, v := range t.Leaf {
				b = binary.LittleEndian.AppendUint16(b, uint16(int16(max(-32768, min(32767, math.Round(float64(v)*leafScale))))))
			}
		}
	}
	return b
}

// leafScale is the number of steps that a leaf's log-odds of 1 is stored in.
const leafScale = 4096

// Decode reads a model.
func Decode(b []byte) (*Model, error) {
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return nil, errModel
	}
	b = b[len(magic):]
	bad := false
	uvarint := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			bad = true
			return 0
		}
		b = b[n:]
		return v
	}
	take := func(n int) []byte {
		if n < 0 || n > len(b) {
			bad = true
			return make([]byte, max(n, 0)%64)
		}
		s := b[:n]
		b = b[n:]
		return s
	}
	m := &Model{}
	n := int(uvarint())
	if bad || n > len(b) {
		return nil, errModel
	}
	m.Words.Tokens = make([]Token, n)
	last := Token(0)
	for i := range m.Words.Tokens {
		last += Token(uvarint())
		m.Words.Tokens[i] = last
	}
	values := take(n)
	if bad {
		return nil, errModel
	}
	m.Words.Values = make([]int8, n)
	for i, v := range values {
		m.Words.Values[i] = int8(v)
	}
	for _, e := range [...]*Ensemble{&m.First, &m.Second} {
		head := take(4)
		k := int(uvarint())
		if bad || k > len(b) {
			return nil, errModel
		}
		e.Bias = math.Float32frombits(binary.LittleEndian.Uint32(head))
		e.Trees = make([]Tree, k)
		for i := range e.Trees {
			t := &e.Trees[i]
			d := take(1)
			if bad || d[0] > 7 {
				return nil, errModel
			}
			for range d[0] {
				t.Feature = append(t.Feature, uint16(uvarint()))
				v := take(4)
				if bad {
					return nil, errModel
				}
				t.Threshold = append(t.Threshold, math.Float32frombits(binary.LittleEndian.Uint32(v)))
			}
			leaves := take(2 << d[0])
			if bad {
				return nil, errModel
			}
			t.Leaf = make([]float32, 1<<d[0])
			for j := range t.Leaf {
				t.Leaf[j] = float32(int16(binary.LittleEndian.Uint16(leaves[2*j:]))) / leafScale
			}
		}
	}
	if len(b) != 0 {
		return nil, errModel
	}
	return m, nil
}

// NewWords sorts a map into a lexicon.
func NewWords(odds map[Token]float32) Words {
	var w Words
	for t := range odds {
		w.Tokens = append(w.Tokens, t)
	}
	slices.Sort(w.Tokens)
	for _, t := range w.Tokens {
		w.Values = append(w.Values, int8(max(-127, min(127, math.Round(float64(odds[t])*16)))))
	}
	return w
}

// Containers concentrate: raising probabilities to this power before containers are compared makes few sure
// units weigh more than many doubtful ones. Pages that say that they are articles have one container.
const (
	containerPower = 1.5
	articlePower   = 3.0
)

// A page has up to maxContainers: a question and its answers, the parts of a shop's page. A further one has to
// raise what they promise together by minContainerGain.
const (
	maxContainers    = 8
	minContainerGain = 0.0005
)

// Choice is what Choose decided.
type Choice struct {
	Keep []bool
	// Inside says of each unit whether it lies in a container: the elements whose units promise the best balance
	// when they are taken whole.
	Inside []bool
	// Promise is the F1 of words that the choice promises; Recall the share of the wanted words it keeps.
	Promise, Recall float64
	// Cut is the lowest probability that was kept.
	Cut float32
}

// Choose marks the units to keep. With probability p[i] that unit i is wanted, keeping a set S promises
// 2*sum(w*p over S) / (sum(w over S) + sum(w*p)): the F1 of words. The best set is a prefix of the units in
// order of p, so one sort finds it. Units outside the best containers are doubted first: that what stands
// there is wanted or not is one question, not one for each of them.
func Choose(p *Page, prob []float32, article bool) Choice {
	n := len(p.Units)
	c := Choice{Keep: make([]bool, n), Inside: make([]bool, n), Cut: 1}
	if n == 0 {
		return c
	}
	power := containerPower
	if article {
		power = articlePower
	}
	inside := containers(p, prob, power)
	order := make([]int32, n)
	q := make([]float32, n)
	var wanted float64
	for i := range order {
		order[i] = int32(i)
		q[i] = prob[i]
		if c.Inside[i] = inside[p.Units[i].Elem]; !c.Inside[i] {
			q[i] *= q[i] / 2
		}
		wanted += float64(p.Units[i].Words+1) * float64(q[i])
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(q[b], q[a]), cmp.Compare(a, b))
	})
	var size, hit float64
	cut := 0
	for k, i := range order {
		w := float64(p.Units[i].Words + 1)
		size += w
		hit += w * float64(q[i])
		if f := 2 * hit / (size + wanted); f > c.Promise {
			c.Promise, c.Recall, cut = f, hit/wanted, k+1
		}
	}
	for _, i := range order[:cut] {
		c.Keep[i] = true
		c.Cut = min(c.Cut, prob[i])
	}
	return c
}

// containers marks all elements inside those whose units, taken all together, promise the best F1 of words.
// They are found one after the other, each apart from the ones before.
func containers(p *Page, prob []float32, power float64) (inside []bool) {
	n := len(p.Elems)
	words, wanted := make([]float64, n), make([]float64, n)
	var all float64
	for i := range p.Units {
		u := &p.Units[i]
		w := float64(u.Words) + 1
		v := w * math.Pow(float64(prob[i]), power)
		words[u.Elem] += w
		wanted[u.Elem] += v
		all += v
	}
	for e := n - 1; e > 0; e-- {
		if q := p.Elems[e].Parent; q >= 0 {
			words[q] += words[e]
			wanted[q] += wanted[e]
		}
	}
	inside = make([]bool, n)
	around := make([]bool, n)
	var hit, size, promise float64
	for range maxContainers {
		best, bestF := -1, promise+minContainerGain
		for e := range n {
			if words[e] == 0 || inside[e] || around[e] {
				continue
			}
			// Of wrappers around the same units the innermost is taken.
			if f := 2 * (hit + wanted[e]) / (size + words[e] + all); f >= bestF {
				best, bestF = e, f
			}
		}
		if best < 0 {
			break
		}
		hit, size, promise = hit+wanted[best], size+words[best], bestF
		for e, below := range p.Below(int32(best)) {
			inside[e] = inside[e] || below
		}
		for q := p.Elems[best].Parent; q >= 0; q = p.Elems[q].Parent {
			around[q] = true
		}
	}
	return inside
}
