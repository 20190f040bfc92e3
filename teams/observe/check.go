package observe

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/leadlight-dev/leadlight/teams/events"
)

// The checks say whether a JSON document is a member, a task, a team: the fields
// that must be there, their types, and the words that are allowed. Fields they do
// not know do not matter. A nil error is a yes; an error names the field.

// CheckMember checks a Member.
func CheckMember(raw []byte) error {
	return check("member", raw, []rule{
		{"name", text}, {"agentId", text}, {"agentType", text},
		{"status", oneOf(events.StatusActive, events.StatusIdle, events.StatusShutdown)},
		{"model", optional(text)}, {"color", optional(text)},
	})
}

// CheckTask checks a Task.
func CheckTask(raw []byte) error {
	return check("task", raw, []rule{
		{"id", text}, {"subject", text}, {"status", oneOf(pending, inProgress, completed, deleted)},
		{"description", optional(text)}, {"owner", optional(text)}, {"activeForm", optional(text)},
		{"blockedBy", list(text)}, {"blocks", list(text)},
	})
}

// CheckTeam checks a Team with all its members and tasks.
func CheckTeam(raw []byte) error {
	return check("team", raw, []rule{
		{"name", text}, {"role", oneOf(RoleLead, RoleTeammate)},
		{"members", list(func(raw json.RawMessage) error { return CheckMember(raw) })},
		{"tasks", list(func(raw json.RawMessage) error { return CheckTask(raw) })},
	})
}

type rule struct {
	field string
	holds func(json.RawMessage) error
}

func check(what string, raw []byte, rules []rule) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return fmt.Errorf("%s: not an object", what)
	}
	for _, r := range rules {
		if err := r.holds(m[r.field]); err != nil {
			return fmt.Errorf("%s: %s: %w", what, r.field, err)
		}
	}
	return nil
}

func text(raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] != '"' {
		return fmt.Errorf("want text, have %s", found(raw))
	}
	return nil
}

func optional(f func(json.RawMessage) error) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		if raw == nil {
			return nil
		}
		return f(raw)
	}
}

func oneOf(words ...string) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		if err := text(raw); err != nil {
			return err
		}
		if !slices.Contains(words, scalar(raw)) {
			return fmt.Errorf("want one of %q, have %s", words, found(raw))
		}
		return nil
	}
}

func list(f func(json.RawMessage) error) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		var items []json.RawMessage
		if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
			return fmt.Errorf("want a list, have %s", found(raw))
		}
		for i, item := range items {
			if err := f(item); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
		return nil
	}
}

func found(raw json.RawMessage) string {
	switch {
	case raw == nil:
		return "nothing"
	case len(raw) > 40:
		return string(raw[:40]) + "…"
	}
	return string(raw)
}
