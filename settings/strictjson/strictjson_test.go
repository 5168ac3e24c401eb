package strictjson

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParseKeepsSpelling(t *testing.T) {
	got, err := Parse([]byte(" {\"a\":[1.0,5e4,-0,null,true,\"\\u00e9\"],\"b\":{}}\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a": []any{json.Number("1.0"), json.Number("5e4"), json.Number("-0"), nil, true, "é"},
		"b": map[string]any{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if _, err := Parse([]byte(deep(MaxDepth))); err != nil {
		t.Errorf("depth %d: %v", MaxDepth, err)
	}
	for _, tt := range []struct {
		name, in  string
		reason    Reason
		line, col int
	}{
		{"nothing", "", Empty, 1, 1},
		{"only space", " \n ", Empty, 2, 2},
		{"byte-order mark", BOM + "{}", ByteOrderMark, 1, 1},
		{"duplicate key", `{"a":1,"a":2}`, DuplicateKey, 1, 8},
		{"duplicate key spelled with an escape", `{"a":1,"\u0061":2}`, DuplicateKey, 1, 8},
		{"duplicate key below", "{\"x\":[{\"k\":1,\n\"k\":1}]}", DuplicateKey, 2, 1},
		{"trailing value", "{} {}", TrailingData, 1, 4},
		{"trailing garbage", "1 x", TrailingData, 1, 3},
		{"invalid UTF-8", "\"é\xff\"", InvalidUTF8, 1, 3},
		{"lone surrogate", `"\ud800"`, LoneSurrogate, 1, 2},
		{"cut in an object", `{"a":1`, Incomplete, 1, 7},
		{"cut in a string", `"abc`, Incomplete, 1, 5},
		{"trailing comma", `{"a":1,}`, Syntax, 1, 7},
		{"single quotes", `{'a':1}`, Syntax, 1, 2},
		{"comment", `{/**/}`, Syntax, 1, 2},
		{"leading zero", `01`, TrailingData, 1, 2},
		{"one level too deep", deep(MaxDepth + 1), TooDeep, 1, MaxDepth + 1},
		{"a million levels", strings.Repeat(`{"a":`, 1_000_000), TooDeep, 1, MaxDepth*5 + 1},
	} {
		_, err := Parse([]byte(tt.in))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v, want an *Error", tt.name, err)
			continue
		}
		e.Offset = 0
		if diff := cmp.Diff(&Error{Reason: tt.reason, Line: tt.line, Column: tt.col}, e); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestInteger(t *testing.T) {
	for in, want := range map[string]bool{
		"1": true, "100": true, "0": false, "101": false, "1.0": false, "1e0": false, "-1": false,
		strings.Repeat("9", 5000): false,
	} {
		if _, ok := Integer(json.Number(in), 1, 100); ok != want {
			t.Errorf("Integer(%.20s) = %v, want %v", in, ok, want)
		}
	}
	for _, v := range []any{"1", true, nil, 1.0} {
		if _, ok := Integer(v, 0, 10); ok {
			t.Errorf("Integer(%T) accepted", v)
		}
	}
}

// FuzzParse holds the reader against the standard library: what it accepts, encoding/json accepts with the
// same value, and no error echoes what was read.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"x",null,true,{"b":{}}]}`, `{"a":1,"a":2}`, "\ufeff{}", `"\ud83d\ude00"`, `[1e999]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Parse(data)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset > len(data) || e.Line < 1 || e.Column < 1 {
				t.Fatalf("bad error %#v", err)
			}
			return
		}
		if !utf8.Valid(data) {
			t.Fatal("accepted invalid UTF-8")
		}
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if diff := cmp.Diff(want, v); diff != "" {
			t.Fatalf("value differs:\n%s", diff)
		}
	})
}
