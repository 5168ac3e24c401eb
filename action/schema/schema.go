// Package schema holds the published JSON Schema of the envelope and validates against it.
//
// envelope.json is the one source: Published prints it and For compiles what one action needs of it. The
// package says where an instance breaks the schema; which error code that becomes is decided in package
// action, and nowhere here.
package schema

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"web/settings/strictjson"
)

//go:embed envelope.json
var published []byte

// Published is the envelope's schema (draft 2020-12) as it is printed and served.
func Published() []byte { return bytes.Clone(published) }

// document is the published schema as a tree. Callers must not change it: For copies what it replaces.
var document = sync.OnceValue(func() map[string]any {
	tree, err := strictjson.Parse(published)
	if err != nil {
		panic(fmt.Sprintf("schema: envelope.json: %v", err)) // a broken build, not a broken call
	}
	return tree.(map[string]any)
})

func properties(schema map[string]any) map[string]any { return schema["properties"].(map[string]any) }

// Actions lists the action names in published order.
func Actions() []string {
	var out []string
	for _, v := range properties(document())["action"].(map[string]any)["enum"].([]any) {
		out = append(out, v.(string))
	}
	return out
}

// Input is a copy of the schema of one action's input, or nil for an unknown action.
func Input(action string) map[string]any {
	in, _ := clone(input(action)).(map[string]any)
	return in
}

func clone(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = clone(e)
		}
		return out
	}
	return v
}

// input is the branch within the document itself.
func input(action string) map[string]any {
	i := slices.Index(Actions(), action)
	if i < 0 {
		return nil
	}
	then := document()["allOf"].([]any)[i].(map[string]any)["then"].(map[string]any)
	return properties(then)["input"].(map[string]any)
}

// PublishedInput is the schema of one known action's input as it is printed.
func PublishedInput(action string) []byte {
	in := input(action)
	out, err := json.MarshalIndent(map[string]any{
		"$schema": document()["$schema"], "title": action + " input",
		"type": in["type"], "properties": in["properties"], "required": in["required"], "additionalProperties": in["additionalProperties"],
	}, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("schema: %v", err)) // a tree that was just read from JSON
	}
	return append(out, '\n')
}

// Fields lists the fields that an action's input may have.
func Fields(action string) []string {
	var out []string
	for name := range properties(input(action)) {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Validator validates envelopes of one action.
type Validator struct{ compiled *jsonschema.Schema }

// For compiles the schema for one action: the published document with its conditional already decided, so
// that the other actions' branches cost nothing. It accepts exactly the envelopes of that action that the
// whole document accepts.
func For(action string) (*Validator, error) {
	in := input(action)
	if in == nil {
		return nil, fmt.Errorf("schema: unknown action")
	}
	root := map[string]any{}
	for k, v := range document() {
		root[k] = v
	}
	delete(root, "allOf")
	props := map[string]any{}
	for k, v := range properties(document()) {
		props[k] = v
	}
	props["input"] = in
	props["action"] = map[string]any{"const": action}
	root["properties"] = props
	raw, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return compile(raw)
}

// Whole compiles the published document as it is. It is for tests and hosts; For is cheaper.
func Whole() (*Validator, error) { return compile(published) }

// id names the schema. An absolute identifier keeps the compiler from making one of the working directory.
const id = "https://web.invalid/envelope.json"

func compile(raw []byte) (*Validator, error) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = func(string) (io.ReadCloser, error) {
		return nil, errors.New("schema: no schema is loaded from elsewhere")
	}
	if err := c.AddResource(id, bytes.NewReader(raw)); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s, err := c.Compile(id)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Validator{s}, nil
}

// Violation is one place where an instance breaks the schema.
type Violation struct {
	// At is the JSON pointer of the instance's offending value: "", "/input", "/input/query".
	At string
	// Keyword is the schema keyword that refused it: "type", "additionalProperties".
	Keyword string
}

// Validate gives every violation, or none. Numbers in the instance must have been judged by Judge.
func (v *Validator) Validate(instance any) []Violation {
	err := v.compiled.Validate(instance)
	if err == nil {
		return nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return []Violation{{}} // not a verdict: refuse the whole instance
	}
	var out []Violation
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			out = append(out, Violation{At: e.InstanceLocation, Keyword: path.Base(e.KeywordLocation)})
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(ve)
	return out
}

// maxDigits is the most digits of an integer that the schema library gets to see: more than any limit needs,
// and few enough to cost nothing.
const maxDigits = 18

// Judge replaces each number by one that the schema library judges as its spelling deserves. The library
// takes 1.0 for an integer, and panics or stalls on huge exponents; here whatever is not spelled as an
// integer becomes a fraction, and an integer beyond maxDigits a number beyond every limit.
func Judge(v any) any {
	switch v := v.(type) {
	case json.Number:
		switch {
		case !strictjson.IsInteger(v):
			return json.Number("0.5")
		case len(strings.TrimPrefix(string(v), "-")) > maxDigits:
			return v[:maxDigits] // the sign and the leading digits: still beyond every limit
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Judge(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = Judge(e)
		}
		return out
	}
	return v
}
