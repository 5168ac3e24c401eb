// Package browse turns an address into the whole readable text of one page.
//
// It joins the rooms below it, each of which knows one thing: guard judges addresses, fetch gets bytes, charset
// makes them text, formats and blocks make text readable, snapshots and refs remember. It must not know the
// wire, settings files or how a result is delivered. Start at Reader.Open.
package browse

import (
	"context"
	"time"

	"web/browse/blocks"
	"web/browse/charset"
	"web/browse/fault"
	"web/browse/fetch"
	"web/browse/formats"
	"web/browse/guard"
	"web/browse/snapshots"
)

// Warnings that package browse itself raises; others come from the packages below.
const (
	// WarnJavaScript: the page has some text, but most of what it shows is made by its scripts.
	WarnJavaScript = "LIKELY_JAVASCRIPT_PAGE"
	// WarnSnapshotNotKept: the page could not be kept, so its snapshot_id is no cursor.
	WarnSnapshotNotKept = "SNAPSHOT_NOT_STORED"
)

// Fetcher gets a page; *fetch.Client and fetch.Client are two.
type Fetcher interface {
	Get(ctx context.Context, u guard.URL) (*fetch.Response, *fault.Error)
}

// Reader reads pages.
type Reader struct {
	Fetch     Fetcher
	Snapshots snapshots.Store
	Now       func() time.Time
}

// Mode is how much of a page is wanted.
type Mode = blocks.Mode

// The modes.
const (
	Article = blocks.Article
	Full    = blocks.Full
)

// Page is one page, whole.
type Page struct {
	snapshots.Page
	SnapshotID string
	// MediaType is the media type alone, lower case.
	MediaType string
	Document  *blocks.Document
	// Warnings are about the transport and the type first, then about decoding, then about extraction.
	Warnings []string
	// Fetched is false for a page that came from its snapshot.
	Fetched bool
	// FetchMS and ExtractMS are milliseconds, for a page that was fetched now.
	FetchMS, ExtractMS int64
}

const wireTime = "2006-01-02T15:04:05+00:00"

// Open fetches u and reads it.
func (r Reader) Open(ctx context.Context, u guard.URL, mode Mode) (*Page, *fault.Error) {
	res, f := r.Fetch.Get(ctx, u)
	if f != nil {
		return nil, f
	}
	kept := snapshots.Page{
		SourceSHA256: res.SourceSHA256, RequestedURL: res.Requested.String(), FinalURL: res.Final.String(),
		RedirectChain: res.RedirectChain, HTTPStatus: res.Status, ContentType: res.ContentType,
		RetrievedAt: r.Now().UTC().Format(wireTime), Warnings: res.Warnings, Body: res.Body,
	}
	start := r.Now()
	p, f := read(kept, mode)
	if f != nil {
		return nil, f
	}
	p.Fetched, p.FetchMS, p.ExtractMS = true, res.FetchMS, r.Now().Sub(start).Milliseconds()
	// The page is read: an expired deadline must not lose its snapshot.
	id, err := r.Snapshots.Add(context.WithoutCancel(ctx), kept)
	if err != nil {
		id = snapshots.ID(kept.SourceSHA256, 0)
		p.Warnings = append(p.Warnings, WarnSnapshotNotKept)
	}
	p.SnapshotID = id
	return p, nil
}

// Reopen gives a page that was read before, without a fetch. target, unless it is zero, must be the page's
// requested or final URL.
func (r Reader) Reopen(ctx context.Context, cursor string, target guard.URL, mode Mode) (*Page, *fault.Error) {
	const fetchAgain = "browse the page's URL again"
	if !snapshots.ValidID(cursor) {
		return nil, fault.New(fault.CursorMalformed, "the cursor is not a snapshot_id", "use the snapshot_id of an earlier browse, or "+fetchAgain)
	}
	kept, err := r.Snapshots.Get(ctx, cursor)
	if err != nil {
		f := fault.New(fault.CursorSnapshotNotFound, "the snapshot is not held in this working directory", fetchAgain).WithCause(err)
		f.SnapshotID = cursor
		return nil, f
	}
	if s := target.String(); !target.IsZero() && s != kept.RequestedURL && s != kept.FinalURL {
		f := fault.New(fault.CursorSnapshotMismatch, "the snapshot is of another page than the target", "leave url and link_ref out, or "+fetchAgain)
		f.SnapshotID = cursor
		return nil, f
	}
	p, f := read(kept, mode)
	if f != nil {
		return nil, f
	}
	p.SnapshotID = cursor
	return p, nil
}

// read makes a page of bytes. It is pure: the same bytes give the same page.
func read(kept snapshots.Page, mode Mode) (*Page, *fault.Error) {
	media := charset.MediaType(kept.ContentType)
	kind, readable := formats.Classify(media, kept.Body)
	if media == "" {
		media = kind.MediaType()
	}
	if !readable {
		return nil, fault.New(fault.ContentTypeUnsupported, "the page is a "+kind.Name()+", which cannot be read as text",
			"download the file with another tool; web reads text only").WithStatus(kept.HTTPStatus)
	}
	decoded := charset.Decode(kept.Body, kept.ContentType, charsetKind(kind))
	p := &Page{Page: kept, MediaType: media}
	p.Warnings = append(p.Warnings, kept.Warnings...)
	p.Warnings = append(p.Warnings, decoded.Warnings...)

	doc, f := document(kind, media, decoded.Text, kept.FinalURL, mode)
	if f != nil {
		return nil, f.WithStatus(kept.HTTPStatus)
	}
	if undecodable(doc, decoded) {
		return nil, fault.New(fault.NoTextBlocks, "the page is not decodable text", "use the legacy extraction fallback of your host").WithStatus(kept.HTTPStatus)
	}
	switch {
	case len(doc.Blocks) == 0 && doc.ScriptShell:
		return nil, fault.New(fault.NeedsJavaScript, "the page holds no text: its scripts would make it", "use a tool that runs scripts, such as your host's browser").WithStatus(kept.HTTPStatus)
	case len(doc.Blocks) == 0:
		return nil, fault.New(fault.NoTextBlocks, "the page holds no readable text", "check the URL and stop").WithStatus(kept.HTTPStatus)
	case doc.ScriptShell:
		p.Warnings = append(p.Warnings, WarnJavaScript)
	}
	p.Warnings = append(p.Warnings, doc.Warnings...)
	p.Document = doc
	return p, nil
}

func document(kind formats.Kind, media string, text []byte, base string, mode Mode) (*blocks.Document, *fault.Error) {
	if kind == formats.KindHTML || kind == formats.KindXHTML {
		doc, err := blocks.Extract(text, blocks.Options{Mode: mode, Base: base, Resolve: resolve})
		if err != nil {
			return nil, fault.As(err)
		}
		return doc, nil
	}
	doc, ok := formats.Convert(kind, media, string(text), formats.Options{
		ResolveURL: func(from, ref string) (string, bool) {
			if from == "" {
				from = base
			}
			return resolve(from, ref)
		},
		Fragment: func(html, from string) *blocks.Document {
			if from == "" {
				from = base
			}
			doc, err := blocks.Extract([]byte(html), blocks.Options{Mode: Full, Base: from, Resolve: resolve})
			if err != nil {
				return &blocks.Document{}
			}
			return doc
		},
	})
	if !ok {
		return nil, fault.New(fault.Internal, "the page's type has no reader", "report this as a defect of web")
	}
	return doc, nil
}

// resolve makes a link absolute as browsers do, in the guard's normal form, so that following its ref opens
// exactly what is shown.
func resolve(base, ref string) (string, bool) {
	b, f := guard.ParseURL(base)
	if f != nil {
		return "", false
	}
	if ref == "" {
		return b.String(), true
	}
	u, f := guard.ResolveLink(b, ref)
	if f != nil {
		return "", false
	}
	return u.String(), true
}

func charsetKind(kind formats.Kind) charset.Kind {
	switch kind {
	case formats.KindHTML, formats.KindXHTML:
		return charset.HTML
	case formats.KindXML, formats.KindFeed:
		return charset.XML
	}
	return charset.Plain
}

// undecodable looks at the text of all blocks and at the text before anything was read from it: an HTML reader
// takes much of what is no text for markup, and leaves control characters out, by which it would be known.
func undecodable(doc *blocks.Document, decoded charset.Result) bool {
	if decoded.Noise || charset.Binary(decoded.Text) {
		return true
	}
	if len(decoded.Warnings) == 0 {
		return false
	}
	var text []byte
	for _, b := range doc.Blocks {
		text = append(text, b.Text...)
	}
	return charset.Undecodable(string(text), decoded.Warnings) || charset.Undecodable(string(decoded.Text), decoded.Warnings)
}
