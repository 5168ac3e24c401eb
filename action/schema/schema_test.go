package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/settings/strictjson"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// validators are compiled once: the published document, and what is used for each action.
var validators = sync.OnceValue(func() map[string]*Validator {
	out := map[string]*Validator{}
	var err error
	if out[""], err = Whole(); err != nil {
		panic(err)
	}
	for _, name := range Actions() {
		if out[name], err = For(name); err != nil {
			panic(err)
		}
	}
	return out
})

// sameVerdict holds that the two ways of validating agree: For(action) accepts exactly those instances of its
// action that the whole document accepts.
func sameVerdict(t *testing.T, instance any) (accepted bool) {
	t.Helper()
	judged := Judge(instance)
	whole := len(validators()[""].Validate(judged)) == 0
	root, _ := instance.(map[string]any)
	for _, name := range Actions() {
		want := whole && root["action"] == name
		if violations := validators()[name].Validate(judged); (len(violations) == 0) != want {
			raw, _ := json.Marshal(instance)
			t.Errorf("For(%s) says %v, the whole document accepts it: %v\n%.300s", name, violations, whole, raw)
		}
	}
	return whole
}

const browse = `"url":"u","link_ref":null,"cursor":null,"extract":"full","max_chars":5`

func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		in       string
		accepted bool
	}{
		{`{"action":"search","input":{"query":"q"},"reasoning":"r"}`, true},
		{`{"action":"search","input":{"query":""},"reasoning":"","summarize":true}`, true},
		{`{"action":"browse","input":{` + browse + `},"reasoning":"r"}`, true},
		{`{"action":"browse","input":{"url":null,"link_ref":null,"cursor":null,"extract":null,"max_chars":null},"reasoning":"r"}`, true},
		{`{"action":"browse","input":{"url":"u","link_ref":"r","cursor":"c","extract":"article","max_chars":100000},"reasoning":"r"}`, true},
		{`{"action":"manual","input":{},"reasoning":"r"}`, true},

		{`{"action":"search","input":{"query":"q"}}`, false},
		{`{"action":"search","input":{},"reasoning":"r"}`, false},
		{`{"action":"search","input":{"query":null},"reasoning":"r"}`, false},
		{`{"action":"search","input":{"query":"q","extract":null},"reasoning":"r"}`, false},
		{`{"action":"search","input":{` + browse + `},"reasoning":"r"}`, false},
		{`{"action":"browse","input":{"query":"q"},"reasoning":"r"}`, false},
		{`{"action":"manual","input":{"query":"q"},"reasoning":"r"}`, false},
		{`{"action":"browse","input":{"url":"u"},"reasoning":"r"}`, false},
		{`{"action":"browse","input":{` + strings.Replace(browse, "full", "markdown", 1) + `},"reasoning":"r"}`, false},
		{`{"action":"browse","input":{` + strings.Replace(browse, "5", "0", 1) + `},"reasoning":"r"}`, false},
		{`{"action":"browse","input":{` + strings.Replace(browse, "5", "100001", 1) + `},"reasoning":"r"}`, false},
		{`{"action":"browse","input":{` + strings.Replace(browse, "5", "5.0", 1) + `},"reasoning":"r"}`, false},
		{`{"action":"browse","input":{` + strings.Replace(browse, "5", "1e99999999", 1) + `},"reasoning":"r"}`, false},
		{`{"action":"manual","input":{},"reasoning":5}`, false},
		{`{"action":"manual","input":{},"reasoning":"r","summarize":null}`, false},
		{`{"action":"manual","input":{},"reasoning":"r","_reasoning":"r"}`, false},
		{`{"action":"manual","input":[],"reasoning":"r"}`, false},
		{`{"action":"manual","reasoning":"r"}`, false},
		{`{"action":"MANUAL","input":{},"reasoning":"r"}`, false},
		{`{"input":{},"reasoning":"r"}`, false},
		{`{}`, false}, {`[]`, false}, {`null`, false}, {`"search"`, false}, {`5`, false},
	} {
		instance, err := strictjson.Parse([]byte(tt.in))
		must(t, err)
		if got := sameVerdict(t, instance); got != tt.accepted {
			t.Errorf("accepted %v: %s", got, tt.in)
		}
	}
}

// made builds an instance out of a fuzzer's bytes. It chooses mostly among what an envelope consists of, so
// that many instances are valid or nearly so.
func made(data []byte) any {
	next := func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b) % n
	}
	values := []any{"search", "browse", "manual", nil, true, json.Number("5"), json.Number("0"), json.Number("100001"), json.Number("5.0"),
		json.Number("1e99999999"), json.Number("99999999999999999999"), "", "full", []any{}, map[string]any{}}
	object := func(fields []string, plain func(field string) any) map[string]any {
		out := map[string]any{}
		for _, field := range fields {
			switch choice := next(16); {
			case choice < 11:
				out[field] = plain(field)
			case choice < 15:
				out[field] = values[next(len(values))]
			}
		}
		if next(8) == 7 {
			out[[]string{"x", "summary", "query", "url", "action", ""}[next(6)]] = values[next(len(values))]
		}
		return out
	}
	action := Actions()[next(3)]
	fields := Fields(action)
	if next(8) == 7 {
		fields = Fields(Actions()[next(3)])
	}
	return object([]string{"action", "input", "reasoning", "summarize"}, func(field string) any {
		switch field {
		case "action":
			return action
		case "summarize":
			return true
		case "reasoning":
			return "r"
		}
		return object(fields, func(field string) any {
			if field == "max_chars" {
				return json.Number("5")
			}
			if field == "extract" {
				return "article"
			}
			return "text"
		})
	})
}

func FuzzSchemaVerdict(f *testing.F) {
	f.Add([]byte{}, []byte(`{"action":"browse","input":{`+browse+`},"reasoning":"r"}`))
	f.Add([]byte{1}, []byte(`{"action":"search","input":{"query":"q"},"reasoning":"r","summarize":false}`))
	f.Add([]byte{2, 7, 1}, []byte(`{"action":"manual","input":{},"reasoning":"r"}`))
	f.Add([]byte("\x00\x00\x0b\x03\x0c\x07\x0d\x09"), []byte(`[{"a":1e99999999}]`))
	f.Fuzz(func(t *testing.T, choices, raw []byte) {
		sameVerdict(t, made(choices))
		if instance, err := strictjson.Parse(raw); err == nil {
			sameVerdict(t, instance)
		}
	})
}

func TestViolations(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []Violation
	}{
		{`{"action":"browse","input":{` + browse + `},"reasoning":"r"}`, nil},
		{`{"action":"browse","input":{` + browse + `},"reasoning":5,"summarize":"x","x":1}`,
			[]Violation{{"", "additionalProperties"}, {"/reasoning", "type"}, {"/summarize", "type"}}},
		{`{"action":"browse"}`, []Violation{{"", "required"}}},
		{`{"action":"search","input":{},"reasoning":"r"}`, []Violation{{"/action", "const"}, {"/input", "required"}}},
		{`{"action":"browse","input":5,"reasoning":"r"}`, []Violation{{"/input", "type"}}},
		{`{"action":"browse","input":{"url":5,"link_ref":null,"cursor":null,"extract":"x","max_chars":0,"zz":1},"reasoning":"r"}`,
			[]Violation{{"/input", "additionalProperties"}, {"/input/extract", "enum"}, {"/input/max_chars", "minimum"}, {"/input/url", "type"}}},
	} {
		instance, err := strictjson.Parse([]byte(tt.in))
		must(t, err)
		got := validators()["browse"].Validate(Judge(instance))
		slices.SortFunc(got, func(a, b Violation) int { return strings.Compare(a.At+" "+a.Keyword, b.At+" "+b.Keyword) })
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.in, diff)
		}
	}
}

// TestJudge: whatever the library makes of the number that it gets to see, it is what the spelling deserves.
func TestJudge(t *testing.T) {
	long := strings.Repeat("9", 100)
	for in, want := range map[string]string{
		"5": "5", "-5": "-5", "0": "0", "-0": "-0", "100001": "100001", strings.Repeat("9", 18): strings.Repeat("9", 18),
		"5.0": "0.5", "5e0": "0.5", "5E0": "0.5", "1e99999999": "0.5", "-1e-99999999": "0.5", "0e9": "0.5",
		long: long[:18], "-" + long: "-" + long[:17], "1" + strings.Repeat("0", 18): "1" + strings.Repeat("0", 17),
	} {
		instance := map[string]any{"a": []any{json.Number(in), "5.0", nil, true}}
		got := Judge(instance)
		if diff := cmp.Diff(any(map[string]any{"a": []any{json.Number(want), "5.0", nil, true}}), got); diff != "" {
			t.Errorf("%.30s (-want +got):\n%s", in, diff)
		}
		if instance["a"].([]any)[0] != json.Number(in) {
			t.Errorf("%.30s: changed in place", in)
		}
	}
}

func TestUnknownAction(t *testing.T) {
	if v, err := For("none"); err == nil || v != nil {
		t.Errorf("For: %v, %v", v, err)
	}
	if in := Input("none"); in != nil {
		t.Errorf("Input: %v", in)
	}
}

// TestPublishedInput: the schema of one input stands alone and says the same as within the envelope.
func TestPublishedInput(t *testing.T) {
	for _, name := range Actions() {
		v, err := compile(PublishedInput(name))
		must(t, err)
		for _, other := range Actions() {
			input := map[string]any{}
			for field := range properties(Input(other)) {
				input[field] = map[string]any{"max_chars": json.Number("5"), "extract": nil}[field]
				if field == "query" || field == "url" {
					input[field] = "text"
				}
			}
			alone := len(v.Validate(input)) == 0
			within := len(validators()[name].Validate(map[string]any{"action": name, "input": input, "reasoning": "r"})) == 0
			if alone != within || alone != (name == other) {
				t.Errorf("%s against %s: alone %v, within %v", name, other, alone, within)
			}
		}
		var doc map[string]any
		must(t, json.Unmarshal(PublishedInput(name), &doc))
		if doc["title"] != name+" input" || doc["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s: %v, %v", name, doc["title"], doc["$schema"])
		}
	}
}

// TestFields is what check 5 of the contract's order goes by.
func TestFields(t *testing.T) {
	want := map[string][]string{"search": {"query"}, "browse": {"cursor", "extract", "link_ref", "max_chars", "url"}, "manual": nil}
	for name, fields := range want {
		if diff := cmp.Diff(fields, Fields(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
