package charset

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/htmlindex"
)

// encode writes text in an encoding as pages do.
func encode(t testing.TB, name, text string) string {
	t.Helper()
	enc, err := htmlindex.Get(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	b, err := enc.NewEncoder().String(text)
	if err != nil {
		t.Fatalf("%s cannot write the text: %v", name, err)
	}
	return b
}

// decoded is a Result that compares and prints as text.
type decoded struct {
	Text, Name string
	Warnings   []string
}

func decode(body, contentType string, kind Kind) decoded {
	r := Decode([]byte(body), contentType, kind)
	return decoded{string(r.Text), r.Name, r.Warnings}
}

type decodeCase struct {
	name        string
	body        string
	contentType string
	kind        Kind
	want        decoded
}

func run(t *testing.T, cases []decodeCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(decode(tc.body, tc.contentType, tc.kind), tc.want); diff != "" {
				t.Errorf("Decode(%q, %q) (-got +want):\n%s", tc.body, tc.contentType, diff)
			}
		})
	}
}

func TestReportedCases(t *testing.T) {
	run(t, []decodeCase{
		{"C8 meta Shift_JIS", "<meta charset=\"Shift_JIS\">\x93\xFA\x96\x7B", "text/html", HTML, decoded{`<meta charset="Shift_JIS">日本`, "shift_jis", nil}},
		{"C9 header gbk", "\xC4\xE3\xBA\xC3", "text/plain; charset=gbk", Plain, decoded{"你好", "gbk", nil}},
		{"C10 gb2312 reads what only GBK has", "\x81\x40", "text/plain; charset=gb2312", Plain, decoded{"丂", "gbk", nil}},
		{"C10 and what only GB18030 has", "\x81\x39\xEE\x39", "text/plain; charset=gb2312", Plain, decoded{"\u3400", "gbk", nil}},
		{"C11 undeclared UTF-8", "<p>café 東京</p>", "text/html", HTML, decoded{"<p>café 東京</p>", "utf-8", nil}},
		{"C11 without any header", "café 東京", "", Plain, decoded{"café 東京", "utf-8", nil}},
		{"127", "\x82\xA0\x82", "text/plain; charset=shift_jis", Plain, decoded{"あ\uFFFD", "shift_jis", []string{WarnDecodeError}}},
		{"128 no text encoding", "caf\xE9", "text/plain; charset=base64_codec", Plain, decoded{"caf\uFFFD", "utf-8", []string{WarnUnsupported}}},
		{"128 unknown", "caf\xE9", "text/html; charset=not-a-real-codec", HTML, decoded{"caf\uFFFD", "utf-8", []string{WarnUnsupported}}},
		{"128 unknown, valid UTF-8", "café", "text/html; charset=not-a-real-codec", HTML, decoded{"café", "utf-8", []string{WarnUnsupported}}},
		{"128 iso-8859-1", "caf\xE9", "text/html; charset=iso-8859-1", HTML, decoded{"café", "windows-1252", nil}},
		{"129", "ok", `text/plain; charset="bad name"`, Plain, decoded{"ok", "utf-8", []string{WarnMalformed}}},
		{"132 CJK and emoji", strings.Repeat("漢🎉", 400), "text/plain; charset=utf-8", Plain, decoded{strings.Repeat("漢🎉", 400), "utf-8", nil}},
		{
			"132 two bad bytes", strings.Repeat("café ", 200) + "\xFF\xFE", "text/html; charset=utf-8", HTML,
			decoded{strings.Repeat("café ", 200) + "\uFFFD\uFFFD", "utf-8", []string{WarnDecodeError}},
		},
		{
			"two bad bytes, undeclared", strings.Repeat("café ", 200) + "\xFF\xFE", "text/plain", Plain,
			decoded{strings.Repeat("café ", 200) + "\uFFFD\uFFFD", "utf-8", []string{WarnInvalidUTF8}},
		},
	})
}

func TestOrderOfDeclarations(t *testing.T) {
	run(t, []decodeCase{
		{"a mark beats header and meta", "\xEF\xBB\xBF<meta charset=gbk>é", "text/html; charset=iso-8859-1", HTML, decoded{"<meta charset=gbk>é", "utf-8", nil}},
		{"UTF-16 little-endian mark", "\xFF\xFEa\x00\xE9\x00", "text/html; charset=utf-8", HTML, decoded{"aé", "utf-16le", nil}},
		{"UTF-16 big-endian mark", "\xFE\xFF\x00a\x00\xE9", "text/plain", Plain, decoded{"aé", "utf-16be", nil}},
		{"odd byte after UTF-16", "\xFE\xFF\x00a\x00", "text/plain", Plain, decoded{"a\uFFFD", "utf-16be", []string{WarnDecodeError}}},
		{"a pair of surrogates", "\xFE\xFF\xD8\x3D\xDE\x00", "", Plain, decoded{"😀", "utf-16be", nil}},
		{"half a pair", "\xFE\xFF\xD8\x3D\x00a", "", Plain, decoded{"\uFFFDa", "utf-16be", []string{WarnDecodeError}}},
		{"broken after a mark", "\xEF\xBB\xBFa\xFF", "text/plain", Plain, decoded{"a\uFFFD", "utf-8", []string{WarnDecodeError}}},
		{"a mark and no more", "\xEF\xBB\xBF", "text/plain", Plain, decoded{"", "utf-8", nil}},
		{"three marks", "\xEF\xBB\xBF\xEF\xBB\xBF\xEF\xBB\xBFa", "text/plain", Plain, decoded{"a", "utf-8", nil}},
		{"mark of GB18030", "\x84\x31\x95\x33\xC4\xE3", "text/plain; charset=gb18030", Plain, decoded{"你", "gb18030", nil}},
		{"empty", "", "text/html", HTML, decoded{"", "utf-8", nil}},
		{"header beats meta", "<meta charset=utf-8>caf\xE9", "text/html; charset=iso-8859-1", HTML, decoded{"<meta charset=utf-8>café", "windows-1252", nil}},
		{"header beats a wrong meta", "<meta charset=iso-8859-1>café", "text/html; charset=utf-8", HTML, decoded{"<meta charset=iso-8859-1>café", "utf-8", nil}},
		{"meta when the header's is unknown", "<meta charset=windows-1251>\xEF\xF0", "text/html; charset=zz", HTML, decoded{"<meta charset=windows-1251>пр", "windows-1251", []string{WarnUnsupported}}},
		{"meta when the header's is malformed", "<meta charset=windows-1251>\xEF\xF0", "text/html; charset=", HTML, decoded{"<meta charset=windows-1251>пр", "windows-1251", []string{WarnMalformed}}},
		{"meta beats XML declaration in HTML", "<?xml version=\"1.0\" encoding=\"koi8-r\"?><meta charset=windows-1251>\xEF", "text/html", HTML, decoded{"<?xml version=\"1.0\" encoding=\"koi8-r\"?><meta charset=windows-1251>п", "windows-1251", nil}},
		{"XML declaration in XHTML", "<?xml version='1.0' encoding='koi8-r'?><p>\xF0", "application/xhtml+xml", HTML, decoded{"<?xml version='1.0' encoding='koi8-r'?><p>П", "koi8-r", nil}},
		{"XML declaration in XML", "<?xml version=\"1.0\" encoding = \"ISO-8859-2\" standalone='yes'?><p>\xB3", "application/xml", XML, decoded{"<?xml version=\"1.0\" encoding = \"ISO-8859-2\" standalone='yes'?><p>ł", "iso-8859-2", nil}},
		{"XML has no meta", "<x><meta charset='koi8-r'/>\xE9</x>", "application/xml", XML, decoded{"<x><meta charset='koi8-r'/>é</x>", "windows-1252", nil}},
		{"plain text has no meta", "<meta charset=koi8-r> \xE9", "text/plain", Plain, decoded{"<meta charset=koi8-r> é", "windows-1252", nil}},
		{"UTF-16 in an ASCII declaration", "<?xml version=\"1.0\" encoding=\"utf-16\"?><p>é", "application/xml", XML, decoded{"<?xml version=\"1.0\" encoding=\"utf-16\"?><p>é", "utf-8", nil}},
		{"broken in the declared meta encoding", "<meta charset=gbk>\xC4\xE3\xFF", "text/html", HTML, decoded{"<meta charset=gbk>你\uFFFD", "gbk", []string{WarnDecodeError}}},
		{"undeclared, a lone letter", "caf\xE9", "text/plain", Plain, decoded{"café", "windows-1252", nil}},
		{"a byte that windows-1252 leaves open", "caf\xE9 \x9D", "text/plain; charset=iso-8859-1", Plain, decoded{"café \uFFFD", "windows-1252", []string{WarnDecodeError}}},
		{"undeclared ASCII", "<p>plain</p>", "text/html", HTML, decoded{"<p>plain</p>", "utf-8", nil}},
		{"declared ASCII", "plain", "text/plain; charset=Shift-JIS", Plain, decoded{"plain", "shift_jis", nil}},
		{"a U+FFFD in the text is no damage", "a\uFFFDé", "text/plain; charset=utf-8", Plain, decoded{"a\uFFFDé", "utf-8", nil}},
		{"nor in GB18030", "\xC4\xE3\x84\x31\xA4\x37", "text/plain; charset=gb18030", Plain, decoded{"你\uFFFD", "gb18030", nil}},
	})
}

func TestMeta(t *testing.T) {
	script := "<script>" + strings.Repeat("var padding = 1;\n", 200) + `"<meta charset=koi8-r>"</script>`
	for _, tc := range []struct{ name, head, want string }{
		{"charset", `<meta charset="windows-1251">`, "windows-1251"},
		{"no quotes, upper case, slash", `<META CHARSET=WINDOWS-1251 />`, "windows-1251"},
		{"blanks around", "<meta charset=' \twindows-1251\n'>", "windows-1251"},
		{"http-equiv", `<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">`, "windows-1251"},
		{"http-equiv, other order", `<meta content='text/html;CHARSET = "windows-1251"' http-equiv=content-type>`, "windows-1251"},
		{"content ends at a semicolon", `<meta http-equiv=content-type content="charset=windows-1251;x">`, "windows-1251"},
		{"charset twice in the content", `<meta http-equiv=content-type content="charset; charset=windows-1251">`, "windows-1251"},
		{"quote that does not close", `<meta http-equiv=content-type content="charset='windows-1251">`, "windows-1252"},
		{"content without http-equiv", `<meta name=x content="charset=windows-1251">`, "windows-1252"},
		{"another http-equiv", `<meta http-equiv=refresh content="0; charset=windows-1251">`, "windows-1252"},
		{"charset attribute wins within the element", `<meta charset=windows-1251 http-equiv=content-type content="charset=koi8-r">`, "windows-1251"},
		{"first attribute counts", `<meta charset=windows-1251 charset=koi8-r>`, "windows-1251"},
		{"first element counts", `<meta charset=windows-1251><meta charset=koi8-r>`, "windows-1251"},
		{"unknown, then known", `<meta charset=zz><meta charset=windows-1251>`, "windows-1251"},
		{"in a comment", `<!-- <meta charset=koi8-r> --><meta charset=windows-1251>`, "windows-1251"},
		{"in a script, then late", script + `<meta charset=windows-1251>`, "windows-1251"},
		{"in a title", `<title><meta charset=koi8-r></title><meta charset=windows-1251>`, "windows-1251"},
		{"after 60,000 bytes", strings.Repeat("<link>", 10_000) + `<meta charset=windows-1251>`, "windows-1251"},
		{"after 64 KiB", strings.Repeat("<link>", 11_000) + `<meta charset=windows-1251>`, "windows-1252"},
		{"utf-16 means utf-8", `<meta charset=utf-16le>`, "utf-8"},
		{"x-user-defined means windows-1252", `<meta charset=x-user-defined>`, "windows-1252"},
		{"an attack's label", `<meta charset=hz-gb-2312><meta charset=windows-1251>`, "windows-1251"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// One letter: what it is, the declaration alone can say.
			got := decode(tc.head+"<p>\xE9</p>", "text/html", HTML)
			if got.Name != tc.want {
				t.Errorf("got %s, want %s", got.Name, tc.want)
			}
		})
	}
}

// What the bytes plainly are wins over a declaration that would lose text.
func TestContradictions(t *testing.T) {
	const chinese = "我们今天在这里学习中文。"
	const japanese = "これは日本語の文章です。"
	const russian = "Сегодня хорошая погода, и мы идём гулять."
	run(t, []decodeCase{
		{"header utf-8, body GBK", encode(t, "gbk", chinese), "text/plain; charset=utf-8", Plain, decoded{chinese, "gb18030", nil}},
		{"header utf-8, body Shift_JIS", encode(t, "shift_jis", japanese), "text/plain; charset=utf-8", Plain, decoded{japanese, "shift_jis", nil}},
		{"header utf-8, body windows-1251", encode(t, "windows-1251", russian), "text/plain; charset=utf-8", Plain, decoded{russian, "windows-1251", nil}},
		{
			"header utf-8, body German in windows-1252", encode(t, "windows-1252", "Schöne Grüße aus Köln, wo über die Straße Bäume blühen."), "text/plain; charset=utf-8", Plain,
			decoded{"Schöne Grüße aus Köln, wo über die Straße Bäume blühen.", "windows-1252", nil},
		},
		{"header utf-8, one foreign letter: the header stands", "caf\xE9", "text/plain; charset=utf-8", Plain, decoded{"caf\uFFFD", "utf-8", []string{WarnDecodeError}}},
		{"header utf-8, noise: the header stands", "\x80\x9F\xFF\xA5\x81\xD7\xFD\xF7\x90", "text/plain; charset=utf-8", Plain, decoded{strings.Repeat("\uFFFD", 9), "utf-8", []string{WarnDecodeError}}},
		{"header utf-8, meta gbk is right, however short", "<meta charset=gbk>\xB8\xDF", "text/html; charset=utf-8", HTML, decoded{"<meta charset=gbk>高", "gbk", nil}},
		{"header utf-8, meta iso-8859-1 proves nothing", "<meta charset=iso-8859-1>\xB8\xDF", "text/html; charset=utf-8", HTML, decoded{"<meta charset=iso-8859-1>\uFFFD\uFFFD", "utf-8", []string{WarnDecodeError}}},
		{"meta utf-8, body GBK", "<meta charset=utf-8>" + encode(t, "gbk", chinese), "text/html", HTML, decoded{"<meta charset=utf-8>" + chinese, "gb18030", nil}},
		{"header iso-8859-1, body UTF-8", "Crème brûlée à la carte", "text/html; charset=iso-8859-1", HTML, decoded{"Crème brûlée à la carte", "utf-8", nil}},
		{"header iso-8859-1, two pairs could be meant", "\xC3\xA9 \xC3\xA8", "text/html; charset=iso-8859-1", HTML, decoded{"Ã© Ã¨", "windows-1252", nil}},
		{"header windows-1251, body UTF-8", russian, "text/plain; charset=windows-1251", Plain, decoded{russian, "utf-8", nil}},
		{"header gb2312, body UTF-8", "<p>你好吗</p>", "text/html; charset=gb2312", HTML, decoded{"<p>你好吗</p>", "utf-8", nil}},
		{"header gb2312, body UTF-8 without an error in GBK", "你好世界你好世界", "text/html; charset=gb2312", HTML, decoded{"你好世界你好世界", "utf-8", nil}},
		{"header gbk, valid in both: the header stands", "\xC1\xAA\xCD\xA8", "text/plain; charset=gbk", Plain, decoded{"联通", "gbk", nil}},
		{"header shift_jis, body EUC-JP", encode(t, "euc-jp", japanese), "text/plain; charset=shift_jis", Plain, decoded{japanese, "euc-jp", nil}},
		{"header big5, a broken byte: the header stands", encode(t, "big5", "我們今天在這裡") + "\xFF", "text/plain; charset=big5", Plain, decoded{"我們今天在這裡\uFFFD", "big5", []string{WarnDecodeError}}},
		{"header iso-8859-2, letters of windows-1250", encode(t, "windows-1250", "Świąteczna zażyłość źródła święta"), "text/plain; charset=iso-8859-2", Plain, decoded{"Świąteczna zażyłość źródła święta", "windows-1250", nil}},
		{"header utf-16, body ASCII", "<!doctype html><p>plain</p>", "text/html; charset=utf-16", HTML, decoded{"<!doctype html><p>plain</p>", "utf-8", nil}},
		{"header utf-16, body UTF-16", "a\x00\xE9\x00", "text/plain; charset=utf-16", Plain, decoded{"aé", "utf-16le", nil}},
		{"header utf-16le, body big-endian", "\x00a\x00b\x00c\x00\xE9", "text/plain; charset=utf-16le", Plain, decoded{"abcé", "utf-16be", nil}},
		{"header utf-8, body UTF-16", "<\x00p\x00>\x00\xE9\x00", "text/html; charset=utf-8", HTML, decoded{"<p>é", "utf-16le", nil}},
		{"unknown label, plainly GBK", encode(t, "gbk", chinese), "text/plain; charset=zz", Plain, decoded{chinese, "gb18030", []string{WarnUnsupported}}},
	})
}

func TestHeaderCharset(t *testing.T) {
	type found struct {
		Label     string
		Malformed bool
	}
	long := func(head string, chars int) string {
		return head + strings.Repeat("x", chars-utf8.RuneCountInString(head))
	}
	for _, tc := range []struct {
		name, header string
		want         found
	}{
		{"none", "text/html", found{}},
		{"empty header", "", found{}},
		{"other parameters", `text/html; boundary="a;charset=b"; q=1;`, found{}},
		{"token", "text/html; charset=UTF-8", found{"UTF-8", false}},
		{"quoted", `text/html;charset="utf-8" ; q=1`, found{"utf-8", false}},
		{"escape in quotes", `text/html; charset="utf\-8"`, found{"utf-8", false}},
		{"name in any case, blanks", "text/html; \tCharSet = utf-8 ", found{"utf-8", false}},
		{"no media type", "; charset=utf-8", found{"utf-8", false}},
		{"every sign", "text/html; charset=aZ09._+-", found{"aZ09._+-", false}},
		{"40 chars", "text/html; charset=" + strings.Repeat("a", 40), found{strings.Repeat("a", 40), false}},
		{"41 chars", "text/html; charset=" + strings.Repeat("a", 41), found{"", true}},
		{"first a sign", "text/html; charset=-a", found{"", true}},
		{"colon", "text/html; charset=iso_8859-1:1987", found{"", true}},
		{"not ASCII", "text/html; charset=utf-8é", found{"", true}},
		{"blank within", `text/html; charset="bad name"`, found{"", true}},
		{"single quotes", "text/html; charset='utf-8'", found{"", true}},
		{"quote that does not close", `text/html; charset="utf-8`, found{"", true}},
		{"text after the quotes", `text/html; charset="utf-8"x`, found{"", true}},
		{"empty", "text/html; charset=", found{"", true}},
		{"empty quotes", `text/html; charset=""`, found{"", true}},
		{"no value", "text/html; charset", found{"", true}},
		{"no value, then more", "text/html; charset; q=1", found{"", true}},
		{"repeated", "text/html; charset=gbk; charset=gbk", found{"gbk", true}},
		{"repeated and different", "text/html; charset=gbk; charset=big5", found{"gbk", true}},
		{"malformed, then well-formed", "text/html; charset=; charset=gbk", found{"gbk", true}},
		{"well-formed, then malformed", `text/html; charset=gbk; charset="`, found{"gbk", true}},
		{"another parameter's name ends so", "text/html; xcharset=gbk", found{}},
		{"512 chars", long("text/html; charset=gbk; x=", 512), found{"gbk", false}},
		{"513 chars", long("text/html; charset=gbk; x=", 513), found{"gbk", true}},
		{"512 chars, more bytes", long("text/html; charset=gbk; x=éé", 512), found{"gbk", false}},
		{"charset after 512", long("text/html; x=", 600) + "; charset=gbk", found{"", true}},
		{"charset cut in two", long("text/html; x=", 496) + "; charset=windows-1251", found{"", true}},
		{"charset ends with the 512th", long("text/html; x=", 499) + "; charset=gb2; q=1", found{"gb2", true}},
		{"semicolon is the 512th", long("text/html; x=", 498) + ";charset=big5; q=1", found{"big5", true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got found
			got.Label, got.Malformed = headerCharset(tc.header)
			if diff := cmp.Diff(got, tc.want); diff != "" {
				t.Errorf("headerCharset(%q) (-got +want):\n%s", tc.header, diff)
			}
		})
	}
}

func TestMediaType(t *testing.T) {
	for _, tc := range []struct{ header, want string }{
		{"", ""},
		{";", ""},
		{"text/html", "text/html"},
		{" Text/HTML ;charset=utf-8", "text/html"},
		{"\tapplication/ld+json\t", "application/ld+json"},
		{"a/" + strings.Repeat("a", 600), "a/" + strings.Repeat("a", 510)},
		{"text/plain, text/html", "text/plain"},
		{", TEXT/html;q=1, text/plain", "text/html"},
		{"text/, */*, application/json", "application/json"},
		{"text/", ""},
		{"/html", ""},
		{"html", ""},
		{"text/html/x", ""},
		{"text /html", ""},
		{"text/<p>", ""},
		{";charset=utf-8", ""},
		{"*/*", ""},
		{strings.Repeat(" ", 512) + "text/html", ""},
	} {
		if got := MediaType(tc.header); got != tc.want {
			t.Errorf("MediaType(%q) = %q, want %q", tc.header, got, tc.want)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, tc := range []struct{ label, want string }{
		{"UTF-8", "utf-8"}, {"utf8", "utf-8"}, {"UTF8MB4", "utf-8"},
		{"latin1", "windows-1252"}, {"latin-1", "windows-1252"}, {"us-ascii", "windows-1252"}, {"ISO-8859-1", "windows-1252"},
		{"iso-8859-9", "windows-1254"}, {"iso-8859-15", "iso-8859-15"}, {"tis-620", "windows-874"},
		{"gb2312", "gbk"}, {"gbk", "gbk"}, {"cp936", "gbk"}, {"gb18030", "gb18030"}, {"big5-hkscs", "big5"},
		{"sjis", "shift_jis"}, {"windows-31j", "shift_jis"}, {"cp932", "shift_jis"}, {"eucjp", "euc-jp"},
		{"ks_c_5601-1987", "euc-kr"}, {"cp949", "euc-kr"}, {"koi8-r", "koi8-r"}, {"utf-16", "utf-16le"},
		{"x-user-defined", "windows-1252"},
		{"hz-gb-2312", ""}, {"iso-2022-kr", ""}, {"replacement", ""}, {"utf-7", ""}, {"base64", ""}, {"", ""},
	} {
		got, ok := lookup(tc.label)
		if got.name != tc.want || ok != (tc.want != "") {
			t.Errorf("lookup(%q) = %q, %v, want %q", tc.label, got.name, ok, tc.want)
		}
	}
}

func TestUndecodable(t *testing.T) {
	bad, ctl, ok := "\uFFFD", "\x01", "a"
	text := func(nBad, nCtl, nOK int) string {
		return strings.Repeat(bad, nBad) + strings.Repeat(ctl, nCtl) + strings.Repeat(ok, nOK)
	}
	decode := []string{WarnDecodeError}
	for _, tc := range []struct {
		name     string
		text     string
		warnings []string
		want     bool
	}{
		{"compressed bytes", text(200, 20, 380), decode, true},
		{"and undeclared", text(200, 20, 380), []string{WarnInvalidUTF8}, true},
		{"and unsupported", text(200, 20, 380), []string{WarnMalformed, WarnUnsupported}, true},
		{"no warning", text(200, 20, 380), nil, false},
		{"only the header was malformed", text(200, 20, 380), []string{WarnMalformed}, false},
		{"only a foreign warning", text(200, 20, 380), []string{"LINKS_TRUNCATED"}, false},
		{"512 chars", text(200, 12, 300), decode, true},
		{"511 chars", text(200, 12, 299), decode, false},
		{"30 % replaced", text(300, 10, 690), decode, true},
		{"less than 30 %", text(299, 10, 691), decode, false},
		{"1 % controls", text(500, 10, 490), decode, true},
		{"less than 1 %", text(500, 9, 491), decode, false},
		{"white space is no control", text(300, 0, 600) + strings.Repeat("\t\r\n", 40), decode, false},
		{"format characters", text(300, 0, 680) + strings.Repeat("\u200B", 20), decode, true},
		{"private use", text(300, 0, 680) + strings.Repeat("\uE000", 20), decode, true},
		{"unassigned", text(300, 0, 680) + strings.Repeat("\U000E0FFF", 20), decode, true},
		{"random UTF-16", text(3, 0, 122) + strings.Repeat("\uE000", 6), decode, true},
		{"too little of it", text(3, 0, 121) + strings.Repeat("\uE000", 3), decode, false},
		{"too short", text(3, 0, 100) + strings.Repeat("\uE000", 20), decode, false},
		{"a few icons", text(3, 0, 500) + strings.Repeat("\uE000", 20), decode, false},
		{"icons alone", text(0, 0, 100) + strings.Repeat("\uE000", 100), nil, false},
		{"letters of any script are text", text(300, 0, 0) + strings.Repeat("漢", 600), decode, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Undecodable(tc.text, tc.warnings); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// Each maximal part of a broken sequence is one U+FFFD, as browsers count, also where the decoder's buffer ends.
func TestBrokenUTF8(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{"a\xE3\x81", "a\uFFFD"},
		{"\xF0\x90\x80z", "\uFFFDz"},
		{"\xC0\x80", "\uFFFD\uFFFD"},
		{"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
		{"\xE3\x81\xE3\x81\x82", "\uFFFDあ"},
		{"\xF5\xF8", "\uFFFD\uFFFD"},
	} {
		for _, pad := range []int{0, 16<<10 - 5, 16<<10 - 3, 16<<10 - 2, 16<<10 - 1, 16 << 10} {
			// Enough of valid sequences for the text to be UTF-8 all the same.
			lead := strings.Repeat("é", 12) + strings.Repeat("x", max(0, pad-24))
			got := decode(lead+tc.body, "text/plain; charset=utf-8", Plain)
			if diff := cmp.Diff(got, decoded{lead + tc.want, "utf-8", []string{WarnDecodeError}}); diff != "" {
				t.Errorf("%q after %d bytes (-got +want):\n%s", tc.body, len(lead), diff)
			}
		}
	}
}

// A text that needs no conversion is not copied.
func TestValidUTF8SharesTheBody(t *testing.T) {
	body := []byte("\xEF\xBB\xBF<p>é</p>")
	got := Decode(body, "text/html", HTML)
	if &got.Text[0] != &body[3] {
		t.Error("the text is a copy")
	}
	if !bytes.Equal(append(got.Text, 'x'), []byte("<p>é</p>x")) || len(body) != 3+8+1 && cap(got.Text) != len(got.Text) {
		t.Error("appending to the text would write behind the body")
	}
}

func TestControlsAreBinary(t *testing.T) {
	random := make([]byte, 4096)
	for i, x := 0, uint32(1); i < len(random); i++ {
		x = x*1664525 + 1013904223
		random[i] = byte(x >> 24)
	}
	latin := Decode(random, "text/html; charset=iso-8859-1", HTML)
	for _, tt := range []struct {
		name string
		text []byte
		want bool
	}{
		{"random bytes in a set where each has a meaning", latin.Text, true},
		{"too few to tell", latin.Text[:400], false},
		{"prose", bytes.Repeat([]byte("plain words\n\ton lines\r\n\f"), 100), false},
		{"prose with a stray control character", append(bytes.Repeat([]byte("words "), 200), 0, 1, 2), false},
		{"a tail of rubbish", append(bytes.Repeat([]byte("words "), 20_000), random...), false},
	} {
		if got := Binary(tt.text); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
