package anthropic

// The types of the Messages API as its public reference lays them out: platform.claude.com, "Messages", with
// "Web search tool", "Citations" and "Handling stop reasons", for version 2023-06-01. Members that nothing
// here reads are left out; an answer may hold others.

import "github.com/go-json-experiment/json/jsontext"

const (
	// version is the value of the header anthropic-version.
	version = "2023-06-01"
	// maxTokens bounds the model's answer, in tokens.
	maxTokens = 4096
	// searchTool is the type of the search tool; a newer one runs code between the searches.
	searchTool = "web_search_20250305"
)

// request is written in the order of its fields.
type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    string    `json:"system,omitzero"`
	Messages  []message `json:"messages"`
	Tools     []tool    `json:"tools,omitzero"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type tool struct {
	Type string `json:"type"`
	Name string `json:"name"`
	// AllowedDomains are hosts without a scheme; their subdomains are meant too.
	AllowedDomains []string `json:"allowed_domains,omitempty"`
}

// answer is a message of the model, or an error where Type is "error".
type answer struct {
	Type  string `json:"type"`
	Error struct {
		Type string `json:"type"`
	} `json:"error"`
	// Content holds blocks of many types, which share member names but not their forms; each is read by its type.
	Content    []jsontext.Value `json:"content"`
	StopReason string           `json:"stop_reason"`
}

// typed is what every block and every part of one says of itself.
type typed struct {
	Type string `json:"type"`
}

// textBlock has the type "text".
type textBlock struct {
	Text      string           `json:"text"`
	Citations []jsontext.Value `json:"citations"`
}

// citation has the type "web_search_result_location".
type citation struct {
	URL string `json:"url"`
	// Title may be null.
	Title string `json:"title"`
	// CitedText is an excerpt of the page, of at most about 150 characters.
	CitedText string `json:"cited_text"`
}

// toolResult has the type "web_search_tool_result".
type toolResult struct {
	// Content is a list of hits or one toolError.
	Content jsontext.Value `json:"content"`
}

// hit has the type "web_search_result". Its text is encrypted.
type hit struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	// PageAge is the day of the page's last change in words, such as "April 30, 2025", or null.
	PageAge string `json:"page_age"`
}

// toolError has the type "web_search_tool_result_error".
type toolError struct {
	ErrorCode string `json:"error_code"`
}
