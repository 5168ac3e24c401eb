package operator

import (
	"strings"
	"testing"
)

func TestAllowEntry(t *testing.T) {
	for entry, want := range map[string]bool{
		"localhost": true, "wiki.corp.example": true, "wiki.corp.example:8080": true, "a_b.x": true, "xn--bcher-kva.example": true,
		"127.0.0.1": true, "127.0.0.1:1": true, "127.0.0.1:65535": true, "::1": true, "fd00::1": true, "[::1]:80": true,
		"10.20.0.0/16": true, "0.0.0.0/0": true, "10.0.0.1/32": true, "fd00::/8": true, "::1/128": true,

		"": false, " ": false, "*": false, "*.example": false, "http://a": false, "a/b": false, "a b": false, "a.": false, ".a": false, "a..b": false,
		"-a": false, "a-": false, "bücher.example": false, strings.Repeat("a", 64): false, strings.Repeat("a.", 127) + "a": false,
		"a:": false, "a:0": false, "a:01": false, "a:65536": false, "a:+1": false, "a:b": false, ":80": false, "a:1:2": false, "u@a": false,
		"127.1": false, "10.0.0.256": false, "10.0.0.01": false, "0x7f.0x1": false, "2130706433": false, "2130706433:80": false,
		"[::1]": false, "[::1]:": false, "[::1]:0": false, "[127.0.0.1]:80": false, "[a]:80": false, "[::1:80": false, "::1]:80": false,
		"fe80::1%eth0": false, "[fe80::1%eth0]:80": false, "::ffff:10.0.0.1": false,
		"10.20.0.1/16": false, "10.20.0.0/33": false, "10.20.0.0/": false, "10.20.0.0/016": false, "::ffff:10.0.0.0/104": false, "a/8": false,
	} {
		if got := allowEntry(entry) == ""; got != want {
			t.Errorf("allowEntry(%q) = %q", entry, allowEntry(entry))
		}
	}
}

func TestURLs(t *testing.T) {
	for in, want := range map[string][2]bool{ // as a base URL, as a proxy
		"https://api.example":      {true, true},
		"https://api.example/":     {true, true},
		"http://api.example:8080":  {true, true},
		"HTTPS://API.example":      {true, true},
		"https://127.0.0.1:1/v1/":  {true, false},
		"https://[::1]:8080/v1":    {true, false},
		"http://u:p@proxy.example": {false, true},
		"https://a/%2F":            {true, false},

		"": {}, "api.example": {}, "//api.example": {}, "/v1": {}, "https:": {}, "https://": {}, "https:///v1": {}, "https:api.example": {},
		"ftp://a": {}, "socks5://a:1": {}, "file:///etc": {}, "https://a?q=1": {}, "https://a?": {}, "https://a#": {}, "https://a#f": {},
		"https://a:": {}, "https://a:0": {}, "https://a:65536": {}, "https://a:x": {}, "https://a b": {}, " https://a": {}, "https://a\n": {},
		"https://bücher.example": {}, "https://127.1": {}, "https://[::1": {}, "https://[a]": {}, "https://[127.0.0.1]": {}, "https://a/%zz": {},
	} {
		if got := [2]bool{baseURL(in) == "", proxyURL(in) == ""}; got != want {
			t.Errorf("%q: base URL, proxy = %v, want %v (%q, %q)", in, got, want, baseURL(in), proxyURL(in))
		}
	}
}

func TestStoreURL(t *testing.T) {
	for in, want := range map[string]bool{
		"postgres://u:p@db.example:5432/web?sslmode=require": true, "postgresql:///web?host=/var/run/postgresql": true,
		"": false, "postgres:web": false, "host=db user=u": false, "sqlite://x": false, "postgres://a b": false,
	} {
		if got := storeURL(in) == ""; got != want {
			t.Errorf("storeURL(%q) = %q", in, storeURL(in))
		}
	}
}
