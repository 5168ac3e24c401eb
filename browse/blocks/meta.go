package blocks

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// Bounds of the metadata pass.
const (
	maxMetaChars   = 1024    // of one field, in characters
	maxTitleChars  = 2048    // in characters
	maxJSONLD      = 1 << 20 // bytes of one JSON-LD script that are read
	maxJSONLDDepth = 12
	maxMetaTags    = 512
)

// pageFacts is what the head of a page says about it, and what the chooser wants to know of that.
type pageFacts struct {
	title, baseHref string
	meta            Metadata
	ogType          string
	generator       string
	ldTypes         []string
}

// clean makes one line of foreign text: white space collapsed, invisible characters out, bounded.
func clean(s string, limit int) string {
	c := collector{t: &tree{}, link: -1}
	c.scope.joining = true
	c.inline([]byte(s))
	if n := len(c.text); n > limit && utf8.RuneCount(c.text) > limit {
		out := []rune(string(c.text))
		return strings.TrimSpace(string(out[:limit]))
	}
	return string(c.text)
}

func readFacts(t *tree) pageFacts {
	var f pageFacts
	props := make(map[string]string)
	tags := 0
	for id := nodeID(1); int(id) < len(t.nodes); id++ {
		n := &t.nodes[id]
		if n.flags&(flagText|flagForeign) != 0 {
			continue
		}
		switch n.tag {
		case atom.Title:
			if f.title == "" {
				f.title = clean(t.flatText(id), maxTitleChars)
			}
		case atom.Base:
			if v, ok := t.get(id, attrHref); ok && f.baseHref == "" {
				f.baseHref = string(v)
			}
		case atom.Link:
			if f.meta.CanonicalURL == "" && t.hasToken(id, attrRel, "canonical") {
				f.meta.CanonicalURL = t.attr(id, attrHref)
			}
		case atom.Meta:
			if tags++; tags > maxMetaTags {
				continue
			}
			content := t.attr(id, attrContent)
			if strings.TrimSpace(content) == "" {
				continue
			}
			for _, k := range [...]attrKey{attrProperty, attrName, attrItemprop} {
				if name := strings.ToLower(strings.TrimSpace(t.attr(id, k))); name != "" {
					if _, seen := props[name]; !seen {
						props[name] = content
					}
				}
			}
		}
	}
	var ld ldFacts
	for _, id := range t.jsonLD {
		ld.read(t.text(id))
	}
	f.ldTypes = ld.types
	first := func(limit int, values ...string) string {
		for _, v := range values {
			if v = clean(v, limit); v != "" {
				return v
			}
		}
		return ""
	}
	byline := first(maxMetaChars, ld.author, props["author"], props["article:author"], props["dc.creator"], props["citation_author"], props["parsely-author"])
	if strings.Contains(byline, "://") {
		byline = first(maxMetaChars, props["author"], props["dc.creator"])
	}
	f.meta = Metadata{
		Byline: byline,
		Published: first(maxMetaChars, ld.published, props["article:published_time"], props["datepublished"], props["date"],
			props["dc.date"], props["dc.date.issued"], props["citation_publication_date"], props["parsely-pub-date"], props["pubdate"]),
		SiteName:     first(maxMetaChars, props["og:site_name"], ld.site, props["application-name"]),
		Language:     first(maxMetaChars, t.attr(t.html, attrLang), props["og:locale"], props["dc.language"]),
		Description:  first(maxMetaChars, props["description"], props["og:description"], props["twitter:description"], ld.description),
		CanonicalURL: f.meta.CanonicalURL,
	}
	if f.meta.CanonicalURL == "" {
		f.meta.CanonicalURL = props["og:url"]
	}
	if f.meta.Published == "" {
		f.meta.Published = firstTime(t)
	}
	if f.meta.Byline == "" {
		f.meta.Byline = statedAuthor(t)
	}
	if f.title == "" {
		f.title = first(maxTitleChars, props["og:title"], props["twitter:title"], ld.headline)
	}
	f.ogType = strings.ToLower(clean(props["og:type"], 64))
	f.generator = strings.ToLower(clean(props["generator"], 64))
	return f
}

// flatText is all text below id, joined as it stands.
func (t *tree) flatText(id nodeID) string {
	var b []byte
	end := t.skip(id)
	for n := id + 1; n != end && int(n) < len(t.nodes); n++ {
		if t.isText(n) {
			b = append(b, t.text(n)...)
		}
	}
	return string(b)
}

// firstTime is the moment that the page's first <time> states, if it says that it is the publication's.
func firstTime(t *tree) string {
	for id := nodeID(1); int(id) < len(t.nodes); id++ {
		if t.nodes[id].tag != atom.Time {
			continue
		}
		v := strings.TrimSpace(t.attr(id, attrDatetime))
		if v == "" {
			continue
		}
		if strings.EqualFold(t.attr(id, attrItemprop), "datePublished") || t.hasToken(id, attrClass, "published", "entry-date", "dt-published") ||
			t.within(id, atom.Article) || t.within(id, atom.Header) {
			return clean(v, maxMetaChars)
		}
	}
	return ""
}

func statedAuthor(t *tree) string {
	for id := nodeID(1); int(id) < len(t.nodes); id++ {
		n := &t.nodes[id]
		if n.attrCount == 0 || n.flags&(flagText|flagHidden) != 0 {
			continue
		}
		if t.hasToken(id, attrRel, "author") || t.hasToken(id, attrItemprop, "author") || t.hasToken(id, attrClass, "byline", "p-author", "author-name") {
			if s := clean(t.flatText(id), maxMetaChars); s != "" && len(s) <= 120 {
				return s
			}
		}
	}
	return ""
}

func (t *tree) within(id nodeID, a atom.Atom) bool {
	for id = t.nodes[id].parent; id > 0; id = t.nodes[id].parent {
		if t.nodes[id].tag == a {
			return true
		}
	}
	return false
}

// ldFacts gathers what the JSON-LD scripts of a page say about its main thing.
type ldFacts struct {
	types                                          []string
	author, published, headline, site, description string
}

func (l *ldFacts) read(src []byte) {
	if len(src) > maxJSONLD {
		return
	}
	src = bytes.TrimSpace(src)
	src = bytes.TrimSuffix(bytes.TrimPrefix(src, []byte("<!--")), []byte("-->"))
	var v any
	if json.Unmarshal(src, &v) == nil {
		l.walk(v, 0)
	}
}

func (l *ldFacts) walk(v any, depth int) {
	if depth > maxJSONLDDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			l.walk(e, depth+1)
		}
	case map[string]any:
		types := ldStrings(v["@type"])
		if len(l.types) < 64 {
			l.types = append(l.types, types...)
		}
		for _, typ := range types {
			l.thing(typ, v)
		}
		for _, k := range [...]string{"@graph", "mainEntity", "mainEntityOfPage", "itemListElement"} {
			if e, ok := v[k]; ok {
				l.walk(e, depth+1)
			}
		}
	}
}

func (l *ldFacts) thing(typ string, v map[string]any) {
	set := func(dst *string, key string) {
		if s := ldName(v[key]); *dst == "" {
			*dst = s
		}
	}
	switch {
	case strings.HasSuffix(typ, "Article") || strings.HasSuffix(typ, "Posting") || typ == "Report" || typ == "WebPage" || typ == "Recipe":
		set(&l.author, "author")
		set(&l.published, "datePublished")
		set(&l.headline, "headline")
		set(&l.description, "description")
		if l.site == "" {
			l.site = ldName(v["publisher"])
		}
	case typ == "WebSite" || typ == "Organization":
		set(&l.site, "name")
	case typ == "Product":
		set(&l.headline, "name")
		set(&l.description, "description")
	}
}

func ldStrings(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok && len(out) < 8 {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// ldName reads a value that may be a string, a thing with a name, or a list of either.
func ldName(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		s, _ := v["name"].(string)
		return s
	case []any:
		var names []string
		for _, e := range v {
			if _, list := e.([]any); list {
				continue
			}
			if s := ldName(e); s != "" && len(names) < 16 {
				names = append(names, s)
			}
		}
		return strings.Join(names, ", ")
	}
	return ""
}
