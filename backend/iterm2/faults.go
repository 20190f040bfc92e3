package iterm2

import (
	"errors"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// errAway says that iTerm2 provably does not run: nobody has its socket.
var errAway = errors.New("iTerm2 does not run, or its Python API is off")

func isAway(err error) bool { return errors.Is(err, errAway) }
func isGone(err error) bool { return errors.Is(err, backend.ErrGone) }

func gone(id backend.ID) error {
	return fault.New(fault.BackendUnavailable, "session %s: %w", id, backend.ErrGone)
}

// odd is an answer that answers something else.
func odd(what string) error {
	return fault.New(fault.BackendUnavailable, "iTerm2 gave no answer to a question for %s", what).
		WithHint("this iTerm2 may be too old or too new; leadlight --backend tmux works in every terminal")
}

func refused(what string, status int) error {
	return fault.New(fault.BackendUnavailable, "iTerm2 refused to %s (status %d)", what, status)
}

// done is the error that the status of an answer stands for: question is what was asked, deed
// what was to be done to the session. An answer without a status is odd.
func done(s *wire.Status, id backend.ID, question, deed string) error {
	switch {
	case s == nil:
		return odd(question)
	case s.Status == wire.NotFound:
		return gone(id)
	case s.Status != wire.OK:
		return refused(deed+" session "+string(id), s.Status)
	}
	return nil
}

// checkID refuses what no session can have as its unique id, above all the words that
// iTerm2 takes for several sessions or for whichever is in front.
func checkID(id backend.ID) error {
	const form = "00000000-0000-0000-0000-000000000000"
	ok := len(id) == len(form)
	for i := 0; ok && i < len(form); i++ {
		if form[i] == '-' {
			ok = id[i] == '-'
		} else {
			ok = strings.IndexByte("0123456789abcdefABCDEF", id[i]) >= 0
		}
	}
	if !ok {
		return fault.New(fault.InvalidArgument, "%.40q is not the id of an iTerm2 session", string(id))
	}
	return nil
}
