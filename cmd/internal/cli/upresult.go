package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// upPlan is the answer of up --dry-run.
type upPlan struct {
	Team    string          `json:"team"`
	File    string          `json:"file"`
	Action  string          `json:"action"` // make, adopt or replace
	Exists  bool            `json:"exists"` // the team is there, and would be adopted
	Members []plannedMember `json:"members"`
	Tasks   []plannedTask   `json:"tasks"`
	Missing []upMissing     `json:"missing,omitempty"` // those that could not be started now
}

// plannedMember is what up would do about a teammate.
type plannedMember struct {
	Name    string `json:"name"`
	Action  string `json:"action"` // add, adopt, start again or leave
	State   string `json:"state,omitempty"`
	Profile string `json:"profile,omitempty"`
	InFile  bool   `json:"inFile"`
}

// plannedTask is what up would do about a task.
type plannedTask struct {
	ID      string `json:"id,omitempty"`
	Subject string `json:"subject"`
	Action  string `json:"action"` // add or leave
	Status  string `json:"status,omitempty"`
	InFile  bool   `json:"inFile"`
}

// showPlan checks a plan and prints what up would do.
func (a *app) showPlan(ctx context.Context, svc *teams.Service, plan teams.Plan) error {
	v, err := svc.Preview(ctx, plan)
	if err != nil {
		return err
	}
	out := upPlan{
		Team: plan.Team.Name, File: plan.Team.File, Action: v.Team, Exists: v.Team == teams.TeamAdopted, Missing: shownMissing(v.Missing),
		Members: mapped(v.Members, func(s teams.Step) plannedMember { return plannedMember{s.Name, s.Do, s.State, s.Profile, s.InFile} }),
		Tasks:   mapped(v.Tasks, func(s teams.Step) plannedTask { return plannedTask{s.ID, s.Name, s.Do, s.State, s.InFile} }),
	}
	err = a.answer(out, nil, func(w io.Writer) {
		fmt.Fprintf(w, "team %s of %s %s\n", out.Team, out.File, map[string]string{
			teams.TeamMade:     "would be made",
			teams.TeamAdopted:  "is there and would be adopted",
			teams.TeamReplaced: "has finished: it would be removed and made anew",
		}[v.Team])
		for _, s := range v.Members {
			fmt.Fprintf(w, "  %s teammate %s%s\n", s.Do, oneLine(s.Name), about(s.Profile, s.State, s.InFile))
		}
		for _, s := range v.Tasks {
			fmt.Fprintf(w, "  %s task %s%s\n", s.Do, oneLine(strings.TrimSpace(s.ID+" "+s.Name)), about("", s.State, s.InFile))
		}
	})
	return errors.Join(err, teams.MissingError(v.Missing, len(plan.Members)))
}

// about says in brackets what is known of a teammate or a task.
func about(profile, state string, inFile bool) string {
	known := joined(profile, state, map[bool]string{false: "not in the file"}[inFile])
	if known == "" {
		return ""
	}
	return " (" + known + ")"
}
