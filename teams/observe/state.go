package observe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

// stateVersion is the version of the state's form that this program writes.
const stateVersion = 1

// maxApplied bounds how many tool uses are remembered as applied. A replay that
// goes further back than that is not recognised as one.
const maxApplied = 1 << 14

// State is all an observer knows: what a restart needs to go on as if nothing
// had happened. Its JSON form is what --state FILE holds. The zero State is that
// of a session not yet seen.
type State struct {
	SessionID string   `json:"sessionId,omitempty"`
	Self      string   `json:"self,omitempty"` // the observed session's own name if it is a teammate's transcript
	Seq       uint64   `json:"seq"`            // of the last event
	Team      *Team    `json:"team"`           // see Team; one without a name is no team yet
	Agents    []string `json:"agents"`
	Ended     bool     `json:"ended,omitempty"`         // a team was deleted: the session's own agents are not listed again
	Done      []Done   `json:"done,omitempty"`          // members that completed a task and took no new one so far
	Open      []Open   `json:"open,omitempty"`          // uses whose result has not come
	Applied   Applied  `json:"applied"`                 // ids of the uses that are in here already
	Creates   bool     `json:"creates,omitempty"`       // the session has asked for a team before it had one: it leads
	Children  []Child  `json:"children,omitempty"`      // agents that were started here, the last ones
	Others    []State  `json:"otherSessions,omitempty"` // of other sessions in the same stream, the one seen last at the end
}

// Done is a member that may turn out to be idle.
type Done struct {
	Member string `json:"member"`
	TaskID string `json:"taskId"`
}

// View is the state as it is shown: the team and, in step with its members, the
// names of its agents.
type View struct {
	*Team
	Agents []string `json:"agents"`
}

// View returns what is to be shown, nil if there is no team.
func (s *State) View() *View {
	if !s.Team.known() {
		return nil
	}
	return &View{Team: s.Team, Agents: s.Agents}
}

// form is a State without its methods, which would call themselves.
type form State

// MarshalJSON writes the form of --state FILE.
func (s State) MarshalJSON() ([]byte, error) {
	if s.Agents == nil {
		s.Agents = []string{}
	}
	return json.Marshal(struct {
		Version int `json:"version"`
		form
	}{stateVersion, form(s)})
}

// UnmarshalJSON reads that form and checks it. A newer form is
// fault.VersionTooNew.
func (s *State) UnmarshalJSON(b []byte) error {
	var read struct {
		Version int             `json:"version"`
		Team    json.RawMessage `json:"team"`
		form
	}
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	if read.Version > stateVersion {
		return fault.New(fault.VersionTooNew, "state has version %d, this program knows %d", read.Version, stateVersion).
			WithHint("use the leadlight that wrote it, or begin with a new state file")
	}
	if read.Version < 1 {
		return errors.New("not a state: it has no version")
	}
	if len(read.Team) > 0 && string(read.Team) != "null" {
		if err := CheckTeam(read.Team); err != nil {
			return err
		}
		read.form.Team = new(Team)
		if err := json.Unmarshal(read.Team, read.form.Team); err != nil {
			return err
		}
	}
	*s = State(read.form)
	return nil
}

// Applied is a bounded set of ids; the oldest go first. Its zero value is empty.
type Applied struct {
	ids  []string // oldest first
	have map[string]struct{}
}

// NewApplied returns a set of the given ids, oldest first.
func NewApplied(ids ...string) Applied {
	var a Applied
	for _, id := range ids {
		a.add(id)
	}
	return a
}

// Has tells whether id is in the set.
func (a *Applied) Has(id string) bool {
	_, ok := a.have[id]
	return ok
}

func (a *Applied) add(id string) {
	if a.Has(id) {
		return
	}
	if a.have == nil {
		a.have = map[string]struct{}{}
	}
	a.have[id] = struct{}{}
	a.ids = append(a.ids, id)
	if len(a.ids) > maxApplied {
		delete(a.have, a.ids[0])
		a.ids = a.ids[1:]
	}
}

// MarshalJSON writes the ids, oldest first.
func (a Applied) MarshalJSON() ([]byte, error) { return json.Marshal(append([]string{}, a.ids...)) }

// UnmarshalJSON reads them.
func (a *Applied) UnmarshalJSON(b []byte) error {
	var ids []string
	err := json.Unmarshal(b, &ids)
	*a = NewApplied(ids...)
	return err
}

// LoadState reads a state file. One that does not exist is the zero State. One
// that is damaged is fault.CorruptFile; it is left as it is.
func LoadState(path string) (State, error) {
	b, err := files.ReadFile(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("read state: %w", err)
	}
	var s State
	if err := json.Unmarshal(b, &s); err != nil {
		if errors.Is(err, fault.VersionTooNew) {
			return State{}, fmt.Errorf("%s: %w", path, err)
		}
		return State{}, fault.New(fault.CorruptFile, "state file %s is damaged%s: %w", path, offset(err), err).
			WithHint("move it away; the state is made again from the stream")
	}
	return s, nil
}

func offset(err error) string {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf(" at byte %d", syntax.Offset)
	}
	return ""
}

// SaveState writes a state file so that a reader, or a crash, finds either the
// old state or the new one: temporary file, fsync, rename, fsync of the folder.
// Its mode is 0600. A link is followed, not replaced.
func SaveState(path string, s State) error {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write state %s: %w", path, err)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil { // a mistyped folder is not made
		return fmt.Errorf("write state %s: %w", path, err)
	}
	if err := files.Replace(path, append(b, '\n')); err != nil {
		return fmt.Errorf("write state %s: %w", path, err)
	}
	return nil
}
