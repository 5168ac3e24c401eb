package engines

// DefaultModel names the model that an engine asks when the operator chose none; "" for an engine without
// models. Names age: this is the one place where they stand.
func DefaultModel(engine string) string {
	switch engine {
	case OpenAI:
		return "gpt-5.6"
	case Anthropic:
		return "claude-sonnet-5"
	case Gemini:
		return "gemini-3-flash-preview"
	}
	return ""
}
