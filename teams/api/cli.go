package api

// Delegation is the answer of delegate: whether the lead coordinates only.
type Delegation struct {
	Team     string `json:"team"`
	Delegate bool   `json:"delegate"`
}

// Attachment is the answer of attach: the command that shows the pane in a terminal.
type Attachment struct {
	Argv []string `json:"argv"`
}
