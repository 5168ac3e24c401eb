// Package snapshots keeps pages that were read, so that a cursor can return one again without a fetch.
//
// A snapshot is one file: a line of JSON with its provenance, then the body as it was received. It proves
// itself by its hash, so a torn file is no snapshot. The store is bounded in number and bytes; the least
// recently used goes first. The package must not know what is in a body, nor how it becomes text.
package snapshots

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"web/spill/confined"
)

const (
	// MaxCount and MaxBytes bound the store.
	MaxCount = 64
	MaxBytes = 64 << 20

	dirName  = "snapshots"
	lockName = "lock"
	lockWait = 3 * time.Second
	// maxHeadBytes bounds the first line: a few URLs of 8,192 characters each.
	maxHeadBytes = 256 << 10
)

// ErrNotFound reports a snapshot that is not held: never was, was evicted, or is torn.
var ErrNotFound = errors.New("snapshot is not held")

// ErrTooLarge reports a page that the store can never hold.
var ErrTooLarge = errors.New("page is larger than the snapshot store")

// Page is what is kept of one page.
type Page struct {
	// SourceSHA256 is the hash of the body as it came over the wire, which may have been compressed.
	SourceSHA256  string   `json:"source_sha256"`
	RequestedURL  string   `json:"requested_url"`
	FinalURL      string   `json:"final_url"`
	RedirectChain []string `json:"redirect_chain"`
	HTTPStatus    int      `json:"http_status"`
	// ContentType is the header's value as it was received.
	ContentType string `json:"content_type"`
	// RetrievedAt is the wire's form of the time.
	RetrievedAt string   `json:"retrieved_at"`
	Warnings    []string `json:"warnings"`
	// Body is the decompressed body.
	Body []byte `json:"-"`
}

// head is the first line of a snapshot's file.
type head struct {
	Page
	BodySHA256 string `json:"body_sha256"`
}

// Store keeps snapshots below one state directory.
type Store struct {
	// Open opens the state directory, creating it when asked.
	Open func(create bool) (*os.Root, error)
	Now  func() time.Time
}

// ID gives the identifier of the n-th snapshot: snap_, 12 hex digits of the source's hash, and the counter.
func ID(sourceSHA256 string, n int) string {
	return fmt.Sprintf("snap_%.12s_%04d", sourceSHA256, n)
}

// ValidID reports whether s has the form of an identifier.
func ValidID(s string) bool {
	_, ok := counter(s)
	return ok
}

// maxCounterDigits keeps the counter within an int.
const maxCounterDigits = 15

func counter(id string) (int, bool) {
	rest, ok := strings.CutPrefix(id, "snap_")
	hash, digits, found := strings.Cut(rest, "_")
	if !ok || !found || len(hash) != 12 || strings.Trim(hash, "0123456789abcdef") != "" ||
		len(digits) < 4 || len(digits) > maxCounterDigits || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && fmt.Sprintf("%04d", n) == digits
}

// Add keeps a page and gives its identifier. Older snapshots make room.
func (s Store) Add(ctx context.Context, p Page) (string, error) {
	sum := sha256.Sum256(p.Body)
	line, err := json.Marshal(head{Page: p, BodySHA256: hex.EncodeToString(sum[:])})
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	if len(line) > maxHeadBytes || len(line)+1+len(p.Body) > MaxBytes {
		return "", ErrTooLarge
	}
	dir, release, err := s.locked(ctx, true)
	if err != nil {
		return "", err
	}
	defer release()
	held, err := list(dir)
	if err != nil {
		return "", err
	}
	last := 0
	for _, e := range held {
		last = max(last, e.counter)
	}
	id := ID(p.SourceSHA256, last+1)
	line = append(line, '\n')
	if err := s.evict(dir, held, len(line)+len(p.Body)); err != nil {
		return "", err
	}
	if err := confined.ReplaceVolatile(dir, id, line, p.Body); err != nil {
		return "", fmt.Errorf("write snapshot: %w", err)
	}
	now := s.Now() // one clock decides what was used last, here and in Get
	_ = dir.Chtimes(id, now, now)
	return id, nil
}

// evict makes room for one more snapshot of size bytes.
func (s Store) evict(dir *os.Root, held []entry, size int) error {
	slices.SortFunc(held, func(a, b entry) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.counter, b.counter)) })
	total := int64(size)
	for _, e := range held {
		total += e.bytes
	}
	for len(held) > 0 && (len(held) >= MaxCount || total > MaxBytes) {
		if err := dir.Remove(held[0].id); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("evict snapshot: %w", err)
		}
		total -= held[0].bytes
		held = held[1:]
	}
	return nil
}

// Get gives a page back and makes it the most recently used. The error is ErrNotFound, or says that the
// store cannot be read.
func (s Store) Get(ctx context.Context, id string) (Page, error) {
	if !ValidID(id) {
		return Page{}, ErrNotFound
	}
	dir, release, err := s.locked(ctx, false)
	if errors.Is(err, fs.ErrNotExist) {
		return Page{}, ErrNotFound
	}
	if err != nil {
		return Page{}, err
	}
	defer release()
	data, err := confined.ReadTail(dir, id, MaxBytes+1)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, confined.ErrLink) {
		return Page{}, ErrNotFound
	}
	if err != nil {
		return Page{}, fmt.Errorf("read snapshot: %w", err)
	}
	line, body, _ := bytes.Cut(data, []byte{'\n'})
	var h head
	if err := json.Unmarshal(line, &h); err != nil {
		return Page{}, ErrNotFound
	}
	sum := sha256.Sum256(body)
	if hex.EncodeToString(sum[:]) != h.BodySHA256 || !strings.HasPrefix(id, ID(h.SourceSHA256, 0)[:len("snap_")+12]) {
		return Page{}, ErrNotFound
	}
	h.Body = body
	now := s.Now()
	_ = dir.Chtimes(id, now, now) // a store that cannot be written still serves
	return h.Page, nil
}

func (s Store) locked(ctx context.Context, create bool) (*os.Root, func(), error) {
	state, err := s.Open(create)
	if err != nil {
		return nil, nil, fmt.Errorf("open state directory: %w", err)
	}
	defer state.Close()
	dir, err := confined.OpenDir(state, dirName, create)
	if err != nil {
		return nil, nil, fmt.Errorf("open snapshots: %w", err)
	}
	if !create {
		return dir, func() { _ = dir.Close() }, nil // files are whole or not there: reading needs no lock
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	unlock, err := confined.Lock(ctx, dir, lockName, true)
	if err != nil {
		_ = dir.Close()
		return nil, nil, fmt.Errorf("lock snapshots: %w", err)
	}
	return dir, func() { unlock(); _ = dir.Close() }, nil
}

type entry struct {
	id      string
	counter int
	bytes   int64
	used    time.Time
}

func list(dir *os.Root) ([]entry, error) {
	files, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var out []entry
	for _, f := range files {
		n, ok := counter(f.Name())
		if !ok {
			if strings.HasPrefix(f.Name(), ".snap_") && strings.HasSuffix(f.Name(), confined.TempSuffix) {
				_ = dir.Remove(f.Name()) // left by a killed process: only the holder of the lock writes here
			}
			continue
		}
		info, err := f.Info()
		if err != nil {
			continue
		}
		out = append(out, entry{f.Name(), n, info.Size(), info.ModTime()})
	}
	return out, nil
}
