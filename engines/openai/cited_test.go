package openai

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func number(n int) *float64 {
	f := float64(n)
	return &f
}

// mark builds a block from text in which each citation stands between ‹ and ›.
func mark(text string) block {
	b := block{Type: "output_text"}
	var plain []rune
	for _, r := range text {
		switch r {
		case '‹':
			b.Annotations = append(b.Annotations, annotation{Type: "url_citation", URL: "https://ex.org/", StartIndex: number(len(plain))})
		case '›':
			b.Annotations[len(b.Annotations)-1].EndIndex = number(len(plain))
		default:
			plain = append(plain, r)
		}
	}
	b.Text = string(plain)
	return b
}

func TestSnippets(t *testing.T) {
	const a, b = "[ex.org](https://ex.org/a?utm_source=openai)", "[b.example](https://b.example/)"
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"behind the full stop", "Tides rise. They turn twice a day. ‹(" + a + ")› Winds do not.", []string{"They turn twice a day."}},
		{"before the full stop", "Tides rise. They turn twice a day ‹(" + a + ")›. Winds do not.", []string{"They turn twice a day."}},
		{"in the middle", "Tides ‹(" + a + ")› turn twice a day. Winds do not.", []string{"Tides turn twice a day."}},
		{"only the link is marked", "Tides turn (‹" + a + "›). Winds do not.", []string{"Tides turn."}},
		{"two in one pair of brackets", "Tides turn. (‹" + a + "›, ‹" + b + "›) Winds do not.", []string{"Tides turn.", "Tides turn."}},
		{"three in one pair of brackets", "Tides turn (‹" + a + "›, ‹" + b + "›; ‹" + a + "›).", []string{"Tides turn.", "Tides turn.", "Tides turn."}},
		{"two marks in a row", "Tides turn. ‹(" + a + ")› ‹(" + b + ")›\nWinds do not.", []string{"Tides turn.", "Tides turn."}},
		{"one sentence each", "Tides turn. ‹(" + a + ")› Winds do not. ‹(" + b + ")›", []string{"Tides turn.", "Winds do not."}},
		{"spaces before a line end", "Tides turn.   ‹(" + a + ")›\nWinds do not.", []string{"Tides turn."}},
		{"link behind the full stop", "Tides turn. ‹" + a + "› Winds do not.", []string{"Tides turn."}},
		{"link as a word", "As ‹[the survey](https://ex.org/)› says, tides turn. Winds do not.", []string{"As the survey says, tides turn."}},
		{"link that begins a sentence", "Winds do not. ‹[The survey](https://ex.org/)› says that tides turn.", []string{"The survey says that tides turn."}},
		{"link that begins a bracket", "Tides turn (‹[the survey](https://ex.org/)› has more).", []string{"Tides turn (the survey has more)."}},
		{"list", "# Tides\n\n- **Spring tide:** the larger one. ‹(" + a + ")›\n- Neap tide is the smaller one ‹(" + b + ")›\n", []string{"**Spring tide:** the larger one.", "Neap tide is the smaller one"}},
		{"numbered list", "1. Tides turn. ‹(" + a + ")›\n2. Winds do not. ‹(" + b + ")›", []string{"1. Tides turn.", "2. Winds do not."}},
		{"on a line of its own", "Tides turn. So it is.\n\n‹(" + a + ")›\n\nWinds do not.", []string{"So it is."}},
		{"before its line", "Winds do not.\n‹(" + a + ")› Tides turn. Really.", []string{"Tides turn."}},
		{"before everything", "‹(" + a + ")› Tides turn. Really.", []string{"Tides turn."}},
		{"nothing else", "‹(" + a + ")›", []string{""}},
		{"the sentence itself is marked", "‹Tides turn twice a day.› Winds do not.", []string{"Tides turn twice a day."}},
		{"words are marked", "Winds do not. Tides ‹turn twice› a day. So.", []string{"Tides turn twice a day."}},
		{"words of two sentences", "So. Tides ‹turn. Winds› do not. So.", []string{"Tides turn. Winds do not."}},
		{"one character short", "Tides turn. ‹(" + a + "›) Winds do not.", []string{"Tides turn."}},
		{"characters beyond the BMP", "🌊🌊🌊 Tides turn. 👨‍👩‍👧 See them. ‹(" + a + ")› Winds do not.", []string{"👨‍👩‍👧 See them."}},
		{"Chinese", "潮汐每天两次。风不同。‹(" + a + ")›月亮是原因。", []string{"风不同。"}},
		{"Japanese in brackets", "潮は満ちる。「引く。」という。‹【1†source】›風は違う。", []string{"という。"}},
		{"Arabic", "المد يتغير؟ نعم. ‹(" + a + ")› الرياح لا.", []string{"نعم."}},
		{"abbreviations", "Winds do not. Dr. A. Smith of the U.S. Survey, e.g. in Vol. 2 of ex.org, put it at 3.5 m. ‹(" + a + ")›", []string{"Dr. A. Smith of the U.S. Survey, e.g. in Vol. 2 of ex.org, put it at 3.5 m."}},
		{"address inside", "Winds do not. See https://ex.org/a.b?c=d. Tides turn! ‹(" + a + ")›", []string{"Tides turn!"}},
		{"quotation", "He said: “Tides turn.” ‹(" + a + ")› Then he left.", []string{"He said: “Tides turn.”"}},
		{"number in brackets", "Tides turn.‹[1]› Winds do not.", []string{"Tides turn."}},
		{"private-use mark", "Tides turn. ‹\ue200cite\ue202turn0search0\ue201›", []string{"Tides turn."}},
		{"table", "| Tide | Height |\n| --- | --- |\n| Spring | 3 m ‹(" + a + ")› |\n", []string{"| Spring | 3 m |"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := mark(tc.text)
			c := newCited(b)
			var got []string
			for i := range b.Annotations {
				got = append(got, c.snippet(i))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("snippets (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnusablePlaces holds what happens where a citation says nothing usable about its place.
func TestUnusablePlaces(t *testing.T) {
	huge := 1e300
	text := "Tides turn. Winds do not."
	for _, tc := range []struct {
		name, text string
		start, end *float64
		want       string
	}{
		{"none", text, nil, nil, text},
		{"no end", text, number(0), nil, text},
		{"nothing", text, number(3), number(3), text},
		{"backwards", text, number(9), number(3), text},
		{"negative", text, number(-5), number(3), text},
		{"behind the text", text, number(25), number(30), text},
		{"far behind the text", text, &huge, &huge, text},
		{"end behind the text", text, number(14), &huge, "Winds do not."},
		{"long text", strings.Repeat(text, 100), nil, nil, ""},
		{"all of a long text", strings.Repeat(text, 100), number(0), number(2500), ""},
		{"empty text", "", number(0), number(1), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := block{Text: tc.text, Annotations: []annotation{{Type: "url_citation", StartIndex: tc.start, EndIndex: tc.end}}}
			if got := newCited(b).snippet(0); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSentencesAreBounded(t *testing.T) {
	words := strings.Repeat("tide ", 1000)
	b := mark(words + "‹(https://ex.org/)›")
	if got := newCited(b).snippet(0); utf8.RuneCountInString(got) > maxSentenceChars || !strings.HasPrefix(got, "tide ") || !strings.HasSuffix(got, " tide") {
		t.Errorf("got %d characters: %q", utf8.RuneCountInString(got), got)
	}
}

// FuzzCited holds that whatever offsets say, a snippet is a bounded part of sound text, twice the same.
func FuzzCited(f *testing.F) {
	f.Add("Tides turn. ([a](https://ex.org/)) Winds do not.", 12, 34, 0, 3)
	f.Add("潮。([a](u), [b](u))\n- x", 3, 9, 11, 17)
	f.Add("[a](b)[c](d)", 0, 6, 6, 12)
	f.Add("a. \n\n(http", -1, 99, 5, 10)
	f.Fuzz(func(t *testing.T, text string, s1, e1, s2, e2 int) {
		b := block{Text: strings.ToValidUTF8(text, "\ufffd"), Annotations: []annotation{
			{Type: "url_citation", StartIndex: number(s1), EndIndex: number(e1)},
			{Type: "url_citation", StartIndex: number(s2), EndIndex: number(e2)},
			{Type: "url_citation"},
		}}
		c, again := newCited(b), newCited(b)
		for i := range b.Annotations {
			got := c.snippet(i)
			if got != again.snippet(i) || !utf8.ValidString(got) || strings.TrimSpace(got) != got {
				t.Errorf("snippet %q", got)
			}
			if n := utf8.RuneCountInString(got); n > maxSupportedChars+2*maxSentenceChars || n > utf8.RuneCountInString(b.Text) {
				t.Errorf("%d characters of %d", n, utf8.RuneCountInString(b.Text))
			}
		}
		for i, s := range c.sentences {
			if s.start >= s.end || s.end > len(c.text) || s.end-s.start > maxSentenceChars || i > 0 && s.start < c.sentences[i-1].end {
				t.Fatalf("sentences %v of %d characters", c.sentences, len(c.text))
			}
		}
	})
}
