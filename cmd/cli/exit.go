package cli

import (
	"context"
	"errors"
	"os"
	"syscall"

	"web/action"
)

// The exit statuses, and nothing else, that web ends with.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 128 + int(syscall.SIGINT)
	exitTerminated  = 128 + int(syscall.SIGTERM)
)

// signalled is the cause with which a signal cancels the call.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return "cancelled by signal" }

// statusOf is the exit status of an answer; a signal outranks it.
func statusOf(ctx context.Context, a action.Answer) int {
	if code, ok := interrupted(ctx); ok {
		return code
	}
	f, failed := a.(*action.Failure)
	if !failed {
		return exitOK
	}
	switch f.Code {
	case action.EnvelopeInvalid, action.ActionRequired, action.InvalidArgument:
		return exitUsage
	}
	return exitFailed
}

func interrupted(ctx context.Context) (int, bool) {
	var s signalled
	if !errors.As(context.Cause(ctx), &s) {
		return 0, false
	}
	return s.status(), true
}

func (s signalled) status() int {
	if s.Signal == syscall.SIGTERM {
		return exitTerminated
	}
	return exitInterrupted
}

// usage is a mistake in the command line; it ends with exitUsage.
type usage struct{ message, hint string }

func (u usage) Error() string { return u.message }

// failure is an error of a command that is not a usage mistake and not an answer.
type failure struct{ message, hint string }

func (f failure) Error() string { return f.message }

// answered ends a command whose answer was already written; only its status is left to report.
type answered int

func (a answered) Error() string { return "answered" }
