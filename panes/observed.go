package panes

import (
	"context"
	"encoding/json"
	"errors"
)

// ObservedRecord is what a host has seen of a team in the stream of its worker: the
// state now, and the last events that led to it, in their order. It is for readers
// that come now and then, and as true as the stream.
type ObservedRecord struct {
	Version int               `json:"version"`
	Run     string            `json:"run"`            // id of one run of the command: its events are numbered from 1
	Task    string            `json:"task,omitempty"` // what the run is for
	Seq     uint64            `json:"seq"`            // of the last event
	State   json.RawMessage   `json:"state"`          // as observe --emit state prints it; null: no team
	Events  []json.RawMessage `json:"events"`         // as observe --emit events prints them; older ones may be missing
}

// ObservedFolder is where these records of a team are, below the base.
func ObservedFolder(team string) string { return OwnPath(team, "observed") }

func observedPath(team, agent string) string { return OwnPath(team, "observed", agent+".json") }

// WriteObserved stores what was observed in a member's stream.
func (r *Records) WriteObserved(ctx context.Context, team, agent string, o ObservedRecord) error {
	o.Version = recordVersion
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return r.dir.WriteVolatile(ctx, observedPath(team, agent), data) // its stream ends with the machine, too
}

// Observed returns what was observed in a member's stream, or fs.ErrNotExist.
func (r *Records) Observed(ctx context.Context, team, agent string) (ObservedRecord, error) {
	o, err := read[ObservedRecord](ctx, r.dir, observedPath(team, agent))
	if err != nil {
		return ObservedRecord{}, err
	}
	if o.Version < 1 || o.Run == "" || len(o.State) == 0 {
		return ObservedRecord{}, damaged(observedPath(team, agent), errors.New("it is of no run"))
	}
	return o, nil
}

// ObservedMembers names the members of a team in whose streams something was
// observed.
func (r *Records) ObservedMembers(team string) ([]string, error) {
	return r.members(ObservedFolder(team))
}
