package blocks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/browse/blocks/internal/score"
)

// TestWhatBelongsTogether gives a choice by hand and asks what is added to it.
func TestWhatBelongsTogether(t *testing.T) {
	const items = "<ul><li>alpha</li><li>beta</li><li>gamma</li></ul>"
	const contents = "<ul><li><a href='#a'>alpha</a></li><li><a href=' #b'>beta</a></li><li><a href='#c'>gamma</a></li></ul>"
	const elsewhere = "<ul><li><a href='/a'>alpha</a></li><li><a href='/b'>beta</a></li><li><a href='/c'>gamma</a></li></ul>"
	for _, tt := range []struct {
		name, page string
		chosen     string // the texts that the model is made to choose
		inside     bool
		want       []string
	}{
		{"a colon introduces a list", "<p>What is there:</p>" + items, "What is there:", true, []string{"What is there:", "alpha", "beta", "gamma"}},
		{"no colon, no list", "<p>What is there.</p>" + items, "What is there.", true, []string{"What is there."}},
		{"a list outside the container", "<p>What is there:</p>" + items, "What is there:", false, []string{"What is there:"}},
		{"what introduces it was not chosen", "<p>What is there:</p>" + items + "<p>x</p>", "x", true, []string{"x"}},
		{"a table of contents", contents + "<p>x</p>", "x", true, []string{"alpha", "beta", "gamma", "x"}},
		{"an item speaks for its list", "<p>x</p>" + items, "beta", true, []string{"alpha", "beta", "gamma"}},
		{"a menu", elsewhere + "<p>x</p>", "x", true, []string{"x"}},
		{"the topic", "<h1>Old</h1><h1>Topic</h1><p>y</p><p>x</p><h1>Later</h1>", "x", true, []string{"Topic", "x"}},
	} {
		c, _ := read([]byte(tt.page), false)
		keep := make([]bool, len(c.drafts))
		prob := make([]float32, len(keep))
		choice := score.Choice{Inside: make([]bool, len(keep)), Cut: 0.5}
		text := func(i int) string { return string(c.text[c.drafts[i].start:c.drafts[i].end]) }
		for i := range keep {
			keep[i] = text(i) == tt.chosen
			choice.Inside[i] = tt.inside
			prob[i] = 0.3
		}
		c.completeLists(choice, keep)
		c.keepTopic(prob, choice.Cut, keep)
		var got []string
		for i := range keep {
			if keep[i] {
				got = append(got, text(i))
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
