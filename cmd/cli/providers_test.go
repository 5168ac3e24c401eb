package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// providers stands in for OpenAI, Anthropic, Gemini and Tavily on the loopback interface, each below a path of
// its own; below "refusing/N" everything has status N. What it answers depends on the words: with "status N" in them that status, with "cut" half an
// answer, with "unsure" text without a source, with "partly" an answer that is not whole, else text with one source.
// A request without a search tool is one for a summary; its words are the purpose.
type providers struct {
	*httptest.Server
	mu   sync.Mutex
	last map[string]string // by provider: the last request as the scripts compare it
}

func newProviders() *providers {
	p := &providers{last: map[string]string{}}
	p.Server = httptest.NewServer(p)
	return p
}

// words finds the question in any provider's request.
func words(body []byte) (text string, search bool) {
	var r struct {
		Input, Query string
		Tools        []any
		Messages     []struct{ Content string }
		Contents     []struct{ Parts []struct{ Text string } }
	}
	_ = json.Unmarshal(body, &r)
	text = r.Input + r.Query
	for _, m := range r.Messages {
		text += m.Content
	}
	for _, c := range r.Contents {
		for _, part := range c.Parts {
			text += part.Text
		}
	}
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimPrefix(text, "Purpose: "), len(r.Tools) > 0 || r.Query != ""
}

func (p *providers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	var shown strings.Builder
	fmt.Fprintf(&shown, "%s /%s\n", r.Method, path)
	for _, h := range []string{"Accept", "Accept-Encoding", "Anthropic-Version", "Authorization", "Content-Type", "X-Api-Key", "X-Goog-Api-Key"} {
		if v := r.Header.Get(h); v != "" {
			fmt.Fprintf(&shown, "%s: %s\n", h, v)
		}
	}
	fmt.Fprintf(&shown, "\n%s\n", body)
	p.mu.Lock()
	p.last[name] = shown.String()
	p.mu.Unlock()

	if name == "refusing" {
		status, _, _ := strings.Cut(path, "/")
		code, _ := strconv.Atoi(status)
		w.WriteHeader(code)
		return
	}
	text, search := words(body)
	if _, status, ok := strings.Cut(text, "status "); ok {
		code, _ := strconv.Atoi(strings.Fields(status)[0])
		w.WriteHeader(code)
		_, _ = io.WriteString(w, `{"error":{"message":"no, `+r.Header.Get("Authorization")+`"}}`)
		return
	}
	kind := "cited"
	switch {
	case !search:
		kind = "summary"
	case strings.Contains(text, "unsure"):
		kind = "unsure"
	case strings.Contains(text, "partly"):
		kind = "partly"
	}
	answer := providerAnswers[name][kind]
	w.Header().Set("Content-Type", "application/json")
	if strings.Contains(text, "cut") {
		_, _ = io.WriteString(w, answer[:len(answer)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, answer)
}

// providerAnswers are answers in the wire formats of the providers, by provider and kind.
var providerAnswers = map[string]map[string]string{
	"openai": {
		"cited": `{"status":"completed","error":null,"output":[{"type":"web_search_call","status":"completed"},{"type":"message","status":"completed","content":[{"type":"output_text",` +
			`"text":"Tides turn twice a day. ([coast.example](https://coast.example/tides?utm_source=openai)) Winds do not.",` +
			`"annotations":[{"type":"url_citation","start_index":24,"end_index":88,"url":"https://coast.example/tides?utm_source=openai","title":"Tides of the coast"}]}]}]}`,
		"unsure":  `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Probably. Nobody wrote it down.","annotations":[]}]}]}`,
		"partly":  `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","status":"incomplete","content":[{"type":"output_text","text":"Tides tu"}]}]}`,
		"summary": `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"The model's summary."}]}]}`,
	},
	"anthropic": {
		"cited": `{"type":"message","content":[{"type":"text","text":"I'll look that up."},{"type":"server_tool_use","name":"web_search"},` +
			`{"type":"web_search_tool_result","content":[{"type":"web_search_result","url":"https://coast.example/tides","title":"Tides of the coast","page_age":"March 2, 2026"}]},` +
			`{"type":"text","text":"Tides turn "},{"type":"text","text":"twice a day","citations":[{"type":"web_search_result_location","url":"https://coast.example/tides","title":"Tides of the coast","cited_text":"Most coasts see two high tides a day."}]},` +
			`{"type":"text","text":"."}],"stop_reason":"end_turn"}`,
		"unsure":  `{"type":"message","content":[{"type":"text","text":"Probably. Nobody wrote it down."}],"stop_reason":"end_turn"}`,
		"partly":  `{"type":"message","content":[{"type":"text","text":"Tides tu"}],"stop_reason":"max_tokens"}`,
		"summary": `{"type":"message","content":[{"type":"text","text":"The model's summary."}],"stop_reason":"end_turn"}`,
	},
	"gemini": {
		"cited": `{"candidates":[{"content":{"parts":[{"text":"Tides turn twice a day. Winds do not."}]},"finishReason":"STOP","groundingMetadata":{` +
			`"groundingChunks":[{"web":{"uri":"https://redirect.example/r/1","title":"coast.example"}}],"groundingSupports":[{"segment":{"endIndex":23},"groundingChunkIndices":[0]}]}}]}`,
		"unsure":  `{"candidates":[{"content":{"parts":[{"text":"Probably. Nobody wrote it down."}]},"finishReason":"STOP"}]}`,
		"partly":  `{"candidates":[{"content":{"parts":[{"text":"Tides tu"}]},"finishReason":"MAX_TOKENS"}]}`,
		"summary": `{"candidates":[{"content":{"parts":[{"text":"The model's summary."}]},"finishReason":"STOP"}]}`,
	},
	"tavily": {
		"cited":  `{"answer":null,"results":[{"url":"https://coast.example/tides","title":"Tides of the coast","content":"Most coasts see two high tides a day.","published_date":"Mon, 02 Mar 2026 23:30:00 GMT"}]}`,
		"unsure": `{"answer":"Probably. Nobody wrote it down.","results":[]}`,
		"partly": `{"answer":"Tides tu"}`,
	},
}

// sent: sent PROVIDER FILE compares the last request that reached a provider with a file, and forgets it; FILE
// "-" is none, and "*" is any.
func (p *providers) sent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sent PROVIDER FILE")
	}
	p.mu.Lock()
	got := p.last[args[0]]
	delete(p.last, args[0])
	p.mu.Unlock()
	want := ""
	switch {
	case args[1] == "*" && got != "":
		return
	case args[1] != "-":
		want = ts.ReadFile(args[1])
	}
	if got != want {
		ts.Fatalf("sent to %s:\n%s\nwant:\n%s", args[0], got, want)
	}
}
