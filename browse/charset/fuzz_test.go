package charset

import (
	"bytes"
	"slices"
	"testing"
	"unicode/utf8"
)

func FuzzDecode(f *testing.F) {
	for _, s := range []struct {
		body, contentType string
		kind              byte
	}{
		{"<p>café 東京</p>", "text/html", 1},
		{"<meta charset=\"Shift_JIS\">\x93\xFA\x96\x7B", "text/html", 1},
		{"<meta http-equiv=content-type content='text/html; charset=gbk'>\xC4\xE3", "text/html; charset=\"utf-8", 1},
		{"<?xml version='1.0' encoding='koi8-r'?>\xC4", "", 2},
		{"\x82\xA0\x82", "text/plain; charset=shift_jis", 0},
		{"\xFF\xFEa\x00\xE9\x00\x3D\xD8", "", 0},
		{"a\x00b\x00\xE9\x00", "text/plain", 0},
		{"\x1B$B8@8l\x1B(B", "text/plain", 0},
		{"\x1B$", "text/plain; charset=iso-2022-jp", 0},
		{"\x88\x62\x88\x64", "text/plain; charset=big5", 0},
		{"\x81\x30\x81\x30\x84\x31\x95\x33", "text/plain; charset=gb18030; charset=x", 0},
		{"\xEF\xF0\xE8\xE2\xE5\xF2", "text/plain; charset=zz", 0},
		{"\x8F\xA2\xAF\x8E\xB1", "text/plain; charset=euc-jp", 0},
		{"\xEF\xBB\xBF\xEF\xBB\xBF\xF0\x9F", "", 1},
		{"\xA1\xA1\xFB\x80", "text/plain; charset=windows-874", 0},
	} {
		f.Add([]byte(s.body), s.contentType, s.kind)
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string, kind byte) {
		before := bytes.Clone(body)
		k := Kind(kind % 3)
		got := Decode(body, contentType, k)
		if !utf8.Valid(got.Text) {
			t.Fatal("not UTF-8")
		}
		if bytes.HasPrefix(got.Text, []byte("\uFEFF")) {
			t.Fatal("a mark is left")
		}
		if len(got.Text) > 3*len(body) {
			t.Fatalf("%d bytes of %d", len(got.Text), len(body))
		}
		if c, ok := lookup(got.Name); !ok || c.name != got.Name {
			t.Fatalf("no encoding has the name %q", got.Name)
		}
		for i, w := range got.Warnings {
			known := []string{WarnInvalidUTF8, WarnDecodeError, WarnUnsupported, WarnMalformed}
			if !slices.Contains(known, w) || slices.Contains(got.Warnings[:i], w) {
				t.Fatalf("warnings %q", got.Warnings)
			}
		}
		if bytes.Contains(got.Text, []byte("\uFFFD")) && len(got.Warnings) == 0 && utf8.Valid(body) && !bytes.Contains(body, []byte("\uFFFD")) &&
			bytes.IndexByte(body, 0) < 0 && got.Name == "utf-8" {
			t.Fatal("a U+FFFD out of nowhere")
		}
		Undecodable(string(got.Text), got.Warnings)
		if media := MediaType(contentType); utf8.RuneCountInString(media) > maxHeaderChars {
			t.Fatalf("media type of %d chars", utf8.RuneCountInString(media))
		}
		again := Decode(body, contentType, k)
		if !bytes.Equal(again.Text, got.Text) || again.Name != got.Name || !slices.Equal(again.Warnings, got.Warnings) {
			t.Fatal("not the same twice")
		}
		if !bytes.Equal(body, before) {
			t.Fatal("the body was changed")
		}
	})
}
