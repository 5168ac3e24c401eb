// Package formats turns answers that are not HTML pages into blocks: plain text, Markdown, JSON, XML, feeds,
// CSV and source code; and it says what kind of answer a body is, or what it is that cannot be read.
//
// Start at Classify (bytes to Kind) and Convert (Kind and text to *blocks.Document). Every converter is total
// and takes time and memory linear in its input: bad input gives less structure and a warning, never a panic,
// a hang or a shortened text. The package must not know the network, character sets (it is given UTF-8), the
// wire, or how pages are judged: URLs are resolved and HTML inside other formats is read through Options.
package formats

import "web/browse/blocks"

// The warnings the converters raise.
const (
	// WarnJSONInvalid: the body is labelled JSON and is not; it is given as it came.
	WarnJSONInvalid = "JSON_INVALID"
	// WarnCSVInvalid: the body is labelled CSV and has an unclosed quote; it is given as plain text.
	WarnCSVInvalid = "CSV_INVALID"
	// WarnLinksTruncated: the text is complete, the list of links is not (see maxLinks and linker.budget).
	WarnLinksTruncated = blocks.WarnLinksTruncated
	// WarnMerged: the end of the text has lost its structure, and no word. There were more than blocks.MaxBlocks blocks,
	// of which the end is one paragraph or, of plain text, code; more cells than a table may have, whose rows go on as
	// code; or more marks than a paragraph may have.
	WarnMerged = blocks.WarnMerged
)

// Options are the seams of the converters that meet links or HTML.
type Options struct {
	// ResolveURL makes ref absolute against base as browsers do and reports whether the result is an http
	// or https URL. Base is itself a result of ResolveURL, or "" for the address of the document. When it is
	// nil no link is listed.
	ResolveURL func(base, ref string) (string, bool)
	// Fragment reads a piece of HTML (the text of a feed's entry, HTML inside Markdown), giving everything
	// visible without choosing a main part. When it is nil a plain reader of this package is used, which
	// knows headings, paragraphs, lists, code and links but no tables.
	Fragment func(html, base string) *blocks.Document
}

// Convert reads text, which is UTF-8, as kind. MediaType only names the language of source code. It returns
// false for HTML and XHTML, which are package blocks' work, and for every kind that is not Readable.
func Convert(kind Kind, mediaType, text string, opt Options) (*blocks.Document, bool) {
	switch kind {
	case KindPlain:
		return PlainText(text), true
	case KindCode:
		return Code(text, Language(mediaType, text)), true
	case KindMarkdown:
		return Markdown(text, opt), true
	case KindJSON:
		return JSON(text), true
	case KindJSONLines:
		return JSONLines(text), true
	case KindXML:
		return XML(text), true
	case KindFeed:
		return Feed(text, opt), true
	case KindCSV:
		return CSV(text), true
	case KindTSV:
		return TSV(text), true
	}
	return nil, false
}
