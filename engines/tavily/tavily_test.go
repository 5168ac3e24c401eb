package tavily

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"web/engines"
	"web/engines/enginetest"
	"web/engines/internal/exchange"
)

func build(c *http.Client, base, key string) engines.Engine {
	return New(Config{Client: c, Key: key, BaseURL: base})
}

func TestExchanges(t *testing.T) { enginetest.Replay(t, build) }

func TestRequests(t *testing.T) {
	for _, tc := range []struct {
		name, base string
		q          engines.Query
		path, body string
	}{
		{"plain", "", engines.Query{Text: ` what's <b> & "tides"? `}, "/search", `{"query":" what's <b> & \"tides\"? "}`},
		{"a region is not known", "/t/", engines.Query{Text: "潮", Region: "de-de"}, "/t/search", `{"query":"潮"}`},
		{
			"everything", "", engines.Query{Text: "tides", TimeRange: "w", MaxResults: 7, Domains: []string{"ex.org", "b.example"}},
			"/search", `{"query":"tides","max_results":7,"time_range":"week","include_domains":["ex.org","b.example"]}`,
		},
		{"day", "", engines.Query{Text: "tides", TimeRange: "d", Domains: []string{}}, "/search", `{"query":"tides","time_range":"day"}`},
		{"month", "", engines.Query{Text: "tides", TimeRange: "m", MaxResults: -1}, "/search", `{"query":"tides","time_range":"month"}`},
		{"year", "", engines.Query{Text: "tides", TimeRange: "y", MaxResults: 21}, "/search", `{"query":"tides","max_results":20,"time_range":"year"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var method, path, body string
			var header http.Header
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				method, path, body, header = r.Method, r.URL.RequestURI(), string(b), r.Header
				io.WriteString(w, enginetest.Fixture(t, "results.json"))
			}))
			defer srv.Close()
			if _, err := New(Config{Client: srv.Client(), Key: "tvly-1", BaseURL: srv.URL + tc.base}).Search(t.Context(), tc.q); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"POST", tc.path, tc.body}, []string{method, path, body}); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			for _, name := range []string{"Content-Length", "User-Agent"} {
				header.Del(name)
			}
			want := http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "Authorization": {"Bearer tvly-1"}, "Content-Type": {"application/json"}}
			if diff := cmp.Diff(want, header); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestOfficialAddress(t *testing.T) {
	asked := ""
	e := New(Config{Key: "k", Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		asked = r.URL.String()
		return nil, io.ErrUnexpectedEOF
	})}})
	if _, err := e.Search(t.Context(), engines.Query{Text: "x"}); err == nil || asked != "https://api.tavily.com/search" {
		t.Errorf("asked %q, error %v", asked, err)
	}
	asked = ""
	var typed *engines.Error
	_, err := e.Search(t.Context(), engines.Query{Text: "x", TimeRange: "week"})
	if !errors.As(err, &typed) || !typed.InvalidQuery || asked != "" {
		t.Errorf("asked %q, error %v", asked, err)
	}
}

func TestOwnWords(t *testing.T) {
	for status, says := range map[int]string{400: "400 characters", 432: "used up", 433: "used up", 401: "check the key of Tavily"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) }))
		_, err := New(Config{Client: srv.Client(), BaseURL: srv.URL, Key: "k"}).Search(t.Context(), engines.Query{Text: "x"})
		srv.Close()
		var typed *engines.Error
		if !errors.As(err, &typed) || !strings.Contains(typed.Message, says) || typed.Retryable {
			t.Errorf("%d: %v does not say %q", status, err, says)
		}
	}
}

func TestDay(t *testing.T) {
	for stamp, want := range map[string]string{
		"":                                "",
		"2026-03-02":                      "2026-03-02",
		" 2026-03-02T23:30:00Z ":          "2026-03-02",
		"2026-03-02T23:30:00.123456Z":     "2026-03-02",
		"2026-03-02T23:30:00-08:00":       "2026-03-02",
		"2026-03-02T23:30:00":             "2026-03-02",
		"2026-03-02 23:30:00":             "2026-03-02",
		"Mon, 02 Mar 2026 23:30:00 GMT":   "2026-03-02",
		"Mon, 2 Mar 2026 23:30:00 +0000":  "2026-03-02",
		"Mon, 30 Feb 2026 23:30:00 GMT":   "",
		"2026-02-30":                      "",
		"2026":                            "",
		"3 days ago":                      "",
		"02/03/2026":                      "",
		"2026-03-02T23:30:00Z and beyond": "",
	} {
		if got := day(stamp); got != want {
			t.Errorf("%q: got %q, want %q", stamp, got, want)
		}
	}
}

func TestSuite(t *testing.T) {
	enginetest.Run(t, enginetest.Provider{
		Engine: engines.Tavily,
		New:    build,
		Answer: enginetest.Fixture(t, "answer.json"),
		Empty:  enginetest.Fixture(t, "empty.json"),
		Wrong:  []string{`{}`, `{"results":null}`, `{"results":{}}`, `{"results":[1]}`, `{"results":[{"url":5}]}`, `{"results":[],"answer":{}}`, `{"detail":{"error":"x"}}`},
		Status: map[int]string{
			400: "BadRequestError", 401: "AuthenticationError", 402: "APIStatusError", 403: "PermissionDeniedError", 404: "NotFoundError", 408: "APIStatusError",
			409: "ConflictError", 413: "APIStatusError", 418: "APIStatusError", 422: "UnprocessableEntityError", 429: "RateLimitError",
			500: "InternalServerError", 502: "InternalServerError", 503: "InternalServerError", 529: "InternalServerError",
		},
		Redirect: "APIStatusError",
		Class: map[exchange.Kind]string{
			exchange.Connect: "APIConnectionError", exchange.Broken: "APIConnectionError", exchange.BadEndpoint: "APIConnectionError",
			exchange.ConnectTimeout: "APITimeoutError", exchange.Timeout: "APITimeoutError",
			exchange.Garbled: "APIResponseValidationError", exchange.TooLarge: "APIResponseValidationError",
			exchange.BadKey: "AuthenticationError", exchange.Cancelled: "cancelled",
		},
	})
}

// FuzzRead holds that any answer gives sound results or a typed failure, twice the same.
func FuzzRead(f *testing.F) {
	enginetest.Seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		var a answer
		if json.Unmarshal(body, &a, jsontext.AllowInvalidUTF8(true)) != nil {
			return
		}
		got, err := read(a)
		again, errAgain := read(a)
		if diff := cmp.Diff(got, again); diff != "" || (err == nil) != (errAgain == nil) {
			t.Fatalf("errors %v, %v; second reading (-first +second):\n%s", err, errAgain, diff)
		}
		var typed *engines.Error
		if err != nil && (!errors.As(err, &typed) || len(got.Results) > 0 || got.Narrative != "") {
			t.Errorf("error %v beside %+v", err, got)
		}
		seen := map[string]bool{}
		for _, r := range got.Results {
			if !utf8.ValidString(r.Title+r.URL+r.Snippet+r.Published) || seen[r.URL] || len(r.Published) != 0 && len(r.Published) != len("2026-03-02") {
				t.Errorf("result %+v", r)
			}
			if r.URL == "" && (len(got.Results) != 1 || got.Narrative != "") {
				t.Errorf("results %+v with narrative %q", got.Results, got.Narrative)
			}
			seen[r.URL] = true
		}
	})
}
