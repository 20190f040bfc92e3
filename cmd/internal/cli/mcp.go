package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/leadlight-dev/leadlight/internal/fault"
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
	return a.handOver(c)
}

func mcpCommand(a *app, run func(context.Context, *app, mcpOptions) error) *cobra.Command {
	var o mcpOptions
	c := command(a, "mcp", run, &o, takes(0, 0), noFiles)
	f := c.Flags()
	f.Var(choice(&o.Role, []string{roleLead, roleTeammate}), "role", "whose tools are offered: `lead|teammate`, if not by LEADLIGHT_AGENT")
	f.BoolVar(&o.Delegate, "delegate", false, "only the tools to coordinate with: the lead does no work itself")
	f.BoolVar(&o.EnableTeams, "enable-teams", false, "offer the tools without "+gate+"=1")
	f.StringVar(&o.HTTP, "http", "", "serve any number of clients over HTTP at `ADDRESS` of this machine, such as 127.0.0.1:0")
	return c
}

func runMCP(ctx context.Context, a *app, o mcpOptions) error {
	who, err := a.who()
	if err == nil {
		who, err = o.caller(who)
	}
	if err != nil {
		return err
	}
	c, err := a.compose(a.settings, who)
	if err != nil {
		return err
	}
	enabled := o.EnableTeams || a.getenv(gate) == "1"
	if !enabled {
		a.say("leadlight: warning: the tools are not offered: set %s=1 or give --enable-teams", gate)
	}
	if o.HTTP != "" {
		host, _, err := net.SplitHostPort(o.HTTP)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return usage("--http %s: it takes an address of this machine alone and a port", store.Shown(o.HTTP)).WithHint("such as 127.0.0.1:0, which takes any free port")
		}
	}
	err = a.long.MCP(ctx, MCPParts{
		Settings: a.settings, Service: c.service, Caller: who, Version: version().Version, Enabled: enabled, Delegate: o.Delegate,
		Stores: c.stores(), HTTP: o.HTTP, Token: a.getenv(tokenVariable), In: a.in, Out: a.out, Log: a.daemonLog(),
		Announce: func(url, token string) error {
			return a.answer(mcpAddress{URL: url, Token: token}, nil, func(w io.Writer) { fmt.Fprintf(w, "%s\nAuthorization: Bearer %s\n", url, token) })
		},
	})
	if o.HTTP != "" && (errors.Is(err, context.Canceled) || isInterrupt(err)) {
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
