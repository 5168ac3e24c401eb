package action

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"unicode/utf8"

	"web/browse"
	"web/browse/blocks"
	"web/browse/fault"
	"web/browse/guard"
	"web/browse/refs"
	"web/settings"
	"web/spill"
)

// The bounds of what a page's answer holds beside its text (contract 4.9, 4.12; product 5).
const (
	maxTitleChars    = 512
	maxLinks         = 256
	maxLinkTextChars = 512
	maxLinkURLChars  = 2048
	maxLinksChars    = 24000
	maxOutline       = 100
)

// BrowseAnswer is a page that was read.
type BrowseAnswer struct {
	Status       Status `json:"status"`
	Action       Name   `json:"action"`
	RequestID    string `json:"request_id"`
	SnapshotID   string `json:"snapshot_id"`
	SourceSHA256 string `json:"source_sha256"`
	RequestedURL string `json:"requested_url"`
	FinalURL     string `json:"final_url"`
	HTTPStatus   int    `json:"http_status"`
	ContentType  string `json:"content_type"`
	Title        string `json:"title"`
	// What the page states about itself; null when it does not.
	Byline       *string `json:"byline"`
	Published    *string `json:"published"`
	SiteName     *string `json:"site_name"`
	Language     *string `json:"language"`
	Description  *string `json:"description"`
	CanonicalURL *string `json:"canonical_url"`

	RetrievedAt   string   `json:"retrieved_at"`
	RenderMode    string   `json:"render_mode"`
	RenderReason  string   `json:"render_reason"`
	RedirectChain []string `json:"redirect_chain"`
	*InlinePage
	Links []LinkItem `json:"links"`
	// Outline is the map of an artifact, never content.
	Outline []OutlineItem `json:"outline,omitempty"`
	// Timings are milliseconds; empty for a page that was not fetched now.
	Timings   map[string]int64 `json:"timings_ms"`
	Warnings  []Warning        `json:"warnings"`
	Removed   Removed          `json:"removed"`
	Untrusted bool             `json:"untrusted_content"`
	Delivery
	Setting CurrentSetting `json:"current_setting"`

	markdown []byte
}

// InlinePage is what an artifact takes the place of.
type InlinePage struct {
	Blocks        []BlockItem `json:"blocks"`
	Partial       bool        `json:"partial"`
	ReturnedChars int         `json:"returned_chars"`
	NextCursor    *string     `json:"next_cursor"`
}

// LinkItem is one link of a page. Ref stands for the whole target, URL and Text may be cut for display.
type LinkItem struct {
	Ref  string `json:"ref"`
	Text string `json:"text"`
	URL  string `json:"url"`
}

// OutlineItem is a heading of an artifact: Line counts from 1.
type OutlineItem struct {
	Line  int    `json:"line"`
	Level int    `json:"level"`
	Text  string `json:"text"`
}

// Removed counts what the text does not hold, in characters (data URIs in pieces).
type Removed struct {
	HiddenChars      int `json:"hidden_chars"`
	InvisibleChars   int `json:"invisible_chars"`
	DataURIs         int `json:"data_uris"`
	BoilerplateChars int `json:"boilerplate_chars"`
}

// State implements Answer.
func (a *BrowseAnswer) State() Status { return a.Status }

// Markdown is the whole page as Markdown, whatever the delivery.
func (a *BrowseAnswer) Markdown() string { return string(a.markdown) }

func (r *Runner) browse(ctx context.Context, e *Envelope) Answer {
	id := requestID()
	setting := r.noRead()
	setting.OutputMax = outputSetting(settings.ReadOutput(settings.In(r.deps.Workdir)))
	if setting.OutputMax.Value == nil {
		f := fail(Browse, OutputSettingsInvalid, settings.OutputFile+" is invalid; see current_setting.output_max_chars.settings_error",
			"mend or remove "+settings.OutputFile)
		f.Setting = setting
		return f
	}
	if given, ok := e.Input["max_chars"]; ok {
		setting.OutputMax = OutputSetting{Source: settings.RevisionCallOverride, Revision: settings.RevisionCallOverride}
		if !e.Bad("max_chars") {
			n := integer(given, 0)
			setting.OutputMax.Value = &n
		}
	}
	refuse := func(f *fault.Error) Answer { return browseFailure(f, id, setting) }
	reader, failed := r.reader()
	if failed != nil {
		failed.Setting = setting
		return failed
	}
	page, f := r.page(ctx, reader, e)
	if f != nil {
		return refuse(f)
	}
	return r.finishBrowse(ctx, page, id, setting)
}

// reader gives the page reader, unless the operator's configuration is invalid.
func (r *Runner) reader() (browse.Reader, *Failure) {
	op, err := r.operator()
	if err != nil {
		return browse.Reader{}, fail(Browse, OperatorConfigInvalid, "the operator's configuration is invalid: "+err.Error(),
			"have the operator mend the configuration file; `web doctor` shows where it is wrong")
	}
	fetcher, err := r.deps.Fetcher(op)
	if err != nil {
		return browse.Reader{}, fail(Browse, OperatorConfigInvalid, "the operator's network configuration cannot be used: "+err.Error(),
			"have the operator mend the configuration file; `web doctor` shows where it is wrong")
	}
	return browse.Reader{Fetch: fetcher, Snapshots: r.snapshots(), Now: r.deps.Now}, nil
}

// page checks the input in the order of contract 4.2 and reads the page.
func (r *Runner) page(ctx context.Context, reader browse.Reader, e *Envelope) (*browse.Page, *fault.Error) {
	_, hasURL := e.Input["url"]
	_, hasRef := e.Input["link_ref"]
	_, hasCursor := e.Input["cursor"]
	switch {
	case e.Bad("extract"):
		return nil, fault.New(fault.InvalidExtract, "extract must be article, full or null", "send article or full, or leave it out")
	case e.Bad("max_chars"):
		return nil, fault.New(fault.InvalidMaxChars, "max_chars must be an integer in 1..100000", "send an integer in 1..100000, or leave it out")
	case e.Bad("url"), e.Bad("link_ref"), hasURL && hasRef, !hasURL && !hasRef && !hasCursor:
		return nil, fault.New(fault.InvalidTarget, "exactly one of url and link_ref must be a string, unless a cursor is given", "send either url or link_ref")
	}
	mode := browse.Article
	if extract, _ := e.Text("extract"); extract == "full" {
		mode = browse.Full
	}
	var target guard.URL
	address, _ := e.Text("url")
	if hasRef {
		ref, _ := e.Text("link_ref")
		var f *fault.Error
		if address, f = r.resolveRef(ctx, ref); f != nil {
			return nil, f
		}
	}
	if hasURL || hasRef {
		var f *fault.Error
		if target, f = guard.ParseURL(address); f != nil {
			return nil, f
		}
	}
	if !hasCursor {
		return reader.Open(ctx, target, mode)
	}
	cursor, _ := e.Text("cursor")
	return reader.Reopen(ctx, cursor, target, mode)
}

func (r *Runner) resolveRef(ctx context.Context, ref string) (string, *fault.Error) {
	for _, table := range []refs.Table{r.searchRefs(), r.pageRefs()} {
		if url, found, err := table.Resolve(ctx, ref); err == nil && found {
			return url, nil
		}
	}
	return "", fault.New(fault.RefNotFound, "the ref is not known in this working directory", "search or browse again for a fresh ref, or use the URL")
}

func browseFailure(f *fault.Error, id string, setting CurrentSetting) *Failure {
	partial := false
	out := fail(Browse, f.Code, f.Message, f.Advice)
	out.RequestID, out.Stage, out.Retryable, out.RetryAfterMS = id, string(f.Stage), f.Retryable, f.RetryAfterMS
	out.HTTPStatus, out.SnapshotID, out.Partial, out.Setting = f.HTTPStatus, f.SnapshotID, &partial, setting
	return out
}

func (r *Runner) finishBrowse(ctx context.Context, p *browse.Page, id string, setting CurrentSetting) Answer {
	doc := p.Document
	markdown, outline := blocks.MarkdownOutline(doc)
	out := &BrowseAnswer{
		Status: OK, Action: Browse, RequestID: id, SnapshotID: p.SnapshotID, SourceSHA256: p.SourceSHA256,
		RequestedURL: p.RequestedURL, FinalURL: p.FinalURL, HTTPStatus: p.HTTPStatus, ContentType: p.MediaType,
		Title: firstChars(doc.Title, maxTitleChars), RetrievedAt: p.RetrievedAt, RenderMode: "static", RenderReason: "static_http_get",
		Byline: nullable(doc.Meta.Byline), Published: nullable(doc.Meta.Published), SiteName: nullable(doc.Meta.SiteName),
		Language: nullable(doc.Meta.Language), Description: nullable(doc.Meta.Description), CanonicalURL: nullable(doc.Meta.CanonicalURL),
		RedirectChain: append([]string{}, p.RedirectChain...), Timings: map[string]int64{},
		Removed: Removed(doc.Removed), Untrusted: true, Setting: setting, markdown: markdown,
	}
	if p.Fetched {
		out.Timings = map[string]int64{"fetch": p.FetchMS, "extract": p.ExtractMS, "total": p.FetchMS + p.ExtractMS}
	}
	items := make([]BlockItem, len(doc.Blocks))
	chars := 0
	for i, b := range doc.Blocks {
		items[i] = BlockItem{ID: blockID(i + 1), Kind: string(b.Kind), Text: b.Text, Level: b.Level, Depth: b.Depth, Language: b.Language}
		chars += utf8.RuneCountInString(b.Text)
	}
	warnings := append([]Warning{}, p.Warnings...)
	links, cut := linkItems(doc.Links)
	if cut {
		warnings = append(warnings, blocks.WarnLinksTruncated)
	}
	if err := r.pageRefs().Add(context.WithoutCancel(ctx), targets(doc.Links[:len(links)])); err != nil {
		warnings = append(warnings, RefsNotStored)
	}
	out.Links, out.Warnings = links, unique(warnings)

	decision := 0
	for piece := range canonicalBlocks(items) {
		decision += spill.Chars(piece)
	}
	d, err := r.deliver(content{
		action: Browse, scope: "fetched_static_document", kind: "page_text", format: "markdown", ext: "md",
		chars: decision, file: markdown,
	}, setting.OutputMax)
	if err != nil {
		f := notWritten(Browse)
		f.RequestID, f.SnapshotID, f.Setting = id, p.SnapshotID, setting
		return f
	}
	out.Delivery = d
	if d.ArtifactFields == nil {
		out.InlinePage = &InlinePage{Blocks: items, ReturnedChars: chars}
		return out
	}
	for _, o := range outline[:min(len(outline), maxOutline)] {
		out.Outline = append(out.Outline, OutlineItem{Line: o.Line, Level: o.Level, Text: firstChars(o.Text, maxTitleChars)})
	}
	return out
}

// linkItems bounds the links for the answer. The list stops before the item that would not fit; cut says that
// it did.
func linkItems(links []blocks.Link) (items []LinkItem, cut bool) {
	items = []LinkItem{}
	sum := 0
	for _, l := range links {
		it := LinkItem{Ref: refs.Of(l.URL), Text: firstChars(l.Text, maxLinkTextChars), URL: firstChars(l.URL, maxLinkURLChars)}
		sum += utf8.RuneCountInString(it.Text) + utf8.RuneCountInString(it.URL)
		if len(items) == maxLinks || sum > maxLinksChars {
			return items, true
		}
		items = append(items, it)
	}
	return items, false
}

func targets(links []blocks.Link) []string {
	out := make([]string, len(links))
	for i, l := range links {
		out[i] = l.URL
	}
	return out
}

func unique(list []Warning) []Warning {
	seen := map[Warning]bool{}
	out := []Warning{}
	for _, w := range list {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
