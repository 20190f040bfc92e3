package cli

import (
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/cmd/internal/style"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/tail"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// incomplete is the error of tasks that are not completed, with what goes on from there.
func (u *upRun) incomplete(snap teams.Snapshot) error {
	open, again := counted(snap.Tasks, func(t api.Task) bool { return t.Status != store.Completed }), ""
	failed := slices.ContainsFunc(snap.Tasks, func(t api.Task) bool { return t.Status == store.FailedTask })
	lost := slices.ContainsFunc(snap.Members, func(m api.Member) bool { return m.State == api.StateLost })
	switch {
	case lost && failed:
		again = "leadlight up starts lost teammates again and tries a failed task again; "
	case lost:
		again = "leadlight up starts lost teammates again and goes on; "
	case failed:
		again = "leadlight up tries a failed one again; "
	}
	if len(u.missing) > 0 {
		again += "leadlight up adds who was not started; "
	}
	if lost {
		u.a.say("%s", strings.TrimSuffix(lostLine(snap.Members), "\n"))
	}
	return fault.New(fault.Failed, "%d of %d tasks are not completed", open, len(snap.Tasks)).
		WithHint("leadlight task ls -t %s and leadlight logs -t %s NAME show why; %sleadlight down %s removes the team", u.team, u.team, again, u.team)
}

func (u *upRun) result(snap teams.Snapshot, endings []api.Ending) upResult {
	res := upResult{Team: u.team, Members: listed(snap.Members), Tasks: mapped(snap.Tasks, whole), Endings: endings, Missing: shownMissing(u.missing)}
	res.OK = snap.Completed() && len(res.Missing) == 0
	return res
}

func shownMissing(missing []teams.Missing) (out []upMissing) {
	for _, m := range missing {
		out = append(out, upMissing{m.Name, m.Machine, *fault.Of(m.Err)})
	}
	return out
}

// resultRows is the table that up ends with.
func resultRows(tasks []api.Task) *table {
	t := &table{head: []string{"ID", "TASK", "OWNER", "STATUS", "RESULT"}, less: []string{"OWNER"}}
	for _, task := range tasks {
		result := tail.LastLine(task.Result)
		switch waits := unfinished(tasks, task.BlockedBy); {
		case task.Failure != "":
			result = task.Failure
		case task.Status == store.Blocked && len(waits) > 0:
			result = "waits for " + strings.Join(waits, ", ")
		}
		t.add(task.ID, task.Subject, task.Owner, cell{task.Status, style.Task(task.Status).Color}, result)
	}
	return t
}

// unfinished are those of the tasks with the ids that are not completed.
func unfinished(tasks []api.Task, ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(tasks, func(t api.Task) bool { return t.ID == id && t.Status == store.Completed })
	})
}
