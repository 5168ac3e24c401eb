// Package strictjson reads one JSON value and nothing else: valid UTF-8, no duplicate key at any depth, no
// trailing data, a bounded depth, numbers kept by their spelling.
//
// The envelope, the settings files and the operator's file are read through it. It knows no schema and no
// wire code, and its errors name a reason and a position, never a byte of what was read.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the greatest nesting of arrays and objects that Parse accepts.
const MaxDepth = 64

// BOM is the UTF-8 byte-order mark.
const BOM = "\ufeff"

// Reason is why a text is not one strict JSON value.
type Reason string

// The reasons.
const (
	Empty         Reason = "no JSON value"
	ByteOrderMark Reason = "byte-order mark before the JSON value"
	InvalidUTF8   Reason = "invalid UTF-8"
	LoneSurrogate Reason = "escape that is no Unicode character"
	DuplicateKey  Reason = "duplicate key"
	TrailingData  Reason = "data after the JSON value"
	TooDeep       Reason = "nesting deeper than 64 levels"
	Incomplete    Reason = "JSON value that ends too early"
	Syntax        Reason = "JSON syntax error"
)

// Error says why and where: Line and Column count from 1, Column in characters.
type Error struct {
	Reason       Reason
	Line, Column int
	Offset       int // bytes from the start
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s at line %d, column %d", e.Reason, e.Line, e.Column)
}

// Parse reads data as one value: nil, bool, string, json.Number (spelled as in data), []any or
// map[string]any. Its error is always an *Error.
func Parse(data []byte) (any, error) {
	if bytes.HasPrefix(data, []byte(BOM)) {
		return nil, at(data, 0, ByteOrderMark)
	}
	if i := invalidUTF8(data); i >= 0 {
		return nil, at(data, i, InvalidUTF8)
	}
	// jsontext.Decoder reads a *bytes.Buffer in place, without a copy.
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	v, err := value(d, 0)
	if err != nil {
		return nil, classify(data, d, err)
	}
	if end := skip(data, int(d.InputOffset()), space); end < len(data) {
		return nil, at(data, end, TrailingData)
	}
	return v, nil
}

var errTooDeep = errors.New("too deep")

func value(d *jsontext.Decoder, depth int) (any, error) {
	switch kind := d.PeekKind(); kind {
	case '{', '[':
		if depth == MaxDepth {
			return nil, errTooDeep
		}
		if _, err := d.ReadToken(); err != nil {
			return nil, err
		}
		if kind == '[' {
			return array(d, depth+1)
		}
		return object(d, depth+1)
	case '0':
		raw, err := d.ReadValue()
		return json.Number(raw), err // the conversion copies: raw is only valid until the next read
	default:
		tok, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		switch tok.Kind() {
		case '"':
			return tok.String(), nil
		case 't', 'f':
			return tok.Bool(), nil
		}
		return nil, nil
	}
}

func array(d *jsontext.Decoder, depth int) (any, error) {
	out := []any{}
	for d.PeekKind() != ']' {
		v, err := value(d, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := d.ReadToken()
	return out, err
}

func object(d *jsontext.Decoder, depth int) (any, error) {
	out := map[string]any{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		v, err := value(d, depth)
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	_, err := d.ReadToken()
	return out, err
}

func classify(data []byte, d *jsontext.Decoder, err error) *Error {
	offset := skip(data, int(d.InputOffset()), space+",:")
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		offset = int(syn.ByteOffset)
	}
	switch {
	case errors.Is(err, errTooDeep):
		return at(data, offset, TooDeep)
	case errors.Is(err, jsontext.ErrDuplicateName):
		return at(data, offset, DuplicateKey)
	case skip(data, 0, space) == len(data):
		return at(data, len(data), Empty)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return at(data, len(data), Incomplete)
	case syn != nil && strings.Contains(syn.Err.Error(), "surrogate"):
		return at(data, offset, LoneSurrogate)
	}
	return at(data, offset, Syntax)
}

func at(data []byte, offset int, r Reason) *Error {
	offset = min(max(offset, 0), len(data))
	before := data[:offset]
	line := bytes.Count(before, []byte{'\n'}) + 1
	start := bytes.LastIndexByte(before, '\n') + 1
	return &Error{Reason: r, Line: line, Column: utf8.RuneCount(before[start:]) + 1, Offset: offset}
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}

const space = " \t\r\n"

// skip returns the first index from i on whose byte is not in set.
func skip(data []byte, i int, set string) int {
	for i < len(data) && strings.IndexByte(set, data[i]) >= 0 {
		i++
	}
	return i
}

// IsInteger reports whether n is spelled as a JSON integer: no fraction, no exponent.
func IsInteger(n json.Number) bool {
	return n != "" && !strings.ContainsAny(string(n), ".eE")
}

// Integer returns n when it is spelled as an integer and lies in lo..hi.
func Integer(v any, lo, hi int64) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok || !IsInteger(n) {
		return 0, false
	}
	i, err := n.Int64() // fails, without a conversion of the digits, beyond 64 bits
	return i, err == nil && lo <= i && i <= hi
}
