package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/spf13/cobra"
)

type initOptions struct {
	Template string
	List     bool
}

// written is the answer of init.
type written struct {
	Path     string `json:"path"`
	Team     string `json:"team"`
	Template string `json:"template"`
}

func initCommand(a *app, run func(context.Context, *app, initOptions) error) *cobra.Command {
	var o initOptions
	names := mapped(config.Templates(), func(t config.TemplateInfo) string { return t.Name })
	c := command(a, "init", run, &o, takes(0, 0), noFiles)
	c.Flags().Var(choice(&o.Template, names), "template", "`NAME` of the template: "+strings.Join(names, ", "))
	c.Flags().BoolVar(&o.List, "list", false, "list the templates")
	return c
}

func runInit(_ context.Context, a *app, o initOptions) error {
	if o.List {
		return a.answer(config.Templates(), nil, func(w io.Writer) {
			for _, t := range config.Templates() {
				fmt.Fprintf(w, "%-10s %s\n", t.Name, t.Short)
			}
		})
	}
	path, err := filepath.Abs(config.TeamFileName)
	if err != nil {
		return usage("find the team file: %w", err).WithHint("go to a folder that is there")
	}
	agents := a.installedAgents()
	if o.Template == "" {
		o.Template = "agents"
		if len(agents) == 0 {
			o.Template = "checks"
		}
	}
	if len(agents) == 0 {
		agents = []string{profiles.Claude}
	}
	team := config.TeamNameOf(filepath.Base(filepath.Dir(path)))
	text, _ := config.Template(o.Template, team, agents) // the flag takes no other
	f, ours, err := files.Create(config.TeamFileName, 0o644)
	if errors.Is(err, os.ErrExist) {
		return usage("%s is already there", config.TeamFileName).WithHint("leadlight up runs it; move it away for a new one")
	}
	if err != nil {
		return fmt.Errorf("write the team file: %w", err)
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = ours.Remove()
		return fmt.Errorf("write the team file: %w", err)
	}
	return a.answer(written{path, team, o.Template}, nil, func(io.Writer) {
		a.say("%s is written: team %s, template %s; leadlight up runs it", config.TeamFileName, team, o.Template)
	})
}

// installedAgents are the agents whose programs are on PATH, one a program, Claude Code
// first.
func (a *app) installedAgents() []string {
	set := profiles.NewSet(nil)
	var found, programs []string
	for _, name := range append([]string{profiles.Claude}, set.Names()...) {
		p, err := set.Get(name)
		if err != nil || len(p.Command) == 0 || p.Kind != profiles.Native && p.Kind != profiles.Interactive ||
			slices.Contains(programs, p.Command[0]) {
			continue
		}
		if teams.FindProgram(p.Command[0], "", a.getenv("PATH")) != "" {
			found, programs = append(found, name), append(programs, p.Command[0])
		}
	}
	return found
}
