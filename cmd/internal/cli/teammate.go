package cli

import (
	"context"
	"io"
	"os"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/teammate"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// teammateVerb is how this program starts itself in a teammate's pane.
const teammateVerb = "teammate"

func teammateCommand(a *app) *cobra.Command {
	c := page(teammateVerb)
	c.DisableFlagParsing = true
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() } // see main
	return c
}

// teammate lives a teammate's life. It is on the way of every spawn, so the tree
// of commands is not built for it.
func (a *app) teammate(args []string) error {
	var team, agent, base string
	fs := pflag.NewFlagSet(teammateVerb, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&team, "team", "", "")
	fs.StringVar(&agent, "agent", "", "")
	fs.StringVar(&base, "base-dir", "", "")
	if err := fs.Parse(args); err != nil {
		return usage("leadlight %s: %v", teammateVerb, err)
	}
	if team == "" || agent == "" || base == "" || fs.NArg() > 0 {
		return usage("leadlight %s takes --team, --agent and --base-dir", teammateVerb).WithHint("it is run by leadlight spawn, not by hand")
	}
	a.environ = environ.Without(a.environ, "GOMAXPROCS") // of its own start, as its terminal set it
	_ = os.Unsetenv("GOMAXPROCS")
	c, err := a.compose(config.Bare(base), teams.Caller{Name: agent, Teammate: true})
	if err != nil {
		return err
	}
	defer a.close()
	return a.live(context.Background(), c, team, agent, a.environ)
}

// live lives the life for which the launch record is written, in the pane whose
// variables are given.
func (a *app) live(ctx context.Context, c *composition, team, agent string, pane []string) error {
	var terminal *os.File
	if isTerminal(a.in) {
		terminal, _ = a.in.(*os.File)
	}
	defer host.TrimMemory()()
	status, err := teammate.Run(ctx, teammate.Options{
		Team: team, Agent: agent, Dir: c.files.Dir(), Service: c.service, Panes: c.panes, Terminal: terminal,
		Environ: pane, Log: a.logger(),
	})
	if err != nil {
		return err
	}
	return exitStatus(status)
}
