package tui

import (
	"fmt"
	"slices"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/changes"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// compare says what differs between the picture that m shows and the next one, and
// which of it a person should be called for.
func compare(m *model, p picture) (news []happening, calls []string) {
	for _, e := range changes.Between(m.picture.state(m.team), p.state(m.team), p.At) {
		text := describe(e)
		if text == "" {
			continue
		}
		news = append(news, happening{e.At, text})
		if slices.Contains([]events.Type{events.MemberWaiting, events.MemberFailed, events.MemberLost}, e.Type) {
			calls = append(calls, text)
		}
	}
	return news, calls
}

// state is what the dashboard knows, as it is compared.
func (p picture) state(team string) changes.Team {
	boxes := map[string][]api.Message{}
	for _, l := range p.Letters {
		boxes[l.To] = append(boxes[l.To], api.Message{ID: l.ID, From: l.From, Read: l.Read})
	}
	return changes.Team{Name: team, Members: p.Members, Tasks: p.Tasks, Boxes: boxes}
}

// describe is an event as the list shows it, "" if it is of no interest there.
func describe(e events.Event) string {
	switch d := e.Data.(type) {
	case *events.Member:
		text := d.Member.Name + " " + memberWords[e.Type]
		if d.Reason != "" {
			text += ": " + d.Reason
		}
		return text
	case *events.Idle:
		return d.From + " is idle"
	case *events.Task:
		if e.Type == events.TaskCreated {
			return fmt.Sprintf("task %s: %s", d.Task.ID, d.Task.Subject)
		}
		text := fmt.Sprintf("task %s is %s", d.Task.ID, taskWords[e.Type])
		if d.Task.Owner != "" {
			text += ", of " + d.Task.Owner
		}
		return text
	case *events.Message:
		if e.Type == events.MessageSent {
			return fmt.Sprintf("mail from %s to %s", d.From, d.To)
		}
	}
	return ""
}

var memberWords = map[events.Type]string{
	events.MemberJoined: "joined", events.MemberActive: "is active", events.MemberWaiting: "is waiting",
	events.MemberShutdown: "is stopped", events.MemberFailed: "failed", events.MemberLost: "is lost",
}

var taskWords = map[events.Type]string{
	events.TaskClaimed: "in progress", events.TaskCompleted: "completed", events.TaskFailed: "failed", events.TaskUpdated: "changed",
}
