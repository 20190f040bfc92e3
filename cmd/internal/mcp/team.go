package mcp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// leadTools are the tools of one who leads.
func leadTools(s *Server) []tool {
	return []tool{
		define("TeamCreate", "Create the team that you lead: its roster, inboxes and task list. A session leads one team.", s.teamCreate, nil).forAnyLead(),
		define("Task", "Start a teammate in a terminal pane of its own and give it its first message. It works beside you, on its own; what it has to say comes by mail (WaitForEvents, ReadInbox).", s.spawn, nil),
		sendMessage(s, leadTypes(s)),
		define("TeamDelete", "Delete a team with its mail and its tasks. Every teammate must have ended before: SendMessage, type shutdown_request.", s.teamDelete, nil).ends().forAnyLead(),
		define("TaskCreate", "Add a task to the team's shared list. Idle teammates take those that nothing blocks and nobody else owns.", forTeam(s, s.taskCreate), nil),
		taskUpdate(s),
		define("TaskList", "List the team's tasks with their status and owner, in the order of their ids.", forTeam(s, s.taskList), taskFilters()).readsOnly().forAnyLead(),
		define("TaskGet", "Show one task with all that is known of it, such as its description and result.", forTeam(s, s.taskGet), nil).readsOnly().forAnyLead(),
		define("TeamStatus", "Show a team as it is now: each teammate as observed, the number of tasks by status, plans and permissions that wait for you. Without a name: the team you lead, or a list of all teams.", s.teamStatus, nil).readsOnly().forAnyLead(),
		define("CapturePane", "Show the text that a teammate's pane shows now. Nothing is typed into it.", forTeam(s, s.capturePane), nil).readsOnly().work(),
		define("ReadInbox", "Read your mail, oldest first, and mark it as read; or look into the inbox of a teammate, which changes nothing.", forTeam(s, s.readInbox), nil),
		waitForEvents(s),
	}
}

// mateTools are the tools of a teammate. It can neither make nor end teams and
// teammates.
func mateTools(s *Server) []tool {
	return []tool{
		sendMessage(s, mateTypes(s)),
		define("ReadInbox", "Read your mail, oldest first, and mark it as read.", forTeam(s, s.readOwnInbox), nil),
		define("TaskList", "List the team's tasks with their status and owner, in the order of their ids.", forTeam(s, s.taskList), taskFilters()).readsOnly(),
		define("TaskGet", "Show one task with all that is known of it, such as its description and result.", forTeam(s, s.taskGet), nil).readsOnly(),
		taskUpdate(s),
		define("TaskClaim", "Take a task: become its owner and set it in progress, as one step. Of many who try exactly one succeeds.", forTeam(s, s.taskClaim), nil).work(),
		define("SubmitPlan", "Hand your plan to the lead for approval. The answer comes by mail; until it is approved, change nothing.", forTeam(s, s.submitPlan), nil),
		waitForEvents(s),
	}
}

type teamCreateIn struct {
	TeamName    string `json:"team_name" jsonschema:"name of the team: 3 to 64 lower-case letters and digits, in words joined by - (kebab-case)"`
	Description string `json:"description" jsonschema:"what the team is for, in 1 to 500 characters"`
}

type teamCreateOut struct {
	Success    bool   `json:"success"`
	TeamPath   string `json:"teamPath" jsonschema:"folder of the team"`
	ConfigPath string `json:"configPath" jsonschema:"file with its roster"`
}

func (s *Server) teamCreate(ctx context.Context, _ *call, in teamCreateIn) (teamCreateOut, string, error) {
	if store.Blank(in.Description) {
		return teamCreateOut{}, "", fault.New(fault.InvalidArgument, "the description is empty").WithHint("description says in 1 to 500 characters what the team is for")
	}
	t, err := s.svc.CreateTeam(ctx, teams.TeamSpec{Name: in.TeamName, Description: in.Description, LeadProcess: true})
	if err != nil {
		return teamCreateOut{}, "", err
	}
	s.lead(t)
	if s.o.Delegate {
		if err := s.svc.SetDelegate(ctx, t.Name, true); err != nil {
			return teamCreateOut{}, "", err
		}
	}
	out := teamCreateOut{Success: true, TeamPath: filepath.Dir(t.Path), ConfigPath: t.Path}
	return out, fmt.Sprintf("Team %s is made. You lead it as %s.", t.Name, s.me(t)), s.watch.start(ctx, t.Name)
}

type teamDeleteIn struct {
	TeamName string `json:"team_name" jsonschema:"the team to delete"`
}

type teamDeleteOut struct {
	Success  bool   `json:"success"`
	TeamName string `json:"team_name"`
}

func (s *Server) teamDelete(ctx context.Context, _ *call, in teamDeleteIn) (teamDeleteOut, string, error) {
	if err := s.svc.DeleteTeam(ctx, in.TeamName, teams.DeleteOptions{}); err != nil {
		return teamDeleteOut{}, "", err
	}
	if s.led().Name == in.TeamName {
		s.lead(api.Team{})
	}
	s.watch.forget(in.TeamName)
	return teamDeleteOut{true, in.TeamName}, fmt.Sprintf("Team %s is deleted.", in.TeamName), nil
}

type spawnIn struct {
	TeamName   string `json:"team_name" jsonschema:"the team that it joins"`
	Name       string `json:"name" jsonschema:"name of the teammate, its own in the team: letters, digits, _ and -"`
	Model      string `json:"model" jsonschema:"model of the agent: haiku, sonnet or opus for Claude Code, another agent's own name of a model, or default"`
	Prompt     string `json:"prompt" jsonschema:"its first message: what it is to do, with all it has to know, for it knows nothing of your conversation"`
	Type       string `json:"subagent_type" jsonschema:"general-purpose, or the name of another agent that is set up, such as codex, gemini or opencode"`
	Background bool   `json:"run_in_background,omitempty" jsonschema:"true: answer as soon as its pane is open; false (default): wait until it is active"`
}

// defaultModel leaves the model to the agent, as an empty one does.
const defaultModel = "default"

type spawnOut struct {
	Success bool       `json:"success"`
	Member  api.Member `json:"member" jsonschema:"the teammate as observed"`
}

// activePoll is how often a teammate is looked at until it is active, and
// activeLimit how long: an agent that asks its user something first is not waited
// for.
const (
	activePoll  = 100 * time.Millisecond
	activeLimit = 20 * time.Second
)

func (s *Server) spawn(ctx context.Context, c *call, in spawnIn) (spawnOut, string, error) {
	if store.Blank(in.Prompt) {
		return spawnOut{}, "", fault.New(fault.InvalidArgument, "the prompt is empty").WithHint("prompt is its first message, and all that it knows of its work")
	}
	team, err := s.team(ctx, in.TeamName)
	if err != nil {
		return spawnOut{}, "", err
	}
	spec := teams.SpawnSpec{Name: in.Name, Model: in.Model, Prompt: in.Prompt, AgentType: in.Type}
	if spec.Model == defaultModel {
		spec.Model = ""
	}
	s.o.Complete(&spec)
	c.progress(ctx, "starting "+in.Name)
	res := s.svc.Spawn(ctx, team, []teams.SpawnSpec{spec})[0]
	if res.Err != nil {
		return spawnOut{}, "", res.Err
	}
	m := res.Member
	c.progress(ctx, fmt.Sprintf("%s has the pane %s", m.Name, m.TmuxPaneID))
	if !in.Background {
		m = s.active(ctx, team, m)
		c.progress(ctx, m.Name+" is "+m.State)
	}
	if ctx.Err() != nil {
		return spawnOut{}, "", s.undo(ctx, team, m.Name)
	}
	if m.State == api.StateFailed || m.State == api.StateLost {
		return spawnOut{}, "", fault.New(fault.SpawnFailed, "teammate %s: %s", m.Name, m.Reason)
	}
	return spawnOut{true, m}, fmt.Sprintf("Teammate %s is %s, in pane %s (%s).", m.Name, m.State, m.TmuxPaneID, m.BackendType), nil
}

// undo ends a teammate that was just started, for nobody is told of it any more.
func (s *Server) undo(ctx context.Context, team, name string) error {
	e, err := s.svc.Stop(context.WithoutCancel(ctx), team, []string{name}, teams.StopOptions{
		Ask: time.Millisecond, Force: true, Reason: "the call was cancelled",
	})
	if err == nil {
		err = teams.Verdict(e)
	}
	return errors.Join(ctx.Err(), err)
}

// active waits until a teammate is no longer starting. It returns it as last seen.
func (s *Server) active(ctx context.Context, team string, m api.Member) api.Member {
	ctx, cancel := context.WithTimeout(ctx, activeLimit)
	defer cancel()
	tick := time.Tick(activePoll)
	for m.State == api.StateStarting {
		select {
		case <-tick:
		case <-ctx.Done():
			return m
		}
		all, _, err := s.svc.Members(ctx, team, true)
		for _, now := range all {
			if err == nil && now.Name == m.Name {
				m = now
			}
		}
	}
	return m
}

type teamStatusOut struct {
	Team        *api.Team         `json:"team,omitempty"`
	Tasks       map[string]int    `json:"tasks,omitempty" jsonschema:"number of tasks by status"`
	Plans       []api.Plan        `json:"plans,omitempty" jsonschema:"plans that wait for your approval"`
	Permissions []api.Permission  `json:"permissions,omitempty" jsonschema:"requests to use a tool that wait for your answer"`
	Delegate    bool              `json:"delegate" jsonschema:"you coordinate only and do no work yourself"`
	Teams       []api.TeamSummary `json:"teams,omitempty" jsonschema:"all teams, when none is meant"`
}

func (s *Server) teamStatus(ctx context.Context, _ *call, in inTeam) (teamStatusOut, string, error) {
	team, err := s.team(ctx, in.TeamName)
	if err != nil {
		all, lerr := s.svc.Teams(ctx)
		if in.TeamName != "" || lerr != nil {
			return teamStatusOut{}, "", err
		}
		return teamStatusOut{Teams: all}, fmt.Sprintf("You lead no team. There are %d.", len(all)), nil
	}
	out := teamStatusOut{Tasks: map[string]int{}}
	t, err := s.svc.Team(ctx, team)
	if err != nil {
		return out, "", err
	}
	out.Team = &t
	tasks, warnings, err := s.svc.TaskList(ctx, team, teams.TaskFilter{})
	if err != nil {
		return out, "", err
	}
	t.Warnings = append(t.Warnings, warnings...)
	for _, task := range tasks {
		out.Tasks[task.Status]++
	}
	if out.Plans, err = s.svc.Plans(ctx, team, false); err == nil {
		out.Permissions, err = s.svc.Permissions(ctx, team, false)
	}
	if err == nil {
		out.Delegate, err = s.svc.Delegate(ctx, team)
	}
	text := fmt.Sprintf("Team %s: %d tasks.", team, len(tasks))
	for _, m := range t.Members {
		text += fmt.Sprintf("\n%s: %s", m.Name, m.State)
		if m.Reason != "" {
			text += " (" + m.Reason + ")"
		}
	}
	return out, text, err
}

type captureIn struct {
	inTeam
	Name  string `json:"name" jsonschema:"the teammate"`
	Lines int    `json:"lines,omitempty" jsonschema:"only the last so many lines"`
}

type captureOut struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func (s *Server) capturePane(ctx context.Context, _ *call, team string, in captureIn) (captureOut, string, error) {
	if in.Lines < 0 {
		return captureOut{}, "", fault.New(fault.InvalidArgument, "lines is %d", in.Lines).WithHint("lines is a number that is not negative")
	}
	if err := s.mayLook(ctx, team); err != nil {
		return captureOut{}, "", err
	}
	text, err := s.svc.Capture(ctx, team, in.Name, in.Lines, false)
	return captureOut{in.Name, text}, text, err
}

// mayLook refuses what a lead in delegate mode leaves to others, also when the mode
// was turned on from outside.
func (s *Server) mayLook(ctx context.Context, team string) error {
	on, err := s.svc.Delegate(ctx, team)
	if err != nil || !on {
		return err
	}
	return fault.New(fault.Rejected, "delegate mode: the lead coordinates and does not do this itself").WithHint("ask a teammate for it, with a task or a message")
}
