package charset

import (
	"bytes"
	"unicode/utf8"
)

const (
	// maxSampleBytes bounds what the detector looks at: words that hold a byte outside ASCII. A twentieth of it
	// is mostly enough.
	maxSampleBytes = 16 << 10
	// maxProbeBytes bounds the look at the shape of a body: zero bytes, control characters.
	maxProbeBytes = 64 << 10
)

// guess is the detector's verdict.
type guess struct {
	codec codec
	// confident is true when there is enough evidence to contradict a declaration.
	confident bool
	// noise is true when there are many bytes, and no language of any candidate would write them.
	noise bool
}

// detect guesses the encoding of a body that is not UTF-8. Each candidate is charged, what its
// language's text would cost to write in these bytes: rare characters, impossible neighbours and invalid sequences
// are dear. The cheapest reading wins; with little evidence that is windows-1252, which has the least prior cost.
func detect(body []byte) guess {
	const (
		minDoubleByteEvidence = 4 // bytes outside ASCII, so two characters
		minSingleByteEvidence = 8
		maxConfidentCost      = 7 * bit // per byte outside ASCII; of noise it is 9 and more
		minNoiseCost          = 8 * bit
		minNoiseEvidence      = 256
	)
	sample, high := gather(body)
	best, name, evidence := 1<<60, "windows-1252", minSingleByteEvidence
	for _, m := range doubleByteModels() {
		if cost := m.cost(sample, best); cost < best {
			best, name, evidence = cost, m.encoding, minDoubleByteEvidence
		}
	}
	for _, m := range singleByteModels() {
		if cost := m.cost(sample, best); cost < best {
			best, name, evidence = cost, m.encoding, minSingleByteEvidence
		}
	}
	return guess{
		codec: mustCodec(name), confident: high >= evidence && best <= high*maxConfidentCost,
		noise: high >= minNoiseEvidence && best >= high*minNoiseCost,
	}
}

// gather collects the words of body that hold a byte outside ASCII, and counts those bytes. Words end at bytes
// that are no second byte in any of the candidate encodings, so no character is cut.
func gather(body []byte) (sample []byte, high int) {
	isEnd := func(c byte) bool { return c < '0' || ':' <= c && c <= '?' }
	for len(body) > 0 && len(sample) < maxSampleBytes {
		next := bytes.IndexFunc(body, isNotASCII)
		if next < 0 {
			break
		}
		start, end := next, next
		for start > 0 && !isEnd(body[start-1]) {
			start--
		}
		for end < len(body) && !isEnd(body[end]) && end-start < maxSampleBytes {
			if body[end] >= utf8.RuneSelf {
				high++
			}
			end++
		}
		sample = append(append(sample, body[start:end]...), ' ')
		body = body[end:]
	}
	return sample, high
}

// isNotASCII is for bytes.IndexFunc, to which a broken sequence is a RuneError.
func isNotASCII(r rune) bool { return r >= utf8.RuneSelf }

// countUTF8 counts the multi-byte sequences that are valid UTF-8 and the bytes that belong to none.
func countUTF8(body []byte) (good, bad int) {
	for i := 0; i < len(body); {
		if body[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRune(body[i:])
		if size > 1 {
			good++
		} else {
			bad++
		}
		i += size
	}
	return good, bad
}

// mostlyUTF8 reports whether body is UTF-8, if with damage. By chance the bytes of another encoding fail to form a
// sequence more often than they form one.
func mostlyUTF8(body []byte) bool {
	if utf8.Valid(body) { // much faster than counting
		return true
	}
	good, bad := countUTF8(body)
	return good > 2*bad
}

// looksBinary reports whether so many control characters stand in the body that it is no text in any encoding
// that keeps ASCII; of compressed bytes they are a tenth.
func looksBinary(body []byte) bool {
	const maxControls = 1.0 / 100
	probe := body[:min(len(body), maxProbeBytes)]
	controls := 0
	for _, c := range probe {
		switch c {
		case '\t', '\n', '\f', '\r', 0x1B: // escape switches the sets of ISO-2022-JP
		default:
			if c < ' ' || c == 0x7F {
				controls++
			}
		}
	}
	return float64(controls) > maxControls*float64(len(probe))
}

// hasISO2022JP reports whether a 7-bit body switches to a Japanese set, which in no other text happens.
func hasISO2022JP(body []byte) bool {
	return (bytes.Contains(body, []byte("\x1B$B")) || bytes.Contains(body, []byte("\x1B$@"))) && isASCII(body)
}

// utf16ByZeros recognises UTF-16 without a mark by the zero halves of its ASCII: they are many and, unlike those
// of binary data, nearly all on one side.
func utf16ByZeros(body []byte) (codec, bool) {
	const (
		minZeroShare = 1.0 / 10 // of the units
		minImbalance = 8        // zeros on one side for each on the other
	)
	probe := body[:min(len(body), maxProbeBytes)]
	if bytes.IndexByte(probe, 0) < 0 {
		return codec{}, false
	}
	var zeros [2]int
	for i, c := range probe {
		if c == 0 {
			zeros[i&1]++
		}
	}
	name, many, few := "utf-16be", zeros[0], zeros[1]
	if few > many {
		name, many, few = "utf-16le", few, many
	}
	units := len(probe) / 2
	if units < 2 || float64(many) < minZeroShare*float64(units) || few*minImbalance > many {
		return codec{}, false
	}
	c := mustCodec(name)
	l := newSource(probe[:units*2]).measure(c)
	// The probe may end in half a surrogate pair.
	return c, l.replaced <= 1+units/100
}
