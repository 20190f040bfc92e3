package teams

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Times of offering.
const (
	offerPatience = 30 * time.Second // how long an idle teammate may leave a task before the next step
	busyNote      = 10 * time.Second // how exactly it is known since when somebody is idle
)

// offer is what was said about one task.
type offer struct {
	To    string     `json:"to,omitempty"` // who was told
	At    time.Time  `json:"at"`           // since when that teammate, idle, has left it
	Stage offerStage `json:"stage"`
	// Passed are those who were told, and did not take it.
	Passed []string `json:"passed,omitempty"`
}

// offerStage is how far the matter of a task has come.
type offerStage string

// The stages. A ready task is told, reminded, left; one in progress is begun, asked.
const (
	stageTold     offerStage = "told"
	stageReminded offerStage = "reminded"
	stageLeft     offerStage = "left"  // the lead knows that nobody takes it
	stageBegun    offerStage = "begun" // its owner works
	stageAsked    offerStage = "asked" // its owner rests, and was asked what became of it
)

// notice is a message to a member about a task, or to the lead about that member.
type notice struct {
	member  string
	toLead  bool
	task    api.Task
	text    string // "": the assignment
	summary string
}

// offering decides what is to be said now. It is pure.
type offering struct {
	now     time.Time
	auto    bool // tasks without an owner are offered
	members []api.Member
	tasks   []api.Task
	offers  map[string]offer

	changed bool
	notices []notice
	again   time.Duration
	nobody  bool // is free for a task, as the offers are now
}

func newOffering(now time.Time, auto bool, snap Snapshot, known map[string]offer) *offering {
	o := &offering{now: now, auto: auto, members: snap.Members, tasks: snap.Tasks, offers: maps.Clone(known)}
	if o.offers == nil {
		o.offers = map[string]offer{}
	}
	for id, was := range o.offers {
		if was.At.After(now) { // the clock was set back since
			was.At = now
			o.offers[id], o.changed = was, true
		}
	}
	return o
}

func (o *offering) decide() {
	over := maps.Clone(o.offers)
	for _, t := range o.tasks {
		if t.Ready || t.Status == store.InProgress {
			delete(over, t.ID)
		}
	}
	for id, was := range over {
		if o.now.Sub(was.At) < offerPatience {
			continue // this look may be older: told now, by another who saw it ready
		}
		delete(o.offers, id)
		o.changed = true
	}
	for _, t := range o.tasks {
		switch meant := MeantFor(t); {
		case t.Status == store.InProgress:
			o.begun(t)
		case t.Ready && meant != "":
			o.owned(t, meant)
		}
	}
	for _, t := range o.tasks {
		if o.auto && t.Ready && MeantFor(t) == "" && !o.forWorker(t) {
			o.free(t)
		}
	}
}

// MeantFor is who is to do a task: its owner, or who it was given to; "" for anybody.
func MeantFor(t api.Task) string {
	return cmp.Or(t.Owner, (&store.Task{Metadata: t.Metadata}).AssignedTo())
}

// stale tells whether what m was told of a ready task is of the past: m has begun the task
// since, and it was released, or m was started again. A start that is still to come says
// nothing: the clock was set back since.
func (o *offering) stale(was offer, m api.Member) bool {
	began := time.Time(deref(m.StartedAt))
	return was.Stage == stageBegun || was.Stage == stageAsked || began.After(was.At) && !began.After(o.now)
}

// owned is a ready task that has an owner.
func (o *offering) owned(t api.Task, owner string) {
	m := o.member(owner)
	if m == nil || !m.Live() || m.Kind == profiles.Worker {
		return
	}
	was := o.offers[t.ID]
	switch {
	case !store.SameName(was.To, m.Name) || o.stale(was, *m):
		o.tell(t, m.Name, nil)
	case !o.overdue(t, was, *m):
	case was.Stage == stageTold:
		o.remind(t, was)
	case was.Stage == stageReminded:
		was.Stage = stageLeft
		o.put(t, was)
		o.say(notice{member: m.Name, toLead: true, task: t, summary: "task " + t.ID + " is not begun",
			text: fmt.Sprintf("%s was told twice of task %s (%s) and does not take it. leadlight task update %s --owner NAME gives it to somebody else.", m.Name, t.ID, t.Subject, t.ID)})
	}
}

// free is a ready task that anybody may take.
func (o *offering) free(t api.Task) {
	was := o.offers[t.ID]
	m := o.member(was.To)
	switch {
	case m == nil || !m.Live() || o.stale(was, *m) || o.busy(m.Name, t.ID): // it will not come to it
		if next := o.idlest(was.Passed); next != "" {
			o.tell(t, next, was.Passed)
		}
	case !o.overdue(t, was, *m):
	case was.Stage == stageTold:
		o.remind(t, was)
	default:
		o.pass(t, was, m.Name)
	}
}

// pass gives a task that somebody has left to the next one.
func (o *offering) pass(t api.Task, was offer, name string) {
	passed := was.Passed
	if was.Stage != stageLeft {
		passed = append(slices.Clone(was.Passed), name)
	}
	next := o.idlest(passed)
	if next == "" && was.Stage == stageLeft {
		return
	}
	after := "nobody else is idle now"
	if next != "" {
		after = "it is offered to " + next + " now"
		o.tell(t, next, passed)
	} else {
		o.put(t, offer{To: was.To, At: o.now, Stage: stageLeft, Passed: passed})
	}
	if was.Stage != stageLeft {
		o.say(notice{member: name, toLead: true, task: t, summary: "task " + t.ID + " is not taken",
			text: fmt.Sprintf("%s was told twice of task %s (%s) and did not take it; %s.", name, t.ID, t.Subject, after)})
	}
}

// begun is a task in progress. An owner who rests with it is asked, once: what is done in
// words only stays open.
func (o *offering) begun(t api.Task) {
	m := o.member(t.Owner)
	if m == nil || !atPrompt(m.Kind) || !m.Live() {
		return
	}
	was := o.offers[t.ID]
	switch {
	case !store.SameName(was.To, m.Name) || was.Stage != stageBegun && was.Stage != stageAsked:
		o.put(t, offer{To: m.Name, At: o.now, Stage: stageBegun})
	case was.Stage == stageBegun && o.overdue(t, was, *m):
		was.Stage = stageAsked
		o.put(t, was)
		o.say(notice{member: m.Name, task: t, summary: "task " + t.ID + " is still in progress", text: fmt.Sprintf(
			"task %s is still in progress: %s\nIf it is done, run: leadlight task done %s --result TEXT. If it cannot be done: leadlight task fail %s --reason TEXT.", t.ID, t.Subject, t.ID, t.ID)})
		o.say(notice{member: m.Name, toLead: true, task: t, summary: m.Name + " rests with task " + t.ID, text: fmt.Sprintf(
			"%s rests, but task %s (%s) is still in progress: it has stopped, or has said only in words that it is done. leadlight task done %s completes it, leadlight task release %s gives it back.", m.Name, t.ID, t.Subject, t.ID, t.ID)})
	}
}

// overdue tells whether an idle teammate has left a task for too long. While it does
// something else, or has mail to take, the time does not count.
func (o *offering) overdue(t api.Task, was offer, m api.Member) bool {
	if was.Stage == stageLeft || was.Stage == stageAsked {
		return was.Stage == stageLeft && MeantFor(t) == "" // somebody else may have become idle
	}
	if !atPrompt(m.Kind) {
		return false
	}
	if m.State != api.StateIdle || deref(m.Unread) > 0 {
		if o.now.Sub(was.At) >= busyNote {
			was.At = o.now
			o.put(t, was)
		}
		return false
	}
	wait := offerPatience - o.now.Sub(was.At)
	if wait > 0 {
		o.lookAgain(wait)
	}
	return wait <= 0
}

func (o *offering) tell(t api.Task, name string, passed []string) {
	o.put(t, offer{To: name, At: o.now, Stage: stageTold, Passed: passed})
	o.lookAgain(offerPatience)
	o.say(notice{member: name, task: t})
}

func (o *offering) remind(t api.Task, was offer) {
	was.Stage, was.At = stageReminded, o.now
	o.put(t, was)
	o.lookAgain(offerPatience)
	o.say(notice{member: was.To, task: t, summary: "task " + t.ID + " waits for you",
		text: fmt.Sprintf("task %s still waits for you: %s\nTake it with: leadlight task claim %s. If you cannot do it, say why: leadlight send %s TEXT.", t.ID, t.Subject, t.ID, store.Lead)})
}

func (o *offering) put(t api.Task, now offer) { o.offers[t.ID], o.changed, o.nobody = now, true, false }

func (o *offering) say(n notice) { o.notices = append(o.notices, n) }

func (o *offering) lookAgain(d time.Duration) {
	if o.again == 0 || d < o.again {
		o.again = d
	}
}

func (o *offering) member(name string) *api.Member {
	for i := range o.members {
		if name != "" && store.SameName(o.members[i].Name, name) {
			return &o.members[i]
		}
	}
	return nil
}

// idlest is the idle teammate at a prompt that has had the fewest tasks, "" if there is
// none; of several the first of the roster.
func (o *offering) idlest(but []string) (name string) {
	if o.nobody {
		return ""
	}
	least := -1
	o.nobody = true
	for _, m := range o.members {
		if m.State != api.StateIdle || !atPrompt(m.Kind) || deref(m.Unread) > 0 || o.busy(m.Name, "") {
			continue
		}
		if o.nobody = false; slices.Contains(but, m.Name) {
			continue
		}
		had := 0
		for _, t := range o.tasks {
			if store.SameName(MeantFor(t), m.Name) {
				had++
			}
		}
		if least < 0 || had < least {
			name, least = m.Name, had
		}
	}
	return name
}

// busy tells whether somebody has something to do besides the task but: a task in progress,
// a ready one of its own, or another that it was told of.
func (o *offering) busy(name, but string) bool {
	return slices.ContainsFunc(o.tasks, func(t api.Task) bool {
		switch {
		case t.ID == but || t.Status != store.InProgress && !t.Ready:
			return false
		case store.SameName(MeantFor(t), name):
			return true
		}
		was := o.offers[t.ID]
		return store.SameName(was.To, name) && (was.Stage == stageTold || was.Stage == stageReminded)
	})
}

// forWorker tells whether a task brings a command and there is a worker to run it.
func (o *offering) forWorker(t api.Task) bool {
	_, line := RunOf(t.Metadata)
	return line && slices.ContainsFunc(o.members, func(m api.Member) bool { return m.Kind == profiles.Worker && m.Live() })
}

// atPrompt tells whether agents of a kind can be told of a task, and take it by themselves.
func atPrompt(kind string) bool {
	return kind == profiles.Interactive || kind == profiles.Native || kind == profiles.ACP
}
