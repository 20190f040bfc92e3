// Package wire is what leadlight and a backend in a program of its own say to each
// other: JSON-RPC 2.0, one JSON object a line, on the program's standard input and
// output. docs/backend-protocol.md is the specification; this package is its words, beside the
// types of package backend, and both halves (external, plugin) are made of it.
//
// What a peer does not know it leaves out or passes over: unknown members of an object
// are ignored, an unknown notification too, an unknown method is answered with
// MethodNotFound. So either side may be newer than the other.
package wire

import (
	"encoding/json"

	"github.com/leadlight-dev/leadlight/backend"
)

// Version is the version of the protocol that this package speaks. It rises only when
// peers of before could misunderstand; what can be passed over does not raise it.
const Version = 1

// MaxLine is the longest line in bytes, without its end. MaxID is the longest id of a
// pane.
const (
	MaxLine = 8 << 20
	MaxID   = 256
)

// The methods, all asked by leadlight. Those after Close are optional, and named in
// Hello.Capabilities.
const (
	Initialize = "initialize" // Greeting → Hello; first, and once
	Self       = "self"       // Nothing → backend.Here: the pane that the backend's process was started in
	Open       = "open"       // OpenParams → OpenResult
	List       = "list"       // Nothing → PaneList
	Label      = "label"      // LabelParams → Nothing
	Arrange    = "arrange"    // backend.Layout → Nothing
	Focus      = "focus"      // Pointer → Nothing
	Close      = "close"      // backend.Marked → Nothing
	Shutdown   = "shutdown"   // Nothing → Nothing; the end of standard input says the same

	Capture = "capture" // CaptureParams → Text
	ListAll = "listAll" // Nothing → PaneList
	Attach  = "attach"  // Pointer → Command
)

// Cancel is leadlight's only notification (CancelParams): nobody waits for that request
// any more. It is answered all the same.
const Cancel = "$/cancel"

// Weaknesses that a backend may declare in its Hello; the suite leaves out what they
// concern.
const (
	NoFocus  = "focus"  // there is no focus to keep or to take
	NoReopen = "reopen" // panes end with the backend's process
)

// Message is one line: a request (ID and Method), a notification (Method alone) or a
// response (ID, and Result or Error).
type Message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"` // a number or a string
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Nothing is a result or parameters without content.
type Nothing struct{}

// Greeting is how leadlight begins.
type Greeting struct {
	Protocol int    `json:"protocol"` // the highest version it speaks
	Host     Peer   `json:"host"`
	StateDir string `json:"stateDir"` // a folder for the backend alone; make it (mode 0700) when it is needed, remove it when it is empty
	// Terminal is the Hello.Terminal with which the panes in question were opened; "": the
	// backend is to find its terminal itself.
	Terminal string `json:"terminal,omitempty"`
}

// Hello is the backend's answer.
type Hello struct {
	Protocol     int      `json:"protocol"` // the version that is spoken from here on, not above the Greeting's
	Backend      Peer     `json:"backend"`
	Capabilities []string `json:"capabilities,omitempty"` // optional methods that are there
	Weaknesses   []string `json:"weaknesses,omitempty"`   // for backend-test; see NoFocus
	Terminal     string   `json:"terminal,omitempty"`     // by what this very terminal is reached later, from anywhere; "": there is only one
}

// Peer names a program.
type Peer struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// OpenParams are the panes to open, in order.
type OpenParams struct {
	Panes []backend.Spec `json:"panes"`
}

// OpenResult holds one Opened for each Spec, in the same order.
type OpenResult struct {
	Panes []Opened `json:"panes"`
}

// Opened is a pane, or why there is none.
type Opened struct {
	Pane  *backend.Pane `json:"pane,omitempty"`
	Error *Error        `json:"error,omitempty"`
}

// PaneList is an answer to List and ListAll.
type PaneList struct {
	Panes []backend.Pane `json:"panes"`
}

// Pointer names a pane.
type Pointer struct {
	ID backend.ID `json:"id"`
}

// LabelParams asks for a label to be shown on a pane that still carries the mark.
type LabelParams struct {
	backend.Marked
	Label backend.Label `json:"label"`
}

// CaptureParams asks for the text of a pane.
type CaptureParams struct {
	ID    backend.ID `json:"id"`
	Lines int        `json:"lines,omitempty"` // > 0: only the last ones
	ANSI  bool       `json:"ansi,omitempty"`  // colours as escape sequences
}

// Text is the text of a pane; each line ends with a newline.
type Text struct {
	Text string `json:"text"`
}

// Command is the command line that shows a pane in a person's terminal.
type Command struct {
	Argv []string `json:"argv"`
}

// CancelParams names the request that nobody waits for any more.
type CancelParams struct {
	ID json.RawMessage `json:"id"`
}
