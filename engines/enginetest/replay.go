package enginetest

import (
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"web/engines"
)

var update = flag.Bool("update", false, "rewrite the expected files in testdata/want")

// bodies is where a provider's answers stand, written by us from its public API reference. A recorded answer
// may take the place of any of them.
const bodies = "testdata/*.json"

// Fixture reads one of the provider's answers by its file's name.
func Fixture(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Seed gives all of the provider's answers to a fuzz target that takes one.
func Seed(f *testing.F) {
	f.Helper()
	for _, path := range all(f) {
		f.Add([]byte(Fixture(f, filepath.Base(path))))
	}
}

func all(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(bodies)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no answers in testdata (%v)", err)
	}
	return paths
}

// Replay lets the engine search where the provider answers with testdata/NAME.json, and compares what it makes
// of it with testdata/want/NAME.json.
func Replay(t *testing.T, build func(client *http.Client, base, key string) engines.Engine) {
	t.Helper()
	for _, path := range all(t) {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			base, _ := serve(t, write(Fixture(t, name)))
			var got struct {
				Answer  *engines.Answer `json:"answer,omitzero"`
				Failure *engines.Error  `json:"failure,omitzero"`
			}
			answer, err := build(client(t), base, key).Search(t.Context(), engines.Query{Text: query})
			if err == nil {
				got.Answer = &answer
			} else if !errors.As(err, &got.Failure) {
				t.Fatal(err)
			}
			text, err := json.Marshal(got, json.Deterministic(true), jsontext.WithIndent("  "))
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, '\n')
			golden := filepath.Join("testdata/want", name)
			if *update {
				if err := os.WriteFile(golden, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(text)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}
