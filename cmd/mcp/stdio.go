package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"web/action"
	"web/settings/strictjson"
)

const (
	// maxMessageBytes is the longest line that is read. An envelope may have MaxEnvelopeBytes, and escapes may
	// make its text several times as long.
	maxMessageBytes = 4 * action.MaxEnvelopeBytes
	// maxInFlight is how many requests may be unanswered at once.
	maxInFlight = 1000
	// maxErrorChars bounds the message of a protocol error, in characters.
	maxErrorChars = 300
	// drainGrace is how long calls may go on after the input ended, before they are cancelled and answer that.
	drainGrace = 10 * time.Second
	// cancelGrace is how long they may then take to answer.
	cancelGrace = time.Second
)

// codeBusy is the server's own: too many requests are unanswered.
const codeBusy = -32000

// batchRevisions are the revisions in which a line may be a list of messages.
var batchRevisions = []string{"2024-11-05", "2025-03-26"}

// conn frames messages as lines. A line that is no message is answered with a protocol error and the session
// goes on; what goes on to the SDK is one it can read.
type conn struct {
	lines  chan line
	out    io.Writer
	giveUp func() // cancels the calls under way

	writing sync.Mutex // one line at a time

	mu       sync.Mutex
	inFlight map[jsonrpc.ID]*request
	open     int           // requests whose answer is not written yet
	idle     chan struct{} // made once nothing more is read; closed when open is 0
	batches  bool          // the negotiated revision has batches

	queue []jsonrpc.Message // read with their batch, not yet given on; Read's alone

	endOnce, finishOnce, closeOnce sync.Once
	ended                          chan struct{} // nothing more is to be read
	finished                       chan struct{} // and everything was answered or given up
	closed                         chan struct{}
}

// request is a call that was given to the SDK and not answered yet.
type request struct {
	initialize, cancelled bool
	batch                 *batch
}

// batch collects the answers to one list of messages.
type batch struct {
	open    int
	answers []json.RawMessage
}

type line struct {
	data    []byte
	tooLong bool
	end     bool
}

func newConn(in io.Reader, out io.Writer, giveUp func()) *conn {
	c := &conn{
		lines: make(chan line), out: out, giveUp: giveUp, inFlight: map[jsonrpc.ID]*request{},
		ended: make(chan struct{}), finished: make(chan struct{}), closed: make(chan struct{}),
	}
	// A read of stdin cannot be interrupted: when the session ends otherwise, this is left to the process's end.
	go c.readLines(in)
	return c
}

// Connect implements the SDK's Transport.
func (c *conn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID implements the SDK's Connection: two streams are one session, without a name.
func (c *conn) SessionID() string { return "" }

// Close implements the SDK's Connection.
func (c *conn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

// end makes the connection read no further.
func (c *conn) end() { c.endOnce.Do(func() { close(c.ended) }) }

func (c *conn) readLines(in io.Reader) {
	r := bufio.NewReaderSize(in, 64<<10)
	give := func(l line) bool {
		select {
		case c.lines <- l:
			return true
		case <-c.closed:
			return false
		}
	}
	first := true
	for {
		var data []byte
		tooLong := false
		var err error
		for {
			var part []byte
			part, err = r.ReadSlice('\n')
			if tooLong = tooLong || len(data)+len(part) > maxMessageBytes; tooLong {
				data = nil
			} else {
				data = append(data, part...)
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if first {
			data = bytes.TrimPrefix(data, []byte(strictjson.BOM))
			first = false
		}
		if data = bytes.TrimSpace(data); len(data) > 0 || tooLong {
			if !give(line{data: data, tooLong: tooLong}) {
				return
			}
		}
		if err != nil {
			give(line{end: true})
			return
		}
	}
}

// Read implements the SDK's Connection.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			return next, nil
		}
		var l line
		select {
		case l = <-c.lines:
		case <-c.ended:
			l.end = true
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if l.end {
			c.drain()
			return nil, io.EOF
		}
		if err := c.accept(l); err != nil {
			return nil, err
		}
	}
}

// drain waits for the answers to what was read.
func (c *conn) drain() {
	defer c.finishOnce.Do(func() { close(c.finished) })
	c.mu.Lock()
	idle := make(chan struct{})
	if c.idle = idle; c.open == 0 {
		close(idle)
	}
	c.mu.Unlock()
	select {
	case <-idle:
		return
	case <-c.closed:
		return
	case <-c.ended: // the calls' own context has ended with it
	case <-time.After(drainGrace):
		c.giveUp()
	}
	select {
	case <-idle:
	case <-c.closed:
	case <-time.After(cancelGrace):
	}
}

// accept takes one line. Its error is that of writing.
func (c *conn) accept(l line) error {
	if l.tooLong {
		return c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxMessageBytes))
	}
	tree, err := strictjson.Parse(l.data)
	if err != nil {
		return c.refuse(nil, jsonrpc.CodeParseError, "the line is not one JSON value: "+err.Error())
	}
	items, list := tree.([]any)
	if !list {
		msg, id, bad := c.check(tree, l.data, nil)
		if bad != nil {
			return c.refuse(id, bad.Code, bad.Message)
		}
		c.queue = append(c.queue, msg...)
		return nil
	}
	c.mu.Lock()
	batches := c.batches
	c.mu.Unlock()
	var raw []json.RawMessage
	switch {
	case !batches:
		return c.refuse(nil, jsonrpc.CodeInvalidRequest, "this revision of the protocol has no batches: send each message on a line of its own")
	case len(items) == 0:
		return c.refuse(nil, jsonrpc.CodeInvalidRequest, "the batch is empty")
	case len(items) > maxInFlight:
		return c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the batch has more than %d messages", maxInFlight))
	}
	if err := json.Unmarshal(l.data, &raw); err != nil || len(raw) != len(items) {
		return c.refuse(nil, jsonrpc.CodeParseError, "the line is not one JSON value")
	}
	// The extra place keeps the batch open until all of it was looked at.
	b := &batch{open: 1}
	var msgs []jsonrpc.Message
	for i, item := range items {
		msg, id, bad := c.check(item, raw[i], b)
		if bad != nil {
			c.mu.Lock()
			b.answers = append(b.answers, errorAnswer(id, bad.Code, bad.Message))
			c.mu.Unlock()
			continue
		}
		msgs = append(msgs, msg...)
	}
	c.queue = append(c.queue, msgs...)
	return c.answered(b, nil)
}

// maxID is the greatest number that is an ID: the SDK reads numbers as floating point.
const maxID = 1 << 53

// check makes a message of one JSON value and remembers a request. No message and no error is one that nobody
// waits for. The ID goes with an error, as far as it could be told.
func (c *conn) check(v any, raw []byte, b *batch) (msg []jsonrpc.Message, id any, bad *jsonrpc.Error) {
	invalid := func(message string) *jsonrpc.Error {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message}
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, nil, invalid("a message must be a JSON object")
	}
	given, call := obj["id"]
	if id, ok = validID(given); call && !ok {
		return nil, nil, invalid("id must be a string or an integer")
	}
	if obj["jsonrpc"] != "2.0" {
		return nil, id, invalid(`jsonrpc must be "2.0"`)
	}
	method, isText := obj["method"].(string)
	if _, has := obj["method"]; has && !isText {
		return nil, id, invalid("method must be a string")
	}
	_, hasResult := obj["result"]
	_, hasError := obj["error"]
	switch {
	case !isText && (hasResult || hasError):
		return nil, nil, nil // the server asks nothing, so this answers nothing
	case !isText:
		return nil, id, invalid("method is missing")
	}
	params, _ := obj["params"].(map[string]any)
	if _, has := obj["params"]; has && params == nil && obj["params"] != nil {
		return nil, id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "params must be an object"}
	}
	m, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return nil, id, invalid("the message is not one of JSON-RPC 2.0")
	}
	req, ok := m.(*jsonrpc.Request)
	if !ok || req.IsCall() != call {
		return nil, id, invalid("the message is not one of JSON-RPC 2.0")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !call {
		if method == "notifications/cancelled" {
			target, ok := validID(params["requestId"])
			if !ok {
				return nil, nil, nil
			}
			if r := c.inFlight[sdkID(target)]; r != nil && !r.initialize {
				r.cancelled = true // nobody waits for its answer any more
			} else {
				return nil, nil, nil
			}
		}
		return []jsonrpc.Message{m}, nil, nil
	}
	if c.inFlight[req.ID] != nil {
		return nil, nil, invalid("the id is that of a request which is not answered yet")
	}
	if len(c.inFlight) >= maxInFlight {
		return nil, id, &jsonrpc.Error{Code: codeBusy, Message: fmt.Sprintf("%d requests are unanswered; wait for an answer first", maxInFlight)}
	}
	c.inFlight[req.ID] = &request{initialize: method == "initialize", batch: b}
	c.open++
	if b != nil {
		b.open++
	}
	return []jsonrpc.Message{m}, nil, nil
}

// validID gives an ID as it is written back.
func validID(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		if n, err := v.Int64(); err == nil && n > -maxID && n < maxID {
			return n, true
		}
	}
	return nil, false
}

func sdkID(v any) jsonrpc.ID {
	if n, ok := v.(int64); ok {
		v = float64(n)
	}
	id, _ := jsonrpc.MakeID(v) // a string or a number always is one
	return id
}

// Write implements the SDK's Connection.
func (c *conn) Write(_ context.Context, msg jsonrpc.Message) error {
	res, ok := msg.(*jsonrpc.Response)
	if !ok {
		data, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return fmt.Errorf("mcp: %w", err)
		}
		return c.writeLine(data)
	}
	data, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: res.ID, Result: res.Result, Error: worded(res.Error)})
	if err != nil {
		// The connection would be broken by it. Some of the SDK's errors quote what they were sent in a way that
		// is not JSON.
		data = errorAnswer(res.ID.Raw(), jsonrpc.CodeInternalError, "the answer could not be written as JSON")
	}
	c.mu.Lock()
	req := c.inFlight[res.ID]
	delete(c.inFlight, res.ID)
	c.mu.Unlock()
	if req == nil {
		return c.writeLine(data)
	}
	defer c.done()
	if req.cancelled {
		data = nil
	}
	if req.batch != nil {
		return c.answered(req.batch, data)
	}
	if data == nil {
		return nil
	}
	return c.writeLine(data)
}

// done counts a request as answered.
func (c *conn) done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open--; c.open == 0 && c.idle != nil {
		close(c.idle)
	}
}

// answered adds an answer to its batch, which is written once it has all; nil is none.
func (c *conn) answered(b *batch, data []byte) error {
	c.mu.Lock()
	if data != nil {
		b.answers = append(b.answers, data)
	}
	b.open--
	complete := b.open == 0 && len(b.answers) > 0
	c.mu.Unlock()
	if !complete {
		return nil
	}
	out, err := json.Marshal(b.answers)
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return c.writeLine(out)
}

func (c *conn) writeLine(data []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(slices.Clip(data), '\n'))
	return err
}

// refuse answers what never became a request.
func (c *conn) refuse(id any, code int64, message string) error {
	return c.writeLine(errorAnswer(id, code, message))
}

// errorAnswer is an answer with an error; its id is null where none could be told, as JSON-RPC has it.
func errorAnswer(id any, code int64, message string) []byte {
	type wireError struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	out, err := json.Marshal(struct {
		Version string    `json:"jsonrpc"`
		ID      any       `json:"id"`
		Error   wireError `json:"error"`
	}{"2.0", id, wireError{code, shortened(message)}})
	if err != nil {
		panic(fmt.Sprintf("mcp: %v", err)) // a string or a number, and two more
	}
	return out
}

// worded gives an error of the SDK the code that it may lack, and keeps what it quotes of the host's bytes short.
func worded(err error) error {
	if err == nil {
		return nil
	}
	out := jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		out.Code, out.Data = wire.Code, wire.Data
	}
	switch {
	case strings.Contains(out.Message, "unmarshaling"): // with a Go type and all that was sent
		out.Code, out.Message = jsonrpc.CodeInvalidParams, "the params do not have the form that the method asks for"
	case out.Code == 0:
		out.Code = jsonrpc.CodeInvalidRequest
	}
	out.Message = shortened(out.Message)
	return &out
}

func shortened(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if r := []rune(s); len(r) > maxErrorChars {
		return string(r[:maxErrorChars]) + "..."
	}
	return s
}

// negotiated learns which revision the session has: only the first two have batches.
func (c *conn) negotiated(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		if init, ok := res.(*sdk.InitializeResult); ok && err == nil {
			c.mu.Lock()
			c.batches = slices.Contains(batchRevisions, init.ProtocolVersion)
			c.mu.Unlock()
		}
		return res, err
	}
}
