package score

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func small() *Model {
	return &Model{
		Words: NewWords(map[Token]float32{1: 0.5, 1 << 31: -2, 77: 9}),
		First: Ensemble{Bias: -0.5, Trees: []Tree{{Feature: []uint16{3, 300}, Threshold: []float32{0.25, -1}, Leaf: []float32{0.5, -0.25, 1, 0}}}},
		Second: Ensemble{Bias: 1, Trees: []Tree{{Feature: []uint16{0}, Threshold: []float32{0}, Leaf: []float32{-1, 1}},
			{Leaf: []float32{0.5}}}},
	}
}

func TestModelSurvivesEncoding(t *testing.T) {
	want := small()
	got, err := Decode(want.Encode())
	if err != nil {
		t.Fatal(err)
	}
	// The last tree asks nothing: its lists of questions are empty one way or the other.
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("model (-want +got):\n%s", diff)
	}
	if v, ok := got.Words.Odds(77); !ok || v != 127.0/16 {
		t.Errorf("odds of 77: %v %v, want the highest that is stored", v, ok)
	}
	if _, ok := got.Words.Odds(2); ok {
		t.Error("odds of an unknown token")
	}
}

func TestWordsFindsEveryToken(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	odds := map[Token]float32{}
	for range 5000 {
		odds[Token(rng.Uint32())] = 1
	}
	for i := range Token(300) {
		odds[i] = -1 // not evenly spread
	}
	w := NewWords(odds)
	for tok, want := range odds {
		if got, ok := w.Odds(tok); !ok || got != want {
			t.Fatalf("token %d: got %v %v, want %v", tok, got, ok, want)
		}
	}
}

func TestEnsembleSums(t *testing.T) {
	e := Ensemble{Bias: 1, Trees: []Tree{{Feature: []uint16{0, 1}, Threshold: []float32{0, 5}, Leaf: []float32{1, 2, 4, 8}}}}
	got := e.Sum(Matrix{{-1, 1, -1, 1}, {0, 0, 6, 6}}, 4)
	if diff := cmp.Diff([]float32{2, 3, 5, 9}, got); diff != "" {
		t.Errorf("sums (-want +got):\n%s", diff)
	}
}

func TestChooseKeepsWhatPromisesMost(t *testing.T) {
	// Two containers in a root: an article of sure units, and a list of doubtful ones.
	p := &Page{
		Elems: []Elem{{Parent: -1, Units: 5}, {Parent: 0, Units: 2}, {Parent: 0, Units: 3}},
		Units: []Unit{{Elem: 1, Words: 99}, {Elem: 1, Words: 49}, {Elem: 2, Words: 9}, {Elem: 2, Words: 9}, {Elem: 2, Words: 9}},
	}
	c := Choose(p, []float32{0.95, 0.8, 0.4, 0.4, 0.3}, true)
	if diff := cmp.Diff([]bool{true, true, false, false, false}, c.Keep); diff != "" {
		t.Errorf("keep (-want +got):\n%s", diff)
	}
	if c.Promise < 0.9 || c.Cut != 0.8 {
		t.Errorf("promise %v, cut %v", c.Promise, c.Cut)
	}
	if c := Choose(&Page{}, nil, false); len(c.Keep) != 0 {
		t.Error("an empty page has units")
	}
}

// FuzzDecode holds that no bytes make Decode panic or ask for more memory than they are.
func FuzzDecode(f *testing.F) {
	f.Add(small().Encode())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := Decode(b); err == nil {
			if again, err := Decode(m.Encode()); err != nil || len(again.Words.Tokens) != len(m.Words.Tokens) {
				t.Errorf("a decoded model does not encode: %v", err)
			}
		}
	})
}
