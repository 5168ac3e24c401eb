package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"web/browse/fault"
)

// encode applies one content coding. "raw" is deflate without zlib's frame.
func encode(t testing.TB, coding string, content io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	case "raw":
		w, err = flate.NewWriter(&out, flate.DefaultCompression)
	case "br":
		w = brotli.NewWriterLevel(&out, 1)
	case "zstd":
		w, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindowBytes))
	default:
		t.Fatal("no such coding:", coding)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// zeros reads as n zero bytes.
func zeros(n int64) io.Reader { return io.LimitReader(zeroReader{}, n) }

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// serveBody is a world whose only page has this body, with the codings in separate headers.
func serveBody(t testing.TB, body []byte, codings ...string) *world {
	w := newWorld(t).name("www.example.com", siteAddr)
	w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		rw.Header()["Content-Encoding"] = codings
		_, _ = rw.Write(body)
	}))
	return w
}

const bodyURL = "http://www.example.com/"

func TestCodings(t *testing.T) {
	text := strings.Repeat("Some text that repeats itself. ", 2000)
	enc := func(coding string, b []byte) []byte { return encode(t, coding, bytes.NewReader(b)) }
	plain := []byte(text)
	tests := []struct {
		name    string
		headers []string
		body    []byte
		want    string
	}{
		{"none", nil, plain, text},
		{"identity", []string{"identity"}, plain, text},
		{"no coding at all", []string{"utf-8"}, plain, text},
		{"gzip", []string{"gzip"}, enc("gzip", plain), text},
		{"x-gzip", []string{"X-GZip"}, enc("gzip", plain), text},
		{"two members", []string{"gzip"}, append(enc("gzip", plain[:7]), enc("gzip", plain[7:])...), text},
		{"gzip and padding", []string{"gzip"}, append(enc("gzip", plain), 0, 0, 0), text},
		{"gzip and one byte", []string{"gzip"}, append(enc("gzip", plain), 0x1f), text},
		{"gzip of nothing", []string{"gzip"}, enc("gzip", nil), ""},
		{"zlib", []string{"deflate"}, enc("deflate", plain), text},
		{"bare deflate", []string{"deflate"}, enc("raw", plain), text},
		{"br", []string{"br"}, enc("br", plain), text},
		{"zstd", []string{"zstd"}, enc("zstd", plain), text},
		{"two zstd frames", []string{"zstd"}, append(enc("zstd", plain[:9]), enc("zstd", plain[9:])...), text},
		{"stacked", []string{"gzip, br"}, enc("br", enc("gzip", plain)), text},
		{"stacked in two headers", []string{"zstd", "deflate"}, enc("deflate", enc("zstd", plain)), text},
		{"stacked with unknown", []string{"utf-8, gzip ,,none"}, enc("gzip", plain), text},
		{"four", []string{"gzip, gzip, br, zstd"}, enc("zstd", enc("br", enc("gzip", enc("gzip", plain)))), text},
		{"empty body", []string{"gzip"}, nil, ""},
		{"empty body br", []string{"br"}, nil, ""},
		{"empty body zstd", []string{"zstd"}, nil, ""},
		{"empty body deflate", []string{"deflate"}, nil, ""},
		{"empty inside", []string{"br, gzip"}, enc("gzip", nil), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := get(t, serveBody(t, tt.body, tt.headers...).client(), bodyURL)
			if diff := cmp.Diff(tt.want, string(got.Body)); diff != "" {
				t.Error(diff)
			}
			sum := sha256.Sum256(tt.body)
			if got.SourceSHA256 != hex.EncodeToString(sum[:]) {
				t.Error("the hash is not that of the body as received")
			}
		})
	}
}

func TestBrokenCodings(t *testing.T) {
	text := []byte(strings.Repeat("Some text. ", 500))
	broken := failure{fault.TransportFailed, fault.StageConnect, 0, true}
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		whole := encode(t, coding, bytes.NewReader(text))
		flipped := bytes.Clone(whole)
		flipped[len(flipped)/2] ^= 0xff
		bodies := map[string][]byte{
			"plain text":     text,
			"one byte":       whole[:1],
			"half":           whole[:len(whole)/2],
			"all but a byte": whole[:len(whole)-1],
			"a byte changed": flipped,
		}
		for name, body := range bodies {
			t.Run(coding+" "+name, func(t *testing.T) {
				if diff := cmp.Diff(broken, getFailure(t, t.Context(), serveBody(t, body, coding).client(), bodyURL)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
	gz := encode(t, "gzip", bytes.NewReader(text))
	five := text
	for range 5 {
		five = encode(t, "gzip", bytes.NewReader(five))
	}
	more := map[string]struct {
		body    []byte
		codings []string
	}{
		"second member cut": {append(bytes.Clone(gz), gz[:12]...), []string{"gzip"}},
		"wrong order":       {encode(t, "br", bytes.NewReader(gz)), []string{"br, gzip"}},
		"five codings":      {five, []string{"gzip, gzip, gzip, gzip, gzip"}},
	}
	for name, tt := range more {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(broken, getFailure(t, t.Context(), serveBody(t, tt.body, tt.codings...).client(), bodyURL)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestBodyLimit: the limit itself passes and one byte more does not, for both sizes.
func TestBodyLimit(t *testing.T) {
	const limit = 10_000
	random := make([]byte, limit+1) // does not compress, so that it is the size as received that counts
	state := uint32(1)
	for i := range random {
		state = state*1664525 + 1013904223
		random[i] = byte(state >> 24)
	}
	tests := []struct {
		name    string
		body    []byte
		codings []string
		ok      bool
	}{
		{"plain, limit", random[:limit], nil, true},
		{"plain, one more", random, nil, false},
		{"decoded, limit", encode(t, "gzip", zeros(limit)), []string{"gzip"}, true},
		{"decoded, one more", encode(t, "gzip", zeros(limit+1)), []string{"gzip"}, false},
		{"received, more", encode(t, "gzip", bytes.NewReader(random[:limit])), []string{"gzip"}, false},
		{"padding behind the end", append(encode(t, "gzip", zeros(10)), random...), []string{"gzip"}, false},
		{"between, more", encode(t, "br", bytes.NewReader(bytes.Repeat(encode(t, "gzip", zeros(0)), 1000))), []string{"gzip, br"}, false},
		{"between, less", encode(t, "br", bytes.NewReader(bytes.Repeat(encode(t, "gzip", zeros(0)), 100))), []string{"gzip, br"}, true},
	}
	for _, tt := range tests {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, ", chunked ", chunked), func(t *testing.T) {
				w := newWorld(t).name("www.example.com", siteAddr)
				w.serve(siteHTTP, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header()["Content-Encoding"] = tt.codings
					if !chunked {
						rw.Header().Set("Content-Length", strconv.Itoa(len(tt.body)))
					}
					_, _ = rw.Write(tt.body)
				}))
				c := w.client()
				c.BodyBytes = limit
				if tt.ok {
					get(t, c, bodyURL)
					return
				}
				want := failure{fault.BodyTooLarge, fault.StageFetch, 200, false}
				if diff := cmp.Diff(want, getFailure(t, t.Context(), c, bodyURL)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestBombs: little comes in, much would come out. The bytes allocated during the whole call, server included,
// are an upper bound of the memory it could ever hold.
func TestBombs(t *testing.T) {
	const limit = 1 << 20
	const huge = 24 << 20
	zipped := encode(t, "gzip", zeros(huge))
	members := bytes.Repeat(encode(t, "gzip", zeros(0)), (limit+huge)/256)
	tests := []struct {
		name    string
		body    []byte
		codings string
	}{
		{"gzip", zipped, "gzip"},
		{"deflate", encode(t, "deflate", zeros(huge)), "deflate"},
		{"bare deflate", encode(t, "raw", zeros(huge)), "deflate"},
		{"br", encode(t, "br", zeros(huge)), "br"},
		{"zstd", encode(t, "zstd", zeros(huge)), "zstd"},
		{"gzip in gzip", encode(t, "gzip", bytes.NewReader(zipped)), "gzip, gzip"},
		{"gzip in br", encode(t, "br", bytes.NewReader(zipped)), "gzip, br"},
		{"endless emptiness", encode(t, "zstd", bytes.NewReader(members)), "gzip, zstd"},
		{"zstd with a window of 2 GiB", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00}, "zstd"},
		// One segment and a declared size of 1 TiB.
		{"zstd of a declared TiB", []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 0x01, 0x00, 0x00}, "zstd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if len(tt.body) > limit {
				t.Fatalf("%d bytes are no bomb", len(tt.body))
			}
			c := serveBody(t, tt.body, tt.codings).client()
			c.BodyBytes = limit
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := getFailure(t, t.Context(), c, bodyURL)
			runtime.ReadMemStats(&after)
			if diff := cmp.Diff(failure{fault.BodyTooLarge, fault.StageFetch, 200, false}, got); diff != "" {
				t.Error(diff)
			}
			// A window of 8 MiB (zstd) or 16 MiB (br) is not the body's.
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes received, %.1f MiB allocated", len(tt.body), float64(allocated)/(1<<20))
			if allocated > 8*limit+zstdWindowBytes*2 {
				t.Errorf("%d bytes were allocated for a limit of %d", allocated, limit)
			}
		})
	}
}

// TestEndlessBody: the server sends until it is hung up on.
func TestEndlessBody(t *testing.T) {
	const limit = 1 << 20
	for _, header := range []string{"", "Transfer-Encoding: chunked\r\n"} {
		w := newWorld(t).name("www.example.com", siteAddr)
		sent := make(chan int, 1)
		w.raw(siteHTTP, func(conn net.Conn) {
			total := 0
			defer func() { sent <- total }()
			piece := "1000\r\n" + strings.Repeat("a", 0x1000) + "\r\n"
			_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+header+"\r\n")
			for err == nil {
				var n int
				n, err = io.WriteString(conn, piece)
				total += n
			}
		})
		c := w.client()
		c.BodyBytes = limit
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := getFailure(t, t.Context(), c, bodyURL)
		total := <-sent
		runtime.ReadMemStats(&after)
		if diff := cmp.Diff(failure{fault.BodyTooLarge, fault.StageFetch, 200, false}, got); diff != "" {
			t.Error(diff)
		}
		if total > limit+limit/8 {
			t.Errorf("%d bytes were taken for a limit of %d", total, limit)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8*limit {
			t.Errorf("%d bytes were allocated for a limit of %d", allocated, limit)
		}
	}
}

// TestBrokenOff: a connection that ends in the body, at HTTP/1.1 and at HTTP/2.
func TestBrokenOff(t *testing.T) {
	want := failure{fault.TransportFailed, fault.StageConnect, 0, true}
	tests := map[string]http.HandlerFunc{
		"reset in the middle": func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(rw, "<p>half")
			_ = http.NewResponseController(rw).Flush()
			panic(http.ErrAbortHandler)
		},
		"declared longer": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(rw, "<p>half")
		},
	}
	for name, handler := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).name("www.example.com", siteAddr)
			plain := w.serve(siteHTTP, handler)
			plain.Config.ErrorLog = quiet()
			s := w.serveTLS(siteHTTPS, handler)
			c := w.client()
			c.RootCAs = rootsOf(s)
			for _, u := range []string{"http://www.example.com/", "https://www.example.com/"} {
				if diff := cmp.Diff(want, getFailure(t, t.Context(), c, u)); diff != "" {
					t.Errorf("%s: %s", u, diff)
				}
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		f.Add(coding, encode(f, coding, strings.NewReader("seed seed seed")))
	}
	f.Add("gzip, br", encode(f, "br", bytes.NewReader(encode(f, "gzip", strings.NewReader("x")))))
	f.Add("deflate", encode(f, "raw", strings.NewReader("bare")))
	f.Add("utf-8", []byte("plain"))
	f.Add("zstd, zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00})
	const limit = 1 << 16
	f.Fuzz(func(t *testing.T, coding string, body []byte) {
		read := func(plan journey) ([]byte, string, *fault.Error) {
			return readBody(t.Context(), &http.Response{
				StatusCode: 200, ContentLength: -1,
				Header: http.Header{"Content-Encoding": {coding}},
				Body:   io.NopCloser(bytes.NewReader(body)),
			}, plan)
		}
		got, sum, fail := read(journey{limit: limit})
		if len(got) > limit || fail != nil && (got != nil || sum != "") {
			t.Fatalf("%d bytes and hash %q with failure %v", len(got), sum, fail)
		}
		want := sha256.Sum256(body)
		if fail == nil && sum != hex.EncodeToString(want[:]) {
			t.Fatal("the hash is not that of all bytes received")
		}
		again, _, failAgain := read(journey{limit: limit})
		if !bytes.Equal(got, again) || (fail == nil) != (failAgain == nil) {
			t.Fatal("the second reading differs")
		}
		if cut, _, _ := read(journey{limit: limit, cut: true}); len(cut) > limit || fail == nil && !bytes.Equal(got, cut) {
			t.Fatal("cutting changes a body within the limit")
		}
	})
}
