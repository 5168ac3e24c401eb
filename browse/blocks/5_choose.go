package blocks

import "golang.org/x/net/html/atom"

// choose marks the drafts that belong to the main content. It reports whether it gave up and kept all.
func choose(c *collector, _ pageFacts, keep []bool) bool {
	total, kept := 0, 0
	for i := range c.drafts {
		d := &c.drafts[i]
		size := int(d.end - d.start)
		total += size
		keep[i] = true
		for n := d.node; n > c.t.html; n = c.t.nodes[n].parent {
			switch c.t.nodes[n].tag {
			case atom.Nav, atom.Aside, atom.Footer:
				keep[i] = false
			}
			switch c.t.attr(n, attrRole) {
			case "navigation", "banner", "contentinfo", "complementary", "search":
				keep[i] = false
			}
		}
		if keep[i] {
			kept += size
		}
	}
	if total > 0 && kept*5 < total {
		for i := range keep {
			keep[i] = true
		}
		return true
	}
	return false
}
