package blocks

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzExtract holds what must be true of every input: valid UTF-8 out, no more of it than the input accounts
// for, absolute links, blocks that are what they say they are, and the same document on a second run.
func FuzzExtract(f *testing.F) {
	for _, s := range []string{
		"", "text", "<p>a<p>b", "<ul><li>a<ul><li>b</ul><li>c</ul>", "<table><tr><td rowspan=9 colspan=3>a<tr><td>b</table>",
		"<a href=//x.y/z>l</a><base href=/q/><a href='a b'>m</a>", "<pre>\n a\n<b>b</b></pre>", "<b><p>x</b>y</p><a><div>z</a>w</div>",
		"<svg><title>t</title><p>out", "<select><option>x<div>y", "<noscript><p>z</p></noscript>", "\xff\xfe<p>\x00\r\n&#0;&amp;&bogus;",
		"<h1>t\u202e\U000e0041</h1><blockquote>q<pre>```</pre></blockquote>", "<ol start=3><li value=7><p>a<p>b</ol>", strings.Repeat("<i>", 600) + "deep",
		"<template><p>no</template><dialog>x</dialog><details><summary>s</summary>d</details>", "<table><table><tr><tr><caption>c<td>d",
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, src []byte, full bool) {
		opt := Options{Base: "https://ex.org/dir/page"}
		if full {
			opt.Mode = Full
		}
		d, err := Extract(src, opt)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Extract(src, opt)
		if err != nil || !reflect.DeepEqual(d, again) {
			t.Fatalf("a second run gave another document: %v", err)
		}
		text := 0
		for _, b := range d.Blocks {
			if b.Text == "" || !utf8.ValidString(b.Text) || !utf8.ValidString(b.Markdown) {
				t.Errorf("block %q: empty or invalid UTF-8", b.Text)
			}
			if b.Kind == Heading && (b.Level < 1 || b.Level > 6 || strings.Contains(b.Text, "\n")) {
				t.Errorf("heading level %d %q", b.Level, b.Text)
			}
			if b.Kind == ListItem && b.Depth < 1 {
				t.Errorf("list item of depth %d", b.Depth)
			}
			if b.Kind != Table {
				text += len(b.Text)
			}
		}
		// A byte that is no UTF-8 grows to three, a character reference shrinks; nothing is written twice but the
		// description of an image that stands for a link.
		if text > 4*len(src)+64 {
			t.Errorf("%d bytes of text from %d bytes", text, len(src))
		}
		for _, l := range d.Links {
			u, err := url.Parse(l.URL)
			if err != nil || !u.IsAbs() || u.Host == "" || u.Fragment != "" {
				t.Errorf("link %q is not absolute", l.URL)
			}
		}
		md, outline := MarkdownOutline(d)
		if !utf8.Valid(md) {
			t.Error("Markdown is not valid UTF-8")
		}
		lines := strings.Split(string(md), "\n")
		for _, o := range outline {
			if o.Line < 1 || o.Line > len(lines) || !strings.Contains(lines[o.Line-1], "#") {
				t.Errorf("outline points at line %d, which is no heading", o.Line)
			}
		}
	})
}
