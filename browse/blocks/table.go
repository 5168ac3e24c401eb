package blocks

import (
	"bytes"
	"strconv"

	"golang.org/x/net/html/atom"
)

// Bounds that tell a table of data from one that lays out a page.
const (
	maxCellBytes     = 600 // one cell this long is prose
	maxMeanCellBytes = 160
	maxRowspan       = 1000
	// spareCells is how many cells of all tables of a page may be there only because others span them.
	spareCells = 1 << 17
)

// tableShape is what the judgement is made from.
type tableShape struct {
	rows, cells, maxCols int
	widest, bytes        int
	header               bool
	even                 int // rows as wide as the widest
}

// eachRow calls f for every row of the table itself, not of tables inside it. A row is the element that
// holds cells: <tr>, or the table where tags were left out.
func eachRow(t *tree, table nodeID, f func(row nodeID, head bool)) {
	for n := t.nodes[table].first; n != 0; n = t.nodes[n].next {
		switch t.nodes[n].tag {
		case atom.Tr:
			f(n, false)
		case atom.Thead, atom.Tbody, atom.Tfoot:
			for r := t.nodes[n].first; r != 0; r = t.nodes[r].next {
				if t.nodes[r].tag == atom.Tr {
					f(r, t.nodes[n].tag == atom.Thead)
				}
			}
		}
	}
}

func isCell(a atom.Atom) bool { return a == atom.Td || a == atom.Th }

func gone(n *node) bool { return n.flags&(flagHidden|flagDropped) != 0 }

// shapeOf measures a table. It stops at what shows that the table lays out a page: nested is then true.
func shapeOf(t *tree, table nodeID) (s tableShape, nested bool) {
	eachRow(t, table, func(row nodeID, head bool) {
		if nested || gone(&t.nodes[row]) {
			return
		}
		cols, full := 0, 0
		for n := t.nodes[row].first; n != 0 && !nested; n = t.nodes[n].next {
			x := &t.nodes[n]
			if !isCell(x.tag) || gone(x) {
				continue
			}
			cols += spanOf(t, n, attrColspan, maxTableColumns)
			size := 0
			end := t.skip(n)
			for m := n + 1; m != end && int(m) < len(t.nodes) && !nested; m++ {
				y := &t.nodes[m]
				switch {
				case y.flags&flagText != 0:
					if p := t.nodes[y.parent].tag; p != atom.Script && p != atom.Style {
						size += len(bytes.TrimSpace(t.text(m)))
					}
				case y.tag == atom.Table, y.tag == atom.Pre, y.tag == atom.Article, y.tag == atom.Section, y.tag == atom.H1,
					y.tag == atom.H2, y.tag == atom.H3, y.tag == atom.Form:
					nested = true
				}
			}
			if size > 0 {
				full++
			}
			s.bytes += size
			s.widest = max(s.widest, size)
			s.header = s.header || x.tag == atom.Th || head
		}
		if full == 0 {
			return
		}
		s.rows++
		s.cells += full
		if cols > s.maxCols {
			s.maxCols, s.even = cols, 0
		}
		if cols == s.maxCols {
			s.even++
		}
	})
	return s, nested
}

func spanOf(t *tree, id nodeID, key attrKey, bound int) int {
	v, ok := t.get(id, key)
	if !ok {
		return 1
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(v)))
	if err != nil {
		return 1
	}
	return max(min(n, bound), 1)
}

// isData reports whether a table holds data: cells that only mean something in their row and column.
func isData(t *tree, table nodeID) bool {
	switch t.attr(table, attrRole) {
	case "presentation", "none":
		return false
	}
	s, nested := shapeOf(t, table)
	switch {
	case nested, s.rows == 0, s.maxCols < 2, s.maxCols > maxTableColumns, s.cells < 2:
		return false
	case s.header:
		return s.widest <= 4*maxCellBytes
	case s.rows < 2:
		return false
	}
	return s.widest <= maxCellBytes && s.bytes <= maxMeanCellBytes*s.cells && 2*s.even >= s.rows
}

func (c *collector) table(id nodeID) {
	t := c.t
	if c.scope.joining || c.full() || !isData(t, id) {
		c.block(id, nil)
		return
	}
	c.flush()
	// What stands in the table but in no cell comes first, as browsers show it.
	for n := t.nodes[id].first; n != 0; n = t.nodes[n].next {
		switch x := &t.nodes[n]; {
		case x.flags&flagText != 0:
			c.inline(t.text(n))
		case x.tag == atom.Caption:
			c.element(n)
		}
	}
	c.flush()
	outer, outerStyle := c.scope, c.style
	c.scope.joining, c.scope.kind, c.scope.node = true, Table, id
	start, r0 := uint32(len(c.text)), uint32(len(c.runs))
	d := draft{kind: Table, start: start, r0: r0, node: id, quoted: outer.quoted}
	c.cur = d
	var spans []int // rows that the cell above still covers, per column
	rows := 0
	eachRow(t, id, func(row nodeID, head bool) {
		if gone(&t.nodes[row]) {
			return
		}
		at, cols, heads, cells := len(c.text), 0, 0, 0
		sep := func() {
			if cols > 0 {
				c.text = append(c.text, '\t')
			}
			cols++
		}
		covered := func() {
			for cols < len(spans) && spans[cols] > 0 && c.spare() {
				spans[cols]--
				sep()
			}
		}
		for n := t.nodes[row].first; n != 0 && cols < maxTableColumns; n = t.nodes[n].next {
			x := &t.nodes[n]
			if !isCell(x.tag) || gone(x) {
				continue
			}
			covered()
			rowspan := spanOf(t, n, attrRowspan, maxRowspan)
			for i := range spanOf(t, n, attrColspan, maxTableColumns-cols) {
				if i > 0 && !c.spare() {
					break
				}
				for len(spans) <= cols {
					spans = append(spans, 0)
				}
				spans[cols] = rowspan - 1
				sep()
				if i == 0 {
					c.cell(n)
				}
			}
			cells++
			if x.tag == atom.Th {
				heads++
			}
		}
		covered()
		if len(bytes.TrimSpace(c.text[at:])) == 0 {
			c.text = c.text[:at]
			return
		}
		if rows == 0 {
			d.headerRow = head || heads == cells || heads == 0
		}
		rows++
		c.text = append(c.text, '\n')
	})
	c.scope, c.style = outer, outerStyle&^c.ended
	c.open, c.space, c.breaks = false, false, 0
	d.end, d.r1, d.linkBytes = uint32(len(c.text)), uint32(len(c.runs)), c.cur.linkBytes
	if d.end > d.start {
		d.end-- // the last row's newline
		if it := outer.item; it != nil {
			d.item = it.node
			if it.used && !it.card {
				d.depth = it.depth
			}
			it.used = true
		}
		c.drafts = append(c.drafts, d)
	}
}

// spare takes a cell from those that spans may add.
func (c *collector) spare() bool {
	c.spanned++
	return c.spanned <= spareCells
}

// cell writes one cell's text on one line. The walker sees it as a draft of its own.
func (c *collector) cell(id nodeID) {
	links := c.cur.linkBytes
	c.open, c.space, c.breaks, c.glue = true, false, 0, false
	c.cur = draft{start: uint32(len(c.text)), r0: uint32(len(c.runs)), linkBytes: links}
	c.last = 0
	c.children(id)
	c.space, c.breaks = false, 0
}

// tableText renders a table draft as a Markdown table; url is nil for the plain text.
func (c *collector) tableText(d *draft, url func(int32) string) string {
	text := c.text[d.start:d.end]
	cols, rows, cells := 1, 0, 0
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		n := bytes.Count(line, []byte{'\t'}) + 1
		cols = max(cols, n)
		rows++
		cells += n
	}
	// Rows are filled up, unless a long row among many short ones would multiply the table: Markdown lets a row
	// be short.
	pad := cols*rows <= 2*cells+1024
	w := mdWriter{inTable: true, out: make([]byte, 0, len(text)+len(text)/2+cols*12)}
	rule := func() {
		w.out = append(w.out, '|')
		for range cols {
			w.out = append(w.out, " --- |"...)
		}
	}
	if !d.headerRow {
		w.out = append(w.out, '|')
		for range cols {
			w.out = append(w.out, "  |"...)
		}
		w.out = append(w.out, '\n')
		rule()
		w.out = append(w.out, '\n')
	}
	runs := c.runs[d.r0:d.r1]
	at, row := d.start, 0
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		if row > 0 {
			w.out = append(w.out, '\n')
		}
		w.out = append(w.out, '|')
		n := 0
		for cell := range bytes.SplitSeq(line, []byte{'\t'}) {
			end := at + uint32(len(cell))
			k := 0
			for k < len(runs) && runs[k].end <= end {
				k++
			}
			w.out = append(w.out, ' ')
			if url == nil {
				w.escape(cell, false)
			} else if k > 0 {
				w.span(c.text, runs[:k], url)
			}
			w.out = append(w.out, " |"...)
			runs = runs[k:]
			at = end + 1
			n++
		}
		for ; n < cols && (pad || row == 0); n++ {
			w.out = append(w.out, "  |"...)
		}
		if row == 0 && d.headerRow {
			w.out = append(w.out, '\n')
			rule()
		}
		row++
	}
	return string(w.out)
}
