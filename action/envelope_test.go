package action

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"web/action/schema"
	"web/settings/strictjson"
)

const bom = "\xef\xbb\xbf"

func TestDecodeAccepts(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     Envelope
	}{
		{"all root fields", `{"action":"search","input":{"query":"q"},"reasoning":"why","summarize":true}`,
			Envelope{Action: Search, Input: map[string]any{"query": "q"}, Reasoning: "why", Summarize: true}},
		{"no reasoning", `{"action":"manual","input":{}}`, Envelope{Action: Manual, Input: map[string]any{}}},
		{"white space around", " \r\n\t{\"action\" : \"manual\", \"input\" : {} } \n", Envelope{Action: Manual, Input: map[string]any{}}},
		{"one byte-order mark", bom + `{"action":"manual","input":{},"reasoning":"x"}`, // C20
			Envelope{Action: Manual, Input: map[string]any{}, Reasoning: "x"}},
		{"byte-order mark inside a string", `{"action":"manual","input":{},"reasoning":"` + bom + `"}`,
			Envelope{Action: Manual, Input: map[string]any{}, Reasoning: "\ufeff"}},
		{"escaped keys", `{"\u0061ction":"se\u0061rch","input":{"qu\u0065ry":"\ud83d\ude00"}}`,
			Envelope{Action: Search, Input: map[string]any{"query": "😀"}}},
		{"nulls are absent", `{"action":"browse","input":{"url":"u","link_ref":null,"cursor":null,"extract":null,"max_chars":null}}`,
			Envelope{Action: Browse, Input: map[string]any{"url": "u"}}},
		{"numbers keep their spelling", `{"action":"browse","input":{"max_chars":100000}}`,
			Envelope{Action: Browse, Input: map[string]any{"max_chars": json.Number("100000")}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, f := Decode([]byte(tt.in))
			if f != nil {
				t.Fatal(f)
			}
			tt.want.bad = map[string]bool{}
			if diff := cmp.Diff(&tt.want, got, cmp.AllowUnexported(Envelope{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeGreatestDepth(t *testing.T) {
	const around = 2 // the root and its input
	for levels, code := range map[int]Code{strictjson.MaxDepth - around: "", strictjson.MaxDepth - around + 1: EnvelopeInvalid} {
		value := strings.Repeat("[", levels) + strings.Repeat("]", levels)
		e, f := Decode([]byte(`{"action":"browse","input":{"url":` + value + `}}`))
		if f != nil && f.Code != code || f == nil && (code != "" || !e.Bad("url")) {
			t.Errorf("%d levels: %v, %v", levels, e, f)
		}
	}
}

func TestDecodeGreatestSize(t *testing.T) {
	const head, tail = `{"action":"search","input":{"query":"`, `"}}`
	in := head + strings.Repeat("q", MaxEnvelopeBytes-len(head)-len(tail)) + tail
	if _, f := Decode([]byte(in)); f != nil {
		t.Errorf("%d bytes: %v", len(in), f)
	}
	_, f := Decode([]byte(in + " "))
	if f == nil || f.Code != EnvelopeInvalid || f.Message != "envelope is larger than 1048576 bytes" {
		t.Errorf("%d bytes: %v", len(in)+1, f)
	}
}

// secret is in every refused input below and must be in no failure.
const secret = "s3cr3t-m4rker"

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, in, message string
	}{
		{"nothing", "", "no JSON value at line 1, column 1"},
		{"a byte-order mark alone", bom, "no JSON value at line 1, column 1"},
		{"two byte-order marks", bom + bom + `{"action":"@"}`, "byte-order mark before the JSON value at line 1, column 1"}, // C20
		{"duplicate root key", "{\"action\":\"manual\",\n\"action\":\"@\"}", "duplicate key at line 2, column 1"},
		{"duplicate key under another spelling", `{"action":"@","\u0061ction":"@"}`, "duplicate key at line 1, column 27"},
		{"duplicate input key", `{"action":"search","input":{"query":"é","query":"@"}}`, "duplicate key at line 1, column 41"},
		{"duplicate key deep in a field that is refused anyway", `{"action":"@","x":[{"a":{"b":1,"b":2}}]}`, "duplicate key at line 1, column 44"},
		{"a second value", `{"action":"manual","input":{}} {"@":1}`, "data after the JSON value at line 1, column 32"},
		{"trailing text", `{"action":"manual","input":{}}@`, "data after the JSON value at line 1, column 31"},
		{"a NUL at the end", "{\"action\":\"manual\",\"input\":{}}\x00", "data after the JSON value at line 1, column 31"},
		{"invalid UTF-8 in a value", "{\"action\":\"manual\",\"input\":{},\"reasoning\":\"@\xff\"}", "invalid UTF-8 at line 1, column 57"},
		{"invalid UTF-8 in a key", "{\"\xc3(\":\"@\"}", "invalid UTF-8 at line 1, column 3"},
		{"overlong UTF-8", "{\"action\":\"\xc0\xae\"}", "invalid UTF-8 at line 1, column 12"},
		{"a surrogate in UTF-8", "{\"action\":\"\xed\xa0\x80\"}", "invalid UTF-8 at line 1, column 12"},
		{"a lone surrogate escaped", `{"action":"\ud800 @"}`, "escape that is no Unicode character at line 1, column 12"},
		{"UTF-16", "{\x00}\x00", "JSON syntax error at line 1, column 2"},
		{"too deep", `{"action":"@","input":` + strings.Repeat("[", strictjson.MaxDepth), "nesting deeper than 64 levels at line 1, column 98"},
		{"cut off", `{"action":"@","input":{`, "JSON value that ends too early at line 1, column 36"},
		{"a trailing comma", `{"action":"@",}`, "JSON syntax error at line 1, column 26"},
		{"a comment", `{"action":"@"/* */}`, "JSON syntax error at line 1, column 26"},
		{"single quotes", `{'action':'@'}`, "JSON syntax error at line 1, column 2"},
		{"a leading zero", `{"action":"@","x":01}`, "JSON syntax error at line 1, column 32"},
		{"NaN", `{"action":"@","x":NaN}`, "JSON syntax error at line 1, column 31"},
		{"a raw line break in a string", "{\"action\":\"@\n\"}", "JSON syntax error at line 1, column 25"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, f := Decode([]byte(strings.ReplaceAll(tt.in, "@", secret)))
			if f == nil {
				t.Fatal("accepted")
			}
			checkFailure(t, f)
			if f.Code != EnvelopeInvalid || f.Action != Unknown || f.Message != tt.message {
				t.Errorf("%s %s, want %q", f.Action, f, tt.message)
			}
		})
	}
}

// TestDecodeReasoning: it may be absent, and that is all.
func TestDecodeReasoning(t *testing.T) {
	for _, v := range []string{`null`, `5`, `1e99999999`, `true`, `["` + secret + `"]`, `{}`} {
		_, f := Decode([]byte(`{"action":"manual","input":{},"reasoning":` + v + `}`))
		if f == nil || f.Code != InvalidArgument || f.Action != Manual || f.Message != "reasoning must be a string" {
			t.Errorf("reasoning %s: %v", v, f)
		}
	}
}

// TestDecodeIntegers: an integer is one by its spelling. A wrong value below input is the action's to refuse,
// so the envelope is accepted and the field is bad.
func TestDecodeIntegers(t *testing.T) {
	for _, tt := range []struct {
		in  string
		bad bool
	}{
		{`1`, false}, {`5`, false}, {`100000`, false}, {`null`, false},
		{`5.0`, true}, {`5e0`, true}, {`5E0`, true}, {`1e2`, true}, {`100000.0`, true}, {`"5"`, true}, {`true`, true}, {`[5]`, true}, {`{}`, true},
		{`0`, true}, {`-0`, true}, {`-5`, true}, {`100001`, true}, {`5.00000000000000000000000000001`, true},
		{`1e99999999`, true}, {`-1e99999999`, true}, {`1e-99999999`, true}, {`5e-999999999999999999999`, true}, {`0e99999999`, true},
		{`999999999999999999`, true}, {`9999999999999999999`, true}, {`18446744073709551621`, true}, {strings.Repeat("1", 100000), true},
		{`-` + strings.Repeat("9", 100000), true}, {`1` + strings.Repeat("0", 5000), true},
	} {
		e, f := Decode([]byte(`{"action":"browse","input":{"url":"u","max_chars":` + tt.in + `}}`))
		if f != nil {
			t.Errorf("%.30s: %v", tt.in, f)
		} else if e.Bad("max_chars") != tt.bad || e.Bad("url") {
			t.Errorf("%.30s: bad %v", tt.in, e.Bad("max_chars"))
		}
	}
	// The same numbers where no number belongs.
	for _, n := range []string{`5`, `5.0`, `1e99999999`, `-1e-99999999`, strings.Repeat("1", 100000)} {
		for _, tt := range []struct {
			in   string
			code Code
		}{
			{`{"action":` + n + `,"input":{}}`, ActionRequired},
			{`{"action":"manual","input":` + n + `}`, InvalidArgument},
			{`{"action":"manual","input":{},"summarize":` + n + `}`, InvalidArgument},
			{`{"action":"manual","input":{},"x":[` + n + `]}`, InvalidArgument},
			{`{"action":"manual","input":{"x":` + n + `}}`, InvalidArgument},
			{n, ActionRequired},
		} {
			if _, f := Decode([]byte(tt.in)); f == nil || f.Code != tt.code {
				t.Errorf("%.60s: %v", tt.in, f)
			}
		}
		if e, f := Decode([]byte(`{"action":"search","input":{"query":` + n + `}}`)); f != nil || !e.Bad("query") {
			t.Errorf("query %.30s: %v", n, f)
		}
	}
}

func TestInteger(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want int
	}{{json.Number("5"), 5}, {json.Number("100000"), 100000}, {nil, 7}, {"5", 7}, {json.Number("5.0"), 7}, {json.Number(strings.Repeat("9", 30)), 7}} {
		if got := integer(tt.v, 7); got != tt.want {
			t.Errorf("integer(%v) = %d, want %d", tt.v, got, tt.want)
		}
	}
}

// TestOrderOfChecks puts every combination of faults into one envelope: the first in the contract's order
// answers.
func TestOrderOfChecks(t *testing.T) {
	faults := []struct {
		name    string
		code    Code
		message string
	}{
		{"duplicate key", EnvelopeInvalid, ""},
		{"action", ActionRequired, ""},
		{"summarize", InvalidArgument, "summarize must be boolean"},
		{"root key", InvalidArgument, "unsupported root argument"},
		{"input type", InvalidArgument, "input must be an object"},
		{"input key", InvalidArgument, "unsupported input field"},
		{"query", InvalidQuery, ""},
		{"settings/web.json", OutputSettingsInvalid, ""},
		{"settings/web.search.json", SearchSettingsInvalid, ""},
	}
	for set := 1; set < 1<<len(faults); set++ {
		has := func(i int) bool { return set&(1<<i) != 0 }
		if has(4) && (has(5) || has(6)) {
			continue // an input that is no object has no fields
		}
		var names []string
		first := -1
		for i, f := range faults {
			if has(i) {
				names = append(names, f.name)
				if first < 0 {
					first = i
				}
			}
		}
		pick := func(i int, faulty, sound string) string {
			if has(i) {
				return faulty
			}
			return sound
		}
		input := `{"query":` + pick(6, `5`, `"q"`) + pick(5, `,"x":null`, ``) + `}`
		envelope := `{"action":` + pick(1, `"none"`, `"search"`) + pick(2, `,"summarize":1`, ``) + pick(3, `,"x":1`, ``) +
			`,"input":` + pick(4, `[]`, input) + pick(0, `,"input":{}`, ``) + `}`

		w := newWorld(t)
		if has(7) {
			w.put("settings/web.json", "broken")
		}
		if has(8) {
			w.put("settings/web.search.json", "broken")
		}
		a := w.call(envelope)
		if want := faults[first]; a["error_code"] != string(want.code) || want.message != "" && a["message"] != want.message {
			t.Errorf("%v: got %v %v, want %s %s", names, a["error_code"], a["message"], want.code, want.message)
		}
		if got := a.at("current_setting.source") == "not_applicable"; got != (first < 6) {
			t.Errorf("%v: settings unread is %v", names, got)
		}
		w.idle()
	}
}

// reasons are the fixed texts with which the strict reader refuses.
var reasons = []strictjson.Reason{
	strictjson.Empty, strictjson.ByteOrderMark, strictjson.InvalidUTF8, strictjson.LoneSurrogate, strictjson.DuplicateKey,
	strictjson.TrailingData, strictjson.TooDeep, strictjson.Incomplete, strictjson.Syntax,
}

var position = regexp.MustCompile(`^ at line [1-9]\d*, column [1-9]\d*$`)

// checkFailure holds that a failure says nothing but texts of our own. A closed set of texts is stronger than
// to look for pieces of the input, which may share words with them.
func checkFailure(t *testing.T, f *Failure) {
	t.Helper()
	ours := false
	switch f.Code {
	case EnvelopeInvalid:
		ours = f.Message == fmt.Sprintf("envelope is larger than %d bytes", MaxEnvelopeBytes) || slices.ContainsFunc(reasons, func(r strictjson.Reason) bool {
			rest, ok := strings.CutPrefix(f.Message, string(r))
			return ok && position.MatchString(rest)
		})
		ours = ours && f.Action == Unknown && f.Advice == "send exactly one JSON object {action, input, reasoning, summarize} in UTF-8"
	case ActionRequired:
		ours = f.Message == "action must be one of search, browse, or manual" && f.Action == Unknown &&
			f.Advice == "set action to search, browse or manual"
	case InvalidArgument:
		for _, r := range refusals {
			ours = ours || f.Message == r.message && f.Advice == r.advice
		}
		ours = ours && slices.Contains(schema.Actions(), string(f.Action))
	}
	want := Failure{Status: Failed, Action: f.Action, Code: f.Code, Message: f.Message, Advice: f.Advice}
	if diff := cmp.Diff(want, *f); diff != "" {
		t.Errorf("more than a refusal (-want +got):\n%s", diff)
	}
	if !ours {
		t.Errorf("not a text of ours: %s %s; %s", f.Action, f, f.Advice)
	}
}

func envelopeSeeds() []string {
	return []string{
		`{"action":"search","input":{"query":"q"},"reasoning":"x","summarize":true}`,
		`{"action":"browse","input":{"url":"https://ex.org/","link_ref":null,"cursor":"snap_0","extract":"full","max_chars":5},"reasoning":"x"}`,
		`{"action":"browse","input":{"max_chars":1e99999999,"extract":5,"url":[[[{}]]],"zz":1.0}}`,
		bom + `{"action":"manual","input":{}}`, bom + bom, ``, `null`, `[]`, `{}`, `{"action":"search"}`,
		`{"action":"search","input":{"query":"q"},"reasoning":5,"_reasoning":"x","summarize":null}`,
		`{"action":"manual","input":{"a~1b/c%25":1}}`, `{"action":"manual","input":{"":1},"":2}`,
		`{"action":"search","input":{"query":"\ud800"}}`, `{"action":"search","input":{"query":"q","query":"q"}}`,
		"{\"action\":\"search\",\"input\":{\"query\":\"\xff\"}}", strings.Repeat("[", 70), `{"action":"manual","input":{}}x`,
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range envelopeSeeds() {
		f.Add([]byte(s))
	}
	whole, err := schema.Whole()
	must(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		e, failure := Decode(data)
		if (e == nil) == (failure == nil) {
			t.Fatalf("envelope %v, failure %v", e, failure)
		}
		tree, err := strictjson.Parse([]byte(strings.TrimPrefix(string(data), bom)))
		if failure != nil {
			checkFailure(t, failure)
			if (err != nil) != (failure.Code == EnvelopeInvalid) && len(data) <= MaxEnvelopeBytes {
				t.Errorf("%v, but the reader says %v", failure, err)
			}
			if out := Marshal(failure); !json.Valid(out) {
				t.Errorf("not JSON: %q", out)
			}
			return
		}
		must(t, err)
		fields := schema.Fields(string(e.Action))
		for k, v := range e.Input {
			if v == nil || !slices.Contains(fields, k) {
				t.Errorf("input %q is %v", k, v)
			}
		}
		// What was accepted is what the published schema accepts once absent fields are filled in, save for
		// the fields that it calls bad.
		full := complete(tree.(map[string]any), string(e.Action))
		for k := range e.bad {
			if _, given := e.Input[k]; !given && k != "query" { // the one field that may not be null
				t.Errorf("%q is bad and absent", k)
			}
		}
		if v := whole.Validate(schema.Judge(full)); (len(v) == 0) != (len(e.bad) == 0) {
			t.Errorf("bad %v, published schema %v", e.bad, v)
		}
	})
}

// TestAnswerFailures: what never became an envelope is answered in the same form.
func TestAnswerFailures(t *testing.T) {
	w := newWorld(t)
	r, done := w.runner()
	defer done()
	f := r.Refuse(EnvelopeInvalid, "standard input could not be read", "send it again").(*Failure)
	want := &Failure{Status: Failed, Action: Unknown, Code: EnvelopeInvalid, Message: "standard input could not be read", Advice: "send it again", Setting: r.noRead()}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Without a working directory only the manual answers.
	gone := NewRunner(Deps{Root: nil, Workdir: w.dir, Now: r.deps.Now, Operator: r.deps.Operator, Builders: r.deps.Builders, Guide: r.deps.Guide})
	if a := gone.Do(t.Context(), Search, map[string]any{"query": "q"}, false).(*Failure); a.Code != WorkdirInvalid || a.Setting.Source != sourceNotApplicable {
		t.Errorf("search: %v", a)
	}
	if a := gone.Do(t.Context(), Manual, map[string]any{}, false); a.State() != OK {
		t.Errorf("manual: %v", a)
	}
	w.idle()
}

// TestDefect: a defect answers as INTERNAL_ERROR and shows nothing of itself.
func TestDefect(t *testing.T) {
	w := newWorld(t)
	r, done := w.runner()
	defer done()
	r.deps.Now = func() time.Time { panic("text of the defect in " + os.TempDir()) }
	f, ok := r.Call(t.Context(), []byte(`{"action":"search","input":{"query":"q"}}`)).(*Failure)
	if !ok || f.Code != "INTERNAL_ERROR" || f.Action != Search || strings.Contains(string(Marshal(f)), "text of the defect") {
		t.Errorf("got %v", f)
	}
}
