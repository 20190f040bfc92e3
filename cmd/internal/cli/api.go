package cli

import (
	"context"
	"encoding/json"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/cmd/internal/daemon"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/spf13/cobra"
)

func apiCommand(a *app) *cobra.Command {
	return group("api", "What the daemon says to programs", "What the daemon says to programs: JSON-RPC 2.0 over its socket, one JSON object a line.",
		apiSchemaCommand(a, runAPISchema))
}

func apiSchemaCommand(a *app, run func(context.Context, *app) error) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the API", Long: "Print the JSON Schema of all methods and types of the API.",
		Example: "  leadlight api schema | jq '.methods | keys'", Args: takes(0, 0), ValidArgsFunction: noFiles,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), a) },
	}
}

func runAPISchema(_ context.Context, a *app) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(rpc.SchemaOf(daemon.Methods(daemonParts(&config.Settings{}, daemon.Paths{})), daemon.Notifications()))
}
