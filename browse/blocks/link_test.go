package blocks

import "testing"

func TestResolve(t *testing.T) {
	const base = "https://ex.org/docs/page.html?q=1"
	for _, c := range []struct{ ref, want string }{
		{"guide.html", "https://ex.org/docs/guide.html"},
		{"/r", "https://ex.org/r"},
		{"../up/", "https://ex.org/up/"},
		{"?x=2", "https://ex.org/docs/page.html?x=2"},
		{"", "https://ex.org/docs/page.html?q=1"},
		{"#frag", "https://ex.org/docs/page.html?q=1"},
		{"//other.example/x", "https://other.example/x"},
		{"HTTP://OTHER.example:80", "http://other.example/"},
		{"https://other.example:443/a", "https://other.example/a"},
		{"https://other.example:8443/a", "https://other.example:8443/a"},
		{" \n/trim\t", "https://ex.org/trim"},
		{"/a\nb", "https://ex.org/ab"},
		{"/a b", "https://ex.org/a%20b"},
		{"/ü?ü", "https://ex.org/%C3%BC?%C3%BC"},
		{`\back\slash`, "https://ex.org/back/slash"},
		{"/100%", "https://ex.org/100%25"},
		{"/%41", "https://ex.org/%41"},
		{"mailto:a@b.c", ""},
		{"javascript:alert(1)", ""},
		{"data:text/html,x", ""},
		{"ftp://ex.org/", ""},
		{"https://user:pass@ex.org/", ""},
		{"http://", ""},
		{"http://[::1", ""},
	} {
		got, ok := Resolve(base, c.ref)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("Resolve(%q) = %q, %v; want %q", c.ref, got, ok, c.want)
		}
	}
	if got, ok := Resolve("", "relative"); ok {
		t.Errorf("a relative reference without a base resolved to %q", got)
	}
}
