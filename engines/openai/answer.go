package openai

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"web/engines"
	"web/engines/internal/exchange"
)

// fallbackTitle names a result for which the provider gave no title.
const fallbackTitle = "OpenAI Web Search"

// read takes the sources and the text out of an answer. Every error is an *engines.Error.
func read(a answer) (engines.Answer, error) {
	blocks, err := messages(a)
	if err != nil {
		return engines.Answer{}, err
	}
	var m merger
	for _, b := range blocks {
		c := newCited(b)
		for i, note := range b.Annotations {
			if note.Type == "url_citation" {
				m.add(note, c.snippet(i))
			}
		}
	}
	return m.answer(narrative(blocks))
}

// readText takes the model's own words out of an answer; "" when it said nothing.
func readText(a answer) (string, error) {
	blocks, err := messages(a)
	return narrative(blocks), err
}

// narrative is the text of all blocks, or "" when there is none but white space.
func narrative(blocks []block) string {
	var s strings.Builder
	for _, b := range blocks {
		s.WriteString(b.Text)
	}
	if strings.TrimSpace(s.String()) == "" {
		return ""
	}
	return s.String()
}

// messages returns the blocks of text of a whole answer, or why it is none.
func messages(a answer) ([]block, error) {
	if err := whole(a); err != nil {
		return nil, err
	}
	var texts []block
	for _, it := range a.Output {
		if it.Type != "message" {
			continue
		}
		if it.Status == "incomplete" {
			return nil, incomplete()
		}
		var blocks []block
		// As leniently as the whole was read.
		if it.Content.Kind() != '[' || json.Unmarshal(it.Content, &blocks, jsontext.AllowInvalidUTF8(true)) != nil {
			return nil, garbled()
		}
		for _, b := range blocks {
			switch b.Type {
			case "output_text":
				texts = append(texts, b)
			case "refusal":
				return nil, fail("refusal", "OpenAI's model refused to answer. Rephrase the request, or use another engine.")
			}
		}
	}
	return texts, nil
}

// whole returns the failure of a response that is none, or only a part of what the model had to say. A missing
// status is no sign of either: some servers of the same interface give none.
func whole(a answer) error {
	switch {
	case a.Error.Kind() == '{':
		return reported(a.Error)
	case a.Error != nil && a.Error.Kind() != 'n':
		return garbled()
	}
	switch a.Status {
	case "", "completed":
	case "failed", "cancelled":
		return failed(a.Status)
	case "incomplete":
		return incomplete()
	case "queued", "in_progress":
		return fail("status:"+a.Status, "OpenAI has not finished the answer, so it was not used. Try again later, or use another engine.")
	default:
		return fail("status:unknown", "OpenAI ended the answer in a way that is not known here, so it may be incomplete and was not used. Use another engine, or try again later.")
	}
	if a.Output == nil {
		return garbled()
	}
	return nil
}

// reported is an error that came with a status of success.
func reported(raw jsontext.Value) error {
	var e responseError
	if json.Unmarshal(raw, &e, jsontext.AllowInvalidUTF8(true)) != nil {
		return failed("failed")
	}
	// The same failures as by status, in words that name none.
	switch e.Code {
	case "rate_limit_exceeded":
		return provider(nil).Fail(exchange.Fault{Kind: exchange.Status, Status: http.StatusTooManyRequests},
			"OpenAI takes no more requests of this key for now. Wait before the next call, or use another engine.")
	case "server_error":
		return provider(nil).Fail(exchange.Fault{Kind: exchange.Status, Status: http.StatusInternalServerError},
			"OpenAI could not answer for now. Try again later, once, or use another engine.")
	case "invalid_prompt":
		return provider(nil).Fail(exchange.Fault{Kind: exchange.Status, Status: http.StatusBadRequest},
			"OpenAI did not accept the text. Rephrase it, or use another engine.")
	}
	return failed("failed")
}

func failed(status string) error {
	return fail("status:"+status, "OpenAI did not complete the answer, so it was not used. Use another engine, or try again later.")
}

func incomplete() error {
	return fail("status:incomplete", "OpenAI's answer was cut off, so it was not used. Ask for less, or use another engine.")
}

func garbled() error { return provider(nil).Fail(exchange.Fault{Kind: exchange.Garbled}, "") }

func fail(class, message string) error {
	return &engines.Error{Engine: engines.OpenAI, Class: class, Message: message}
}

// merger makes one result of all citations of a URL.
type merger struct {
	results []engines.Result
	at      map[string]int
	leftOut engines.LeftOut
}

func (m *merger) add(note annotation, snippet string) {
	if strings.TrimSpace(note.URL) == "" {
		m.leftOut.Broken++
		return
	}
	key := mergeKey(note.URL)
	i, seen := m.at[key]
	if !seen {
		if m.at == nil {
			m.at = map[string]int{}
		}
		i = len(m.results)
		m.at[key] = i
		m.results = append(m.results, engines.Result{URL: note.URL})
	} else {
		m.leftOut.Duplicates++
	}
	have := &m.results[i]
	if strings.TrimSpace(have.Title) == "" {
		have.Title = note.Title
	}
	if len(snippet) > len(have.Snippet) {
		have.Snippet = snippet
	}
}

func (m *merger) answer(narrative string) (engines.Answer, error) {
	out := engines.Answer{Results: m.results, Narrative: narrative, LeftOut: m.leftOut}
	for i := range out.Results {
		if strings.TrimSpace(out.Results[i].Title) == "" {
			out.Results[i].Title = fallbackTitle
		}
	}
	switch {
	case len(out.Results) > 0:
	case narrative != "":
		out.Results = []engines.Result{{Title: fallbackTitle, Snippet: narrative}}
		out.Narrative = ""
	case out.LeftOut.Broken > 0: // sources without an address are not the same as none
		return engines.Answer{}, garbled()
	}
	return out, nil
}

// mergeKey is a URL without the parameter by which OpenAI marks where a visitor came from. The URL itself is
// handed on as it came.
func mergeKey(url string) string {
	rest, fragment, hasFragment := strings.Cut(url, "#")
	path, query, hasQuery := strings.Cut(rest, "?")
	if !hasQuery {
		return url
	}
	parameters := slices.DeleteFunc(strings.Split(query, "&"), func(p string) bool { return p == "utm_source=openai" })
	if len(parameters) > 0 {
		path += "?" + strings.Join(parameters, "&")
	}
	if hasFragment {
		path += "#" + fragment
	}
	return path
}
