// Command train builds model.bin, by which browse/blocks tells a page's content from its furniture, from
// pages whose main text is known. It must not be linked into the program.
//
//	go run ./browse/blocks/train -data ../shared/data/pages -model browse/blocks/model.bin
//	go run ./browse/blocks/train -data ../shared/data/pages -eval out.jsonl     (score the present model)
//
// Training is deterministic. Each page's registered domain belongs to one of five folds; -cv writes the
// output for every page by a model that has not seen the page's fold.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"web/browse/blocks"
	"web/browse/blocks/internal/score"
)

func main() {
	data := flag.String("data", "../shared/data/pages", "folder with truth.jsonl and pages")
	eval := flag.String("eval", "", "write the present extractor's output to this file, and its speed to standard output")
	full := flag.Bool("full", false, "with -eval: everything visible")
	model := flag.String("model", "", "train on all pages and write the model to this file")
	cv := flag.String("cv", "", "train by folds and write the output for unseen pages to this file")
	flag.Parse()
	if err := run(*data, *eval, *model, *cv, *full); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(data, eval, model, cv string, full bool) error {
	rows, err := load(data)
	if err != nil {
		return err
	}
	if eval != "" {
		return evaluate(rows, eval, full)
	}
	pages := prepare(rows)
	l := learn(pages)
	if cv != "" {
		err := writeOutput(cv, func(put func(id, text string)) {
			for i, p := range pages {
				put(p.id, p.in.Markdown(p.in.Select(l.second[i])))
			}
		})
		if err != nil {
			return err
		}
	}
	if model == "" {
		return nil
	}
	return os.WriteFile(model, l.final().Encode(), 0o644)
}

func evaluate(rows []row, path string, full bool) error {
	mode := blocks.Article
	if full {
		mode = blocks.Full
	}
	var spent time.Duration
	size := 0
	err := writeOutput(path, func(put func(id, text string)) {
		for _, r := range rows {
			start := time.Now()
			d, _ := blocks.Extract(r.body, blocks.Options{Mode: mode, Base: "https://page.example/" + r.ID})
			text := blocks.Markdown(d)
			spent += time.Since(start)
			size += len(r.body)
			put(r.ID, text)
		}
	})
	fmt.Printf("%d pages, %.1f MB, %.0f pages/s, %.1f MB/s\n", len(rows), float64(size)/1e6,
		float64(len(rows))/spent.Seconds(), float64(size)/1e6/spent.Seconds())
	return err
}

func writeOutput(path string, each func(put func(id, text string))) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	each(func(id, text string) {
		if e := enc.Encode(map[string]string{"id": id, "text": text}); e != nil && err == nil {
			err = e
		}
	})
	if e := f.Close(); e != nil && err == nil {
		err = e
	}
	return err
}

// final is the model trained on every page.
func (l *learned) final() *score.Model {
	lex := l.stats.lexicon()
	m := &score.Model{Words: score.NewWords(lex), First: l.stage1(-1), Second: l.stage2(-1)}
	return m
}
