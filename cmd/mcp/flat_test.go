package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/action/schema"
	"web/settings/strictjson"
)

// parsed reads JSON as a schema is read.
func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

// wire is a value as a host gets it.
func wire(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, string(raw))
}

// notFlat lists what a host could reject in an input schema.
func notFlat(at string, v any) (out []string) {
	switch v := v.(type) {
	case nil:
		return []string{at + ": null"}
	case []any:
		for i, e := range v {
			out = append(out, notFlat(fmt.Sprintf("%s/%d", at, i), e)...)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if slices.Contains(composing, k) || k == "$ref" || k == "$defs" {
				out = append(out, at+"/"+k)
			}
			if _, list := v[k].([]any); list && k == "type" {
				out = append(out, at+"/type: a list")
			}
			out = append(out, notFlat(at+"/"+k, v[k])...)
		}
	}
	return out
}

func TestToolSchemasAreFlat(t *testing.T) {
	for _, tool := range available() {
		t.Run(tool.name, func(t *testing.T) {
			got := wire(t, tool.input())
			if bad := notFlat("", got); bad != nil {
				t.Errorf("a host may reject %v", bad)
			}
			if got["type"] != "object" || got["additionalProperties"] != false {
				t.Errorf("not a closed object: %v", got)
			}
			// Nothing of the published schema is lost or added, but the envelope's own fields.
			want := schema.Fields(tool.action)
			if tool.root {
				want = append(want, rootFields()...)
			}
			slices.Sort(want)
			fields := got["properties"].(map[string]any)
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(fields)), cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
				t.Errorf("fields (-published +tool):\n%s", diff)
			}
			for name, f := range fields {
				if _, typed := f.(map[string]any)["type"]; !typed {
					t.Errorf("%s has no type", name)
				}
			}
			required, _ := got["required"].([]any)
			published := wire(t, schema.Input(tool.action))["properties"].(map[string]any)
			for name, p := range published {
				if must := slices.Contains(required, any(name)); must == nullable(p) {
					t.Errorf("%s: required %v, may be null in the envelope %v", name, must, nullable(p))
				}
			}
		})
	}
}

func TestFlat(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"nullable fields become optional": {
			`{"title":"x","type":"object","properties":{"a":{"type":["string","null"],"enum":["u",null],"default":null},"b":{"type":"integer","minimum":1}},"required":["a","b"],"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"string","enum":["u"]},"b":{"type":"integer","minimum":1}},"required":["b"],"additionalProperties":false}`,
		},
		"a choice of fields becomes words": {
			`{"type":"object","description":"D.","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b","c"]}]}`,
			`{"type":"object","description":"D. Give exactly one of: a; b and c.","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}},"additionalProperties":false}`,
		},
		"any other condition is quoted": {
			`{"type":"object","properties":{"a":{"type":"string"}},"allOf":[{"if":{"required":["a"]}}],"not":{"required":["z"]}}`,
			`{"type":"object","description":"It must also satisfy the JSON Schema {\"allOf\":[{\"if\":{\"required\":[\"a\"]}}]}. It must also satisfy the JSON Schema {\"not\":{\"required\":[\"z\"]}}.","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
		},
		"this or null is this": {
			`{"type":"object","properties":{"a":{"description":"A.","anyOf":[{"type":"array","items":{"type":["string","null"]}},{"type":"null"}]}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"description":"A.","type":"array","items":{"type":"string"}}},"additionalProperties":false}`,
		},
		"two types become words": {
			`{"type":"object","properties":{"a":{"description":"A.","type":["string","array","null"]}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"description":"A. Its type is string or array."}},"additionalProperties":false}`,
		},
		"within fields too": {
			`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":["integer","null"]}},"oneOf":[{"minProperties":1},{"required":["b"]}]}}}`,
			`{"type":"object","properties":{"a":{"type":"object","description":"It must also satisfy the JSON Schema {\"oneOf\":[{\"minProperties\":1},{\"required\":[\"b\"]}]}.","properties":{"b":{"type":"integer"}}}},"additionalProperties":false}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := parsed(t, tc.in)
			got := wire(t, flat(in))
			if diff := cmp.Diff(parsed(t, tc.want), got); diff != "" {
				t.Errorf("flat (-want +got):\n%s", diff)
			}
			if bad := notFlat("", got); bad != nil {
				t.Errorf("not flat: %v", bad)
			}
			if diff := cmp.Diff(parsed(t, tc.in), in); diff != "" {
				t.Errorf("the published schema was changed:\n%s", diff)
			}
		})
	}
}

func TestToolsAreTheActions(t *testing.T) {
	names := map[string]bool{}
	actions := map[string]bool{}
	for _, a := range available() {
		if names[a.name] || actions[a.action] {
			t.Errorf("%s of %s is there twice", a.name, a.action)
		}
		names[a.name], actions[a.action] = true, true
		if !slices.ContainsFunc(known, func(k tool) bool { return k.action == a.action }) {
			t.Errorf("the action %s has no words for a model", a.action)
		}
	}
	for _, action := range schema.Actions() {
		if !actions[action] {
			t.Errorf("the action %s is no tool", action)
		}
	}
	if !slices.IsSorted(Tools()) {
		t.Errorf("no stable order: %v", Tools())
	}
	for action, name := range map[string]string{"search": "web_search_all", "browse": "web_browse", "manual": "web_manual", "web_search": "web_search", "web_fetch": "web_fetch"} {
		i := slices.IndexFunc(known, func(k tool) bool { return k.action == action })
		if i < 0 || known[i].name != name {
			t.Errorf("the tool of %s is not %s", action, name)
		}
	}
}

func TestChoose(t *testing.T) {
	got, err := choose([]string{"web_manual", "web_browse"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range got {
		names = append(names, tool.name)
	}
	if diff := cmp.Diff([]string{"web_browse", "web_manual"}, names); diff != "" {
		t.Errorf("chosen (-want +got):\n%s", diff)
	}
	if _, err := choose([]string{"web_browse", "web_brows"}); err == nil {
		t.Error("a tool that there is not was chosen")
	}
}

func TestEnvelope(t *testing.T) {
	browse := tool{action: "browse", root: true}
	bounded := tool{action: "web_fetch"}
	for name, tc := range map[string]struct {
		tool      tool
		arguments string
		want      string
	}{
		"fields are the input":       {browse, `{"url":"https://ex.org/","max_chars":10}`, `{"action":"browse","input":{"url":"https://ex.org/","max_chars":10}}`},
		"none":                       {browse, ``, `{"action":"browse","input":{}}`},
		"null":                       {browse, ` null `, `{"action":"browse","input":{}}`},
		"root fields move out":       {browse, `{"url":"u","reasoning":"why \"q\"","summarize":true}`, `{"action":"browse","input":{"url":"u"},"reasoning":"why \"q\"","summarize":true}`},
		"null root fields":           {browse, `{"url":"u","reasoning":null,"summarize":null}`, `{"action":"browse","input":{"url":"u"}}`},
		"wrong root fields stay so":  {browse, `{"url":"u","summarize":"yes"}`, `{"action":"browse","input":{"url":"u"},"summarize":"yes"}`},
		"numbers keep their form":    {browse, `{"max_chars":1.0,"reasoning":"r"}`, `{"action":"browse","input":{"max_chars":1.0},"reasoning":"r"}`},
		"not an object":              {browse, `[1]`, `{"action":"browse","input":[1]}`},
		"duplicates are left to see": {browse, `{"url":"a","url":"b"}`, `{"action":"browse","input":{"url":"a","url":"b"}}`},
		"a tool without them":        {bounded, `{"url":"u","summarize":true}`, `{"action":"web_fetch","input":{"url":"u","summarize":true}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(tc.tool.envelope(json.RawMessage(tc.arguments)))); diff != "" {
				t.Errorf("envelope (-want +got):\n%s", diff)
			}
		})
	}
}
