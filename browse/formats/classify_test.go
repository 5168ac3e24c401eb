package formats

import (
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	page := "<!doctype html><html><body><nav>x</nav><p>real</p>"
	gz := "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03KL\x06\x00"
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	for _, c := range []struct {
		name, mediaType, body string
		want                  Kind
	}{
		// What is stated stands.
		{"html", "text/html", "<p>x", KindHTML},
		{"html that looks like text", "text/html", "plain words", KindHTML},
		{"html that looks like JSON", "text/html", `{"a":1}`, KindHTML},
		{"xhtml", "application/xhtml+xml", "<html/>", KindXHTML},
		{"plain", "text/plain", "a\n\nb", KindPlain},
		{"plain that is Markdown", "text/plain", "# a\n\n- b", KindPlain},
		{"plain Markdown of several forms", "text/plain", "# a\n\ntext with [a link](https://ex.org/)\n\n- b\n- c\n", KindMarkdown},
		{"plain Markdown with a table", "text/plain", "## a\n\n| b | c |\n| --- | --- |\n| 1 | 2 |\n", KindMarkdown},
		{"plain source with comments", "text/plain", "# copies\n# pastes\ndef f(x):\n    if x:\n        return [x]\n    return f(1)\n", KindCode},
		{"plain source with tabs", "text/plain", "func f() {\n\tg()\n\th()\n\ti()\n}\n", KindCode},
		{"plain settings with comments", "text/plain", "# one\n# two\nkey=1\n", KindCode},
		{"plain comments alone", "text/plain", "# one\n# two\n", KindPlain},
		{"plain prose with an indented line", "text/plain", "One.\n  Two.\nThree.\nFour.\n", KindPlain},
		{"plain Ansible", "text/plain", "---\n# Set up\n# the hosts\n- name: one\n  apt:\n    name: nginx\n- name: two\n  copy:\n    src: a\n", KindCode},
		{"plain Python that links", "text/plain", "# See [docs](https://ex.org/)\n# - one\n\nimport os\n\nprint(os.name)\nx = 1\n", KindCode},
		{"plain SQL", "text/plain", "# setup\n/*\n* one\n* two\n*/\nCREATE TABLE t (a int);\nINSERT INTO t VALUES (1);\n", KindCode},
		{"plain Python with a table", "text/plain", "# tables\nT = \"\"\"\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\"\"\"\nprint(T)\n", KindCode},
		{"plain shell script", "text/plain", "#!/bin/sh\nset -e\n\nmake all\nmake install\n", KindCode},
		{"plain environment", "text/plain", "# db\nDB_HOST=localhost\nDB_PORT=5432\n\nexport KEY=x\n", KindCode},
		{"plain INI", "text/plain", "[core]\nname = a\n\n[remote \"b\"]\nurl = c\n", KindCode},
		{"plain Dockerfile", "text/plain", "FROM alpine:3\n\nRUN apk add curl\nCOPY . /app\n\nCMD [\"run\"]\n", KindCode},
		{"plain JSON lines", "text/plain", "{\"a\":1}\n{\"a\":2}\n", KindJSONLines},
		{"plain log", "text/plain", "2024-05-01T10:00:00Z start of it\n2024-05-01T10:00:01Z a\n2024-05-01T10:00:02Z b\n", KindCode},
		{"plain access log", "text/plain", "10.0.0.1 - - [01/May/2024] \"GET / HTTP/1.1\" 200\n10.0.0.2 - - [01/May/2024] \"GET /a HTTP/1.1\" 404\n", KindCode},
		{"plain diff", "text/plain", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n", KindCode},
		{"plain mail with a patch", "text/plain", "Dear all,\n\nhere it is.\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n", KindCode},
		{"plain verse", "text/plain", "Rain falls\non the roof\nall day\nand night\n\nthen stops\n", KindPlain},
		{"plain change log", "text/plain", "Version 2\n\n* one thing\n* another\n\nVersion 1\n\n* the first\n", KindPlain},
		{"plain prose that is indented", "text/plain", strings.Repeat("   The quick brown fox jumps over the lazy dog and then it\n   turns around, looks at the dog, and jumps over it again\n   until both of them have had enough of all this.\n\n", 3), KindPlain},
		{"plain prose with a call", "text/plain", strings.Repeat("The quick brown fox jumps over the lazy dog and then it\nturns around, looks at the dog, and jumps over it again;\nuntil both of them have had enough of all this.\n\n", 3) + "f(x)\n", KindPlain},
		{"plain Markdown with code", "text/plain", "# a\n\nSome text.\n\n```go\nfunc f() {\n\tg()\n\th()\n}\n```\n\n- one\n  - two\n  - three\n- four\n", KindMarkdown},
		{"plain Markdown with HTML", "text/plain", "# a\n\n<p>\n  <img src=a>\n  <img src=b>\n  <img src=c>\n</p>\n\n## b\n\nSee [c](https://ex.org/c).\n\nSee [d](https://ex.org/d).\n\nText.\n", KindMarkdown},
		{"nothing: Markdown", "", "# a\n\ntext with [a link](https://ex.org/)\n\n- b\n- c\n", KindMarkdown},
		{"octets: source", "application/octet-stream", "func f() {\n\tg()\n\th()\n\ti()\n}\n", KindCode},
		{"unknown: settings", "application/x-unknown", "A=1\nB=2\nC=3\n", KindCode},
		{"plain UTF-16", "text/plain", "\xff\xfe \x00 \x00a\x00\n\x00 \x00 \x00b\x00\n\x00 \x00 \x00c\x00", KindPlain},
		{"plain fragment of HTML", "text/plain", "<p>a</p>", KindPlain},
		{"unknown text", "text/vtt", "WEBVTT", KindPlain},
		{"calendar", "text/calendar", "BEGIN:VCALENDAR", KindPlain},
		{"problem JSON", "application/problem+json", `{"title":"no"}`, KindJSON},
		{"broken JSON", "application/json", `{`, KindJSON},
		{"text/json", "text/json", `1`, KindJSON},
		{"JSON lines", "application/x-ndjson", `{}`, KindJSONLines},
		{"xml", "application/xml", "<a/>", KindXML},
		{"xml suffix", "application/mathml+xml", "<math/>", KindXML},
		{"csv", "text/csv", "a,b", KindCSV},
		{"tsv", "text/tab-separated-values", "a\tb", KindTSV},
		{"javascript", "application/javascript", "f()", KindCode},
		{"css", "text/css", "a{}", KindCode},
		{"yaml", "application/yaml", "a: b", KindCode},
		{"openapi", "application/vnd.oai.openapi+yaml", "a: b", KindCode},
		{"toml", "application/toml", "a = 1", KindCode},
		{"python", "text/x-python", "pass", KindCode},
		{"unheard-of language", "text/x-zig", "fn", KindCode},
		{"markdown", "text/markdown", "# a", KindMarkdown},

		// HTML under a wrong label.
		{"markdown: page", "text/markdown", page, KindHTML},
		{"markdown: upper case", "text/markdown", "\n\t<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">", KindHTML},
		{"markdown: html element", "text/markdown", `<html lang="en">`, KindHTML},
		{"markdown: comment first", "text/markdown", "<!-- a > b --> <!-- c -->\n<html>", KindHTML},
		{"markdown: byte-order mark", "text/markdown", "\xef\xbb\xbf<!doctype html>", KindHTML},
		{"markdown: xhtml", "text/markdown", `<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html>`, KindHTML},
		{"markdown: body", "text/x-markdown", "<body>x", KindHTML},
		{"markdown: UTF-16", "text/markdown", "\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00", KindHTML},
		{"markdown: fragment stays", "text/markdown", "<h1 align=center>x</h1>\n\n# y", KindMarkdown},
		{"markdown: longer name stays", "text/markdown", "<htmlx>", KindMarkdown},
		{"markdown: page in a fence stays", "text/markdown", "```\n<!doctype html>\n```", KindMarkdown},
		{"markdown: page told of stays", "text/markdown", "Use <html> here", KindMarkdown},
		{"json: page", "application/json", page, KindHTML},
		{"csv: page", "text/csv", page, KindHTML},
		{"xml: page", "application/xml", page, KindXHTML},
		{"plain: page is source", "text/plain", page, KindCode},

		// Feeds by type and by root.
		{"rss", "application/rss+xml", `<?xml version="1.0"?><rss version="2.0">`, KindFeed},
		{"atom as xml", "text/xml", `<!-- c --><feed xmlns="http://www.w3.org/2005/Atom">`, KindFeed},
		{"atom with a prefix", "application/xml", `<atom:feed xmlns:atom="http://www.w3.org/2005/Atom">`, KindFeed},
		{"rss as html", "text/html", "<?xml version='1.0'?>\n<rss>", KindFeed},
		{"rss 1.0", "application/xml", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">`, KindFeed},
		{"rdf that is no feed", "application/rdf+xml", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">`, KindXML},
		{"rss label on something else", "application/rss+xml", `<opml/>`, KindXML},
		{"xhtml as html stays", "text/html", `<?xml version="1.0"?><html>`, KindHTML},
		{"xhtml as xml", "application/xml", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">`, KindXHTML},

		// No label, or one that says nothing.
		{"nothing: page", "", page, KindHTML},
		{"nothing: fragment", "application/octet-stream", "  <p>a", KindHTML},
		{"nothing: comment", "", "<!-- a --><p>b", KindHTML},
		{"nothing: json", "application/octet-stream", ` {"a": [1]} `, KindJSON},
		{"nothing: braces", "", "{not json}", KindPlain},
		{"nothing: json lines", "binary/octet-stream", "{\"a\":1}\n{\"a\":2}\n", KindJSONLines},
		{"nothing: xml", "", `<?xml version="1.0"?><a/>`, KindXML},
		{"nothing: feed", "", "<rss><channel>", KindFeed},
		{"nothing: xhtml", "", `<?xml version="1.0"?><!DOCTYPE html><html>`, KindXHTML},
		{"nothing: text", "", "hello", KindPlain},
		{"nothing: latin-1 text", "", "caf\xe9", KindPlain},
		{"nothing: UTF-16 page", "", "\xfe\xff\x00<\x00h\x00t\x00m\x00l\x00>", KindHTML},
		{"nothing: UTF-16 text", "", "\xff\xfeh\x00i\x00", KindPlain},
		{"nothing: empty", "", "", KindPlain},
		{"nothing: binary", "", "ab\x00\x01\x02", KindBinary},
		{"foreign type: text", "application/x-bibtex", "@book{x}", KindPlain},
		{"foreign type: binary", "application/x-blob", "\x00\x01", KindBinary},
		{"plain: json", "text/plain", "[1,\n 2]", KindJSON},
		{"plain: xml", "text/plain", "<?xml version=\"1.0\"?>\n<rss/>", KindXML},
		{"plain: a number is text", "text/plain", "42", KindPlain},

		// What cannot be read, by label and by its bytes.
		{"pdf", "application/pdf", "%PDF-1.7\n", KindPDF},
		{"pdf label on text", "application/pdf", "hello", KindPDF},
		{"pdf as html", "text/html", "%PDF-1.4\n%\xe2\xe3", KindPDF},
		{"pdf as text", "text/plain", "%PDF-1.4\n", KindPDF},
		{"pdf as octets", "application/octet-stream", "%PDF-1.4\n", KindPDF},
		{"pdf behind junk", "", "\r\n\r\n%PDF-1.4\n", KindPDF},
		{"pdf told of", "text/plain", "A file begins with %PDF-1.4", KindPlain},
		{"png as html", "text/html", png, KindPNG},
		{"png as jpeg", "image/jpeg", png, KindPNG},
		{"jpeg", "image/jpeg", "", KindJPEG},
		{"gif", "", "GIF89a\x01\x00\x01\x00", KindGIF},
		{"gif told of", "text/plain", "GIF89a is a format", KindPlain},
		{"webp", "", "RIFF\x00\x00\x00\x00WEBPVP8 ", KindWebP},
		{"svg", "image/svg+xml", "<svg/>", KindSVG},
		{"avif", "image/avif", "", KindImage},
		{"audio", "audio/mpeg", "ID3\x04\x00", KindMedia},
		{"audio without bytes", "audio/mpeg", "", KindAudio},
		{"video", "video/mp4", "\x00\x00\x00\x18ftypmp42", KindMedia},
		{"zip", "application/zip", "PK\x03\x04", KindZIP},
		{"docx", "application/octet-stream", "PK\x03\x04\x14\x00\x06\x00[Content_Types].xml", KindOffice},
		{"docx by label", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "", KindOffice},
		{"epub", "application/epub+zip", "PK\x03\x04" + strings.Repeat("\x00", 26) + "mimetypeapplication/epub+zip", KindEPUB},
		{"doc", "application/msword", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", KindOffice},
		{"gzip", "application/gzip", gz, KindGzip},
		{"gzip as octets", "application/octet-stream", gz, KindGzip},
		{"tar", "", strings.Repeat("a", 257) + "ustar\x0000", KindArchive},
		{"font", "font/woff2", "wOF2\x00\x01", KindFont},
		{"wasm", "application/wasm", "\x00asm\x01", KindWasm},
		{"rtf", "text/rtf", "{\\rtf1", KindRTF},
		{"elf", "", "\x7fELF\x02", KindProgram},
		{"multipart", "multipart/x-mixed-replace", "", KindMultipart},

		// Compressed text that nobody announced as compressed is the caller's to report as undecodable.
		{"gzip as html", "text/html", gz, KindHTML},
		{"gzip as plain", "text/plain", gz, KindPlain},
		{"zstd as html", "text/html", "\x28\xb5\x2f\xfd\x04", KindHTML},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Classify(c.mediaType, []byte(c.body))
			if got != c.want || ok != c.want.Readable() {
				t.Errorf("Classify(%q, %q) = %q, %v, want %q, %v", c.mediaType, c.body, got, ok, c.want, c.want.Readable())
			}
		})
	}
}

func TestLanguage(t *testing.T) {
	for _, c := range []struct{ mediaType, text, want string }{
		{"application/javascript", "", "javascript"},
		{"text/x-python", "", "python"},
		{"text/x-go", "", "go"},
		{"text/x-csrc", "", "c"},
		{"text/x-zig", "", "zig"},
		{"text/x-a`b", "", ""},
		{"text/plain", "<!doctype html>", "html"},
		{"text/plain", "x", ""},
	} {
		if got := Language(c.mediaType, c.text); got != c.want {
			t.Errorf("Language(%q, %q) = %q, want %q", c.mediaType, c.text, got, c.want)
		}
	}
}
