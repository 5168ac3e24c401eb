// Package refs remembers, across processes, which URL a ref such as ln_fc60963ff0ac20db stands for.
//
// A ref is the beginning of the URL's hash, so every record proves itself: a torn or foreign line is simply
// not one. Records are only appended (shared lock, one write), so many processes add at once; when a file
// holds twice its budget it is rewritten (exclusive lock). The package must not know what a URL means or
// whether it may be fetched.
package refs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"web/spill/confined"
)

// Budget is how many refs a table keeps; the least recently used goes first.
const Budget = 4096

const (
	// maxFileBytes bounds a table whatever the length of its URLs: above it the older half is dropped.
	maxFileBytes = 32 << 20
	// lookBytes is the size below which a file cannot need rewriting (2*Budget records of the least length).
	lookBytes = 2 * Budget * 32
	// lockWait bounds the wait for other processes.
	lockWait = 3 * time.Second
	// compactWait bounds the wait for a rewriting that the next caller can do as well.
	compactWait = 100 * time.Millisecond
	lockName    = "refs.lock"
)

// Prefix begins every ref.
const Prefix = "ln_"

// Of gives the ref of a URL, byte for byte as it is stored: Prefix and the first 16 hex digits of its SHA-256.
func Of(url string) string {
	sum := sha256.Sum256([]byte(url))
	return Prefix + hex.EncodeToString(sum[:8])
}

// Table is one budget of refs. Search results and page links have a table each, so that a page with many
// links never evicts what a search found.
type Table struct {
	// Open opens the state directory, creating it when asked. Its errors are passed on.
	Open func(create bool) (*os.Root, error)
	// Name is the table's file name.
	Name string
}

// Add remembers the URLs, in order, the last being the most recent. Nothing is created for no URLs.
func (t Table) Add(ctx context.Context, urls []string) error {
	if len(urls) == 0 {
		return nil
	}
	dir, err := t.Open(true)
	if err != nil {
		return fmt.Errorf("open state directory: %w", err)
	}
	defer dir.Close()
	full, err := t.append(ctx, dir, urls)
	if err == nil && full {
		// The refs are stored; a table that is busy now is rewritten by whoever adds next.
		_ = t.compact(ctx, dir)
	}
	return err
}

func (t Table) append(ctx context.Context, dir *os.Root, urls []string) (full bool, err error) {
	release, err := lock(ctx, dir, false)
	if err != nil {
		return false, err
	}
	defer release()
	if info, err := dir.Lstat(t.Name); err == nil && !info.Mode().IsRegular() {
		return false, confined.ErrLink
	}
	f, err := dir.OpenFile(t.Name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return false, err
	}
	// The leading newline ends a line that a killed process or a full disk may have torn. There is no sync:
	// losing power may lose refs, never invent one.
	rec := []byte{'\n'}
	for _, u := range urls {
		rec = appendRecord(rec, u)
	}
	_, err = f.Write(rec)
	info, serr := f.Stat()
	if err := errors.Join(err, serr, f.Close()); err != nil {
		return false, fmt.Errorf("append refs: %w", err)
	}
	if info.Size() < lookBytes {
		return false, nil
	}
	data, err := t.read(dir)
	return overfull(data), err
}

func overfull(data []byte) bool {
	return len(data) > maxFileBytes || bytes.Count(data, []byte{'\n'}) > 2*Budget
}

func (t Table) compact(ctx context.Context, dir *os.Root) error {
	ctx, cancel := context.WithTimeout(ctx, compactWait)
	defer cancel()
	release, err := lock(ctx, dir, true)
	if err != nil {
		return err
	}
	defer release()
	confined.Sweep(dir, t.Name, time.Now()) // only the holder of this lock writes such files
	data, err := t.read(dir)
	if err != nil || !overfull(data) { // another process was faster
		return err
	}
	live := newest(data)
	var out []byte
	for {
		out = out[:0]
		for i := len(live) - 1; i >= 0; i-- { // oldest first
			out = append(append(out, live[i]...), '\n')
		}
		if len(out) <= maxFileBytes/2 {
			break
		}
		live = live[:len(live)/2]
	}
	return confined.ReplaceVolatile(dir, t.Name, out)
}

// Resolve gives the URL of a ref and makes it the most recent. An unknown, evicted or malformed ref is
// found == false; an error says that the table could not be read.
func (t Table) Resolve(ctx context.Context, ref string) (url string, found bool, err error) {
	if !strings.HasPrefix(ref, Prefix) || len(ref) != len(Prefix)+16 {
		return "", false, nil
	}
	dir, err := t.Open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("open state directory: %w", err)
	}
	defer dir.Close()
	data, err := t.read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	url, newer, found := find(data, ref)
	// Fewer lines than the budget cannot hold more URLs than the budget; only then is it worth counting.
	if !found || bytes.Count(newer, []byte{'\n'}) >= Budget && len(newest(newer)) >= Budget {
		return "", false, nil
	}
	// A state directory that can be read but not written still resolves.
	_ = t.Add(ctx, []string{url})
	return url, true, nil
}

// find gives the URL of the newest good record of ref, and what was recorded after it.
func find(data []byte, ref string) (url string, newer []byte, found bool) {
	for end := len(data); end > 0; {
		i := bytes.LastIndex(data[:end], []byte(ref+" "))
		if i < 0 {
			return "", nil, false
		}
		line, after, _ := bytes.Cut(data[i:], []byte{'\n'})
		if u, ok := parseRecord(line); ok && (i == 0 || data[i-1] == '\n') {
			return u, after, true
		}
		end = i
	}
	return "", nil, false
}

// read takes no lock: a record is whole or not one, and compaction replaces the file in one step.
func (t Table) read(dir *os.Root) ([]byte, error) {
	data, err := confined.ReadTail(dir, t.Name, 2*maxFileBytes)
	if err != nil {
		return nil, fmt.Errorf("read refs: %w", err)
	}
	return data, nil
}

func lock(ctx context.Context, dir *os.Root, exclusive bool) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	return confined.Lock(ctx, dir, lockName, exclusive)
}

// appendRecord writes REF SPACE QUOTED-URL NEWLINE. Quoting keeps line ends, which a URL from a search engine
// may hold, out of the line.
func appendRecord(dst []byte, url string) []byte {
	dst = append(dst, Of(url)...)
	dst = append(dst, ' ')
	dst = strconv.AppendQuote(dst, url)
	return append(dst, '\n')
}

func parseRecord(line []byte) (string, bool) {
	ref, quoted, ok := bytes.Cut(line, []byte{' '})
	if !ok {
		return "", false
	}
	url, err := strconv.Unquote(string(quoted))
	return url, err == nil && Of(url) == string(ref)
}

// newest gives the records of the at most Budget most recently added distinct refs, newest first. A torn or
// foreign line takes the place of one at most.
func newest(data []byte) [][]byte {
	seen := make(map[string]bool, Budget)
	var out [][]byte
	for len(data) > 0 && len(out) < Budget {
		i := bytes.LastIndexByte(data, '\n')
		line := data[i+1:]
		data = data[:max(i, 0)]
		ref, _, ok := bytes.Cut(line, []byte{' '})
		if !ok || len(ref) != len(Prefix)+16 || seen[string(ref)] || line[len(line)-1] != '"' {
			continue
		}
		seen[string(ref)] = true
		out = append(out, line)
	}
	return out
}
