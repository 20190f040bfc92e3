package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/clipperhouse/displaywidth"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

func attachCommand(a *app) *cobra.Command {
	return only(a, "attach", ofTeam(runAttach), optional, completeMembers(a, 1))
}

func runAttach(ctx context.Context, a *app, svc *teams.Service, team, name string) error {
	at, err := svc.Where(ctx, team, name)
	if err != nil {
		return err
	}
	if at.Backend == panes.Headless && isTerminal(a.in) && !a.json {
		return a.view(ctx, svc, team, at)
	}
	if !a.json && at.Backend != panes.Headless && at.Backend != "tmux" { // a window of its own: it comes to the front
		if err := svc.Focus(ctx, team, at.Member); !errors.Is(err, fault.Unsupported) {
			return err
		}
	}
	argv, err := svc.Attach(ctx, team, at.Member)
	if errors.Is(err, fault.Unsupported) && isTerminal(a.in) && !a.json { // its host shows it where its terminal cannot
		return a.view(ctx, svc, team, at)
	}
	if err != nil {
		return err
	}
	if a.inside() && !a.json { // tmux does not nest: go there instead
		return svc.Focus(ctx, team, at.Member)
	}
	if a.json || !isTerminal(a.in) {
		return a.answer(api.Attachment{Argv: argv}, nil, func(w io.Writer) { fmt.Fprintln(w, shell.Line(argv...)) })
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fault.New(fault.ProgramNotFound, "attach: %w", err)
	}
	if err := syscall.Exec(path, argv, a.environ); err != nil {
		return fmt.Errorf("attach: run %s: %w", path, err)
	}
	return nil
}

// view shows a teammate that has no terminal of its own in this one.
func (a *app) view(ctx context.Context, svc *teams.Service, team string, at teams.Place) error {
	tty, ok := a.in.(*os.File)
	if !ok {
		return fault.New(fault.Unsupported, "standard input is no terminal")
	}
	who := oneLine(at.Member)
	if at.Machine != "" {
		who += " on " + oneLine(at.Machine)
	}
	way := " ctrl-\\ and then d leaves " + who + " (a ctrl-\\ for it: twice) "
	if at.Looks {
		way = " ctrl-\\ and then d leaves " + who + "; only the lead types into it "
	}
	detached, err := svc.View(ctx, team, at.Member, host.AttachOptions{Terminal: tty, Banner: displaywidth.TruncateString(way, width(tty), "…")})
	if err != nil {
		return err
	}
	io.WriteString(tty, "\x1b[999;1H\x1b[2K") // in the last line of the picture
	if detached {
		a.say("left %s, which goes on", who)
	} else {
		a.say("%s has ended", who)
	}
	return nil
}
