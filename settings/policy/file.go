package policy

import (
	"errors"
	"path/filepath"

	"web/settings"
	"web/settings/safefile"
)

// File is what one read of the workdir's policy found.
type File struct {
	settings.Snapshot
	// Policy is the file's, Default when it is missing, and one that permits nothing when it is invalid.
	Policy Policy

	stamp stamp
}

// Read reads settings/web.policy.json of a workdir.
func Read(workdir string) File {
	path := filepath.Join(workdir, filepath.FromSlash(FileName))
	// Looked at before the content is read: a change in between then shows as one, instead of going unseen.
	f := File{stamp: look(path)}
	r := safefile.Reader{MaxBytes: MaxFileBytes}
	data, err := r.Read(path)
	if err == nil {
		f.Policy, err = Parse(data)
	}
	var missing *safefile.Error
	switch {
	case err == nil:
		f.Snapshot = settings.Snapshot{State: settings.Valid, Source: FileName, Revision: f.Policy.Revision, Hash: f.Policy.Revision}
	case errors.As(err, &missing) && missing.Problem == safefile.Missing:
		f.Policy = Default()
		f.Snapshot = settings.Snapshot{State: settings.Missing, Source: settings.SourceDefault, Revision: settings.RevisionDefault}
	default:
		f.Snapshot = settings.Snapshot{State: settings.Invalid, Source: settings.SourceError, Revision: settings.RevisionError}
		f.Problem, f.Diagnostic = describe(err)
		if data != nil { // something was read, though it is no policy
			f.Hash = digest(data)
			f.Revision = f.Hash
		}
	}
	return f
}

// Unchanged reports whether the file was not touched between two reads, as far as the file system tells: one
// that was changed and changed back, or put there and removed again, was touched.
func (f File) Unchanged(later File) bool {
	return f.State == later.State && f.Revision == later.Revision && f.stamp == later.stamp
}

func describe(err error) (settings.Problem, string) {
	var e *Error
	if errors.As(err, &e) {
		if e.Path == "" {
			return e.Problem, FileName + " " + e.Reason
		}
		return e.Problem, FileName + ": " + e.Error()
	}
	var read *safefile.Error
	if !errors.As(err, &read) {
		return settings.Unreadable, FileName + " could not be read (internal error)"
	}
	switch read.Problem {
	case safefile.NotRegular:
		return settings.NotRegular, FileName + " is a link or not a regular file"
	case safefile.TooLarge:
		return settings.TooLarge, FileName + " is larger than 65,536 bytes"
	case safefile.Changed:
		return settings.Changed, FileName + " was changed during read"
	}
	return settings.Unreadable, FileName + " could not be read (" + read.Kind + ")"
}
