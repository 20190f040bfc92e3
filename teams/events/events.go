// Package events is the closed set of things that happen to a team: their names,
// their data and their form on the wire. It is pure; who makes events and who
// carries them lies elsewhere.
//
// An event is a notification, and notifications are hints: the lists they speak
// of are the truth.
package events

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Type is the name of an event. It is stable: scripts match on it.
type Type string

// The closed set of names. Those of runs speak of teams as they are defined, not of
// live ones.
const (
	TeamCreated       Type = "team:created"
	TeamDeleted       Type = "team:deleted"
	MemberJoined      Type = "team:member:joined"
	MemberActive      Type = "team:member:active"
	MemberWaiting     Type = "team:member:waiting" // a person must answer
	MemberIdle        Type = "team:member:idle"
	MemberShutdown    Type = "team:member:shutdown"
	MemberFailed      Type = "team:member:failed"
	MemberLost        Type = "team:member:lost"
	TaskCreated       Type = "team:task:created"
	TaskClaimed       Type = "team:task:claimed"
	TaskCompleted     Type = "team:task:completed"
	TaskUpdated       Type = "team:task:updated"
	TaskFailed        Type = "team:task:failed"
	MessageSent       Type = "team:message:sent"     // left its sender
	MessageReceived   Type = "team:message:received" // was shown to its receiver
	ShutdownRequested Type = "team:shutdown:requested"
	ShutdownResponse  Type = "team:shutdown:response"
	PlanRequested     Type = "team:plan:requested"
	PlanResolved      Type = "team:plan:resolved"

	RunTeamCreated   Type = "team:run:team:created"
	RunTeamUpdated   Type = "team:run:team:updated"
	RunTeamDeleted   Type = "team:run:team:deleted"
	RunMemberAdded   Type = "team:run:member:added"
	RunMemberUpdated Type = "team:run:member:updated"
	RunMemberRemoved Type = "team:run:member:removed"
	RunMembersMoved  Type = "team:run:member:reordered"
	RunCreated       Type = "team:run:created"
	RunUpdated       Type = "team:run:updated"
	RunItemCreated   Type = "team:run:item:created"
	RunItemUpdated   Type = "team:run:item:updated"
	RunItemDeleted   Type = "team:run:item:deleted"
	RunItemMoved     Type = "team:run:item:moved"
	RunItemSpawned   Type = "team:run:item:spawned"
)

// family is the shape of an event's data; several names share one.
type family struct {
	types []Type
	blank func() Data
}

func families() []family {
	return []family{
		{[]Type{TeamCreated, TeamDeleted}, func() Data { return new(Team) }},
		{[]Type{MemberJoined, MemberActive, MemberWaiting, MemberShutdown, MemberFailed, MemberLost},
			func() Data { return new(Member) }},
		{[]Type{MemberIdle}, func() Data { return new(Idle) }},
		{[]Type{TaskCreated, TaskClaimed, TaskCompleted, TaskUpdated, TaskFailed}, func() Data { return new(Task) }},
		{[]Type{MessageSent, MessageReceived}, func() Data { return new(Message) }},
		{[]Type{ShutdownRequested}, func() Data { return new(ShutdownAsk) }},
		{[]Type{ShutdownResponse}, func() Data { return new(ShutdownAnswer) }},
		{[]Type{PlanRequested}, func() Data { return new(PlanAsk) }},
		{[]Type{PlanResolved}, func() Data { return new(PlanAnswer) }},
		{[]Type{RunTeamCreated, RunTeamUpdated, RunTeamDeleted, RunMemberAdded, RunMemberUpdated, RunMemberRemoved, RunMembersMoved,
			RunCreated, RunUpdated, RunItemCreated, RunItemUpdated, RunItemDeleted, RunItemMoved, RunItemSpawned}, func() Data { return new(Run) }},
	}
}

// Types returns every name, in a fixed order.
func Types() []Type {
	var all []Type
	for _, f := range families() {
		all = append(all, f.types...)
	}
	return all
}

// Names returns the names as text.
func Names() []string {
	var names []string
	for _, t := range Types() {
		names = append(names, string(t))
	}
	return names
}

// Event is one thing that happened.
type Event struct {
	Seq    uint64    // 1, 2, 3, … within one source
	At     time.Time // zero: the source does not say when
	Type   Type
	Team   string
	Member string // whom it is about; "" if nobody in particular
	Data   Data
}

// wire is an event as one line of JSON. Times are RFC 3339 in UTC with
// milliseconds.
type wire struct {
	Seq    uint64          `json:"seq"`
	At     string          `json:"at,omitempty"`
	Type   Type            `json:"type"`
	Team   string          `json:"team,omitempty"`
	Member string          `json:"member,omitempty"`
	Data   json.RawMessage `json:"data"`
}

const stamp = "2006-01-02T15:04:05.000Z07:00"

// MarshalJSON writes the form of the wire.
func (e Event) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return nil, err
	}
	w := wire{Seq: e.Seq, Type: e.Type, Team: e.Team, Member: e.Member, Data: data}
	if !e.At.IsZero() {
		w.At = e.At.UTC().Format(stamp)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads the form of the wire. Data becomes a pointer to the
// struct that belongs to the name; an unknown name is an error.
func (e *Event) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	at := time.Time{}
	if w.At != "" {
		var err error
		if at, err = time.Parse(time.RFC3339Nano, w.At); err != nil {
			return fmt.Errorf("event %d: %w", w.Seq, err)
		}
	}
	data := blank(w.Type)
	if data == nil {
		return fmt.Errorf("event %d: unknown type %q", w.Seq, w.Type)
	}
	if err := json.Unmarshal(w.Data, data); err != nil {
		return fmt.Errorf("event %d (%s): %w", w.Seq, w.Type, err)
	}
	*e = Event{Seq: w.Seq, At: at, Type: w.Type, Team: w.Team, Member: w.Member, Data: data}
	return nil
}

func blank(t Type) Data {
	for _, f := range families() {
		if slices.Contains(f.types, t) {
			return f.blank()
		}
	}
	return nil
}
