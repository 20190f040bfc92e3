package cli

import (
	"github.com/spf13/cobra"
)

// Groups of verbs, as help shows them.
const (
	groupTeams     = "teams"
	groupTeammates = "teammates"
	groupMail      = "mail"
	groupTasks     = "tasks"
	groupHouse     = "house"
)

// rootCommand returns the whole tree of commands.
func rootCommand(a *app) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "leadlight",
		Short: "Teams of agents in terminal panes",
		Long: "leadlight runs a team of agents, each in a terminal pane of its own, with one shared\n" +
			"task list, mail between them, and an end that leaves nothing behind.",
		Example: "  leadlight init && leadlight up       run the team of a leadlight.yaml\n" +
			"  leadlight spawn bob -- make test     or start a teammate by hand",
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case version:
				return runVersion(c.Context(), a)
			case len(args) > 0:
				return unknownVerb(c, args[0])
			}
			return c.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "same as the command version")
	a.globalFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(a.out, c) })
	root.SetUsageFunc(func(c *cobra.Command) error { writeHelp(a.err, c); return nil })
	addVerbs(a, root)
	globalCompletions(a, root)
	return root
}

// addVerbs adds every verb, by group.
func addVerbs(a *app, root *cobra.Command) {
	root.AddGroup(
		&cobra.Group{ID: groupTeams, Title: "Teams"},
		&cobra.Group{ID: groupTeammates, Title: "Teammates"},
		&cobra.Group{ID: groupMail, Title: "Mail"},
		&cobra.Group{ID: groupTasks, Title: "Tasks"},
		&cobra.Group{ID: groupHouse, Title: "House"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupTeams, upCommand(a, runUp), downCommand(a, runDown), initCommand(a, runInit), teamCommand(a))
	add(groupTeammates, spawnCommand(a, runSpawn), psCommand(a, runPs), stopCommand(a, runStop), restartCommand(a, runRestart),
		captureCommand(a, runCapture), logsCommand(a, runLogs), focusCommand(a, runFocus), attachCommand(a, runAttach),
		shutdownCommand(a, runAnswer))
	add(groupMail, sendCommand(a, runSend), broadcastCommand(a, runBroadcast), inboxCommand(a, runInbox, runPrune))
	add(groupTasks, taskCommand(a))
	add(groupHouse, doctorCommand(a, runDoctor), gcCommand(a, runGC), versionCommand(a), completionCommand(a))
	help := helpCommand(a)
	help.GroupID = groupHouse
	root.SetHelpCommand(help)
	root.AddCommand(teammateCommand(a), manCommand(a))
}

// group is a command that only holds others.
func group(use, short, long string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(c, args[0])
			}
			return c.Help()
		},
	}
	for _, sub := range subs {
		c.AddCommand(sub)
	}
	return c
}
