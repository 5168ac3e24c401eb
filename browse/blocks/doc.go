// Package blocks turns an HTML page into the whole readable text of it: typed blocks, their Markdown, links,
// what the page states about itself, and counts of what was left out. Start at Extract, then Markdown.
//
// It must not know HTTP, character sets, JSON, settings or the address policy: its input is UTF-8 text and,
// as a string, the address that relative links are seen from.
//
// The passes stand in numbered files, in the order in which a page takes them:
//
//	1_parse    tokens to a tree. The tokenizer is golang.org/x/net/html, with scripting off, since forums put
//	           whole threads into <noscript>. The tree is our own: the library's refuses 512 open elements and
//	           costs some 200 bytes a node, ours flattens what is deeper, keeps 36, and holds the same text
//	           (parse_test.go compares them).
//	2_prune    marks what no reader sees. Closed tabs and accordions count as seen: they are a click away.
//	3_collect  one walk that writes all text into one buffer, cut into drafts of blocks; table.go judges tables.
//	4_measure  what is known of each draft, as numbers: its text, the elements around it, its neighbours.
//	5_choose   the drafts that are the page's content. A small trained model (internal/score) gives each draft a
//	           probability; the set that promises the best F1 is kept, lists and headings are mended.
//	6_render   blocks to Markdown, escaped so that it reads back as the same text.
//
// model.bin is made by the command in train; its comment says how. Isolating algorithms that look for one
// container are right for articles and lose forums, shops and listings; scoring blocks is right for all and
// was measured ahead of them. Every pass is total: no input makes Extract fail, and its time is linear in the
// size of the page.
package blocks
