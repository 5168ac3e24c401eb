package action

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"web/action/schema"
	"web/engines"
	"web/settings"
)

// row is one acceptance case of contract section 9, by its number there. Where the product deliberately does
// better than the contract, a comment above the row says what changed and why that is right.
type row struct {
	n    int
	name string
	run  func(t *testing.T, w *world)
}

var sections = []struct {
	name string
	rows []row
}{
	{"9.1 schema and envelope", envelopeRows},
	{"9.2 search basics", searchRows},
	{"9.3 engine selection", selectionRows},
	{"9.4 fallback and failure classes", fallbackRows},
	{"9.5 adapters", adapterRows},
	{"9.6 settings", settingsRows},
	{"9.10 delivery", deliveryRows},
	{"9.11 manual", manualRows},
}

func TestAcceptance(t *testing.T) {
	for _, s := range sections {
		t.Run(s.name, func(t *testing.T) {
			for _, r := range s.rows {
				t.Run(fmt.Sprintf("%d %s", r.n, r.name), func(t *testing.T) { r.run(t, newWorld(t)) })
			}
		})
	}
}

// TestEveryCaseHasItsPlace: each number of the sections is in the tables once, and none besides.
func TestEveryCaseHasItsPlace(t *testing.T) {
	rows := map[int]int{}
	for _, s := range sections {
		for _, r := range s.rows {
			rows[r.n]++
		}
	}
	wanted := map[int]bool{}
	for _, span := range [][2]int{{1, 89}, {133, 145}} {
		for n := span[0]; n <= span[1]; n++ {
			wanted[n] = true
			if rows[n] != 1 {
				t.Errorf("case %d has %d rows", n, rows[n])
			}
		}
	}
	for n := range rows {
		if !wanted[n] {
			t.Errorf("case %d is none of these sections", n)
		}
	}
}

// publishedSchema is a fresh tree of the published schema.
func publishedSchema(t *testing.T) answer {
	t.Helper()
	var tree map[string]any
	must(t, json.Unmarshal(schema.Published(), &tree))
	return tree
}

// branch gives the schema of the i-th action's input, from oneOf or from allOf.
func branch(s answer, list string, i int) map[string]any {
	path := map[string]string{"oneOf": "properties.input.oneOf.%d", "allOf": "allOf.%d.then.properties.input"}[list]
	b, _ := s.at(fmt.Sprintf(path, i)).(map[string]any)
	return b
}

var actions = []any{"search", "browse", "manual"}

var envelopeRows = []row{
	{1, "published root", func(t *testing.T, _ *world) {
		s := publishedSchema(t)
		s.want(t, expect{
			"type": "object", "additionalProperties": false, "required": []any{"action", "input", "reasoning"},
			"properties.reasoning.type": "string", "properties.summarize.type": "boolean",
		})
		if diff := cmp.Diff([]string{"action", "input", "reasoning", "summarize"}, keys(s["properties"])); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}},
	{2, "order of actions and titles", func(t *testing.T, _ *world) {
		publishedSchema(t).want(t, expect{
			"properties.action.enum": actions, "properties.input.oneOf.0.title": "search input",
			"properties.input.oneOf.1.title": "browse input", "properties.input.oneOf.2.title": "manual input",
			"properties.input.oneOf.3": gone{},
		})
	}},
	// Product 5: extract is also "full".
	{3, "closed branches", func(t *testing.T, _ *world) {
		s := publishedSchema(t)
		for i := range actions {
			for _, list := range []string{"oneOf", "allOf"} {
				b := branch(s, list, i)
				required := []string{}
				for _, v := range b["required"].([]any) {
					required = append(required, v.(string))
				}
				slices.Sort(required)
				if diff := cmp.Diff(append([]string{}, keys(b["properties"])...), required); diff != "" || b["additionalProperties"] != false {
					t.Errorf("%s %d: additionalProperties %v, (-declared +required):\n%s", list, i, b["additionalProperties"], diff)
				}
			}
		}
		answer(branch(s, "allOf", 1)).want(t, expect{
			"properties.url.type": []any{"string", "null"}, "properties.link_ref.type": []any{"string", "null"},
			"properties.cursor.type": []any{"string", "null"}, "properties.extract.enum": []any{"article", "full", nil},
			"properties.max_chars.type": []any{"integer", "null"}, "properties.max_chars.minimum": 1.0, "properties.max_chars.maximum": 100000.0,
		})
		answer(branch(s, "allOf", 2)).want(t, expect{"properties": map[string]any{}})
	}},
	{4, "no root field in a branch", func(t *testing.T, _ *world) {
		for i := range actions {
			for _, name := range []string{"reasoning", "_reasoning", "summarize", "summary"} {
				if slices.Contains(keys(branch(publishedSchema(t), "oneOf", i)["properties"]), name) {
					t.Errorf("branch %d declares %s", i, name)
				}
			}
		}
	}},
	{5, "conditions equal their branches, copies are apart", func(t *testing.T, _ *world) {
		s := publishedSchema(t)
		for i, name := range actions {
			s.want(t, expect{
				fmt.Sprintf("allOf.%d.if.properties.action.const", i): name,
				fmt.Sprintf("allOf.%d.if.required", i):                []any{"action"},
			})
			b := branch(s, "oneOf", i)
			delete(b, "title")
			if diff := cmp.Diff(b, branch(s, "allOf", i)); diff != "" {
				t.Errorf("%s (-oneOf +allOf):\n%s", name, diff)
			}
		}
		s.want(t, expect{"allOf.3": gone{}})

		before := string(schema.Published()) + string(schema.PublishedInput("search"))
		clear(schema.Published())
		clear(schema.PublishedInput("search"))
		in := schema.Input("search")
		in["properties"].(map[string]any)["engine"] = map[string]any{}
		clear(in["required"].([]any))
		if after := string(schema.Published()) + string(schema.PublishedInput("search")); after != before {
			t.Error("changing a copy changed the schema")
		}
		if got := schema.Fields("search"); !slices.Equal(got, []string{"query"}) {
			t.Errorf("changing a copy changed the fields to %q", got)
		}
	}},
	{6, "input is constrained", func(t *testing.T, _ *world) {
		s := publishedSchema(t)
		s.want(t, expect{"properties.input.type": "object"})
		for i := range actions {
			for _, list := range []string{"oneOf", "allOf"} {
				answer(branch(s, list, i)).want(t, expect{"type": "object", "additionalProperties": false})
			}
		}
	}},
	{7, "no root", func(t *testing.T, w *world) {
		for _, in := range []string{`{}`, `null`, `[]`, `"search"`, `5`, `true`} {
			checkActionRequired(t, w.call(in))
		}
	}},
	{8, "unknown action", func(t *testing.T, w *world) {
		checkActionRequired(t, w.call(`{"action":"not-a-real-action","input":{},"reasoning":"x"}`))
		if strings.Contains(string(w.shown), "not-a-real") {
			t.Errorf("echoed: %s", w.shown)
		}
	}},
	{9, "action of another type or case", func(t *testing.T, w *world) {
		for _, name := range []string{`[]`, `{}`, `null`, `5`, `true`, `"SEARCH"`, `"search "`, `""`, `["search"]`} {
			checkActionRequired(t, w.call(`{"action":`+name+`,"input":{"query":"q"},"reasoning":"x"}`))
		}
		w.idle()
	}},
	{10, "input is no object", func(t *testing.T, w *world) {
		for _, in := range []string{``, `,"input":null`, `,"input":[]`, `,"input":"x"`, `,"input":5`} {
			a := w.call(`{"action":"search","reasoning":"x"` + in + `}`)
			a.refused(t, Search, InvalidArgument)
			a.want(t, expect{"message": "input must be an object"})
			a.want(t, noRead)
		}
		w.idle()
	}},
	{11, "summarize of another type", func(t *testing.T, w *world) {
		for _, v := range []string{`"true"`, `1`, `0`, `[]`, `{}`, `null`} {
			a := w.call(`{"action":"search","input":{"query":"q"},"reasoning":"x","summarize":` + v + `}`)
			a.refused(t, Search, InvalidArgument)
			a.want(t, noRead)
		}
		w.idle()
	}},
	{12, "summarize false or absent", func(t *testing.T, w *world) {
		for _, s := range []string{``, `,"summarize":false`} {
			a := w.call(`{"action":"search","input":{"query":"q"},"reasoning":"x"` + s + `}`)
			a.want(t, expect{"status": "ok", "results.0.title": "T", "artifact": gone{}})
		}
	}},
	{13, "summarize stays outside the operation", func(t *testing.T, w *world) {
		w.call(`{"action":"search","input":{"query":"q"},"reasoning":"x","summarize":true}`)
		if diff := cmp.Diff([]engines.Query{{Text: "q"}}, w.fakes[engines.DuckDuckGo].asked); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		w.call(`{"action":"manual","input":{},"reasoning":"x","summarize":true}`).want(t, expect{"error_code": gone{}})
		a := w.call(`{"action":"browse","input":{"url":"http://127.0.0.1/"},"reasoning":"x","summarize":true}`)
		if a["error_code"] == string(InvalidArgument) {
			t.Error("browse refuses summarize")
		}
	}},
	{14, "the old flat form", func(t *testing.T, w *world) {
		w.call(`{"action":"search","input":{},"query":"q","reasoning":"x"}`).refused(t, Search, InvalidArgument)
		w.idle()
	}},
	{15, "root aliases", func(t *testing.T, w *world) {
		for _, extra := range []string{`"parameters":{}`, `"parameter":{}`, `"arguments":{}`, `"summary":true`, `"engine":"duckduckgo"`, `"Action":"search"`, `"reaſoning":"x"`} {
			a := w.call(`{"action":"search","input":{"query":"q"},"reasoning":"x",` + extra + `}`)
			a.refused(t, Search, InvalidArgument)
			a.want(t, expect{"message": "unsupported root argument"})
		}
		w.idle()
	}},
	// Product 2: the root is exactly four fields; _reasoning is a host's own spelling and not admitted.
	{16, "_reasoning", func(t *testing.T, w *world) {
		w.call(`{"action":"manual","input":{},"reasoning":"x","_reasoning":"x"}`).refused(t, Manual, InvalidArgument)
	}},
	{17, "reasoning absent", func(t *testing.T, w *world) {
		w.call(`{"action":"search","input":{"query":"q"}}`).want(t, expect{"status": "ok", "count": 1})
	}},
	{18, "engine in the input of search", func(t *testing.T, w *world) {
		before, outside := maps.Clone(w.env), os.Environ()
		w.call(`{"action":"search","input":{"query":"x","engine":"duckduckgo"},"reasoning":"x"}`).refused(t, Search, InvalidArgument)
		if !maps.Equal(before, w.env) || !slices.Equal(outside, os.Environ()) {
			t.Error("the environment changed")
		}
		w.idle()
	}},
	{19, "any field in the input of manual", func(t *testing.T, w *world) {
		w.engine("duckduckgo")
		w.threshold(7)
		opened := watchOpens(t, filepath.Join(w.dir, "settings"))
		for _, in := range []string{`{"engine":"duckduckgo"}`, `{"bogus":1}`, `{"bogus":null}`} {
			a := w.call(`{"action":"manual","input":` + in + `,"reasoning":"x"}`)
			a.refused(t, Manual, InvalidArgument)
			a.want(t, noRead)
		}
		if got := opened(); len(got) > 0 {
			t.Errorf("opened %q", got)
		}
	}},
	{20, "unknown field in the input of browse", func(t *testing.T, w *world) {
		w.put(settings.SearchFile, "broken")
		a := w.call(`{"action":"browse","input":{"bogus":1},"reasoning":"x"}`)
		a.refused(t, Browse, InvalidArgument)
		a.want(t, noRead)
	}},
	{21, "keys are checked before nulls go", func(t *testing.T, w *world) {
		w.call(`{"action":"search","input":{"query":"q","extract":null},"reasoning":"x"}`).refused(t, Search, InvalidArgument)
		w.idle()
	}},
	{22, "root fields inside input", func(t *testing.T, w *world) {
		for name, in := range map[Name]string{Search: `"query":"q",`, Browse: `"url":"https://ex.org/",`, Manual: ``} {
			for _, field := range []string{`"reasoning":"x"`, `"_reasoning":"x"`, `"summarize":true`, `"summary":true`} {
				a := w.call(fmt.Sprintf(`{"action":%q,"input":{%s%s},"reasoning":"x"}`, name, in, field))
				a.refused(t, name, InvalidArgument)
				a.want(t, expect{"message": "unsupported input field"})
			}
		}
		w.idle()
	}},
	{23, "one wrapping", func(t *testing.T, w *world) {
		want := []string{
			"action", "actual_engine", "content_chars", "count", "current_setting", "delivery", "engine", "query", "results",
			"retrieved_at", "status", "untrusted_content",
		}
		if diff := cmp.Diff(want, keys(map[string]any(w.search("q")))); diff != "" {
			t.Errorf("search (-want +got):\n%s", diff)
		}
		want = []string{"action", "current_setting", "manual", "manual_path", "manual_source", "status"}
		if diff := cmp.Diff(want, keys(map[string]any(w.manual()))); diff != "" {
			t.Errorf("manual (-want +got):\n%s", diff)
		}
	}},
}

func checkActionRequired(t *testing.T, a answer) {
	t.Helper()
	a.refused(t, Unknown, ActionRequired)
	a.want(t, expect{"message": "action must be one of search, browse, or manual"})
	a.want(t, noRead)
}

var searchRows = []row{
	{24, "no query", func(t *testing.T, w *world) {
		w.threshold(1234)
		for _, in := range []string{`{"query":""}`, `{"query":" \t\r\n\u00a0\u3000"}`, `{"query":5}`, `{"query":["q"]}`, `{"query":true}`, `{"query":null}`, `{}`} {
			a := w.call(`{"action":"search","input":` + in + `,"reasoning":"x"}`)
			a.refused(t, Search, InvalidQuery)
			a.want(t, expect{
				"query": gone{}, "current_setting.source": "built_in_default", "current_setting.engine": "duckduckgo",
				"current_setting.output_max_chars.value": 1234,
			})
		}
		w.idle()
	}},
	{25, "one hit", func(t *testing.T, w *world) {
		w.search("question").want(t, expect{
			"status": "ok", "action": "search", "query": "question", "engine": "duckduckgo", "actual_engine": "duckduckgo",
			"count": 1, "results.0.link_ref": "ln_fc60963ff0ac20db", "delivery": "inline", "retrieved_at": "2026-03-04T05:06:07+00:00",
		})
		// Query carries no count, so equality also says that none was asked for.
		if diff := cmp.Diff([]engines.Query{{Text: "question"}}, w.fakes[engines.DuckDuckGo].asked); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}},
	{26, "the ref of a hit, followed", func(t *testing.T, w *world) {
		w.page("text/html", "<title>T</title><p>the page's own text</p>")
		ref := fmt.Sprint(w.search("q").at("results.0.link_ref"))
		w.browse(`"link_ref":`+quote(ref)).want(t, expect{"status": "ok", "requested_url": "https://ex.org/a", "blocks.0.text": "the page's own text"})
		if diff := cmp.Diff([]string{"https://ex.org/a"}, w.fetched); diff != "" {
			t.Errorf("fetched (-want +got):\n%s", diff)
		}
	}},
	{27, "refs of known URLs", func(t *testing.T, w *world) {
		w.fakes[engines.DuckDuckGo].answer.Results = []engines.Result{hit("a", "https://ex.org/a", ""), hit("n", "https://ex.org/n", "")}
		w.search("q").want(t, expect{"results.0.link_ref": "ln_fc60963ff0ac20db", "results.1.link_ref": "ln_e061d0e93c1dc0e4"})
	}},
	{28, "a hit without URL", func(t *testing.T, w *world) {
		w.fakes[engines.DuckDuckGo].answer.Results = []engines.Result{hit("", "", "only a snippet"), hit("only a title", "", "")}
		w.search("q").want(t, expect{"count": 2, "results": []any{
			map[string]any{"title": "", "url": "", "snippet": "only a snippet", "link_ref": nil},
			map[string]any{"title": "only a title", "url": "", "snippet": "", "link_ref": nil},
		}})
		if _, err := os.Stat(filepath.Join(w.dir, "tmp")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("state was made for nothing: %v", err)
		}
	}},
	{29, "an empty hit", func(t *testing.T, w *world) {
		w.fakes[engines.DuckDuckGo].answer.Results = []engines.Result{hit("", "", "")}
		w.search("q").want(t, expect{"status": "ok", "count": 0, "results": []any{}, "content_chars": 2})
	}},
	{30, "500 hits", func(t *testing.T, w *world) {
		w.fakes[engines.DuckDuckGo].answer.Results = hits(500)
		a := w.search("q")
		a.want(t, expect{"status": "ok", "count": 500, "delivery": "artifact", "results": gone{}, "partial": gone{}, "total": gone{}, "next_cursor": gone{}})
		var items []ResultItem
		must(t, json.Unmarshal(w.artifact(a), &items))
		if len(items) != 500 || items[499].URL != "https://ex.org/499" {
			t.Errorf("the file holds %d items", len(items))
		}
	}},
	{31, "a long title", func(t *testing.T, w *world) {
		w.threshold(100000)
		title := strings.Repeat("long title ", 5000)
		w.fakes[engines.DuckDuckGo].answer.Results = []engines.Result{hit(title, "https://ex.org/a", "")}
		w.search("q").want(t, expect{"results.0.title": title, "delivery": "inline"})
	}},
	{32, "an untyped failure", func(t *testing.T, w *world) {
		w.fakes[engines.DuckDuckGo].err = errors.New("text of the failure at https://10.1.2.3/x")
		a := w.search("q")
		a.refused(t, Search, SearchFailed)
		a.want(t, expect{"provider_failure_class": gone{}, "openai_failure_class": gone{}, "duckduckgo_failure_class": gone{}})
		if strings.Contains(string(w.shown), "text of the failure") || strings.Contains(string(w.shown), "10.1.2.3") {
			t.Errorf("shows the failure's text: %s", w.shown)
		}
	}},
	{33, "a long query", func(t *testing.T, w *world) {
		query := " " + strings.Repeat("é", 2998) + " "
		a := w.search(query)
		if got := a["query"].(string); got != " "+strings.Repeat("é", 1999) {
			t.Errorf("echoed %d characters", utf8.RuneCountInString(got))
		}
		if got := w.fakes[engines.DuckDuckGo].asked; len(got) != 1 || got[0].Text != query {
			t.Errorf("the engine got %.20v", got)
		}
	}},
	// Product 5: search carries the marker, as browse does.
	{34, "the untrusted marker", func(t *testing.T, w *world) {
		w.search("q").want(t, expect{"untrusted_content": true})
	}},
}

const invalidOperator = "current_setting.operator_error"

var selectionRows = []row{
	{35, "nothing configured", func(t *testing.T, w *world) {
		w.search("q").want(t, expect{"engine": "duckduckgo", "current_setting.engine": "duckduckgo", "current_setting.source": "built_in_default"})
		if diff := cmp.Diff([]build{{Name: "duckduckgo"}}, w.built); diff != "" {
			t.Errorf("built (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]engines.Query{{Text: "q"}}, w.fakes[engines.DuckDuckGo].asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	}},
	{36, "OpenAI's key alone", func(t *testing.T, w *world) {
		w.env["OPENAI_API_KEY"] = "key-of-openai"
		w.search("q").want(t, expect{"engine": "openai", "actual_engine": "openai", "current_setting.source": "built_in_default"})
		if diff := cmp.Diff([]build{{Name: "openai", Key: "key-of-openai"}}, w.built); diff != "" { // no model: the engine's own
			t.Errorf("built (-want +got):\n%s", diff)
		}
	}},
	{37, "keys of Anthropic and Gemini", func(t *testing.T, w *world) {
		w.env["ANTHROPIC_API_KEY"], w.env["GEMINI_API_KEY"] = "key-of-anthropic", "key-of-gemini"
		w.search("q").want(t, expect{
			"engine":                                 "duckduckgo",
			"current_setting.available_engine_names": []any{"anthropic", "duckduckgo", "gemini", "openai"},
			"current_setting.available_engine_status": map[string]any{
				"anthropic": "available", "duckduckgo": "available", "gemini": "available", "openai": "credential_missing",
			},
			"current_setting.available_engines": []any{
				map[string]any{"name": "anthropic", "status": "available"}, map[string]any{"name": "duckduckgo", "status": "available"},
				map[string]any{"name": "gemini", "status": "available"},
				map[string]any{"name": "openai", "status": "credential_missing", "api_key_env": "OPENAI_API_KEY"},
			},
		})
	}},
	{38, "the backend's own key", func(t *testing.T, w *world) {
		w.env["WEB_LLM_PROVIDER"], w.env["WEB_LLM_BASE_URL"], w.env["LLM_API_KEY"] = "openai", "https://api.openai.com/v1", "key-of-the-backend"
		w.search("q").want(t, expect{"engine": "duckduckgo", "current_setting.available_engine_status.openai": "credential_missing"})
		if diff := cmp.Diff([]build{{Name: "duckduckgo"}}, w.built); diff != "" {
			t.Errorf("built (-want +got):\n%s", diff)
		}
	}},
	{39, "the operator's default without its key", func(t *testing.T, w *world) {
		w.operator = `{"schema_version":1,"default_engine":"openai","engines":{"openai":{"api_key":"${MY_VARIABLE}"}}}`
		w.env["OPENAI_API_KEY"] = "key-of-openai" // another variable than the one that is named
		a := w.search("q")
		a.refused(t, Search, SearchEngineUnavailable)
		a.want(t, expect{
			"current_setting.engine": "openai", "current_setting.source": "operator_default",
			"current_setting.available_engines.3": map[string]any{"name": "openai", "status": "credential_missing", "api_key_env": "MY_VARIABLE"},
		})
		w.idle()
	}},
	// Product 4: operator.json gives a key once, literally or as ${NAME}; so there are no two to choose from.
	// What the file says stands, whatever the built-in variable holds.
	{40, "a key from a variable and a literal one", func(t *testing.T, w *world) {
		w.env["OPENAI_API_KEY"], w.env["NAMED_KEY"] = "key-of-openai", "key-from-the-named-one"
		for value, want := range map[string]string{"${NAMED_KEY}": "key-from-the-named-one", "literal": "literal"} {
			w.built = nil
			w.operator = `{"schema_version":1,"default_engine":"openai","engines":{"openai":{"api_key":"` + value + `"}}}`
			w.search("q").want(t, expect{"status": "ok"})
			if diff := cmp.Diff([]build{{Name: "openai", Key: want}}, w.built); diff != "" {
				t.Errorf("built (-want +got):\n%s", diff)
			}
		}
	}},
	// Product 4: the other built-in engines stay listed beside the one that failed.
	{41, "the client cannot be built", func(t *testing.T, w *world) {
		w.env["OPENAI_API_KEY"] = "key-of-openai"
		w.fakes[engines.OpenAI].broken = errors.New("no client with key-of-openai")
		a := w.search("q")
		a.refused(t, Search, SearchEngineUnavailable)
		a.want(t, expect{
			"current_setting.engine":                         "openai",
			"current_setting.available_engine_status.openai": "initialization_failed",
			"current_setting.available_engines.3":            map[string]any{"name": "openai", "status": "initialization_failed"},
		})
		if len(w.asked()) > 0 {
			t.Errorf("asked %v", w.asked())
		}
		unavailable := newWorld(t)
		unavailable.operator = `{"schema_version":1,"default_engine":"openai"}`
		if other := unavailable.search("q"); other["message"] == a["message"] {
			t.Error("unavailable and not initialised are told in the same words")
		}
	}},
	{42, "an operator's engine that cannot be", func(t *testing.T, w *world) {
		for _, op := range []string{`"engines":{"bad/name":{}}`, `"default_engine":"nowhere"`, `"engines":{}`, `"engines":[]`, `"default_engine":"tavily"`} {
			w.operator = `{"schema_version":1,` + op + `}`
			a := w.search("q")
			a.refused(t, Search, OperatorConfigInvalid)
			a.want(t, expect{invalidOperator: some})
			if s := string(w.shown); strings.Contains(s, "bad/name") || strings.Contains(s, "nowhere") {
				t.Errorf("quotes the file: %s", s)
			}
		}
		w.idle()
	}},
	{43, "a retired provider", func(t *testing.T, w *world) {
		for _, name := range []string{"minimax", "zhipu"} {
			for _, op := range []string{`"default_engine":"` + name + `"`, `"engines":{"` + name + `":{}}`, `"engines":{"` + name + `":{},"duckduckgo":{}}`} {
				w.operator = `{"schema_version":1,` + op + `}`
				a := w.search("q")
				a.refused(t, Search, OperatorConfigInvalid)
				if !strings.Contains(fmt.Sprint(a.at(invalidOperator)), "retired") {
					t.Errorf("%s: %v", op, a.at(invalidOperator))
				}
			}
			w.operator = ""
			w.engine(name)
			w.search("q").refused(t, Search, SearchSettingsInvalid)
			w.remove("settings")
		}
		w.idle()
	}},
	{44, "a provider for the settings file only", func(t *testing.T, w *world) {
		for _, name := range []string{"anthropic", "gemini"} {
			w.operator = `{"schema_version":1,"default_engine":"` + name + `","engines":{"` + name + `":{"api_key":"k"}}}`
			a := w.search("q")
			a.refused(t, Search, OperatorConfigInvalid)
			if s := fmt.Sprint(a.at(invalidOperator)); strings.Contains(s, "retired") || !strings.Contains(s, settings.SearchFile) {
				t.Errorf("%s: %s", name, s)
			}
		}
		w.idle()
	}},
	// Product 4: the four built-in engines are always listed, so DuckDuckGo answers; declaring an engine still
	// never selects it.
	{45, "a map that declares anthropic or gemini alone", func(t *testing.T, w *world) {
		for _, name := range []string{"anthropic", "gemini"} {
			w.operator = `{"schema_version":1,"llm":{"provider":"` + name + `"},"engines":{"` + name + `":{"api_key":"k"}}}`
			w.search("q").want(t, expect{"status": "ok", "engine": "duckduckgo", "current_setting.source": "built_in_default"})
		}
		if diff := cmp.Diff(map[string]int{"duckduckgo": 2}, w.asked()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	}},
	{46, "selected, with the same backend", func(t *testing.T, w *world) {
		w.env["ANTHROPIC_API_KEY"], w.env["GEMINI_API_KEY"] = "key-of-anthropic", "key-of-gemini"
		for _, name := range []string{"anthropic", "gemini"} {
			w.engine(name)
			w.env["WEB_LLM_PROVIDER"] = name
			w.search("q").want(t, expect{"status": "ok", "engine": name, "actual_engine": name, "current_setting.source": settings.SearchFile})
		}
	}},
	{47, "selected, with another backend", func(t *testing.T, w *world) {
		for _, name := range []string{"anthropic", "gemini"} { // without a key: eligibility is judged before it
			w.engine(name)
			for _, backend := range []string{"claude-code", "openai", "openrouter", "custom", "codex"} {
				w.env["WEB_LLM_PROVIDER"] = backend
				a := w.search("q")
				a.refused(t, Search, BackendIneligible)
				if !strings.Contains(a["message"].(string), name) {
					t.Errorf("the message does not name %s: %s", name, a["message"])
				}
			}
		}
		w.idle()
	}},
	// Product 4: operator.json is strict, so a backend that is no string makes the file invalid.
	{48, "look-alike backends", func(t *testing.T, w *world) {
		w.env["ANTHROPIC_API_KEY"] = "key-of-anthropic"
		w.engine("anthropic")
		for _, backend := range []string{"claude_code", "ANTHROPIC-compat", "anthropi", "gemini", ""} {
			w.env["WEB_LLM_PROVIDER"] = backend
			w.search("q").refused(t, Search, BackendIneligible)
		}
		delete(w.env, "WEB_LLM_PROVIDER")
		w.search("q").refused(t, Search, BackendIneligible)
		w.operator = `{"schema_version":1,"llm":{"provider":5}}`
		w.search("q").refused(t, Search, OperatorConfigInvalid)
		w.idle()
		w.operator, w.env["WEB_LLM_PROVIDER"] = "", "Anthropic"
		w.search("q").want(t, expect{"status": "ok", "engine": "anthropic"})
	}},
	{49, "the file changes between calls", func(t *testing.T, w *world) {
		w.env["ANTHROPIC_API_KEY"], w.env["WEB_LLM_PROVIDER"] = "key-of-anthropic", "anthropic"
		w.engine("anthropic")
		r, done := w.runner() // both calls in one Runner: nothing is cached there either
		defer done()
		envelope := []byte(`{"action":"search","input":{"query":"q"}}`)
		first := r.Call(t.Context(), envelope).(*SearchAnswer)
		w.engine("duckduckgo")
		second := r.Call(t.Context(), envelope).(*SearchAnswer)
		if first.Engine != "anthropic" || second.Engine != "duckduckgo" || second.Setting.Source != settings.SearchFile {
			t.Errorf("engines %s, %s; source %s", first.Engine, second.Engine, second.Setting.Source)
		}
	}},
	// Product 4: operator.json is strict. A provider nobody knows makes it invalid instead of becoming another
	// engine, and there is no legacy_fallback.
	{50, "an unknown old provider", func(t *testing.T, w *world) {
		w.operator = `{"schema_version":1,"engines":{"oldprovider":{},"duckduckgo":{}}}`
		a := w.search("q")
		a.refused(t, Search, OperatorConfigInvalid)
		a.want(t, expect{"current_setting.legacy_fallback_from": gone{}, "current_setting.legacy_fallback": gone{}})
		w.idle()
	}},
	{51, "browse and manual build nothing", func(t *testing.T, w *world) {
		w.engine("anthropic")
		w.env["ANTHROPIC_API_KEY"], w.env["WEB_LLM_PROVIDER"] = "key-of-anthropic", "codex"
		w.manual().want(t, expect{"status": "ok"})
		if a := w.call(`{"action":"browse","input":{"url":"http://127.0.0.1/"},"reasoning":"x"}`); a["error_code"] == string(BackendIneligible) {
			t.Error("browse meets the eligibility check")
		}
		if len(w.built) > 0 || len(w.asked()) > 0 {
			t.Errorf("built %v, asked %v", w.built, w.asked())
		}
	}},
}

// openAI selects engine openai and lets it fail.
func (w *world) openAI(err error) {
	w.env["OPENAI_API_KEY"] = "key-of-openai"
	w.fakes[engines.OpenAI].err = err
}

// settingsOnlyEngines runs a case for anthropic and for gemini, each selected and eligible and failing.
func settingsOnlyEngines(t *testing.T, w *world, err func(engine string) error, run func(name string)) {
	t.Helper()
	for _, name := range []string{"anthropic", "gemini"} {
		w.engine(name)
		w.env["WEB_LLM_PROVIDER"], w.env[strings.ToUpper(name)+"_API_KEY"] = name, "key-of-"+name
		w.fakes[name].err = err(name)
		run(name)
	}
}

var fallbackRows = []row{
	{52, "OpenAI fails, DuckDuckGo answers", func(t *testing.T, w *world) {
		w.openAI(typed("openai", "Timeout"))
		a := w.search("q")
		a.want(t, expect{
			"status": "ok", "engine": "openai", "actual_engine": "duckduckgo", "openai_failure_class": "Timeout",
			"duckduckgo_failure_class": gone{}, "provider_failure_class": gone{}, "count": 1,
		})
		if c := fmt.Sprint(a["comment"]); !regexp.MustCompile(`^# .*OpenAI.*\(Timeout\).*DuckDuckGo.*$`).MatchString(c) || strings.Contains(c, "\n") {
			t.Errorf("comment %q", c)
		}
		if diff := cmp.Diff([]engines.Query{{Text: "q"}}, w.fakes[engines.DuckDuckGo].asked); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}},
	{53, "both fail", func(t *testing.T, w *world) {
		w.openAI(typed("openai", "ServerError"))
		w.fakes[engines.DuckDuckGo].err = typed("duckduckgo", "RuntimeError")
		a := w.search("q")
		a.refused(t, Search, SearchFailed)
		a.want(t, expect{"openai_failure_class": "ServerError", "duckduckgo_failure_class": "RuntimeError", "provider_failure_class": gone{}, "comment": gone{}})
		if diff := cmp.Diff(map[string]int{"openai": 1, "duckduckgo": 1}, w.asked()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		w.fakes[engines.DuckDuckGo].err = errors.New("untyped")
		w.search("q").want(t, expect{"openai_failure_class": "ServerError", "duckduckgo_failure_class": some})
	}},
	{54, "OpenAI fails untyped", func(t *testing.T, w *world) {
		w.openAI(errors.New("a defect"))
		a := w.search("q")
		a.refused(t, Search, SearchFailed)
		a.want(t, expect{"openai_failure_class": gone{}, "duckduckgo_failure_class": gone{}, "provider_failure_class": gone{}})
		if diff := cmp.Diff(map[string]int{"openai": 1}, w.asked()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	}},
	// Product 5: the class is given for DuckDuckGo too.
	{55, "another engine fails typed", func(t *testing.T, w *world) {
		settingsOnlyEngines(t, w, func(name string) error { return typed(name, "AuthenticationError") }, func(name string) {
			a := w.search("q")
			a.refused(t, Search, SearchFailed)
			a.want(t, expect{"provider_failure_class": "AuthenticationError", "openai_failure_class": gone{}, "current_setting.engine": name})
		})
		if diff := cmp.Diff(map[string]int{"anthropic": 1, "gemini": 1}, w.asked()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		w.engine("duckduckgo")
		w.fakes[engines.DuckDuckGo].err = typed("duckduckgo", strings.Repeat("c", engines.MaxClassChars)+"more")
		a := w.search("q")
		a.refused(t, Search, SearchFailed)
		a.want(t, expect{"provider_failure_class": strings.Repeat("c", engines.MaxClassChars), "duckduckgo_failure_class": gone{}})
	}},
	{56, "another engine fails untyped", func(t *testing.T, w *world) {
		settingsOnlyEngines(t, w, func(string) error { return errors.New("a defect") }, func(string) {
			a := w.search("q")
			a.refused(t, Search, SearchFailed)
			a.want(t, expect{"provider_failure_class": gone{}})
		})
		if diff := cmp.Diff(map[string]int{"anthropic": 1, "gemini": 1}, w.asked()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	}},
	{57, "a key in the failure's text", func(t *testing.T, w *world) {
		// world.call refuses an answer that holds the value of any *KEY* variable.
		for _, err := range []error{
			fmt.Errorf("401 for key-of-openai"),
			&engines.Error{Engine: "openai", Class: "AuthenticationError", Message: "the key is wrong", Err: errors.New("key-of-openai")},
		} {
			w.openAI(err)
			w.fakes[engines.DuckDuckGo].err = err
			w.search("q").refused(t, Search, SearchFailed)
		}
		settingsOnlyEngines(t, w, func(name string) error { return errors.New("key-of-" + name) }, func(string) {
			w.search("q").refused(t, Search, SearchFailed)
		})
	}},
	{58, "the fallback's answer as an artifact", func(t *testing.T, w *world) {
		w.openAI(typed("openai", "Timeout"))
		inline := w.search("q")
		w.threshold(1)
		a := w.search("q")
		a.want(t, expect{
			"delivery": "artifact", "comment": inline["comment"], "openai_failure_class": "Timeout", "engine": "openai",
			"actual_engine": "duckduckgo", "count": 1, "results": gone{}, "preview": gone{},
		})
	}},
	{59, "an ordinary artifact", func(t *testing.T, w *world) {
		w.threshold(1)
		w.search("q").want(t, expect{
			"delivery": "artifact", "comment": gone{}, "openai_failure_class": gone{}, "duckduckgo_failure_class": gone{}, "provider_failure_class": gone{},
		})
	}},
}

// refusesSearchFile checks the answer to one invalid content of settings/web.search.json.
func refusesSearchFile(t *testing.T, w *world, content string) {
	t.Helper()
	w.put(settings.SearchFile, content)
	checkSearchFileRefused(t, w)
}

func checkSearchFileRefused(t *testing.T, w *world) {
	t.Helper()
	a := w.search("q")
	a.refused(t, Search, SearchSettingsInvalid)
	a.want(t, expect{
		"current_setting.engine": nil, "current_setting.search_engine": nil, "current_setting.selected_engine": nil,
		"current_setting.source": "settings_error", "current_setting.settings_error": some, "current_setting.output_max_chars.value": 50000,
	})
	w.idle()
}

// refusesOutputFile does the same for settings/web.json.
func refusesOutputFile(t *testing.T, w *world, content string) {
	t.Helper()
	w.put(settings.OutputFile, content)
	a := w.search("q")
	a.refused(t, Search, OutputSettingsInvalid)
	a.want(t, expect{
		"current_setting.output_max_chars.value": nil, "current_setting.output_max_chars.source": "settings_error",
		"current_setting.output_max_chars.settings_error": some, "current_setting.source": "built_in_default", "current_setting.engine": "duckduckgo",
	})
	w.idle()
}

const (
	validSearchFile = `{"schema_version":1,"engine":"duckduckgo"}`
	searchRevision  = "5bc46304d6d2e21f10ab008888ecfab3"
	validOutputFile = `{"schema_version":1,"max_chars":50000}`
	outputRevision  = "7635249e0779a5289a4121c6c16fba0e"
	defaultHash     = "e5a60733d6ba598cdf19314c1627b1bc"
)

var defaultOutput = expect{
	"current_setting.output_max_chars": map[string]any{
		"value": json.Number("50000"), "source": "default", "settings_revision": "default", "settings_hash": defaultHash,
	},
}

var settingsRows = []row{
	{71, "no web.search.json", func(t *testing.T, w *world) {
		w.search("q").want(t, expect{
			"engine": "duckduckgo", "current_setting.settings_revision": "missing", "current_setting.settings_hash": nil, "current_setting.settings_error": gone{},
		})
	}},
	{72, "a valid web.search.json", func(t *testing.T, w *world) {
		w.put(settings.SearchFile, validSearchFile)
		w.search("q").want(t, expect{
			"engine": "duckduckgo", "current_setting.engine": "duckduckgo", "current_setting.search_engine": "duckduckgo",
			"current_setting.selected_engine": "duckduckgo", "current_setting.source": settings.SearchFile,
			"current_setting.settings_revision": searchRevision, "current_setting.settings_hash": searchRevision,
		})
	}},
	{73, "an engine that is not admitted", func(t *testing.T, w *world) {
		for _, name := range []string{"nowhere", "DuckDuckGo", "tavily"} {
			w.engine(name)
			checkSearchFileRefused(t, w)
		}
		w.operator = `{"schema_version":1,"engines":{"tavily":{"api_key":"k"}}}` // what admits Tavily
		w.search("q").want(t, expect{"status": "ok", "engine": "tavily"})
	}},
	{74, "schema_version by its spelling", func(t *testing.T, w *world) {
		for _, v := range []string{`true`, `1.0`, `1e0`, `"1"`, `2`, `null`, `[1]`} {
			refusesSearchFile(t, w, `{"schema_version":`+v+`,"engine":"duckduckgo"}`)
		}
	}},
	{75, "keys of web.search.json", func(t *testing.T, w *world) {
		for _, content := range []string{
			`{"schema_version":1,"engine":"duckduckgo","extra":1}`, `{"schema_version":1,"engine":"duckduckgo","engine":"duckduckgo"}`,
			`{"schema_version":1}`, `{"engine":"duckduckgo"}`, `{}`, `[]`, `null`,
		} {
			refusesSearchFile(t, w, content)
		}
	}},
	{76, "links, directories and pipes", func(t *testing.T, w *world) {
		place := filepath.Join(w.dir, settings.SearchFile)
		w.put("settings/elsewhere", validSearchFile)
		must(t, os.Symlink("elsewhere", place))
		checkSearchFileRefused(t, w)
		w.remove(settings.SearchFile)
		must(t, os.Mkdir(place, 0o755))
		checkSearchFileRefused(t, w)
		w.remove(settings.SearchFile)
		mkfifo(t, place)
		checkSearchFileRefused(t, w)
	}},
	{77, "valid, broken, valid", func(t *testing.T, w *world) {
		w.put(settings.SearchFile, validSearchFile)
		first := w.search("q")
		w.put(settings.SearchFile, `{"schema_version":1,`)
		w.search("q").refused(t, Search, SearchSettingsInvalid)
		w.put(settings.SearchFile, validSearchFile)
		w.search("q").want(t, expect{"status": "ok", "current_setting.settings_revision": first.at("current_setting.settings_revision")})
	}},
	{78, "manual and browse beside a broken web.search.json", func(t *testing.T, w *world) {
		w.put(settings.SearchFile, "broken")
		a := w.manual()
		a.want(t, expect{"status": "ok", "manual": guideText})
		a.want(t, noRead)
		w.page("text/plain", "text")
		a = w.browse(`"url":"https://ex.org/a"`)
		a.want(t, expect{
			"status": "ok", "current_setting.source": "not_applicable", "current_setting.settings_error": gone{},
			"current_setting.settings_revision": "not_read", "current_setting.engine": nil,
		})
		a.want(t, defaultOutput)
	}},
	{79, "the greatest size", func(t *testing.T, w *world) {
		padded := validSearchFile + strings.Repeat(" ", 65536-len(validSearchFile))
		w.put(settings.SearchFile, padded)
		w.search("q").want(t, expect{"status": "ok", "current_setting.source": settings.SearchFile})
		w.built, w.fakes[engines.DuckDuckGo].asked = nil, nil
		refusesSearchFile(t, w, padded+" ")
	}},
	{80, "not one JSON text", func(t *testing.T, w *world) {
		for _, content := range []string{
			"\ufeff" + validSearchFile, "{\"schema_version\":1,\"engine\":\"duck\xffduckgo\"}", validSearchFile + "x", validSearchFile + validSearchFile,
			`{"schema_version":1,"engine":"duckduckgo",}`, "", "// c\n" + validSearchFile, `{'schema_version':1,'engine':'duckduckgo'}`,
		} {
			refusesSearchFile(t, w, content)
		}
	}},
	{81, "unreadable", func(t *testing.T, w *world) {
		// A directory that is a link to itself cannot be read even by root. world.call finds absolute paths.
		must(t, os.Symlink("settings", filepath.Join(w.dir, "settings")))
		a := w.search("q")
		a.refused(t, Search, OutputSettingsInvalid)
		a.want(t, expect{
			"current_setting.settings_error":    "settings/web.search.json could not be read (too many links)",
			"current_setting.settings_revision": "error", "current_setting.settings_hash": nil,
			"current_setting.output_max_chars.settings_error": "settings/web.json could not be read (too many links)",
		})
		if os.Geteuid() != 0 {
			w.remove("settings")
			w.put(settings.SearchFile, validSearchFile)
			must(t, os.Chmod(filepath.Join(w.dir, settings.SearchFile), 0))
			w.search("q").want(t, expect{"current_setting.settings_error": "settings/web.search.json could not be read (permission denied)"})
		}
		w.idle()
	}},
	{82, "no web.json", func(t *testing.T, w *world) {
		for range 2 {
			w.search("q").want(t, defaultOutput)
		}
	}},
	{83, "the bounds of max_chars", func(t *testing.T, w *world) {
		for _, n := range []int{1, 100000} {
			w.threshold(n)
			w.search("q").want(t, expect{"status": "ok", "current_setting.output_max_chars.value": n, "current_setting.output_max_chars.source": settings.OutputFile})
		}
		w.built, w.fakes[engines.DuckDuckGo].asked = nil, nil
		for _, v := range []string{"0", "-1", "-0", "100001", "1000000000"} {
			refusesOutputFile(t, w, `{"schema_version":1,"max_chars":`+v+`}`)
		}
	}},
	{84, "max_chars by its spelling", func(t *testing.T, w *world) {
		for _, v := range []string{`true`, `false`, `"50000"`, `50000.0`, `5e4`, `null`, `[50000]`} {
			refusesOutputFile(t, w, `{"schema_version":1,"max_chars":`+v+`}`)
		}
	}},
	{85, "keys of web.json", func(t *testing.T, w *world) {
		for _, content := range []string{`{"schema_version":1,"max_chars":5,"x":1}`, `{"schema_version":1}`, `{"max_chars":5}`, validSearchFile} {
			refusesOutputFile(t, w, content)
		}
	}},
	{86, "a broken web.json", func(t *testing.T, w *world) {
		w.put(settings.SearchFile, validSearchFile)
		w.put(settings.OutputFile, "broken")
		w.search("q").refused(t, Search, OutputSettingsInvalid)
		for _, input := range []string{`"url":"https://ex.org/a"`, `"url":"https://ex.org/a","max_chars":5`, `"extract":5,"max_chars":0`, ``} {
			a := w.browse(input)
			a.refused(t, Browse, OutputSettingsInvalid)
			a.want(t, expect{
				"current_setting.output_max_chars.value": nil, "current_setting.output_max_chars.source": "settings_error",
				"current_setting.output_max_chars.settings_error": some, "request_id": gone{}, "stage": gone{}, "snapshot_id": gone{},
			})
		}
		w.idle()
		opened := watchOpens(t, filepath.Join(w.dir, "settings"))
		w.manual().want(t, expect{"status": "ok"})
		if got := opened(); len(got) > 0 {
			t.Errorf("manual opened %q", got)
		}
	}},
	{87, "the threshold of web.json", func(t *testing.T, w *world) {
		w.threshold(7)
		w.page("text/plain", "text")
		for _, a := range []answer{w.search("q"), w.browse(`"url":"https://ex.org/a"`)} {
			a.want(t, expect{"delivery": "artifact", "max_chars": 7, "current_setting.output_max_chars.value": 7})
		}
		w.threshold(1234)
		w.search("q").want(t, expect{
			"delivery": "inline", "current_setting.output_max_chars.value": 1234,
			"current_setting.source": "built_in_default", "current_setting.settings_revision": "missing",
		})
	}},
	{88, "both files broken", func(t *testing.T, w *world) {
		w.put(settings.SearchFile, "broken")
		w.put(settings.OutputFile, "broken")
		a := w.search("q")
		a.refused(t, Search, OutputSettingsInvalid)
		a.want(t, expect{"current_setting.settings_error": some, "current_setting.output_max_chars.settings_error": some, "current_setting.engine": nil})
		w.idle()
	}},
	{89, "deep nesting and huge numbers", func(t *testing.T, w *world) {
		deep := strings.Repeat("[", 30000) + strings.Repeat("]", 30000)
		for _, v := range []string{deep, strings.Repeat("9", 60000), "1e99999999", "-1e-99999999"} {
			refusesSearchFile(t, w, `{"schema_version":`+v+`,"engine":"duckduckgo"}`)
			w.remove(settings.SearchFile)
			refusesOutputFile(t, w, `{"schema_version":1,"max_chars":`+v+`}`)
			w.remove(settings.OutputFile)
		}
	}},
}

var artifactPath = regexp.MustCompile(`^tmp/tool-results/20260304T050607-web-(search-[0-9a-f]{6}\.json|browse-[0-9a-f]{6}\.md)$`)

var deliveryRows = []row{
	{133, "inline and artifact", func(t *testing.T, w *world) {
		w.fakes[engines.DuckDuckGo].answer.Results = hits(3)
		w.search("q").want(t, expect{"delivery": "inline", "count": 3, "file_path": gone{}, "artifact": gone{}, "max_chars": gone{}})

		w.fakes[engines.DuckDuckGo].answer.Results = hits(400)
		a := w.search("q")
		file := w.artifact(a)
		sum := sha256.Sum256(file)
		a.want(t, expect{
			"status": "ok", "count": 400, "delivery": "artifact", "artifact": "lingtai_web_output_artifact/v1",
			"content_scope": "provider_response", "content_kind": "search_results", "format": "json", "encoding": "utf-8",
			"content_chars": utf8.RuneCount(file), "content_sha256": hex.EncodeToString(sum[:]), "max_chars": 50000,
			"created_at": "2026-03-04T05:06:07.890123+00:00", "artifact_lifetime": "ephemeral", "artifact_state": "available",
			"delivery_decision_chars": gone{}, "delivery_decision_basis": gone{}, "results": gone{}, "preview": gone{},
			"query": "q", "engine": "duckduckgo", "actual_engine": "duckduckgo", "untrusted_content": true,
		})
		if s := fmt.Sprint(a["instruction"]); !strings.Contains(s, "file.read") || !strings.Contains(s, fmt.Sprint(utf8.RuneCount(file))) || !strings.Contains(s, "50000") {
			t.Errorf("instruction %q", s)
		}
		if strings.Contains(string(w.shown), "snippet ") {
			t.Error("content beside the artifact")
		}
	}},
	{134, "the threshold itself", func(t *testing.T, w *world) {
		n := w.search("q").at("content_chars").(int)
		w.threshold(n)
		w.search("q").want(t, expect{"delivery": "inline", "content_chars": n})
		w.threshold(n - 1)
		w.search("q").want(t, expect{"delivery": "artifact", "content_chars": n, "max_chars": n - 1})

		w.page("text/plain", "one\n\ntwo")
		n = w.browse(`"url":"https://ex.org/a"`).at("content_chars").(int)
		w.threshold(n)
		w.browse(`"url":"https://ex.org/a"`).want(t, expect{"delivery": "inline", "content_chars": n})
		w.threshold(n - 1)
		w.browse(`"url":"https://ex.org/a"`).want(t, expect{
			"delivery": "artifact", "delivery_decision_chars": n, "delivery_decision_basis": "structured_blocks", "max_chars": n - 1,
		})
	}},
	{135, "characters, not bytes", func(t *testing.T, w *world) {
		chars := func(title string) int {
			w.fakes[engines.DuckDuckGo].answer.Results = []engines.Result{hit(title, "https://ex.org/a", "")}
			return w.search("q").at("content_chars").(int)
		}
		plain := chars("abcdef")
		if got := chars("漢字漢字𠀀é"); got != plain {
			t.Errorf("six characters count as %d", got-plain+6)
		}
		w.threshold(1)
		a := w.search("q")
		a.want(t, expect{"content_chars": plain})
		if got := len(w.artifact(a)); got != plain+4*2+3+1 { // four of three bytes, one of four, one of two
			t.Errorf("the file has %d bytes for %d characters", got, plain)
		}
	}},
	// Product 5: the file is Markdown that keeps headings, lists, links, tables and code.
	{136, "a small page and a large one", func(t *testing.T, w *world) {
		w.page("text/html; charset=utf-8", "<title>T</title><h1>H</h1><p>P <a href=/n>next</a></p>")
		a := w.browse(`"url":"https://ex.org/a"`)
		a.want(t, expect{
			"delivery": "inline", "content_chars": 105, "partial": false, "next_cursor": nil, "returned_chars": 7, "title": "T", "file_path": gone{},
			"links": []any{map[string]any{"ref": "ln_e061d0e93c1dc0e4", "text": "next", "url": "https://ex.org/n"}},
		})
		var items []BlockItem
		for _, b := range a["blocks"].([]any) {
			b := b.(map[string]any)
			items = append(items, BlockItem{ID: b["id"].(string), Kind: b["kind"].(string), Text: b["text"].(string)})
		}
		want := []BlockItem{{ID: "b0001", Kind: "heading", Text: "H"}, {ID: "b0002", Kind: "paragraph", Text: "P next"}}
		if diff := cmp.Diff(want, items); diff != "" {
			t.Errorf("blocks (-want +got):\n%s", diff)
		}

		w.page("text/html", "<title>T</title><h1>H</h1>"+strings.Repeat("<p>A paragraph of some words with <a href=/n>a link</a>.</p>", 2000))
		a = w.browse(`"url":"https://ex.org/a"`)
		file := w.artifact(a)
		sum := sha256.Sum256(file)
		a.want(t, expect{
			"status": "ok", "delivery": "artifact", "artifact": ArtifactMarker, "format": "markdown", "content_kind": "page_text",
			"content_scope": "fetched_static_document", "content_chars": utf8.RuneCount(file), "content_sha256": hex.EncodeToString(sum[:]),
			"delivery_decision_basis": "structured_blocks", "blocks": gone{}, "partial": gone{}, "next_cursor": gone{}, "returned_chars": gone{},
			"untrusted_content": true, "snapshot_id": some, "links.0.ref": "ln_e061d0e93c1dc0e4", "outline.0.text": "H",
		})
		if !strings.HasPrefix(string(file), "# H\n\nA paragraph of some words with [a link](https://ex.org/n).\n\n") {
			t.Errorf("the file begins %.80q", file)
		}
	}},
	// Product 5: the Markdown file has paragraphs apart, so content_chars is 45,000 and the marks between them.
	{137, "4,500 blocks", func(t *testing.T, w *world) {
		const text, n = "0123456789", 4500
		w.page("text/plain", strings.Repeat(text+"\n\n", n))
		a := w.browse(`"url":"https://ex.org/a"`)
		file := string(w.artifact(a))
		a.want(t, expect{"delivery": "artifact", "delivery_decision_chars": 270000, "delivery_decision_basis": "structured_blocks", "content_chars": len(file)})
		got := strings.Split(strings.TrimSpace(file), "\n\n")
		if len(got) != n || strings.Join(got, "") != strings.Repeat(text, n) {
			t.Errorf("the file holds %d paragraphs, %d characters", len(got), len(file))
		}
	}},
	{138, "the threshold of the call", func(t *testing.T, w *world) {
		w.threshold(12345)
		w.page("text/plain", "some text")
		w.browse(`"url":"https://ex.org/a","max_chars":3`).want(t, expect{
			"delivery": "artifact", "max_chars": 3, "output_setting_source": "call_override", "output_setting_revision": "call_override", "output_setting_hash": nil,
			"current_setting.output_max_chars": map[string]any{
				"value": json.Number("3"), "source": "call_override", "settings_revision": "call_override", "settings_hash": nil,
			},
		})
		w.browse(`"url":"https://ex.org/a","max_chars":null`).want(t, expect{
			"delivery": "inline", "current_setting.output_max_chars.value": 12345, "current_setting.output_max_chars.source": settings.OutputFile,
		})
	}},
	{139, "a file of its own for each", func(t *testing.T, w *world) {
		w.threshold(1)
		w.page("text/plain", "text")
		first, second := w.search("q"), w.search("q")
		for _, a := range []answer{first, second, w.browse(`"url":"https://ex.org/a"`)} {
			if p := fmt.Sprint(a["file_path"]); !artifactPath.MatchString(p) {
				t.Errorf("path %q", p)
			}
		}
		if first["file_path"] == second["file_path"] || len(w.artifact(first)) == 0 || len(w.artifact(second)) == 0 {
			t.Errorf("%v, %v", first["file_path"], second["file_path"])
		}
	}},
	{140, "nowhere to write", func(t *testing.T, w *world) {
		w.threshold(1)
		w.openAI(typed("openai", "Timeout")) // the fallback's fields are not carried over
		check := func() {
			t.Helper()
			a := w.search("the query")
			a.refused(t, Search, ArtifactWriteFailed)
			a.want(t, expect{
				"query": "the query", "engine": "openai", "file_path": gone{}, "artifact": gone{},
				"comment": gone{}, "openai_failure_class": gone{}, "current_setting.output_max_chars.value": 1,
			})
			if strings.Contains(string(w.shown), "ex.org") {
				t.Errorf("content in the failure: %s", w.shown)
			}
			w.page("text/plain", "content of the page")
			a = w.browse(`"url":"https://ex.org/a"`)
			a.refused(t, Browse, ArtifactWriteFailed)
			a.want(t, expect{"request_id": some, "snapshot_id": some, "blocks": gone{}, "links": gone{}, "title": gone{}, "file_path": gone{}})
			if strings.Contains(string(w.shown), "content of") {
				t.Errorf("content in the failure: %s", w.shown)
			}
		}
		w.put("tmp/tool-results", "a file in the place of the directory")
		check()
		w.remove("tmp")
		outside := t.TempDir()
		must(t, os.Symlink(outside, filepath.Join(w.dir, "tmp")))
		check()
		if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
			t.Errorf("written through a link: %v, %v", entries, err)
		}
		if os.Geteuid() != 0 {
			w.remove("tmp")
			must(t, os.MkdirAll(filepath.Join(w.dir, "tmp/tool-results"), 0o555))
			check()
		}
	}},
	{141, "the setting that decided", func(t *testing.T, w *world) {
		w.fakes[engines.DuckDuckGo].answer.Results = hits(400)
		a := w.search("q")
		a.want(t, expect{"output_setting_source": "default", "output_setting_revision": "default", "output_setting_hash": defaultHash})
		a.want(t, defaultOutput)
		w.put(settings.OutputFile, validOutputFile)
		a = w.search("q")
		a.want(t, expect{"output_setting_source": settings.OutputFile, "output_setting_revision": outputRevision, "output_setting_hash": outputRevision})
		a.want(t, expect{"current_setting.output_max_chars.settings_revision": outputRevision})
	}},
	// The host's ceiling is the host's; what web owes it is the marker, the three fields, an answer that stays
	// small whatever the result's size, and a file that anybody can read.
	{142, "what a host's ceiling looks at", func(t *testing.T, w *world) {
		w.fakes[engines.DuckDuckGo].answer.Results = []engines.Result{hit(strings.Repeat("t", 5<<20), "https://ex.org/a", "")}
		a := w.search("q")
		a.want(t, expect{"artifact": ArtifactMarker, "file_path": some, "content_sha256": some})
		if n := a.at("content_chars").(int); n < 5<<20 || n != utf8.RuneCount(w.artifact(a)) {
			t.Errorf("content_chars %d", n)
		}
		if len(w.shown) > 200000/10 {
			t.Errorf("the answer has %d bytes", len(w.shown))
		}
	}},
}

var manualRows = []row{
	{143, "installed", func(t *testing.T, w *world) {
		const text = "---\nname: web\n---\ninstalled: é <>&\u2028\n"
		w.put(InstalledGuide, text)
		a := w.manual()
		path := filepath.Join(w.dir, filepath.FromSlash(InstalledGuide))
		a.want(t, expect{
			"status": "ok", "action": "manual", "manual": text, "manual_path": path, "manual_source": "installed",
			"error": gone{}, "error_code": gone{}, "content": gone{}, "structuredContent": gone{},
		})
		a.want(t, noRead)
		must(t, os.Rename(path, path+".real")) // a link to a regular file counts as present
		must(t, os.Symlink("SKILL.md.real", path))
		w.manual().want(t, expect{"status": "ok", "manual": text, "manual_path": path})
	}},
	// Product 8: degraded is only what was installed once and is gone; where nothing was ever installed the
	// embedded guide answers.
	{144, "missing", func(t *testing.T, w *world) {
		w.manual().want(t, expect{"status": "ok", "manual": guideText, "manual_path": nil, "manual_source": "embedded", "error": gone{}})
		must(t, os.MkdirAll(filepath.Join(w.dir, "capabilities/web"), 0o755))
		path := filepath.Join(w.dir, filepath.FromSlash(InstalledGuide))
		degraded := func() {
			t.Helper()
			a := w.manual()
			a.want(t, expect{"status": "degraded", "manual": "", "manual_path": path, "error": some, "error_code": gone{}, "action": "manual"})
			a.want(t, noRead)
		}
		degraded()
		must(t, os.Mkdir(path, 0o755))
		degraded()
		w.remove(InstalledGuide)
		mkfifo(t, path)
		degraded()
	}},
	{145, "both settings files broken", func(t *testing.T, w *world) {
		w.put(settings.SearchFile, "broken")
		w.put(settings.OutputFile, "broken")
		opened := watchOpens(t, filepath.Join(w.dir, "settings"))
		a := w.manual()
		a.want(t, expect{"status": "ok", "manual": guideText})
		a.want(t, noRead)
		if got := opened(); len(got) > 0 {
			t.Errorf("opened %q", got)
		}
		w.idle()
	}},
}
