// Package fault declares, once, every way in which browsing can fail.
//
// The codes are the wire's error_code values for the browse pipeline (contract section 4.13 and product
// section 5). Every package below browse returns *Error; nothing below browse invents a code of its own,
// and nothing here knows JSON, settings or processes. A fault never holds an address, a URL, a path, page
// content or operating-system text: Err keeps the cause for errors.Is and is never printed.
package fault

import (
	"errors"
	"fmt"
)

// Code is a wire error code. The list is append-only.
type Code string

// Stage names the part of the pipeline that gave up.
type Stage string

// The stages, in the order in which a call passes them.
const (
	StagePolicy  Stage = "policy"
	StageRef     Stage = "ref"
	StageCursor  Stage = "cursor"
	StageDNS     Stage = "dns"
	StageConnect Stage = "connect"
	StageHTTP    Stage = "http"
	StageFetch   Stage = "fetch"
	StageExtract Stage = "extract"
	StageIntern  Stage = "internal"
)

// The codes. Their stage and whether they may be retried stand in the table below.
const (
	InvalidExtract  Code = "INVALID_EXTRACT"
	InvalidMaxChars Code = "INVALID_MAX_CHARS"
	InvalidTarget   Code = "INVALID_TARGET"
	RefNotFound     Code = "REF_NOT_FOUND"

	MalformedURL      Code = "MALFORMED_URL"
	SchemeNotAllowed  Code = "SCHEME_NOT_ALLOWED"
	UserinfoForbidden Code = "URL_USERINFO_FORBIDDEN"
	NoHostname        Code = "NO_HOSTNAME"
	MalformedRedirect Code = "MALFORMED_REDIRECT"

	LoopbackBlocked       Code = "LOOPBACK_BLOCKED"
	PrivateBlocked        Code = "PRIVATE_ADDRESS_BLOCKED"
	LinkLocalBlocked      Code = "LINK_LOCAL_BLOCKED"
	CloudMetadataBlocked  Code = "CLOUD_METADATA_BLOCKED"
	CGNATBlocked          Code = "CGNAT_ADDRESS_BLOCKED"
	SixToFourRelayBlocked Code = "SIX_TO_FOUR_RELAY_BLOCKED"
	ReservedBlocked       Code = "RESERVED_ADDRESS_BLOCKED"
	UnspecifiedBlocked    Code = "UNSPECIFIED_ADDRESS_BLOCKED"
	MulticastBlocked      Code = "MULTICAST_BLOCKED"
	UnparseableIP         Code = "UNPARSEABLE_IP"
	DowngradeBlocked      Code = "HTTPS_DOWNGRADE_BLOCKED"
	RobotsDisallowed      Code = "ROBOTS_DISALLOWED"

	DNSFailed        Code = "DNS_RESOLUTION_FAILED"
	DNSTimeout       Code = "DNS_RESOLUTION_TIMEOUT"
	TooManyRedirects Code = "TOO_MANY_REDIRECTS"
	MissingLocation  Code = "REDIRECT_MISSING_LOCATION"
	HTTPStatus       Code = "HTTP_STATUS"
	SourceBlocked    Code = "SOURCE_BLOCKED"
	FetchTimeout     Code = "FETCH_TIMEOUT"
	ReadTimeout      Code = "READ_TIMEOUT"
	TransportFailed  Code = "TRANSPORT_FAILED"
	Canceled         Code = "CANCELED"
	BodyTooLarge     Code = "BODY_TOO_LARGE"

	ContentTypeUnsupported Code = "CONTENT_TYPE_UNSUPPORTED"
	NoTextBlocks           Code = "NO_TEXT_BLOCKS"
	NeedsJavaScript        Code = "NEEDS_JAVASCRIPT"

	CursorMalformed        Code = "CURSOR_MALFORMED"
	CursorSnapshotNotFound Code = "CURSOR_SNAPSHOT_NOT_FOUND"
	CursorSnapshotMismatch Code = "CURSOR_SNAPSHOT_MISMATCH"

	Internal Code = "INTERNAL_ERROR"
)

// traits are what a code always means, wherever it is raised.
type traits struct {
	stage     Stage
	retryable bool
}

var table = map[Code]traits{
	InvalidExtract: {StagePolicy, false}, InvalidMaxChars: {StagePolicy, false}, InvalidTarget: {StagePolicy, false},
	RefNotFound:  {StageRef, false},
	MalformedURL: {StagePolicy, false}, SchemeNotAllowed: {StagePolicy, false}, UserinfoForbidden: {StagePolicy, false},
	NoHostname: {StagePolicy, false}, MalformedRedirect: {StagePolicy, false},
	LoopbackBlocked: {StagePolicy, false}, PrivateBlocked: {StagePolicy, false}, LinkLocalBlocked: {StagePolicy, false},
	CloudMetadataBlocked: {StagePolicy, false}, CGNATBlocked: {StagePolicy, false}, SixToFourRelayBlocked: {StagePolicy, false},
	ReservedBlocked: {StagePolicy, false}, UnspecifiedBlocked: {StagePolicy, false}, MulticastBlocked: {StagePolicy, false},
	UnparseableIP: {StagePolicy, false}, DowngradeBlocked: {StagePolicy, false}, RobotsDisallowed: {StagePolicy, false},
	DNSFailed: {StageDNS, true}, DNSTimeout: {StageDNS, true},
	TooManyRedirects: {StagePolicy, false}, MissingLocation: {StageHTTP, false},
	HTTPStatus: {StageHTTP, false}, SourceBlocked: {StageHTTP, false},
	FetchTimeout: {StageConnect, true}, ReadTimeout: {StageConnect, true}, TransportFailed: {StageConnect, true},
	Canceled: {StageConnect, true}, BodyTooLarge: {StageFetch, false},
	ContentTypeUnsupported: {StageExtract, false}, NoTextBlocks: {StageExtract, false}, NeedsJavaScript: {StageExtract, false},
	CursorMalformed: {StageCursor, false}, CursorSnapshotNotFound: {StageCursor, false}, CursorSnapshotMismatch: {StageCursor, false},
	Internal: {StageIntern, false},
}

// Codes lists every declared code, in no particular order.
func Codes() []Code {
	out := make([]Code, 0, len(table))
	for c := range table {
		out = append(out, c)
	}
	return out
}

// Error is one failed browse: a code, where it happened, and what the caller may do about it.
type Error struct {
	Code      Code
	Stage     Stage
	Retryable bool
	// Message is one sentence for the caller, free of addresses, URLs, paths and page content.
	Message string
	// Advice is the wire's recommended_action: exactly one next step.
	Advice string
	// HTTPStatus is the status of the response that failed, 0 when there was none.
	HTTPStatus int
	// RetryAfterMS is how long the source asks to wait, in milliseconds; 0 when it does not say.
	RetryAfterMS int64
	// SnapshotID is set by the cursor failures that name a snapshot.
	SnapshotID string
	// Err is the cause, for errors.Is and errors.As only; it is never shown.
	Err error
}

// New makes a fault with its code's stage and retryability. A code that is not declared is a programming
// error and panics.
func New(code Code, message, advice string) *Error {
	t, ok := table[code]
	if !ok {
		panic(fmt.Sprintf("fault: undeclared code %q", code))
	}
	return &Error{Code: code, Stage: t.stage, Retryable: t.retryable, Message: message, Advice: advice}
}

// WithStatus sets the HTTP status and returns e.
func (e *Error) WithStatus(status int) *Error { e.HTTPStatus = status; return e }

// WithCause keeps err for errors.Is and returns e.
func (e *Error) WithCause(err error) *Error { e.Err = err; return e }

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

func (e *Error) Unwrap() error { return e.Err }

// As finds the fault in err, or wraps err as Internal: what nobody mapped keeps its text off the wire.
func As(err error) *Error {
	if err == nil {
		return nil
	}
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return New(Internal, "the page engine failed unexpectedly", "report this as a defect of web and do not retry").WithCause(err)
}
