package teams

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// defaultProfile is what a spawn without a profile and a command runs.
const defaultProfile = "claude"

// resolve is the stage in which each spec is checked and completed, before anything is
// touched.
func (r *spawning) resolve(ctx context.Context, specs []SpawnSpec) (on []resolvedMember) {
	mode := r.leadMode(r.t)
	for at, spec := range specs {
		m, err := r.resolveOne(r.t, spec, mode)
		if err == nil && spec.again == nil {
			err = r.writeSettings(ctx, r.t, &m)
		}
		if err != nil {
			r.out[at].Err = err
			continue
		}
		m.at = at
		on = append(on, m)
	}
	return on
}

// resolveOne checks one spec and fills in what it leaves open.
func (st *starter) resolveOne(t store.Team, spec SpawnSpec, mode string) (n resolvedMember, err error) {
	n = resolvedMember{spec: spec}
	if n.spec.Name, err = store.CheckMember(spec.Name); err != nil {
		return n, err
	}
	if n.profile, err = st.profileOf(spec); err != nil {
		return n, err
	}
	n.begin(t, mode)
	if len(n.profile.ResumeArgs) > 0 && !n.profile.Resumes() {
		st.notice(fmt.Sprintf("the resumeArgs of the profile %s name no {session}: each start of %s begins a new conversation", n.profile.Name, n.spec.Name))
	}
	program, folder := "agent", "cwd"
	if len(spec.Command) > 0 {
		program = "command"
	}
	if spec.Git != nil {
		folder = "git"
	}
	for _, check := range []struct {
		key string
		do  func() error
	}{
		{"kind", func() error { return profiles.CheckKind(n.record.Kind) }},
		{"kind", func() error { return checkKindIn(t, n.spec.Name, n.record.Kind) }},
		{"machine", func() error { return st.checkMachine(t, spec) }},
		{"model", func() error { return n.profile.CheckModel(spec.Model) }},
		{"color", func() error { return checkColor(spec.Color) }},
		{"prompt", func() error { return checkPrompt(n.spec.Name, spec.Prompt) }},
		{"restart", func() error { return checkRestart(spec.Restart) }},
		{folder, func() error { return st.checkFolder(t, &n) }},
		{program, func() error { return n.command(t, spec.Color) }},
		{"env", func() error { n.env = st.panes.Environment("", "", "", n.variables()); return nil }},
		{program, func() error { return st.checkProgram(&n) }},
		{"env", func() error { return st.checkVariables(&n) }},
	} {
		if err := check.do(); err != nil {
			return n, mistaken{error: err, key: check.key}
		}
	}
	if n.record.Kind == profiles.Worker && len(n.record.Argv) == 0 && spec.Run == "" && !spec.RunTask && spec.Places == nil && spec.again == nil {
		st.notice(fmt.Sprintf("%s has no command, so it does no task: leadlight stop %[1]s, then leadlight spawn %[1]s --agent %s -- COMMAND", n.spec.Name, n.profile.Name))
	}
	return n, nil
}

// begin begins the launch record of a member: with the one it had, for a new host in a pane of
// ours, if it is started again.
func (n *resolvedMember) begin(t store.Team, mode string) {
	if n.spec.again != nil {
		n.record = *n.spec.again
		n.record.EnvNames, n.record.ForeignPane = nil, ""
	} else {
		n.record = panes.LaunchRecord{
			Run: n.spec.Run, RunTask: n.spec.RunTask, Restart: n.spec.Restart, Plan: n.spec.PlanMode,
			Given: n.spec.Command, Mode: mode, Asked: namesOf(n.spec.Env), Layout: n.spec.layout(),
		}
	}
	n.record.Host, n.record.Team, n.record.Agent, n.record.LedByUs = uuid.NewString(), t.Name, n.spec.Name, t.LedByUs()
	if n.spec.again == nil {
		n.runs(cmp.Or(n.spec.Kind, n.profile.Kind))
	}
}

// runs writes into the launch record what runs, by the profile.
func (n *resolvedMember) runs(kind string) {
	n.record.Kind, n.record.Profile = kind, n.profile.Name
	n.record.Origin, n.record.Session = new(n.profile.WithoutValues()), n.profile.BeginSession(kind, n.record.Host)
	if kind == profiles.Interactive || kind == profiles.Native { // those who have a conversation
		n.record.PromptProtocol = new(n.profile.PromptProtocol.WithDefaults())
	}
}

// mistaken is a mistake in what a key of the team file says, or the flag of its name.
type mistaken struct {
	error
	key string
}

func (m mistaken) Unwrap() error { return m.error }

func (st *starter) profileOf(spec SpawnSpec) (profiles.Profile, error) {
	if r := spec.again; r != nil { // its profile may have come from a team file
		return profiles.Profile{Name: r.Profile, Kind: r.Kind, Models: []string{spec.Model}, Env: st.profiles[r.Profile].Env}, nil
	}
	return st.profiles.Get(cmp.Or(spec.ProfileName(), defaultProfile))
}

// ProfileName is the profile that the spec asks for, or that what it is to run goes
// with; "" if neither says.
func (spec SpawnSpec) ProfileName() string {
	switch {
	case spec.Profile != "":
		return spec.Profile
	case len(spec.Command) > 0:
		return profiles.Exec
	case spec.Run != "" || spec.RunTask:
		return profiles.Shell
	}
	return ""
}

// checkKindIn checks what a team asks of a member's kind and name.
func checkKindIn(t store.Team, name, kind string) error {
	if (kind == profiles.Native || !t.LedByUs()) && !store.ClaudeName(name) {
		return fault.New(fault.InvalidName, "Claude Code does not take the name %q", name).
			WithHint("a native teammate, and any in a team that Claude Code leads, is named with letters, digits, '_' and '-'")
	}
	if kind == profiles.Native && t.Engine != "" {
		return fault.New(fault.Unsupported, "team %s is on an engine, and a native teammate reads files", t.Name).
			WithHint("the profile claude-interactive types its mail in instead")
	}
	if kind == profiles.Native && t.Ours.Mailbox == store.MailboxMaildir {
		return fault.New(fault.InvalidArgument, "team %s keeps its mail as a maildir, which a native teammate does not read", t.Name).
			WithHint("make the team with --mailbox claude, or mailbox: claude in the team file")
	}
	return nil
}

func checkPrompt(name, prompt string) error {
	if len(prompt) > store.MaxPrompt {
		return fault.New(fault.InvalidArgument, "the prompt of %s has %d bytes, the limit is %d", name, len(prompt), store.MaxPrompt).
			WithHint("put the text into a file and name the file in the prompt")
	}
	return nil
}

// Restart policies.
const (
	RestartNever     = "never"
	RestartOnFailure = "on-failure"
)

func checkRestart(policy string) error {
	switch policy {
	case "", RestartNever, RestartOnFailure:
		return nil
	}
	return fault.New(fault.InvalidArgument, "%q is not a restart policy", store.Shown(policy)).
		WithHint("the policies are: %s, %s", RestartNever, RestartOnFailure)
}
