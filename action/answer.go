package action

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// Status is the wire's status.
type Status string

// The statuses.
const (
	OK                 Status = "ok"
	Failed             Status = "failed"
	Degraded           Status = "degraded"
	SummaryUnavailable Status = "summary_unavailable"
)

// Answer is what a call returns: one of *Failure, *SearchAnswer, *BrowseAnswer, *ManualAnswer.
type Answer interface {
	// State is the answer's status.
	State() Status
}

// Marshal writes an answer as one compact JSON object and a newline.
func Marshal(a Answer) []byte {
	out, err := json.Marshal(a, json.Deterministic(true))
	if err != nil {
		// Only a string that is not UTF-8 can get here, and every reader of foreign bytes repairs those.
		out = fmt.Appendf(nil, `{"status":"failed","error_code":"INTERNAL_ERROR","message":"the answer could not be written","action":"unknown"}`)
	}
	return append(out, '\n')
}

// Failure is every failed call, envelope failures included.
type Failure struct {
	Status  Status `json:"status"`
	Action  Name   `json:"action"`
	Code    Code   `json:"error_code"`
	Message string `json:"message"`
	// Retryable says whether the same call may succeed later; RetryAfterMS, when known, after how long.
	Retryable    bool  `json:"retryable"`
	RetryAfterMS int64 `json:"retry_after_ms,omitzero"`
	// Advice is the one next step for the caller.
	Advice string `json:"recommended_action"`

	// What browse adds (contract 4.12).
	RequestID  string `json:"request_id,omitzero"`
	Stage      string `json:"stage,omitzero"`
	HTTPStatus int    `json:"http_status,omitzero"`
	SnapshotID string `json:"snapshot_id,omitzero"`
	Partial    *bool  `json:"partial,omitzero"`

	// What search adds (contract 2.8).
	Query           *string `json:"query,omitzero"`
	Engine          *string `json:"engine,omitzero"`
	OpenAIClass     string  `json:"openai_failure_class,omitzero"`
	DuckDuckGoClass string  `json:"duckduckgo_failure_class,omitzero"`
	ProviderClass   string  `json:"provider_failure_class,omitzero"`

	Setting CurrentSetting `json:"current_setting"`
}

// State implements Answer.
func (f *Failure) State() Status { return f.Status }

func (f *Failure) Error() string { return string(f.Code) + ": " + f.Message }

func fail(name Name, code Code, message, advice string) *Failure {
	return &Failure{Status: Failed, Action: name, Code: code, Message: message, Advice: advice}
}

// ResultItem is one search result (contract 2.4), in wire order.
type ResultItem struct {
	Title   string  `json:"title"`
	URL     string  `json:"url"`
	Snippet string  `json:"snippet"`
	LinkRef *string `json:"link_ref"`
}

// SearchAnswer is a successful search.
type SearchAnswer struct {
	Status       Status `json:"status"`
	Action       Name   `json:"action"`
	Query        string `json:"query"`
	Engine       string `json:"engine"`
	ActualEngine string `json:"actual_engine"`
	// Comment and OpenAIClass are given only when DuckDuckGo answered for OpenAI.
	Comment     string `json:"comment,omitzero"`
	OpenAIClass string `json:"openai_failure_class,omitzero"`
	// Narrative is the engine's own text; like Results it moves to the artifact.
	Narrative   *string       `json:"answer,omitzero"`
	Results     *[]ResultItem `json:"results,omitzero"`
	Count       int           `json:"count"`
	RetrievedAt string        `json:"retrieved_at"`
	// LeftOut counts what the engine's page held and the answer does not.
	LeftOut   *LeftOut  `json:"left_out,omitzero"`
	Warnings  []Warning `json:"warnings,omitempty"`
	Untrusted bool      `json:"untrusted_content"`
	Delivery
	Setting CurrentSetting `json:"current_setting"`
}

// LeftOut counts what was left out of a search on purpose.
type LeftOut struct {
	Ads        int `json:"ads"`
	Duplicates int `json:"duplicates"`
	Unsafe     int `json:"unsafe"`
	Broken     int `json:"broken"`
}

// State implements Answer.
func (a *SearchAnswer) State() Status { return a.Status }

// BlockItem is one block of a page (contract 4.8), in wire order.
type BlockItem struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
	Level    int    `json:"level,omitzero"`
	Depth    int    `json:"depth,omitzero"`
	Language string `json:"language,omitzero"`
}

// ManualAnswer is the guide.
type ManualAnswer struct {
	Status Status `json:"status"`
	Action Name   `json:"action"`
	Manual string `json:"manual"`
	// Path is absolute, or null for the embedded guide.
	Path *string `json:"manual_path"`
	// Source is "installed" or "embedded".
	Source  string         `json:"manual_source"`
	Error   string         `json:"error,omitzero"`
	Setting CurrentSetting `json:"current_setting"`
}

// State implements Answer.
func (a *ManualAnswer) State() Status { return a.Status }
