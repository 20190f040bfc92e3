package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/leadlight-dev/leadlight/teams"
)

// How often the team and the pane are looked at, and how soon after a key or a change.
const (
	teamEvery = time.Second
	toldEvery = 5 * time.Second // while every change is told: only ages need a look
	paneEvery = 200 * time.Millisecond
	afterKey  = 30 * time.Millisecond
	gather    = 50 * time.Millisecond // changes that come together are one look
	mostMail  = 200                   // messages that are shown
)

// await waits for a hint that the team's files have changed.
func (p *program) await() tea.Msg {
	select {
	case _, ok := <-p.hints:
		if ok {
			return hinted{}
		}
	case <-p.ctx.Done():
	}
	return nil
}

// listen waits for word of a change, if anybody tells.
func (p *program) listen() tea.Msg {
	select {
	case c, ok := <-p.o.Changes:
		return changed{c, !ok}
	case <-p.ctx.Done():
	}
	return nil
}

func (p *program) every() time.Duration {
	if p.told {
		return toldEvery
	}
	return teamEvery
}

// lookSoon looks at the team after a moment, once for all that comes within it.
func (p *program) lookSoon(mail bool) tea.Cmd {
	p.mailDue = p.mailDue || mail
	if p.due {
		return nil
	}
	p.due = true
	return after(gather, teamDue{})
}

// lookAtTeam reads the boxes only when there may be something new in them.
func (p *program) lookAtTeam(loop bool) tea.Cmd {
	mail := p.mailDue || !p.told
	p.mailDue = false
	return func() tea.Msg {
		began := time.Now()
		snap, err := p.o.Service.Snapshot(p.ctx, p.o.Team)
		pic := picture{Snapshot: snap, Err: err, At: began}
		if err == nil {
			pic.Delegate, _ = p.o.Service.Delegate(p.ctx, p.o.Team) // it was readable a moment ago
			if mail {
				pic.Letters = p.mail(snap)
				pic.Asks = p.asks(snap)
				pic.Changes = p.changes(snap)
			}
		}
		return teamSeen{pic, loop, mail}
	}
}

// whole is a look with what is known of the boxes, if it did not look into them.
func (p *program) whole(seen teamSeen) picture {
	switch {
	case seen.Err != nil:
		p.mailDue = p.mailDue || seen.mail
	case !seen.mail:
		rest := slices.DeleteFunc(slices.Clone(p.model.Asks), func(a ask) bool { return a.Dialog })
		seen.Letters, seen.Asks, seen.Changes = p.model.Letters, dialogs(seen.Snapshot, rest), p.model.Changes
	}
	return seen.picture
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
			out = append(out, letter{ID: msg.ID, To: cmp.Or(box, "lead"), From: msg.From, Text: cmp.Or(msg.Summary, msg.Text), Body: msg.Text, Type: msg.Type, At: at, Read: msg.Read})
		}
	}
	slices.SortStableFunc(out, func(a, b letter) int { return a.At.Compare(b.At) })
	return out[max(0, len(out)-mostMail):]
}

// asks gathers what waits for a person. What cannot be read just now comes with the next
// look.
func (p *program) asks(snap teams.Snapshot) (out []ask) {
	plans, _ := p.o.Service.Plans(p.ctx, p.o.Team, false)
	for _, x := range plans {
		out = append(out, ask{ID: x.ID, From: x.From, Text: "is this plan good? " + x.Plan, Plan: true})
	}
	tools, _ := p.o.Service.Permissions(p.ctx, p.o.Team, false)
	for _, x := range tools {
		out = append(out, ask{ID: x.ID, From: x.From, Text: "may it use " + x.Tool + "? " + cmp.Or(x.Description, string(x.Input))})
	}
	return dialogs(snap, out)
}

// dialogs adds to what waits for a person what stands on the screens.
func dialogs(snap teams.Snapshot, out []ask) []ask {
	for _, x := range snap.Members {
		if x.AtDialog && !slices.ContainsFunc(out, func(a ask) bool { return a.From == x.Name && !a.Plan }) { // who waits for a permission asks the same there
			a := ask{ID: "dialog:" + x.Name, From: x.Name, Text: x.Reason, Dialog: true}
			if !x.Unsubmitted { // Enter would submit what nobody has read here
				a.YesKeys, a.NoKeys = dialogKeys(x.Reason, x.Lines)
			}
			out = append(out, a)
		}
	}
	return out
}

// dialogKeys are the keys for yes and for no: the letters, where the question asks for them
// (Enter would take what stands for nothing said), else Enter and Escape. Only a terminal that
// edits lines needs Enter after a letter; another program would take it for its next question.
func dialogKeys(question string, lines bool) (yes, no string) {
	switch lower := strings.ToLower(question); {
	case strings.Contains(lower, "yes/no") && lines:
		return "y e s Enter", "n o Enter"
	case strings.Contains(lower, "y/n") && lines:
		return "y Enter", "n Enter"
	case strings.Contains(lower, "yes/no"), strings.Contains(lower, "y/n"):
		return "y", "n"
	}
	return "Enter", "Escape"
}

// changes is what those with a worktree have changed there; git is asked seldom.
func (p *program) changes(snap teams.Snapshot) map[string]teams.Changed {
	out := map[string]teams.Changed{}
	for _, x := range snap.Members {
		if x.Worktree == "" {
			continue
		}
		if c, err := p.o.Service.Changed(p.ctx, p.o.Team, x.Name); err == nil {
			out[x.Name] = c
		}
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
		return paneSeen{paneText{name, text, err, time.Now()}, loop}
	}
}
