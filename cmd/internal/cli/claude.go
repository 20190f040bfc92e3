package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

type claudeOptions struct {
	Delegate bool
	Args     []string // Claude Code's own
}

func claudeCommand(a *app, run func(context.Context, *app, claudeOptions) error) *cobra.Command {
	c := page("claude")
	c.DisableFlagParsing, c.ValidArgsFunction = true, noFiles
	c.Flags().Bool("delegate", false, "the lead coordinates only: it is refused the tools of work")
	c.RunE = func(c *cobra.Command, args []string) error {
		o, help, err := claudeArgs(c, args)
		switch {
		case err != nil:
			return err
		case help:
			return c.Help()
		}
		return run(c.Context(), a, o)
	}
	return c
}

// claudeArgs takes our own flags off the front: the first argument that is none of
// them begins what is Claude Code's.
func claudeArgs(c *cobra.Command, args []string) (o claudeOptions, help bool, err error) {
	for ; len(args) > 0; args = args[1:] {
		name, _, whole := strings.Cut(args[0], "=")
		switch {
		case args[0] == "--":
			o.Args = args[1:]
			return o, false, nil
		case args[0] == "--delegate":
			o.Delegate = true
			continue
		case args[0] == "--help" || args[0] == "-h":
			return o, true, nil
		}
		flag := c.InheritedFlags().Lookup(strings.TrimPrefix(name, "--"))
		if !strings.HasPrefix(name, "--") || flag == nil || flag.Name == "verbose" {
			break // --verbose is Claude Code's own
		}
		value := strings.TrimPrefix(args[0], name+"=")
		switch {
		case whole:
		case flag.NoOptDefVal != "":
			value = flag.NoOptDefVal
		case len(args) == 1:
			return o, false, usage("%s needs a value", name)
		default:
			args = args[1:]
			value = args[0]
		}
		if err := flag.Value.Set(value); err != nil {
			return o, false, usage("%s: %v", name, err)
		}
	}
	o.Args = args
	return o, false, nil
}

func runClaude(ctx context.Context, a *app, o claudeOptions) error {
	who, err := a.who()
	if err != nil {
		return err
	}
	s := a.settings
	if who.Teammate {
		return fault.New(fault.NotLead, "teammate %s cannot start a lead", store.Shown(who.Name))
	}
	client, err := a.client(ctx, s)
	if err != nil {
		return err
	}
	if err := a.leadable(s, o); err != nil {
		return err
	}
	agents, err := agentsArgument(s, a.getenv("PATH"), &o)
	if err != nil {
		return err
	}
	c, err := a.compose(s, who)
	if err != nil {
		return err
	}
	folder, remove, err := c.panes.OpenLead()
	if err != nil {
		return err
	}
	defer c.panes.TidyRun(context.WithoutCancel(ctx))
	defer func() { _ = remove() }() // gc removes what is left
	argv := slices.Concat(client, []string{profiles.PanesFlag, profiles.PanesMode}, agents)
	lead := panes.Lead{Base: s.BaseDir.V, Client: client, Environ: a.leadEnviron(s)}
	if o.Delegate {
		if lead.Hook, err = a.writeDelegateHook(folder); err != nil {
			return err
		}
		argv = append(argv, "--settings", lead.Hook)
	}
	if lead.Process, err = signals.Self(); err != nil {
		return fmt.Errorf("identify this process: %w", err)
	}
	if err := panes.WriteLead(folder, lead); err != nil {
		return err
	}
	status, err := foreground(ctx, append(argv, o.Args...), append(lead.Environ, profiles.TeammateCommand+"="+filepath.Join(folder, panes.TeammateLink)))
	if err != nil {
		return err
	}
	return exitStatus(status)
}

// client finds Claude Code, as the profile claude names it, and makes sure that the
// version which is installed lets us host its teammates.
func (a *app) client(ctx context.Context, s *config.Settings) ([]string, error) {
	p, err := profiles.NewSet(s.Profiles).Get(profiles.Claude)
	if err != nil {
		return nil, err
	}
	if len(p.Command) == 0 {
		return nil, fault.New(fault.InvalidArgument, "the profile %s names no program", p.Name)
	}
	program := teams.FindProgram(p.Command[0], ".", a.getenv("PATH"))
	if program == "" {
		return nil, fault.New(fault.ProgramNotFound, "the profile %s needs the program %q, which is not there", p.Name, store.Shown(p.Command[0])).
			WithHint("install Claude Code, or name its path in the profile %s (leadlight help agents)", p.Name)
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil, fmt.Errorf("find %s: %w", program, err)
	}
	return append([]string{program}, p.Command[1:]...), a.checkTeammateCommand(ctx, program)
}

// leadable says what of the settings and the arguments would keep the teammates out of
// our hosts.
func (a *app) leadable(s *config.Settings, o claudeOptions) error {
	for i, arg := range o.Args {
		name, value, whole := strings.Cut(arg, "=")
		if !whole && i+1 < len(o.Args) {
			value = o.Args[i+1]
		}
		switch {
		case arg == "-p" || arg == "--print":
			return fault.New(fault.Unsupported, "with %s Claude Code leads no team in panes", arg).WithHint("leave it out, or run claude itself")
		case name == profiles.PanesFlag && value != profiles.PanesMode:
			return fault.New(fault.Unsupported, "with %s %s the teammates would not run in our hosts", name, store.Shown(value)).WithHint("leave it out")
		case name == "--settings" && o.Delegate:
			return fault.New(fault.Unsupported, "--delegate needs --settings for itself").WithHint("put these settings into .claude/settings.local.json")
		}
	}
	if kind := s.Backend.V; kind != "auto" && kind != "tmux" {
		return fault.New(fault.Unsupported, "Claude Code makes the panes of its teammates itself, in tmux, not in the backend %s (%s)", store.Shown(kind), s.Backend.Origin)
	}
	if _, err := exec.LookPath("tmux"); err != nil && a.getenv("TMUX") == "" {
		return fault.New(fault.BackendUnavailable, "Claude Code needs tmux for the panes of its teammates, and it is not on PATH").
			WithHint("install tmux (apt-get install tmux, brew install tmux)")
	}
	if !isTerminal(a.in) || !isTerminal(a.out.w) {
		return fault.New(fault.Unsupported, "Claude Code leads a team only in a terminal, and this is none").WithHint("run it in a terminal, without pipes")
	}
	return nil
}

// agentsArgument is how Claude Code gets to know the types of agent that stand for
// another agent: those that are installed, beside the ones of the person's own
// --agents, which is taken out of the arguments.
func agentsArgument(s *config.Settings, path string, o *claudeOptions) ([]string, error) {
	all := map[string]any{}
	i := slices.IndexFunc(o.Args, func(arg string) bool { return arg == "--agents" || strings.HasPrefix(arg, "--agents=") })
	if i >= 0 {
		_, value, whole := strings.Cut(o.Args[i], "=")
		last := i + 1
		if !whole && last < len(o.Args) {
			value = o.Args[last]
			last++
		}
		if err := json.Unmarshal([]byte(value), &all); err != nil || all == nil {
			return nil, usage("--agents takes a JSON object of agents")
		}
		o.Args = slices.Delete(slices.Clone(o.Args), i, last)
	}
	types := profiles.NewSet(s.Profiles).Types()
	for _, name := range slices.Sorted(maps.Keys(types)) {
		p := types[name]
		if _, own := all[name]; own || teams.FindProgram(p.Command[0], ".", path) == "" {
			continue
		}
		all[name] = map[string]string{
			"description": fmt.Sprintf("%s, as a teammate. Start it with a name; it gets its mail and its tasks like every teammate.", p.Summary),
			"prompt":      fmt.Sprintf("You stand in for %s, which runs only as a teammate with a name. Do nothing but report that.", p.Name),
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("encode the types of agent: %w", err)
	}
	return []string{"--agents", string(data)}, nil
}

// leadEnviron is the environment of the client, and of its teammates: this one, with
// the base directory as the client's home.
func (a *app) leadEnviron(s *config.Settings) []string {
	env := backend.Without(a.environ, []string{profiles.TeammateCommand, profiles.TeamsOn, "LEADLIGHT_BASE_DIR"})
	env = append(env, profiles.TeamsOn+"=1", "LEADLIGHT_BASE_DIR="+s.BaseDir.V)
	if a.getenv("CLAUDE_CONFIG_DIR") == "" && s.BaseDir.V == filepath.Join(a.getenv("HOME"), ".claude") {
		return env // its home by itself; to name it would move a file of the client's
	}
	return append(backend.Without(env, []string{"CLAUDE_CONFIG_DIR"}), "CLAUDE_CONFIG_DIR="+s.BaseDir.V)
}
