package gemini

import (
	"net/http"
	"testing"

	"web/engines"
	"web/engines/enginetest"
	"web/engines/internal/exchange"
)

func build(c *http.Client, base, key string) engines.Engine {
	return New(Config{Client: c, Key: key, BaseURL: base})
}

func TestSuite(t *testing.T) {
	enginetest.Run(t, enginetest.Provider{
		Engine: engines.Gemini,
		New:    build,
		Answer: enginetest.Fixture(t, "grounded.json"),
		Empty:  `{"usageMetadata":{"promptTokenCount":4},"modelVersion":"m"}`,
		Wrong: []string{
			`{"candidates":{}}`, `{"candidates":[1]}`, `{"candidates":[{"content":"text"}]}`, `{"candidates":[{"content":{"parts":{}}}]}`,
			`{"content":[],"stop_reason":"end_turn"}`, `{"output":[],"status":"completed"}`,
		},
		Status: map[int]string{
			400: "ClientError", 401: "ClientError", 402: "ClientError", 403: "ClientError", 404: "ClientError", 408: "ClientError", 409: "ClientError",
			413: "ClientError", 418: "ClientError", 422: "ClientError", 429: "ClientError",
			500: "ServerError", 502: "ServerError", 503: "ServerError", 529: "ServerError",
		},
		Redirect: "APIError",
		Class: map[exchange.Kind]string{
			exchange.Connect: "ConnectError", exchange.ConnectTimeout: "ConnectTimeout", exchange.Timeout: "ReadTimeout",
			exchange.Broken: "RemoteProtocolError", exchange.Garbled: "UnknownApiResponseError", exchange.TooLarge: "UnknownApiResponseError",
			exchange.Cancelled: "cancelled", exchange.BadEndpoint: "ConnectError", exchange.BadKey: "ClientError",
		},
	})
}

func TestHonours(t *testing.T) {
	if got, want := Honours(), (engines.Honours{}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
