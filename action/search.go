package action

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"web/browse/refs"
	"web/engines"
	"web/settings"
	"web/settings/operator"
	"web/spill"
)

const (
	// queryEchoChars bounds the echoed query; the engine gets the whole one.
	queryEchoChars = 2000
	// fallbackShare is the part of a search's time that is kept for DuckDuckGo when OpenAI is asked first.
	fallbackShare = 8 * time.Second
)

func (r *Runner) search(ctx context.Context, e *Envelope) Answer {
	query, _ := e.Text("query")
	if e.Bad("query") {
		query = ""
	}
	op, setting, refused := r.admit(query)
	if refused != nil {
		return refused
	}
	selected := *setting.Engine
	engine, err := r.build(op, selected)
	if err != nil {
		for i := range setting.Engines {
			if setting.Engines[i].Name == selected {
				setting.Engines[i].Status = engineInitFailed
			}
		}
		setting.list(setting.Engines)
		f := fail(Search, SearchEngineUnavailable, "the search engine "+selected+" could not be initialised",
			"have the operator check this engine's configuration, or choose another engine in "+settings.SearchFile)
		f.Setting = setting
		return f
	}

	ctx, cancel := context.WithTimeout(ctx, op.Limits.Search)
	defer cancel()
	answer, actual, failure := r.ask(ctx, op, engine, selected, query)
	if failure != nil {
		failure.Setting = setting
		return failure
	}
	out := &SearchAnswer{
		Status: OK, Action: Search, Query: firstChars(query, queryEchoChars), Engine: selected, ActualEngine: selected,
		RetrievedAt: r.now(), Untrusted: true, Setting: setting,
	}
	if actual != nil {
		out.ActualEngine = engines.DuckDuckGo
		out.OpenAIClass = actual.Class
		out.Comment = fmt.Sprintf("# OpenAI search failed (%s); these results are from DuckDuckGo.", actual.Class)
	}
	return r.finishSearch(ctx, out, answer)
}

// admit reads what chooses the engine and says why a search is refused, if it is. Nothing is built or sent here.
func (r *Runner) admit(query string) (op operator.Operator, setting CurrentSetting, refused *Failure) {
	op, opErr := r.operator()
	setting = r.noRead()
	setting.OutputMax = outputSetting(settings.ReadOutput(settings.In(r.deps.Workdir)))
	problem := r.searchSetting(&setting, op)
	selected := ""
	if setting.Engine != nil {
		selected = *setting.Engine
	}
	refuse := func(code Code, message, advice string) *Failure {
		f := fail(Search, code, message, advice)
		f.Setting = setting
		return f
	}
	state, admitted := setting.engine(selected)
	switch {
	case opErr != nil:
		refused = refuse(OperatorConfigInvalid, "the operator's configuration is invalid: "+opErr.Error(), operatorAdvice(opErr))
	case strings.TrimSpace(query) == "":
		refused = refuse(InvalidQuery, "query must be a string that is not blank", "send the words to search for in input.query")
	case setting.OutputMax.Value == nil:
		refused = refuse(OutputSettingsInvalid, settings.OutputFile+" is invalid; see current_setting.output_max_chars.settings_error",
			"mend or remove "+settings.OutputFile)
	case setting.Source == settings.SourceError && problem == settings.EngineNotAdmitted:
		refused = refuse(SearchSettingsInvalid, settings.SearchFile+" is invalid; see current_setting.settings_error",
			"name an engine of current_setting.available_engine_names in "+settings.SearchFile+"; retired ones such as minimax and zhipu have no successor")
	case setting.Source == settings.SourceError:
		refused = refuse(SearchSettingsInvalid, settings.SearchFile+" is invalid; see current_setting.settings_error",
			"mend or remove "+settings.SearchFile)
	case selected == "" || !admitted:
		refused = refuse(SearchEngineUnavailable, "no search engine is selected", "name an engine of available_engines in "+settings.SearchFile)
	case settingsOnly(selected) && setting.Source != settings.SearchFile:
		refused = refuse(BackendIneligible, selected+" is used only when "+settings.SearchFile+" names it", "name it there, or choose another engine")
	case settingsOnly(selected) && !eligible(selected, op):
		refused = refuse(BackendIneligible, selected+" is used only where the caller's own backend is "+selected,
			"choose another engine in "+settings.SearchFile)
	case state.Status != engineAvailable:
		advice := "choose another engine of available_engines in " + settings.SearchFile
		if remedy := state.Remedy(); remedy != "" {
			advice = "have the operator " + remedy + ", or choose another engine in " + settings.SearchFile
		}
		refused = refuse(SearchEngineUnavailable, "the search engine "+selected+" is unavailable: "+state.Says(), advice)
	}
	return op, setting, refused
}

// CheckSearch says what a search would find before it sends anything: what is in force and, unless it is nil,
// why it would be refused.
func (r *Runner) CheckSearch() (CurrentSetting, *Failure) {
	_, setting, refused := r.admit("any")
	return setting, refused
}

// operatorAdvice is the next step where the operator's configuration is invalid.
func operatorAdvice(err error) string {
	var invalid *operator.Error
	if errors.As(err, &invalid) && invalid.Kind == operator.RetiredProvider {
		return "have the operator take the retired provider out of the configuration file and choose duckduckgo, openai or tavily in its place"
	}
	return "have the operator mend the configuration file; `web doctor` shows where it is wrong"
}

func (r *Runner) build(op operator.Operator, name string) (engines.Engine, error) {
	b := r.deps.Builders[name]
	if b == nil {
		return nil, fmt.Errorf("no builder for %s", name)
	}
	return b(op, op.Engines[name])
}

// ask asks the selected engine and, only where OpenAI failed in a typed way, DuckDuckGo exactly once. fellBack
// is OpenAI's failure when DuckDuckGo answered for it.
func (r *Runner) ask(ctx context.Context, op operator.Operator, engine engines.Engine, name, query string) (a engines.Answer, fellBack *engines.Error, f *Failure) {
	first, cancel := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok && name == engines.OpenAI {
		first, cancel = context.WithDeadline(ctx, deadline.Add(-min(fallbackShare, op.Limits.Search/3)))
	}
	a, err := engine.Search(first, engines.Query{Text: query})
	cancel()
	if err == nil {
		return a, nil, nil
	}
	failed := searchFailure(err)
	var typed *engines.Error
	if !errors.As(err, &typed) {
		return a, nil, failed
	}
	if typed.InvalidQuery { // the provider was not asked, so it did not fail
		failed.Code = InvalidQuery
		return a, nil, failed
	}
	class := firstChars(typed.Class, engines.MaxClassChars)
	if name != engines.OpenAI {
		failed.ProviderClass = class
		return a, nil, failed
	}
	if ctx.Err() != nil { // nobody waits any more
		failed.OpenAIClass = class
		return a, nil, failed
	}
	duck, err := r.build(op, engines.DuckDuckGo)
	if err == nil {
		a, err = duck.Search(ctx, engines.Query{Text: query})
	}
	if err == nil {
		return a, &engines.Error{Class: class}, nil
	}
	failed = searchFailure(err)
	failed.OpenAIClass, failed.DuckDuckGoClass = class, "unknown"
	if errors.As(err, &typed) {
		failed.DuckDuckGoClass = firstChars(typed.Class, engines.MaxClassChars)
	}
	return a, nil, failed
}

func searchFailure(err error) *Failure {
	f := fail(Search, SearchFailed, "the search engine failed", "do not repeat the call at once; choose another engine in "+settings.SearchFile+" if it fails again")
	var typed *engines.Error
	if errors.As(err, &typed) {
		f.Message, f.Retryable, f.RetryAfterMS = typed.Message, typed.Retryable, typed.RetryAfterMS
		switch {
		case typed.InvalidQuery:
			f.Advice = "change the query and repeat the call"
		case typed.HTTPStatus == http.StatusUnauthorized, typed.HTTPStatus == http.StatusForbidden && needsKey(typed.Engine), typed.HTTPStatus == http.StatusNotFound:
			f.Advice = "have the operator check the engine with `web doctor --live`, or choose another engine in " + settings.SearchFile
		case typed.Class == "rate_limited", typed.HTTPStatus == http.StatusTooManyRequests && typed.RetryAfterMS == 0:
			f.Advice = "wait some minutes before the next search, or choose another engine in " + settings.SearchFile
		case typed.RetryAfterMS > 0:
			f.Advice = "wait as long as retry_after_ms says, then repeat the call once, or choose another engine in " + settings.SearchFile
		case typed.Retryable:
			f.Advice = "repeat the call once; if it fails again, choose another engine in " + settings.SearchFile
		}
	}
	return f
}

// finishSearch maps the engine's items, stores their refs and delivers.
func (r *Runner) finishSearch(ctx context.Context, out *SearchAnswer, a engines.Answer) Answer {
	items := make([]ResultItem, 0, len(a.Results))
	var urls []string
	for _, res := range a.Results {
		it := ResultItem{Title: res.Title, URL: valid(res.URL), Snippet: res.Snippet}
		if it.URL == "" && it.Title == "" && it.Snippet == "" {
			continue
		}
		if it.URL != "" {
			ref := refs.Of(it.URL)
			it.LinkRef = &ref
			urls = append(urls, it.URL)
		}
		items = append(items, it)
	}
	// The search is done: an expired deadline must not lose its refs.
	if err := r.searchRefs().Add(context.WithoutCancel(ctx), urls); err != nil {
		out.Warnings = append(out.Warnings, RefsNotStored)
		for i := range items {
			items[i].LinkRef = nil // a ref that cannot be resolved is none
		}
	}
	if a.Narrative != "" {
		n := valid(a.Narrative)
		out.Narrative = &n
	}
	if a.LeftOut != (engines.LeftOut{}) {
		l := LeftOut(a.LeftOut)
		out.LeftOut = &l
	}
	out.Count = len(items)
	canonical := canonicalResults(items, out.Narrative)
	d, err := r.deliver(content{
		action: Search, scope: "provider_response", kind: "search_results", format: "json", ext: "json",
		chars: spill.Chars(canonical), file: canonical,
	}, out.Setting.OutputMax)
	if err != nil {
		f := notWritten(Search)
		f.Query, f.Engine, f.Setting = &out.Query, &out.Engine, out.Setting
		return f
	}
	out.Delivery = d
	if d.ArtifactFields != nil {
		out.Narrative = nil
		return out
	}
	for i := range items { // the canonical text was repaired as it was written
		items[i].Title, items[i].Snippet = valid(items[i].Title), valid(items[i].Snippet)
	}
	out.Results = &items
	return out
}

// valid repairs what an engine gave as text, one U+FFFD a bad byte: no answer may hold bytes that are not
// UTF-8.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func firstChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// needsKey reports whether an engine is asked with a key: there a refusal is about the key.
func needsKey(engine string) bool { return engine != engines.DuckDuckGo }
