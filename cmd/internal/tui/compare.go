package tui

import (
	"fmt"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// compare says what differs between the picture that m shows and the next one, and
// which of it a person should be called for.
func compare(m *model, p picture) (news []happening, calls []string) {
	add := func(format string, args ...any) { news = append(news, happening{p.At, fmt.Sprintf(format, args...)}) }
	for _, now := range p.Members {
		before := m.member(now.Name)
		switch {
		case before == nil:
			add("%s joined, %s", now.Name, now.State)
		case before.State != now.State:
			text := now.Name + " is " + now.State
			if now.Reason != "" {
				text += ": " + now.Reason
			}
			add("%s", text)
			if now.State == api.StateWaiting || now.State == api.StateFailed || now.State == api.StateLost {
				calls = append(calls, text)
			}
		}
	}
	for _, before := range m.members {
		gone := true
		for _, now := range p.Members {
			gone = gone && now.Name != before.Name
		}
		if gone {
			add("%s left", before.Name)
		}
	}
	old := map[string]api.Task{}
	for _, t := range m.tasks {
		old[t.ID] = t
	}
	for _, t := range p.Tasks {
		before, known := old[t.ID]
		switch {
		case !known:
			add("task %s: %s", t.ID, t.Subject)
		case before.Status != t.Status || before.Owner != t.Owner:
			text := fmt.Sprintf("task %s is %s", t.ID, t.Status)
			if t.Owner != "" {
				text += ", of " + t.Owner
			}
			add("%s", text)
		}
	}
	ids := map[string]bool{}
	for _, l := range m.letters {
		ids[l.To+"\x00"+l.ID] = true
	}
	for _, l := range p.Letters {
		if !ids[l.To+"\x00"+l.ID] {
			add("mail from %s to %s", l.From, l.To)
		}
	}
	return news, calls
}
