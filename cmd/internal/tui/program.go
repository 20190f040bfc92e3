package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/fault"
)

// How often the team and the pane are looked at, and how soon after a key.
const (
	teamEvery = time.Second
	paneEvery = 200 * time.Millisecond
	afterKey  = 30 * time.Millisecond
	mostMail  = 200 // messages that are shown
)

// program is the model in its terminal.
type program struct {
	ctx   context.Context
	o     Options
	model *model
	hints <-chan struct{}
	typer *typer // nil while nobody types
}

// Loops go on by themselves; single looks do not.
type (
	teamDue  struct{ loop bool }
	paneDue  struct{ loop bool }
	teamSeen struct {
		picture
		loop bool
	}
	paneSeen struct {
		paneText
		loop bool
	}
	hinted struct{}
)

// Init begins the loops.
func (p *program) Init() tea.Cmd {
	return tea.Batch(p.lookAtTeam(true), p.await(), after(0, paneDue{true}))
}

// Update carries the model on.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var next tea.Cmd
	switch seen := msg.(type) {
	case teamDue:
		return p, p.lookAtTeam(seen.loop)
	case paneDue:
		return p, p.lookAtPane(seen.loop)
	case hinted:
		return p, tea.Batch(p.lookAtTeam(false), p.await())
	case teamSeen:
		if msg = seen.picture; seen.loop {
			next = after(teamEvery, teamDue{true})
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

// await waits for a hint that the team's files have changed.
func (p *program) await() tea.Cmd {
	return func() tea.Msg {
		select {
		case _, ok := <-p.hints:
			if ok {
				return hinted{}
			}
		case <-p.ctx.Done():
		}
		return nil
	}
}

func (p *program) lookAtTeam(loop bool) tea.Cmd {
	return func() tea.Msg {
		snap, err := p.o.Service.Snapshot(p.ctx, p.o.Team)
		pic := picture{Snapshot: snap, Err: err, At: time.Now()}
		if err == nil {
			pic.Delegate, _ = p.o.Service.Delegate(p.ctx, p.o.Team) // it was readable a moment ago
			pic.Letters = p.mail(snap)
			pic.Asks = p.asks()
		}
		return teamSeen{pic, loop}
	}
}

// mail gathers what is in the boxes of the lead and of the teammates. A box that cannot
// be read is doctor's business.
func (p *program) mail(snap teams.Snapshot) []letter {
	boxes := []string{""}
	for _, x := range snap.Members {
		boxes = append(boxes, x.Name)
	}
	var out []letter
	for _, box := range boxes {
		list, err := p.o.Service.Inbox(p.ctx, p.o.Team, box, teams.InboxFilter{})
		if err != nil {
			continue
		}
		for _, msg := range list {
			at, _ := time.Parse(time.RFC3339, msg.Timestamp) // one without a time comes first
			out = append(out, letter{ID: msg.ID, To: cmp.Or(box, "lead"), From: msg.From, Text: cmp.Or(msg.Summary, msg.Text), Type: msg.Type, At: at, Read: msg.Read})
		}
	}
	slices.SortStableFunc(out, func(a, b letter) int { return a.At.Compare(b.At) })
	return out[max(0, len(out)-mostMail):]
}

// asks gathers what waits for a person. What cannot be read just now comes with the next
// look.
func (p *program) asks() (out []ask) {
	plans, _ := p.o.Service.Plans(p.ctx, p.o.Team, false)
	for _, x := range plans {
		out = append(out, ask{ID: x.ID, From: x.From, Text: "is this plan good? " + x.Plan, Plan: true})
	}
	tools, _ := p.o.Service.Permissions(p.ctx, p.o.Team, false)
	for _, x := range tools {
		out = append(out, ask{ID: x.ID, From: x.From, Text: "may it use " + x.Tool + "? " + cmp.Or(x.Description, string(x.Input))})
	}
	return out
}

func (p *program) lookAtPane(loop bool) tea.Cmd {
	name := p.model.selected
	return func() tea.Msg {
		if name == "" {
			return paneSeen{loop: loop}
		}
		text, err := p.o.Service.Capture(p.ctx, p.o.Team, name, 0, true)
		return paneSeen{paneText{name, text, err}, loop}
	}
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
