package jetstream

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Machine is what a machine says of itself.
type Machine struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Process   string   `json:"process"` // of its daemon: another one of that name is another machine
	Load      float64  `json:"load"`
	Terminals []string `json:"terminals"`
}

// SeenMachine is a machine, and for how long it has said nothing by the clock of the
// engine.
type SeenMachine struct {
	Machine
	Seen   time.Time
	Silent time.Duration
}

func (e *Engine) machineKey(name string) string { return "$KV." + e.machines() + "." + name }

// Beat says that a machine is there.
func (e *Engine) Beat(ctx context.Context, m Machine) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = e.put(ctx, write{subject: e.machineKey(m.Name), value: data})
	return err
}

// Leave takes a machine off the list.
func (e *Engine) Leave(ctx context.Context, name string) error {
	return e.purge(ctx, "KV_"+e.machines(), e.machineKey(name), 0)
}

// Machines lists the machines. Whoever asks has just said that it is there as self: its
// time is that of the engine, whose clock alone counts.
func (e *Engine) Machines(ctx context.Context, self Machine) ([]SeenMachine, error) {
	if err := e.Beat(ctx, self); err != nil {
		return nil, err
	}
	var info *jetstream.StreamInfo
	err := e.patiently(ctx, func(ctx context.Context) error {
		s, err := e.js.Stream(ctx, "KV_"+e.machines())
		if err == nil {
			info, err = s.Info(ctx, jetstream.WithSubjectFilter(e.machineKey("*")))
		}
		return err
	})
	if err != nil {
		return nil, e.explain(ctx, "list the machines", err)
	}
	var now time.Time
	var out []SeenMachine
	for subject := range info.State.Subjects {
		x, err := e.last(ctx, "KV_"+e.machines(), subject)
		if err != nil {
			return nil, err
		}
		m := SeenMachine{}
		if x == nil || x.deleted || json.Unmarshal(x.value, &m.Machine) != nil || m.Name != last(subject) {
			continue // it left just now, or is not ours
		}
		if m.Seen = x.at; m.Name == self.Name {
			now = x.at
		}
		out = append(out, m)
	}
	for i := range out {
		out[i].Silent = max(0, now.Sub(out[i].Seen))
	}
	slices.SortFunc(out, func(a, b SeenMachine) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
