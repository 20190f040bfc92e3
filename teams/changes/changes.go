// Package changes tells what happened to a team between two looks at it: the
// reducer behind the daemon's events. It is pure. What has changed back between
// the looks has not happened, as far as it can tell.
package changes

import (
	"cmp"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Team is what was seen of one team. Its JSON form is kept between two runs of
// the daemon. The zero Team is one that is not there.
type Team struct {
	Name        string                   `json:"name"`
	Description string                   `json:"description"`
	CreatedAt   *api.Time                `json:"createdAt,omitempty"`
	Lead        string                   `json:"lead,omitempty"` // the lead's name
	Members     []api.Member             `json:"members"`        // teammates, as in ps
	Tasks       []api.Task               `json:"tasks"`
	Boxes       map[string][]api.Message `json:"boxes"` // by owner; what TrimBoxes leaves
}

// TrimBoxes leaves of the mail what the next comparison needs. Boxes that were trimmed
// before are as they were.
func TrimBoxes(boxes map[string][]api.Message) map[string][]api.Message {
	out := make(map[string][]api.Message, len(boxes))
	for owner, box := range boxes {
		out[owner] = make([]api.Message, len(box))
		for i, m := range box {
			out[owner][i] = api.Message{ID: m.ID, Read: m.Read}
		}
	}
	return out
}

// Between returns what happened from old to new, in an order that makes sense:
// the team, then members who joined, tasks, mail, and what became of members.
// Numbers are not given yet; every event gets the time at.
func Between(old, now Team, at time.Time) []events.Event {
	d := &diff{at: at, team: cmp.Or(now.Name, old.Name)}
	if old.Name != "" && now.Name != "" && !sameTime(old.CreatedAt, now.CreatedAt) { // another team of that name
		d.teamEvent(events.TeamDeleted, events.KindTeamDeleted)
		old = Team{}
	}
	switch {
	case old.Name == "" && now.Name == "":
		return nil
	case now.Name == "":
		d.teamEvent(events.TeamDeleted, events.KindTeamDeleted)
		return d.out
	case old.Name == "":
		d.teamEvent(events.TeamCreated, events.KindTeamCreated)
	}
	d.joined(old.Members, now.Members)
	d.tasks(old.Tasks, now.Tasks)
	d.boxes(old, now)
	d.members(old.Members, now.Members)
	return d.out
}

// diff collects what happened.
type diff struct {
	at   time.Time
	team string
	done map[string]string // who completed which task just now
	out  []events.Event
}

func (d *diff) add(t events.Type, kind, member string, data events.Data) {
	data.Stamp(kind, "")
	d.out = append(d.out, events.Event{At: d.at, Type: t, Team: d.team, Member: member, Data: data})
}

func (d *diff) teamEvent(t events.Type, kind string) {
	d.add(t, kind, "", &events.Team{TeamName: d.team})
}

func sameTime(a, b *api.Time) bool {
	return a == nil || b == nil || a.String() == b.String()
}

// tasks compares the lists by id.
func (d *diff) tasks(old, now []api.Task) {
	d.done = map[string]string{}
	before := map[string]api.Task{}
	for _, t := range old {
		before[t.ID] = t
	}
	for _, t := range now {
		was, known := before[t.ID]
		delete(before, t.ID)
		if !known {
			d.task(events.TaskCreated, events.KindTaskCreated, t)
			was.Status = store.Pending
		}
		d.taskChange(was, t, known)
	}
	for _, t := range old {
		if _, gone := before[t.ID]; gone {
			t.Status = store.Deleted
			d.task(events.TaskUpdated, events.KindTaskUpdated, t)
		}
	}
}

func (d *diff) taskChange(was, now api.Task, known bool) {
	changed := was.Status != now.Status
	switch {
	case changed && now.Status == store.Completed:
		d.done[now.Owner] = now.ID
		d.task(events.TaskCompleted, events.KindTaskCompleted, now)
	case changed && now.Status == store.FailedTask:
		d.task(events.TaskFailed, events.KindTaskFailed, now)
	case now.Status == store.InProgress && (changed || was.Owner != now.Owner):
		d.task(events.TaskClaimed, events.KindTaskClaimed, now)
	case known && (changed || !sameTask(was, now)):
		d.task(events.TaskUpdated, events.KindTaskUpdated, now)
	}
}

func sameTask(a, b api.Task) bool {
	return a.Subject == b.Subject && a.Description == b.Description && a.ActiveForm == b.ActiveForm && a.Owner == b.Owner &&
		a.Result == b.Result && a.Failure == b.Failure && slices.Equal(a.Blocks, b.Blocks) && slices.Equal(a.BlockedBy, b.BlockedBy)
}

func (d *diff) task(t events.Type, kind string, task api.Task) {
	status := task.Status
	if status == store.Blocked || status == store.FailedTask {
		status = store.Pending // as it is stored; that it failed, the event's name says
	}
	d.add(t, kind, task.Owner, &events.Task{Task: events.TaskInfo{
		ID: task.ID, Subject: task.Subject, Description: task.Description, Status: status, Owner: task.Owner,
		ActiveForm: task.ActiveForm, BlockedBy: list(task.BlockedBy), Blocks: list(task.Blocks),
	}})
}

func list(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}
