// Package spill keeps a result that is too large to return: whole, in one new file, or not at all.
//
// Artifacts live in <workdir>/tmp/tool-results and are only ever added; List and Prune are the housekeeping
// that a person asks for. It must not know what is inside an artifact, nor decide whether one is needed:
// the delivery rule lives in package action.
package spill

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"regexp"
	"sort"
	"strings"
	"time"

	"web/spill/confined"
)

// Dir is where artifacts live, relative to the working directory.
const Dir = "tmp/tool-results"

// nameTries bounds the search for a name that is free: one in 16 million is taken by chance.
const nameTries = 8

// Artifact is one written file.
type Artifact struct {
	// Path is relative to the working directory, with "/" separators.
	Path string
	// Chars counts Unicode code points, Bytes bytes.
	Chars, Bytes int
	// SHA256 is the lower-case hex hash of the file's bytes.
	SHA256    string
	CreatedAt time.Time
}

// Store writes below one working directory.
type Store struct {
	Root *os.Root
	Now  func() time.Time
}

// Write keeps content as a new artifact of the action ("search") with the file extension ext ("json").
// After an error there is no artifact.
func (s Store) Write(action, ext string, content []byte) (Artifact, error) {
	dir, err := confined.OpenDir(s.Root, Dir, true)
	if err != nil {
		return Artifact{}, fmt.Errorf("open artifact directory: %w", err)
	}
	defer dir.Close()
	now := s.Now().UTC()
	// A large result is hashed and counted while the disk is busy with it.
	sum, chars := make(chan [sha256.Size]byte, 1), make(chan int, 1)
	go func() { sum <- sha256.Sum256(content) }()
	go func() { chars <- Chars(content) }()
	for range nameTries {
		var salt [3]byte
		_, _ = rand.Read(salt[:])
		name := fmt.Sprintf("%s-web-%s-%s.%s", now.Format(nameTime), action, hex.EncodeToString(salt[:]), ext)
		switch err := confined.Create(dir, name, content); {
		case err == nil:
			hash := <-sum
			return Artifact{
				Path: Dir + "/" + name, Chars: <-chars, Bytes: len(content),
				SHA256: hex.EncodeToString(hash[:]), CreatedAt: now,
			}, nil
		case !errors.Is(err, fs.ErrExist):
			return Artifact{}, fmt.Errorf("write artifact: %w", err)
		}
	}
	return Artifact{}, fmt.Errorf("write artifact: no free name after %d tries", nameTries)
}

// Chars counts the code points of valid UTF-8, eight bytes at a time: every byte but the continuation bytes,
// which are 10xxxxxx, begins one.
func Chars(text []byte) int {
	n := len(text)
	for len(text) >= 8 {
		w := binary.LittleEndian.Uint64(text)
		n -= bits.OnesCount64(w >> 7 & ^(w >> 6) & 0x0101010101010101)
		text = text[8:]
	}
	for _, c := range text {
		if c&0xc0 == 0x80 {
			n--
		}
	}
	return n
}

// Entry is an artifact found by List.
type Entry struct {
	Path    string
	Bytes   int64
	ModTime time.Time
}

// namePattern is what Write names a file, and what it calls the file while it is being written. Prune
// touches nothing else that may lie in the directory.
const namePattern = `^(\.?)(\d{8}T\d{6})-web-(?:search|browse|manual)-[0-9a-f]{6}\.(?:json|txt|md)(\.\d+\.[0-9a-f]{32}\.tmp)?$`

const nameTime = "20060102T150405"

// isOurs reports whether Write makes such names: a leading dot goes with the ending of an unfinished file.
func isOurs(pattern *regexp.Regexp, name string) bool {
	m := pattern.FindStringSubmatch(name)
	if m == nil || (m[1] == ".") != (m[3] != "") {
		return false
	}
	_, err := time.Parse(nameTime, m[2])
	return err == nil
}

// List gives the artifacts, oldest first. No directory is no artifacts.
func (s Store) List() ([]Entry, error) { return s.entries(false) }

func (s Store) entries(leftovers bool) ([]Entry, error) {
	dir, err := confined.OpenDir(s.Root, Dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open artifact directory: %w", err)
	}
	defer dir.Close()
	files, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list artifacts: %w", err)
	}
	ours := regexp.MustCompile(namePattern)
	var out []Entry
	for _, f := range files {
		if !isOurs(ours, f.Name()) || strings.HasPrefix(f.Name(), ".") != leftovers {
			continue
		}
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // gone since, or not a file that Write made
		}
		out = append(out, Entry{Path: Dir + "/" + f.Name(), Bytes: info.Size(), ModTime: info.ModTime()})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].ModTime.Before(out[j].ModTime) })
	return out, nil
}

// leftoverAge is how old an unfinished file must be before it counts as left by a killed process.
const leftoverAge = time.Hour

// Prune removes the artifacts that are older than age, and what killed processes left behind. It gives what
// it removed, also when it then failed.
func (s Store) Prune(age time.Duration) ([]Entry, error) {
	artifacts, err := s.entries(false)
	if err != nil {
		return nil, err
	}
	leftovers, err := s.entries(true)
	if err != nil || len(artifacts)+len(leftovers) == 0 {
		return nil, err
	}
	dir, err := confined.OpenDir(s.Root, Dir, false)
	if err != nil {
		return nil, fmt.Errorf("open artifact directory: %w", err)
	}
	defer dir.Close()
	var removed []Entry
	now := s.Now()
	remove := func(e Entry, age time.Duration) error {
		if now.Sub(e.ModTime) <= age {
			return nil
		}
		if err := dir.Remove(strings.TrimPrefix(e.Path, Dir+"/")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove artifact: %w", err)
		}
		removed = append(removed, e)
		return nil
	}
	for _, e := range artifacts {
		if err := remove(e, age); err != nil {
			return removed, err
		}
	}
	for _, e := range leftovers {
		if err := remove(e, max(age, leftoverAge)); err != nil {
			return removed, err
		}
	}
	return removed, nil
}
