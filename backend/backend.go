// Package backend is the contract of what can hold panes: a terminal such as
// tmux or iTerm2, or leadlight itself where there is none. A backend knows where
// things are, not what they are: typing, capturing, signals and exit codes belong
// to the host inside the pane.
//
// # Duties of every backend
//
// All methods are safe for concurrent use and bounded in time: a terminal that
// does not answer is fault.BackendUnavailable (fault.TmuxError where tmux itself
// refused), never a hang and never an empty list. Targets are ids that the
// backend gave out, checked for form before use; an id that is malformed or not
// there is fault.InvalidArgument or ErrGone, never "the current pane". Nothing a
// program in a pane does (titles, folder names, output) may confuse an answer.
// The JSON of the types is what a backend in a program of its own is told and tells
// (docs/backend-protocol.md).
// backendtest holds the suite that every backend passes.
package backend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// ErrGone says that a pane is no longer there.
var ErrGone = errors.New("the pane is gone")

// ErrTaken says, with fault.Unproven, that somebody has put a program of theirs into a pane.
var ErrTaken = errors.New("another program than ours runs in it")

// ID is a pane's own id in its terminal, such as tmux's %5.
type ID string

// Place is where a new pane goes.
type Place string

// The places.
const (
	Split   Place = "split"   // beside Target, in its window
	Window  Place = "window"  // a window of its own in Target's session
	Session Place = "session" // a session of its own on our own server
)

// Mark is what we write on a pane to know it again. It is kept where a program
// in the pane cannot reach it.
type Mark struct {
	Base  string `json:"base"` // short hash of the base directory
	Team  string `json:"team"`
	Agent string `json:"agent"`
	Host  string `json:"host"` // id of the host in the pane
}

// Hash is the mark in the letters 0-9a-f, 64 of them: for a terminal, or a file name,
// that takes no other. Marks that differ have hashes that differ.
func (m Mark) Hash() string {
	h := sha256.New()
	for _, s := range []string{m.Base, m.Team, m.Agent, m.Host} {
		fmt.Fprintf(h, "%d %s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Marked names a pane and the mark that it has to carry still.
type Marked struct {
	ID   ID   `json:"id"`
	Mark Mark `json:"mark"`
}

// Spec asks for one pane.
type Spec struct {
	Argv   []string `json:"argv"` // program and arguments, at least two words; never a shell string
	Dir    string   `json:"dir"`  // an existing folder, absolute
	Place  Place    `json:"place"`
	Target ID       `json:"target,omitempty"` // Split: the pane to split; Window: any pane of the session; Session: ignored
	// Below stacks the pane under Target instead of beside it (Split).
	Below bool `json:"below,omitempty"`
	// Size is the wanted width (or height, with Below) in cells, at the moment of
	// the split, as if the specs were opened one after the other; 0: the terminal's
	// choice.
	Size int `json:"size,omitempty"`
	// Chain, when not 0, takes as the target the pane that the Chain-th spec
	// before this one in the same batch opens.
	Chain int    `json:"chain,omitempty"`
	Name  string `json:"name,omitempty"` // name of the new window or session, for people
	Mark  Mark   `json:"mark"`
	Label Label  `json:"label"`
}

// Label is what people see on a pane.
type Label struct {
	Name  string `json:"name"`
	State string `json:"state,omitempty"`
	Color string `json:"color,omitempty"` // one of the palette's names; one that is not known is no error
}

// Result is the outcome of one Spec.
type Result struct {
	Pane Pane
	Err  error // fault.NoSpace, fault.TmuxError, fault.InvalidArgument, ...
}

// Pane is one pane as the terminal shows it.
type Pane struct {
	ID      ID     `json:"id"`
	Window  string `json:"window,omitempty"`
	Session string `json:"session,omitempty"`
	Server  string `json:"server,omitempty"` // identity of the server: its pid and start time
	PID     int    `json:"pid,omitempty"`    // root process; 0: not known
	Dead    bool   `json:"dead,omitempty"`   // the program ended, the pane is kept
	Active  bool   `json:"active,omitempty"` // the active pane of its window
	Width   int    `json:"width,omitempty"`  // in cells, as the next ones
	Height  int    `json:"height,omitempty"`
	// WindowWidth and WindowHeight are the size of the window it stands in; 0: not known.
	WindowWidth  int  `json:"windowWidth,omitempty"`
	WindowHeight int  `json:"windowHeight,omitempty"`
	Mark         Mark `json:"mark,omitzero"` // zero: not ours
}

// Layout asks for an arrangement of one window's panes.
type Layout struct {
	Window string     `json:"window"`
	Kind   LayoutKind `json:"kind"`
	Main   string     `json:"main,omitempty"` // main-vertical: size of the main pane, such as "40%"
	// Order are panes of the window that are to stand in this order, in the places that they
	// have; a terminal that cannot move panes leaves them.
	Order []ID `json:"-"`
}

// LayoutKind names an arrangement.
type LayoutKind string

// The arrangements.
const (
	MainVertical LayoutKind = "main-vertical"
	Tiled        LayoutKind = "tiled"
	Even         LayoutKind = "even-vertical"
	None         LayoutKind = "none"
)

// Backend is a terminal that can hold panes.
type Backend interface {
	// Self returns the pane this process runs in, and every pane of its window.
	Self(ctx context.Context) (Here, error)
	// Open makes the panes, in order, and starts the programs; focus stays where
	// it is. It returns one result for each spec; one that failed left nothing.
	Open(ctx context.Context, specs []Spec) []Result
	// List returns every pane that carries a mark, on this server, dead ones
	// included. An unreachable server is an error; only a server that is provably
	// not running holds no panes.
	List(ctx context.Context) ([]Pane, error)
	// Label shows name, state and colour on a pane if it still carries the mark, else
	// it changes nothing: ErrGone, fault.Unproven.
	Label(ctx context.Context, id ID, mark Mark, l Label) error
	// Arrange lays out windows. One that cannot be laid out does not keep the others from
	// it.
	Arrange(ctx context.Context, layouts ...Layout) error
	// Focus takes the person's terminal to the pane, or says how to get there.
	Focus(ctx context.Context, id ID) error
	// Close closes each pane of a set if it still carries its mark and nobody but our
	// program runs in it, and looks whether it is gone. Whoever else has got the id since
	// is left alone, and so is the pane this process runs in: fault.Unproven. A pane that
	// is gone is success. It returns one error for each pane. When no pane of ours is left
	// in a window, its own options are restored, also when the pane had gone by itself
	// before.
	Close(ctx context.Context, set ...Marked) []error
}

// Capturer reads a pane that holds no host of ours.
type Capturer interface {
	// Capture returns the pane's text, the last lines of it if lines > 0, with
	// colours as escape sequences if ansi.
	Capture(ctx context.Context, id ID, lines int, ansi bool) (string, error)
}

// Lister sees all panes of the terminal, strangers' too: what is needed to tell
// whether a pane that Claude Code recorded is still there.
type Lister interface {
	ListAll(ctx context.Context) ([]Pane, error)
}

// Here is the pane of this process, with all panes of its window.
type Here struct {
	Self   *Pane  `json:"self,omitempty"` // nil: it is in no pane of this terminal
	Window []Pane `json:"window,omitempty"`
}

// ID is the id of the pane, "" if there is none.
func (h Here) ID() ID {
	if h.Self == nil {
		return ""
	}
	return h.Self.ID
}

// Surroundings are our panes, and the pane of this process.
type Surroundings struct {
	Ours []Pane
	Here
}

// Attacher tells how a person gets to see the panes of a backend that is not in
// front of them, as an argv to run in their terminal.
type Attacher interface {
	Attach(ctx context.Context, id ID) (argv []string, err error)
}

// As finds an optional power of a backend, through wrappers that offer
// Unwrap() Backend.
func As[T any](b Backend) (T, bool) {
	for b != nil {
		if t, ok := b.(T); ok {
			return t, true
		}
		w, ok := b.(interface{ Unwrap() Backend })
		if !ok {
			break
		}
		b = w.Unwrap()
	}
	var zero T
	return zero, false
}
