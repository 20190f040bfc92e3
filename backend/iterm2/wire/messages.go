package wire

// Request is what we say: an id of ours, and one of the others.
type Request struct {
	ID int `pb:"1"`

	SetProfile   *SetProfileRequest   `pb:"105"`
	ListSessions *Empty               `pb:"106"`
	CreateTab    *CreateTabRequest    `pb:"108"`
	SplitPane    *SplitPaneRequest    `pb:"109"`
	Activate     *ActivateRequest     `pb:"114"`
	Variable     *VariableRequest     `pb:"115"`
	Focus        *Empty               `pb:"117"`
	SetTabLayout *SetTabLayoutRequest `pb:"122"`
	Close        *CloseRequest        `pb:"131"`
}

// Response is what iTerm2 says: the id of the request and the answer.
type Response struct {
	ID    int     `pb:"1"`
	Error *string `pb:"2"` // the request was not understood

	SetProfile   *Status            `pb:"105"`
	ListSessions *Sessions          `pb:"106"`
	CreateTab    *CreateTabResponse `pb:"108"`
	SplitPane    *SplitPaneResponse `pb:"109"`
	Activate     *Status            `pb:"114"`
	Variable     *VariableResponse  `pb:"115"`
	Focus        *FocusResponse     `pb:"117"`
	SetTabLayout *Status            `pb:"122"`
	Close        *CloseResponse     `pb:"131"`
}

// Empty is a message without fields.
type Empty struct{}

// OK is the status of what was done; each answer has its own other ones.
const OK = 0

// Status is an answer that is only a status.
type Status struct {
	Status int `pb:"1"`
}

// NotFound is the status of SetProfile, SplitPane, Variable, Activate and Close where
// the id names nothing.
const NotFound = 1

// CreateTab: the window's id names nothing.
const BadWindow = 2

// SplitPane: there is no room.
const CannotSplit = 3

// Close: a person was asked and said no.
const Declined = 2

// Property is one value of a session's profile, as JSON.
type Property struct {
	Key  string `pb:"1"`
	JSON string `pb:"2"`
}

// SetProfileRequest changes a session's own copy of its profile.
type SetProfileRequest struct {
	Session     string     `pb:"1"`
	Assignments []Property `pb:"5"`
}

// Directions of the divider.
const (
	SideBySide = 0
	Stacked    = 1
)

// SplitPaneRequest splits a session; the new one goes right of it or below it.
type SplitPaneRequest struct {
	Session    string     `pb:"1"`
	Direction  int        `pb:"2"`
	Properties []Property `pb:"5"`
}

// SplitPaneResponse tells the new session. A tab that shows a tmux window has none to tell.
type SplitPaneResponse struct {
	Status   int      `pb:"1"`
	Sessions []string `pb:"2"`
}

// CreateTabRequest makes a tab in a window, or, without a Window, in a new one.
type CreateTabRequest struct {
	Window     string     `pb:"2"`
	Properties []Property `pb:"5"`
}

// CreateTabResponse tells what was made.
type CreateTabResponse struct {
	Status  int    `pb:"1"`
	Session string `pb:"4"`
}

// ActivateRequest brings a window, a tab or a session (one of them) to the front.
type ActivateRequest struct {
	Window        string       `pb:"1"`
	Tab           string       `pb:"2"`
	Session       string       `pb:"3"`
	FrontWindow   bool         `pb:"4"`
	SelectTab     bool         `pb:"5"`
	SelectSession bool         `pb:"6"`
	App           *ActivateApp `pb:"7"`
}

// ActivateApp brings the program itself to the front.
type ActivateApp struct {
	Insist bool `pb:"2"` // also over another program
}

// VariableRequest sets and reads variables of a session. Names that are set begin with "user.".
type VariableRequest struct {
	Session string     `pb:"1"`
	Set     []Variable `pb:"2"`
	Get     []string   `pb:"3"`
}

// Variable is a name and a value as JSON.
type Variable struct {
	Name string `pb:"1"`
	JSON string `pb:"2"`
}

// VariableResponse has a value, as JSON, for each name that was asked for.
type VariableResponse struct {
	Status int      `pb:"1"`
	JSON   []string `pb:"2"`
}

// FocusResponse describes what is selected everywhere.
type FocusResponse struct {
	Facts []FocusFact `pb:"1"`
}

// FocusFact is one of: a window has the keys, a tab is selected in its window, a session
// is the active one of its tab.
type FocusFact struct {
	Window  *FocusWindow `pb:"2"`
	Tab     string       `pb:"3"`
	Session string       `pb:"4"`
}

// FocusWindow tells how a window stands to the keyboard.
type FocusWindow struct {
	Status int    `pb:"1"` // Resigned: it has not got it
	ID     string `pb:"2"`
}

// Resigned is the status of a window that no longer has the keyboard.
const Resigned = 2

// SetTabLayoutRequest changes the sizes of a tab's sessions; the tree stays as it is.
type SetTabLayoutRequest struct {
	Root *Node  `pb:"1"`
	Tab  string `pb:"2"`
}

// CloseRequest closes sessions.
type CloseRequest struct {
	Sessions *SessionIDs `pb:"2"`
	Force    bool        `pb:"4"` // asks nobody
}

// SessionIDs names several sessions.
type SessionIDs struct {
	IDs []string `pb:"1"`
}

// CloseResponse has a status for each session.
type CloseResponse struct {
	Statuses []int `pb:"1"`
}

// Sessions is everything there is.
type Sessions struct {
	Windows []Window  `pb:"1"`
	Buried  []Session `pb:"2"` // not in any tab at the moment
}

// Window is a window with its tabs.
type Window struct {
	Tabs []Tab  `pb:"1"`
	ID   string `pb:"2"`
}

// Tab is a tab with its panes.
type Tab struct {
	ID   string `pb:"2"`
	Root *Node  `pb:"3"`
	Tmux string `pb:"5"` // not empty: it shows a tmux window, and the panes are tmux's
}

// Node is a division of a tab; Vertical is the direction of the dividers.
type Node struct {
	Vertical bool   `pb:"1"`
	Links    []Link `pb:"2"`
}

// Link is a session or a further division.
type Link struct {
	Session *Session `pb:"1"`
	Node    *Node    `pb:"2"`
}

// Session is one pane.
type Session struct {
	ID    string `pb:"1"`
	Size  *Size  `pb:"3"` // in cells
	Title string `pb:"4"`
}

// Size is a size in cells.
type Size struct {
	Cols int `pb:"1"`
	Rows int `pb:"2"`
}
