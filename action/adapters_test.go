package action

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"web/engines"
	"web/settings"
)

// openAIText is an answer of OpenAI with one block of text and its annotations.
func openAIText(text string, annotations ...string) string {
	return `{"status":"completed","output":[{"type":"web_search_call","status":"completed"},{"type":"message","content":[{"type":"output_text","text":` +
		quote(text) + `,"annotations":[` + strings.Join(annotations, ",") + `]}]}]}`
}

// cites is a citation of OpenAI whose mark stands at the only place of that text.
func cites(text, mark, url, title string) string {
	start := len([]rune(text[:strings.Index(text, mark)]))
	return fmt.Sprintf(`{"type":"url_citation","start_index":%d,"end_index":%d,"url":%s,"title":%s}`, start, start+len([]rune(mark)), quote(url), quote(title))
}

// anthropicBlocks is an answer of Anthropic.
func anthropicBlocks(blocks ...string) string {
	return `{"type":"message","role":"assistant","content":[` + strings.Join(blocks, ",") + `],"stop_reason":"end_turn"}`
}

// geminiText is an answer of Gemini with one text and, unless it is "", its grounding.
func geminiText(text, grounding string) string {
	if grounding != "" {
		grounding = `,"groundingMetadata":` + grounding
	}
	return `{"candidates":[{"content":{"parts":[{"text":` + quote(text) + `}]},"finishReason":"STOP"` + grounding + `}]}`
}

// one is a search that gave one result, by its fields.
func one(engine, title, url, snippet string) expect {
	want := expect{"status": "ok", "engine": engine, "actual_engine": engine, "count": 1, "results.0.title": title, "results.0.url": url, "results.0.snippet": snippet}
	if url == "" {
		want["results.0.link_ref"], want["answer"] = nil, gone{}
	}
	return want
}

const (
	marked = "Winds do not. Tides turn twice a day. ([ex.org](https://ex.org/a)) So it is."
	mark   = "([ex.org](https://ex.org/a))"
)

// adapterRows run through the real engines.
var adapterRows = []row{
	{60, "OpenAI's request", func(t *testing.T, w *world) {
		w.env["OPENAI_API_KEY"] = "key-of-openai"
		p := w.provide(engines.OpenAI, says(openAIText("t")))
		w.search(` the <query> & "more" `).want(t, expect{"status": "ok", "engine": "openai"})
		sent := p.requests()
		if len(sent) != 1 {
			t.Fatalf("%d requests", len(sent))
		}
		got := []string{sent[0].Method, sent[0].Path, sent[0].Body, sent[0].Header.Get("Authorization"), sent[0].Header.Get("Content-Type"), sent[0].Header.Get("Accept")}
		want := []string{
			"POST", "/v1/responses", `{"model":"gpt-5.6","tools":[{"type":"web_search"}],"input":" the <query> & \"more\" "}`,
			"Bearer key-of-openai", "application/json", "application/json",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}},
	// Product 5: the snippet is the sentence that the citation supports, and the text is given once as answer.
	{61, "OpenAI's citation", func(t *testing.T, w *world) {
		w.choose(engines.OpenAI)
		w.provide(engines.OpenAI, says(openAIText(marked, cites(marked, mark, "https://ex.org/a?utm_source=openai", "A"))))
		a := w.search("q")
		a.want(t, one("openai", "A", "https://ex.org/a?utm_source=openai", "Tides turn twice a day."))
		a.want(t, expect{"answer": marked, "openai_failure_class": gone{}, "comment": gone{}})
	}},
	{62, "OpenAI's text without a citation", func(t *testing.T, w *world) {
		w.choose(engines.OpenAI)
		w.provide(engines.OpenAI, says(openAIText("whole text. All of it.")))
		w.search("q").want(t, one("openai", "OpenAI Web Search", "", "whole text. All of it."))
	}},
	{63, "Anthropic's citation", func(t *testing.T, w *world) {
		w.choose(engines.Anthropic)
		w.provide(engines.Anthropic, says(anthropicBlocks(
			`{"type":"text","text":"Tides turn "}`,
			`{"type":"text","text":"twice a day","citations":[{"type":"web_search_result_location","url":"https://ex.org/a","title":"A","cited_text":"They turn."}]}`,
			`{"type":"text","text":"."}`,
		)))
		a := w.search("q")
		a.want(t, one("anthropic", "A", "https://ex.org/a", "They turn."))
		a.want(t, expect{"answer": "Tides turn twice a day."})
	}},
	{64, "Anthropic's hits without citations", func(t *testing.T, w *world) {
		w.choose(engines.Anthropic)
		w.provide(engines.Anthropic, says(anthropicBlocks(
			`{"type":"web_search_tool_result","content":[{"type":"web_search_result","url":"https://ex.org/a","title":"A"},{"type":"web_search_result","url":"https://ex.org/b","title":""}]}`,
		)))
		w.search("q").want(t, expect{
			"status": "ok", "count": 2, "results.0.title": "A", "results.0.snippet": "", "results.1.title": "Anthropic Web Search", "results.1.snippet": "",
		})
	}},
	{65, "Anthropic's text only", func(t *testing.T, w *world) {
		w.choose(engines.Anthropic)
		w.provide(engines.Anthropic, says(anthropicBlocks(`{"type":"text","text":"One sentence."}`, `{"type":"text","text":"Another."}`)))
		w.search("q").want(t, one("anthropic", "Anthropic Web Search", "", "One sentence.\nAnother."))
	}},
	{66, "Anthropic's error inside the answer", func(t *testing.T, w *world) {
		w.choose(engines.Anthropic)
		w.provide(engines.Anthropic, says(anthropicBlocks(
			`{"type":"web_search_tool_result","content":[{"type":"web_search_result","url":"https://ex.org/a","title":"A"}]}`,
			`{"type":"web_search_tool_result","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}`,
			`{"type":"text","text":"Sorry."}`,
		)))
		a := w.search("q")
		a.refused(t, Search, SearchFailed)
		a.want(t, expect{"provider_failure_class": "web_search_tool_result_error:max_uses_exceeded"})
	}},
	// Product 5: a chunk that a support names has the supported text for its snippet.
	{67, "Gemini's chunk", func(t *testing.T, w *world) {
		w.choose(engines.Gemini)
		w.provide(engines.Gemini, says(geminiText("Die Flut kommt zweimal täglich. Mehr nicht.",
			`{"groundingChunks":[{"web":{"uri":"https://ex.org/r/1","title":"ex.org"}},{"web":{"uri":"https://ex.org/r/2","title":"b.example"}}],
			"groundingSupports":[{"segment":{"endIndex":32},"groundingChunkIndices":[1]}]}`)))
		w.search("q").want(t, expect{
			"status": "ok", "count": 2, "results.0.title": "ex.org", "results.0.url": "https://ex.org/r/1", "results.0.snippet": "",
			"results.1.title": "b.example", "results.1.snippet": "Die Flut kommt zweimal täglich.", "answer": "Die Flut kommt zweimal täglich. Mehr nicht.",
		})
	}},
	{68, "Gemini without grounding", func(t *testing.T, w *world) {
		w.choose(engines.Gemini)
		w.provide(engines.Gemini, says(geminiText("some text", "")))
		w.search("q").want(t, one("gemini", "Gemini Web Search", "", "some text"))
		w.provide(engines.Gemini, says(`{"candidates":[],"usageMetadata":{"promptTokenCount":1}}`))
		w.search("q").want(t, expect{"status": "ok", "count": 0, "results": []any{}, "answer": gone{}})
	}},
	{69, "failure classes by status", func(t *testing.T, w *world) {
		w.provide(engines.DuckDuckGo, ducks())
		for name, classes := range map[string]map[int]string{
			engines.OpenAI:    {429: "RateLimitError", 500: "InternalServerError", 401: "AuthenticationError", 529: "InternalServerError"},
			engines.Anthropic: {429: "RateLimitError", 500: "InternalServerError", 401: "AuthenticationError", 529: "OverloadedError", 413: "RequestTooLargeError"},
			engines.Gemini:    {429: "ClientError", 500: "ServerError", 401: "ClientError", 503: "ServerError"},
			engines.Tavily:    {429: "RateLimitError", 500: "InternalServerError", 401: "AuthenticationError"},
		} {
			w.choose(name)
			for status, class := range classes {
				w.provide(name, refuses(status))
				a := w.search("q")
				if name == engines.OpenAI {
					a.want(t, expect{"status": "ok", "actual_engine": "duckduckgo", "openai_failure_class": class})
					continue
				}
				a.refused(t, Search, SearchFailed)
				a.want(t, expect{"provider_failure_class": class, "retryable": status == 429 || status >= 500})
			}
		}
	}},
	{70, "a cited answer where no count is asked for", func(t *testing.T, w *world) {
		for name, body := range map[string]string{
			engines.OpenAI: openAIText(marked, cites(marked, mark, "https://ex.org/a", "A"), cites(marked, mark, "https://ex.org/b", "B")),
			engines.Anthropic: anthropicBlocks(`{"type":"text","text":"t","citations":[
				{"type":"web_search_result_location","url":"https://ex.org/a","title":"A","cited_text":"c"},
				{"type":"web_search_result_location","url":"https://ex.org/b","title":"B","cited_text":"c"}]}`),
			engines.Gemini: geminiText("t", `{"groundingChunks":[{"web":{"uri":"https://ex.org/a","title":"A"}},{"web":{"uri":"https://ex.org/b","title":"B"}}]}`),
			engines.Tavily: `{"results":[{"url":"https://ex.org/a","title":"A","content":"c"},{"url":"https://ex.org/b","title":"B","content":"c"}]}`,
		} {
			w.choose(name)
			w.provide(name, says(body))
			w.search("q").want(t, expect{
				"status": "ok", "engine": name, "actual_engine": name, "count": 2,
				"results.0.title": "A", "results.0.url": "https://ex.org/a", "results.0.link_ref": "ln_fc60963ff0ac20db", "results.1.title": "B",
			})
		}
	}},
}

// TestFallback: whatever OpenAI fails with, DuckDuckGo is asked once, in the time that is left.
func TestFallback(t *testing.T) {
	whole := openAIText("some text")
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		class  string
	}{
		"key refused":   {refuses(401), "AuthenticationError"},
		"model unknown": {refuses(404), "NotFoundError"},
		"out of order":  {refuses(503), "InternalServerError"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "APIStatusError"},
		"no answer":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "APIConnectionError"},
		"cut in the body":  {cutIn(whole, len(whole)/2), "APIConnectionError"},
		"a page":           {says("<html>login</html>"), "APIResponseValidationError"},
		"JSON of another":  {says(`{"choices":[]}`), "APIResponseValidationError"},
		"half of it":       {says(whole[:len(whole)/2]), "APIResponseValidationError"},
		"failed":           {says(`{"status":"failed","error":{"code":"server_error","message":"m"},"output":[]}`), "InternalServerError"},
		"incomplete":       {says(strings.Replace(whole, "completed", "incomplete", 1)), "status:incomplete"},
		"refusal":          {says(`{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}`), "refusal"},
		"unusable address": {says(openAIText("t", `{"type":"url_citation","url":5}`)), "APIResponseValidationError"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.env["OPENAI_API_KEY"] = "key-of-openai"
			asked, duck := w.provide(engines.OpenAI, tc.answer), w.provide(engines.DuckDuckGo, ducks())
			a := w.search("q")
			a.want(t, expect{
				"status": "ok", "engine": "openai", "actual_engine": "duckduckgo", "openai_failure_class": tc.class, "duckduckgo_failure_class": gone{},
				"comment": "# OpenAI search failed (" + tc.class + "); these results are from DuckDuckGo.", "results.0.url": "https://duck.example/q", "answer": gone{},
			})
			if n, m := len(asked.requests()), len(duck.requests()); n != 1 || m != 1 {
				t.Errorf("%d requests to OpenAI, %d to DuckDuckGo", n, m)
			}
			w.threshold(1)
			w.search("q").want(t, expect{"delivery": "artifact", "comment": a["comment"], "openai_failure_class": tc.class, "actual_engine": "duckduckgo", "count": 1})

			w.provide(engines.DuckDuckGo, refuses(http.StatusTooManyRequests))
			a = w.search("q")
			a.refused(t, Search, SearchFailed)
			a.want(t, expect{"openai_failure_class": tc.class, "duckduckgo_failure_class": "rate_limited", "comment": gone{}})
		})
	}
	t.Run("a key that cannot be one", func(t *testing.T) {
		w := newWorld(t)
		w.env["OPENAI_API_KEY"] = " " // counts as set
		asked, duck := w.provide(engines.OpenAI, says(whole)), w.provide(engines.DuckDuckGo, ducks())
		w.search("q").want(t, expect{"actual_engine": "duckduckgo", "openai_failure_class": "AuthenticationError"})
		if n, m := len(asked.requests()), len(duck.requests()); n != 0 || m != 1 {
			t.Errorf("%d requests to OpenAI, %d to DuckDuckGo", n, m)
		}
	})
}

// TestNothingElseFallsBack: no other engine, no empty answer, and no call that nobody waits for.
func TestNothingElseFallsBack(t *testing.T) {
	for _, name := range []string{engines.Anthropic, engines.Gemini, engines.Tavily} {
		w := newWorld(t)
		w.choose(name)
		w.env["OPENAI_API_KEY"] = "key-of-openai"
		for _, other := range engines.Names() {
			if other != name {
				w.provide(other, says("{}"))
			}
		}
		w.provide(name, refuses(http.StatusUnauthorized))
		w.search("q").refused(t, Search, SearchFailed)
		delete(w.providers, name)
		w.built = nil
		w.idle()
	}
	t.Run("empty", func(t *testing.T) {
		w := newWorld(t)
		w.choose(engines.OpenAI)
		w.provide(engines.OpenAI, says(openAIText("")))
		duck := w.provide(engines.DuckDuckGo, ducks())
		w.search("q").want(t, expect{"status": "ok", "actual_engine": "openai", "count": 0})
		if n := len(duck.requests()); n != 0 {
			t.Errorf("%d requests to DuckDuckGo", n)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		w := newWorld(t)
		w.choose(engines.OpenAI)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w.provide(engines.OpenAI, func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		})
		duck := w.provide(engines.DuckDuckGo, ducks())
		r, done := w.runner()
		defer done()
		f, ok := r.Call(ctx, []byte(`{"action":"search","input":{"query":"q"}}`)).(*Failure)
		if !ok || f.Code != SearchFailed || f.OpenAIClass != "cancelled" || f.DuckDuckGoClass != "" || len(duck.requests()) != 0 {
			t.Errorf("answer %+v, %d requests to DuckDuckGo", f, len(duck.requests()))
		}
	})
}

// cutIn sends n bytes of an answer and breaks the connection.
func cutIn(body string, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, body[:n])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// TestNothingIsSentInVain: what is refused is refused before an engine is built.
func TestNothingIsSentInVain(t *testing.T) {
	for _, name := range engines.Names() {
		unavailable := SearchEngineUnavailable
		if name == engines.Tavily { // not admitted at all
			unavailable = SearchSettingsInvalid
		}
		keyEnv := strings.ToUpper(name) + "_API_KEY"
		for _, tc := range []struct {
			name  string
			only  func(name string) bool
			spoil func(w *world)
			code  Code
		}{
			{"broken search settings", nil, func(w *world) { w.put(settings.SearchFile, `{"schema_version":1,"engine":"`+name+`"`) }, SearchSettingsInvalid},
			{"one key too many", nil, func(w *world) { w.put(settings.SearchFile, `{"schema_version":1,"engine":"`+name+`","model":"m"}`) }, SearchSettingsInvalid},
			{"another spelling", nil, func(w *world) { w.engine(strings.ToUpper(name)) }, SearchSettingsInvalid},
			{"broken threshold", nil, func(w *world) { w.put(settings.OutputFile, `{"schema_version":1,"max_chars":0}`) }, OutputSettingsInvalid},
			{"broken operator file", nil, func(w *world) { w.operator = `{"schema_version":1,"engine":{}}` }, OperatorConfigInvalid},
			{"blank query", nil, func(*world) {}, InvalidQuery},
			{"no key", needsKey, func(w *world) { delete(w.env, keyEnv) }, unavailable},
			{"an empty key", needsKey, func(w *world) { w.env[keyEnv] = "" }, unavailable},
			{"a variable that is not set", needsKey, func(w *world) {
				w.operator = `{"schema_version":1,"engines":{"` + name + `":{"api_key":"${OTHER_KEY}"}}}`
			}, SearchEngineUnavailable},
			{"no backend", settingsOnly, func(w *world) { delete(w.env, "WEB_LLM_PROVIDER") }, BackendIneligible},
			{"another backend", settingsOnly, func(w *world) { w.env["WEB_LLM_PROVIDER"] = "openai" }, BackendIneligible},
			{"a look-alike", settingsOnly, func(w *world) { w.env["WEB_LLM_PROVIDER"] = name + "-compat" }, BackendIneligible},
			{"a look-alike without a key", settingsOnly, func(w *world) { w.env["WEB_LLM_PROVIDER"] = "x" + name; delete(w.env, keyEnv) }, BackendIneligible},
			{"as the operator's default", settingsOnly, func(w *world) {
				w.remove(settings.SearchFile)
				w.operator = `{"schema_version":1,"default_engine":"` + name + `"}`
			}, OperatorConfigInvalid},
		} {
			if tc.only != nil && !tc.only(name) {
				continue
			}
			t.Run(name+"/"+tc.name, func(t *testing.T) {
				w := newWorld(t)
				for _, n := range engines.Names() {
					w.provide(n, says("{}"))
				}
				w.choose(name)
				tc.spoil(w)
				query := "q"
				if tc.code == InvalidQuery {
					query = " \n"
				}
				w.search(query).refused(t, Search, tc.code)
				w.idle()
			})
		}
	}
}

// slow marks an answer that the transport does not wait for.
const slow = "X-Slow"

// impatient lets time run out while a slow answer is read, however fast the machine is.
type impatient struct{ http.RoundTripper }

func (i impatient) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := i.RoundTripper.RoundTrip(req)
	if err == nil && resp.Header.Get(slow) != "" {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{iotest.ErrReader(os.ErrDeadlineExceeded), resp.Body}
	}
	return resp, err
}

// TestRaceOfSearches: 50 searches at once, where OpenAI fails at a random point or not at all. Each failed call
// asks DuckDuckGo once, a good one never, and no answer is another query's.
func TestRaceOfSearches(t *testing.T) {
	const searches = 50
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	fates := [searches]int{}
	for i := range fates {
		fates[i] = i % 7 // each at least seven times, in random order
	}
	random.Shuffle(searches, func(i, j int) { fates[i], fates[j] = fates[j], fates[i] })
	cuts := [searches]float64{}
	for i := range cuts {
		cuts[i] = random.Float64()
	}
	const good = 0
	class := []string{"", "APIConnectionError", "APIConnectionError", "InternalServerError", "APIResponseValidationError", "status:incomplete", "APITimeoutError"}

	w := newWorld(t)
	w.env["OPENAI_API_KEY"] = "key-of-openai"
	w.operator = `{"schema_version":1,"limits":{"search_seconds":300}}` // no clock decides here
	openAI := w.provide(engines.OpenAI, func(rw http.ResponseWriter, r *http.Request) {
		var q struct{ Input string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		var i int
		fmt.Sscanf(q.Input, "q%d", &i)
		body := openAIText("about " + q.Input)
		switch fates[i] {
		case good:
			io.WriteString(rw, body)
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			cutIn(body, 1+int(cuts[i]*float64(len(body)-1)))(rw, r)
		case 3:
			rw.WriteHeader(http.StatusInternalServerError)
		case 4:
			io.WriteString(rw, body[:1+int(cuts[i]*float64(len(body)-2))])
		case 5:
			io.WriteString(rw, strings.Replace(body, "completed", "incomplete", 1))
		case 6:
			rw.Header().Set(slow, "yes")
			io.WriteString(rw, body[:int(cuts[i]*float64(len(body)-1))])
			rw.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	})
	openAI.wrap = func(rt http.RoundTripper) http.RoundTripper { return impatient{rt} }
	duck := w.provide(engines.DuckDuckGo, ducks())
	r, done := w.runner()
	defer done()
	r.deps.Builders = map[string]Builder{}
	for name, p := range w.providers {
		r.deps.Builders[name] = p.build(name)
	}
	var (
		wg      sync.WaitGroup
		answers [searches]Answer
	)
	for i := range answers {
		wg.Go(func() {
			answers[i] = r.Call(t.Context(), fmt.Appendf(nil, `{"action":"search","input":{"query":"q%d"}}`, i))
		})
	}
	wg.Wait()

	first, second := map[string]int{}, map[string]int{}
	for _, s := range openAI.requests() {
		var q struct{ Input string }
		must(t, json.Unmarshal([]byte(s.Body), &q))
		first[q.Input]++
	}
	for _, s := range duck.requests() {
		second[strings.TrimPrefix(s.Body[:strings.IndexByte(s.Body, '&')], "q=")]++
	}
	for i, a := range answers {
		query := fmt.Sprintf("q%d", i)
		got, ok := a.(*SearchAnswer)
		if !ok {
			t.Errorf("%s, fate %d: %s", query, fates[i], Marshal(a))
			continue
		}
		asked, by, url, snippet := 1, engines.DuckDuckGo, "https://duck.example/"+query, "from DuckDuckGo"
		if fates[i] == good {
			asked, by, url, snippet = 0, engines.OpenAI, "", "about "+query
		}
		if got.ActualEngine != by || got.OpenAIClass != class[fates[i]] || (*got.Results)[0].URL != url || (*got.Results)[0].Snippet != snippet {
			t.Errorf("%s, fate %d: %s", query, fates[i], Marshal(a))
		}
		if first[query] != 1 || second[query] != asked {
			t.Errorf("%s, fate %d: %d requests to OpenAI, %d to DuckDuckGo, want 1 and %d", query, fates[i], first[query], second[query], asked)
		}
	}
}

// TestSummarizerChoice: who writes a summary, and what is sent to whom.
func TestSummarizerChoice(t *testing.T) {
	const text = "A short summary."
	keys := func(names ...string) func(w *world) {
		return func(w *world) {
			for _, n := range names {
				w.env[strings.ToUpper(n)+"_API_KEY"] = "key-of-" + n
			}
		}
	}
	chosen := func(name string) string { return `{"schema_version":1,"summarizer":{"engine":"` + name + `"}}` }
	for _, tc := range []struct {
		name, operator, backend string
		set                     func(w *world)
		by, fallback            string
	}{
		{"nothing", "", "", keys(), "extractive", ""},
		{"openai's key", "", "", keys("openai"), "openai", ""},
		{"keys alone send nothing to the others", "", "", keys("anthropic", "gemini", "tavily"), "extractive", ""},
		{"the caller's own backend first", "", "anthropic", keys("openai", "anthropic"), "anthropic", ""},
		{"by whole name", "", "Gemini", keys("gemini"), "gemini", ""},
		{"look-alike", "", "anthropic-compat", keys("anthropic"), "extractive", ""},
		{"backend without a key", "", "gemini", keys("openai"), "openai", ""},
		{"auto, spelled", chosen("auto"), "", keys("openai"), "openai", ""},
		{"local by choice", chosen("extractive"), "openai", keys("openai"), "extractive", ""},
		{"named", chosen("anthropic"), "", keys("openai", "anthropic"), "anthropic", ""},
		{"named without a key", chosen("gemini"), "", keys("openai"), "extractive", "credential_missing"},
		{"cannot be built", chosen("openai"), "", func(w *world) {
			keys("openai")(w)
			w.fakes[engines.OpenAI].broken = fmt.Errorf("no client with key-of-openai")
		}, "extractive", "initialization_failed"},
		{"fails", chosen("openai"), "", func(w *world) {
			keys("openai")(w)
			w.provide(engines.OpenAI, refuses(http.StatusTooManyRequests))
		}, "extractive", "RateLimitError"},
		{"is cut off", chosen("anthropic"), "", func(w *world) {
			keys("anthropic")(w)
			w.provide(engines.Anthropic, says(`{"type":"message","content":[{"type":"text","text":"A sho"}],"stop_reason":"max_tokens"}`))
		}, "extractive", "stop_reason:max_tokens"},
		{"says nothing", chosen("gemini"), "", func(w *world) {
			keys("gemini")(w)
			w.provide(engines.Gemini, says(`{"candidates":[],"usageMetadata":{}}`))
		}, "extractive", "empty"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			w.provide(engines.OpenAI, says(openAIText(text)))
			w.provide(engines.Anthropic, says(anthropicBlocks(`{"type":"text","text":"`+text+`"}`)))
			w.provide(engines.Gemini, says(geminiText(text, "")))
			w.operator = tc.operator
			if tc.backend != "" {
				w.env["WEB_LLM_PROVIDER"] = tc.backend
			}
			tc.set(w)
			w.engine(engines.DuckDuckGo)
			w.fakes[engines.DuckDuckGo].answer.Results = hits(20)
			a := w.call(`{"action":"search","input":{"query":"q"},"reasoning":"what the titles are","summarize":true}`)
			want := expect{"status": "ok", "summarizer": tc.by, "generated_summary": text, "summarizer_fallback": gone{}}
			if tc.by == "extractive" {
				want["generated_summary"] = some
			}
			if tc.fallback != "" {
				want["summarizer_fallback"] = tc.fallback
			}
			a.want(t, want)
			for name, p := range w.providers {
				sent := p.requests()
				asked := name == tc.by || tc.operator == chosen(name) && tc.fallback != "" && tc.fallback != "credential_missing" && tc.fallback != "initialization_failed"
				if asked != (len(sent) == 1) || len(sent) > 1 {
					t.Errorf("%d requests to %s", len(sent), name)
				}
				if len(sent) == 1 && (!strings.Contains(sent[0].Body, "title 19") || !strings.Contains(sent[0].Body, "what the titles are") || strings.Contains(sent[0].Body, `"tools"`)) {
					t.Errorf("sent %s", sent[0].Body)
				}
			}
			r, done := w.runner()
			defer done()
			by, problem := r.CheckSummarizer()
			if unusable := tc.fallback == "credential_missing" || tc.fallback == "initialization_failed"; unusable != (problem != "") || !unusable && tc.fallback == "" && by != tc.by {
				t.Errorf("CheckSummarizer gives %s, %q", by, problem)
			}

			w.built = nil
			for _, p := range w.providers {
				p.sent = nil
			}
			w.fakes[engines.DuckDuckGo].asked = nil
			w.call(`{"action":"manual","input":{},"summarize":true}`).want(t, expect{"summarizer": "extractive", "summarizer_fallback": gone{}})
			w.idle()
		})
	}
}
