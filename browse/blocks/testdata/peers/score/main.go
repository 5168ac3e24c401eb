// Command score writes the peer's text of every page of a page set, one JSON object {id, text} a line, for
// the same scorer that judges browse/blocks:
//
//	go run ./score PAGES/truth.jsonl > peer.jsonl
//
// Go-readability isolates, html-to-markdown renders. Bytes become text by x/net's charset table.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html/charset"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(truth string) error {
	file, err := os.Open(truth)
	if err != nil {
		return err
	}
	defer file.Close()
	md := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	address := &url.URL{Scheme: "https", Host: "page.example", Path: "/"}
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var row struct {
			ID, HTML    string
			ContentType string `json:"content_type"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return err
		}
		page, err := os.ReadFile(filepath.Join(filepath.Dir(truth), row.HTML))
		if err != nil {
			return err
		}
		z, err := gzip.NewReader(bytes.NewReader(page))
		if err != nil {
			return err
		}
		text, err := charset.NewReader(z, row.ContentType)
		if err != nil {
			return err
		}
		all, err := io.ReadAll(text)
		if err != nil {
			return err
		}
		markdown := []byte{}
		if article, err := readability.FromReader(bytes.NewReader(all), address); err == nil && article.Node != nil {
			if markdown, err = md.ConvertNode(article.Node); err != nil {
				return err
			}
		}
		if err := out.Encode(map[string]string{"id": row.ID, "text": string(markdown)}); err != nil {
			return err
		}
	}
	return lines.Err()
}
