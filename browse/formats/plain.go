package formats

import (
	"iter"
	"strings"

	"web/browse/blocks"
)

// PlainText reads text/plain by the contract's rule: blank lines part paragraphs, white space is collapsed,
// and when that gives a single paragraph each of its lines is one. It has no title and no links.
func PlainText(text string) *blocks.Document {
	doc, text := start(text)
	setParagraphs(doc, text)
	return doc
}

// setParagraphs makes text the paragraphs of doc.
func setParagraphs(doc *blocks.Document, text string) {
	doc.Blocks = paragraphs(text)
	if len(doc.Blocks) == blocks.MaxBlocks {
		doc.Warnings = append(doc.Warnings, WarnMerged)
	}
}

// paragraphs gives at most blocks.MaxBlocks blocks, the last of which holds what is left.
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
	pieces := chunks(text)
	if n == 1 {
		n = strings.Count(text, "\n") + 1
		pieces = lines(text)
	}
	out := make([]blocks.Block, 0, min(n, blocks.MaxBlocks))
	for piece, left := range pieces {
		if len(out) == blocks.MaxBlocks-1 {
			piece = left
		}
		if piece = collapse(piece); piece != "" {
			out = append(out, blocks.Block{Kind: blocks.Paragraph, Text: piece})
		}
		if len(out) == blocks.MaxBlocks {
			break
		}
	}
	return out
}

// chunks yields the stretches of text between blank lines, none of them blank, and what is left of the text
// from where each begins.
func chunks(text string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		begin := -1
		for line, left := range lines(text) {
			pos := len(text) - len(left)
			if !blank(line) {
				if begin < 0 {
					begin = pos
				}
				continue
			}
			if begin >= 0 && !yield(text[begin:pos], text[begin:]) {
				return
			}
			begin = -1
		}
		if begin >= 0 {
			yield(text[begin:], text[begin:])
		}
	}
}

// lines yields the lines of text, and what is left of it from where each begins.
func lines(text string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for left := text; ; {
			line, after, more := strings.Cut(left, "\n")
			if !yield(line, left) || !more {
				return
			}
			left = after
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
