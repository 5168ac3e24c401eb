package action

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"web/engines"
	"web/spill"
)

// bench is a working directory in which raw answers are summarized.
type bench struct {
	t   *testing.T
	dir string
	summarizing
	mind *mind
}

// mind is a model that says what the test says.
type mind struct {
	text string
	err  error
	// asking runs while it is asked.
	asking func(input, reason string)
	asked  int
}

func (*mind) Name() string { return engines.Anthropic }

func (m *mind) Summarize(_ context.Context, input, reason string) (string, error) {
	m.asked++
	if m.asking != nil {
		m.asking(input, reason)
	}
	return m.text, m.err
}

// newBench has no model until mind is set.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	root, err := os.OpenRoot(b.dir)
	must(t, err)
	t.Cleanup(func() { _ = root.Close() })
	now := func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 890123000, time.UTC) }
	b.summarizing = summarizing{store: spill.Store{Root: root, Now: now}, now: now, model: func() (Summarizer, error) {
		if b.mind == nil {
			return nil, nil
		}
		return b.mind, nil
	}}
	return b
}

// ask summarizes a raw answer and gives the replacement as it is and as it is written.
func (b *bench) ask(raw Answer, reason string) (*SummaryAnswer, map[string]any) {
	b.t.Helper()
	a := b.replace(b.t.Context(), &Envelope{Action: Search, Reasoning: reason, Summarize: true}, raw)
	s, ok := a.(*SummaryAnswer)
	if !ok {
		b.t.Fatalf("no replacement: %s", Marshal(a))
	}
	return s, wire(b.t, a)
}

func wire(t *testing.T, a Answer) map[string]any {
	t.Helper()
	var out map[string]any
	must(t, json.Unmarshal(Marshal(a), &out))
	return out
}

// kept reads the raw result that a replacement points to and holds it against the hash.
func (b *bench) kept(s *SummaryAnswer) []byte {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(s.RawLocator.FilePath)))
	must(b.t, err)
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != s.RawSHA256 {
		b.t.Errorf("hash of the kept result is %x, want %s", sum, s.RawSHA256)
	}
	return data
}

func (b *bench) files() []string {
	b.t.Helper()
	list, err := b.store.List()
	must(b.t, err)
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = f.Path
	}
	return out
}

// tail is in every raw result and says nothing, so no summary quotes it.
const tail = "It was so then, and so it is now."

// chatter is n different sentences about nothing.
func chatter(n int) string {
	var b strings.Builder
	who, did, what := []string{"Someone", "Nobody", "Everybody"}, []string{"painted", "sold", "admired", "forgot", "carried"}, []string{"fences", "lamps", "boats", "hats"}
	for i := range n {
		fmt.Fprintf(&b, "%s %s the %s of the neighbours. ", who[i%3], did[i%5], what[i%4])
	}
	return b.String()
}

func foundItems(n int) []ResultItem {
	items := make([]ResultItem, n)
	for i := range items {
		ref := fmt.Sprintf("ln_%016x", i)
		items[i] = ResultItem{
			Title: fmt.Sprintf("Result %d", i), URL: fmt.Sprintf("https://ex.org/%d", i),
			Snippet: strings.Repeat("About many things of the day. ", 12) + tail, LinkRef: &ref,
		}
	}
	items[n/2].Title = "Tuning a piano at home"
	return items
}

// deliver keeps text in a file when it is longer than threshold.
func (b *bench) deliver(name Name, ext, text string, threshold int) Delivery {
	b.t.Helper()
	chars := utf8.RuneCountInString(text)
	if chars <= threshold {
		return Delivery{Kind: "inline", ContentChars: chars}
	}
	a, err := b.store.Write(string(name), ext, []byte(text))
	must(b.t, err)
	return Delivery{Kind: "artifact", ContentChars: a.Chars, ArtifactFields: &ArtifactFields{FilePath: a.Path, SHA256: a.SHA256}}
}

// found is a search's answer; with a threshold it is delivered as an artifact.
func (b *bench) found(items []ResultItem, narrative *string, threshold int) *SearchAnswer {
	b.t.Helper()
	a := &SearchAnswer{
		Status: OK, Action: Search, Query: "q", Engine: "duckduckgo", ActualEngine: "duckduckgo", Count: len(items), Untrusted: true,
		Setting: CurrentSetting{Source: "built_in_default"},
	}
	d := b.deliver(Search, "json", string(canonicalResults(items, narrative)), threshold)
	if a.Delivery = d; d.ArtifactFields == nil {
		a.Results, a.Narrative = &items, narrative
	}
	return a
}

// page is a page's answer as far as a summary looks at it.
type page struct {
	Status Status       `json:"status"`
	Title  string       `json:"title"`
	Blocks *[]BlockItem `json:"blocks,omitzero"`
	Delivery
	markdown string
}

func (p *page) State() Status { return p.Status }

func (p *page) summarySource() source {
	return source{action: Browse, untrusted: true, delivery: p.Delivery, read: func([]byte) reading { return pageReading(p.Title, p.markdown) }}
}

func (b *bench) page(threshold int) *page {
	b.t.Helper()
	blocks := []BlockItem{{ID: blockID(1), Kind: "heading", Text: "Pianos", Level: 1}}
	for i := range 60 {
		blocks = append(blocks, BlockItem{ID: blockID(i + 2), Kind: "paragraph", Text: fmt.Sprintf("Visitor %d looked around and left.", i)})
	}
	blocks[40].Text = "Tuning a piano at home takes a lever and patience."
	blocks[41].Text += " " + tail
	p := &page{Status: OK, Title: "Pianos"}
	var md strings.Builder
	for _, bl := range blocks {
		md.WriteString(bl.Text + "\n\n")
	}
	p.markdown = md.String()
	d := b.deliver(Browse, "md", p.markdown, threshold)
	if p.Delivery = d; d.ArtifactFields == nil {
		p.Blocks = &blocks
	}
	return p
}

func guide(text string) *ManualAnswer {
	return &ManualAnswer{Status: OK, Action: Manual, Manual: text, Source: "embedded"}
}

func longGuide() string {
	return "---\nname: web\n---\n# Finding sources\n\nSearch first. " + chatter(60) + tail
}

const whole, spilled = 1_000_000, 100

func summaryAnswers(b *bench) map[string]Answer {
	narrative := "Pianos are tuned with a lever. " + chatter(60) + tail
	return map[string]Answer{
		"search":                        b.found(foundItems(20), nil, whole),
		"search with an answer":         b.found(foundItems(20), &narrative, whole),
		"spilled search":                b.found(foundItems(20), nil, spilled),
		"spilled search with an answer": b.found(foundItems(20), &narrative, spilled),
		"page":                          b.page(whole),
		"spilled page":                  b.page(spilled),
		"manual":                        guide(longGuide()),
	}
}

// TestSummaryCases runs the acceptance cases 146 to 150 of the contract by their numbers.
func TestSummaryCases(t *testing.T) {
	for _, tt := range []struct {
		n    int
		name string
		run  func(t *testing.T)
	}{
		{146, "a success becomes a replacement and its raw result a file", case146},
		{146, "side by side", case146Parallel},
		{146, "the file is there before the summary", case146Before},
		{147, "a failure stays as it is", case147},
		{148, "a summarizer that fails", case148},
		{148, "nobody can summarize", case148Nobody},
		{149, "too long", case149},
		{149, "already a replacement", case149Again},
		{150, "the fields", case150},
	} {
		t.Run(fmt.Sprintf("%d %s", tt.n, tt.name), tt.run)
	}
}

func case146(t *testing.T) {
	b := newBench(t)
	for name, raw := range summaryAnswers(b) {
		t.Run(name, func(t *testing.T) {
			b := *b
			b.t = t
			s, got := b.ask(raw, "how to tune a piano at home")
			if got["artifact"] != SummaryMarker || got["summary_kind"] != "apriori_generated" || got["summarizer"] != "extractive" {
				t.Errorf("no generated replacement: %v", got)
			}
			if got["status"] != "ok" || s.State() != OK {
				t.Errorf("status %v, State() %q", got["status"], s.State())
			}
			for _, key := range []string{"results", "answer", "blocks", "manual", "current_setting", "file_path", "content_sha256"} {
				if v, ok := got[key]; ok {
					t.Errorf("the replacement holds %s of the raw result: %v", key, v)
				}
			}
			if shown := Marshal(s); bytes.Contains(shown, []byte(tail)) {
				t.Errorf("raw text in the replacement: %s", shown)
			}
			if strings.ContainsAny(s.Summary, "{}\\") || strings.Contains(s.Summary, `": "`) {
				t.Errorf("syntax in the summary: %q", s.Summary)
			}
			if n := utf8.RuneCountInString(s.Summary); n > 1500 {
				t.Errorf("summary of %d characters", n)
			}
			if want := "una piano"; name != "manual" && !strings.Contains(strings.ReplaceAll(s.Summary, "uning a", "una"), want) {
				t.Errorf("what the reason asks for is missing from %q", s.Summary)
			}
			var kept map[string]any
			must(t, json.Unmarshal(b.kept(s), &kept))
			if diff := cmp.Diff(wire(t, raw), kept); diff != "" {
				t.Errorf("kept result (-raw +kept):\n%s", diff)
			}
			if bytes.ContainsRune(b.kept(s), '\n') {
				t.Error("the kept result is not one line")
			}
			if strings.HasPrefix(name, "spilled") != (s.ContentPath != "") {
				t.Errorf("content_file_path %q", s.ContentPath)
			}
			if s.ContentPath != "" && !strings.Contains(s.RetrievalHint, s.ContentPath) {
				t.Errorf("the hint does not name the content: %q", s.RetrievalHint)
			}
		})
	}
	s, _ := b.ask(b.found(foundItems(20), nil, spilled), "piano")
	if !strings.Contains(s.Summary, "Tuning a piano at home — About many things") || !strings.Contains(s.Summary, "(https://ex.org/10)") {
		t.Errorf("a result's title and URL are missing from %q", s.Summary)
	}
}

func case146Parallel(t *testing.T) {
	b := newBench(t)
	raw := b.found(foundItems(20), nil, whole)
	var wg sync.WaitGroup
	got := make([]*SummaryAnswer, 8)
	for i := range got {
		wg.Go(func() {
			got[i], _ = b.replace(t.Context(), &Envelope{Action: Search, Reasoning: "piano"}, raw).(*SummaryAnswer)
		})
	}
	wg.Wait()
	paths := map[string]bool{}
	for i, s := range got {
		if s == nil || s.Kind != summaryGenerated {
			t.Fatalf("call %d has no summary: %+v", i, s)
		}
		b.kept(s)
		paths[s.RawLocator.FilePath] = true
		if s.Summary != got[0].Summary {
			t.Errorf("two summaries of the same result: %q, %q", s.Summary, got[0].Summary)
		}
	}
	if len(paths) != len(got) {
		t.Errorf("%d files for %d results", len(paths), len(got))
	}
}

func case146Before(t *testing.T) {
	b := newBench(t)
	raw := b.found(foundItems(20), nil, spilled)
	b.mind = &mind{text: " Short. ", asking: func(input, reason string) {
		var kept []byte
		for _, path := range b.files() {
			if path != raw.FilePath {
				var err error
				kept, err = os.ReadFile(filepath.Join(b.dir, path))
				must(t, err)
			}
		}
		file, err := os.ReadFile(filepath.Join(b.dir, raw.FilePath))
		must(t, err)
		if want := string(kept) + "\n" + string(file); len(kept) == 0 || input != want {
			t.Errorf("the model reads %.80q, want the kept result and the artifact, %.80q", input, want)
		}
		if reason != "why" {
			t.Errorf("reason %q", reason)
		}
	}}
	s, _ := b.ask(raw, "  why\n")
	if b.mind.asked != 1 || s.Summary != "Short." || s.Summarizer != engines.Anthropic || s.Fallback != "" {
		t.Errorf("asked %d times; summary %+v", b.mind.asked, s.SummaryFields)
	}
}

func case147(t *testing.T) {
	for name, envelope := range map[string]string{
		"search":          `{"action":"search","input":{"query":" "},"summarize": true}`,
		"engine":          `{"action":"search","input":{"query":"q"},"summarize": true}`,
		"browse":          `{"action":"browse","input":{"url":5},"summarize": true}`,
		"unknown action":  `{"action":"x","input":{},"summarize": true}`,
		"not an envelope": `{"summarize": true`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.fakes[engines.DuckDuckGo].err = typed(engines.DuckDuckGo, "timeout")
			r, done := w.runner()
			defer done()
			got := Marshal(r.Call(t.Context(), []byte(envelope)))
			want := Marshal(r.Call(t.Context(), []byte(strings.Replace(envelope, `: true`, `:false`, 1))))
			if !bytes.Contains(want, []byte(`"status":"failed"`)) {
				t.Fatalf("no failure: %s", want)
			}
			id := regexp.MustCompile(`"request_id":"[0-9a-f]{32}"`) // each call has its own
			if diff := cmp.Diff(id.ReplaceAllString(string(want), ""), id.ReplaceAllString(string(got), "")); diff != "" {
				t.Errorf("failure (-raw +summarized):\n%s", diff)
			}
			if _, err := os.Stat(filepath.Join(w.dir, spill.Dir)); err == nil {
				t.Error("a failure was kept in a file")
			}
		})
	}
	b := newBench(t)
	b.mind = &mind{text: "x"}
	f := fail(Search, SearchFailed, "m", "a")
	if got := b.replace(t.Context(), &Envelope{Action: Search}, f); got != Answer(f) || b.mind.asked != 0 {
		t.Errorf("a failure became %s, model asked %d times", Marshal(got), b.mind.asked)
	}
}

func case148(t *testing.T) {
	for name, tt := range map[string]struct {
		mind  mind
		class string
	}{
		"typed":    {mind{err: &engines.Error{Engine: engines.Anthropic, Class: "rate_limited", Message: "m"}}, "rate_limited"},
		"untyped":  {mind{err: errors.New("secret in an error")}, "failed"},
		"too late": {mind{err: context.DeadlineExceeded}, "timeout"},
		"canceled": {mind{err: context.Canceled}, "canceled"},
		"blank":    {mind{text: " \n\t"}, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.mind = &tt.mind
			s, _ := b.ask(b.found(foundItems(20), nil, whole), "piano")
			if s.Kind != summaryGenerated || s.Summarizer != "extractive" || s.Fallback != tt.class || !strings.Contains(s.Summary, "piano") {
				t.Errorf("replacement %s", Marshal(s))
			}
			if bytes.Contains(Marshal(s), []byte("secret")) {
				t.Error("the text of an error is shown")
			}
		})
	}
	t.Run("cannot be built", func(t *testing.T) {
		b := newBench(t)
		b.model = func() (Summarizer, error) { return nil, errors.New("secret") }
		if s, _ := b.ask(guideless(b), ""); s.Summarizer != "extractive" || s.Fallback != "failed" {
			t.Errorf("replacement %s", Marshal(s))
		}
	})
	t.Run("a manual needs no model", func(t *testing.T) {
		b := newBench(t)
		b.mind = &mind{text: "x"}
		if s, _ := b.ask(guide(longGuide()), ""); b.mind.asked != 0 || s.Summarizer != "extractive" || s.Fallback != "" || s.Untrusted {
			t.Errorf("asked %d times: %s", b.mind.asked, Marshal(s))
		}
	})
}

func guideless(b *bench) Answer { return b.found(foundItems(3), nil, whole) }

func case148Nobody(t *testing.T) {
	blank := &page{Status: OK, Blocks: &[]BlockItem{{ID: "b0001", Kind: "paragraph", Text: "\u200b"}}}
	for name, tt := range map[string]struct {
		mind *mind
		want string
	}{
		"no model": {nil, "extractive: empty: the result holds no text"},
		"repeats": {&mind{err: &engines.Error{Class: "c", Message: strings.Repeat("boom! ", 50) + "end"}},
			"c: boom!(×50) end; extractive: empty: the result holds no text"},
		"blank": {&mind{}, "empty: the summarizer returned no text; extractive: empty: the result holds no text"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.mind = tt.mind
			s, got := b.ask(blank, "")
			if s.Kind != summaryError || s.State() != SummaryUnavailable || s.Error != tt.want || s.InputChars != s.OriginalChars {
				t.Errorf("replacement %s, want error %q", Marshal(s), tt.want)
			}
			if _, ok := got["generated_summary"]; ok || got["blocks"] != nil {
				t.Errorf("a summary or raw content beside the error: %v", got)
			}
			b.kept(s)
		})
	}
	t.Run("long", func(t *testing.T) {
		var long strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&long, "%d,", i)
		}
		b := newBench(t)
		b.mind = &mind{err: &engines.Error{Class: "c", Message: long.String()}}
		s, _ := b.ask(blank, "")
		if n := utf8.RuneCountInString(s.Error); n != 2000 || !strings.HasSuffix(s.Error, " …[truncated]") || !strings.HasPrefix(s.Error, "c: 0,1,2,3") {
			t.Errorf("error of %d characters: %.40q", n, s.Error)
		}
	})
	t.Run("the artifact was changed", func(t *testing.T) {
		b := newBench(t)
		b.mind = &mind{text: "x"}
		raw := b.found(foundItems(20), nil, spilled)
		must(t, os.WriteFile(filepath.Join(b.dir, raw.FilePath), []byte("[]"), 0o600))
		s, _ := b.ask(raw, "")
		if s.Kind != summaryError || !strings.HasPrefix(s.Error, "artifact_unreadable: ") || b.mind.asked != 0 || s.InputChars != 0 {
			t.Errorf("replacement %s", Marshal(s))
		}
	})
	t.Run("nowhere to keep the raw result", func(t *testing.T) {
		b := newBench(t)
		b.mind = &mind{text: "x"}
		must(t, os.WriteFile(filepath.Join(b.dir, "tmp"), nil, 0o600))
		got := b.replace(t.Context(), &Envelope{Action: Search}, b.found(foundItems(3), nil, whole))
		f, ok := got.(*Failure)
		if !ok || f.Code != ArtifactWriteFailed || f.Action != Search || *f.Query != "q" || *f.Engine != "duckduckgo" || f.Setting.Source == "" {
			t.Errorf("got %s", Marshal(got))
		}
		if b.mind.asked != 0 || bytes.Contains(Marshal(got), []byte("Result 0")) || bytes.Contains(Marshal(got), []byte(b.dir)) {
			t.Errorf("asked %d times: %s", b.mind.asked, Marshal(got))
		}
	})
	t.Run("no working directory", func(t *testing.T) {
		b := newBench(t)
		b.store.Root = nil
		got := b.replace(t.Context(), &Envelope{Action: Manual}, guide(longGuide()))
		if f, ok := got.(*Failure); !ok || f.Code != ArtifactWriteFailed || f.Action != Manual {
			t.Errorf("got %s", Marshal(got))
		}
	})
}

func case149(t *testing.T) {
	b := newBench(t)
	length := func(n int) *ManualAnswer { return guide(strings.Repeat("字", n)) }
	s, _ := b.ask(length(1), "")
	room := maxSummaryInput - s.OriginalChars + 1
	if s, _ := b.ask(length(room), ""); s.Kind != summaryGenerated || s.OriginalChars != maxSummaryInput {
		t.Errorf("%d characters: %s", s.OriginalChars, s.Kind)
	}
	items := foundItems(1500)
	for name, raw := range map[string]Answer{
		"one character more": length(room + 1), "search": b.found(items, nil, 10*whole), "spilled search": b.found(items, nil, spilled),
	} {
		t.Run(name, func(t *testing.T) {
			b.mind = &mind{text: "x"}
			s, got := b.ask(raw, "")
			want := map[string]any{"status": "summary_unavailable", "summary_kind": "apriori_cap_refused", "cap_chars": 500000.0, "summary_input_chars": 0.0}
			for key := range want {
				if diff := cmp.Diff(want[key], got[key]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", key, diff)
				}
			}
			if b.mind.asked != 0 || s.HowToNarrow == "" || s.OriginalChars <= maxSummaryInput || s.SummaryFields != nil {
				t.Errorf("asked %d times: %.300s", b.mind.asked, Marshal(s))
			}
			if n := len(Marshal(s)); n > 2000 {
				t.Errorf("a refusal of %d bytes", n)
			}
			var kept map[string]any
			must(t, json.Unmarshal(b.kept(s), &kept))
			if diff := cmp.Diff(wire(t, raw), kept); diff != "" {
				t.Errorf("kept result differs")
			}
		})
	}
}

func case149Again(t *testing.T) {
	b := newBench(t)
	once, _ := b.ask(b.found(foundItems(20), nil, whole), "piano")
	files := b.files()
	if twice, _ := b.ask(once, "piano"); twice != once {
		t.Errorf("a replacement was replaced: %s", Marshal(twice))
	}
	if diff := cmp.Diff(files, b.files()); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

func case150(t *testing.T) {
	b := newBench(t)
	raw := b.found(foundItems(20), nil, whole)
	s, got := b.ask(raw, "  piano ")
	before, after := utf8.RuneCount(b.kept(s)), utf8.RuneCountInString(s.Summary)
	hint, _ := got["retrieval_hint"].(string)
	if !strings.Contains(hint, s.RawLocator.FilePath) || !strings.Contains(hint, "file.read") {
		t.Errorf("retrieval_hint %q", hint)
	}
	want := map[string]any{
		"status": "ok", "action": "search", "artifact": "lingtai_apriori_tool_result_summary", "summary_kind": "apriori_generated",
		"tool_call_id": nil, "tool_name": "web", "generated_summary": s.Summary, "summarizer": "extractive",
		"summary_chars": float64(after), "original_visible_chars": float64(before),
		"summary_effect":      map[string]any{"prev_chars": float64(before), "after_chars": float64(after), "saved_chars": float64(before - after)},
		"summary_input_chars": float64(before), "summary_input_truncated": false, "summarized_at": "2026-03-04T05:06:07Z",
		"summary_reason": "piano", "canonical": false, "raw_preserved": true,
		"raw_locator": map[string]any{"file_path": b.files()[0]}, "raw_sha256": s.RawSHA256, "untrusted_content": true,
		"retrieval_hint": hint,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replacement (-want +got):\n%s", diff)
	}
	if s, got := b.ask(raw, " \n"); s.Reason != nil || got["summary_reason"] != nil {
		t.Errorf("summary_reason %v", got["summary_reason"])
	}
	// A longer summary than its original is said to be one.
	b.mind = &mind{text: strings.Repeat("long ", 1000)}
	if s, _ := b.ask(guideless(b), ""); s.Effect.Saved >= 0 || s.Effect.Saved != s.Effect.Before-s.Effect.After {
		t.Errorf("effect %+v", s.Effect)
	}
}

func TestSummaryOfADegradedManual(t *testing.T) {
	b := newBench(t)
	raw := &ManualAnswer{Status: Degraded, Action: Manual, Error: "the guide is missing", Source: "installed"}
	s, got := b.ask(raw, "")
	if s.Summary != "the guide is missing" || s.State() != Degraded || got["status"] != "degraded" || got["action"] != "manual" {
		t.Errorf("replacement %s", Marshal(s))
	}
}

func TestSummaryThroughACall(t *testing.T) {
	w := newWorld(t)
	w.fakes[engines.DuckDuckGo].answer = engines.Answer{Results: hits(40)}
	for _, envelope := range []string{
		`{"action":"search","input":{"query":"q"},"reasoning":"x","summarize":true}`,
		`{"action":"manual","input":{},"reasoning":"x","summarize":true}`,
	} {
		r, done := w.runner()
		a := r.Call(t.Context(), []byte(envelope))
		done()
		if s, ok := a.(*SummaryAnswer); !ok || s.State() != OK || s.Summary == "" {
			t.Errorf("%s: %s", envelope, Marshal(a))
		}
	}
}

func TestSummaryOfAnAnswerNobodyKnows(t *testing.T) {
	b := newBench(t)
	s, _ := b.ask(&stranger{Status: OK, Text: "A sentence of its own."}, "")
	if s.Action != Search || !s.Untrusted || s.Summary != "status: ok; text: A sentence of its own." {
		t.Errorf("replacement %s", Marshal(s))
	}
}

type stranger struct {
	Status Status `json:"status"`
	Text   string `json:"text"`
}

func (s *stranger) State() Status { return s.Status }

func TestResultsReading(t *testing.T) {
	ref, long := "ln_0123456789abcdef", "https://ex.org/"+strings.Repeat("a", 400)
	text := "narrated"
	for name, tt := range map[string]struct {
		items     []ResultItem
		narrative *string
		want      reading
	}{
		"nothing":   {nil, nil, reading{prose: "The search for “q” found nothing."}},
		"narrative": {nil, &text, reading{prose: "narrated"}},
		"lines": {[]ResultItem{
			{Title: "T\n t", URL: "https://ex.org/a", Snippet: " S "}, {Title: "n", Snippet: "nn"}, {URL: "https://ex.org/b"},
			{Title: "long", URL: long, LinkRef: &ref}, {Snippet: strings.Repeat("字", 300)},
		}, nil, reading{lines: []string{
			"T t — S (https://ex.org/a)", "n — nn", " (https://ex.org/b)", "long (ln_0123456789abcdef)", strings.Repeat("字", 199) + "…",
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := resultsReading("q", tt.items, tt.narrative)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(reading{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			file := canonicalResults(tt.items, tt.narrative)
			items, narrative := readResults(file)
			if diff := cmp.Diff(got, resultsReading("q", items, narrative), cmp.AllowUnexported(reading{})); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCollapse(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "abc": "abc", "aabb": "aabb", "aaab": "a(×3)b", "ababab": "ab(×3)", "xxabcabcabcabcy": "xxabc(×4)y",
		"字字字": "字(×3)", "no no no no.": "no (×3)no.",
		strings.Repeat(strings.Repeat("0123456789", 2)[:17]+"-long unit", 3): "01234567890123456-long unit(×3)",
	} {
		if got := collapse(in); got != want {
			t.Errorf("collapse(%q) = %q, want %q", in, got, want)
		}
	}
	long := strings.Join(slices.Repeat([]string{unit81()}, 3), "")
	if got := collapse(long); got != long {
		t.Errorf("a unit of 81 characters is collapsed: %q", got)
	}
}

// unit81 is 81 characters without a repetition of three.
func unit81() string {
	var b strings.Builder
	for i := range 81 {
		b.WriteRune(rune('0' + i))
	}
	return b.String()
}

func TestSummaryOfAPage(t *testing.T) {
	b := newBench(t)
	stand := b.page(spilled)
	raw := &BrowseAnswer{
		Status: OK, Action: Browse, RequestID: "r", SnapshotID: "s", Title: stand.Title, Delivery: stand.Delivery, markdown: []byte(stand.markdown),
	}
	s, _ := b.ask(raw, "tuning a piano")
	if s.Action != Browse || !strings.Contains(s.Summary, "takes a lever") || s.ContentPath != stand.FilePath {
		t.Errorf("replacement %s", Marshal(s))
	}
	b.store.Root = nil
	f, ok := b.replace(t.Context(), &Envelope{Action: Browse}, raw).(*Failure)
	if !ok || f.Code != ArtifactWriteFailed || f.RequestID != "r" || f.SnapshotID != "s" {
		t.Errorf("failure %+v", f)
	}
}
