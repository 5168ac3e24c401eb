package charset

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// bit is the unit of costs, minus the binary logarithm of a likelihood, which are in hundredths of a bit.
const bit = 100

// script tells how the words of a language use the upper half of a code page.
type script int

const (
	latin    script = iota // a few letters among those of ASCII
	alphabet               // whole words
)

// singleByteModel is a language, or a few that share their letters, in one code page.
type singleByteModel struct {
	encoding string
	script   script
	prior    int // cost before any evidence
	// letters are those outside ASCII, the most frequent first, in lower case where there is one. Frequencies
	// fall by rank near enough to a geometric series for the differences to add up within a sentence.
	letters string
}

// singleByteModels are functions of nothing; a function keeps them out of the start of the program.
func singleByteModels() []singleByteModel {
	const (
		near  = 4 * bit  // a Latin code page that differs from windows-1252 in a few letters
		other = 10 * bit // another script
		rare  = 14 * bit // an encoding that few pages were ever written in

		german     = "üäößéèàçáñ"
		french     = "éèàêçùîôâûœïëüñöæÿ"
		spanish    = "óáíéñúü¿¡ºªçàè"
		portuguese = "ãçáéêíóõàúâôºª"
		italian    = "àèéùòìî"
		nordic     = "åäöøæéüðþíáóúýè"
		dutch      = "ëéïèöüêóçà"
		polish     = "łąężóśćńźéüö"
		czech      = "íáéěřčžýšůúťóňďľäôĺŕöü"
		hungarian  = "áéöóőüíúűäăâ"
		romanian   = "ăîâşţéșț"
		croatian   = "čšžćđéöü"
		turkish    = "ıüşğçöİâîûé"
		russian    = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"
		ukrainian  = "оанивітерслкудмпязьгбчйхцжїюєшфщґыэъё"
		greek      = "αοιετσνηυρπκμλςίόάωδέγήθχύφβώξζψϊϋΐΰ"
		hebrew     = "יוהלאתרבמשנחדעקפםכגטצסזןךףץְִֶַָֹּ"
		arabic     = "اليمنرتوبةعدسفهكقحجشصطأخىذضزثئءغظإؤآپچگکی"
	)
	return []singleByteModel{
		{"windows-1252", latin, 0, german},
		{"windows-1252", latin, 0, french},
		{"windows-1252", latin, 0, spanish},
		{"windows-1252", latin, 0, portuguese},
		{"windows-1252", latin, 0, italian},
		{"windows-1252", latin, 0, nordic},
		{"windows-1252", latin, 0, dutch},
		{"windows-1250", latin, near, polish},
		{"windows-1250", latin, near, czech},
		{"windows-1250", latin, near, hungarian},
		{"windows-1250", latin, near, romanian},
		{"windows-1250", latin, near, croatian},
		{"windows-1254", latin, near, turkish},
		{"iso-8859-2", latin, near + bit, polish},
		{"iso-8859-2", latin, near + bit, czech},
		{"windows-1251", alphabet, other, russian},
		{"windows-1251", alphabet, other, ukrainian},
		{"koi8-r", alphabet, other, russian},
		{"koi8-u", alphabet, other + bit, ukrainian},
		{"ibm866", alphabet, rare, russian},
		{"iso-8859-5", alphabet, rare, russian},
		{"windows-1253", alphabet, other, greek},
		{"windows-1255", alphabet, other, hebrew},
		{"windows-1256", alphabet, other, arabic},
	}
}

// marks are the signs outside ASCII that texts in all of these languages use.
const marks = "\u00A0’“”–—…«»„‘©®°·•€£§№"

// class is what a byte is to its neighbours.
type class uint8

const (
	nonLetter class = iota // blank, sign, digit
	asciiLower
	asciiUpper
	lower // outside ASCII, as the next two; letters without case count as lower
	upper
	undefined
)

func (c class) isLetter() bool { return asciiLower <= c && c <= upper }
func (c class) isUpper() bool  { return c == upper || c == asciiUpper }
func (c class) isLower() bool  { return c == lower || c == asciiLower }

type charCost struct {
	rune  rune
	class class
	cost  int
}

// table prices each byte of the upper half by itself.
func (m singleByteModel) table() (t [256]charCost) {
	first, step := 320, 14 // about a ninth of all letters, then a tenth less with each rank
	if m.script == latin {
		first, step = 250, 45 // few letters share the upper half, and the first of them most of it
	}
	cm := mustCodec(m.encoding).enc.(*charmap.Charmap)
	ranks := map[rune]int{}
	for rank, r := range []rune(m.letters) {
		if _, ok := ranks[r]; !ok {
			ranks[r] = rank
		}
	}
	for b := range t {
		r := cm.DecodeByte(byte(b))
		c := charCost{rune: r, class: nonLetter, cost: 14 * bit}
		rank, known := ranks[r]
		if !known {
			rank, known = ranks[unicode.ToLower(r)]
		}
		switch {
		case b < utf8.RuneSelf:
			c.cost = 0
			if 'a' <= b && b <= 'z' {
				c.class = asciiLower
			} else if 'A' <= b && b <= 'Z' {
				c.class = asciiUpper
			}
		case r == utf8.RuneError:
			c.class, c.cost = undefined, 30*bit
		case known:
			c.class, c.cost = lower, first+step*rank
			if unicode.IsUpper(r) {
				c.class, c.cost = upper, c.cost+2*bit
			}
		case strings.ContainsRune(marks, r):
			c.cost = 6 * bit
		case unicode.IsLetter(r):
			c.class, c.cost = lower, 12*bit
			if unicode.IsUpper(r) {
				c.class = upper
			}
		}
		t[b] = c
	}
	return t
}

// cost prices a sample, and stops when it is beyond limit.
func (m singleByteModel) cost(sample []byte, limit int) int {
	t := m.table()
	total := m.prior
	prev := charCost{class: nonLetter}
	for i, b := range sample {
		cur := t[b]
		total += cur.cost
		if b >= utf8.RuneSelf || prev.rune >= utf8.RuneSelf {
			next := nonLetter
			if i+1 < len(sample) {
				next = t[sample[i+1]].class
			}
			total += m.neighbours(prev.class, cur, next)
		}
		if total >= limit {
			return total
		}
		prev = cur
	}
	return total
}

// neighbours prices what does not happen within a word.
func (m singleByteModel) neighbours(prev class, cur charCost, next class) int {
	ascii := func(c class) bool { return c == asciiLower || c == asciiUpper }
	cost := 0
	switch {
	case cur.class.isLetter() && prev.isLetter():
		if cur.class.isUpper() && prev.isLower() {
			cost += 10 * bit
		}
		if cur.class == upper && prev == upper {
			cost -= 2 * bit // only the first capital of a row is rare
		}
		if m.script == alphabet && ascii(prev) != ascii(cur.class) {
			cost += 8 * bit
		}
		if m.script == latin && !ascii(prev) && !ascii(cur.class) {
			cost += 3 * bit
		}
	case cur.rune >= utf8.RuneSelf && prev.isLetter() && next.isLetter():
		if !strings.ContainsRune("’·\u00A0", cur.rune) {
			cost += 5 * bit
		}
	}
	return cost
}
