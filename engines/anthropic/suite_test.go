package anthropic

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
		Engine: engines.Anthropic,
		New:    build,
		Answer: enginetest.Fixture(t, "cited.json"),
		Empty:  `{"type":"message","role":"assistant","content":[],"stop_reason":"end_turn"}`,
		Wrong: []string{
			`{}`, `{"type":"message"}`, `{"content":"text"}`, `{"content":{"type":"text","text":"t"}}`, `{"content":[1]}`,
			`{"candidates":[]}`, `{"output":[],"status":"completed"}`,
		},
		Status: map[int]string{
			400: "BadRequestError", 401: "AuthenticationError", 402: "APIStatusError", 403: "PermissionDeniedError", 404: "NotFoundError",
			408: "APIStatusError", 409: "ConflictError", 413: "RequestTooLargeError", 418: "APIStatusError", 422: "UnprocessableEntityError",
			429: "RateLimitError", 500: "InternalServerError", 502: "InternalServerError", 503: "InternalServerError", 529: "OverloadedError",
		},
		Redirect: "APIStatusError",
		Class: map[exchange.Kind]string{
			exchange.Connect: "APIConnectionError", exchange.ConnectTimeout: "APITimeoutError", exchange.Timeout: "APITimeoutError",
			exchange.Broken: "APIConnectionError", exchange.Garbled: "APIResponseValidationError", exchange.TooLarge: "APIResponseValidationError",
			exchange.Cancelled: "cancelled", exchange.BadEndpoint: "APIConnectionError", exchange.BadKey: "AuthenticationError",
		},
	})
}

func TestHonours(t *testing.T) {
	if got, want := Honours(), (engines.Honours{Site: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
