package fetch

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"web/browse/fault"
)

const (
	// maxCodings bounds how many content codings may be stacked; each costs a window of memory.
	maxCodings = 4
	// zstdWindowBytes is the window that RFC 9659 allows for the web.
	zstdWindowBytes = 8 << 20
	// errorBodyBytes and errorBodyWait bound what is spent on a body that only tells why there is no page.
	errorBodyBytes = 64 << 10
	errorBodyWait  = 3 * time.Second
)

var (
	errTooLarge   = errors.New("more bytes than the limit")
	errTooStacked = errors.New("too many content codings")
)

// meter passes on at most left bytes, and fails on the first one beyond. It remembers the error that ended it,
// because decoders wrap or replace what their source says.
type meter struct {
	r    io.Reader
	left int64
	sum  hash.Hash // nil where nobody asks
	err  error
}

func (m *meter) Read(p []byte) (int, error) {
	if m.err != nil || len(p) == 0 {
		return 0, m.err
	}
	if int64(len(p)) > m.left+1 {
		p = p[:m.left+1]
	}
	n, err := m.r.Read(p)
	if int64(n) > m.left {
		n, err = int(m.left), errTooLarge
	}
	m.left -= int64(n)
	if m.sum != nil {
		m.sum.Write(p[:n])
	}
	m.err = err
	return n, err
}

// pipeline is a body on its way through its content codings. Every stage has a meter: a body may be small at
// both ends and endless in between.
type pipeline struct {
	stages []*meter // the bytes as received first
	out    io.Reader
	close  []func()
}

// decode builds the pipeline of a response. Codings that nobody knows ("utf-8", "none") are taken for none, as
// browsers do: whether the result is text is judged later.
func decode(resp *http.Response, limit int64) (*pipeline, error) {
	wire := &meter{r: resp.Body, left: limit, sum: sha256.New()}
	p := &pipeline{stages: []*meter{wire}, out: wire}
	codings := codingsOf(resp.Header)
	if len(codings) > maxCodings {
		return p, errTooStacked
	}
	for i := len(codings) - 1; i >= 0; i-- {
		source := bufio.NewReader(p.out)
		// An empty body is empty under every coding; servers send it for their empty pages.
		if _, err := source.Peek(1); err == io.EOF {
			p.out = source
			return p, nil
		}
		decoder, err := p.decoder(codings[i], source)
		if err != nil {
			return p, err
		}
		stage := &meter{r: decoder, left: limit}
		p.stages, p.out = append(p.stages, stage), stage
	}
	return p, nil
}

// codingsOf lists the known codings in the order in which they were applied.
func codingsOf(h http.Header) []string {
	var known []string
	for coding := range strings.SplitSeq(strings.Join(h["Content-Encoding"], ","), ",") {
		switch coding = strings.ToLower(strings.TrimSpace(coding)); coding {
		case "gzip", "x-gzip", "deflate", "br", "zstd":
			known = append(known, coding)
		}
	}
	return known
}

func (p *pipeline) decoder(coding string, source *bufio.Reader) (io.Reader, error) {
	switch coding {
	case "br":
		return brotli.NewReader(source), nil
	case "zstd":
		z, err := zstd.NewReader(source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindowBytes))
		if err != nil {
			return nil, err
		}
		p.close = append(p.close, z.Close)
		return z, nil
	case "deflate":
		// "deflate" means zlib, but some servers send the bare stream. RFC 1950 2.2 tells them apart.
		head, err := source.Peek(2)
		if err == nil && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
			return zlib.NewReader(source)
		}
		return flate.NewReader(source), nil
	}
	z, err := gzip.NewReader(source)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipMembers{source, z}, nil
}

// gzipMembers reads all members and ignores padding behind the last, which browsers do and gzip.Reader does not.
type gzipMembers struct {
	source *bufio.Reader
	z      *gzip.Reader
}

func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		if err != io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
		magic, err := g.source.Peek(2)
		if len(magic) < 2 && err != io.EOF {
			return 0, err
		}
		if string(magic) != "\x1f\x8b" {
			return 0, io.EOF
		}
		if err := g.z.Reset(g.source); err != nil {
			return 0, noEOF(err)
		}
		g.z.Multistream(false)
	}
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readBody reads a page to its end, decodes it and hashes it as received.
func readBody(ctx context.Context, resp *http.Response, plan journey) ([]byte, string, *fault.Error) {
	status := resp.StatusCode
	if resp.ContentLength > plan.limit && !plan.cut {
		return nil, "", tooLarge(status)
	}
	p, err := decode(resp, plan.limit)
	defer p.done()
	var body []byte
	if err == nil {
		body, err = io.ReadAll(p.out)
	}
	wire := p.stages[0]
	if err == nil {
		// A decoder may stop before its source does: the hash and the declared length cover all of it.
		_, err = io.Copy(io.Discard, wire)
	}
	switch {
	case err == nil:
		return body, hex.EncodeToString(wire.sum.Sum(nil)), nil
	case p.overflowed(err) && plan.cut:
		return body, hex.EncodeToString(wire.sum.Sum(nil)), nil
	case p.overflowed(err):
		return nil, "", tooLarge(status)
	case ctx.Err() == nil && (wire.err == nil || wire.err == io.EOF):
		return nil, "", fault.New(fault.TransportFailed, "the page arrived with broken compression", retryOnce).WithCause(err)
	case ctx.Err() == nil && errors.Is(wire.err, io.ErrUnexpectedEOF):
		return nil, "", fault.New(fault.TransportFailed, "the page broke off before its end", retryOnce).WithCause(err)
	}
	return nil, "", transportFault(ctx, err)
}

func (p *pipeline) overflowed(err error) bool {
	for _, m := range p.stages {
		if m.err == errTooLarge {
			return true
		}
	}
	// A frame that needs a greater window, or declares more than is admitted, is a matter of memory too.
	return errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded)
}

func (p *pipeline) done() {
	for _, f := range p.close {
		f()
	}
}

// errorBody gives what could be had of the beginning of an error page, in the time set aside for it.
func errorBody(ctx context.Context, resp *http.Response) []byte {
	ctx, cancel := context.WithTimeout(ctx, errorBodyWait)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = resp.Body.Close() })
	defer stop()
	p, err := decode(resp, errorBodyBytes)
	defer p.done()
	if err != nil {
		return nil
	}
	body, _ := io.ReadAll(p.out)
	return body
}
