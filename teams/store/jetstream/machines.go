package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Machine is what a machine says of itself.
type Machine struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Owner     string   `json:"owner,omitempty"` // made when it joined: another one of that name is another machine
	Process   string   `json:"process"`         // of its daemon
	Load      float64  `json:"load"`
	Terminals []string `json:"terminals"`
}

// SeenMachine is a machine, and for how long it has said nothing by the clock of the
// engine. Missed is as much of that as the machine that asks has been heard itself: while the
// engine takes nothing from anybody, nobody is to blame for saying nothing. Seen is in the clock of
// the machine that asks.
type SeenMachine struct {
	Machine
	Seen           time.Time
	Silent, Missed time.Duration
}

// SilenceLimit is how long a machine may say nothing and counts as there: three beats.
const SilenceLimit = 15 * time.Second

// heard is since when this machine is heard without a gap, by the times that the engine gave to
// what it said.
type heard struct{ since, last time.Time }

// at takes such a time down. Two that are said at once may come the other way round.
func (h *heard) at(t time.Time, gap time.Duration) {
	switch d := t.Sub(h.last); {
	case d.Abs() >= gap: // also if the engine's clock was set back
		*h = heard{t, t}
	case d > 0:
		h.last = t
	}
}

func (e *Engine) machineKey(name string) string { return "$KV." + e.machines() + "." + name }

// Beat says that a machine is there, and takes down when the engine has heard that. Copies that
// nobody uses are let go of.
func (e *Engine) Beat(ctx context.Context, m Machine) error {
	e.mu.Lock()
	e.sweep()
	e.mu.Unlock()
	if err := e.say(ctx, m); err != nil {
		return err
	}
	x, err := e.last(ctx, "KV_"+e.machines(), e.machineKey(m.Name))
	if err == nil && x != nil {
		e.heardAt(x.at)
	}
	return err
}

// Claim says that a machine is there now, whoever had its name.
func (e *Engine) Claim(ctx context.Context, m Machine) error {
	data, err := json.Marshal(m)
	if err == nil {
		_, err = e.put(ctx, write{subject: e.machineKey(m.Name), value: data})
	}
	return err
}

// Taken tells whether another machine has joined under the name of one since.
func (e *Engine) Taken(ctx context.Context, m Machine) (bool, error) {
	x, err := e.last(ctx, "KV_"+e.machines(), e.machineKey(m.Name))
	return err == nil && e.another(x, m), err
}

// saidBy is the machine that has said an entry, an empty one if none has.
func saidBy(x *entry) (m Machine) {
	if x == nil || x.deleted || json.Unmarshal(x.value, &m) != nil {
		return Machine{}
	}
	return m
}

// firstWord is the first thing that this daemon has said for a machine, and the daemon that had
// spoken for it before.
type firstWord struct {
	process string
	rev     uint64
}

// another tells whether who has said something in the name of m is known to be another machine:
// it has joined by itself, or it is the one that was there before this daemon and, since it goes on,
// no daemon of before of this machine. What this one has joined with was copied then, and whoever
// else speaks is the other one.
func (e *Engine) another(x *entry, m Machine) bool {
	said := saidBy(x)
	e.mu.Lock()
	defer e.mu.Unlock()
	if first := e.first[m.Name]; first.process != "" && said.Process == first.process && x.rev > first.rev {
		e.copied[m.Name] = true
	}
	return said.Owner != m.Owner && said.Owner != "" && m.Owner != "" || e.copied[m.Name] && said.Process != "" && said.Process != m.Process
}

// say says that a machine is there, over what it has said itself: whoever has joined under its
// name since keeps it, which is DUPLICATE_NAME. One that has left says nothing more.
func (e *Engine) say(ctx context.Context, m Machine) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	for again := false; ; again = true {
		x, err := e.last(ctx, "KV_"+e.machines(), e.machineKey(m.Name))
		if err != nil {
			return err
		}
		e.mu.Lock()
		left := e.left[m.Name]
		e.mu.Unlock()
		w, before := over(x), saidBy(x)
		w.subject, w.value = e.machineKey(m.Name), data
		switch {
		case left:
			return fault.New(fault.EngineUnavailable, "machine %s has left the engine", m.Name)
		case e.another(x, m):
			return fault.New(fault.DuplicateName, "another machine has joined as %s", m.Name)
		case again && before.Process == m.Process && x != nil:
			return nil // said at once by another call of this daemon
		}
		done, err := e.put(ctx, w)
		if err == nil {
			e.mu.Lock()
			if _, began := e.first[m.Name]; !began && before.Process != m.Process {
				e.first[m.Name] = firstWord{before.Process, done.rev}
			}
			e.mu.Unlock()
		}
		if !errors.Is(err, errConflict) {
			return err
		}
	}
}

// heardAt takes down when the engine has heard this machine, and returns since when it does
// without a gap.
func (e *Engine) heardAt(t time.Time) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard.at(t, e.silence)
	return e.heard.since
}

// Leave takes a machine off the list, for good: nothing that is under way puts it back.
func (e *Engine) Leave(ctx context.Context, name string) error {
	e.mu.Lock()
	e.left[name] = true
	e.mu.Unlock()
	return e.purge(ctx, "KV_"+e.machines(), e.machineKey(name), 0)
}

// Machines lists the machines. Whoever asks has just said that it is there as self: its
// time is that of the engine, whose clock alone counts.
func (e *Engine) Machines(ctx context.Context, self Machine) ([]SeenMachine, error) {
	if err := e.say(ctx, self); err != nil {
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
	var now, since time.Time
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
			now, since = x.at, e.heardAt(x.at)
		}
		out = append(out, m)
	}
	for i := range out {
		out[i].Silent = max(0, now.Sub(out[i].Seen))
		out[i].Seen = e.now().Add(-out[i].Silent)
		out[i].Missed = max(0, min(out[i].Silent, now.Sub(since)))
	}
	slices.SortFunc(out, func(a, b SeenMachine) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
