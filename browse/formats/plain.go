package formats

import (
	"iter"
	"strings"

	"web/browse/blocks"
)

// PlainText reads text/plain by the contract's rule: blank lines part paragraphs, white space is collapsed,
// and when that gives a single paragraph each of its lines is one. It has no title and no links.
//
// Where lines plainly matter, in verse, lists, addresses and tables, a paragraph keeps them; one whose columns or marks
// at the start of lines would be harmed as well is code.
func PlainText(text string) *blocks.Document {
	doc, text := start(text)
	setParagraphs(doc, text)
	return doc
}

// setParagraphs makes text the paragraphs of doc. The end of one that has too many is a block of code, as it is.
func setParagraphs(doc *blocks.Document, text string) {
	bs, rest := paragraphs(text, true)
	if rest = trimLines(rest); rest != "" {
		bs = append(bs, codeBlock(rest, "")...)
		doc.Warnings = append(doc.Warnings, WarnMerged)
	}
	doc.Blocks = bs
}

// paragraphs gives at most blocks.MaxBlocks-1 blocks and what is left of the text. keep says that lines which are meant
// are kept.
func paragraphs(text string, keep bool) (out []blocks.Block, rest string) {
	text = trimLines(text)
	if text == "" {
		return nil, ""
	}
	// Counting first costs a pass over the text and saves growing a slice of large elements.
	n, breaks, ragged := 0, 0, 0
	for piece := range chunks(text) {
		n++
		if keep {
			b, r := wrapping(piece)
			breaks += b
			ragged += r
		}
	}
	meant := breaks >= minBreaks && 2*ragged >= breaks
	pieces := chunks(text)
	if n == 1 && !(meant && inColumns(text)) {
		n = strings.Count(text, "\n") + 1
		pieces, keep = lines(text), false
	}
	out = make([]blocks.Block, 0, min(n, blocks.MaxBlocks))
	for piece, left := range pieces {
		if len(out) == blocks.MaxBlocks-1 {
			return out, left
		}
		b := blocks.Block{Kind: blocks.Paragraph}
		if keep && lineByLine(piece, meant) {
			b = linesBlock(piece)
		} else {
			b.Text = collapse(piece)
		}
		if b.Text != "" {
			out = append(out, b)
		}
	}
	return out, ""
}

// lineByLine reports whether the lines of a chunk are meant. In a text most of whose line breaks are, all are, but for
// paragraphs that were wrapped.
func lineByLine(chunk string, meant bool) bool {
	breaks, ragged := wrapping(chunk)
	if meant {
		return ragged > 0
	}
	return breaks >= minBreaks && 2*ragged > breaks
}

// linesBlock is a block that keeps the lines of a chunk.
func linesBlock(chunk string) blocks.Block {
	var b strings.Builder
	b.Grow(len(chunk))
	verbatim := inColumns(chunk)
	for line := range lines(chunk) {
		line = collapse(line)
		addLine(&b, line)
		verbatim = verbatim || guardStart(line) != line
	}
	if verbatim {
		return blocks.Block{Kind: blocks.Code, Text: trimLines(chunk)}
	}
	return blocks.Block{Kind: blocks.Paragraph, Text: b.String()}
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
