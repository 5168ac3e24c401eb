package gemini

import (
	"strings"
	"unicode/utf8"

	"web/engines"
	"web/engines/internal/exchange"
)

const (
	// fallbackTitle names a result for which the provider gave no title.
	fallbackTitle = "Gemini Web Search"
	// maxSnippetBytes bounds all snippets of an answer together, in bytes of UTF-8: one segment may bear out
	// many sources, so a small answer could ask for very much text.
	maxSnippetBytes = exchange.MaxBodyBytes
)

// read takes the sources and the text out of the first candidate. Every error is an *engines.Error.
func read(a answer) (engines.Answer, error) {
	if err := whole(a); err != nil {
		return engines.Answer{}, err
	}
	if len(a.Candidates) == 0 {
		return engines.Answer{}, nil
	}
	c := a.Candidates[0]
	var out engines.Answer
	// at says which result a chunk belongs to: -1 for none.
	at, byURL := make([]int, len(c.Grounding.Chunks)), map[string]int{}
	for i, chunk := range c.Grounding.Chunks {
		at[i] = -1
		if chunk.Web == nil {
			continue
		}
		title, uri := chunk.Web.Title, chunk.Web.URI
		if strings.TrimSpace(uri) == "" {
			out.LeftOut.Broken++
			continue
		}
		n, seen := byURL[uri]
		if seen {
			out.LeftOut.Duplicates++
		} else {
			n = len(out.Results)
			byURL[uri] = n
			out.Results = append(out.Results, engines.Result{URL: uri})
		}
		at[i] = n
		if strings.TrimSpace(out.Results[n].Title) == "" {
			out.Results[n].Title = title
		}
	}
	for i := range out.Results {
		if strings.TrimSpace(out.Results[i].Title) == "" {
			out.Results[i].Title = fallbackTitle
		}
	}
	if !snippets(out.Results, at, c) {
		return engines.Answer{}, garbled()
	}
	out.Narrative = narrative(c.Content.Parts)
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

// readText takes the model's own words out of the first candidate; "" when it said nothing.
func readText(a answer) (string, error) {
	if err := whole(a); err != nil || len(a.Candidates) == 0 {
		return "", err
	}
	return narrative(a.Candidates[0].Content.Parts), nil
}

// whole returns the failure of an answer that is none or that is only a part of what the model had to say. No
// candidates, and a candidate without a reason to finish, are no sign of either.
func whole(a answer) error {
	switch {
	case a.Error != nil:
		if a.Error.Code < 400 || a.Error.Code > 599 {
			return garbled()
		}
		return provider(nil).Fail(exchange.Fault{Kind: exchange.Status, Status: a.Error.Code}, "")
	case a.PromptFeedback != nil && a.PromptFeedback.BlockReason != "" && a.PromptFeedback.BlockReason != "BLOCK_REASON_UNSPECIFIED":
		return fail("block_reason:", a.PromptFeedback.BlockReason, "Gemini refused the request. Rephrase it, or use another engine.")
	case len(a.Candidates) > 0:
		return finished(a.Candidates[0].FinishReason)
	case a.Candidates == nil && a.PromptFeedback == nil && a.Usage == nil && len(a.Others) > 0:
		return garbled() // an object of something else
	}
	return nil
}

func finished(reason string) error {
	message, retryable := "", false
	switch reason {
	case "", "STOP", "FINISH_REASON_UNSPECIFIED":
		return nil
	case "MAX_TOKENS":
		message = "Gemini's answer grew too long and was cut off, so it was not used. Ask for less, or use another engine."
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII":
		message = "Gemini withheld the answer or a part of it. Rephrase the request, or use another engine."
	default: // a model that made a mistake, and what may come
		message, retryable = "Gemini ended the answer before it was complete, so it was not used. Try again, once, or use another engine.", true
	}
	err := fail("finish_reason:", reason, message)
	err.Retryable = retryable
	return err
}

// snippets gives each result the segments of the text that its chunks bear out, each once and in their order;
// false when there is more of it than maxSnippetBytes.
func snippets(results []engines.Result, at []int, c candidate) bool {
	texts := make([][]string, len(results))
	seen := make([]map[string]bool, len(results))
	total := 0
	for _, s := range c.Grounding.Supports {
		text := segmentText(s.Segment, c.Content.Parts)
		if total += len(text) + 1; total > maxSnippetBytes { // looking at it costs, even where nothing is kept
			return false
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		for _, i := range s.Chunks {
			if i < 0 || i >= len(at) || at[i] < 0 {
				continue
			}
			if total += len(text) + 1; total > maxSnippetBytes {
				return false
			}
			n := at[i]
			if seen[n][text] {
				continue
			}
			if seen[n] == nil {
				seen[n] = map[string]bool{}
			}
			seen[n][text] = true
			texts[n] = append(texts[n], text)
		}
	}
	for n := range results {
		results[n].Snippet = strings.Join(texts[n], " ")
	}
	return true
}

// segmentText is a segment's own text or, where it has none, the stretch of the part that its offsets give. An
// offset inside a character takes in all of it, one behind the end means the end; thoughts are never quoted.
func segmentText(s segment, parts []part) string {
	if strings.TrimSpace(s.Text) != "" {
		return s.Text
	}
	if s.Part < 0 || s.Part >= len(parts) || parts[s.Part].Thought {
		return ""
	}
	text := parts[s.Part].Text
	start, end := max(s.Start, 0), min(s.End, len(text))
	if start >= end {
		return ""
	}
	for !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return text[start:end]
}

// narrative joins the model's own words, or is "" when there are none but white space.
func narrative(parts []part) string {
	var texts []string
	for _, p := range parts {
		if p.Text != "" && !p.Thought {
			texts = append(texts, p.Text)
		}
	}
	s := strings.Join(texts, "\n")
	if strings.TrimSpace(s) == "" {
		return ""
	}
	return s
}

// fail names a reason that the provider gave, as long as it is nothing but a name: anything else could be text
// that must not be shown.
func fail(prefix, reason, message string) *engines.Error {
	if strings.Trim(reason, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		reason = "unknown"
	}
	class := prefix + reason
	return &engines.Error{Engine: engines.Gemini, Class: class[:min(len(class), engines.MaxClassChars)], Message: message}
}

func garbled() *engines.Error { return provider(nil).Fail(exchange.Fault{Kind: exchange.Garbled}, "") }
