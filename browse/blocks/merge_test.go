package blocks

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMergedEnd: a page of too many blocks or elements loses no text; its end is lines of one paragraph.
func TestMergedEnd(t *testing.T) {
	for _, tt := range []struct {
		name, head, unit string
		n                int
		blocks           int
		keeps            []string // what the last block holds
	}{
		{"paragraphs", "", "<p>w%", MaxBlocks + 1000, MaxBlocks + 1, []string{"w" + strconv.Itoa(MaxBlocks) + "\nw", "w" + strconv.Itoa(MaxBlocks+999)}},
		{"just as many as may be", "", "<p>w%", MaxBlocks, MaxBlocks, nil},
		{"lists, links and code", "<ul>", "<li><a href=/%>w%</a><pre>c%</pre>", MaxBlocks, MaxBlocks + 1, []string{"w" + strconv.Itoa(MaxBlocks-1) + "\nc" + strconv.Itoa(MaxBlocks-1)}},
		{"elements", "", "<i></i><b></b>", maxNodes / 2, 0, nil},
		{"cells, and then more", "<table>", "<tr><td>w%<td>x", maxNodes / 5, 0, []string{"w" + strconv.Itoa(maxNodes/5-1)}},
		{"scripts are no text to the end", "<table>", "<tr><td>w%<script>s%</script><td>x<style>s%</style>", maxNodes / 6, 0, []string{"w" + strconv.Itoa(maxNodes/6-1)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w strings.Builder
			w.WriteString(tt.head)
			for i := range tt.n {
				w.WriteString(strings.ReplaceAll(tt.unit, "%", strconv.Itoa(i)))
			}
			d, err := Extract([]byte(w.String()), Options{Mode: Full, Base: "https://ex.org/"})
			if err != nil {
				t.Fatal(err)
			}
			if tt.blocks > 0 && len(d.Blocks) != tt.blocks {
				t.Errorf("%d blocks, want %d", len(d.Blocks), tt.blocks)
			}
			if merged := slices.Contains(d.Warnings, WarnMerged); merged != (tt.keeps != nil) {
				t.Errorf("warnings %v", d.Warnings)
			}
			text := Markdown(d)
			for i := range tt.n {
				if strings.Contains(tt.unit, "w%") && i%1009 == 0 && !strings.Contains(text, "w"+strconv.Itoa(i)) {
					t.Fatalf("w%d is lost", i)
				}
			}
			if strings.Contains(text, "s1") {
				t.Error("a script became text")
			}
			for _, s := range tt.keeps {
				if last := d.Blocks[len(d.Blocks)-1]; !strings.Contains(last.Text, s) || last.Kind != Paragraph {
					t.Errorf("the last block is a %s of %d bytes without %q, ending %.40q", last.Kind, len(last.Text), s, last.Text[max(0, len(last.Text)-40):])
				}
			}
		})
	}
}

// TestSpansAreBounded: cells that are there only because others span them do not multiply a page.
func TestSpansAreBounded(t *testing.T) {
	page := "<table><tr><th>h<th>i" + strings.Repeat("<tr><th colspan=200>x<td rowspan=1000>y", 20_000)
	d, err := Extract([]byte(page), Options{Mode: Full})
	if err != nil {
		t.Fatal(err)
	}
	md := Markdown(d)
	if strings.Count(md, "x") != 20_000 || strings.Count(md, "y") != 20_000 {
		t.Error("cells are lost")
	}
	if len(md) > 3*len(page) {
		t.Errorf("%d bytes of page became %d of Markdown", len(page), len(md))
	}
}
