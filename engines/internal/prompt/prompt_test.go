package prompt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSummaryFencesTheInput(t *testing.T) {
	tokens := func(list ...string) func() string {
		return func() string {
			next := list[0]
			list = list[1:]
			return next
		}
	}
	for _, tc := range []struct {
		name, input, reason string
		tokens              []string
		want                string
	}{
		{"plain", "page", "find the price", []string{"A"}, "Purpose: find the price\n\nDATA-A\npage\nDATA-A"},
		{"no purpose", "page", " \n", []string{"A"}, "Purpose: not stated\n\nDATA-A\npage\nDATA-A"},
		{"marker in the input", "x DATA-A y", "r", []string{"A", "B"}, "Purpose: r\n\nDATA-B\nx DATA-A y\nDATA-B"},
		{"marker in the purpose", "Ж", "DATA-A", []string{"A", "B"}, "Purpose: DATA-A\n\nDATA-B\nЖ\nDATA-B"},
		{"one after the other", "DATA-A", "DATA-B", []string{"A", "B", "C"}, "Purpose: DATA-B\n\nDATA-C\nDATA-A\nDATA-C"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			instruction, text := summary(tc.input, tc.reason, tokens(tc.tokens...))
			if diff := cmp.Diff(tc.want, text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if marker := text[strings.LastIndex(text, "\n")+1:]; !strings.Contains(instruction, marker) {
				t.Errorf("the instruction does not name the marker %q:\n%s", marker, instruction)
			}
			if strings.Contains(instruction, tc.input) {
				t.Errorf("the instruction holds the input:\n%s", instruction)
			}
		})
	}
}

func TestSummaryMarkerIsNewEachTime(t *testing.T) {
	_, first := Summary("page", "r")
	_, second := Summary("page", "r")
	if first == second {
		t.Errorf("the same marker twice: %q", first)
	}
}
