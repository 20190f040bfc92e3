package cli

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

type diffOptions struct {
	Name string // "": every teammate with a worktree
	Stat bool
}

// difference is the answer of diff.
type difference struct {
	Name   string `json:"name"`
	Branch string `json:"branch"`
	Diff   string `json:"diff"`
	clone  string // the worktree, if it is one of a clone
}

func diffCommand(a *app, run func(context.Context, *app, diffOptions) error) *cobra.Command {
	var o diffOptions
	c := command(a, "diff", run, &o, optional(&o.Name), completeWithWorktree(a))
	c.Flags().BoolVar(&o.Stat, "stat", false, "one line a file")
	return c
}

func runDiff(ctx context.Context, a *app, svc *teams.Service, team string, o diffOptions) error {
	names := []string{o.Name}
	if o.Name == "" {
		members, _, err := svc.Members(ctx, team, true)
		if err != nil {
			return err
		}
		if names = namesOf(members, func(m api.Member) bool { return m.Worktree != "" }); len(names) == 0 {
			a.say("no teammate has a worktree; leadlight spawn NAME --worktree gives one")
		}
	}
	all := []difference{}
	for _, name := range names {
		d, err := svc.Diff(ctx, team, name, o.Stat, a.colors(a.out.w) && !a.json)
		if err != nil {
			return err
		}
		all = append(all, difference{name, d.Branch, d.Text, d.Clone})
	}
	if o.Name != "" && a.json {
		return a.printJSON(all[0])
	}
	return a.answer(all, nil, func(w io.Writer) {
		for _, d := range all {
			if o.Name == "" {
				fmt.Fprintf(w, "%s (branch %s):\n", oneLine(d.Name), oneLine(d.Branch))
			}
			if d.Diff != "" {
				text := d.Diff
				if isTerminal(a.out.w) { // elsewhere it is a patch, to the byte
					text = withColors(text)
				}
				fmt.Fprintln(w, text)
			}
			if d.Diff != "" && d.clone != "" {
				a.say("git push origin %s takes what of it is committed, in %s", d.Branch, d.clone)
			} else if d.Diff != "" && d.Branch != "" {
				a.say("git merge %s takes what of it is committed", d.Branch)
			}
		}
	})
}

// colorSequence is what git colours a line with, and all that may stand in a diff for a
// terminal to act on: the files that it shows are another's.
var colorSequence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*m`) })

// withColors is printable for a text that git has coloured.
func withColors(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	at := 0
	for _, found := range colorSequence().FindAllStringIndex(s, -1) {
		b.WriteString(printable(s[at:found[0]]) + s[found[0]:found[1]])
		at = found[1]
	}
	if b.WriteString(printable(s[at:])); at > 0 {
		b.WriteString("\x1b[m")
	}
	return b.String()
}
