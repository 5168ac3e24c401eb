package formats

import (
	"strings"

	"web/browse/blocks"
)

// PlainText reads text/plain by the contract's rule: blank lines part paragraphs, white space is collapsed,
// and when that gives a single paragraph each of its lines is one. It has no title and no links.
func PlainText(text string) *blocks.Document {
	doc, text := start(text)
	doc.Blocks = paragraphs(text)
	return doc
}

func paragraphs(text string) []blocks.Block {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	// Counting first costs a pass over the text and saves growing a slice of large elements.
	n := 0
	for range chunks(text) {
		n++
	}
	if n == 1 {
		out := make([]blocks.Block, 0, strings.Count(text, "\n")+1)
		for line := range strings.SplitSeq(text, "\n") {
			if line = collapse(line); line != "" {
				out = append(out, blocks.Block{Kind: blocks.Paragraph, Text: line})
			}
		}
		return out
	}
	out := make([]blocks.Block, 0, n)
	for chunk := range chunks(text) {
		out = append(out, blocks.Block{Kind: blocks.Paragraph, Text: collapse(chunk)})
	}
	return out
}

// chunks yields the stretches of text between blank lines; none of them is blank.
func chunks(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		begin := -1
		for pos := 0; pos <= len(text); {
			end := strings.IndexByte(text[pos:], '\n')
			if end < 0 {
				end = len(text)
			} else {
				end += pos
			}
			if blank(text[pos:end]) {
				if begin >= 0 && !yield(text[begin:pos]) {
					return
				}
				begin = -1
			} else if begin < 0 {
				begin = pos
			}
			pos = end + 1
		}
		if begin >= 0 {
			yield(text[begin:])
		}
	}
}

// Code reads a text whose white space means something as one code block. Language may be "".
func Code(text, language string) *blocks.Document {
	doc, text := start(text)
	doc.Blocks = codeBlock(text, language)
	return doc
}

func codeBlock(text, language string) []blocks.Block {
	if text = trimLines(text); text == "" {
		return nil
	}
	return []blocks.Block{{Kind: blocks.Code, Text: text, Language: language}}
}
