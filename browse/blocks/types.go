package blocks

// Kind is the kind of a block: the wire's `kind`.
type Kind string

// The kinds of block.
const (
	Heading   Kind = "heading"
	Paragraph Kind = "paragraph"
	ListItem  Kind = "list_item"
	Code      Kind = "code"
	Table     Kind = "table"
	Quote     Kind = "quote"
)

// MaxBlocks is how many blocks a document has before its end is merged: the text of all further ones becomes one
// last paragraph, with WarnMerged. A block costs some hundred bytes until it is delivered, and there are
// pages of single letters.
const MaxBlocks = 3 << 15

// Block is one unit of readable text, in document order.
type Block struct {
	Kind Kind
	// Text is the plain text: white space collapsed (kept in Code), no Markdown marks; for Table it is a
	// Markdown (pipe) table. Never empty.
	Text string
	// Markdown is the inline Markdown of the same text (emphasis, inline code, links, escapes), without the
	// block's own marks ("# ", "- ", "> ", fences). Of a Table it is the table with links and emphasis. Empty
	// when Text, escaped, says the same.
	Markdown string
	// Level is 1..6 for Heading, 0 otherwise.
	Level int
	// Depth is the nesting of a ListItem (1 is outermost) or of a Quote. Of a Paragraph, Code or Table it is
	// the depth of the list item that the block continues; 0 otherwise.
	Depth int
	// Quoted is the number of quotes around the block, of whatever kind it is.
	Quoted int
	// Ordered is the number shown before a ListItem of an ordered list, 0 for bullets.
	Ordered int
	// Language is the language a Code block states, "" when it states none.
	Language string
}

// Link is one link of the kept text. URL is absolute, http or https, as the resolver gave it. An address that
// differs from the page's own only in its fragment is no link.
type Link struct{ Text, URL string }

// Metadata is what a page states about itself; "" when it does not.
type Metadata struct {
	Byline, Published, SiteName, Language, Description, CanonicalURL string
}

// Removed counts what was left out, in characters (DataURIs counts URIs).
type Removed struct {
	HiddenChars, InvisibleChars, DataURIs, BoilerplateChars int
}

// Document is a page as readable text.
type Document struct {
	Title    string
	Meta     Metadata
	Blocks   []Block
	Links    []Link
	Removed  Removed
	Warnings []string
	// ScriptShell is true when the page is mostly script and holds little or no text of its own: the caller
	// turns it into NEEDS_JAVASCRIPT (no blocks) or LIKELY_JAVASCRIPT_PAGE (some).
	ScriptShell bool
}
