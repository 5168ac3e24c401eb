package formats

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// Kind is what a body is. The kinds that can be read are those below; every other value is the name of a type
// that cannot, fit for a message ("PDF document").
type Kind string

// The kinds that can be read.
const (
	KindHTML      Kind = "HTML"
	KindXHTML     Kind = "XHTML"
	KindMarkdown  Kind = "Markdown"
	KindJSON      Kind = "JSON"
	KindJSONLines Kind = "JSON lines"
	KindXML       Kind = "XML"
	KindFeed      Kind = "feed"
	KindCSV       Kind = "CSV"
	KindTSV       Kind = "TSV"
	KindPlain     Kind = "plain text"
	KindCode      Kind = "source code"
)

// The kinds that cannot be read.
const (
	KindPDF        Kind = "PDF document"
	KindPostScript Kind = "PostScript document"
	KindPNG        Kind = "PNG image"
	KindJPEG       Kind = "JPEG image"
	KindGIF        Kind = "GIF image"
	KindWebP       Kind = "WebP image"
	KindSVG        Kind = "SVG image"
	KindImage      Kind = "image"
	KindAudio      Kind = "audio file"
	KindVideo      Kind = "video file"
	KindMedia      Kind = "audio or video file"
	KindFont       Kind = "font"
	KindZIP        Kind = "ZIP archive"
	KindGzip       Kind = "gzip archive"
	KindArchive    Kind = "archive"
	KindOffice     Kind = "office document"
	KindEPUB       Kind = "EPUB book"
	KindRTF        Kind = "RTF document"
	KindWasm       Kind = "WebAssembly module"
	KindProgram    Kind = "executable program"
	KindSQLite     Kind = "SQLite database"
	KindMultipart  Kind = "multipart message"
	KindBinary     Kind = "binary file"
)

// Readable reports whether package blocks or Convert can make text of the kind.
func (k Kind) Readable() bool {
	switch k {
	case KindHTML, KindXHTML, KindMarkdown, KindJSON, KindJSONLines, KindXML, KindFeed, KindCSV, KindTSV, KindPlain, KindCode:
		return true
	}
	return false
}

// Name is the kind as a message says it.
func (k Kind) Name() string { return string(k) }

// MediaType is the media type of a kind that can be read, for an answer that states none.
func (k Kind) MediaType() string {
	switch k {
	case KindHTML:
		return "text/html"
	case KindXHTML:
		return "application/xhtml+xml"
	case KindMarkdown:
		return "text/markdown"
	case KindJSON:
		return "application/json"
	case KindJSONLines:
		return "application/x-ndjson"
	case KindXML, KindFeed:
		return "application/xml"
	case KindCSV:
		return "text/csv"
	case KindTSV:
		return "text/tab-separated-values"
	}
	return "text/plain"
}

// sniffBytes is how much of a body is searched for the first element and for binary bytes.
const sniffBytes = 8 << 10

// Classify says what body is, and whether it can be read. MediaType is lower-case without parameters.
//
// What a server states stands, with these exceptions. A body that opens as a PDF, image, archive or the like
// is that, whatever the label says; but under a label of text a compressed stream is left to the caller, as
// it is an encoding fault and no document. A whole HTML page labelled Markdown, CSV, JSON, XML or feed is
// HTML; a feed labelled HTML or XML is a feed. A missing or generic type is sniffed. Of text/plain, and of text found
// by sniffing, only the forms that collapsed white space would harm are told apart: JSON, XML and HTML source, and
// source by its layout, which stay source, and Markdown, which hosts of source code label so.
func Classify(mediaType string, body []byte) (Kind, bool) {
	k := classify(strings.TrimSpace(mediaType), body)
	return k, k.Readable()
}

func classify(mediaType string, body []byte) Kind {
	stated := labelled(mediaType)
	magic := signature(body)
	if magic != "" {
		compressed := magic == KindGzip || magic == KindArchive
		if stated == "" || !stated.Readable() || !compressed {
			return magic
		}
	}
	head := asciiHead(body)
	switch stated {
	case "":
		return sniff(body, head)
	case KindHTML:
		if xmlDeclared(head) || hasPrefixFold(head, "<rss") || hasPrefixFold(head, "<feed") || hasPrefixFold(head, "<rdf:rdf") {
			if rootKind(head) == KindFeed {
				return KindFeed
			}
		}
	case KindMarkdown, KindCSV, KindTSV, KindJSON, KindJSONLines:
		if isHTMLPage(head) {
			return KindHTML
		}
	case KindXML, KindFeed:
		if kind := rootKind(head); kind != "" {
			return kind
		}
		// The root lies beyond the head, or there is none: a feed without a known root is just XML.
		return KindXML
	case KindPlain:
		if mediaType == "text/plain" {
			return sniffPlain(body, head)
		}
	}
	return stated
}

// labelled is the kind a media type states, "" when it states nothing.
func labelled(mediaType string) Kind {
	switch mediaType {
	case "", "application/octet-stream", "binary/octet-stream", "application/unknown", "unknown/unknown", "*/*",
		"application/x-unknown", "application/force-download", "application/download", "application/x-download",
		"content/unknown":
		return ""
	case "text/html", "application/html", "text/x-server-parsed-html", "application/vnd.wap.xhtml+xml":
		return KindHTML
	case "application/xhtml+xml":
		return KindXHTML
	case "text/markdown", "text/x-markdown", "application/markdown", "application/x-markdown", "text/vnd.daringfireball.markdown",
		"text/x-web-markdown", "text/md", "text/x-gfm":
		return KindMarkdown
	case "application/json", "text/json", "application/x-json", "text/x-json":
		return KindJSON
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonl", "application/jsonlines",
		"application/x-jsonlines", "application/jsonlines+json", "application/json-seq", "application/json-lines", "text/x-ndjson",
		"text/jsonl", "text/x-jsonl", "text/ndjson", "application/json-l", "application/x-json-stream", "application/stream+json":
		return KindJSONLines
	case "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/x-rss+xml", "application/x-rss",
		"text/rss+xml", "text/atom+xml", "text/rss", "application/rss", "application/atom", "text/rdf+xml":
		return KindFeed
	case "application/xml", "text/xml", "application/x-xml", "application/xml-dtd", "application/xml-external-parsed-entity",
		"text/xml-external-parsed-entity":
		return KindXML
	case "text/csv", "application/csv", "text/x-csv", "application/x-csv", "text/comma-separated-values", "text/x-comma-separated-values":
		return KindCSV
	case "text/tab-separated-values", "text/tsv", "text/x-tsv":
		return KindTSV
	case "text/rtf", "application/rtf", "text/richtext", "application/x-rtf":
		return KindRTF
	case "application/pdf", "application/x-pdf", "text/pdf":
		return KindPDF
	case "application/postscript":
		return KindPostScript
	case "image/svg+xml":
		return KindSVG
	case "image/png":
		return KindPNG
	case "image/jpeg", "image/jpg", "image/pjpeg":
		return KindJPEG
	case "image/gif":
		return KindGIF
	case "image/webp":
		return KindWebP
	case "application/zip", "application/x-zip", "application/x-zip-compressed":
		return KindZIP
	case "application/gzip", "application/x-gzip", "application/x-tgz":
		return KindGzip
	case "application/x-tar", "application/x-bzip2", "application/x-bzip", "application/x-xz", "application/zstd", "application/x-zstd",
		"application/x-7z-compressed", "application/vnd.rar", "application/x-rar-compressed", "application/x-rar", "application/java-archive",
		"application/x-compress", "application/x-lzip", "application/vnd.android.package-archive", "application/x-debian-package",
		"application/vnd.debian.binary-package", "application/x-rpm", "application/x-iso9660-image", "application/x-apple-diskimage":
		return KindArchive
	case "application/wasm":
		return KindWasm
	case "application/epub+zip":
		return KindEPUB
	case "application/msword", "application/x-msword":
		return KindOffice
	case "application/x-sqlite3", "application/vnd.sqlite3":
		return KindSQLite
	case "application/x-msdownload", "application/x-executable", "application/x-sharedlib", "application/x-mach-binary",
		"application/vnd.microsoft.portable-executable", "application/x-elf", "application/x-dosexec":
		return KindProgram
	case "application/vnd.ms-fontobject":
		return KindFont
	case "application/ogg", "application/vnd.apple.mpegurl", "application/x-mpegurl", "application/mp4", "application/x-shockwave-flash":
		return KindMedia
	}
	top, sub, _ := strings.Cut(mediaType, "/")
	switch {
	case top == "image":
		return KindImage
	case top == "audio":
		return KindAudio
	case top == "video":
		return KindVideo
	case top == "font" || strings.HasPrefix(sub, "font-") || strings.HasPrefix(sub, "x-font"):
		return KindFont
	case top == "multipart":
		return KindMultipart
	case top == "model":
		return KindBinary
	case strings.HasSuffix(sub, "+json"):
		return KindJSON
	case strings.HasSuffix(sub, "+xml"):
		return KindXML
	case strings.HasSuffix(sub, "+zip"):
		return KindZIP
	case strings.HasSuffix(sub, "+gzip"):
		return KindGzip
	case top == "application" && (strings.HasPrefix(sub, "vnd.openxmlformats-officedocument.") || strings.HasPrefix(sub, "vnd.oasis.opendocument.") ||
		strings.HasPrefix(sub, "vnd.ms-") || strings.HasPrefix(sub, "msword") || strings.HasPrefix(sub, "vnd.apple.")):
		return KindOffice
	case languageOf(mediaType) != "":
		return KindCode
	case top == "text" || top == "message":
		return KindPlain
	}
	// Some type nobody has a reader for. Its name says nothing about whether it is text, so the body decides.
	return ""
}

// signature names a body by its first bytes, or returns "". Only signatures that no text begins with count.
func signature(body []byte) Kind {
	has := func(s string) bool { return len(body) >= len(s) && string(body[:len(s)]) == s }
	at := func(i int, s string) bool { return len(body) >= i+len(s) && string(body[i:i+len(s)]) == s }
	switch {
	case has("\x89PNG\r\n\x1a\n"):
		return KindPNG
	case has("\xff\xd8\xff"):
		return KindJPEG
	case (has("GIF87a") || has("GIF89a")) && binaryBytes(body):
		return KindGIF
	case has("RIFF") && at(8, "WEBP"):
		return KindWebP
	case has("RIFF") && at(8, "WAVE"):
		return KindAudio
	case has("RIFF") && at(8, "AVI "):
		return KindVideo
	case at(4, "ftyp") && len(body) > 0 && body[0] == 0:
		if at(8, "avif") || at(8, "heic") || at(8, "mif1") || at(8, "heix") {
			return KindImage
		}
		return KindMedia
	case has("PK\x03\x04"), has("PK\x05\x06\x00"):
		return zipKind(body)
	case has("\x1f\x8b\x08"):
		return KindGzip
	case has("\x28\xb5\x2f\xfd"), has("\xfd7zXZ\x00"), has("BZh") && at(4, "1AY&SY"), has("7z\xbc\xaf\x27\x1c"), has("Rar!\x1a\x07"),
		at(257, "ustar\x00"), at(257, "ustar  \x00"):
		return KindArchive
	case has("\x00asm"):
		return KindWasm
	case has("wOFF") && binaryBytes(body), has("wOF2") && binaryBytes(body), has("OTTO\x00"), has("\x00\x01\x00\x00\x00"), has("ttcf\x00"):
		return KindFont
	case has("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
		return KindOffice
	case has("{\\rtf1"):
		return KindRTF
	case has("\x7fELF"), has("MZ") && binaryBytes(body), has("\xcf\xfa\xed\xfe"), has("\xca\xfe\xba\xbe"):
		return KindProgram
	case has("SQLite format 3\x00"):
		return KindSQLite
	case has("ID3") && binaryBytes(body), has("OggS\x00"), has("fLaC\x00"), has("\x1aE\xdf\xa3"), has("FLV\x01"),
		has("\x00\x00\x01\xba"), has("\x00\x00\x01\xb3"):
		return KindMedia
	case has("BM") && at(6, "\x00\x00\x00\x00"), has("\x00\x00\x01\x00"), has("II*\x00"), has("MM\x00*"), has("8BPS\x00"):
		return KindImage
	case has("%!PS-Adobe"):
		return KindPostScript
	}
	// Readers accept a PDF whose header stands behind some junk, so servers send such files. Behind text the
	// header does not count: an article may mention one.
	head := body[:min(len(body), 1<<10)]
	if i := bytes.Index(head, []byte("%PDF-")); i == 0 || i > 0 && (blank(string(head[:i])) || binaryBytes(head[:i])) {
		return KindPDF
	}
	return ""
}

// zipKind tells apart the formats that are ZIP archives inside, by the name of the first members.
func zipKind(body []byte) Kind {
	head := body[:min(len(body), 4<<10)]
	switch {
	case bytes.Contains(head, []byte("mimetypeapplication/epub+zip")):
		return KindEPUB
	case bytes.Contains(head, []byte("mimetypeapplication/vnd.oasis.opendocument")),
		bytes.Contains(head, []byte("[Content_Types].xml")), bytes.Contains(head, []byte("_rels/.rels")):
		return KindOffice
	}
	return KindZIP
}

// binaryBytes reports whether the head of body holds bytes that text does not, as the MIME Sniffing standard
// lists them.
func binaryBytes(body []byte) bool {
	for _, c := range body[:min(len(body), sniffBytes)] {
		if c <= 0x08 || c == 0x0B || c >= 0x0E && c <= 0x1A || c >= 0x1C && c <= 0x1F {
			return true
		}
	}
	return false
}

// wide reports whether a byte-order mark says UTF-16, whose ASCII is full of zero bytes.
func wide(body []byte) bool {
	return bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xfe\xff"))
}

// asciiHead is the start of body as far as sniffing needs it: without byte-order mark, and narrowed when it
// is UTF-16, so that markup can be compared with ASCII.
func asciiHead(body []byte) string {
	head := body[:min(len(body), sniffBytes)]
	if wide(head) {
		return strings.ReplaceAll(string(head[2:]), "\x00", "")
	}
	return string(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
}

// sniff judges a body that comes without a useful label.
func sniff(body []byte, head string) Kind {
	if binaryBytes(body) && !wide(body) {
		return KindBinary
	}
	switch {
	case xmlDeclared(head), hasPrefixFold(head, "<rss"), hasPrefixFold(head, "<feed"), hasPrefixFold(head, "<rdf:rdf"):
		if kind := rootKind(head); kind != "" {
			return kind
		}
		return KindXML
	case startsAsHTML(head):
		return KindHTML
	case isJSON(string(body)):
		return KindJSON
	case isJSONLines(string(body)):
		return KindJSONLines
	case !wide(body):
		return layoutKind(head)
	}
	return KindPlain
}

// sniffPlain judges text/plain. The label is believed, as hosts of source code use it for every file: HTML
// under it is source, not a page. It is only looked at for text that would be harmed by collapsing.
func sniffPlain(body []byte, head string) Kind {
	switch {
	case xmlDeclared(head):
		return KindXML
	case isHTMLPage(head):
		return KindCode
	case isJSON(string(body)):
		return KindJSON
	case isJSONLines(string(body)):
		return KindJSONLines
	case !wide(body):
		return layoutKind(head)
	}
	return KindPlain
}

// hasPrefixFold reports whether s begins, after white space, with the ASCII prefix in any case, and the name
// in it ends there.
func hasPrefixFold(s, prefix string) bool {
	s = strings.TrimLeft(s, " \t\r\n\f")
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return false
	}
	return len(s) == len(prefix) || strings.IndexByte(" \t\r\n\f>/", s[len(prefix)]) >= 0
}

func xmlDeclared(head string) bool { return hasPrefixFold(head, "<?xml") }

// skipProlog drops white space, comments and an XML declaration.
func skipProlog(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n\f")
		closer := ""
		switch {
		case strings.HasPrefix(s, "<!--"):
			closer = "-->"
		case strings.HasPrefix(s, "<?"):
			closer = ">"
		default:
			return s
		}
		_, rest, found := strings.Cut(s, closer)
		if !found {
			return ""
		}
		s = rest
	}
}

// isHTMLPage reports whether head opens a whole page, not just a fragment: Markdown files often begin with
// <h1> or <div>.
func isHTMLPage(head string) bool {
	s := skipProlog(head)
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body", "<title", "<meta"} {
		if hasPrefixFold(s, tag) {
			return true
		}
	}
	return false
}

// startsAsHTML is the test of the MIME Sniffing standard for bodies without a type, and some elements more.
func startsAsHTML(head string) bool {
	if isHTMLPage(head) || strings.HasPrefix(strings.TrimLeft(head, " \t\r\n\f"), "<!--") {
		return true
	}
	for _, tag := range []string{"<script", "<iframe", "<h1", "<h2", "<div", "<font", "<table", "<a", "<style", "<b", "<br", "<p",
		"<link", "<main", "<article", "<section", "<header", "<nav", "<ul", "<ol", "<span", "<center"} {
		if hasPrefixFold(head, tag) {
			return true
		}
	}
	return false
}

// rootKind is the kind that the root element in the head of an XML document gives it, "" when no root is found.
func rootKind(head string) Kind {
	z := html.NewTokenizer(strings.NewReader(head))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.DoctypeToken:
			if hasPrefixFold(string(z.Text()), "html") {
				return KindXHTML
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			local := string(name)
			if _, after, ok := strings.Cut(local, ":"); ok {
				local = after
			}
			switch local {
			case "rss", "feed":
				return KindFeed
			case "rdf":
				// RDF is any kind of data; a feed is the part of it that speaks RSS.
				if strings.Contains(head, "purl.org/rss/") || strings.Contains(head, "my.netscape.com/rdf") || strings.Contains(head, "channel.netscape.com") {
					return KindFeed
				}
			case "html":
				return KindXHTML
			}
			return KindXML
		}
	}
}
