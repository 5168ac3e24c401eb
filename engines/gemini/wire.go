package gemini

// The types of the generateContent method as its public reference lays them out: ai.google.dev, "Generating
// content" (GenerateContentResponse, Candidate, GroundingMetadata, Segment), for v1beta. Members that nothing
// here reads are left out; an answer may hold others, and any of these may be missing or null.

import "github.com/go-json-experiment/json/jsontext"

// request is written in the order of its fields.
type request struct {
	SystemInstruction *instruction `json:"systemInstruction,omitzero"`
	Contents          []turn       `json:"contents"`
	Tools             []tool       `json:"tools,omitzero"`
}

// instruction is a content without a role.
type instruction struct {
	Parts []textPart `json:"parts"`
}

type turn struct {
	Role  string     `json:"role"`
	Parts []textPart `json:"parts"`
}

type textPart struct {
	Text string `json:"text"`
}

// tool is Google's search, which takes no options here.
type tool struct {
	GoogleSearch struct{} `json:"googleSearch"`
}

type answer struct {
	Candidates     []candidate     `json:"candidates"`
	PromptFeedback *promptFeedback `json:"promptFeedback"`
	Usage          jsontext.Value  `json:"usageMetadata"`
	Error          *apiError       `json:"error"`
	// Others are members with other names.
	Others jsontext.Value `json:",embed"`
}

// promptFeedback says why there is no candidate.
type promptFeedback struct {
	BlockReason string `json:"blockReason"`
}

type apiError struct {
	// Code is an HTTP status.
	Code int `json:"code"`
}

type candidate struct {
	Content struct {
		Parts []part `json:"parts"`
	} `json:"content"`
	FinishReason string    `json:"finishReason"`
	Grounding    grounding `json:"groundingMetadata"`
}

type part struct {
	Text string `json:"text"`
	// Thought is true for what the model said to itself.
	Thought bool `json:"thought"`
}

type grounding struct {
	Chunks   []chunk   `json:"groundingChunks"`
	Supports []support `json:"groundingSupports"`
}

// chunk is one source. Chunks of other kinds than web have no Web.
type chunk struct {
	Web *web `json:"web"`
}

type web struct {
	// URI leads to the page by way of a redirect of Google's as a rule, and Title is then the page's domain.
	URI   string `json:"uri"`
	Title string `json:"title"`
}

// support says which chunks bear out a segment of the text.
type support struct {
	Segment segment `json:"segment"`
	// Chunks are indices into grounding.Chunks.
	Chunks []int `json:"groundingChunkIndices"`
}

// segment is a stretch of one part of the text. A number that is 0 is left out on the wire.
type segment struct {
	// Part is an index into content.parts.
	Part int `json:"partIndex"`
	// Start and End, which lies behind the last one, count bytes of the part's UTF-8 text.
	Start int `json:"startIndex"`
	End   int `json:"endIndex"`
	// Text is the same stretch as text.
	Text string `json:"text"`
}
