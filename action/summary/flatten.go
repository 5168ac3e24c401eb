package summary

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// longValue is the length, in bytes, from which a string value is a paragraph of its own.
const longValue = 120

// flattenJSON makes paragraphs of JSON or of lines of JSON: "name: value" for what an object holds, without
// the syntax. ok is false for anything else, and for JSON that holds no value to show.
func flattenJSON(text string) (flat string, ok bool) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' {
		return "", false
	}
	// What is summarized is what a page says, however sloppy its JSON is.
	d := jsontext.NewDecoder(strings.NewReader(trimmed), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	type frame struct {
		label string
		parts []string
	}
	var out strings.Builder
	var open []frame
	flush := func() {
		f := &open[len(open)-1]
		if len(f.parts) == 0 {
			return
		}
		if f.label != "" {
			out.WriteString(f.label + ": ")
		}
		out.WriteString(strings.Join(f.parts, "; "))
		out.WriteString("\n\n")
		f.parts = f.parts[:0]
	}
	name := ""
	for {
		tok, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return out.String(), strings.TrimSpace(out.String()) != ""
		}
		if err != nil {
			return "", false
		}
		k := tok.Kind()
		switch k {
		case '{', '[':
			if len(open) > 0 {
				flush()
			}
			f := frame{}
			if k == '[' {
				f.label = name
			}
			open = append(open, f)
			name = ""
			continue
		case '}', ']':
			flush()
			open = open[:len(open)-1]
			name = ""
			continue
		}
		inObject, position := byte(0), int64(0)
		if depth := d.StackDepth(); depth > 0 {
			kind, n := d.StackIndex(depth)
			inObject, position = byte(kind), n
		}
		value := clean(tok.String())
		switch {
		case inObject == '{' && position%2 == 1:
			name = value
			continue
		case k == 'n' || value == "":
			name = ""
			continue
		case name != "":
			value = name + ": " + value
		}
		name = ""
		if len(open) == 0 {
			out.WriteString(value + "\n\n")
			continue
		}
		if len(value) > longValue {
			flush()
		}
		f := &open[len(open)-1]
		f.parts = append(f.parts, value)
		if len(value) > longValue {
			flush()
		}
	}
}
