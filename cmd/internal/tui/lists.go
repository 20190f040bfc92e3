package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/style"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// teammates is the list of them: state, task, unread mail, last activity.
func (m *model) teammates(w, rows int) []string {
	name := w - 26
	out := []string{bold(fit(fmt.Sprintf("   %-*s %-8s %4s %3s %4s", name, "TEAMMATE", "STATE", "TASK", "NEW", "LAST"), w))}
	shown, first := m.shown(), m.firstShown(rows)
	for _, x := range shown[first:min(len(shown), first+rows-1)] {
		out = append(out, m.teammate(x, name, w))
	}
	if len(shown) < len(m.Members) && len(out) < rows {
		out = append(out, faint(fit(fmt.Sprintf("   %d more do not match", len(m.Members)-len(shown)), w)))
	}
	return fill(out, w, rows)
}

// firstShown is the first teammate that the list of rows lines shows.
func (m *model) firstShown(rows int) int {
	at := slices.IndexFunc(m.shown(), func(x api.Member) bool { return x.Name == m.selected })
	return max(0, at-(rows-2))
}

// teammate is one line: the name in its own colour, the state in the state's.
func (m *model) teammate(x api.Member, name, w int) string {
	mark := " "
	if x.Name == m.selected {
		mark = "▸"
	}
	look := style.Member(x.State)
	unread := ""
	if x.Unread != nil && *x.Unread > 0 {
		unread = fmt.Sprint(*x.Unread)
	}
	who := inColor(fit(plain(x.Name), name), x.Color)
	if x.Name == m.selected {
		who = bold(who)
	}
	rest := fmt.Sprintf("%4s %3s %4s", plain(x.Task), unread, m.since(x.LastActivityAt))
	return mark + inColor(look.Mark, look.Color) + " " + who + " " + inColor(fit(x.State, 8), look.Color) + " " + fit(rest, w-name-13)
}

// since is how long ago something was, in four cells.
func (m *model) since(t *api.Time) string {
	if t == nil || m.now.IsZero() {
		return ""
	}
	d := m.now.Sub(time.Time(*t))
	for _, u := range []struct {
		unit time.Duration
		sign string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.unit {
			return fmt.Sprintf("%d%s", d/u.unit, u.sign)
		}
	}
	return fmt.Sprintf("%ds", max(d, 0)/time.Second)
}

func (m *model) subject(id string) string {
	for _, t := range m.Tasks {
		if t.ID == id {
			return t.Subject
		}
	}
	return ""
}

// taskLines are the tasks and what they wait for.
func (m *model) taskLines() []string {
	if len(m.Tasks) == 0 {
		return []string{faint(" there are none")}
	}
	var out []string
	for _, t := range m.Tasks {
		look := style.Task(t.Status)
		text := fmt.Sprintf(" %s %3s %s", inColor(fit(look.Mark, 2), look.Color), plain(t.ID), plain(t.Subject))
		if t.Owner != "" {
			text += faint(" (" + plain(t.Owner) + ")")
		}
		if waits := m.openOf(t.BlockedBy); len(waits) > 0 {
			text += faint(" ← waits for " + plain(strings.Join(waits, ", ")))
		}
		if t.Failure != "" {
			text += inColor(" "+plain(t.Failure), "red")
		}
		out = append(out, text)
	}
	return out
}

// openOf are those of the tasks that are not completed.
func (m *model) openOf(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(m.Tasks, func(t api.Task) bool { return t.ID == id && t.Status == "completed" })
	})
}

// messageLines are the messages, the newest last.
func (m *model) messageLines() []string {
	if len(m.Letters) == 0 {
		return []string{faint(" there are none")}
	}
	var out []string
	for _, l := range m.Letters {
		state := "•"
		if l.Read {
			state = " "
		}
		head := fmt.Sprintf("%s%s %s → %s ", state, l.At.Local().Format("15:04"), plain(l.From), plain(l.To))
		if l.Type != "message" && l.Type != "" {
			out = append(out, head+faint(plain(l.Type)))
			continue
		}
		out = append(out, head+plain(l.Text))
	}
	return out
}

// eventLines are what has happened, the newest last.
func (m *model) eventLines() []string {
	if len(m.events) == 0 {
		return []string{faint(" nothing since the dashboard began")}
	}
	var out []string
	for _, e := range m.events {
		out = append(out, " "+e.At.Local().Format("15:04:05")+" "+plain(e.Text))
	}
	return out
}
