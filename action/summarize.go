package action

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"web/action/summary"
	"web/engines"
	"web/settings/operator"
	"web/spill"
	"web/spill/confined"
)

// SummaryMarker is the wire literal by which hosts recognise a summary that stands for a raw result.
const SummaryMarker = "lingtai_apriori_tool_result_summary"

// The kinds of replacement.
const (
	summaryGenerated = "apriori_generated"
	summaryRefused   = "apriori_cap_refused"
	summaryError     = "apriori_error"
)

const (
	// maxSummaryInput is the greatest input of a summarizer, in characters. A longer one is refused: a summary
	// of a part would look like one of the whole.
	maxSummaryInput = 500_000
	// maxModelTime bounds the wait for a model.
	maxModelTime = 60 * time.Second
	// minSummaryChars is the length below which a text is not worth shortening.
	minSummaryChars = 200
	// maxSummaryTitle, maxSummarySnippet and maxSummaryURL bound, in characters, what the local summary shows
	// of one search result.
	maxSummaryTitle   = 160
	maxSummarySnippet = 200
	maxSummaryURL     = 400
	// maxSummaryError bounds the error of a summary, in characters; maxErrorScan what is read of it.
	maxSummaryError = 2000
	maxErrorScan    = 20_000
	// maxRepeatUnit is the longest text, in characters, whose repetition an error shows only once.
	maxRepeatUnit = 80
)

// localSummarizer names the summarizer that is always there.
const localSummarizer = "extractive"

// Summarizer is a model that summarizes.
type Summarizer interface {
	// Name is the name of its engine: openai, anthropic or gemini.
	Name() string
	// Summarize summarizes input for somebody whose purpose is reason ("" when none was given). Input is
	// untrusted: the model must be told to obey nothing inside it. A blank summary counts as a failure. The
	// class and message of an *engines.Error are shown; of any other error only that there was one.
	Summarize(ctx context.Context, input, reason string) (string, error)
}

// SummaryAnswer replaces a raw result that is kept in a file (contract 8). It holds nothing of the raw result
// but the summary.
type SummaryAnswer struct {
	// Status is that of the raw result, or summary_unavailable.
	Status     Status  `json:"status"`
	Action     Name    `json:"action"`
	Marker     string  `json:"artifact"`
	Kind       string  `json:"summary_kind"`
	ToolCallID *string `json:"tool_call_id"` // null: a process that is started once per call is not told
	ToolName   string  `json:"tool_name"`
	*SummaryFields
	*NoSummaryFields
	// OriginalChars is the length of the summarizer's input: the raw result as it is kept and, behind it, the
	// content of an artifact. InputChars is what a summarizer was given of it: everything, or 0 for nothing.
	OriginalChars  int        `json:"original_visible_chars"`
	InputChars     int        `json:"summary_input_chars"`
	InputTruncated bool       `json:"summary_input_truncated"`
	Canonical      bool       `json:"canonical"`
	RawPreserved   bool       `json:"raw_preserved"`
	RawLocator     RawLocator `json:"raw_locator"`
	// RawSHA256 is the hash of the raw result's file.
	RawSHA256 string `json:"raw_sha256"`
	// ContentPath is the artifact that the raw result itself points to.
	ContentPath string `json:"content_file_path,omitzero"`
	// Untrusted is true when the summary is made of words from the web.
	Untrusted     bool   `json:"untrusted_content,omitzero"`
	RetrievalHint string `json:"retrieval_hint"`
}

// State implements Answer.
func (a *SummaryAnswer) State() Status { return a.Status }

// RawLocator says where the raw result is.
type RawLocator struct {
	// FilePath is relative to the working directory.
	FilePath string `json:"file_path"`
}

// SummaryFields are given with a summary.
type SummaryFields struct {
	Summary string `json:"generated_summary"`
	// Summarizer is openai, anthropic, gemini or extractive.
	Summarizer string `json:"summarizer"`
	// Fallback is the class of the model's failure when the local summary stands in for it.
	Fallback     string        `json:"summarizer_fallback,omitzero"`
	Chars        int           `json:"summary_chars"`
	Effect       SummaryEffect `json:"summary_effect"`
	SummarizedAt string        `json:"summarized_at"`
	Reason       *string       `json:"summary_reason"`
}

// SummaryEffect says what the summary saves, in characters; Saved may be negative.
type SummaryEffect struct {
	Before int `json:"prev_chars"`
	After  int `json:"after_chars"`
	Saved  int `json:"saved_chars"`
}

// NoSummaryFields are given when there is no summary.
type NoSummaryFields struct {
	Message string `json:"message"`
	Error   string `json:"error,omitzero"`
	// CapChars and HowToNarrow come with a result that is too long.
	CapChars    int    `json:"cap_chars,omitzero"`
	HowToNarrow string `json:"how_to_narrow,omitzero"`
}

// summarizedLayout is contract 8's form of a time.
const summarizedLayout = "2006-01-02T15:04:05Z"

// source is what a summary of an answer is made from.
type source struct {
	action    Name
	untrusted bool
	delivery  Delivery
	// read gives what the local summary reads. file is the content of an artifact; nil for an inline result.
	read func(file []byte) reading
	// refuse adds to a failure what the answer's action gives with one.
	refuse func(*Failure)
}

// reading is a result as somebody would read it, without the wire's syntax.
type reading struct {
	prose string
	// lines are shown whole or not at all.
	lines []string
}

// summarizable is an answer that says what a summary of it is made from.
type summarizable interface {
	Answer
	summarySource() source
}

// summarizing is what summarizing reaches the world through.
type summarizing struct {
	store spill.Store
	now   func() time.Time
	// model gives the configured model, or nil for none. It is not asked about a manual, which has to work
	// without network and configuration.
	model func() (Summarizer, error)
}

func (r *Runner) summarize(ctx context.Context, e *Envelope, a Answer) Answer {
	s := summarizing{store: r.store(), now: r.deps.Now, model: r.model}
	return s.replace(ctx, e, a)
}

// model builds the summarizer that the operator's configuration chooses; nil is the local one. One that was
// named and cannot be used is an *engines.Error, so that the summary says what stood in for it.
func (r *Runner) model() (Summarizer, error) {
	op, err := r.operator()
	if err != nil {
		return nil, err
	}
	name := op.Summarizer
	if name == operator.SummarizerAuto {
		name = r.modelOf(op)
	}
	if name == localSummarizer || name == "" {
		return nil, nil
	}
	s := CurrentSetting{Engines: r.engineStates(op, nil)}
	state, _ := s.engine(name)
	if state.Status != engineAvailable {
		return nil, &engines.Error{Engine: name, Class: state.Status, Message: "the summarizer " + name + " is unavailable: " + state.Says()}
	}
	engine, err := r.build(op, name)
	m, ok := engine.(Summarizer)
	if err != nil || !ok {
		return nil, &engines.Error{Engine: name, Class: engineInitFailed, Message: "the summarizer " + name + " could not be initialised", Err: err}
	}
	return m, nil
}

// CheckSummarizer names what would write a summary, and says why the model that was named would not; "" when
// there is nothing to say.
func (r *Runner) CheckSummarizer() (name, problem string) {
	m, err := r.model()
	var typed *engines.Error
	switch {
	case errors.As(err, &typed):
		return localSummarizer, typed.Message
	case m == nil:
		return localSummarizer, ""
	}
	return m.Name(), ""
}

// modelOf is the model that nobody had to name: the provider on which the caller itself runs, else openai, as in
// a search; "" when there is none with a key. Like a search it never sends anything to anthropic or gemini
// only because there is a key.
func (r *Runner) modelOf(op operator.Operator) string {
	s := CurrentSetting{Engines: r.engineStates(op, nil)}
	for _, name := range []string{engines.Anthropic, engines.Gemini, engines.OpenAI} {
		if state, _ := s.engine(name); state.Available() && (name == engines.OpenAI || eligible(name, op)) {
			return name
		}
	}
	return ""
}

// replace gives the summary that stands for a raw result. The raw result is on the disk before there is one:
// as the single-line JSON of contract 7.1, which is also what a model reads.
func (s summarizing) replace(ctx context.Context, e *Envelope, a Answer) Answer {
	if _, done := a.(*SummaryAnswer); done || a.State() == Failed {
		return a
	}
	raw, err := json.Marshal(a, json.Deterministic(true), jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))
	if err != nil {
		return internal(e.Action)
	}
	src := source{action: e.Action, untrusted: true, read: func([]byte) reading { return reading{prose: string(raw)} }}
	if known, ok := a.(summarizable); ok {
		src = known.summarySource()
	}
	kept, err := s.keep(src.action, raw)
	if err != nil {
		f := notSummarized(src.action)
		if src.refuse != nil {
			src.refuse(f)
		}
		return f
	}

	out := &SummaryAnswer{
		Status: a.State(), Action: src.action, Marker: SummaryMarker, ToolName: "web",
		OriginalChars: kept.Chars, RawPreserved: true, RawLocator: RawLocator{kept.Path}, RawSHA256: kept.SHA256,
		Untrusted: src.untrusted,
	}
	artifact := src.delivery.ArtifactFields
	if artifact != nil {
		out.OriginalChars += 1 + src.delivery.ContentChars
		out.ContentPath = artifact.FilePath
	}
	if out.OriginalChars > maxSummaryInput {
		return out.unavailable(summaryRefused, NoSummaryFields{
			Message:  fmt.Sprintf("the result has %d characters, more than the %d that are summarized", out.OriginalChars, maxSummaryInput),
			CapChars: maxSummaryInput, HowToNarrow: howToNarrow(src.action),
		})
	}
	var file []byte
	input := string(raw)
	if artifact != nil {
		if file, err = s.content(artifact); err != nil {
			return out.unavailable(summaryError, NoSummaryFields{
				Message: "the content of the result could not be read back, so there is no summary",
				Error:   errorText("artifact_unreadable", "the artifact is gone or was changed after it was written"),
			})
		}
		input += "\n" + string(file)
	}
	out.InputChars = out.OriginalChars
	reason := strings.TrimSpace(e.Reasoning)
	text, by, fallback, failure := s.write(ctx, src, input, file, reason)
	if text == "" {
		return out.unavailable(summaryError, NoSummaryFields{Message: "the result could not be summarized", Error: failure})
	}
	chars := utf8.RuneCountInString(text)
	out.Kind = summaryGenerated
	out.SummaryFields = &SummaryFields{
		Summary: text, Summarizer: by, Fallback: fallback, Chars: chars,
		Effect:       SummaryEffect{Before: out.OriginalChars, After: chars, Saved: out.OriginalChars - chars},
		SummarizedAt: s.now().UTC().Format(summarizedLayout),
	}
	if reason != "" {
		out.Reason = &reason
	}
	out.RetrievalHint = "This summary was generated (" + by + ") and is not the result itself. " + out.whereRaw()
	return out
}

func (s summarizing) keep(name Name, raw []byte) (spill.Artifact, error) {
	if s.store.Root == nil { // a manual is given without a working directory too
		return spill.Artifact{}, errors.New("no working directory")
	}
	return s.store.Write(string(name), "json", raw)
}

// content reads an artifact back and holds it against its hash: the directory is open to other programs.
func (s summarizing) content(f *ArtifactFields) ([]byte, error) {
	dir, err := confined.OpenDir(s.store.Root, spill.Dir, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	data, err := confined.ReadTail(dir, strings.TrimPrefix(f.FilePath, spill.Dir+"/"), maxSummaryInput*utf8.UTFMax)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, errors.New("hash differs")
	}
	return data, nil
}

// write asks the model and, without one or after its failure, writes the summary here. An empty text comes
// with the failures that led to it.
func (s summarizing) write(ctx context.Context, src source, input string, file []byte, reason string) (text, by, fallback, failure string) {
	if src.action != Manual {
		text, by, fallback, failure = s.ask(ctx, input, reason)
		if text != "" {
			return text, by, "", ""
		}
	}
	if text = local(src.read(file), reason); text != "" {
		return text, localSummarizer, fallback, ""
	}
	empty := localSummarizer + ": empty: the result holds no text"
	if fallback == "" {
		return "", "", "", errorText("", empty)
	}
	return "", "", "", errorText(fallback, failure+"; "+empty)
}

// ask asks the model. class and message say why there is no text; both are empty without a model.
func (s summarizing) ask(ctx context.Context, input, reason string) (text, by, class, message string) {
	model, err := s.model()
	if err == nil && model == nil {
		return "", "", "", ""
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, maxModelTime)
		defer cancel()
		text, err = model.Summarize(ctx, input, reason)
	}
	var typed *engines.Error
	switch {
	case errors.As(err, &typed):
		return "", "", firstChars(valid(typed.Class), engines.MaxClassChars), valid(typed.Message)
	case errors.Is(err, context.DeadlineExceeded):
		return "", "", "timeout", "the summarizer took too long"
	case errors.Is(err, context.Canceled):
		return "", "", "canceled", "the call was canceled"
	case err != nil:
		return "", "", "failed", "the summarizer failed" // an error without a class may quote anything
	}
	if text = strings.TrimSpace(valid(text)); text == "" {
		return "", "", "empty", "the summarizer returned no text"
	}
	return text, model.Name(), "", ""
}

// local is the summary without a model. Its length follows that of what it sums up, so that it never is a
// copy of it.
func local(r reading, reason string) string {
	lines := 0
	for _, l := range r.lines {
		lines += utf8.RuneCountInString(l) + 1
	}
	room := summary.DefaultChars
	linesRoom := min(room, max(minSummaryChars, lines/2))
	if strings.TrimSpace(r.prose) == "" {
		return summary.Pick(r.lines, reason, linesRoom)
	}
	if lines > 0 {
		room /= 2
		linesRoom = min(linesRoom, room)
	}
	text := summary.Extractive(r.prose, reason, min(room, max(minSummaryChars, utf8.RuneCountInString(r.prose)/3)))
	if lines > 0 {
		text = strings.TrimSpace(text + "\n" + summary.Pick(r.lines, reason, linesRoom))
	}
	return text
}

func (a *SummaryAnswer) unavailable(kind string, fields NoSummaryFields) *SummaryAnswer {
	a.Status, a.Kind, a.NoSummaryFields, a.Untrusted = SummaryUnavailable, kind, &fields, false
	a.RetrievalHint = "There is no summary. " + a.whereRaw()
	return a
}

func (a *SummaryAnswer) whereRaw() string {
	hint := "The raw result is complete in " + a.RawLocator.FilePath
	if a.ContentPath != "" {
		hint += " and its content in " + a.ContentPath
	}
	return hint + ": read it with file.read, in parts if needed."
}

func howToNarrow(name Name) string {
	if name == Search {
		return "read the kept result in parts, or search for something narrower"
	}
	return "read the kept result in parts: find the section by its heading first"
}

// notSummarized is the failure when the raw result cannot be kept: without it a summary would lose it.
func notSummarized(name Name) *Failure {
	f := notWritten(name)
	f.Message = "the raw result could not be kept in " + spill.Dir + ", so no summary is put in its place"
	f.Advice = "repeat the call without summarize, or make " + spill.Dir + " in the working directory writable and free some space"
	return f
}

// errorText is the error of a summary: its kind and what is known about it, bounded.
func errorText(kind, text string) string {
	if kind != "" {
		text = kind + ": " + text
	}
	text = collapse(firstChars(text, maxErrorScan))
	if utf8.RuneCountInString(text) <= maxSummaryError {
		return text
	}
	const mark = " …[truncated]"
	return firstChars(text, maxSummaryError-utf8.RuneCountInString(mark)) + mark
}

// collapse shows a text that stands three times or more in a row once, with the count. The shortest such
// text wins. A model that fails by repeating itself would otherwise fill the answer.
func collapse(s string) string {
	runes := []rune(s)
	var out strings.Builder
	for i := 0; i < len(runes); {
		size, times := 0, 0
		for n := 1; n <= maxRepeatUnit && i+3*n <= len(runes); n++ {
			k := 1
			for i+(k+1)*n <= len(runes) && slices.Equal(runes[i:i+n], runes[i+k*n:i+(k+1)*n]) {
				k++
			}
			if k >= 3 {
				size, times = n, k
				break
			}
		}
		if size == 0 {
			out.WriteRune(runes[i])
			i++
			continue
		}
		fmt.Fprintf(&out, "%s(×%d)", string(runes[i:i+size]), times)
		i += size * times
	}
	return out.String()
}

func (a *SearchAnswer) summarySource() source {
	return source{
		action: Search, untrusted: true, delivery: a.Delivery,
		read: func(file []byte) reading {
			var items []ResultItem
			if a.Results != nil {
				items = *a.Results
			}
			narrative := a.Narrative
			if file != nil {
				items, narrative = readResults(file)
			}
			return resultsReading(a.Query, items, narrative)
		},
		refuse: func(f *Failure) { f.Query, f.Engine, f.Setting = &a.Query, &a.Engine, a.Setting },
	}
}

// readResults reads the canonical text of a search back.
func readResults(file []byte) (items []ResultItem, narrative *string) {
	if bytes.HasPrefix(file, []byte("{")) {
		var both struct {
			Answer  *string      `json:"answer"`
			Results []ResultItem `json:"results"`
		}
		_ = json.Unmarshal(file, &both) // its hash has been checked: it is what was written here
		return both.Results, both.Answer
	}
	_ = json.Unmarshal(file, &items)
	return items, nil
}

func resultsReading(query string, items []ResultItem, narrative *string) reading {
	var r reading
	if narrative != nil {
		r.prose = *narrative
	}
	if len(items) == 0 && strings.TrimSpace(r.prose) == "" {
		r.prose = "The search for “" + firstChars(query, maxSummaryTitle) + "” found nothing."
	}
	for _, it := range items {
		line := bounded(it.Title, maxSummaryTitle)
		if s := bounded(it.Snippet, maxSummarySnippet); s != "" {
			line = strings.TrimPrefix(line+" — "+s, " — ")
		}
		where := it.URL
		if utf8.RuneCountInString(where) > maxSummaryURL && it.LinkRef != nil {
			where = *it.LinkRef // an address cut short leads nowhere
		}
		if where != "" {
			line += " (" + where + ")"
		}
		r.lines = append(r.lines, line)
	}
	return r
}

// bounded makes one line of s, of at most n characters.
func bounded(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if short := firstChars(s, n); short != s {
		return strings.TrimSpace(firstChars(short, n-1)) + "…"
	}
	return s
}

func (a *ManualAnswer) summarySource() source {
	return source{
		action: Manual,
		read: func([]byte) reading {
			if strings.TrimSpace(a.Manual) == "" {
				return reading{prose: a.Error}
			}
			return reading{prose: summary.FromMarkdown(withoutFrontMatter(a.Manual))}
		},
		refuse: func(f *Failure) { f.Setting = a.Setting },
	}
}

// withoutFrontMatter leaves out what stands between the two "---" lines at the start of a skill.
func withoutFrontMatter(md string) string {
	if rest, ok := strings.CutPrefix(md, "---\n"); ok {
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok && strings.TrimSpace(body) != "" {
			return body
		}
	}
	return md
}

// pageReading is a page's title and its whole text.
func pageReading(title, markdown string) reading {
	if title != "" {
		markdown = "# " + bounded(title, maxSummaryTitle) + "\n\n" + markdown
	}
	return reading{prose: summary.FromMarkdown(markdown)}
}

func (a *BrowseAnswer) summarySource() source {
	return source{
		action: Browse, untrusted: true, delivery: a.Delivery,
		read:   func([]byte) reading { return pageReading(a.Title, string(a.markdown)) },
		refuse: func(f *Failure) { f.RequestID, f.SnapshotID, f.Setting = a.RequestID, a.SnapshotID, a.Setting },
	}
}
