package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// Groups of verbs, as help shows them.
const (
	groupTeams       = "Teams"
	groupTeammates   = "Teammates"
	groupMail        = "Mail and tasks"
	groupWatch       = "Watch"
	groupMaintenance = "Maintenance"
	plumbing         = "" // not shown
)

// rootCommand returns the tree of commands, for a command line that begins with
// the word called.
func rootCommand(a *app, called string) *cobra.Command {
	var version bool
	root := page("leadlight")
	root.Args, root.SilenceErrors, root.SilenceUsage = cobra.ArbitraryArgs, true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case version:
			return runVersion(c.Context(), a)
		case len(args) > 0:
			return unknownVerb(c, args[0])
		}
		return c.Help()
	}
	root.Flags().BoolVar(&version, "version", false, "same as the command version")
	a.globalFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		a.json = asksForJSON(a.args) // flags after the mistake were not parsed
		return flagError(c, err)
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { a.printHelp(c, a.allHelp) })
	root.SetUsageFunc(func(c *cobra.Command) error { writeHelp(a.err, c, false); return nil })
	addVerbs(a, root, called)
	globalCompletions(a, root)
	if called == cobra.ShellCompRequestCmd {
		plainUsage(root)
	}
	return root
}

// A verb is one command below the root.
type verb struct {
	group, name string
	command     func(a *app) *cobra.Command
}

// with makes a verb's constructor of a command and the function that runs it.
func with[R any](command func(*app, R) *cobra.Command, run R) func(*app) *cobra.Command {
	return func(a *app) *cobra.Command { return command(a, run) }
}

// verbs is the list of all verbs.
func verbs() []verb {
	return []verb{
		{groupTeams, "up", with(upCommand, runUp)},
		{groupTeams, "down", with(downCommand, runDown)},
		{groupTeams, "init", with(initCommand, runInit)},
		{groupTeams, "team", teamCommand},
		{groupTeams, "claude", with(claudeCommand, runClaude)},
		{groupTeammates, "spawn", with(spawnCommand, runSpawn)},
		{groupTeammates, "ps", with(psCommand, ofTeam(runPs))},
		{groupTeammates, "stop", with(stopCommand, ofTeam(runStop))},
		{groupTeammates, "restart", with(restartCommand, ofTeam(runRestart))},
		{groupTeammates, "set", with(setCommand, runSet)},
		{groupTeammates, "attach", attachCommand},
		{groupTeammates, "capture", with(captureCommand, ofTeam(runCapture))},
		{groupTeammates, "keys", with(keysCommand, ofTeam(runKeys))},
		{groupTeammates, "logs", with(logsCommand, ofTeam(runLogs))},
		{groupTeammates, "diff", with(diffCommand, ofTeam(runDiff))},
		{groupMail, "send", with(sendCommand, ofTeam(runSend))},
		{groupMail, "inbox", inboxCommands},
		{groupMail, "requests", with(requestsCommand, ofTeam(runRequests))},
		{groupMail, "approve", with(approveCommand, runAnswer)},
		{groupMail, "deny", with(denyCommand, runAnswer)},
		{groupMail, "plan", planCommand},
		{groupMail, "task", taskCommand},
		{groupWatch, "top", with(topCommand, runTop)},
		{groupWatch, "events", with(eventsCommand, runEvents)},
		{groupWatch, "run", runCommand},
		{groupWatch, "observe", with(observeCommand, runObserve)},
		{groupMaintenance, "mcp", mcpCommands},
		{groupMaintenance, "machine", machineCommand},
		{groupMaintenance, "daemon", daemonCommand},
		{groupMaintenance, "doctor", with(doctorCommand, runDoctor)},
		{groupMaintenance, "gc", with(gcCommand, runGC)},
		{groupMaintenance, "version", versionCommand},
		{groupMaintenance, "completion", completionCommand},
		{plumbing, "backend", backendCommand},
		{plumbing, shimVerb, shimCommand},
		{plumbing, teammateVerb, teammateCommand},
		{plumbing, hookVerb, hookCommand},
		{plumbing, "man", manCommand},
	}
}

// addVerbs adds the verbs: the one that is called if its name is known, else all
// of them. The whole tree costs a millisecond, which a short verb would notice.
func addVerbs(a *app, root *cobra.Command, called string) {
	for _, title := range []string{groupTeams, groupTeammates, groupMail, groupWatch, groupMaintenance} {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
	}
	list := verbs()
	if i := slices.IndexFunc(list, func(v verb) bool { return v.name == called && called != "man" }); i >= 0 {
		list = list[i : i+1]
	}
	for _, v := range list {
		c := v.command(a)
		c.GroupID, c.Hidden = v.group, v.group == plumbing
		root.AddCommand(c)
	}
	help := helpCommand(a)
	help.GroupID = groupMaintenance
	root.SetHelpCommand(help)
}
