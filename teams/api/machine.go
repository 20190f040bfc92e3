package api

import (
	"encoding/json"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// States of a machine.
const (
	MachineActive = "active"
	MachineSilent = "silent"
)

// Machine is a computer that has joined an engine (machine ls).
type Machine struct {
	Name      string   `json:"name"`
	State     string   `json:"state"`    // active, or silent: it has said nothing for 15 seconds
	Seen      *Time    `json:"seen"`     // in the clock of the one that answers
	SilentMS  int64    `json:"silentMs"` // for how long it has said nothing, as far as the one that answers was heard itself
	Version   string   `json:"version"`
	Teammates int      `json:"teammates"` // that run there, by the rosters
	Load      float64  `json:"load"`
	Terminals []string `json:"terminals"`
	Engine    string   `json:"engine"`
	This      bool     `json:"this"`              // it is the one that answers
	AheadMS   int64    `json:"aheadMs,omitempty"` // how far its clock is ahead of the engine's; only the one that answers says so
}

// MachineList are the parameters of machine.ls.
type MachineList struct {
	Uncounted bool `json:"uncounted,omitempty"` // nobody needs the number of teammates, which asks for all teams
}

// MachineCall are the parameters of machine.do: what a machine is to do with its own
// teammates.
type MachineCall struct {
	Machine string          `json:"machine"`
	ID      string          `json:"id"`   // one that is asked again under the same id is done once
	Verb    string          `json:"verb"` // such as stop
	Params  json.RawMessage `json:"params"`
	Follow  bool            `json:"follow,omitempty"` // it ends with the connection, and nothing of what it tells may be missing
	Look    bool            `json:"look,omitempty"`   // a machine that is not there is not waited for
	Stream  bool            `json:"stream,omitempty"` // its bytes go both ways over a socket, which is told first, as a MachineSocket
}

// MachineSocket is where the bytes of a call go. It waits for one connection, and the call
// begins with that.
type MachineSocket struct {
	Socket string `json:"socket"`
}

// MachineResult is the answer of machine.do.
type MachineResult struct {
	Result json.RawMessage `json:"result"`
	Mute   *fault.Error    `json:"mute,omitempty"` // there is none: the machine does not answer
}

// Mute is the error of a machine that does not answer. One that answers may have the same code.
type Mute struct {
	Machine string
	Err     error
}

func (m Mute) Error() string { return m.Err.Error() }

// Unwrap gives the code, and what to do.
func (m Mute) Unwrap() error { return m.Err }

// MachineTold is what a machine tells before it has a result.
type MachineTold struct {
	ID   string          `json:"id"`
	Told json.RawMessage `json:"told"`
}
