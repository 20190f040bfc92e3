package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/leadlight-dev/leadlight/teams"
)

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
