package teams

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// MemberChange is what SetMember changes. "" and nil leave a field as it is.
type MemberChange struct {
	Color    string
	Metadata map[string]json.RawMessage // null removes a key
}

// SetMember changes a teammate's colour and metadata in the roster: fault.NotLead.
func (rg *registry) SetMember(ctx context.Context, team, name string, c MemberChange) error {
	if err := rg.leadOnly("change teammates"); err != nil {
		return err
	}
	if c.Color != "" {
		if err := checkColor(c.Color); err != nil {
			return err
		}
	}
	t, m, err := rg.find(ctx, team, name)
	if err != nil {
		return err
	}
	return rg.roster.Update(ctx, t.Name, func(t *store.Team) error {
		entry := t.Member(m.Name)
		if entry == nil {
			return fault.New(fault.MemberNotFound, "teammate %s has left team %s", m.Name, t.Name)
		}
		entry.Color = cmp.Or(c.Color, entry.Color)
		entry.Metadata = merged(entry.Metadata, c.Metadata)
		return nil
	})
}

// SetTeam changes a team's metadata: fault.NotLead. null removes a key.
func (rg *registry) SetTeam(ctx context.Context, team string, metadata map[string]json.RawMessage) error {
	if err := rg.leadOnly("change the team"); err != nil {
		return err
	}
	if _, ours := metadata["leadlight"]; ours {
		return fault.New(fault.InvalidArgument, "the key leadlight of a team's metadata is leadlight's own").WithHint("choose another key")
	}
	return rg.roster.Update(ctx, team, func(t *store.Team) error {
		t.Metadata = merged(t.Metadata, metadata)
		return nil
	})
}

func merged(old, change map[string]json.RawMessage) map[string]json.RawMessage {
	out := orEmptyMap(maps.Clone(old))
	for k, v := range change {
		if string(v) == "null" {
			delete(out, k)
		} else {
			out[k] = v
		}
	}
	return out
}

// Changed is how many lines a teammate has added and removed in its worktree since it
// branched, and on which branch.
type Changed struct {
	Branch         string
	Added, Removed int
}

// Difference is what a teammate changed in its worktree.
type Difference struct {
	Text   string `json:"-"`
	Branch string `json:"branch"`          // on which the worktree is
	Clone  string `json:"clone,omitempty"` // the worktree, if it is one of a clone: no repository of the lead's has the branch
}
