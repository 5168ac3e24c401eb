package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"web/action"
	"web/engines"
	"web/settings/operator"
)

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text    string
		columns int
		want    []string
	}{
		{"", 40, nil},
		{"one two three", 40, []string{"one two three"}},
		{"aaaaaaaaaa bbbbbbbbbb cc", 21, []string{"aaaaaaaaaa bbbbbbbbbb", "cc"}},
		{"aaaaaaaaaa bbbbbbbbbb cc", 20, []string{"aaaaaaaaaa", "bbbbbbbbbb cc"}},
		{"日本語日本語日本語日本語", 20, []string{"日本語日本語日本語日", "本語"}}, // two columns each
		{strings.Repeat("x", 45), 20, []string{strings.Repeat("x", 20), strings.Repeat("x", 20), "xxxxx"}},
		{"e\u0301" + strings.Repeat("e\u0301", 19), 20, []string{strings.Repeat("e\u0301", 20)}}, // marks take no column
		{"a b", 1, []string{"a b"}}, // never narrower than minWidth
	} {
		if diff := cmp.Diff(tt.want, wrap(tt.text, tt.columns)); diff != "" {
			t.Errorf("wrap(%q, %d) (-want +got):\n%s", tt.text, tt.columns, diff)
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31mb":        "a[31mb",
		"a\u009b31mb":       "a31mb",
		"a\nb\tc\r\n d":     "a b c d",
		"a\u202eb\u200bc":   "abc",
		"a\xffb":            "a\ufffdb",
		"\U000e0041x\ufeff": "x",
		"日本 \u00a0 é":       "日本 é",
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func text(s string) *string { return &s }

func TestRenderSearch(t *testing.T) {
	results := []action.ResultItem{
		{Title: "A \x1b]0;title\x07 with tricks", URL: "https://ex.org/a?b=c", Snippet: "A snippet of words that is longer than the line is wide.", LinkRef: text("ln_0123456789abcdef")},
		{Snippet: "no title, no source"},
	}
	ans := &action.SearchAnswer{Results: &results, Count: 2, Warnings: []string{action.RefsNotStored}}
	env := map[string]string{}
	app := &app{Process: Process{Width: 40, Getenv: func(k string) (string, bool) { v, ok := env[k]; return v, ok }}}
	coloured := app.renderSearch(ans)
	env["NO_COLOR"] = "1"
	plain := app.renderSearch(ans)
	want := ` 1. A ]0;title with tricks
    https://ex.org/a?b=c
    A snippet of words that is longer
    than the line is wide.
    ln_0123456789abcdef · ex.org

 2. (no title)
    no title, no source

warning: REFS_NOT_STORED
`
	if diff := cmp.Diff(want, plain); diff != "" {
		t.Errorf("without colour (-want +got):\n%s", diff)
	}
	if !strings.Contains(coloured, "\x1b[1mA ]0;title with tricks\x1b[0m") {
		t.Errorf("with colour: %q", coloured)
	}
	stripped := coloured
	for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[36m"} {
		stripped = strings.ReplaceAll(stripped, code, "")
	}
	if diff := cmp.Diff(plain, stripped); diff != "" {
		t.Errorf("colour changes the text (-without +with):\n%s", diff)
	}
}

// TestEnvelopeOnATerminal: nobody pipes anything, so there is help and no waiting.
func TestEnvelopeOnATerminal(t *testing.T) {
	var out, errs bytes.Buffer
	code := Main(context.Background(), Process{
		Stdin: blocked{}, Stdout: &out, Stderr: &errs, StdinTerminal: true, Dir: t.TempDir(), Now: time.Now,
		Getenv: func(string) (string, bool) { return "", false },
	})
	if code != exitOK || !strings.Contains(out.String(), "Usage:") || errs.Len() != 0 {
		t.Errorf("exit status %d, stdout %q, stderr %q", code, out.String(), errs.String())
	}
}

// blocked is a stdin that must not be read.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { panic("stdin was read") }

// TestFetcherTakesTheOperatorsNetwork: what the operator's file admits in grammar, the guard understands.
func TestFetcherTakesTheOperatorsNetwork(t *testing.T) {
	op, err := operator.Read(operator.Location{}, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	op.Network.Allow = []string{"wiki.corp.example", "wiki.corp.example:8080", "10.0.0.1", "10.0.0.1:80", "10.20.0.0/16", "::1", "[::1]:80", "fd00::/8"}
	op.Network.FakeIP = []string{"198.18.0.0/15"}
	if _, err := fetcher(op); err != nil {
		t.Error(err)
	}
	op.Network.CAFile = os.DevNull
	if _, err := fetcher(op); err == nil {
		t.Error("a ca_file without a certificate is taken")
	}
	if _, err := builders()[engines.DuckDuckGo](op, op.Engines[engines.DuckDuckGo]); err == nil {
		t.Error("an engine is built with a ca_file without a certificate")
	}
}

// TestSignalOutranksSuccess: a command that was ended by a signal says so, however much it had still done.
func TestSignalOutranksSuccess(t *testing.T) {
	for signal, want := range map[os.Signal]int{os.Interrupt: exitInterrupted, syscall.SIGTERM: exitTerminated} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(signalled{signal})
		for _, args := range [][]string{{"version"}, {"schema"}} {
			p := Process{Args: args, Getenv: func(string) (string, bool) { return "", false }, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Now: time.Now}
			if got := Main(ctx, p); got != want {
				t.Errorf("%v after %v: exit status %d, want %d", args, signal, got, want)
			}
		}
	}
}
