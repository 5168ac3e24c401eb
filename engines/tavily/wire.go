package tavily

// The types of the search endpoint as its public reference lays them out: docs.tavily.com, "Tavily Search".
// Members that nothing here reads are left out; an answer may hold others.

const (
	// maxResults is the most results that one search gives.
	maxResults = 20
	// maxQueryChars is the query's length, in characters, above which Tavily answers with status 400. It is not
	// enforced here, as it may change.
	maxQueryChars = 400
	// statusPlanUsedUp and statusPaidUsedUp say that a plan, or the limit of what is paid by use, is used up.
	statusPlanUsedUp = 432
	statusPaidUsedUp = 433
)

// request is written in the order of its fields.
type request struct {
	Query      string `json:"query"`
	MaxResults int    `json:"max_results,omitzero"`
	// TimeRange is "day", "week", "month" or "year".
	TimeRange string `json:"time_range,omitzero"`
	// IncludeDomains are hosts without a scheme.
	IncludeDomains []string `json:"include_domains,omitempty"`
}

// answer is null or missing in Answer unless it was asked for.
type answer struct {
	Answer  string   `json:"answer"`
	Results []result `json:"results"`
}

type result struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Content string `json:"content"`
	// PublishedDate has the form of RFC 1123 or of ISO 8601; it comes with news as a rule.
	PublishedDate string `json:"published_date"`
}
