package summary

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"latin": {"One cat sat. Two dogs ran! Did it rain? Yes.", []string{"One cat sat.", "Two dogs ran!", "Did it rain?", "Yes."}},
		"dots inside words and numbers": {"Version 1.26.3 of example.com costs 3.50 now. It was 4.",
			[]string{"Version 1.26.3 of example.com costs 3.50 now.", "It was 4."}},
		"abbreviations":      {"Dr. Okoye met J. Doe, e.g. at noon. They left.", []string{"Dr. Okoye met J. Doe, e.g. at noon.", "They left."}},
		"quotes stay":        {"He said “stop.” She did.", []string{"He said “stop.”", "She did."}},
		"chinese":            {"今天下雨。我们在家！好吗？好。", []string{"今天下雨。", "我们在家！", "好吗？", "好。"}},
		"japanese quotes":    {"「行こう。」と言った。雨だ。", []string{"「行こう。」", "と言った。", "雨だ。"}},
		"hindi":              {"यह एक है। वह दो है।", []string{"यह एक है।", "वह दो है।"}},
		"wrapped lines join": {"The committee that met in the old town hall\ndecided nothing at all. It went home.", []string{"The committee that met in the old town hall decided nothing at all.", "It went home."}},
		"short lines do not": {"Name\nAddress\nTown", []string{"Name", "Address", "Town"}},
		"list items":         {"1. Open the box\n2. Close the box\n- third", []string{"1. Open the box", "2. Close the box", "third"}},
		"headings":           {"# A title\nText here.\n## Part\nMore.", []string{"A title", "Text here.", "Part", "More."}},
		"fences and tables":  {"```go\nx := 1\ny := 2\n```\n| a | b |\n|---|---|\n| c | d |", []string{"x := 1", "y := 2", "a | b", "c | d"}},
		"nothing to see":     {" \u200b\n\x00\n\t", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, u := range split(tt.text) {
				got = append(got, u.text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("units (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLongUnitsAreCutBetweenWords(t *testing.T) {
	text := strings.Repeat("alpha beta, ", 200)
	for _, u := range split(text) {
		if n := utf8.RuneCountInString(u.text); n > maxUnitChars || !strings.HasPrefix(u.text, "alpha") || !strings.HasSuffix(u.text, "beta,") {
			t.Errorf("unit of %d chars: %q ... %q", n, u.text[:12], u.text[len(u.text)-12:])
		}
	}
	// A family joined by U+200D is one thing to the eye.
	for _, u := range split(strings.Repeat("👩\u200d👧\u200d👦", 300)) {
		if !strings.HasPrefix(u.text, "👩") && !strings.HasPrefix(u.text, "👧") && !strings.HasPrefix(u.text, "👦") || strings.HasSuffix(u.text, "\u200d") {
			t.Errorf("unit parts a joined emoji: %+q", u.text[:16])
		}
	}
}

func TestWords(t *testing.T) {
	var got []string
	words("The Installation of AI in x86 settings, 东京都へ a1 字 caf\u0065\u0301 на is", func(w string) { got = append(got, w) })
	want := []string{"install", "ai", "x86", "setting", "东京", "京都", "都へ", "a1", "字", "cafe\u0301"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}

func TestFlattenJSON(t *testing.T) {
	for name, tt := range map[string]struct {
		text, want string
		ok         bool
	}{
		"object":      {`{"name":"web","size":3,"gone":null,"on":true}`, "name: web; size: 3; on: true\n\n", true},
		"nested":      {`{"name":"web","files":["a","b"],"by":{"who":"me"}}`, "name: web\n\nfiles: a; b\n\nwho: me\n\n", true},
		"lines":       {"{\"a\":1}\n{\"a\":2}\n", "a: 1\n\na: 2\n\n", true},
		"escapes":     {`["caf\u00e9 \"x\"\nnext"]`, "café \"x\" next\n\n", true},
		"long value":  {`{"a":"b","text":"` + strings.Repeat("word ", 30) + `"}`, "a: b\n\ntext: " + strings.TrimSpace(strings.Repeat("word ", 30)) + "\n\n", true},
		"no values":   {`{"a":{},"b":[null]}`, "", false},
		"not json":    {"[link](https://example.com) and text", "", false},
		"broken":      {`{"a":1`, "", false},
		"plain":       {"text", "", false},
		"names twice": {`{"a":1,"a":2}`, "a: 1; a: 2\n\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := flattenJSON(tt.text)
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("flattenJSON = %q, %v; want %q, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestFromMarkdown(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"link":       {"See [the guide](https://example.com/a_(b)) now.", "See the guide now."},
		"image link": {"[![logo](a.png)](https://example.com)x", "logox"},
		"footnote":   {"As said [1] in [a](b).", "As said [1] in a."},
		"escapes":    {`snake\_case and **bold** and ` + "`code`", "snake_case and bold and code"},
		"fence":      {"```\n[a](b) **c**\n```\n", "```\n[a](b) **c**\n```\n"},
		"unclosed":   {"[a](b and more\n", "a](b and more\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := FromMarkdown(tt.in); got != tt.want {
				t.Errorf("FromMarkdown(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// article is about bees; one sentence of it is about the price of honey.
func article() string {
	var b strings.Builder
	b.WriteString("# Bees in the city\n\nBees in the city find more flowers than bees in the fields. ")
	for i := range 30 {
		fmt.Fprintf(&b, "On day %d somebody looked out of window %d and noticed the usual traffic below.\n\n", i, i*7)
		if i == 14 {
			b.WriteString("A beekeeper's flowers decide how city bees live through winter.\n\n")
		}
		if i == 20 {
			b.WriteString("A jar of honey costs nine francs at the market.\n\n")
		}
	}
	return b.String()
}

func TestExtractiveChoosesWhatTheTextIsAbout(t *testing.T) {
	got := Extractive(article(), "", 300)
	if !strings.Contains(got, "find more flowers") || !strings.Contains(got, "live through winter") {
		t.Errorf("central sentences are missing from %q", got)
	}
	if strings.Index(got, "find more flowers") > strings.Index(got, "live through winter") {
		t.Errorf("the order of the text is lost: %q", got)
	}
	if strings.Count(got, "usual traffic") > 2 {
		t.Errorf("the same is said again and again: %q", got)
	}
}

func TestTheNextSentenceSaysSomethingElse(t *testing.T) {
	text := "Pilots train. The glacier melts faster every summer. Each summer the glacier melts faster again. " +
		"Every glacier melts, faster each summer. Trains reach the valley twice. Hotels close early.\n"
	got := Extractive(text, "", 90)
	if n := strings.Count(got, "glacier"); n != 1 || !strings.Contains(got, "valley") {
		t.Errorf("the glacier is in %d sentences of %q", n, got)
	}
}

func TestReasonDrawsTheChoice(t *testing.T) {
	const wanted = "nine francs"
	if got := Extractive(article(), "the price: what does honey cost at a market?", 120); !strings.Contains(got, wanted) {
		t.Errorf("with a reason: %q lacks %q", got, wanted)
	}
	zh := strings.Repeat("市中心的交通一如既往。", 1) + "蜜蜂在城市里找到更多花。蜂蜜的价格是九法郎。冬天很长，窗外的人不多。夏天也很长。"
	if got := Extractive(zh, "蜂蜜价格", 15); got != "蜂蜜的价格是九法郎。" {
		t.Errorf("Chinese with a reason: %q", got)
	}
}

func TestExtractive(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		max  int
		want string
	}{
		"short text stays":         {"One thing.\n\nAnother thing.", 100, "One thing.\nAnother thing."},
		"sentences share a line":   {"One thing. Another thing.", 100, "One thing. Another thing."},
		"repeats are said once":    {"Same.\n\nSame.\n\nSame.", 100, "Same."},
		"too long is cut visibly":  {strings.Repeat("wonder ", 20), 20, "wonder wonder…"},
		"no room":                  {"text", 0, ""},
		"room for one":             {"text", 1, "…"},
		"invalid bytes":            {"a\xffb", 100, "a\ufffdb"},
		"json without syntax":      {`{"title":"T","n":1}`, 100, "title: T; n: 1"},
		"hidden characters":        {"pass\u200bword \u202eabc", 100, "password abc"},
		"nothing":                  {"", 100, ""},
		"marks only are something": {"!!! ???", 100, "!!! ???"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Extractive(tt.text, "", tt.max); got != tt.want {
				t.Errorf("Extractive = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPickKeepsLinesWhole(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("Result %d. About things. — words (https://example.com/%d)", i, i))
	}
	lines[33] = "Cheap bicycles. Where to buy. — shop (https://example.com/33)"
	got := Pick(lines, "buy a bicycle", 300)
	if !strings.Contains(got, lines[33]) {
		t.Errorf("the line asked for is missing from %q", got)
	}
	for l := range strings.SplitSeq(got, "\n") {
		if !strings.HasSuffix(l, ")") {
			t.Errorf("line %q is not whole", l)
		}
	}
}

func TestSampleReadsTheWholeLength(t *testing.T) {
	text := strings.Repeat("é word ", 900_000) + "\n\nThe end of it."
	got := sample(text)
	if len(got) > maxScanBytes+1000 || !utf8.ValidString(got) || !strings.HasSuffix(got, "The end of it.") {
		t.Errorf("sample of %d bytes: %d bytes, valid %v, ends %q", len(text), len(got), utf8.ValidString(got), got[len(got)-20:])
	}
}

func FuzzExtractive(f *testing.F) {
	f.Add("One. Two! Three?", "two", 10)
	f.Add("今天下雨。我们在家！", "下雨", 5)
	f.Add(`{"a":[1,{"b":"c"}],"d":null}`, "", 20)
	f.Add("# H\n\n```\nx\n```\n| a |\n|---|\n[a](b)", "h", 9)
	f.Add("\xff\xfe\u200d👩\u200d👧\u0301", "\xff", 2)
	f.Add("a.b.c. D. 1. e.g. \"X.\" y", "b", 3)
	f.Fuzz(func(t *testing.T, text, reason string, maxChars int) {
		maxChars %= 3000
		got := Extractive(FromMarkdown(text), reason, maxChars)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > max(0, maxChars) {
			t.Errorf("%d characters of at most %d, valid %v", utf8.RuneCountInString(got), maxChars, utf8.ValidString(got))
		}
		if again := Extractive(FromMarkdown(text), reason, maxChars); again != got {
			t.Errorf("second run differs: %q, %q", got, again)
		}
		said := strings.IndexFunc(strings.ToValidUTF8(text, ""), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
		if direct := Extractive(text, reason, maxChars); said && maxChars > 0 && direct == "" {
			t.Errorf("text with words gives an empty summary")
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Errorf("control characters in %q", got)
		}
	})
}

// BenchmarkExtractive compares sizes: ten times the text must not cost much more than ten times the time.
func BenchmarkExtractive(b *testing.B) {
	for _, size := range []int{50_000, 500_000, 5_000_000} {
		var text strings.Builder
		for i := 0; text.Len() < size; i++ {
			fmt.Fprintf(&text, "Sentence %d speaks of topic%d and of topic%d at some length. ", i, i%97, i%1009)
			if i%5 == 0 {
				text.WriteString("\n\n")
			}
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				Extractive(text.String(), "what is said of topic42", DefaultChars)
			}
		})
	}
	for name, text := range map[string]string{
		"tiny": strings.Repeat("a. B! ", 900_000), "one word": strings.Repeat("x", 5_000_000), "brackets": strings.Repeat("[", 5_000_000),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Extractive(FromMarkdown(text), "a", DefaultChars)
			}
		})
	}
}
