// Package tui is the dashboard: a team on one screen, its teammates with what each is
// doing, the live pane of the selected one, tasks, messages and what has happened.
//
// It looks at the files and asks the hosts, as every verb does. Hints say when to look
// again; where nobody tells of every change, it looks once a second in any case. The
// model is pure: a message comes in, it changes, and what is to be done outside comes
// out as actions, which the program carries out by the verbs of teams.Service.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/leadlight-dev/leadlight/teams"
)

// Options is what a dashboard is made of.
type Options struct {
	Service *teams.Service
	Team    string
	Program string   // this program, for viewers
	Environ []string // NO_COLOR and TERM are obeyed
	Inside  bool     // the panes are in the terminal around us: focus goes there
	Notify  Notice   // what to do when a teammate waits for a person, or fails
	In      io.Reader
	Out     io.Writer
	// Changes tells what has changed; nil if nobody does. The first one says that all that
	// comes is told from now on, and it is closed when that is no longer so.
	Changes <-chan Change
	// Leave, if not nil, ends the dashboard when it is closed: what it is about is over.
	Leave <-chan struct{}
}

// Change is word that the team has changed; the news are in the files.
type Change struct {
	Mail bool // also in the boxes
}

// Notice is how a person who looks elsewhere is told.
type Notice string

// The notices.
const (
	Silent  Notice = ""
	Bell    Notice = "bell"
	Desktop Notice = "osc9" // a desktop notification, in terminals that know OSC 9
)

// Run shows the dashboard until the person leaves it or ctx ends.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &program{ctx: ctx, o: o, model: newModel(o.Team)}
	hints, err := o.Service.Hints(ctx, o.Team)
	if err != nil {
		return fmt.Errorf("watch team %s: %w", o.Team, err)
	}
	p.hints = hints
	run := tea.NewProgram(p, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out),
		tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler())
	go func() {
		select {
		case <-o.Leave:
			run.Quit()
		case <-ctx.Done():
		}
	}()
	p.tell = run.Send
	defer quitBySignal(run)()
	_, err = run.Run()
	cancel()
	p.verbs.Lock() // what was begun is seen to its end: a request to stop is taken back
	if errors.Is(err, tea.ErrProgramKilled) && context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	return err
}

// viewer is the command that shows a pane in this terminal.
func (o Options) viewer(argv []string) *exec.Cmd {
	if len(argv) > 0 && argv[0] == "leadlight" {
		argv[0] = o.Program
	}
	c := exec.Command(argv[0], argv[1:]...)
	c.Env = o.Environ
	return c
}

// notice is what a terminal is sent to call for a person.
func (n Notice) notice(text string) string {
	switch n {
	case Bell:
		return "\a"
	case Desktop:
		return "\x1b]9;" + strings.Map(func(r rune) rune {
			if r < ' ' || r >= 0x7f && r < 0xa0 {
				return -1
			}
			return r
		}, text) + "\a"
	}
	return ""
}
