package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"web/action/schema"
	"web/settings/strictjson"
)

// composing are the keywords that hosts reject at a schema's root. What they say becomes words.
var composing = []string{"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"}

// rootFields are the envelope's own optional fields, in the order in which it is written.
func rootFields() []string { return []string{"reasoning", "summarize"} }

// input is the tool's input schema, derived from the published one so that there is one source: flat, and
// where the envelope takes null the field may only be absent.
func (t tool) input() map[string]any {
	out := flat(schema.Input(t.action))
	if t.root {
		fields := out["properties"].(map[string]any)
		for name, v := range rootSchemas() {
			fields[name] = field(v)
		}
	}
	return out
}

// rootSchemas are the published schemas of rootFields.
func rootSchemas() map[string]any {
	tree, err := strictjson.Parse(schema.Published())
	if err != nil {
		panic(fmt.Sprintf("mcp: the published schema: %v", err)) // a broken build, not a broken call
	}
	properties := tree.(map[string]any)["properties"].(map[string]any)
	out := map[string]any{}
	for _, name := range rootFields() {
		out[name] = properties[name]
	}
	return out
}

// flat makes a published object schema one that every host takes: at its root nothing but fields, no type that
// is a list, no null, required only what may not be null, and what is composed put into words.
func flat(in map[string]any) map[string]any {
	properties, _ := in["properties"].(map[string]any)
	fields := map[string]any{}
	required := []any{}
	for name, v := range properties {
		fields[name] = field(v)
	}
	names, _ := in["required"].([]any)
	for _, name := range names {
		if n, ok := name.(string); ok && !nullable(properties[n]) {
			required = append(required, n)
		}
	}
	out := map[string]any{"type": "object", "properties": fields, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	if text := words(in); text != "" {
		out["description"] = text
	}
	return out
}

// field is flat for one value within the object.
func field(v any) any {
	in, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, v := range in {
		switch k {
		case "properties":
			inner := map[string]any{}
			for name, p := range v.(map[string]any) {
				inner[name] = field(p)
			}
			out[k] = inner
		case "items", "additionalProperties":
			out[k] = field(v)
		case "enum":
			out[k] = slices.DeleteFunc(slices.Clone(v.([]any)), func(e any) bool { return e == nil })
		case "default":
			if v != nil {
				out[k] = v
			}
		case "type", "description":
		default:
			if !slices.Contains(composing, k) {
				out[k] = v
			}
		}
	}
	var types []string
	switch t := in["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		for _, e := range t {
			if s, ok := e.(string); ok && s != "null" {
				types = append(types, s)
			}
		}
	}
	text := words(in)
	if len(types) == 1 {
		out["type"] = types[0]
	} else if len(types) > 1 {
		text = strings.TrimSpace(text + " Its type is " + strings.Join(types, " or ") + ".")
	}
	// "This or null" is this, which may be absent.
	for _, k := range []string{"anyOf", "oneOf"} {
		if only := lone(in[k]); only != nil {
			for k, v := range field(only).(map[string]any) {
				if _, own := out[k]; !own && k != "description" {
					out[k] = v
				}
			}
		}
	}
	if text != "" {
		out["description"] = text
	}
	return out
}

// lone is what a choice between something and null leaves, or nil for another choice.
func lone(v any) map[string]any {
	branches, _ := v.([]any)
	var out map[string]any
	for _, b := range branches {
		m, _ := b.(map[string]any)
		switch {
		case m == nil:
			return nil
		case m["type"] == "null":
		case out != nil:
			return nil
		default:
			out = m
		}
	}
	if !slices.ContainsFunc(branches, nullable) {
		return nil
	}
	return out
}

func nullable(v any) bool {
	in, _ := v.(map[string]any)
	isNull := func(e any) bool { return e == "null" }
	if types, ok := in["type"].([]any); ok {
		return slices.ContainsFunc(types, isNull)
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		branches, _ := in[k].([]any)
		if slices.ContainsFunc(branches, nullable) {
			return true
		}
	}
	return isNull(in["type"])
}

// words are a schema's description and, behind it, what its composing keywords ask.
func words(in map[string]any) string {
	text, _ := in["description"].(string)
	for _, k := range composing {
		v, given := in[k]
		if !given || (k == "oneOf" || k == "anyOf") && lone(v) != nil {
			continue
		}
		if names := alternatives(v); names != nil && (k == "oneOf" || k == "anyOf") {
			how := map[string]string{"oneOf": "exactly one of", "anyOf": "at least one of"}[k]
			text += fmt.Sprintf(" Give %s: %s.", how, strings.Join(names, "; "))
			continue
		}
		raw, err := json.Marshal(map[string]any{k: v})
		if err != nil {
			continue // a tree that was read from JSON always is JSON
		}
		text += fmt.Sprintf(" It must also satisfy the JSON Schema %s.", raw)
	}
	return strings.TrimSpace(text)
}

// alternatives names the fields of branches that do nothing but require some.
func alternatives(v any) []string {
	branches, _ := v.([]any)
	var out []string
	for _, b := range branches {
		m, _ := b.(map[string]any)
		required, ok := m["required"].([]any)
		if !ok || len(m) != 1 {
			return nil
		}
		var names []string
		for _, r := range required {
			names = append(names, fmt.Sprint(r))
		}
		out = append(out, strings.Join(names, " and "))
	}
	return out
}
