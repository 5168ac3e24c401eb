package charset

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

// sentences are short texts with the encodings that pages in their language were written in.
var sentences = []struct {
	encodings, text string
}{
	{"gb18030", "今天下午我们去图书馆看书，晚上一起吃饭，你有没有时间？"},
	{"gb18030", "本公司成立于二〇〇一年，主要从事软件开发和技术服务。"},
	{"big5", "今天下午我們去圖書館看書，晚上一起吃飯，你有沒有時間？"},
	{"big5", "這家公司在臺北成立，主要的工作是開發軟體。"},
	{"shift_jis euc-jp iso-2022-jp", "昨日は友達と一緒に駅の近くのレストランで食事をしました。"},
	{"shift_jis euc-jp iso-2022-jp", "コンピュータの使い方について説明します。"},
	{"euc-kr", "오늘 오후에는 도서관에서 책을 읽고 저녁에는 친구를 만날 것입니다."},
	{"euc-kr", "우리 회사는 새로운 기술을 개발하고 있습니다."},
	{"euc-kr", "한국어 문서"},
	{"windows-1251 koi8-r", "Петя"},
	{"windows-1251 koi8-r ibm866 iso-8859-5", "Вчера вечером мы долго гуляли по городу и пили чай."},
	{"windows-1251 koi8-r", "НОВОСТИ И ОБЪЯВЛЕНИЯ"},
	{"windows-1251 koi8-u", "Сьогодні ввечері ми підемо до бібліотеки, щоб читати її книжки."},
	{"windows-1253", "Σήμερα το απόγευμα θα πάμε στη βιβλιοθήκη για να διαβάσουμε."},
	{"windows-1255", "היום אחר הצהריים נלך לספרייה כדי לקרוא ספרים חדשים"},
	{"windows-1256", "سنذهب اليوم بعد الظهر إلى المكتبة لقراءة الكتب الجديدة"},
	{"windows-1254", "Bugün öğleden sonra kütüphaneye gidip yeni kitapları okuyacağız, sonra çay içeceğiz."},
	{"windows-1250 iso-8859-2", "Dziś po południu pójdziemy do biblioteki, żeby przeczytać książkę."},
	{"windows-1250 iso-8859-2", "Dnes odpoledne půjdeme do knihovny číst nové knížky, večer přijde přítel."},
	{"windows-1250", "Ma délután könyvtárba megyünk, hogy új könyveket olvassunk, majd főzünk egy jó erős kávét."},
	{"windows-1250", "Astăzi după-amiază mergem la bibliotecă şi citim cărţi noi, apoi bem o cafea în grădină."},
	{"windows-1252", "Heute Nachmittag gehen wir für eine Stunde in die Bücherei und lesen schöne Märchen."},
	{"windows-1252", "Cet après-midi nous irons à la bibliothèque pour lire, ça sera très agréable."},
	{"windows-1252", "Esta tarde iremos a la biblioteca; mañana comeré aquí con más calma. ¿Vendrás?"},
	{"windows-1252", "Hoje à tarde vamos à biblioteca ler, amanhã não. A lição já começou."},
	{"windows-1252", "I eftermiddag går vi till biblioteket för att läsa nya böcker på svenska."},
	{"windows-1252", "Questa sera c’è più tempo, perché domani la libreria è chiusa – così pare."},
	{"windows-1252", "It’s “quoted”, cost £5 — that’s all… © 2004"},
}

func TestUndeclared(t *testing.T) {
	for _, tc := range sentences {
		for _, name := range strings.Fields(tc.encodings) {
			t.Run(name+"/"+tc.text, func(t *testing.T) {
				body := "<html><body class='x'>\n<p>" + encode(t, name, tc.text) + "</p></body></html>"
				got := decode(body, "text/html", HTML)
				want := "<html><body class='x'>\n<p>" + tc.text + "</p></body></html>"
				if got.Text != want || got.Warnings != nil {
					t.Errorf("as %s:\n got %s %v\nwant %s", got.Name, got.Text, got.Warnings, want)
				}
			})
		}
	}
}

// One damaged byte in a text of some length does not change what it is.
func TestUndeclaredWithDamage(t *testing.T) {
	for _, tc := range sentences[:8] {
		name := strings.Fields(tc.encodings)[0]
		body := strings.Repeat(encode(t, name, tc.text)+"\n", 3) + "\xFF\n"
		got := decode(body, "text/plain", Plain)
		want := decoded{strings.Repeat(tc.text+"\n", 3) + "\uFFFD\n", name, []string{WarnDecodeError}}
		if got.Text != want.Text || got.Name != want.Name || !slices.Equal(got.Warnings, want.Warnings) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestUTF16WithoutMark(t *testing.T) {
	for _, name := range []string{"utf-16le", "utf-16be"} {
		for _, text := range []string{
			"<p>plain</p>",
			"<!doctype html><title>日本</title><p>昨日は友達と一緒に駅の近くのレストランで食事をしました。</p>",
			strings.Repeat("<p>", 1<<14) + "😁",
			"x" + strings.Repeat("😁 ab ", 1<<13), // a pair of surrogates across the end of the probe
		} {
			got := decode(encode(t, name, text), "text/html", HTML)
			if got.Text != text || got.Name != name || got.Warnings != nil {
				t.Errorf("%s, %.30s: got %.60q %s %v", name, text, got.Text, got.Name, got.Warnings)
			}
		}
	}
	for _, tc := range []struct{ name, body string }{
		{"one zero in a text", "a long text with a stray \x00 zero"},
		{"zeros on both sides", strings.Repeat("\x00\x00ab", 20)},
		{"one byte", "\x00"},
		{"UTF-32", "a\x00\x00\x00b\x00\x00\x00c\x00\x00\x00d\x00\x00\x00"},
	} {
		if got := decode(tc.body, "text/plain", Plain); got.Name != "utf-8" {
			t.Errorf("%s is %s", tc.name, got.Name)
		}
	}
}

func noise(n int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return string(b)
}

func compressed(t testing.TB) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		fmt.Fprintf(z, "<p>%d", rng.IntN(1<<30))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Bytes that are no text stay undecodable whatever is declared, so that Undecodable can see it (acceptance 130).
func TestBinary(t *testing.T) {
	for _, tc := range []struct{ name, body, contentType, warning string }{
		{"gzip as UTF-8", compressed(t), "text/html; charset=utf-8", WarnDecodeError},
		{"gzip, undeclared", compressed(t), "text/html", WarnInvalidUTF8},
		{"gzip, unknown label", compressed(t), "text/html; charset=zz", WarnUnsupported},
		{"noise as UTF-8", noise(4096), "text/html; charset=utf-8", WarnDecodeError},
		{"noise, undeclared", noise(4096), "", WarnInvalidUTF8},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := decode(tc.body, tc.contentType, HTML)
			if got.Name != "utf-8" || !slices.Equal(got.Warnings, []string{tc.warning}) {
				t.Errorf("got %s %v", got.Name, got.Warnings)
			}
			if !Undecodable(got.Text, got.Warnings) {
				t.Error("not seen to be undecodable")
			}
		})
	}
}

// The lists are read through the encoding's own encoder: a character it lacks would silently count for nothing.
func TestListedCharactersExist(t *testing.T) {
	for _, m := range doubleByteModels() {
		enc, err := htmlindex.Get(m.encoding)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range m.common + m.marks {
			if b, err := enc.NewEncoder().String(string(r)); err != nil || len(b) != 2 {
				t.Errorf("%s has no two bytes for %q", m.encoding, r)
			}
		}
	}
	for _, m := range singleByteModels() {
		enc, err := htmlindex.Get(m.encoding)
		if err != nil {
			t.Fatal(err)
		}
		missing := 0
		for _, r := range m.letters {
			if _, err := enc.NewEncoder().String(string(r)); err != nil {
				missing++
			}
		}
		// Spellings with another sign for the same letter share a list.
		if missing > 6 {
			t.Errorf("%s lacks %d letters of %q", m.encoding, missing, m.letters)
		}
	}
}

// TestNoise: bytes that are no text, though a double-byte encoding reads most of them, are told from text in a
// legacy encoding with damaged places.
func TestNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 4000)
	for i := range noise {
		for noise[i] < ' ' || noise[i] == 0x7F {
			noise[i] = byte(r.Uint32())
		}
	}
	gbk := bytes.Repeat([]byte("\xd6\xd0\xb9\xfa\xc8\xcb\xc3\xf1\xb5\xc4\xbe\xad\xbc\xc3\xb7\xa2\xd5\xb9 \xff\n"), 60)
	for _, tc := range []struct {
		name, contentType string
		body              []byte
		want              bool
	}{
		{"noise", "text/plain", noise, true},
		{"noise without a header", "", noise, true},
		{"a little of it", "", noise[:200], false},
		{"noise that says what it is", "text/plain; charset=gbk", noise, false},
		{"damaged text", "text/plain", gbk, false},
		{"UTF-8", "", bytes.Repeat([]byte("\u6771\u4eac "), 500), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Decode(tc.body, tc.contentType, Plain); got.Noise != tc.want {
				t.Errorf("read as %s with %v: noise = %v, want %v", got.Name, got.Warnings, got.Noise, tc.want)
			}
		})
	}
}
