package changes

import (
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// joined tells of those who are new, or started again under an old name.
func (d *diff) joined(old, now []api.Member) {
	for _, m := range now {
		if was := find(old, m.Name); was == nil || again(*was, m) {
			d.member(events.MemberJoined, events.KindMemberJoined, m)
		}
	}
}

// members tells what became of them.
func (d *diff) members(old, now []api.Member) {
	for _, m := range now {
		state := ""
		if was := find(old, m.Name); was != nil && !again(*was, m) {
			state = was.State
		}
		if state != m.State {
			d.turned(m)
		}
	}
	for _, m := range old {
		if find(now, m.Name) == nil && m.Live() {
			m.State, m.Reason = api.StateStopped, "it left the roster"
			d.turned(m)
		}
	}
}

// turned tells a new state. Starting, stopping and unknown are no events.
func (d *diff) turned(m api.Member) {
	switch m.State {
	case api.StateActive:
		d.member(events.MemberActive, events.KindMemberActive, m)
	case api.StateWaiting:
		d.member(events.MemberWaiting, events.KindMemberWaiting, m)
	case api.StateStopped:
		d.member(events.MemberShutdown, events.KindMemberLeft, m)
	case api.StateFailed:
		d.member(events.MemberFailed, events.KindMemberFailed, m)
	case api.StateLost:
		d.member(events.MemberLost, events.KindMemberLost, m)
	case api.StateIdle:
		d.add(events.MemberIdle, events.KindIdle, m.Name, &events.Idle{From: m.Name, CompletedTaskID: d.done[m.Name], Member: info(m)})
	}
}

func (d *diff) member(t events.Type, kind string, m api.Member) {
	d.add(t, kind, m.Name, &events.Member{Member: info(m), Reason: m.Reason})
}

func info(m api.Member) events.MemberInfo {
	status := events.StatusActive
	switch {
	case m.State == api.StateIdle:
		status = events.StatusIdle
	case !m.Live():
		status = events.StatusShutdown
	}
	return events.MemberInfo{
		Name: m.Name, AgentID: m.AgentID, AgentType: m.AgentType, Status: status, Model: m.Model, Color: m.Color, TmuxPaneID: m.TmuxPaneID,
	}
}

func find(list []api.Member, name string) *api.Member {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// again tells a member that was started anew under its name.
func again(was, now api.Member) bool {
	return was.StartedAt != nil && now.StartedAt != nil && !sameTime(was.StartedAt, now.StartedAt)
}

// Known returns now with the states that could not be observed this time as they
// were seen last: not to know is not an event.
func Known(old, now []api.Member) []api.Member {
	out := make([]api.Member, len(now))
	for i, m := range now {
		if was := find(old, m.Name); m.State == api.StateUnknown && was != nil && !again(*was, m) {
			m.State, m.Reason = was.State, was.Reason
		}
		out[i] = m
	}
	return out
}
