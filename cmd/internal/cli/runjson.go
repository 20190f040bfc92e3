package cli

import (
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// What the verbs of runs and items answer with --json: the shapes of the API, in
// which moments are milliseconds since 1970, with moments as all our answers have
// them.

type shownRun struct {
	api.AgentTeamRun
	StartedAt   *api.Time `json:"startedAt"`
	CompletedAt *api.Time `json:"completedAt,omitempty"`
}

type shownItem struct {
	api.AgentTeamItem
	CreatedAt *api.Time `json:"createdAt"`
	UpdatedAt *api.Time `json:"updatedAt"`
}

type shownDefinition struct {
	api.AgentTeam
	CreatedAt *api.Time `json:"createdAt"`
	UpdatedAt *api.Time `json:"updatedAt"`
}

type shownRunMember struct {
	api.RunMember
	StartedAt *api.Time `json:"startedAt"`
	EndedAt   *api.Time `json:"endedAt,omitempty"`
}

type shownRunTask struct {
	api.RunTask
	StartedAt   *api.Time `json:"startedAt,omitempty"`
	CompletedAt *api.Time `json:"completedAt,omitempty"`
}

type shownReport struct {
	Run      shownRun         `json:"run"`
	Team     shownDefinition  `json:"team"`
	LiveTeam string           `json:"liveTeam"`
	Members  []shownRunMember `json:"members"`
	Items    []shownItem      `json:"items"`
	Tasks    []shownRunTask   `json:"tasks"`
	Usage    *api.Usage       `json:"usage,omitempty"`
}

// moment is a moment of the API, nil if it is not known.
func moment(ms int64) *api.Time {
	if ms == 0 {
		return nil
	}
	return api.At(time.UnixMilli(ms))
}

func runShown(r api.AgentTeamRun) shownRun {
	return shownRun{r, moment(r.StartedAt), moment(r.CompletedAt)}
}

func itemShown(it api.AgentTeamItem) shownItem {
	return shownItem{it, moment(it.CreatedAt), moment(it.UpdatedAt)}
}

func reportShown(r api.RunReport) shownReport {
	return shownReport{
		Usage: r.Usage, Run: runShown(r.Run), Team: shownDefinition{r.Team, moment(r.Team.CreatedAt), moment(r.Team.UpdatedAt)}, LiveTeam: r.LiveTeam,
		Members: mapped(r.Members, func(m api.RunMember) shownRunMember {
			return shownRunMember{m, moment(m.StartedAt), moment(m.EndedAt)}
		}),
		Items: mapped(r.Items, itemShown),
		Tasks: mapped(r.Tasks, func(k api.RunTask) shownRunTask { return shownRunTask{k, moment(k.StartedAt), moment(k.CompletedAt)} }),
	}
}
