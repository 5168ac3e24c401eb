package charset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// row is what the corpus of pages says about one page; declared rows are copies of others in legacy encodings.
type row struct {
	ID          string   `json:"id"`
	File        string   `json:"html"`
	Source      string   `json:"source"`
	Origin      string   `json:"origin"`
	ContentType string   `json:"content_type"`
	Text        string   `json:"text"`
	With        []string `json:"with"`
}

func corpus(t *testing.T) (dir string, rows []row) {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(at) == at {
			t.Fatal("no go.mod above the test")
		}
		at = filepath.Dir(at)
	}
	dir = filepath.Join(filepath.Dir(at), "shared", "data", "pages")
	f, err := os.Open(filepath.Join(dir, "truth.jsonl"))
	if err != nil {
		t.Skip("the corpus of pages is not beside the repository: ", err)
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var r row
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, r)
		}
		if err == io.EOF {
			return dir, rows
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func (r row) body(t *testing.T, dir string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, r.File))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// visible is the text of a page, its character references resolved, as one line.
func visible(page []byte) string {
	var b strings.Builder
	for z := html.NewTokenizer(bytes.NewReader(page)); z.Next() != html.ErrorToken; {
		b.WriteString(z.Token().Data)
		b.WriteByte(' ')
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// No copy in a legacy encoding loses a word that the page itself has.
func TestPagesLoseNoText(t *testing.T) {
	dir, rows := corpus(t)
	byID := map[string]row{}
	for _, r := range rows {
		byID[r.ID] = r
	}
	copies := 0
	for _, r := range rows {
		if r.Source != "charset" {
			continue
		}
		copies++
		t.Run(r.ID, func(t *testing.T) {
			original, ok := byID[strings.TrimPrefix(r.Origin, "copy of ")]
			if !ok {
				t.Fatalf("no page %q", r.Origin)
			}
			want := visible(Decode(original.body(t, dir), original.ContentType, HTML).Text)
			res := Decode(r.body(t, dir), r.ContentType, HTML)
			got := visible(res.Text)
			if len(res.Warnings) > 0 {
				t.Errorf("warnings %v", res.Warnings)
			}
			words := strings.Fields(r.Text)
			for _, w := range append(words, r.With...) {
				w = strings.Join(strings.Fields(w), " ")
				if strings.Contains(want, w) && !strings.Contains(got, w) {
					t.Errorf("read as %s it lacks %q", res.Name, w)
				}
			}
			// Beyond the truth: the same words all over the page, bar its declarations.
			have := map[string]bool{}
			for _, w := range strings.Fields(got) {
				have[w] = true
			}
			lost, all := 0, 0
			for _, w := range strings.Fields(want) {
				if all++; !have[w] {
					lost++
				}
			}
			if lost*200 > all {
				t.Errorf("read as %s it lacks %d of %d words", res.Name, lost, all)
			}
		})
	}
	if copies == 0 {
		t.Error("the corpus has no copies in legacy encodings")
	}
}
