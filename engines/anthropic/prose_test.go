package anthropic

import "testing"

// TestProse joins blocks of text; "|" is where another block stood between two of them.
func TestProse(t *testing.T) {
	for _, tc := range []struct {
		name   string
		blocks []string
		want   string
	}{
		{"nothing", nil, ""},
		{"white space alone", []string{" ", "\n"}, ""},
		{"as it came", []string{" a ", "", "\n"}, " a \n"},
		{"a sentence parted at its citation", []string{"Shannon was born ", "in Petoskey, Michigan", ". He", " grew up in Gaylord."}, "Shannon was born in Petoskey, Michigan. He grew up in Gaylord."},
		{"brackets and quotes", []string{"Tides turn (", "twice a day", "). “So it is.", "”"}, "Tides turn (twice a day). “So it is.”"},
		{"sentences without a space", []string{"Tides turn.", "Winds do not."}, "Tides turn.\nWinds do not."},
		{"paragraphs", []string{"Tides turn.\n", "Winds do not.", "\n\nSo it is."}, "Tides turn.\nWinds do not.\n\nSo it is."},
		{"words without a space", []string{"Tides", "turn", "2", "times"}, "Tides turn 2 times"},
		{"a number and a name", []string{"It is 3.", "5 m at ex.", "org"}, "It is 3.5 m at ex.org"},
		{"scripts without spaces", []string{"潮汐", "每天两次", "。风不同"}, "潮汐每天两次。风不同"},
		{"before and after a search", []string{"Let me look", "|", "Tides turn"}, "Let me look\nTides turn"},
		{"a line end is enough", []string{"Let me look.\n", "|", "Tides turn"}, "Let me look.\nTides turn"},
		{"an item that is introduced", []string{"There are two:", "1. Tides"}, "There are two:\n1. Tides"},
		{"two searches in between", []string{"|", "a", "|", "|", "b"}, "a\nb"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p prose
			for _, b := range tc.blocks {
				if b == "|" {
					p.interrupt()
					continue
				}
				p.add(b)
			}
			if got := p.String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
