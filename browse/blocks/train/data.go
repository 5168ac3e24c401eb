package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/net/publicsuffix"

	"web/browse/blocks"
	"web/browse/blocks/internal/score"
)

type row struct {
	ID          string   `json:"id"`
	HTML        string   `json:"html"`
	ContentType string   `json:"content_type"`
	URL         string   `json:"url"`
	Source      string   `json:"source"`
	PageType    string   `json:"page_type"`
	Text        string   `json:"text"`
	Headline    *bool    `json:"headline"`
	With        []string `json:"with"`
	Without     []string `json:"without"`

	body []byte // UTF-8
}

func load(dir string) ([]row, error) {
	f, err := os.Open(filepath.Join(dir, "truth.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rows []row
	dec := json.NewDecoder(bufio.NewReader(f))
	for {
		var r row
		if err := dec.Decode(&r); err == io.EOF {
			return rows, nil
		} else if err != nil {
			return nil, err
		}
		if r.body, err = body(filepath.Join(dir, r.HTML), r.ContentType); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
}

func body(path, contentType string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	if utf8.Valid(b) {
		return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), nil
	}
	e, _, _ := charset.DetermineEncoding(b[:min(len(b), 1024)], contentType)
	return e.NewDecoder().Bytes(b)
}

// page is a training page: its blocks, and for each the share of its words that the true text has.
type page struct {
	id, kind, domain string
	fold             int
	weight           float64
	in               *blocks.Inspection
	label            []float32
	truth            []string
}

const folds = 5

func prepare(rows []row) []*page {
	counts := map[string]int{}
	for _, r := range rows {
		if r.use() {
			counts[r.kind()]++
		}
	}
	var pages []*page
	for _, r := range rows {
		if !r.use() {
			continue
		}
		p := &page{id: r.ID, kind: r.kind(), domain: domainOf(r.URL, r.ID), in: blocks.Inspect(r.body), truth: words(r.Text)}
		p.fold = int(score.Hash('f', []byte(p.domain)) % folds)
		p.weight = weightOf(p.kind, counts[p.kind])
		p.label = align(p)
		pages = append(pages, p)
	}
	return pages
}

// use reports whether the page can teach: it has a true text and is no copy of another page.
func (r *row) use() bool { return r.Text != "" && r.Source != "charset" }

func (r *row) kind() string {
	if r.Headline != nil && !*r.Headline || r.PageType == "" {
		return "other:" + r.Source
	}
	return r.PageType
}

// weightOf makes page types count about the same, however many pages each has. References that another
// extractor wrote count little.
func weightOf(kind string, n int) float64 {
	if strings.HasPrefix(kind, "other:") {
		return 0.3
	}
	return min(3, 90/float64(n))
}

func domainOf(address, id string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return id
	}
	d, err := publicsuffix.EffectiveTLDPlusOne(u.Hostname())
	if err != nil {
		return u.Hostname()
	}
	return d
}

// words splits text as the scorer does: letters and digits, case folded, Han and kana one by one.
func words(s string) []string {
	var out []string
	from := -1
	end := func(i int) {
		if from >= 0 {
			out = append(out, strings.ToLower(s[from:i]))
			from = -1
		}
	}
	for i, r := range s {
		switch {
		case r >= 0x3005 && (r <= 0x30ff || r >= 0x31f0 && r <= 0x31ff || r >= 0x3400 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0xff66 && r <= 0xff9d):
			end(i)
			out = append(out, s[i:i+utf8.RuneLen(r)])
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if from < 0 {
				from = i
			}
		case r == 0xad || r == 0x200b || r == 0x200d || r == 0xfeff:
		default:
			end(i)
		}
	}
	end(len(s))
	return out
}

const shingle = 4

type gram [shingle]string

// align labels each block with the share of its words that lie in stretches of four words that the true text
// has too. A block of fewer words counts when it stands in the truth near its neighbours' place.
func align(p *page) []float32 {
	truth := p.truth
	at := make(map[gram][]int)
	for i := 0; i+shingle <= len(truth); i++ {
		g := gram(truth[i : i+shingle])
		at[g] = append(at[g], i)
	}
	n := len(p.in.Blocks)
	tokens := make([][]string, n)
	label := make([]float32, n)
	pos := make([]int, n) // end of the block in the truth, -1 unknown
	last := -1
	for i := range p.in.Blocks {
		toks := words(p.in.Blocks[i].Text)
		tokens[i] = toks
		pos[i] = -1
		if len(toks) < shingle {
			continue
		}
		covered := make([]bool, len(toks))
		for j := 0; j+shingle <= len(toks); j++ {
			where := at[gram(toks[j:j+shingle])]
			if len(where) == 0 {
				continue
			}
			best := where[0]
			for _, w := range where {
				if w >= last {
					best = w
					break
				}
			}
			for k := range shingle {
				covered[j+k] = true
			}
			pos[i] = best + shingle
		}
		hit := 0
		for _, c := range covered {
			if c {
				hit++
			}
		}
		label[i] = float32(hit) / float32(len(toks))
		if label[i] > 0.5 {
			last = pos[i]
		}
	}
	// Short blocks: look between the places of the nearest long blocks that count.
	const slack = 12
	prev := 0
	for i := range tokens {
		if len(tokens[i]) >= shingle {
			if label[i] > 0.5 {
				prev = pos[i]
			}
			continue
		}
		next := min(len(truth), prev+60)
		for j := i + 1; j < n && j < i+40; j++ {
			if len(tokens[j]) >= shingle && label[j] > 0.5 {
				if q := pos[j]; q >= prev {
					next = min(next, q)
				}
				break
			}
		}
		if len(tokens[i]) == 0 {
			continue
		}
		lo := max(0, prev-slack)
		for k := lo; k+len(tokens[i]) <= min(len(truth), next+slack); k++ {
			same := true
			for m, w := range tokens[i] {
				if truth[k+m] != w {
					same = false
					break
				}
			}
			if same {
				label[i] = 1
				if k+len(tokens[i]) > prev && k <= prev+slack {
					prev = k + len(tokens[i])
				}
				break
			}
		}
	}
	return label
}

// f1 is the scorer's shingle precision, recall and F1.
func f1(pred, truth []string) (p, r, f float64) {
	count := func(toks []string) (map[gram]int, int) {
		m := make(map[gram]int, len(toks))
		n := 0
		for i := 0; i+shingle <= len(toks); i++ {
			m[gram(toks[i:i+shingle])]++
			n++
		}
		return m, n
	}
	a, na := count(pred)
	b, nb := count(truth)
	if na == 0 || nb == 0 {
		return 0, 0, 0
	}
	hit := 0
	for g, k := range a {
		hit += min(k, b[g])
	}
	p, r = float64(hit)/float64(na), float64(hit)/float64(nb)
	if hit > 0 {
		f = 2 * p * r / (p + r)
	}
	return p, r, f
}
