package cli

import (
	"context"
	"io"
	"strings"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/spf13/cobra"
)

// paneText is the answer of capture and logs.
type paneText struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type captureOptions struct {
	Name  string
	Lines int
	ANSI  bool
}

func captureCommand(a *app, run func(context.Context, *app, captureOptions) error) *cobra.Command {
	var o captureOptions
	c := command(a, "capture", run, &o, one(&o.Name), completeTeammates(a, 1))
	c.Flags().VarP(count(&o.Lines), "lines", "n", "only the last `N` lines")
	c.Flags().BoolVar(&o.ANSI, "ansi", false, "keep colours, as escape sequences")
	return c
}

func runCapture(ctx context.Context, a *app, svc *teams.Service, team string, o captureOptions) error {
	text, err := svc.Capture(ctx, team, o.Name, o.Lines, o.ANSI)
	return a.answer(paneText{o.Name, text}, err, func(w io.Writer) {
		io.WriteString(w, onScreen(text))
		if text != "" && !strings.HasSuffix(text, "\n") {
			io.WriteString(w, "\n")
		}
	})
}

// onScreen is what a screen showed: its colours are the terminal model's own, and what was
// not shown there is not passed on.
func onScreen(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && r != '\x1b' && hidden(r) {
			return '�'
		}
		return r
	}, text)
}
