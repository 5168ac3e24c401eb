package formats

import (
	"strings"

	"web/browse/blocks"
)

// CSV reads separated values as one table whose first record is the header. The separator is found by looking:
// comma, semicolon, tab and pipe all go by this name. With an unclosed quote there is no telling where cells
// end: the body is given as plain text with WarnCSVInvalid.
func CSV(text string) *blocks.Document {
	doc, text := start(text)
	sep := byte(0)
	if first, rest, _ := strings.Cut(text, "\n"); len(first) == len("sep=;") && strings.HasPrefix(first, "sep=") {
		// Spreadsheets state the separator in a line that is no record.
		sep, text = first[4], rest
	}
	if sep == 0 {
		sep = sniffSeparator(text)
	}
	if !setTable(doc, text, sep, true) {
		doc.Warnings = []string{WarnCSVInvalid}
		setParagraphs(doc, text)
	}
	return doc
}

// TSV reads tab-separated values as one table. The format knows no quotes, but spreadsheets write them: they
// count when all of them close.
func TSV(text string) *blocks.Document {
	doc, text := start(text)
	if !setTable(doc, text, '\t', true) {
		setTable(doc, text, '\t', false)
	}
	return doc
}

// setTable makes the records of text the table of doc; false means that a quote is not closed. It reads the text more
// than once: the table's width must be known before its first row is written, and keeping every cell would take many
// times the text. A cell of one byte takes five in a table, so records that are too many, and all behind one that is
// too wide, stay as they are in a last block of code.
func setTable(doc *blocks.Document, text string, sep byte, quotes bool) bool {
	rows, cols, cells, size, empty := 0, 0, 0, 0, true
	tooWide := false
	r := csvReader{s: text, sep: sep, quotes: quotes}
	for r.next() {
		empty = empty && !r.filled
		if tooWide = tooWide || r.wide; tooWide {
			continue // only for the quotes
		}
		rows++
		cols = max(cols, len(r.fields))
		cells += len(r.fields)
		for _, f := range r.fields {
			size += len(f)
		}
	}
	if r.unclosed {
		return false
	}
	if empty {
		return true
	}
	marks := hasMarks(text) // data must not fake links, emphasis or tags
	limit := 2*len(text) + 1<<20
	if marks {
		limit -= len(text) / 2 // the table is there twice
	}
	// write stops before a record that would not fit, or behind so many rows, and gives what is left.
	write := func(escape bool, rows int) (table *tableWriter, rest string) {
		t := newTable(cols, rows, cells)
		t.escape = escape
		t.b.Grow(min(size+3*cells+2*rows+6*cols, limit))
		r = csvReader{s: text, sep: sep, quotes: quotes, fields: r.fields[:0]}
		for {
			rest = r.s
			if t.rows == rows || t.b.Len() > limit || !r.next() {
				return t, rest
			}
			t.row(r.fields)
		}
	}
	t, rest := write(marks, rows)
	b := blocks.Block{Kind: blocks.Table, Text: t.String()}
	if marks {
		plain, _ := write(false, t.rows)
		b.Text, b.Markdown = plain.String(), b.Text
	}
	if t.rows > 0 {
		doc.Blocks = append(doc.Blocks, b)
	}
	if !blank(rest) {
		doc.Blocks = append(doc.Blocks, codeBlock(rest, "csv")...)
		doc.Warnings = append(doc.Warnings, WarnMerged)
	}
	return true
}

// hasMarks reports whether inline Markdown would read any of the text as a mark.
func hasMarks(s string) bool {
	for i := range len(s) {
		if isMark(s, i) {
			return true
		}
	}
	return false
}

// csvReader reads records leniently, as spreadsheets do: a quote inside an unquoted field is a character, and
// text after a closing quote belongs to the field.
type csvReader struct {
	s      string
	sep    byte
	quotes bool
	fields []string
	// wide is set when the last record has more fields than are kept.
	wide bool
	// filled is set when any field of the last record, kept or not, has text.
	filled bool
	// unclosed is set when the text ended inside quotes.
	unclosed bool
}

// next reads the next record that is not blank into fields.
func (r *csvReader) next() bool {
	for r.s != "" {
		r.fields, r.wide, r.filled = r.fields[:0], false, false
		for {
			field, more := r.field()
			r.filled = r.filled || !blank(field)
			if r.wide = len(r.fields) == maxColumns; !r.wide {
				r.fields = append(r.fields, field)
			}
			if !more {
				break
			}
		}
		if r.unclosed {
			return false
		}
		if len(r.fields) > 1 || !blank(r.fields[0]) {
			return true
		}
	}
	return false
}

// field reads one field and its separator; more is false at the end of the record.
func (r *csvReader) field() (field string, more bool) {
	s := r.s
	i := 0
	if r.quotes {
		for i < len(s) && s[i] == ' ' {
			i++
		}
		if i < len(s) && s[i] == '"' {
			return r.quoted(i + 1)
		}
	}
	for i < len(s) && s[i] != r.sep && s[i] != '\n' {
		i++
	}
	return s[:i], r.cut(i)
}

// cut drops the text up to and including the separator or line end at i.
func (r *csvReader) cut(i int) (more bool) {
	if i == len(r.s) {
		r.s = ""
		return false
	}
	more = r.s[i] == r.sep
	r.s = r.s[i+1:]
	return more
}

func (r *csvReader) quoted(from int) (field string, more bool) {
	s := r.s
	end := strings.IndexByte(s[from:], '"')
	if end < 0 {
		r.unclosed, r.s = true, ""
		return "", false
	}
	end += from
	if end+1 == len(s) || s[end+1] == r.sep || s[end+1] == '\n' {
		return s[from:end], r.cut(end + 1)
	}
	// Doubled quotes, or text after the closing one.
	var b strings.Builder
	i := from
	for {
		b.WriteString(s[i:end])
		i = end + 1
		if i == len(s) || s[i] != '"' {
			break
		}
		b.WriteByte('"')
		i++
		next := strings.IndexByte(s[i:], '"')
		if next < 0 {
			r.unclosed, r.s = true, ""
			return "", false
		}
		end = i + next
	}
	for i < len(s) && s[i] != r.sep && s[i] != '\n' {
		b.WriteByte(s[i])
		i++
	}
	return b.String(), r.cut(i)
}

// The sample in which the separator is looked for.
const (
	sampleBytes   = 64 << 10
	sampleRecords = 100
)

// sniffSeparator picks the separator whose records agree best in their number of fields; among equals the one
// that makes more fields, then the comma.
func sniffSeparator(text string) byte {
	sample := text
	if len(text) > sampleBytes {
		sample = text[:sampleBytes]
		// The record that the cut goes through would disagree with all others.
		if i := strings.LastIndexByte(sample, '\n'); i > 0 {
			sample = sample[:i]
		}
	}
	best, bestScore, bestFields := byte(','), 0.0, 1
	for _, sep := range []byte{',', ';', '\t', '|'} {
		counts := make(map[int]int)
		r := csvReader{s: sample, sep: sep, quotes: true}
		n, usual := 0, 1
		for n < sampleRecords && r.next() {
			n++
			fields := len(r.fields)
			counts[fields]++
			if c := counts[fields]; c > counts[usual] || c == counts[usual] && fields > usual {
				usual = fields
			}
		}
		if usual < 2 {
			continue
		}
		score := float64(counts[usual]) / float64(n)
		if score > bestScore || score == bestScore && usual > bestFields {
			best, bestScore, bestFields = sep, score, usual
		}
	}
	return best
}
