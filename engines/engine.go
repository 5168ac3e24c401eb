// Package engines says what a search engine is and which ones exist; each provider lives in a folder below.
//
// It holds the small interface that all engines share, the catalogue of names that may be admitted, and the
// one failure type. It must not know the envelope, settings files or refs, and it imports none of its own
// folders: the program's wiring joins a catalogue entry with its builder.
package engines

import (
	"context"
	"fmt"
)

// Names of the engines that can be admitted.
const (
	DuckDuckGo = "duckduckgo"
	OpenAI     = "openai"
	Anthropic  = "anthropic"
	Gemini     = "gemini"
	Tavily     = "tavily"
)

// Query is one question. Text goes to the engine as it is, untrimmed.
type Query struct {
	Text string
	// Region is a DuckDuckGo region code such as "us-en"; "" leaves it to the engine.
	Region string
	// TimeRange is "d", "w", "m" or "y"; "" is any time.
	TimeRange string
	// Domains are the hosts to which the results are to be confined, hosts below them included; nil is any.
	Domains []string
	// MaxResults is how many results are wanted; 0 leaves it to the engine.
	MaxResults int
}

// Honours says which wishes of a Query the provider itself takes. The others do not reach it: whoever needs
// them enforces them on the answer.
type Honours struct{ Site, Time, Region bool }

// Result is one source. All strings are valid UTF-8 and foreign: evidence, never instruction.
type Result struct {
	Title string
	// URL is byte-exact as the engine gave it after unwrapping, or "" for a narrative without a source.
	URL     string
	Snippet string
	// Published is the date the engine shows beside the result (RFC 3339 date or time), or "".
	Published string
}

// LeftOut counts what an answer held and the engine left out on purpose.
type LeftOut struct{ Ads, Duplicates, Unsafe, Broken int }

// Answer is a complete answer. No results and no error is a true empty answer.
type Answer struct {
	Results []Result
	// Narrative is the engine's own text, given once; "" when it has none.
	Narrative string
	LeftOut   LeftOut
}

// Engine asks one provider one question, once: a single request sequence, no retry loop, bounded by ctx.
// Every failure of the provider or the way to it is an *Error; anything else is a defect.
type Engine interface {
	Search(ctx context.Context, q Query) (Answer, error)
}

// MaxClassChars is the greatest length of an Error's Class, in characters.
const MaxClassChars = 64

// Error is a typed provider failure. It holds no response text, request text, URL or key.
type Error struct {
	// Engine is the name of the engine that failed.
	Engine string
	// Class names the kind of failure: at most MaxClassChars of [A-Za-z0-9_:.-]. The vocabulary is open.
	Class string
	// Message is one sentence that says what happened and what the caller may do next.
	Message string
	// Retryable says whether the same call may succeed later.
	Retryable bool
	// RetryAfterMS is how long to wait first, in milliseconds; 0 when unknown.
	RetryAfterMS int64
	// HTTPStatus is the status with which the provider refused; 0 when something else is the failure.
	HTTPStatus int
	// InvalidQuery is true when the query itself was refused before anything was sent.
	InvalidQuery bool
	// Err is the cause, for errors.Is only; it is never shown.
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %s", e.Engine, e.Class, e.Message) }

func (e *Error) Unwrap() error { return e.Err }

// Names lists every engine that can be admitted, in the order of the catalogue.
func Names() []string { return []string{DuckDuckGo, OpenAI, Anthropic, Gemini, Tavily} }
