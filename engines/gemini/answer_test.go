package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"web/engines"
)

var update = flag.Bool("update", false, "rewrite the expected files in testdata/want")

// exchanged is what a loop round trip saw and what it answers.
type exchanged struct {
	answer string
	req    *http.Request
	body   string
}

func (x *exchanged) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	x.req, x.body = req, string(body)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader([]byte(x.answer))), Request: req,
	}, nil
}

// engine returns an engine that gets answer, and what it sends.
func engine(answer string, cfg Config) (*Engine, *exchanged) {
	x := &exchanged{answer: answer}
	cfg.Client = &http.Client{Transport: x}
	if cfg.Key == "" {
		cfg.Key = "test-key"
	}
	return New(cfg), x
}

func search(answer string) (engines.Answer, *engines.Error) {
	e, _ := engine(answer, Config{})
	a, err := e.Search(context.Background(), engines.Query{Text: "q"})
	var typed *engines.Error
	if err != nil && !errors.As(err, &typed) {
		panic("untyped error: " + err.Error())
	}
	return a, typed
}

// TestAnswers reads each answer in testdata and compares what comes of it with the file of that name in want. A
// recorded answer of the provider may take the place of any of them.
func TestAnswers(t *testing.T) {
	names, err := filepath.Glob("testdata/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no answers in testdata (%v)", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			answer, failure := search(string(body))
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(struct {
				Answer  engines.Answer
				Failure *engines.Error
			}{answer, failure}); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata/want", filepath.Base(name))
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}
