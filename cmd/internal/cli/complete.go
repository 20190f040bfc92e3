package cli

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completionLimit is how long a completion may take. It reads files only.
const completionLimit = time.Second

// words is a source of completions.
type words = func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

func noFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func teamFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// complete offers fixed words as the value of a flag.
func complete(c *cobra.Command, flag string, offers ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, inTime(func(context.Context) []string { return offers }))
}

// inTime offers what a source finds within the limit.
func inTime(source func(context.Context) []string) words {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completionLimit)
		defer cancel()
		return source(ctx), cobra.ShellCompDirectiveNoFileComp
	}
}

// completionTeam opens what completion reads, without terminals and without making
// anything.
func (a *app) completionTeam() (*composition, string, error) {
	who, err := a.who()
	if err != nil {
		return nil, "", err
	}
	s := a.settings
	if _, err := os.Stat(s.BaseDir.V); err != nil {
		return nil, "", err
	}
	built, err := a.compose(s, who)
	return built, s.Team.V, err
}

// offer offers what a source knows of the teams here; team is the one that is named, or "".
func (a *app) offer(source func(ctx context.Context, built *composition, team string) []string) words {
	return inTime(func(ctx context.Context) []string {
		built, team, err := a.completionTeam()
		if err != nil {
			return nil
		}
		return source(ctx, built, team)
	})
}

// offerOf is offer for what belongs to one team.
func (a *app) offerOf(source func(ctx context.Context, built *composition, team string) []string) words {
	return a.offer(func(ctx context.Context, built *composition, team string) []string {
		team, err := built.service.PickTeam(ctx, team, teamHere)
		if err != nil {
			return nil
		}
		return source(ctx, built, team)
	})
}

// upTo offers words for the first n arguments only; -1: for all.
func upTo(n int, next words) words {
	return func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if n >= 0 && len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return next(c, args, toComplete)
	}
}

func completeTeams(a *app) words { return upTo(1, teamNames(a)) }

func teamNames(a *app) words {
	return a.offer(func(ctx context.Context, built *composition, _ string) []string {
		names, _ := built.config.Roster.List(ctx)
		return names
	})
}

// completeMembers offers the members of a team, its lead among them.
func completeMembers(a *app, n int) words {
	return completeWho(a, n, func(store.Team, store.Member) bool { return true })
}

// completeTeammates offers the members but the lead.
func completeTeammates(a *app, n int) words {
	return completeWho(a, n, func(t store.Team, m store.Member) bool { return !t.IsLead(m) })
}

// completeToStop offers the teammates that stop ends.
func completeToStop(a *app) words {
	return completeWho(a, -1, func(t store.Team, m store.Member) bool {
		return !t.IsLead(m) && m.Leadlight != nil && m.Leadlight.State != api.StateStopped
	})
}

// completeWithWorktree offers the teammates that diff is about.
func completeWithWorktree(a *app) words {
	return completeWho(a, 1, func(_ store.Team, m store.Member) bool { return m.WorktreePath != "" })
}

// completeWho offers the members that fit, each once.
func completeWho(a *app, n int, fits func(store.Team, store.Member) bool) words {
	offers := a.offerOf(func(ctx context.Context, built *composition, team string) []string {
		t, err := built.config.Roster.Get(ctx, team)
		if err != nil {
			return nil
		}
		var names []string
		for _, m := range t.Members {
			if !m.Unsafe && fits(t, m) {
				names = append(names, m.Name)
			}
		}
		return names
	})
	return upTo(n, func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		names, how := offers(c, args, toComplete)
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) }), how
	})
}

func completeTasks(a *app) words { return upTo(1, taskIDs(a)) }

func taskIDs(a *app) words {
	return a.offerOf(func(ctx context.Context, built *composition, team string) []string {
		tasks, _, err := built.config.Tasks.List(ctx, team)
		if err != nil {
			return nil
		}
		return mapped(tasks, func(t store.Task) string { return t.ID + "\t" + store.Shown(oneLine(t.Subject)) })
	})
}

// afterComma offers words for the last of a list with commas.
func afterComma(next words) words {
	return func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		before := toComplete[:strings.LastIndexByte(toComplete, ',')+1]
		offers, how := next(c, args, toComplete[len(before):])
		return mapped(offers, func(offer string) string { return before + offer }), how
	}
}

// completeRuns offers the newest runs, if a daemon is there to ask.
func completeRuns(a *app) words {
	return upTo(1, inTime(func(ctx context.Context) []string {
		if c, err := a.runningDaemon(ctx); c == nil || err != nil {
			return nil
		}
		list, _ := ask[[]api.AgentTeamRun](ctx, a, "teamRun:list", nil)
		return mapped(list, func(r api.AgentTeamRun) string { return short(r.ID) + "\t" + r.Status + " " + clock(r.StartedAt) })
	}))
}

func completeTaskFlags(a *app, c *cobra.Command) {
	for _, name := range []string{"owner", "blocked-by", "blocks", "remove-blocked-by", "remove-blocks"} {
		source := afterComma(taskIDs(a))
		if name == "owner" {
			source = completeMembers(a, -1)
		}
		if c.Flags().Lookup(name) != nil {
			_ = c.RegisterFlagCompletionFunc(name, source)
		}
	}
}

// completeSpawn completes the command after --, from PATH and files.
func completeSpawn(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if c.ArgsLenAtDash() >= 0 || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func completeSpawnFlags(a *app, c *cobra.Command) {
	_ = c.RegisterFlagCompletionFunc("agent", inTime(func(context.Context) []string {
		s, err := a.set(nil)
		if err != nil {
			return profiles.NewSet(nil).Names()
		}
		return profiles.NewSet(s.Profiles).Names()
	}))
	complete(c, "color", colors()...)
	_ = c.RegisterFlagCompletionFunc("machine", completeMachines(a))
	_ = c.MarkFlagDirname("cwd")
}

// completeMachines offers the machines, if this one has joined an engine.
func completeMachines(a *app) words {
	return inTime(func(ctx context.Context) []string {
		var list []api.Machine
		if _, joined, err := a.joined(); err == nil && joined != nil {
			list, _ = a.machines(ctx) // without the engine there is nothing to offer
		}
		return append([]string{teams.MachineAuto}, mapped(list, func(m api.Machine) string { return m.Name })...)
	})
}

// colors are the colours of the palette.
func colors() []string {
	return []string{"blue", "green", "yellow", "magenta", "cyan", "red", "purple", "orange", "pink"}
}

// globalCompletions completes the flags of every verb.
func globalCompletions(a *app, root *cobra.Command) {
	_ = root.RegisterFlagCompletionFunc("team", teamNames(a))
	_ = root.RegisterFlagCompletionFunc("as", completeMembers(a, -1))
	complete(root, "backend", "auto", "tmux", "iterm2", "kitty", "headless")
	_ = root.MarkPersistentFlagDirname("base-dir")
	completeChoices(root)
}

// completeChoices completes the flags of c and below that take one of a few words.
func completeChoices(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if one, ok := f.Value.(flagValue); ok && one.words != nil {
			complete(c, f.Name, one.words...)
		}
	})
	for _, sub := range c.Commands() {
		completeChoices(sub)
	}
}

// bashWords takes the place of what the script would ask the bash-completion package for.
//
//go:embed completion.bash
var bashWords string

func completionCommand(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	c := page("completion")
	c.Args, c.ValidArgs = takes(1, 1), shells
	c.RunE = func(c *cobra.Command, args []string) error {
		switch args[0] {
		case "bash":
			err := c.Root().GenBashCompletionV2(a.out, true)
			_, more := io.WriteString(a.out, bashWords)
			return errors.Join(err, more)
		case "zsh":
			return c.Root().GenZshCompletion(a.out)
		case "fish":
			return c.Root().GenFishCompletion(a.out, true)
		}
		return fault.New(fault.InvalidArgument, "no completion for %q%s", store.Shown(args[0]), meant(args[0], shells)).
			WithHint("it is there for bash, zsh and fish")
	}
	return c
}

// plainUsage takes the quotes, by which help finds the names of values, out of the texts that a
// shell shows beside the flags.
func plainUsage(c *cobra.Command) {
	plain := func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") }
	c.Flags().VisitAll(plain)
	c.PersistentFlags().VisitAll(plain)
	for _, sub := range c.Commands() {
		plainUsage(sub)
	}
}
