package anthropic

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"web/engines"
	"web/engines/internal/exchange"
)

// fallbackTitle names a result for which the provider gave no title.
const fallbackTitle = "Anthropic Web Search"

// read takes the sources and the text out of a message. Every error is an *engines.Error.
func read(a answer) (engines.Answer, error) {
	c, err := collect(a)
	if err != nil {
		return engines.Answer{}, err
	}
	return c.answer()
}

// readText takes the model's own words out of a message; "" when it said nothing.
func readText(a answer) (string, error) {
	c, err := collect(a)
	if err != nil {
		return "", err
	}
	return c.text.String(), nil
}

func collect(a answer) (collector, error) {
	var c collector
	for _, raw := range a.Content {
		if err := c.block(raw); err != nil {
			return c, err
		}
	}
	// A failed search tells more than the way in which the model then ended, so this comes last.
	return c, whole(a)
}

// whole returns the failure of a message that is none or that is only a part of what the model had to say.
// A missing stop_reason is no sign of either.
func whole(a answer) error {
	switch {
	case a.Type == "error":
		return providerError(a.Error.Type)
	case a.Content == nil:
		return garbled()
	}
	switch a.StopReason {
	case "", "end_turn", "stop_sequence":
		return nil
	case "refusal":
		return fail("stop_reason:refusal", "Anthropic's model refused to answer. Rephrase the request, or use another engine.")
	case "pause_turn":
		err := fail("stop_reason:pause_turn", "Anthropic paused in the middle of the answer, so it was not used. Try again, ask for less, or use another engine.")
		err.Retryable = true
		return err
	case "max_tokens", "model_context_window_exceeded":
		return fail("stop_reason:"+a.StopReason, "Anthropic's answer grew too long and was cut off, so it was not used. Ask for less, or use another engine.")
	default:
		return fail("stop_reason:"+token(a.StopReason), "Anthropic ended the answer for a reason that is not known here, so it may be incomplete and was not used. Use another engine, or try again later.")
	}
}

// collector merges what the blocks say about each URL.
type collector struct {
	results []engines.Result
	at      map[string]source
	text    prose
	leftOut engines.LeftOut
}

// source says where the result of a URL stands and which kinds of block named it.
type source struct {
	index      int
	hit, cited bool
}

func (c *collector) block(raw jsontext.Value) error {
	switch kind, err := typeOf(raw); {
	case err != nil:
		return err
	case kind == "text":
		return c.textBlock(raw)
	case kind == "web_search_tool_result":
		c.text.interrupt()
		return c.toolResult(raw)
	default: // thinking, the call of the tool, and what may come
		c.text.interrupt()
		return nil
	}
}

func (c *collector) textBlock(raw jsontext.Value) error {
	var b textBlock
	if decode(raw, &b) != nil {
		return garbled()
	}
	c.text.add(b.Text)
	for _, raw := range b.Citations {
		kind, err := typeOf(raw)
		if err != nil {
			return err
		}
		if kind != "web_search_result_location" {
			continue
		}
		var q citation
		if decode(raw, &q) != nil {
			return garbled()
		}
		c.add(engines.Result{Title: q.Title, URL: q.URL, Snippet: q.CitedText}, true)
	}
	return nil
}

func (c *collector) toolResult(raw jsontext.Value) error {
	var r toolResult
	if decode(raw, &r) != nil {
		return garbled()
	}
	var list []jsontext.Value
	switch r.Content.Kind() {
	case '[':
		if decode(r.Content, &list) != nil {
			return garbled()
		}
	case '{':
		kind, err := typeOf(r.Content)
		var e toolError
		if err != nil || kind != "web_search_tool_result_error" || decode(r.Content, &e) != nil {
			return garbled()
		}
		return searchError(e.ErrorCode)
	default:
		return garbled()
	}
	for _, raw := range list {
		kind, err := typeOf(raw)
		if err != nil {
			return err
		}
		if kind != "web_search_result" {
			continue
		}
		var h hit
		if decode(raw, &h) != nil {
			return garbled()
		}
		c.add(engines.Result{Title: h.Title, URL: h.URL, Published: day(h.PageAge)}, false)
	}
	return nil
}

// add keeps the first title and date and the longest snippet of each URL. A hit and a citation of it are one
// source; only what repeats its own kind is a duplicate.
func (c *collector) add(r engines.Result, cited bool) {
	if strings.TrimSpace(r.URL) == "" {
		c.leftOut.Broken++
		return
	}
	s, seen := c.at[r.URL]
	if !seen {
		if c.at == nil {
			c.at = map[string]source{}
		}
		s.index = len(c.results)
		c.results = append(c.results, engines.Result{URL: r.URL})
	}
	if cited && s.cited || !cited && s.hit {
		c.leftOut.Duplicates++
	}
	s.cited, s.hit = s.cited || cited, s.hit || !cited
	c.at[r.URL] = s
	have := &c.results[s.index]
	if strings.TrimSpace(have.Title) == "" {
		have.Title = r.Title
	}
	if have.Published == "" {
		have.Published = r.Published
	}
	if len(r.Snippet) > len(have.Snippet) && strings.TrimSpace(r.Snippet) != "" {
		have.Snippet = r.Snippet
	}
}

func (c *collector) answer() (engines.Answer, error) {
	out := engines.Answer{Results: c.results, Narrative: c.text.String(), LeftOut: c.leftOut}
	for i := range out.Results {
		if strings.TrimSpace(out.Results[i].Title) == "" {
			out.Results[i].Title = fallbackTitle
		}
	}
	switch {
	case len(out.Results) > 0:
	case out.Narrative != "":
		out.Results = []engines.Result{{Title: fallbackTitle, Snippet: out.Narrative}}
		out.Narrative = ""
	case out.LeftOut.Broken > 0: // sources without an address are not the same as none
		return engines.Answer{}, garbled()
	}
	return out, nil
}

func typeOf(raw jsontext.Value) (string, error) {
	var t typed
	if raw.Kind() != '{' || decode(raw, &t) != nil {
		return "", garbled()
	}
	return t.Type, nil
}

// day turns a page's age into an RFC 3339 date; of one in other words nothing is guessed.
func day(age string) string {
	for _, layout := range [...]string{"January 2, 2006", time.DateOnly} {
		if t, err := time.Parse(layout, strings.TrimSpace(age)); err == nil {
			return t.Format(time.DateOnly)
		}
	}
	return ""
}

func fail(class, message string) *engines.Error {
	return &engines.Error{Engine: engines.Anthropic, Class: class[:min(len(class), engines.MaxClassChars)], Message: message}
}

// searchError is the failure of the search tool inside a message that succeeded.
func searchError(code string) *engines.Error {
	message := "Anthropic's web search failed. Try again later, or use another engine."
	retryable := false
	switch code {
	case "too_many_requests":
		message, retryable = "Anthropic's web search takes no more queries for now. Wait before the next search, or use another engine.", true
	case "unavailable":
		message, retryable = "Anthropic's web search is unavailable. Try again later, once, or use another engine.", true
	case "max_uses_exceeded":
		message = "Anthropic's model searched more often than it may for one query. Ask for less, or use another engine."
	case "query_too_long", "request_too_large", "invalid_tool_input":
		message = "Anthropic's web search did not accept the query. Shorten or rephrase it, or use another engine."
	}
	err := fail("web_search_tool_result_error:"+token(code), message)
	err.Retryable = retryable
	return err
}

// providerError is an error that came with a status of success, as through a gateway.
func providerError(kind string) *engines.Error {
	status, known := map[string]int{
		"invalid_request_error": http.StatusBadRequest,
		"authentication_error":  http.StatusUnauthorized,
		"permission_error":      http.StatusForbidden,
		"not_found_error":       http.StatusNotFound,
		"request_too_large":     http.StatusRequestEntityTooLarge,
		"rate_limit_error":      http.StatusTooManyRequests,
		"api_error":             http.StatusInternalServerError,
		"overloaded_error":      statusOverloaded,
	}[kind]
	if !known {
		return garbled()
	}
	return provider(nil).Fail(exchange.Fault{Kind: exchange.Status, Status: status}, "")
}

func garbled() *engines.Error { return provider(nil).Fail(exchange.Fault{Kind: exchange.Garbled}, "") }

// decode reads a part of an answer as leniently as the whole was read.
func decode(raw jsontext.Value, into any) error {
	return json.Unmarshal(raw, into, jsontext.AllowInvalidUTF8(true))
}

// token lets a provider's code pass as part of a class when it is nothing but a name: anything else could be
// text that must not be shown.
func token(code string) string {
	if code == "" || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "unknown"
	}
	return code
}
