package openai

// The types of the Responses API as its public reference lays them out: platform.openai.com, "Responses", with
// "Web search" and "Error codes". Members that nothing here reads are left out; an answer may hold others.

import "github.com/go-json-experiment/json/jsontext"

// request is written in the order of its fields.
type request struct {
	Model        string `json:"model"`
	Instructions string `json:"instructions,omitzero"`
	Tools        []tool `json:"tools,omitzero"`
	Input        string `json:"input"`
	// Store false keeps the exchange out of the provider's own history, where it would be kept for weeks.
	Store *bool `json:"store,omitzero"`
}

type tool struct {
	Type    string  `json:"type"`
	Filters filters `json:"filters,omitzero"`
}

type filters struct {
	// AllowedDomains are hosts without a scheme; their subdomains are meant too. At most 100.
	AllowedDomains []string `json:"allowed_domains,omitempty"`
}

func (f filters) IsZero() bool { return len(f.AllowedDomains) == 0 }

// answer is a response.
type answer struct {
	// Status is "completed", "incomplete", "failed", "cancelled", "queued" or "in_progress".
	Status string `json:"status"`
	// Error is null or an object with a code and a text.
	Error  jsontext.Value `json:"error"`
	Output []item         `json:"output"`
}

type responseError struct {
	Code string `json:"code"`
}

// item is a message, the call of a tool, or the model's reasoning. Content belongs to the type: only that of a
// message is a list of blocks for certain.
type item struct {
	Type    string         `json:"type"`
	Status  string         `json:"status"`
	Content jsontext.Value `json:"content"`
}

// block is a part of a message: of type "output_text", or "refusal".
type block struct {
	Type        string       `json:"type"`
	Text        string       `json:"text"`
	Annotations []annotation `json:"annotations"`
}

// annotation of type "url_citation" names a source. StartIndex and EndIndex say where in the block's text, in
// characters, the mark of the citation stands, such as "([ex.org](https://ex.org/a))". Some servers of the same
// interface leave them out, or mean the words that the source supports.
type annotation struct {
	Type       string   `json:"type"`
	URL        string   `json:"url"`
	Title      string   `json:"title"`
	StartIndex *float64 `json:"start_index"`
	EndIndex   *float64 `json:"end_index"`
}
