package teams

import (
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// stage is a team over time, as the offers of its tasks see it.
type stage struct {
	t       *testing.T
	now     time.Time
	snap    Snapshot
	offers  map[string]offer
	auto    bool
	written int
}

func newStage(t *testing.T, members ...api.Member) *stage {
	return &stage{t: t, now: time.Unix(1_800_000_000, 0), snap: Snapshot{Members: members}, auto: true}
}

// after lets time pass, and returns what is said then: "ann: told 3", "lead: task 3 …".
func (s *stage) after(d time.Duration) string {
	s.now = s.now.Add(d)
	o := newOffering(s.now, s.auto, s.snap, s.offers)
	o.decide()
	s.offers = o.offers
	if o.changed {
		s.written++
	}
	var out []string
	for _, n := range o.notices {
		switch {
		case n.toLead:
			out = append(out, "lead: "+n.text)
		case n.text == "":
			out = append(out, n.member+": told "+n.task.ID)
		default:
			out = append(out, n.member+": "+n.summary)
		}
	}
	return strings.Join(out, "; ")
}

func (s *stage) want(d time.Duration, want string) {
	s.t.Helper()
	if got := s.after(d); got != want && !(want != "" && strings.HasSuffix(want, "…") && strings.HasPrefix(got, strings.TrimSuffix(want, "…"))) {
		s.t.Errorf("after %s: said %q, want %q", d, got, want)
	}
	if again := s.after(0); again != "" {
		s.t.Errorf("said twice: %q", again)
	}
}

func (s *stage) member(name string) *api.Member {
	for i := range s.snap.Members {
		if s.snap.Members[i].Name == name {
			return &s.snap.Members[i]
		}
	}
	s.t.Fatalf("no member %s", name)
	return nil
}

func (s *stage) task(id string) *api.Task {
	for i := range s.snap.Tasks {
		if s.snap.Tasks[i].ID == id {
			return &s.snap.Tasks[i]
		}
	}
	s.t.Fatalf("no task %s", id)
	return nil
}

func (s *stage) claim(id, who string) {
	t := s.task(id)
	t.Owner, t.Status, t.Ready = who, store.InProgress, false
}

func (s *stage) complete(id string) {
	t := s.task(id)
	t.Status, t.Ready = store.Completed, false
}

func idle(name string) api.Member {
	return api.Member{Name: name, Kind: "interactive", State: api.StateIdle}
}

func ready(id, owner string) api.Task {
	return api.Task{ID: id, Subject: "do " + id, Status: store.Pending, Ready: true, Owner: owner}
}

func blocked(id, owner string, by ...string) api.Task {
	return api.Task{ID: id, Subject: "do " + id, Status: store.Blocked, Owner: owner, BlockedBy: by}
}

// TestXD01_FreeTasksGoToTheIdle: one at a time, in order, the least busy first, and to no
// worker's room.
func TestXD01_FreeTasksGoToTheIdle(t *testing.T) {
	s := newStage(t, idle("ann"), idle("bob"), api.Member{Name: "cy", Kind: "interactive", State: api.StateActive}, api.Member{Name: "w", Kind: "worker", State: api.StateIdle})
	s.snap.Tasks = []api.Task{ready("1", ""), ready("2", ""), ready("3", ""), blocked("4", "", "1")}
	s.want(0, "ann: told 1; bob: told 2")
	s.claim("1", "ann")
	s.claim("2", "bob")
	s.want(time.Second, "")
	s.member("cy").State = api.StateIdle
	s.want(time.Second, "cy: told 3")
	s.claim("3", "cy")
	s.complete("1")
	s.task("4").Status, s.task("4").Ready = store.Pending, true
	s.want(time.Second, "ann: told 4")
	s.claim("4", "ann")
	s.complete("2")
	s.complete("4")
	s.snap.Tasks = append(s.snap.Tasks, ready("5", ""))
	s.want(time.Second, "bob: told 5") // ann has had two
}

func TestXD01_AssignOff(t *testing.T) {
	s := newStage(t, idle("ann"))
	s.auto = false
	s.snap.Tasks = []api.Task{ready("1", ""), ready("2", "ann")}
	s.want(0, "ann: told 2")
}

// TestXD01_OwnersAreToldWhenReady: not before, and again when a task was given back or the
// owner begins anew.
func TestXD01_OwnersAreToldWhenReady(t *testing.T) {
	s := newStage(t, idle("ann"))
	s.snap.Tasks = []api.Task{ready("1", "ann"), blocked("2", "ann", "1")}
	s.want(0, "ann: told 1")
	s.claim("1", "ann")
	s.want(time.Second, "")
	s.complete("1")
	s.task("2").Status, s.task("2").Ready = store.Pending, true
	s.want(time.Second, "ann: told 2")
	s.task("2").Ready = false // as an older look shows it
	s.want(time.Second, "")
	s.task("2").Ready = true
	s.want(time.Second, "")
	began := api.Time(s.now.Add(time.Second))
	s.member("ann").StartedAt = &began
	s.want(2*time.Second, "ann: told 2")
	s.claim("2", "ann")
	s.want(time.Second, "")
	s.task("2").Status, s.task("2").Ready = store.Pending, true
	s.want(time.Second, "ann: told 2")
}

// TestXD01_TheClockIsSetBack: nobody is told again for that, and the reminder still comes.
func TestXD01_TheClockIsSetBack(t *testing.T) {
	began := api.Time(time.Unix(1_800_000_000, 0))
	s := newStage(t, idle("ann"))
	s.member("ann").StartedAt = &began
	s.snap.Tasks = []api.Task{ready("1", "ann")}
	s.want(0, "ann: told 1")
	s.want(-time.Hour, "")
	s.want(offerPatience, "ann: task 1 waits for you")
	s.snap.Tasks = append(s.snap.Tasks, ready("2", "ann"))
	s.want(time.Second, "ann: told 2")
}

// TestXD01_WhoDoesNotTakeItIsRemindedOnce: then the next is offered it, and the lead hears.
func TestXD01_WhoDoesNotTakeItIsRemindedOnce(t *testing.T) {
	s := newStage(t, idle("ann"), idle("bob"))
	s.snap.Tasks = []api.Task{ready("1", "")}
	s.want(0, "ann: told 1")
	s.member("ann").State = api.StateActive // it thinks about it, for long
	for range 100 {
		s.want(5*time.Second, "")
	}
	if s.written > 55 {
		s.t.Errorf("written %d times", s.written)
	}
	s.member("ann").State = api.StateIdle
	s.want(11*time.Second, "")
	s.want(offerPatience, "ann: task 1 waits for you")
	s.want(offerPatience-time.Second, "")
	s.want(time.Second, "bob: told 1; lead: ann was told twice of task 1 (do 1) and did not take it; it is offered to bob now.")
	s.want(offerPatience, "bob: task 1 waits for you")
	s.want(offerPatience, "lead: bob was told twice of task 1 (do 1) and did not take it; nobody else is idle now.")
	s.want(time.Hour, "")
	s.snap.Members = append(s.snap.Members, idle("cy"))
	s.want(time.Second, "cy: told 1")
}

func TestXD01_AnOwnerWhoDoesNotBegin(t *testing.T) {
	s := newStage(t, idle("ann"), idle("bob"))
	s.snap.Tasks = []api.Task{ready("1", "ann")}
	s.want(0, "ann: told 1")
	one := 1
	s.member("ann").Unread = &one // it could not be typed yet
	s.want(2*offerPatience, "")
	s.member("ann").Unread = nil
	s.want(offerPatience, "ann: task 1 waits for you")
	s.want(offerPatience, "lead: ann was told twice of task 1 (do 1) and does not take it.…")
	s.want(time.Hour, "")
}

// TestXD01_DoneInWordsOnly: the task stays open, its owner is asked, and the lead is told.
func TestXD01_DoneInWordsOnly(t *testing.T) {
	s := newStage(t, idle("ann"), idle("bob"))
	s.snap.Tasks = []api.Task{ready("1", "")}
	s.want(0, "ann: told 1")
	s.claim("1", "ann")
	s.member("ann").State = api.StateActive
	s.want(time.Hour, "")
	s.member("ann").State = api.StateIdle
	s.want(time.Second, "")
	s.want(offerPatience, "ann: task 1 is still in progress; lead: ann rests, but task 1 (do 1) is still in progress…")
	s.want(time.Hour, "")
	if s.task("1").Status != store.InProgress {
		t.Error("the task was closed")
	}
}

// TestXD01_WhoIsGoneIsPassed: at once, and nobody is told of it.
func TestXD01_WhoIsGoneIsPassed(t *testing.T) {
	s := newStage(t, idle("ann"), idle("bob"))
	s.snap.Tasks = []api.Task{ready("1", "")}
	s.want(0, "ann: told 1")
	s.member("ann").State = api.StateLost
	s.want(time.Second, "bob: told 1")
	s.member("ann").State = api.StateIdle
	s.claim("1", "bob")
	s.snap.Tasks = append(s.snap.Tasks, ready("2", ""))
	s.want(time.Second, "ann: told 2")
	s.snap.Tasks = append(s.snap.Tasks, ready("3", "ann"))
	s.want(time.Second, "ann: told 3")
	s.complete("1")
	s.want(time.Second, "bob: told 2") // ann has something of its own to do
}
