package formats

import "strings"

// tableWriter writes a Markdown pipe table row by row. The first row is the header.
type tableWriter struct {
	b    strings.Builder
	cols int
	// pad says whether short rows are filled up with empty cells.
	pad  bool
	rows int
	// escape says that cells are written as Markdown that shows their text, not as the text itself.
	escape bool
}

// newTable begins a table of cols columns, which will hold rows rows with cells cells in all. Rows may be of
// different length: they are filled up, unless a few long rows among many short ones would make the table
// grow with the product of both; Markdown lets a row be short.
func newTable(cols, rows, cells int) *tableWriter {
	return &tableWriter{cols: cols, pad: cols*rows <= 2*cells+1024}
}

// clone is a writer that goes on from the same rows.
func (t *tableWriter) clone() *tableWriter {
	c := &tableWriter{cols: t.cols, pad: t.pad, rows: t.rows, escape: t.escape}
	c.b.Grow(t.b.Cap())
	c.b.WriteString(t.b.String())
	return c
}

func (t *tableWriter) row(cells []string) {
	if t.rows > 0 {
		t.b.WriteByte('\n')
	}
	n := len(cells)
	if t.pad || t.rows == 0 {
		n = t.cols
	}
	t.b.WriteByte('|')
	for i := range n {
		t.b.WriteByte(' ')
		if i < len(cells) {
			t.cell(cells[i])
		}
		t.b.WriteString(" |")
	}
	if t.rows == 0 {
		t.b.WriteString("\n|")
		for range t.cols {
			t.b.WriteString(" --- |")
		}
	}
	t.rows++
}

// cell writes one cell on one line, with its pipes escaped.
func (t *tableWriter) cell(s string) {
	s = collapse(s)
	if t.escape {
		if strings.IndexByte(s, '|') < 0 {
			writeEscaped(&t.b, s)
			return
		}
		t.b.WriteString(strings.ReplaceAll(escapeMarkdown(s), "|", `\|`))
		return
	}
	if strings.IndexByte(s, '|') < 0 && !strings.HasSuffix(s, `\`) {
		t.b.WriteString(s)
		return
	}
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			// Backslashes before a pipe or the cell's end are doubled: alone they would escape it.
			j := i
			for j < len(s) && s[j] == '\\' {
				j++
			}
			n := j - i
			if j == len(s) || s[j] == '|' {
				n *= 2
			}
			for range n {
				t.b.WriteByte('\\')
			}
			i = j - 1
			continue
		}
		if s[i] == '|' {
			t.b.WriteByte('\\')
		}
		t.b.WriteByte(s[i])
	}
}

func (t *tableWriter) String() string { return t.b.String() }
