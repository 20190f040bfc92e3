package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
)

// program is the model in its terminal.
type program struct {
	ctx   context.Context
	o     Options
	model *model
	hints <-chan struct{}
	typer *typer        // nil while nobody types
	tell  func(tea.Msg) // takes a message from elsewhere; nil: nobody looks
	verbs sync.RWMutex  // read-locked by each verb that is under way

	latest  time.Time // when the look began that is shown
	told    bool      // every change is told
	due     bool      // a look is about to begin
	mailDue bool      // and is to be one into the boxes
}

// Loops go on by themselves; single looks do not.
type (
	teamDue  struct{ loop bool }
	paneDue  struct{ loop bool }
	teamSeen struct {
		picture
		loop, mail bool // mail: the boxes were looked into
	}
	paneSeen struct {
		paneText
		loop bool
	}
	hinted  struct{}
	changed struct {
		Change
		over bool
	}
)

// Init begins the loops.
func (p *program) Init() tea.Cmd {
	return tea.Batch(p.lookAtTeam(true), p.await, p.listen, after(0, paneDue{true}))
}

// Update carries the model on.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var next tea.Cmd
	switch seen := msg.(type) {
	case teamDue:
		p.due = p.due && seen.loop
		return p, p.lookAtTeam(seen.loop)
	case paneDue:
		return p, p.lookAtPane(seen.loop)
	case hinted:
		return p, tea.Batch(p.lookSoon(false), p.await)
	case changed:
		if p.told = !seen.over; seen.over {
			return p, p.lookSoon(true)
		}
		return p, tea.Batch(p.lookSoon(seen.Mail), p.listen)
	case teamSeen:
		if seen.loop {
			next = after(p.every(), teamDue{true})
		}
		if seen.At.Before(p.latest) { // a slow look, after a later one
			p.mailDue = p.mailDue || seen.mail
			return p, next
		}
		p.latest = seen.At
		msg = p.whole(seen)
	case paneSeen:
		if msg = seen.paneText; seen.loop {
			next = after(paneEvery, paneDue{true})
		}
	}
	cmds := []tea.Cmd{next}
	for _, a := range p.model.update(msg) {
		cmds = append(cmds, p.do(a))
	}
	return p, tea.Batch(cmds...)
}

// View draws.
func (p *program) View() tea.View {
	v := tea.NewView(p.model.draw())
	v.AltScreen, v.WindowTitle = true, "leadlight "+p.o.Team
	if p.model.mode == browsing { // else the terminal's own selection works
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// do carries an action out.
func (p *program) do(a action) tea.Cmd {
	svc, team := p.o.Service, p.o.Team
	switch a := a.(type) {
	case quit:
		return tea.Quit
	case suspend:
		return p.suspend()
	case look:
		return p.lookAtPane(false)
	case call:
		if s := p.o.Notify.notice("leadlight: " + a.Text); s != "" {
			return tea.Raw(s)
		}
	case attach:
		return p.attach(a)
	case keystrokes:
		return p.typed(p.typer.send(a.Bytes))
	case pasted:
		return p.typed(p.typer.paste(a.Text))
	case detach:
		p.typer.close()
		p.typer = nil
	case focus:
		return p.focus(a.Name)
	case setMode:
		return p.verb(map[bool]string{true: "delegate mode is on", false: "delegate mode is off"}[a.Delegate],
			func() error { return svc.SetDelegate(p.ctx, team, a.Delegate) })
	case reply:
		return p.reply(a)
	case taskDone:
		return p.verb("task "+a.ID+" is done", func() error { _, err := svc.CompleteTask(p.ctx, team, a.ID, ""); return err })
	case taskFail:
		return p.verb("task "+a.ID+" has failed", func() error { _, err := svc.FailTask(p.ctx, team, a.ID, a.Reason); return err })
	case taskRelease:
		return p.verb("task "+a.ID+" is back on the list", func() error { _, err := svc.ReleaseTask(p.ctx, team, a.ID); return err })
	case send:
		return p.verb("sent to "+a.To, func() error { _, err := svc.Send(p.ctx, team, teams.SendSpec{To: a.To, Text: a.Text}); return err })
	case stop:
		return tea.Batch(said("stopping "+a.Name+" …"), p.stop(a.Name))
	case restart:
		return tea.Batch(said("restarting "+a.Name+" …"), p.verb(a.Name+" runs again", func() error {
			_, err := svc.WithProgress(p.progress).Restart(p.ctx, team, a.Name)
			return err
		}))
	}
	return nil
}

// suspend goes to the shell, unless a verb is under way: a stop that is stopped itself would
// hold up everybody else's.
func (p *program) suspend() tea.Cmd {
	if !p.verbs.TryLock() {
		return said("something is still under way: go to the shell when it is done")
	}
	p.verbs.Unlock()
	return tea.Exec(&suspension{}, func(error) tea.Msg { return teamDue{} })
}

// typed looks at what came of keys, soon.
func (p *program) typed(taken bool) tea.Cmd {
	if !taken {
		return said("it takes no more keys")
	}
	return after(afterKey, paneDue{})
}

func said(text string) tea.Cmd { return func() tea.Msg { return noted{text} } }

// verb runs a verb and notes what came of it.
func (p *program) verb(done string, f func() error) tea.Cmd {
	return p.verbSaying(func() (string, error) { return done, f() })
}

// verbSaying is verb for one that says itself what came of it.
func (p *program) verbSaying(f func() (string, error)) tea.Cmd {
	return tea.Sequence(func() tea.Msg {
		p.verbs.RLock()
		defer p.verbs.RUnlock()
		done, err := f()
		if err != nil {
			return noted{fault.Of(err).Message}
		}
		return noted{done}
	}, p.lookAtTeam(false))
}

// progress shows what a verb does to a teammate, such as how long it may still think.
func (p *program) progress(name, what string) {
	if p.tell != nil {
		p.tell(noted{name + ": " + what})
	}
}

func (p *program) reply(a reply) tea.Cmd {
	word := map[bool]string{true: "yes", false: "no"}[a.Yes]
	if a.Ask.Dialog {
		keys := map[bool]string{true: a.Ask.YesKeys, false: a.Ask.NoKeys}[a.Yes]
		return p.verb(keys+" is pressed for "+a.Ask.From, func() error {
			snap, err := p.o.Service.Snapshot(p.ctx, p.o.Team)
			if err == nil && !slices.Contains(dialogs(snap, nil), a.Ask) {
				err = fault.New(fault.RequestNotFound, "%s does not ask this any more", a.Ask.From)
			}
			if err != nil {
				return err
			}
			return p.o.Service.Keys(p.ctx, p.o.Team, a.Ask.From, strings.Fields(keys))
		})
	}
	return p.verb(a.Ask.From+" is told "+word, func() error {
		var err error
		if feedback := "no, says the lead"; a.Ask.Plan {
			if a.Yes {
				feedback = ""
			}
			_, err = p.o.Service.WithProgress(p.progress).ResolvePlan(p.ctx, p.o.Team, a.Ask.ID, a.Yes, feedback)
		} else {
			_, err = p.o.Service.AnswerPermission(p.ctx, p.o.Team, a.Ask.ID, a.Yes, "")
		}
		return err
	})
}

func (p *program) stop(name string) tea.Cmd {
	return p.verbSaying(func() (string, error) {
		e, err := p.o.Service.Stop(p.ctx, p.o.Team, []string{name}, teams.StopOptions{Reason: "stopped by the lead", Progress: p.progress})
		if err == nil {
			err = teams.Verdict(e)
		}
		if err != nil {
			return "", err
		}
		return name + ": " + e.Members[0].Outcome, nil
	})
}

// focus goes to the real pane: in the terminal around us, or in this one's place.
func (p *program) focus(name string) tea.Cmd {
	at, err := p.o.Service.Where(p.ctx, p.o.Team, name)
	if err != nil {
		return said(fault.Of(err).Message)
	}
	if p.o.Inside && at.Backend != panes.Headless {
		return p.verb("went to "+name, func() error { return p.o.Service.Focus(p.ctx, p.o.Team, name) })
	}
	argv, err := p.o.Service.Attach(p.ctx, p.o.Team, name)
	if err != nil {
		return said(fault.Of(err).Message)
	}
	return tea.ExecProcess(p.o.viewer(argv), func(err error) tea.Msg {
		if err != nil {
			return noted{fmt.Sprintf("show %s: %v", name, err)}
		}
		return noted{}
	})
}
