package formats

import (
	"slices"
	"strings"

	"web/browse/blocks"
)

// sink gathers the blocks of a document. Those that are too many become one last paragraph, in which each keeps its
// lines. They come to it read like all others: what is not shown before the end is not shown in it either.
type sink struct {
	doc  *blocks.Document
	rest strings.Builder
}

// full reports whether blocks are merged.
func (s *sink) full() bool { return len(s.doc.Blocks) >= blocks.MaxBlocks-1 }

func (s *sink) add(bs ...blocks.Block) {
	for i := range bs {
		if !s.full() {
			s.doc.Blocks = append(s.doc.Blocks, bs[i])
			continue
		}
		for line := range strings.SplitSeq(bs[i].Text, "\n") {
			addLine(&s.rest, collapse(line))
		}
	}
}

// finish ends the document with what was merged.
func (s *sink) finish() {
	if s.rest.Len() == 0 {
		return
	}
	s.doc.Blocks = append(s.doc.Blocks, blocks.Block{Kind: blocks.Paragraph, Text: s.rest.String()})
	if !slices.Contains(s.doc.Warnings, WarnMerged) {
		s.doc.Warnings = append(s.doc.Warnings, WarnMerged)
	}
}

// addLine adds a line to those in b, unless it is empty.
func addLine(b *strings.Builder, line string) {
	if line == "" {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(line)
}
