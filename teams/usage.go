package teams

import (
	"context"
	"encoding/json"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// usageKey is where a task's metadata keeps what its work has cost.
const usageKey = "usage"

// AddUsage adds to what the work on a task has cost, as its agent tells it.
func (tl *tasklist) AddUsage(ctx context.Context, team, id string, u api.Usage) error {
	_, err := tl.change(ctx, team, id, func(t *store.Task) {
		sum := u
		if was := usageOf(*t); was != nil {
			sum = was.Plus(u)
		}
		if data, err := json.Marshal(sum); err == nil { // a cost beyond all numbers would take the rest with it
			t.Metadata[usageKey] = data
		}
	})
	return err
}

// usageOf is what the work on a task has cost, nil if nobody has told.
func usageOf(t store.Task) *api.Usage {
	var u api.Usage
	if raw, ok := t.Metadata[usageKey]; !ok || json.Unmarshal(raw, &u) != nil {
		return nil
	}
	return &u
}
