package action

import (
	"fmt"

	"web/spill"
)

// ArtifactMarker is the wire literal by which hosts recognise an artifact answer and leave it alone.
const ArtifactMarker = "lingtai_web_output_artifact/v1"

// Delivery says how a result came: inline, or as an artifact with all that is needed to read it.
type Delivery struct {
	Kind string `json:"delivery"`
	// ContentChars is the length, in code points, of the canonical text (inline) or of the file (artifact).
	ContentChars int `json:"content_chars"`
	*ArtifactFields
}

// ArtifactFields are given only with an artifact (contract 7.3).
type ArtifactFields struct {
	Marker          string  `json:"artifact"`
	Scope           string  `json:"content_scope"`
	ContentKind     string  `json:"content_kind"`
	Format          string  `json:"format"`
	Encoding        string  `json:"encoding"`
	FilePath        string  `json:"file_path"`
	SHA256          string  `json:"content_sha256"`
	MaxChars        int     `json:"max_chars"`
	SettingSource   string  `json:"output_setting_source"`
	SettingRevision string  `json:"output_setting_revision"`
	SettingHash     *string `json:"output_setting_hash"`
	CreatedAt       string  `json:"created_at"`
	Lifetime        string  `json:"artifact_lifetime"`
	State           string  `json:"artifact_state"`
	Instruction     string  `json:"instruction"`
	DecisionChars   int     `json:"delivery_decision_chars,omitzero"`
	DecisionBasis   string  `json:"delivery_decision_basis,omitzero"`
}

// content is a complete result on its way to the caller.
type content struct {
	action Name
	scope  string // fetched_static_document, provider_response
	kind   string // search_results, page_text
	format string // json, markdown
	ext    string // json, md
	// chars is the length of the canonical text, which decides; file is what is written. For search the file is
	// the canonical text.
	chars int
	file  []byte
}

const createdLayout = "2006-01-02T15:04:05.000000+00:00"

// deliver decides, for every action alike, between inline and artifact. There is no third form: after an
// error nothing of the content is returned.
func (r *Runner) deliver(c content, out OutputSetting) (Delivery, error) {
	if c.chars <= *out.Value || r.deps.Inline {
		return Delivery{Kind: "inline", ContentChars: c.chars}, nil
	}
	a, err := r.store().Write(string(c.action), c.ext, c.file)
	if err != nil {
		return Delivery{}, err
	}
	f := &ArtifactFields{
		Marker: ArtifactMarker, Scope: c.scope, ContentKind: c.kind, Format: c.format, Encoding: "utf-8",
		FilePath: a.Path, SHA256: a.SHA256, MaxChars: *out.Value,
		SettingSource: out.Source, SettingRevision: out.Revision, SettingHash: out.Hash,
		CreatedAt: a.CreatedAt.Format(createdLayout), Lifetime: "ephemeral", State: "available",
		Instruction: fmt.Sprintf("The %s have %d characters, more than the threshold of %d. The file %s is complete: "+
			"read it with file.read, in parts if needed.", plain(c.kind), a.Chars, *out.Value, a.Path),
	}
	if a.Chars != c.chars {
		f.DecisionChars, f.DecisionBasis = c.chars, "structured_blocks"
	}
	return Delivery{Kind: "artifact", ContentChars: a.Chars, ArtifactFields: f}, nil
}

func plain(kind string) string {
	if kind == "page_text" {
		return "contents of this page"
	}
	return "search results"
}

// notWritten is the failure when an artifact was needed and could not be written. It names no path and no
// cause of the operating system.
func notWritten(name Name) *Failure {
	return fail(name, ArtifactWriteFailed,
		"the result is too large to return inline and could not be written to "+spill.Dir+"; nothing is returned, so that nothing is lost",
		"make "+spill.Dir+" in the working directory writable and free some space, then repeat the call; `web doctor` checks it")
}
