// Package fault holds the closed set of things that can go wrong: every error
// code leadlight prints, its exit status, and the error type that carries a
// code, a sentence and a way out.
//
// A Code is itself an error, so it serves as the sentinel of the contracts:
//
//	return fault.New(fault.TeamNotFound, "team %q does not exist", name).
//		WithHint("leadlight team ls lists the teams there are")
//	...
//	if errors.Is(err, fault.TeamNotFound) { ... }
//
// The command line, the JSON errors and the API all read the same table, so a
// code cannot mean one thing to a script and another to a person.
package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Code names one kind of failure. It is stable: scripts match on it.
type Code string

// Error makes a Code usable as a sentinel.
func (c Code) Error() string { return string(c) }

// The codes, grouped by the exit status they lead to.
const (
	Failed   Code = "FAILED"
	DiskFull Code = "DISK_FULL"

	InvalidName     Code = "INVALID_NAME"
	InvalidModel    Code = "INVALID_MODEL"
	InvalidType     Code = "INVALID_TYPE"
	InvalidArgument Code = "INVALID_ARGUMENT"
	TeamFile        Code = "TEAM_FILE"
	Unsupported     Code = "UNSUPPORTED"

	TeamNotFound      Code = "TEAM_NOT_FOUND"
	MemberNotFound    Code = "MEMBER_NOT_FOUND"
	RecipientNotFound Code = "RECIPIENT_NOT_FOUND"
	TaskNotFound      Code = "TASK_NOT_FOUND"
	PlanNotFound      Code = "PLAN_NOT_FOUND"
	RequestNotFound   Code = "REQUEST_NOT_FOUND"
	RunNotFound       Code = "RUN_NOT_FOUND"
	ItemNotFound      Code = "ITEM_NOT_FOUND"
	NoTaskReady       Code = "NO_TASK_READY"
	ProfileNotFound   Code = "PROFILE_NOT_FOUND"
	ProgramNotFound   Code = "PROGRAM_NOT_FOUND"

	TeamExists        Code = "TEAM_EXISTS"
	DuplicateName     Code = "DUPLICATE_NAME"
	RecipientInactive Code = "RECIPIENT_INACTIVE"
	ActiveMembers     Code = "ACTIVE_MEMBERS"
	TaskClaimed       Code = "TASK_CLAIMED"
	TaskBlocked       Code = "TASK_BLOCKED"
	Rejected          Code = "REJECTED"
	LimitReached      Code = "LIMIT_REACHED"
	NotLead           Code = "NOT_LEAD"

	PermissionDenied Code = "PERMISSION_DENIED"

	TmuxError          Code = "TMUX_ERROR"
	BackendUnavailable Code = "BACKEND_UNAVAILABLE"
	EngineUnavailable  Code = "ENGINE_UNAVAILABLE"
	NoSpace            Code = "NO_SPACE"
	SpawnFailed        Code = "SPAWN_FAILED"

	Timeout     Code = "TIMEOUT"
	LockTimeout Code = "LOCK_TIMEOUT"
	Unproven    Code = "UNPROVEN"

	CorruptFile   Code = "CORRUPT_FILE"
	VersionTooNew Code = "VERSION_TOO_NEW"
)

// Exit statuses of the command line.
const (
	ExitOK          = 0
	ExitOther       = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitConflict    = 4
	ExitPermission  = 5
	ExitBackend     = 6
	ExitTimeout     = 7
	ExitCorrupt     = 8
	ExitInterrupted = 130
)

// Group is one exit status with its meaning and the codes that lead to it.
type Group struct {
	Exit    int
	Meaning string
	Codes   []Code
}

// Table returns the whole table, ordered by exit status. The help topic
// exit-codes is printed from it.
func Table() []Group {
	return []Group{
		{ExitOther, "other", []Code{DiskFull, Failed}},
		{ExitUsage, "usage", []Code{InvalidName, InvalidModel, InvalidType, InvalidArgument, TeamFile, Unsupported}},
		{ExitNotFound, "not found", []Code{TeamNotFound, MemberNotFound, RecipientNotFound, TaskNotFound, PlanNotFound,
			RequestNotFound, RunNotFound, ItemNotFound, NoTaskReady, ProfileNotFound, ProgramNotFound}},
		{ExitConflict, "conflict or refused", []Code{TeamExists, DuplicateName, RecipientInactive, ActiveMembers,
			TaskClaimed, TaskBlocked, Rejected, LimitReached, NotLead}},
		{ExitPermission, "permission", []Code{PermissionDenied}},
		{ExitBackend, "terminal, backend or engine", []Code{TmuxError, BackendUnavailable, EngineUnavailable, NoSpace, SpawnFailed}},
		{ExitTimeout, "timed out or unproven", []Code{Timeout, LockTimeout, Unproven}},
		{ExitCorrupt, "damaged file", []Code{CorruptFile, VersionTooNew}},
	}
}

// Exit returns the exit status of c; an unknown code is ExitOther.
func (c Code) Exit() int {
	for _, g := range Table() {
		if slices.Contains(g.Codes, c) {
			return g.Exit
		}
	}
	return ExitOther
}

// Error is a failure as it is told to a person: what went wrong and where, and,
// where there is one, the way out. It wraps its Code and its cause.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`        // what and where, lower case, no full stop
	Hint    string `json:"hint,omitempty"` // what to do next; may be empty
	Cause   error  `json:"-"`              // may be nil; it stays where it came about
}

// New makes an error of the given code. A %w in the format wraps the cause; the
// cause's text is then part of the message.
func New(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// WithHint sets the way out and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error returns the message without the code.
func (e *Error) Error() string { return e.Message }

// Err is e as an error: nil for nil, such as of an answer that holds no error.
func (e *Error) Err() error {
	if e == nil {
		return nil
	}
	return e
}

// Unwrap exposes the code and the cause to errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Cause}
}

// Of returns what is to be told about any error: itself if it carries a code,
// else a code for the causes that have one (a cancelled context is a Timeout
// or, when it was interrupted, Failed), else Failed. Of(nil) is nil.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Error() == err.Error() {
			return e
		}
		return &Error{Code: e.Code, Message: err.Error(), Hint: e.Hint, Cause: err}
	}
	for _, known := range systemCauses() {
		if errors.Is(err, known.cause) {
			return &Error{Code: known.code, Message: err.Error(), Hint: known.hint, Cause: err}
		}
	}
	if c, ok := errors.AsType[Code](err); ok {
		return &Error{Code: c, Message: err.Error(), Cause: err}
	}
	return &Error{Code: Failed, Message: err.Error(), Cause: err}
}

type systemCause struct {
	cause error
	code  Code
	hint  string
}

// CodeOf returns the code of err, or "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return Of(err).Code
}

// ExitOf returns the exit status for err: 0 for nil, 130 for a cancelled
// context, else that of its code.
func ExitOf(err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	}
	return CodeOf(err).Exit()
}
