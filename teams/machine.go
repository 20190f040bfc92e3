package teams

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Machines are the others that have joined the engine.
type Machines interface {
	// Do lets one carry out a verb, once, and returns its result. What it tells before
	// goes to tell, which is called by one at a time.
	Do(ctx context.Context, call api.MachineCall, tell func(json.RawMessage)) (json.RawMessage, error)
	List(ctx context.Context) ([]api.Machine, error)
	// Seen is List, but nobody counts who runs there: that asks for all teams.
	Seen(ctx context.Context) ([]api.Machine, error)
}

// Verbs that a machine carries out for others, on its own teammates.
const (
	verbObserve = "observe"
	verbRoom    = "look for room"
	verbSpawn   = "spawn"
	verbStop    = "stop"
	verbRestart = "restart"
	verbCapture = "capture"
	verbKeys    = "press keys"
	verbLogs    = "print logs"
	verbDiff    = "show what changed"
	verbChanged = "count what changed"
	verbAttach  = "show a pane"
)

// order is what is asked of another machine. Of what comes after Names, a verb takes its
// own.
type order struct {
	Team     string                      `json:"team"`
	Caller   Caller                      `json:"caller"` // in whose name
	Names    []string                    `json:"names,omitempty"`
	Stop     *StopOptions                `json:"stop,omitempty"`
	Specs    []SpawnSpec                 `json:"specs,omitempty"`
	Source   bool                        `json:"source,omitempty"`   // their repositories are asked, too
	Profiles map[string]profiles.Profile `json:"profiles,omitempty"` // that are not built in
	Runs     map[string]string           `json:"runs,omitempty"`     // commands of tasks that came from the team file
	Most     int                         `json:"most,omitempty"`     // live teammates of the team, as the file or the settings of whoever asks say
	Keys     []string                    `json:"keys,omitempty"`
	Lines    int                         `json:"lines,omitempty"`
	ANSI     bool                        `json:"ansi,omitempty"`
	Stat     bool                        `json:"stat,omitempty"`
	Follow   bool                        `json:"follow,omitempty"`

	viewer io.ReadWriter // whoever looks at a pane; nil for other verbs
}

// told is what a machine tells before its result.
type told struct {
	Name string `json:"name,omitempty"`
	What string `json:"what,omitempty"` // is done to it
	Text []byte `json:"text,omitempty"`

	Socket string `json:"socket,omitempty"` // here, of a verb with a stream: see api.MachineSocket
}

// elsewhere tells whether the host of a member runs on another machine. Only that one
// looks at its processes and signals them.
func (c *common) elsewhere(m store.Member) bool {
	return m.Leadlight != nil && m.Leadlight.Machine != "" && m.Leadlight.Machine != c.machine
}

// routed tells whether another machine has to be asked about a member.
func (nw *network) routed(m store.Member) bool { return nw.machines != nil && nw.elsewhere(m) }

// notHere refuses what only a member's own machine can do.
func (nw *network) notHere(m store.Member) error {
	if !nw.elsewhere(m) {
		return nil
	}
	return fault.New(fault.Unsupported, "teammate %s runs on machine %s", m.Name, store.Shown(m.Leadlight.Machine)).WithHint("run the same there")
}

// observed looks at the host of a member that we launched. One on another machine is
// unknown here, whatever runs here under its numbers.
func (ob *observer) observed(ctx context.Context, team string, m store.Member) panes.Observation {
	if ob.elsewhere(m) {
		return panes.Observation{State: api.StateUnknown, Reason: "it runs on machine " + store.Shown(m.Leadlight.Machine)}
	}
	return ob.panes.Observe(ctx, team, m.Name, m.Leadlight.Host, deref(m.Leadlight.SpawnedAt))
}

// machineOf is what the roster of a team says of a member that is launched here.
func (c *common) machineOf(t store.Team) string {
	if t.Engine == "" {
		return ""
	}
	return c.machine
}

// ask lets another machine carry out a verb, in the caller's name. into gets the result,
// tell what is told before; both may be nil.
func (nw *network) ask(ctx context.Context, machine, verb string, o order, into any, tell func(told)) error {
	o.Caller = nw.caller
	params, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("ask machine %s: %w", machine, err)
	}
	call := api.MachineCall{Machine: machine, ID: rand.Text(), Verb: verb, Params: params, Follow: verb == verbLogs || verb == verbAttach, Look: verb == verbObserve || verb == verbChanged, Stream: verb == verbAttach}
	result, err := nw.machines.Do(ctx, call, func(raw json.RawMessage) {
		var t told
		if tell != nil && json.Unmarshal(raw, &t) == nil {
			tell(t)
		}
	})
	if err == nil && into != nil {
		if err = json.Unmarshal(result, into); err != nil {
			err = fault.New(fault.Failed, "the answer of machine %s cannot be read: %w", machine, err)
		}
	}
	return err
}

// onMachine adds to an error where it comes from.
func onMachine(machine string, err error) error {
	if err == nil || machine == "" {
		return err
	}
	return fmt.Errorf("on machine %s: %w", machine, err)
}

// Bounds of the wait for how the teammates of another machine are doing.
const (
	observeLimit = 3 * time.Second
	deafLimit    = 300 * time.Millisecond // for one that did not answer just now
	deafFor      = 10 * time.Second       // after which it is given its time again
)

// deaf are the machines that did not answer the last time, and when that was. Whoever watches
// a team must not be slower for those who do.
type deaf struct {
	mu    sync.Mutex
	since map[string]time.Time
}

func (d *deaf) limit(machine string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if since, is := d.since[machine]; is && time.Since(since) < deafFor {
		return deafLimit
	}
	return observeLimit
}

// note takes down what became of a wait for a machine. asker is the context of whoever asked,
// waited that of the wait. Only silence counts, and a wait whose own limit ran out: not an
// asker that has gone, nor that our engine is away. Any other answer, also an error, says that
// the machine hears.
func (d *deaf) note(machine string, err error, asker, waited context.Context) {
	silent := muteOf(err) != "" || errors.Is(waited.Err(), context.DeadlineExceeded)
	if err != nil && (asker.Err() != nil || fault.CodeOf(err) == fault.EngineUnavailable && !silent) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_, was := d.since[machine]
	switch {
	case err == nil || !silent:
		delete(d.since, machine)
	case d.since == nil:
		d.since = map[string]time.Time{machine: time.Now()}
	case !was || time.Since(d.since[machine]) >= deafFor:
		d.since[machine] = time.Now()
	}
}

// byMachine groups members by the machine that has to be asked about them, "" for this
// one. It gives their places.
func (nw *network) byMachine(members []store.Member) map[string][]int {
	out := map[string][]int{}
	for i, m := range members {
		machine := ""
		if nw.routed(m) && !m.Unsafe && !settled(m.Leadlight.State) {
			machine = m.Leadlight.Machine
		}
		out[machine] = append(out[machine], i)
	}
	return out
}

// presentElsewhere asks a machine how members of its are doing. If it does not answer, they
// are unknown.
func (ob *observer) presentElsewhere(asker context.Context, t store.Team, machine string, members []store.Member, at []int, out []api.Member) {
	ctx, cancel := context.WithTimeout(asker, ob.deaf.limit(machine))
	defer cancel()
	var names []string
	for _, i := range at {
		names = append(names, members[i].Name)
	}
	var list []observedThere
	err := ob.ask(ctx, machine, verbObserve, order{Team: t.Name, Names: names}, &list, nil)
	ob.deaf.note(machine, err, asker, ctx)
	why := "machine " + machine + " does not answer"
	if err != nil && ctx.Err() == nil {
		why = fault.Of(err).Message
	}
	seen := map[string]observedThere{}
	for _, m := range list {
		seen[m.Name] = m
	}
	for _, i := range at {
		out[i] = ob.observeOne(ctx, t, members[i])
		o := &out[i]
		if m, ok := seen[o.Name]; ok {
			o.State, o.Reason, o.Task, o.PID, o.LastActivityAt = m.State, m.Reason, m.Task, m.PID, m.activity()
			o.ExitCode, o.Signal, o.AtDialog, o.Lines, o.Unsubmitted = m.ExitCode, m.Signal, m.AtDialog, m.Lines, m.Unsubmitted
		} else if err != nil {
			o.Reason += ", which cannot be asked: " + why
		}
	}
}

// reach is find for what a member's own machine does: it refuses one on another machine that
// cannot be asked.
func (nw *network) reach(ctx context.Context, team, name string) (store.Team, store.Member, error) {
	t, err := nw.get(ctx, team)
	if err != nil {
		return t, store.Member{}, err
	}
	m, err := nw.reachable(t, name)
	return t, m, err
}

func (nw *network) reachable(t store.Team, name string) (store.Member, error) {
	m, err := memberOf(t, name)
	if err == nil && !nw.routed(m) {
		err = nw.notHere(m)
	}
	return m, err
}

// howToEnd is how the caller gets a teammate to end.
func (nw *network) howToEnd(t store.Team, m store.Member) string {
	switch {
	case ofItsLead(t, m):
		return "its own lead started it, and ends it"
	case nw.elsewhere(m) && !nw.routed(m):
		return "leadlight stop " + m.Name + " ends it, on machine " + store.Shown(m.Leadlight.Machine)
	}
	return "leadlight stop " + m.Name + " ends it"
}

// howToStart is how the caller gets a teammate started again that has ended.
func (nw *network) howToStart(t store.Team, m store.Member) string {
	switch {
	case ofItsLead(t, m):
		return "its own lead started it, and may do so again"
	case nw.caller.Teammate:
		return "the lead can start it again"
	case nw.elsewhere(m) && !nw.routed(m):
		return "leadlight restart " + m.Name + " starts it again, on machine " + store.Shown(m.Leadlight.Machine)
	}
	return "leadlight restart " + m.Name + " starts it again"
}

// Far tells whether a teammate runs on another machine: only that one hears from its host.
func (c *common) Far(m api.Member) bool { return m.Machine != "" && m.Machine != c.machine }

// apart tells whether a teammate is to be started on another machine.
func (c *common) apart(spec SpawnSpec) bool { return spec.Machine != "" && spec.Machine != c.machine }
