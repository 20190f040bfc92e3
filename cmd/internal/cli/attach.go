package cli

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/fault"
	"github.com/spf13/cobra"
)

// attachment is the answer of attach.
type attachment struct {
	Argv []string `json:"argv"`
}

func attachCommand(a *app, run func(context.Context, *app, []string) error) *cobra.Command {
	return &cobra.Command{
		Use: "attach [NAME]", Short: "Show the team's panes, or a teammate's, in this terminal",
		Long:    "Show the panes of the team, or the one of a teammate, in this terminal. Where standard input is no\nterminal, the command that would do it is printed. Inside the tmux server that holds the panes it\ndoes what focus does.",
		Example: "  leadlight attach", Args: takes(0, 1), ValidArgsFunction: completeMembers(a, 1),
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), a, args) },
	}
}

func runAttach(ctx context.Context, a *app, name []string) error {
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	member := ""
	if len(name) > 0 {
		if member = name[0]; member == "" {
			return usage("the name of the teammate is empty")
		}
	}
	argv, err := svc.Attach(ctx, team, member)
	if err != nil {
		return err
	}
	if a.inside() && !a.json { // tmux does not nest: go there instead
		return focusOn(ctx, svc, team, member)
	}
	if a.json || !isTerminal(a.in) {
		return a.answer(attachment{argv}, func(w io.Writer) { fmt.Fprintln(w, shellLine(argv)) })
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

// focusOn brings a teammate's pane, or that of the first who runs, to the front.
func focusOn(ctx context.Context, svc *teams.Service, team, member string) error {
	if member != "" {
		return svc.Focus(ctx, team, member)
	}
	members, _, err := svc.Members(ctx, team, false)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(members, func(m api.Member) bool { return m.Live() })
	if i < 0 {
		return fault.New(fault.MemberNotFound, "team %s has no live teammate to show", team).WithHint("leadlight ps --all shows them")
	}
	return svc.Focus(ctx, team, members[i].Name)
}

// shellLine writes an argv so that a shell reads the same words.
func shellLine(argv []string) string {
	quoted := make([]string, len(argv))
	for i, word := range argv {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,") != "" {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}
