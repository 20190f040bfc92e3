package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/fault"
)

// program is the model in its terminal.
type program struct {
	ctx   context.Context
	o     Options
	model *model
	hints <-chan struct{}
	typer *typer // nil while nobody types

	told    bool // every change is told
	due     bool // a look is about to begin
	mailDue bool // and is to be one into the boxes
	letters []letter
	asking  []ask
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
	return tea.Batch(p.lookAtTeam(true), p.await(), p.listen(), after(0, paneDue{true}))
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
		return p, tea.Batch(p.lookSoon(false), p.await())
	case changed:
		if p.told = !seen.over; seen.over {
			return p, p.lookSoon(true)
		}
		return p, tea.Batch(p.lookSoon(seen.Mail), p.listen())
	case teamSeen:
		if msg = p.whole(seen); seen.loop {
			next = after(p.every(), teamDue{true})
		}
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
	case look:
		return p.lookAtPane(false)
	case call:
		if s := p.o.Notify.notice("leadlight: " + a.Text); s != "" {
			return tea.Raw(s)
		}
	case attach:
		return p.attach(a)
	case keystrokes:
		if p.typer.send(a.Bytes) {
			return after(afterKey, paneDue{})
		}
		return said("it takes no more keys")
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
	case send:
		return p.verb("sent to "+a.To, func() error {
			_, err := svc.Send(p.ctx, team, teams.SendSpec{To: a.To, Text: a.Text})
			return err
		})
	case stop:
		return tea.Batch(said("stopping "+a.Name+" …"), p.stop(a.Name))
	case restart:
		return tea.Batch(said("restarting "+a.Name+" …"), p.verb(a.Name+" runs again", func() error {
			_, err := svc.Restart(p.ctx, team, a.Name)
			return err
		}))
	}
	return nil
}

func said(text string) tea.Cmd { return func() tea.Msg { return noted{text} } }

// verb runs a verb and notes what came of it.
func (p *program) verb(done string, f func() error) tea.Cmd {
	return tea.Sequence(func() tea.Msg {
		if err := f(); err != nil {
			return noted{fault.Of(err).Message}
		}
		return noted{done}
	}, p.lookAtTeam(false))
}

func (p *program) reply(a reply) tea.Cmd {
	word := map[bool]string{true: "yes", false: "no"}[a.Yes]
	return p.verb(a.Ask.From+" is told "+word, func() error {
		var err error
		if feedback := "no, says the lead"; a.Ask.Plan {
			if a.Yes {
				feedback = ""
			}
			_, err = p.o.Service.ResolvePlan(p.ctx, p.o.Team, a.Ask.ID, a.Yes, feedback)
		} else {
			_, err = p.o.Service.AnswerPermission(p.ctx, p.o.Team, a.Ask.ID, a.Yes, "")
		}
		return err
	})
}

func (p *program) stop(name string) tea.Cmd {
	return tea.Sequence(func() tea.Msg {
		e, err := p.o.Service.Stop(p.ctx, p.o.Team, []string{name}, teams.StopOptions{Reason: "stopped by the lead"})
		if err == nil {
			err = teams.Verdict(e)
		}
		if err != nil {
			return noted{fault.Of(err).Message}
		}
		return noted{name + ": " + e.Members[0].Outcome}
	}, p.lookAtTeam(false))
}

// focus goes to the real pane: in the terminal around us, or in this one's place.
func (p *program) focus(name string) tea.Cmd {
	_, kind, err := p.o.Service.Where(p.ctx, p.o.Team, name)
	if err != nil {
		return said(fault.Of(err).Message)
	}
	if p.o.Inside && kind != panes.Headless {
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

// typer is the way of keys to one teammate.
type typer struct {
	keys   chan []byte
	cancel context.CancelFunc
}

// maxKeys bounds what waits for a teammate that takes no keys.
const maxKeys = 256

// attach begins to type into a teammate.
func (p *program) attach(a attach) tea.Cmd {
	p.typer.close()
	ctx, cancel := context.WithCancel(p.ctx)
	t := &typer{keys: make(chan []byte, maxKeys), cancel: cancel}
	p.typer = t
	r, w := io.Pipe()
	go func() {
		defer w.Close()
		for {
			select {
			case k, ok := <-t.keys:
				if !ok {
					return
				}
				if _, err := w.Write(k); err != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() tea.Msg {
		defer cancel()
		defer r.Close()
		end, err := p.o.Service.View(ctx, p.o.Team, a.Name, host.AttachOptions{In: r, Out: io.Discard, Rows: a.Rows, Cols: a.Cols})
		if end.Detached || errors.Is(err, context.Canceled) {
			return nil
		}
		return left{a.Name, err}
	}
}

// send queues keys; false if too many wait.
func (t *typer) send(b []byte) bool {
	if t == nil {
		return true
	}
	select {
	case t.keys <- b:
		return true
	default:
		return false
	}
}

// close ends the typing once what was typed has been sent.
func (t *typer) close() {
	if t != nil {
		close(t.keys)
	}
}
