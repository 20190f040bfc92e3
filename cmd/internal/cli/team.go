package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/cmd/internal/style"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

func teamCommand(a *app) *cobra.Command {
	return group("team", teamCreateCommand(a, runTeamCreate), plain(a, "team ls", runTeamList), only(a, "team show", runTeamShow, optional, completeTeams(a)),
		teamDeleteCommand(a, runTeamDelete), only(a, "team takeover", runTakeover, optional, completeTeams(a)), delegateCommand(a, ofTeam(runDelegate)))
}

func teamCreateCommand(a *app, run func(context.Context, *app, teams.TeamSpec) error) *cobra.Command {
	var o teams.TeamSpec
	c := command(a, "team create", run, &o, one(&o.Name), noFiles)
	f := c.Flags()
	f.StringVar(&o.Description, "description", "", "`TEXT` that says what the team is for, up to 500 characters")
	f.Var(given(&o.Lead), "lead", "`NAME` of the lead, if not team-lead")
	f.StringVar(&o.AgentType, "agent-type", "", "`TYPE` of the lead's agent")
	f.Var(given(&o.Cwd), "cwd", "working `DIR` of the teammates, if not this one")
	f.Var(choice(&o.Mailbox, []string{store.MailboxClaude, store.MailboxMaildir}), "mailbox", "layout of the mailboxes: `claude|maildir` (default claude)")
	f.Var(given(&o.Engine), "engine", "keep the team on the engine at `URL`, which this machine has joined, or in files")
	_ = c.MarkFlagDirname("cwd")
	return c
}

func runTeamCreate(ctx context.Context, a *app, spec teams.TeamSpec) (err error) {
	if spec.Engine, err = a.engineFor(spec.Engine); err != nil {
		return err
	}
	svc, err := a.service(ctx)
	if err != nil {
		return err
	}
	if spec.Cwd, err = folder(a.path(spec.Cwd)); err != nil {
		return err
	}
	t, err := svc.CreateTeam(ctx, spec)
	return a.answer(t, err, func(w io.Writer) { fmt.Fprintf(w, "%s\n", t.Name) })
}

func runTeamList(ctx context.Context, a *app) error {
	svc, err := a.service(ctx)
	if err != nil {
		return err
	}
	list, err := svc.Teams(ctx)
	return a.answer(listed(list), err, func(w io.Writer) {
		t := &table{head: []string{"NAME", "TEAMMATES", "LED BY", "AGE", "DESCRIPTION"}, none: "no teams"}
		for _, s := range list {
			if s.Error != "" {
				t.add(s.Name, "", "", "", cell{s.Error, "red"})
				continue
			}
			t.add(s.Name, s.Teammates, s.LedBy, since(s.CreatedAt), s.Description)
		}
		a.table(w, t)
	})
}

func runTeamShow(ctx context.Context, a *app, name string) error {
	svc, team, err := a.serve(ctx, name)
	if err != nil {
		return err
	}
	t, err := svc.Team(ctx, team)
	if err != nil {
		return err
	}
	t.Members = listed(t.Members)
	if t.Metadata == nil {
		t.Metadata = noMetadata()
	}
	a.warn(t.Warnings)
	return a.answer(t, nil, func(w io.Writer) {
		fmt.Fprintln(w, strings.TrimSuffix(oneLine(t.Name)+": "+oneLine(t.Description), ": "))
		fmt.Fprintf(w, "led by %s (%s), mailboxes of the form %s\n%s\n\n", oneLine(t.LeadAgentID), t.LedBy, t.Mailbox, oneLine(t.Path))
		a.memberTable(w, t.Members)
	})
}

type teamDeleteOptions struct {
	Name string
	teams.DeleteOptions
}

func teamDeleteCommand(a *app, run func(context.Context, *app, teamDeleteOptions) error) *cobra.Command {
	var o teamDeleteOptions
	c := command(a, "team delete", run, &o, optional(&o.Name), completeTeams(a))
	c.Flags().Var(given(&o.Backup), "backup", "keep everything in `FILE.tar.gz`, checked before anything is deleted")
	c.Flags().BoolVar(&o.Force, "force", false, "delete it although a teammate could not be observed")
	return c
}

// deletedTeam is the answer of team delete.
type deletedTeam struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
	Backup  string `json:"backup,omitempty"`
}

func runTeamDelete(ctx context.Context, a *app, o teamDeleteOptions) error {
	svc, team, err := a.serve(ctx, o.Name)
	if err != nil {
		return err
	}
	o.Backup = a.fromHome(o.Backup)
	err = svc.DeleteTeam(ctx, team, o.DeleteOptions)
	return a.answer(deletedTeam{team, true, o.Backup}, err, func(io.Writer) { a.say("team %s is deleted", team) })
}

// memberTable prints members as ps does.
func (a *app) memberTable(w io.Writer, members []api.Member) {
	a.table(w, memberRows(members))
}

// extraColumn is one that is shown only where somebody has something in it.
type extraColumn struct {
	head string
	of   func(api.Member) string
}

func extraColumns() []extraColumn {
	return []extraColumn{
		{"MODE", func(m api.Member) string { return m.PermissionMode }},
		{"BRANCH", branchOf},
		{"MACHINE", func(m api.Member) string { return m.Machine }},
	}
}

func memberRows(members []api.Member) *table {
	t := &table{head: []string{"NAME", "STATE", "KIND", "PROFILE", "TASK", "UNREAD", "PANE", "PID", "ACTIVE"},
		less: []string{"PROFILE", "KIND", "PID", "ACTIVE", "MODE", "BRANCH", "PANE", "UNREAD", "TASK"}}
	var more []extraColumn
	for _, c := range extraColumns() {
		if slices.ContainsFunc(members, func(m api.Member) bool { return c.of(m) != "" }) {
			more, t.head = append(more, c), append(t.head, c.head)
		}
	}
	t.head = append(t.head, "REASON")
	for _, m := range members {
		state := m.State
		switch {
		case m.Signal != "":
			state += "(" + m.Signal + ")"
		case m.ExitCode != nil && *m.ExitCode != 0:
			state += "(" + strconv.Itoa(*m.ExitCode) + ")"
		}
		unread, pid := "", ""
		switch {
		case m.Unread == nil:
			unread = "?"
		case *m.Unread > 0:
			unread = strconv.Itoa(*m.Unread)
			if age := since(m.OldestUnreadAt); age != "" {
				unread += " (" + age + ")"
			}
		}
		if m.PID > 0 {
			pid = strconv.Itoa(m.PID)
		}
		cells := []any{cell{store.Shown(m.Name), m.Color}, cell{state, style.Member(m.State).Color}, m.Kind, m.Profile, m.Task,
			cell{unread, "yellow"}, style.Pane(m.TmuxPaneID), pid, since(m.LastActivityAt)}
		for _, c := range more {
			cells = append(cells, c.of(m))
		}
		t.add(append(cells, m.Reason)...)
	}
	return t
}

// branchOf is the branch of a worktree, and how many lines it has more and less than where
// it branched.
func branchOf(m api.Member) string {
	if m.Added == nil || m.Removed == nil || m.Branch == "" {
		return m.Branch
	}
	return fmt.Sprintf("%s +%d −%d", m.Branch, *m.Added, *m.Removed)
}

func runTakeover(ctx context.Context, a *app, name string) error {
	svc, team, err := a.serve(ctx, name)
	if err != nil {
		return err
	}
	// A command that Claude Code runs is told the session it runs in.
	res, err := svc.Takeover(ctx, team, teams.TakeoverSpec{Session: a.getenv("CLAUDE_CODE_SESSION_ID")})
	return a.answer(res, err, func(w io.Writer) {
		fmt.Fprintf(w, "team %s is yours (%s)\n", oneLine(res.Team), oneLine(res.Was))
		for _, part := range []struct {
			what  string
			names []string
		}{{"go on", res.Adopted}, {"lost", res.Lost}, {"taken out of the roster", res.Removed}, {"not observed", res.Unknown}} {
			if len(part.names) > 0 {
				fmt.Fprintf(w, "%s: %s\n", part.what, oneLine(strings.Join(part.names, ", ")))
			}
		}
	})
}

func delegateCommand(a *app, run func(context.Context, *app, bool) error) *cobra.Command {
	on, off := true, false
	return group("team delegate",
		command(a, "team delegate on", run, &on, takes(0, 0), noFiles),
		delegateHookCommand(a),
		command(a, "team delegate off", run, &off, takes(0, 0), noFiles))
}

func runDelegate(ctx context.Context, a *app, svc *teams.Service, team string, on bool) error {
	err := svc.SetDelegate(ctx, team, on)
	return a.answer(api.Delegation{Team: team, Delegate: on}, err, func(w io.Writer) {
		word := "off"
		if on {
			word = "on"
		}
		fmt.Fprintf(w, "delegate mode of team %s is %s\n", team, word)
	})
}
