package action

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"web/action/schema"
	"web/browse/fault"
	"web/settings/strictjson"
)

// MaxEnvelopeBytes is the greatest size of an envelope, in bytes.
const MaxEnvelopeBytes = 1 << 20

// Name is the name of an action.
type Name string

// The actions. Unknown is what an answer shows when no action could be told.
const (
	Search  Name = "search"
	Browse  Name = "browse"
	Manual  Name = "manual"
	Unknown Name = "unknown"
)

// Envelope is one valid request. Its action, its keys and the types of the root fields are right; values
// inside Input may still be wrong, because an action answers those itself, in its own order and with its
// settings known. bad remembers which.
type Envelope struct {
	Action Name
	// Input holds the fields given, null ones left out. Numbers are json.Number.
	Input     map[string]any
	Reasoning string
	Summarize bool

	bad map[string]bool
}

// Bad reports whether the schema refuses the value of an input field.
func (e *Envelope) Bad(field string) bool { return e.bad[field] }

// Text gives a string field and whether it was given at all.
func (e *Envelope) Text(field string) (string, bool) {
	s, ok := e.Input[field].(string)
	return s, ok
}

// refusal is where a schema violation becomes an error code, decided once, in the order of contract 1.3.
// Violations below /input are not here: they belong to the action (Envelope.Bad).
var refusals = []struct {
	at, keyword string // "" is any keyword
	message     string
	advice      string
}{
	{"/summarize", "", "summarize must be boolean", "send summarize as true or false, or leave it out"},
	{"/reasoning", "", "reasoning must be a string", "send reasoning as a string, or leave it out"},
	{"", "additionalProperties", "unsupported root argument", "send only action, input, reasoning and summarize"},
	{"", "required", "input must be an object", "send input as an object"},
	{"/input", "type", "input must be an object", "send input as an object"},
	{"/input", "additionalProperties", "unsupported input field", "see `web schema` for the fields of this action"},
}

// Decode reads one envelope strictly. The error is a *Failure without current_setting: the caller adds it.
func Decode(data []byte) (*Envelope, *Failure) {
	if len(data) > MaxEnvelopeBytes {
		return nil, invalidEnvelope(fmt.Sprintf("envelope is larger than %d bytes", MaxEnvelopeBytes))
	}
	// Some shells put a byte-order mark before what they pipe. One is skipped; a second is data.
	data = bytes.TrimPrefix(data, []byte(strictjson.BOM))
	tree, err := strictjson.Parse(data)
	if err != nil {
		var se *strictjson.Error
		if !errors.As(err, &se) {
			return nil, invalidEnvelope("envelope is not one JSON value")
		}
		return nil, invalidEnvelope(se.Error())
	}
	return check(tree)
}

func invalidEnvelope(message string) *Failure {
	return fail(Unknown, EnvelopeInvalid, message, "send exactly one JSON object {action, input, reasoning, summarize} in UTF-8")
}

func check(tree any) (*Envelope, *Failure) {
	root, _ := tree.(map[string]any)
	name, _ := root["action"].(string)
	if !slices.Contains(schema.Actions(), name) {
		return nil, fail(Unknown, ActionRequired, "action must be one of search, browse, or manual",
			"set action to search, browse or manual")
	}
	validator, err := schema.For(name)
	if err != nil {
		return nil, internal(Name(name))
	}
	violations := validator.Validate(schema.Judge(complete(root, name)))
	if f := refuse(Name(name), violations); f != nil {
		return nil, f
	}
	e := &Envelope{Action: Name(name), Input: map[string]any{}, bad: map[string]bool{}}
	e.Reasoning, _ = root["reasoning"].(string)
	e.Summarize, _ = root["summarize"].(bool)
	input := root["input"].(map[string]any)
	for k, v := range input {
		if v != nil {
			e.Input[k] = v
		}
	}
	for _, v := range violations {
		for _, field := range schema.Fields(name) {
			if v.At == "/input/"+field {
				e.bad[field] = true
			}
		}
	}
	return e, nil
}

// complete fills in what the published schema requires and a caller may leave out: reasoning (a host composes
// it) and input fields, where absent equals null.
func complete(root map[string]any, name string) map[string]any {
	out := map[string]any{"reasoning": ""}
	for k, v := range root {
		out[k] = v
	}
	if input, ok := root["input"].(map[string]any); ok {
		full := map[string]any{}
		for _, field := range schema.Fields(name) {
			full[field] = nil
		}
		for k, v := range input {
			full[k] = v
		}
		out["input"] = full
	}
	return out
}

func refuse(name Name, violations []schema.Violation) *Failure {
	best := -1
	for _, v := range violations {
		i := slices.IndexFunc(refusals, func(r struct{ at, keyword, message, advice string }) bool {
			return r.at == v.At && cmp.Or(r.keyword, v.Keyword) == v.Keyword
		})
		if i < 0 && !belowInput(v.At) {
			return internal(name) // a violation nobody decided on: the table and the schema disagree
		}
		if i >= 0 && (best < 0 || i < best) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return fail(name, InvalidArgument, refusals[best].message, refusals[best].advice)
}

func belowInput(at string) bool { return len(at) > len("/input/") && at[:len("/input/")] == "/input/" }

func internal(name Name) *Failure {
	return fail(name, fault.Internal, "web failed unexpectedly", "report this as a defect of web and do not retry")
}

// integer is an input field's number as the schema has already admitted it.
func integer(v any, def int) int {
	n, ok := v.(json.Number)
	if !ok {
		return def
	}
	i, err := n.Int64()
	if err != nil {
		return def
	}
	return int(i)
}
