package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/style"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

type psOptions struct {
	All, Watch bool
	Format     string
}

// watchEvery is how often ps --watch looks again.
const watchEvery = time.Second

func psCommand(a *app, run func(context.Context, *app, psOptions) error) *cobra.Command {
	o := psOptions{Format: "table"}
	c := command(a, "ps", run, &o, takes(0, 0), noFiles)
	c.Flags().BoolVarP(&o.All, "all", "a", false, "show stopped teammates too")
	c.Flags().BoolVar(&o.Watch, "watch", false, "print again whenever something changes, until ^C")
	c.Flags().Var(choice(&o.Format, []string{"table", "tmux"}), "format", "`table|tmux`; tmux is one line for a status bar")
	return c
}

func runPs(ctx context.Context, a *app, svc *teams.Service, team string, o psOptions) error {
	show := func() ([]byte, error) {
		members, warnings, err := svc.Members(ctx, team, true)
		if err != nil {
			return nil, err
		}
		stopped := 0
		if !o.All {
			all := len(members)
			members = slices.DeleteFunc(members, func(m api.Member) bool { return m.State == api.StateStopped })
			stopped = all - len(members)
		}
		if !o.Watch {
			a.warn(warnings)
		}
		countChanges(ctx, svc, team, members)
		if a.json && !a.inside() {
			a.reached(ctx, svc, team, members)
		}
		open := 0
		if o.Format == "tmux" {
			if list, err := a.requests(ctx, svc, team, false); err == nil { // else the line is shown all the same
				open = len(list)
			}
		}
		return a.showMembers(members, stopped, open, o)
	}
	if !o.Watch {
		out, err := show()
		if err == nil {
			_, err = a.out.Write(out)
		}
		if err == nil && isTerminal(a.out.w) && o.Format == "table" {
			a.sayAttach(ctx, svc, team, "")
		}
		return err
	}
	return a.watch(ctx, show)
}

// countChanges adds what those with a worktree have changed in it, and on which branch.
func countChanges(ctx context.Context, svc *teams.Service, team string, members []api.Member) {
	var wg sync.WaitGroup
	for i := range members {
		if m := &members[i]; m.Worktree != "" {
			wg.Go(func() {
				if c, err := svc.Changed(ctx, team, m.Name); err == nil { // else diff says why
					m.Branch, m.Added, m.Removed = c.Branch, &c.Added, &c.Removed
				}
			})
		}
	}
	wg.Wait()
}

// reached adds how a person gets to see each pane, as spawn says it of one.
func (a *app) reached(ctx context.Context, svc *teams.Service, team string, members []api.Member) {
	ways, _ := svc.AttachEach(ctx, team, members) // whoever asks for attach is told why there is none
	for i := range members {
		if words := ways[members[i].Name]; words != nil {
			members[i].Attach = shell.Line(words...)
		}
	}
}

// showMembers renders members as the options say. stopped is how many are left out, open
// how many requests wait for an answer.
func (a *app) showMembers(members []api.Member, stopped, open int, o psOptions) ([]byte, error) {
	var b bytes.Buffer
	switch {
	case a.json:
		err := writeJSON(&b, listed(members), isTerminal(a.out.w) && !o.Watch)
		return b.Bytes(), err
	case o.Format == "tmux":
		fmt.Fprintln(&b, statusLine(members, open))
	case len(members) == 0 && stopped == 0 && !o.Watch:
		a.say("no teammates")
	default:
		if len(members) > 0 || o.Watch {
			a.table(&b, memberRows(members))
		}
		if stopped > 0 {
			fmt.Fprintf(&b, "%d stopped, not shown: leadlight ps --all\n", stopped)
		}
		b.WriteString(lostLine(members))
	}
	return b.Bytes(), nil
}

// lostLine says who is lost, why, and how to start them again; "" if nobody is.
func lostLine(members []api.Member) string {
	var lost []string
	for _, m := range members {
		if m.State == api.StateLost {
			lost = append(lost, fmt.Sprintf("%s (%s)", oneLine(m.Name), oneLine(m.Reason)))
		}
	}
	if lost == nil {
		return ""
	}
	return fmt.Sprintf("lost: %s; start again with: leadlight restart --lost\n", strings.Join(lost, ", "))
}

// watch prints what show renders, again whenever it has changed. On a terminal
// the new one takes the place of the old one.
func (a *app) watch(ctx context.Context, show func() ([]byte, error)) error {
	tick := time.Tick(watchEvery)
	var last []byte
	for {
		out, err := show()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if !bytes.Equal(out, last) {
			if isTerminal(a.out.w) && !a.json {
				io.WriteString(a.out, "\x1b[H\x1b[2J")
			}
			if _, err := a.out.Write(out); err != nil {
				return err
			}
			last = out
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick:
		}
	}
}

// statusLine is one line for tmux's status bar, which begins with how many requests wait
// for an answer. A # in a name is doubled, so that
// tmux reads nothing into it.
func statusLine(members []api.Member, open int) string {
	var parts []string
	if open > 0 {
		parts = append(parts, requestCount(open))
	}
	for _, m := range members {
		name := strings.ReplaceAll(oneLine(m.Name), "#", "##")
		if color := style.Tmux(m.Color); color != "" {
			name = "#[fg=" + color + "]" + name + "#[default]"
		}
		mark := style.Member(m.State).Mark
		if m.Unread != nil && *m.Unread > 0 {
			mark += fmt.Sprintf("(%d)", *m.Unread)
		}
		parts = append(parts, name+" "+mark)
	}
	return strings.Join(parts, "  ")
}
