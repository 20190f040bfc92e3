package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

type spawnOptions struct {
	teams.SpawnSpec // as it is written: nothing is looked at yet
	Source          teams.Source
	EnvFrom         string
}

func spawnCommand(a *app, run func(context.Context, *app, spawnOptions) error) *cobra.Command {
	var o spawnOptions
	c := command(a, "spawn", run, &o, spawnArgs(a, &o), completeSpawn)
	f := c.Flags()
	f.Var(given(&o.Profile), "agent", "`PROFILE` of the agent (leadlight help agents)")
	f.Var(given(&o.Model), "model", "`MODEL` of the agent")
	f.StringVar(&o.AgentType, "agent-type", "", "`TYPE` of the agent, for people and for Claude Code")
	f.StringVar(&o.Prompt, "prompt", "", "its first message: `TEXT`, @FILE, or - for standard input")
	f.Var(given(&o.Cwd), "cwd", "working `DIR`, if not the team's")
	f.Var(given(&o.Source.URL), "git", "the `URL` of a repository that is fetched to where it runs; it works in a git worktree of that")
	f.Var(given(&o.Source.Ref), "ref", "the branch, tag or commit `REF` of --git with which it begins")
	f.StringArrayVar(&o.Env, "env", nil, "`K=V` over the variables it inherits; can be repeated")
	f.Var(given(&o.EnvFrom), "env-from", "`FILE` with lines of K=V")
	f.StringVar(&o.Color, "color", "", "`COLOR` of its name and border, if not the least used")
	f.Var(choice(&o.Kind, profiles.Kinds()), "kind", "`KIND` of agent, if not the profile's: "+strings.Join(profiles.Kinds(), ", "))
	f.Var(choice(&o.Placement, []string{string(backend.Split), string(backend.Window), string(backend.Session)}), "placement", "where the pane goes: `split|window|session`")
	f.Var(given(&o.Machine), "machine", "the machine `NAME` on which it runs, of a team on an engine; auto: the one with most room")
	f.BoolVar(&o.PlanMode, "plan-mode", false, "it plans first and asks before it acts")
	f.Var(maybe(&o.Worktree), "worktree", "a git worktree of its own, on `BRANCH` if one is given")
	f.Lookup("worktree").NoOptDefVal = noBranch
	f.Var(choice(&o.Restart, config.Restarts()), "restart", "what to do when it ends by itself: `never|on-failure` (default never)")
	f.Var(span(&o.Ready), "ready-timeout", "how long it may take to be there, as a time `D` such as 30s (default lifecycle.ready, 20s)")
	completeSpawnFlags(a, c)
	return c
}

// noBranch is the value of --worktree without a branch; one may follow it as a word of its own.
const noBranch = " "

// spawnArgs takes one NAME, a branch after --worktree, and after -- a command.
func spawnArgs(a *app, o *spawnOptions) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		dash := c.ArgsLenAtDash()
		if dash < 0 {
			dash = len(args)
		}
		if branch := wordAfter(a.args, "--worktree"); dash == 2 && o.Worktree != nil && *o.Worktree == noBranch && slices.Contains(args[:2], branch) {
			at := 1
			if args[1] != branch {
				at = 0
			}
			args, dash, o.Worktree = slices.Delete(slices.Clone(args), at, at+1), 1, &branch
		}
		switch {
		case dash < 1:
			return usage("leadlight spawn needs the NAME of the teammate").WithHint("leadlight spawn NAME -- COMMAND ARG…")
		case dash > 1:
			return usage("leadlight spawn takes one NAME, not %q", store.Shown(args[1])).WithHint("a command comes after --: leadlight spawn NAME -- COMMAND ARG…")
		case len(args) == 1 && c.ArgsLenAtDash() >= 0:
			return usage("there is no command after --")
		}
		o.Name, o.Command = args[0], args[1:]
		if o.Worktree != nil {
			branch := strings.TrimSpace(*o.Worktree)
			o.Worktree = &branch
		}
		return nil
	}
}

// wordAfter is the argument that follows a flag, "" if there is none.
func wordAfter(args []string, flag string) string {
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

func runSpawn(ctx context.Context, a *app, o spawnOptions) error {
	spec, err := o.spec(a)
	if err != nil {
		return err
	}
	svc, team, err := a.serve(ctx)
	if fault.CodeOf(err) == fault.TeamNotFound {
		return fault.New(fault.TeamNotFound, "%s", fault.Of(err).Message).
			WithHint("leadlight team create %s makes one; then spawn again", config.TeamNameOf(filepath.Base(a.cwd)))
	}
	if err != nil {
		return err
	}
	res := svc.WithProgress(a.progress).Spawn(ctx, team, []teams.SpawnSpec{spec})[0]
	a.sayChoice()
	if res.Err != nil {
		return res.Err
	}
	if m := res.Member; m.State == api.StateFailed { // after the first moments, but before anybody was told that it runs
		return fault.New(fault.SpawnFailed, "teammate %s of team %s: %s", m.Name, team, m.Reason).
			WithHint("leadlight logs %s shows what it wrote", m.Name)
	}
	if line := a.sayAttach(ctx, svc, team, res.Member.Name); res.Member.Attach == "" {
		res.Member.Attach = line
	}
	return a.answer(res.Member, nil, func(w io.Writer) { a.memberTable(w, []api.Member{res.Member}) })
}

// spec reads what the options name: files, standard input, folders.
func (o spawnOptions) spec(a *app) (teams.SpawnSpec, error) {
	s, err := a.set(nil)
	if err != nil {
		return teams.SpawnSpec{}, err
	}
	spec := o.SpawnSpec
	spec.Layout = s.Layout()
	if spec.Profile == "" && len(spec.Command) == 0 {
		spec.Profile = s.Agent.V
	}
	if spec.Model == "" && spec.Profile == s.Agent.V {
		spec.Model = s.Model.V
	}
	if spec.Git, err = o.source(a); err != nil {
		return spec, err
	}
	if spec.Cwd = a.path(o.Cwd); o.Machine == "" { // else it has to be there, which is looked at there
		spec.Cwd, err = folder(spec.Cwd)
	}
	if err != nil {
		return spec, err
	}
	if spec.Env, err = a.variables(o.EnvFrom, o.Env); err != nil {
		return spec, err
	}
	spec.Prompt, err = a.textOrFile(o.Prompt, "prompt", store.MaxPrompt)
	return spec, err
}

// source is the repository that the options name.
func (o spawnOptions) source(a *app) (*teams.Source, error) {
	switch {
	case o.Source.URL == "" && o.Source.Ref != "":
		return nil, usage("--ref is of a repository").WithHint("name that with --git")
	case o.Source.URL == "":
		return nil, nil
	case o.Cwd != "":
		return nil, usage("--git and --cwd: a repository brings its own folder")
	}
	src := o.Source
	if src.Local() {
		src.URL = a.path(src.URL)
	}
	return &src, src.Check()
}

// folder makes a folder's name absolute; "" stays "".
func folder(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	bad := func(why string) (string, error) {
		return "", fault.New(fault.InvalidArgument, "the working folder %s %s", abs, why).WithHint("make it, or name another with --cwd")
	}
	switch fi, err := os.Stat(abs); {
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("the working folder: %w", err)
	case err != nil:
		return bad("does not exist")
	case !fi.IsDir():
		return bad("is no folder")
	}
	return abs, nil
}
