package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// The codes of errors. The first five are JSON-RPC's own.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	MethodNotFound = -32601
	InvalidParams  = -32602
	InternalError  = -32603
	Refused        = -32000 // the terminal's own reasons: see ErrorData
)

// Gone is the ErrorData.Code of a pane that is no longer there; the others are codes of
// package fault.
const Gone = "GONE"

// Error is why a request was not done.
type Error struct {
	Code    int        `json:"code"`
	Message string     `json:"message"` // what and where, lower case, no full stop
	Data    *ErrorData `json:"data,omitempty"`
}

// ErrorData is what a program can make of an error.
type ErrorData struct {
	Code string `json:"code,omitempty"` // a word of the table in docs/backend-protocol.md
	Hint string `json:"hint,omitempty"` // what to do next
}

// codes are the words that a backend may use, and what they mean here. Another word, or
// none, means that the terminal did not do it: BackendUnavailable.
func codes() []fault.Code {
	return []fault.Code{
		fault.NoSpace, fault.SpawnFailed, fault.ProgramNotFound, fault.InvalidArgument, fault.PermissionDenied,
		fault.DuplicateName, fault.Unsupported, fault.Unproven, fault.BackendUnavailable, fault.TmuxError, fault.Timeout,
	}
}

// ErrorOf puts an error of a backend into words. ErrorOf(nil) is nil.
func ErrorOf(err error) *Error {
	if err == nil {
		return nil
	}
	f := fault.Of(err)
	data := &ErrorData{Code: string(f.Code), Hint: f.Hint}
	switch {
	case errors.Is(err, backend.ErrGone):
		data.Code = Gone
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		data.Code = string(fault.Timeout)
	}
	return &Error{Code: Refused, Message: f.Message, Data: data}
}

// Fault is the error that e tells of. what says, for people, who could not do what.
func (e *Error) Fault(what string) error {
	text := cmp.Or(e.Message, "it gave no reason")
	if e.Code == MethodNotFound {
		return fault.New(fault.Unsupported, "%s: %s", what, text)
	}
	var data ErrorData
	if e.Data != nil {
		data = *e.Data
	}
	if data.Code == Gone {
		return fault.New(fault.BackendUnavailable, "%s: %w", what, &said{text, backend.ErrGone})
	}
	for _, c := range codes() {
		if string(c) == data.Code {
			return fault.New(c, "%s: %s", what, text).WithHint("%s", data.Hint)
		}
	}
	return fault.New(fault.BackendUnavailable, "%s: %s", what, text).WithHint("%s", data.Hint)
}

// said is a cause in the peer's words.
type said struct {
	text  string
	cause error
}

func (s *said) Error() string { return s.text }
func (s *said) Unwrap() error { return s.cause }

// UnmarshalJSON takes any data: what is not an object of ours says nothing.
func (d *ErrorData) UnmarshalJSON(b []byte) error {
	var known struct{ Code, Hint any }
	if json.Unmarshal(b, &known) != nil {
		return nil
	}
	d.Code, _ = known.Code.(string)
	d.Hint, _ = known.Hint.(string)
	return nil
}
