// Package settings reads the two files under <workdir>/settings that the caller of web may edit, and creates
// them on request. Start at ReadOutput and ReadSearch.
//
// Each call reads afresh and gives a snapshot: missing, valid or invalid, with a revision that tells one state
// from the next. An invalid value is never clamped, replaced or treated as missing. The package must not know
// engines, the envelope or the wire's JSON: which engine names are admitted is asked through a function, and
// which default stands in for a missing file is the caller's decision. The operator's file is read in the
// package below, operator.
package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"web/settings/safefile"
	"web/settings/strictjson"
)

// The files, relative to the workdir, as they are named on the wire.
const (
	SearchFile = "settings/web.search.json"
	OutputFile = "settings/web.json"
)

// Limits.
const (
	MaxFileBytes       = 65536  // bytes of one settings file
	DefaultMaxChars    = 50000  // characters, when settings/web.json is missing
	MinMaxChars        = 1      // characters
	MaxMaxChars        = 100000 // characters
	MaxEngineNameBytes = 64
	MaxDiagnosticChars = 240

	schemaVersion = 1
)

// Values of Snapshot.Revision other than a hash; the last two are for callers that read nothing.
const (
	RevisionMissing      = "missing"
	RevisionDefault      = "default"
	RevisionError        = "error"
	RevisionNotRead      = "not_read"
	RevisionCallOverride = "call_override"
)

// Values of Snapshot.Source other than a file's name.
const (
	SourceDefault = "default"
	SourceError   = "settings_error"
)

// State is what a settings file was found to be.
type State string

// The states.
const (
	Missing State = "missing"
	Valid   State = "valid"
	Invalid State = "invalid"
)

// Problem is why a file is invalid.
type Problem string

// The problems.
const (
	Unreadable        Problem = "unreadable"
	NotRegular        Problem = "not_regular"
	TooLarge          Problem = "too_large"
	Changed           Problem = "changed"
	BadSyntax         Problem = "syntax"
	DuplicateKey      Problem = "duplicate_key"
	BadKeys           Problem = "keys"
	BadVersion        Problem = "schema_version"
	BadEngineName     Problem = "engine_name"
	EngineNotAdmitted Problem = "engine_not_admitted"
	BadMaxChars       Problem = "max_chars"
)

// Snapshot is what one read found, whatever the file holds.
type Snapshot struct {
	State State
	// Source is the file's name, SourceDefault, SourceError, or "" where the caller has to decide.
	Source string
	// Revision is 32 hex digits or one of the Revision constants.
	Revision string
	// Hash is 32 hex digits; "" stands for the wire's null.
	Hash string
	// Problem and Diagnostic are set when State is Invalid. Diagnostic is one line of at most
	// MaxDiagnosticChars characters that quotes nothing from the file.
	Problem    Problem
	Diagnostic string
}

// Output is settings/web.json.
type Output struct {
	Snapshot
	// MaxChars is the delivery threshold in characters: the file's, or DefaultMaxChars when it is missing;
	// 0 when the file is invalid.
	MaxChars int
}

// Search is settings/web.search.json.
type Search struct {
	Snapshot
	// Engine is the admitted engine that a valid file names, else "".
	Engine string
}

// Dir is where one workdir keeps its settings.
type Dir struct {
	workdir string
	open    func(path string) (fs.File, error) // nil, but in tests
}

// In is the settings directory of a workdir.
func In(workdir string) Dir { return Dir{workdir: workdir} }

// ReadOutput reads settings/web.json.
func ReadOutput(dir Dir) Output {
	var out Output
	out.Snapshot = dir.read(OutputFile, func(data []byte) (f *fault) {
		out.MaxChars, f = parseOutput(data)
		return f
	})
	if out.State == Missing {
		out.Source = SourceDefault
		out.Revision = RevisionDefault
		out.Hash = digest([]byte(`{"max_chars":50000,"schema_version":1}`))
		out.MaxChars = DefaultMaxChars
	}
	return out
}

// ReadSearch reads settings/web.search.json. A valid file names an engine for which admitted reports true.
func ReadSearch(dir Dir, admitted func(name string) bool) Search {
	var s Search
	s.Snapshot = dir.read(SearchFile, func(data []byte) (f *fault) {
		s.Engine, f = parseSearch(data, admitted)
		return f
	})
	return s
}

type fault struct {
	problem Problem
	text    string
}

// read gives the snapshot of one file. A missing one has revision "missing" and no source.
func (d Dir) read(name string, parse func([]byte) *fault) Snapshot {
	r := safefile.Reader{MaxBytes: MaxFileBytes, Open: d.open}
	data, err := r.Read(filepath.Join(d.workdir, filepath.FromSlash(name)))
	var f *fault
	if err == nil {
		f = parse(data)
	} else if f = readFault(err); f == nil {
		return Snapshot{State: Missing, Revision: RevisionMissing}
	}
	hash := digest(data)
	if f == nil {
		return Snapshot{State: Valid, Source: name, Revision: hash, Hash: hash}
	}
	s := Snapshot{State: Invalid, Source: SourceError, Revision: hash, Hash: hash, Problem: f.problem, Diagnostic: line(name + f.text)}
	if data == nil { // nothing was read, which is not the same as an empty file
		s.Revision, s.Hash = RevisionError, ""
	}
	return s
}

// readFault is nil when the file is missing.
func readFault(err error) *fault {
	var e *safefile.Error
	if !errors.As(err, &e) {
		return &fault{Unreadable, " could not be read (internal error)"}
	}
	switch e.Problem {
	case safefile.Missing:
		return nil
	case safefile.NotRegular:
		return &fault{NotRegular, " is a link or not a regular file"}
	case safefile.TooLarge:
		return &fault{TooLarge, " is larger than 65,536 bytes"}
	case safefile.Changed:
		return &fault{Changed, " was changed during read"}
	}
	return &fault{Unreadable, " could not be read (" + e.Kind + ")"}
}

func parseOutput(data []byte) (int, *fault) {
	doc, f := parse(data, "max_chars")
	if f != nil {
		return 0, f
	}
	n, ok := strictjson.Integer(doc["max_chars"], MinMaxChars, MaxMaxChars)
	if !ok {
		return 0, &fault{BadMaxChars, ": max_chars must be an integer in 1..100000"}
	}
	return int(n), nil
}

func parseSearch(data []byte, admitted func(string) bool) (string, *fault) {
	doc, f := parse(data, "engine")
	if f != nil {
		return "", f
	}
	name, ok := doc["engine"].(string)
	if !ok || !EngineName(name) {
		return "", &fault{BadEngineName, ": engine must be a name of 1..64 letters, digits, '.', '_' or '-' that starts with a letter or digit"}
	}
	if !admitted(name) {
		return "", &fault{EngineNotAdmitted, ": engine names an engine that is not admitted here"}
	}
	return name, nil
}

// parse reads an object of exactly two keys: schema_version, which is 1, and key.
func parse(data []byte, key string) (map[string]any, *fault) {
	v, err := strictjson.Parse(data)
	if err != nil {
		var e *strictjson.Error
		if errors.As(err, &e) && e.Reason == strictjson.DuplicateKey {
			return nil, &fault{DuplicateKey, " has a " + err.Error()}
		}
		return nil, &fault{BadSyntax, " is not valid JSON: " + err.Error()}
	}
	doc, _ := v.(map[string]any)
	_, hasVersion := doc["schema_version"]
	_, hasKey := doc[key]
	if len(doc) != 2 || !hasVersion || !hasKey {
		return nil, &fault{BadKeys, " must be an object with exactly the keys schema_version and " + key}
	}
	if _, ok := strictjson.Integer(doc["schema_version"], schemaVersion, schemaVersion); !ok {
		return nil, &fault{BadVersion, ": schema_version must be the integer 1"}
	}
	return doc, nil
}

// EngineName reports whether name is spelled as the name of an engine can be:
// ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$.
func EngineName(name string) bool {
	if name == "" || len(name) > MaxEngineNameBytes {
		return false
	}
	for i := range len(name) {
		c := name[i]
		alnum := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alnum && (i == 0 || strings.IndexByte("._-", c) < 0) {
			return false
		}
	}
	return true
}

// digest is the first 32 hex digits of the SHA-256 of data.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// line makes s one line of bounded length.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > MaxDiagnosticChars {
		return string(r[:MaxDiagnosticChars])
	}
	return s
}
