package cli

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"web/action"
)

const (
	// pipeWidth is the width of text that goes into a pipe, in columns; minWidth the narrowest terminal
	// that is taken at its word.
	pipeWidth = 100
	minWidth  = 20
)

// style is how text looks on a terminal; without colour every method returns what it is given.
type style struct{ colour bool }

func (s style) paint(code, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string { return s.paint("1", t) }
func (s style) dim(t string) string  { return s.paint("2", t) }
func (s style) link(t string) string { return s.paint("36", t) }

func (a *app) style() style {
	noColour, _ := a.Getenv("NO_COLOR")
	termName, _ := a.Getenv("TERM")
	return style{colour: a.Width > 0 && noColour == "" && termName != "dumb"}
}

func (a *app) columns() int {
	if a.Width > 0 {
		return a.Width
	}
	return pipeWidth
}

// printable makes foreign text safe for a terminal: one line, no control or invisible format characters, so
// that no title can move the cursor, change colours or hide text.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.Join(strings.Fields(s), " ")
}

// columnsOf is how many columns a terminal gives a text.
func columnsOf(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOfRune(r)
	}
	return n
}

func columnsOfRune(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// wrap breaks text into lines of at most columns. Words break between letters only where they must: scripts
// without spaces, and words longer than a line.
func wrap(text string, columns int) []string {
	columns = max(columns, minWidth)
	var lines []string
	var line strings.Builder
	used := 0
	flush := func() {
		if line.Len() > 0 {
			lines = append(lines, line.String())
		}
		line.Reset()
		used = 0
	}
	for _, word := range strings.Fields(text) {
		w := columnsOf(word)
		if used > 0 && used+1+w > columns && (w <= columns || used+1 >= columns) {
			flush()
		}
		if used > 0 {
			line.WriteByte(' ')
			used++
		}
		for _, r := range word {
			n := columnsOfRune(r)
			if used+n > columns {
				flush()
			}
			line.WriteRune(r)
			used += n
		}
	}
	flush()
	return lines
}

// renderSearch is the answer of a search for people.
func (a *app) renderSearch(ans action.Answer) string {
	s, ok := ans.(*action.SearchAnswer)
	if !ok {
		return ""
	}
	st, b := a.style(), &strings.Builder{}
	if s.Comment != "" {
		fmt.Fprintf(b, "%s\n\n", st.dim(printable(s.Comment)))
	}
	if s.ArtifactFields != nil {
		fmt.Fprintf(b, "%d results, %d characters: more than the threshold of %d, so they are kept whole in\n%s\n",
			s.Count, s.ContentChars, s.MaxChars, s.FilePath)
		return b.String()
	}
	if s.Narrative != nil {
		a.paragraph(b, *s.Narrative, "", st)
		b.WriteByte('\n')
	}
	if s.Count == 0 {
		b.WriteString("No results: the engine found nothing for this query.\n")
		return b.String()
	}
	for i, it := range *s.Results {
		if i > 0 {
			b.WriteByte('\n')
		}
		number := fmt.Sprintf("%2d. ", i+1)
		indent := strings.Repeat(" ", len(number))
		title := printable(it.Title)
		if title == "" {
			title = "(no title)"
		}
		for j, line := range wrap(title, a.columns()-len(indent)) {
			if j == 0 {
				b.WriteString(number)
			} else {
				b.WriteString(indent)
			}
			b.WriteString(st.bold(line) + "\n")
		}
		if u := printable(it.URL); u != "" {
			b.WriteString(indent + st.link(u) + "\n") // never wrapped: it is there to be copied
		}
		a.paragraph(b, it.Snippet, indent, st)
		var foot []string
		if it.LinkRef != nil {
			foot = append(foot, *it.LinkRef)
		}
		if u, err := url.Parse(it.URL); err == nil && u.Host != "" {
			foot = append(foot, printable(u.Host))
		}
		if len(foot) > 0 {
			b.WriteString(indent + st.dim(strings.Join(foot, " · ")) + "\n")
		}
	}
	for _, w := range s.Warnings {
		b.WriteString("\n" + st.dim("warning: "+w) + "\n")
	}
	return b.String()
}

func (a *app) paragraph(b *strings.Builder, text, indent string, _ style) {
	for _, line := range wrap(printable(text), a.columns()-len(indent)) {
		b.WriteString(indent + line + "\n")
	}
}

// renderPage is a page for people: its Markdown, and its links when they are asked for. Neither
// a pipe nor a terminal gets what could steer a terminal; a pipe gets all else to the letter.
func (a *app) renderPage(ans action.Answer, links bool) string {
	p, ok := ans.(*action.BrowseAnswer)
	if !ok {
		return ""
	}
	b := &strings.Builder{}
	text := withoutControls(p.Markdown())
	if a.Width > 0 {
		text = visible(text)
	}
	b.WriteString(text)
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	if links {
		b.WriteByte('\n')
		for _, l := range p.Links {
			fmt.Fprintf(b, "%s  %s\n    %s\n", l.Ref, printable(l.Text), printable(l.URL))
		}
	}
	return b.String()
}

// withoutControls takes the ASCII control characters out of foreign text of several lines.
func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// visible takes every control character out, also those beyond ASCII, which old pages hold as broken text.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// renderSummary is a summary for people, and where the raw result is.
func renderSummary(s *action.SummaryAnswer) string {
	b := &strings.Builder{}
	if s.SummaryFields != nil {
		b.WriteString(visible(s.Summary) + "\n")
	}
	if s.NoSummaryFields != nil {
		b.WriteString("No summary: " + printable(s.Message) + "\n")
	}
	fmt.Fprintf(b, "\nThe raw result is in %s\n", s.RawLocator.FilePath)
	return b.String()
}
