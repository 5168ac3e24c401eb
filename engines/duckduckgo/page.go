package duckduckgo

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"web/engines"
)

// Kind says what a page is.
type Kind int

// The kinds of page, judged by elements and never by words: a page echoes the query.
const (
	// KindUnexpected is any page that is none of the others: home page, script shell, changed markup.
	KindUnexpected Kind = iota
	// KindResults holds at least one result.
	KindResults
	// KindNoResults holds none and says so itself.
	KindNoResults
	// KindChallenge asks for proof of a human.
	KindChallenge
)

func (k Kind) String() string {
	switch k {
	case KindResults:
		return "results"
	case KindNoResults:
		return "no_results"
	case KindChallenge:
		return "challenge"
	default:
		return "unexpected_page"
	}
}

// Page is what stands on one page.
type Page struct {
	Kind Kind
	// Results are in page order, each URL once. Titles and snippets are bounded by the size of the page only.
	Results []engines.Result
	// LeftOut counts what was seen and left out. Broken holds unreadable links and links into DuckDuckGo itself.
	LeftOut engines.LeftOut
	// Leaves is true when the page sends its reader on to another site, as it does for a bang.
	Leaves bool
}

// maxReopened bounds, in elements, what a page makes a parser of HTML build beside what stands in it.
const maxReopened = 100_000

var errMultiplies = errors.New("page leaves so many formatting elements open that it multiplies")

// multiplies reports whether parsing would build far more than the page holds. Formatting elements that are
// left open (<b>, <a>) are opened again in every block that follows, so that a page of 100 KB can become
// gigabytes. It counts, without building anything, how many would be opened again.
func multiplies(body []byte) bool {
	open, reopened := 0, 0
	byName := map[string]int{} // an end tag closes only its own kind
	for z := html.NewTokenizer(bytes.NewReader(body)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return false
		}
		if kind != html.StartTagToken && kind != html.EndTagToken {
			continue
		}
		name, _ := z.TagName()
		switch string(name) {
		case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
			if kind == html.StartTagToken {
				open++
				byName[string(name)]++
			} else if byName[string(name)] > 0 {
				open--
				byName[string(name)]--
			}
		default:
			if kind == html.StartTagToken {
				reopened += open
			}
		}
		if reopened > maxReopened {
			return true
		}
	}
}

var errNotUTF8 = errors.New("page is not valid UTF-8")

// Parse reads a page of the HTML or the lite endpoint, in the markup of 2013 to now. Links are resolved
// against base; nil stands for DuckDuckGo's own address, which is right whoever delivered the page. Bytes
// that are not UTF-8, or markup nested too deep to be such a page, are an error.
func Parse(body []byte, base *url.URL) (Page, error) {
	if base == nil {
		base = &url.URL{Scheme: "https", Host: "html.duckduckgo.com", Path: "/html/"}
	}
	if multiplies(body) {
		return Page{}, errMultiplies
	}
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(body))
	if err != nil {
		return Page{}, fmt.Errorf("parse page: %w", err)
	}
	root := doc.Nodes[0]
	s := survey{base: base}
	s.walk(root, false)
	if !utf8.Valid(body) {
		// The marks of a challenge are ASCII, so damage cannot forge them.
		if s.challenge && len(s.blocks) == 0 && !s.lite {
			return Page{Kind: KindChallenge}, nil
		}
		return Page{}, errNotUTF8
	}
	return s.page(root), nil
}

// survey is the first pass: it finds the blocks and the signs that say what the page is.
type survey struct {
	base   *url.URL
	blocks []block
	ads    int
	// lite: at least one row of the lite page. empty: the page says that nothing (more) was found.
	lite, empty, challenge, leaves bool
}

// block is an element that bears one of the classes of a result.
type block struct {
	node                                   *html.Node
	inLinks, web, result, legacy, excluded bool
}

func (s *survey) walk(n *html.Node, inLinks bool) {
	if n.Type == html.ElementNode {
		inLinks = s.element(n, inLinks)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		s.walk(c, inLinks)
	}
}

func (s *survey) element(n *html.Node, inLinks bool) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "class":
			s.classes(n, a.Val, inLinks)
		case "id":
			s.challenge = s.challenge || a.Val == "challenge-form"
			inLinks = inLinks || a.Val == "links"
		case "data-testid":
			s.challenge = s.challenge || strings.HasPrefix(a.Val, "anomaly-modal")
		case "action":
			// The address carries the query unescaped behind the question mark.
			path, _, _ := strings.Cut(a.Val, "?")
			s.challenge = s.challenge || strings.HasSuffix(path, "/anomaly.js")
		case "http-equiv":
			if n.Data == "meta" && strings.EqualFold(a.Val, "refresh") {
				s.leaves = s.leaves || s.refreshLeaves(attr(n, "content"))
			}
		}
	}
	return inLinks
}

func (s *survey) classes(n *html.Node, class string, inLinks bool) {
	b := block{node: n, inLinks: inLinks}
	for token := range strings.FieldsSeq(class) {
		switch token {
		case "web-result":
			b.web = true
		case "result":
			b.result = true
		case "results_links":
			b.legacy = true
		case "result--ad":
			s.ads++
			b.excluded = true
		case "result--no-result":
			s.empty = true
			b.excluded = true
		case "no-results", "no-results__message":
			s.empty = true
		case "result-link":
			s.lite = s.lite || n.Data == "a"
		default:
			s.challenge = s.challenge || strings.HasPrefix(token, "anomaly-modal")
		}
	}
	if b.web || b.result || b.legacy || b.excluded {
		s.blocks = append(s.blocks, b)
	}
}

func (s *survey) refreshLeaves(content string) bool {
	_, target, ok := strings.Cut(content, ";")
	target = strings.TrimSpace(target)
	if !ok || len(target) < len("url=") || !strings.EqualFold(target[:len("url=")], "url=") {
		return false
	}
	_, v := follow(strings.Trim(target[len("url="):], `'" `), s.base)
	return v == linkOrganic
}

func (s *survey) page(root *html.Node) Page {
	drafts := s.drafts()
	if len(drafts) == 0 && s.lite {
		drafts = liteDrafts(root)
	}
	p := Page{Leaves: s.leaves, LeftOut: engines.LeftOut{Ads: s.ads}}
	seen := make(map[string]bool, len(drafts))
	for _, d := range drafts {
		s.judge(&p, d, seen)
	}
	switch {
	case len(p.Results) > 0:
		p.Kind = KindResults
	case s.challenge:
		p.Kind = KindChallenge
	case p.LeftOut.Broken > 0:
		// Something was found and could not be read: that is not "nothing found".
	case s.empty || endOfList(root):
		p.Kind = KindNoResults
	}
	return p
}

// drafts reads the blocks of the HTML page. Newer markup names results more exactly, so the first of these
// selections that has a title holds the results, and what only older selections match is something else.
func (s *survey) drafts() []draft {
	var first []draft
	for _, match := range [...]func(block) bool{
		func(b block) bool { return b.inLinks && b.web },
		func(b block) bool { return b.inLinks && b.result },
		func(b block) bool { return b.result || b.web },
		func(b block) bool { return b.legacy },
	} {
		borders := make(map[*html.Node]bool, len(s.blocks))
		for _, b := range s.blocks {
			if b.excluded || match(b) {
				borders[b.node] = true
			}
		}
		var drafts []draft
		titled := false
		for _, b := range s.blocks {
			if b.excluded || !match(b) {
				continue
			}
			var d draft
			d.read(b.node, borders, false, false)
			titled = titled || d.link() != nil
			drafts = append(drafts, d)
		}
		if titled {
			return drafts
		}
		if first == nil {
			first = drafts
		}
	}
	return first
}

// draft holds the nodes of one result.
type draft struct {
	// Title links, best first: since 2016, any heading, until 2016.
	modern, heading, large  *html.Node
	snippet, legacySnippet  *html.Node
	row                     *html.Node // of the lite page
	date                    string
	sponsored, holdsAnother bool
	end                     bool // it only says that nothing (more) was found
}

func (d *draft) link() *html.Node {
	for _, n := range [...]*html.Node{d.modern, d.heading, d.large} {
		if n != nil {
			return n
		}
	}
	return nil
}

func (d *draft) abstract() *html.Node {
	if d.snippet != nil {
		return d.snippet
	}
	return d.legacySnippet
}

// read walks one block and stops at the next, which lies inside it where a tag was left open: nothing of one
// result may reach another.
func (d *draft) read(n *html.Node, borders map[*html.Node]bool, inHeading, inExtras bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if borders[c] {
			d.holdsAnother = true
			continue
		}
		class := attr(c, "class")
		switch {
		case c.Data == "a" && attr(c, "href") != "":
			first(&d.modern, c, hasToken(class, "result__a"))
			first(&d.heading, c, inHeading)
			first(&d.large, c, hasToken(class, "large"))
		case c.Data == "span" && inExtras && d.date == "":
			d.date = date(text(c))
		}
		if hasToken(class, "no-results") || hasToken(class, "no-results__message") || hasToken(class, "result__title") && endText(text(c)) {
			d.end = true
		}
		first(&d.snippet, c, hasToken(class, "result__snippet"))
		first(&d.legacySnippet, c, hasToken(class, "snippet"))
		d.read(c, borders, inHeading || c.Data == "h2", inExtras || hasToken(class, "result__extras__url"))
	}
}

func first(slot **html.Node, n *html.Node, ok bool) {
	if ok && *slot == nil {
		*slot = n
	}
}

// liteDrafts reads the lite page, where nothing encloses a result: its parts lie in rows that follow each
// other. Only the first link of a row is a title; sponsored rows have a second one.
func liteDrafts(root *html.Node) []draft {
	var drafts []draft
	var walk func(n, row *html.Node)
	walk = func(n, row *html.Node) {
		if n.Type == html.ElementNode {
			class := attr(n, "class")
			last := len(drafts) - 1
			switch {
			case n.Data == "tr":
				row = n
			case n.Data == "a" && hasToken(class, "result-link"):
				if last < 0 || row == nil || drafts[last].row != row {
					drafts = append(drafts, draft{modern: n, row: row, sponsored: row != nil && hasToken(attr(row, "class"), "result-sponsored")})
				}
			case last < 0:
			case hasToken(class, "result-snippet"):
				first(&drafts[last].snippet, n, true)
			case hasToken(class, "timestamp") && drafts[last].date == "":
				drafts[last].date = date(text(n))
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, row)
		}
	}
	walk(root, nil)
	return drafts
}

// judge adds a draft to the page or counts why it is left out.
func (s *survey) judge(p *Page, d draft, seen map[string]bool) {
	link := d.link()
	if d.sponsored {
		p.LeftOut.Ads++
		return
	}
	if link == nil {
		switch {
		case d.end:
			s.empty = true
		case !d.holdsAnother: // a wrapper around results is none itself
			p.LeftOut.Broken++
		}
		return
	}
	href, title, snippet := attr(link, "href"), text(link), text(d.abstract())
	if href == "" && endText(title) {
		s.empty = true
		return
	}
	target, v := follow(href, s.base)
	switch {
	case v == linkAd:
		p.LeftOut.Ads++
	case v == linkUnsafe:
		p.LeftOut.Unsafe++
	case v == linkBroken:
		p.LeftOut.Broken++
	case title == "EOF" && snippet == "" && googleSearch(target):
		s.empty = true // the template's own end mark
	case seen[target]:
		p.LeftOut.Duplicates++
	default:
		seen[target] = true
		p.Results = append(p.Results, engines.Result{Title: title, URL: target, Snippet: snippet, Published: d.date})
	}
}

func googleSearch(target string) bool {
	u, err := url.Parse(target)
	return err == nil && (u.Host == "www.google.com" || u.Host == "google.com") && u.Path == "/search"
}

// endOfList looks for the lite page's sign, which has no class: a cell with nothing else in it. It runs only
// on pages without a result.
func endOfList(root *html.Node) bool {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "td" && !hasToken(attr(n, "class"), "result-snippet") && endText(text(n)) {
			return true
		}
	}
	return false
}

func endText(s string) bool {
	return s == "No results." || s == "No more results." ||
		strings.HasPrefix(s, "No results found for ") || strings.HasPrefix(s, "No more results found for ")
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// hasToken compares whole class names: "result" is also the beginning of result__extras.
func hasToken(class, token string) bool {
	for rest := class; ; {
		i := strings.Index(rest, token)
		if i < 0 {
			return false
		}
		end := i + len(token)
		if (i == 0 || space(rest[i-1])) && (end == len(rest) || space(rest[end])) {
			return true
		}
		rest = rest[end:]
	}
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }
