//go:build !unix

package policy

import (
	"os"
	"path/filepath"
	"time"
)

// stamp differs between two looks at a path when the file was written in between, as far as the time of its
// last write tells.
type stamp struct {
	size    int64
	written time.Time
}

// look gives the stamp of the file, and that of its directory while there is no file.
func look(path string) stamp {
	for _, p := range []string{path, filepath.Dir(path)} {
		if info, err := os.Lstat(p); err == nil {
			return stamp{info.Size(), info.ModTime().UTC()}
		}
	}
	return stamp{}
}
