package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

// delegateHookCommand is what Claude Code asks before it uses a tool.
func delegateHookCommand(a *app) *cobra.Command {
	var folder string
	c := command(a, "team delegate hook", runDelegateHook, &folder, optional(&folder), noFiles)
	c.Hidden = true
	return c
}

// writeDelegateHook writes, into the folder of a lead, the settings by which Claude
// Code asks us, and returns their path.
func (a *app) writeDelegateHook(folder string) (string, error) {
	program, err := a.light()
	if err != nil {
		return "", err
	}
	type object = map[string]any
	command := shell.Line(program, "team", "delegate", "hook", folder)
	data, err := json.Marshal(object{"hooks": object{"PreToolUse": []object{{
		"matcher": "*", "hooks": []object{{"type": "command", "command": command}},
	}}}})
	file := filepath.Join(folder, "settings.json")
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("write the settings of delegate mode: %w", err)
	}
	return file, nil
}

// maxHookInput is how much of what Claude Code tells a hook is read, in bytes.
const maxHookInput = 16 << 20

// errRefused is the exit status by which a hook of Claude Code objects.
const errRefused = exitStatus(2)

// runDelegateHook answers on standard error and by the exit status. Whatever goes
// wrong refuses: a lead in delegate mode has somebody to give the work to.
func runDelegateHook(ctx context.Context, a *app, folder string) error {
	var in struct {
		Session string `json:"session_id"`
		child
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
	}
	data, err := a.outside(func() ([]byte, error) { return readUpTo(a.in, maxHookInput) })
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err != nil {
		fmt.Fprintf(a.err, "delegate mode: what is asked cannot be read: %v\n", err)
		return errRefused
	}
	allowed, why := hooks.DelegateAllows(in.Tool, in.Input)
	if allowed {
		return nil
	}
	team, on, err := a.delegates(ctx, folder, in.Session)
	if err == nil && on {
		on, err = a.ofLead(ctx, team, in.child)
	}
	if err != nil {
		why = fmt.Sprintf("%s (%s)", why, fault.Of(err).Message)
	} else if !on {
		return nil
	}
	fmt.Fprintln(a.err, why)
	return errRefused
}

// child is the child of an agent by which a tool is used; empty where the agent itself does.
type child struct {
	ID   string `json:"agent_id"`
	Type string `json:"agent_type"`
}

// ofLead tells whether a tool is used by the lead or a child of its own. A teammate that
// runs within the lead's process has the same session, and is a child with the address, or
// the name, of that teammate.
func (a *app) ofLead(ctx context.Context, team string, c child) (bool, error) {
	if c.ID == "" || team == "" {
		return true, nil
	}
	svc, err := a.service(ctx)
	if err != nil {
		return true, err
	}
	members, _, err := svc.Members(ctx, team, true)
	return err != nil || !slices.ContainsFunc(members, func(m api.Member) bool {
		return m.AgentID == c.ID || m.BackendType == teams.InProcess && m.Name == c.Type
	}), err
}

// delegates tells which team the lead of a session has, if any, and whether it is in
// delegate mode. It begins in it; once its team is there, the team says so, for delegate off
// to change. That is the one which it leads by our tools, else the client's own, which newer
// clients have always. A file in folder says that the team was told; it comes after the
// telling, so that whoever sees it may believe the team. Without a folder we have not started
// that lead.
func (a *app) delegates(ctx context.Context, folder, session string) (team string, on bool, err error) {
	if folder == "" {
		return a.delegatesNow(ctx, session)
	}
	svc, err := a.service(ctx)
	if err != nil {
		return "", true, err
	}
	lead, err := panes.ReadLead(folder)
	if err != nil {
		return "", true, err
	}
	team, err = ledTeam(ctx, svc, lead.Process.PID, session)
	if err != nil || team == "" {
		return team, true, err
	}
	told := filepath.Join(folder, "told-"+team)
	switch _, err := os.Lstat(told); {
	case err == nil:
		on, err := svc.Delegate(ctx, team)
		return team, on || err != nil, err
	case !errors.Is(err, os.ErrNotExist):
		return team, true, err
	}
	if err := svc.SetDelegate(ctx, team, true); err != nil {
		return team, true, err
	}
	return team, true, os.WriteFile(told, nil, 0o600)
}

// delegatesNow is delegates for the lead of a session that we did not start. A teammate's
// session leads no team, though its hooks are the same.
func (a *app) delegatesNow(ctx context.Context, session string) (team string, on bool, err error) {
	who, err := a.who()
	if err != nil || who.Teammate {
		return "", false, err
	}
	svc, err := a.service(ctx)
	if err != nil {
		return "", false, err
	}
	team, err = ledTeam(ctx, svc, askingClient(), session)
	if err != nil || team == "" {
		return "", false, err
	}
	on, err = svc.Delegate(ctx, team)
	return team, on, err
}

// ledTeam is the team that a client leads by our tools, which run below it, else the one of
// its own session; "" if there is none.
func ledTeam(ctx context.Context, svc *teams.Service, client int, session string) (string, error) {
	team, err := svc.LedBelow(ctx, client)
	if err == nil && team == "" {
		team, err = svc.LedBy(ctx, session)
	}
	return team, err
}

// askingClient is the process that runs the hook: our parent, or what started the shell
// in which we run.
func askingClient() int {
	for _, p := range signals.Ancestors() {
		if !slices.Contains([]string{"sh", "bash", "dash", "zsh", "ash"}, p.Command) {
			return p.PID
		}
	}
	return 0
}

// hookVerb is what a native teammate's client runs in place of the hooks of the team
// file.
const hookVerb = "hook"

func hookCommand(a *app) *cobra.Command { return plain(a, hookVerb, runHook) }

// runHook answers as a hook does: what it is asked comes on standard input, an
// objection goes to standard error, and whatever goes wrong is none.
func runHook(ctx context.Context, a *app) error {
	feedback, err := a.askHook(ctx)
	switch {
	case err != nil:
		fmt.Fprintf(a.err, "leadlight %s: %s\n", hookVerb, printable(fault.Of(err).Message))
		return exitStatus(fault.ExitOther)
	case feedback != "":
		fmt.Fprintln(a.err, printable(feedback))
		return errRefused
	}
	return nil
}

func (a *app) askHook(ctx context.Context) (feedback string, err error) {
	data, err := a.outside(func() ([]byte, error) { return readUpTo(a.in, maxHookInput) })
	if err != nil {
		return "", fmt.Errorf("read what is asked: %w", err)
	}
	in, err := hooks.ParseInput(data)
	if err != nil {
		return "", fmt.Errorf("what is asked cannot be read: %w", err)
	}
	svc, team, err := a.serve(ctx)
	if err != nil {
		return "", err
	}
	return svc.AskKept(ctx, team, in)
}
