package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/leadlight-dev/leadlight/teams"
)

func runTakeover(ctx context.Context, a *app, name string) error {
	svc, team, err := a.serve(ctx, name)
	if err != nil {
		return err
	}
	// A command that Claude Code runs is told the session it runs in.
	res, err := svc.Takeover(ctx, team, teams.TakeoverSpec{Session: a.getenv("CLAUDE_CODE_SESSION_ID")})
	return a.answer(res, err, func(w io.Writer) {
		fmt.Fprintf(w, "team %s is yours (%s)\n", oneLine(res.Team), oneLine(res.Was))
		for _, part := range []struct {
			what  string
			names []string
		}{{"go on", res.Adopted}, {"lost", res.Lost}, {"taken out of the roster", res.Removed}, {"not observed", res.Unknown}} {
			if len(part.names) > 0 {
				fmt.Fprintf(w, "%s: %s\n", part.what, oneLine(strings.Join(part.names, ", ")))
			}
		}
	})
}
