package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/leadlight-dev/leadlight/cmd/internal/mcp"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

type mcpOptions struct {
	Role                  string // "": by who asks
	Delegate, EnableTeams bool
	HTTP                  string // address; "": standard input and output
}

// mcpAddress is where a server is found over HTTP, and what opens it.
type mcpAddress struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// Roles of a client.
const (
	roleLead     = "lead"
	roleTeammate = "teammate"
)

func mcpCommands(a *app) *cobra.Command {
	c := mcpCommand(a, runMCP)
	c.AddCommand(mcpInstallCommand(a, runMCPInstall))
	return c
}

func mcpCommand(a *app, run func(context.Context, *app, mcpOptions) error) *cobra.Command {
	var o mcpOptions
	c := &cobra.Command{
		Use: "mcp", Short: "Offer a model the tools to lead a team, or to work in one",
		Long: "Offer the verbs as tools of the Model Context Protocol, to a client on standard input and output: to\n" +
			"make a team, start teammates, write to them, share tasks, and end it all. Inside a teammate, or with\n" +
			"--role teammate and --as NAME, those of a teammate.\n\n" +
			"A model gets these tools only if " + gate + "=1 is set, or --enable-teams\n" +
			"says so. When the client goes, teammates go on or are shut down, as lifecycle.onLeadExit says.",
		Example: "  leadlight mcp --enable-teams\n  leadlight mcp --delegate --team review",
		Args:    takes(0, 0), ValidArgsFunction: noFiles,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), a, o) },
	}
	f := c.Flags()
	f.Var(choice{&o.Role, []string{roleLead, roleTeammate}}, "role", "whose tools are offered: `lead|teammate`, if not by LEADLIGHT_AGENT")
	f.BoolVar(&o.Delegate, "delegate", false, "only the tools to coordinate with: the lead does no work itself")
	f.BoolVar(&o.EnableTeams, "enable-teams", false, "offer the tools without "+gate+"=1")
	f.StringVar(&o.HTTP, "http", "", "serve any number of clients over HTTP at `ADDRESS` of this machine, such as 127.0.0.1:0")
	return c
}

func runMCP(ctx context.Context, a *app, o mcpOptions) error {
	s, err := a.set(nil)
	if err != nil {
		return err
	}
	who, err := a.caller(s)
	if err == nil {
		who, err = o.caller(who)
	}
	if err != nil {
		return err
	}
	c, err := a.compose(s, who)
	if err != nil {
		return err
	}
	enabled := o.EnableTeams || a.getenv(gate) == "1"
	if !enabled {
		a.say("leadlight: warning: the tools are not offered: set %s=1 or give --enable-teams", gate)
	}
	server := mcp.New(mcp.Options{
		Service: c.service, Caller: who, Team: s.Team.V, Version: version().Version, Enabled: enabled, Delegate: o.Delegate,
		Complete: func(spec *teams.SpawnSpec) { a.completeSpec(c, spec) }, ShutDown: s.OnLeadExit.V == "shutdown", Log: a.daemonLog(),
		Stores: mcp.Stores{Roster: c.files.Roster(), Mail: c.mail, Tasks: c.files.Tasks(),
			Hosts: func(ctx context.Context, team string) (<-chan struct{}, error) {
				return c.files.Watcher().Watch(ctx, []string{c.files.Dir().Join("leadlight/" + team + "/hosts")}, nil)
			}},
	})
	if o.HTTP != "" {
		return a.serveHTTP(ctx, server, o.HTTP)
	}
	return server.Stdio(ctx, io.NopCloser(a.in), unclosed{a.out})
}

// serveHTTP serves at an address of this machine until it is interrupted. The token
// comes from the environment, or is made up and told.
func (a *app) serveHTTP(ctx context.Context, server *mcp.Server, address string) error {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return usage("--http %s: it takes an address of this machine alone and a port", store.Shown(address)).WithHint("such as 127.0.0.1:0, which takes any free port")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("serve over HTTP: %w", err)
	}
	at := mcpAddress{URL: "http://" + l.Addr().String() + mcp.Path, Token: a.getenv(tokenVariable)}
	if at.Token == "" {
		at.Token = rand.Text()
	}
	err = a.answer(at, func(w io.Writer) { fmt.Fprintf(w, "%s\nAuthorization: Bearer %s\n", at.URL, at.Token) })
	if err != nil {
		return errors.Join(err, l.Close())
	}
	err = server.HTTP(ctx, l, at.Token)
	if errors.Is(err, context.Canceled) || isInterrupt(err) {
		return nil
	}
	return err
}

// tokenVariable holds the token that clients over HTTP have to know.
const tokenVariable = "LEADLIGHT_MCP_TOKEN"

// caller is who asks, in the role that is given: one who leads is a session of its
// own.
func (o mcpOptions) caller(who teams.Caller) (teams.Caller, error) {
	switch {
	case o.Role == roleLead && who.Teammate:
		return who, fault.New(fault.NotLead, "teammate %s cannot lead", who.Name).WithHint("leave --role out")
	case o.Role == roleTeammate && who.Name == store.Lead:
		return who, usage("--role teammate needs to know which one").WithHint("name it with --as NAME")
	case o.Role == roleTeammate:
		who.Teammate = true
	case !who.Teammate && who.Name != store.Lead && o.Role == "":
		return who, usage("--as %s: as a teammate or as the lead?", store.Shown(who.Name)).WithHint("add --role teammate")
	}
	who.Session = !who.Teammate
	return who, nil
}

// completeSpec fills what a model leaves open. A type of agent that is the name of a
// profile means that profile.
func (a *app) completeSpec(c *composition, spec *teams.SpawnSpec) {
	s := c.settings
	spec.Layout, spec.Profile = s.Layout(), s.Agent.V
	if slices.Contains(profiles.NewSet(s.Profiles).Names(), spec.AgentType) {
		spec.Profile = spec.AgentType
	}
	if spec.Model == "" && spec.Profile == s.Agent.V {
		spec.Model = s.Model.V
	}
}

// unclosed is standard output, which is not ours to close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
