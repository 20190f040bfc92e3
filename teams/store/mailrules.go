package store

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// PrepareMessage makes a message one that is sent to a member now. It gives it an id, if it has
// none, by which a store takes it once, and holds it to the limits: UTF-8, and no longer than the first message of
// a teammate may be. That later ones stay below MaxMessage is for the store to see, which
// knows the box.
func PrepareMessage(m *Message, to string, now time.Time) error {
	if len(m.Text) > MaxPrompt {
		return TooLong(len(m.Text))
	}
	for _, s := range []string{m.Text, m.Summary, m.From, m.Color, m.ID} {
		if !utf8.ValidString(s) {
			return fault.New(fault.InvalidArgument, "the message is not UTF-8 text").WithHint("send a reference to a file instead")
		}
	}
	if m.ID == "" {
		m.ID = uuid.NewString()
	}
	if m.Timestamp.IsZero() {
		m.Timestamp = now
	}
	m.To, m.Type, m.Stamp, m.Read, m.Unknown = to, "message", "", false, nil
	return nil
}

// Own tells whether m was sent by the one in whose box it lies: what it says is known
// there already, so nobody is told of it.
func (m *Message) Own(teams ...string) bool {
	return m.From != "" && SameName(LocalName(m.From, teams...), m.To)
}

// Doubled notes that another message of the box has m's id, and is not listed. One that says
// the same is the same.
func (m *Message) Doubled(by Message) {
	if m.Text != by.Text {
		m.Odd = append(slices.Clip(m.Odd), "another message has its id, and is not shown") // stores share it
	}
}

// TooLong is the error for a message of n bytes.
func TooLong(n int) error {
	return fault.New(fault.InvalidArgument, "the message has %d bytes, %d are allowed", n, MaxMessage).
		WithHint("put the text into a file and send its name")
}
