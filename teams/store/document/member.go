package document

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
)

func memberFields() []Field[store.Member] {
	return []Field[store.Member]{
		Text("agentId", func(m *store.Member) *string { return &m.AgentID }),
		Text("name", func(m *store.Member) *string { return &m.Name }),
		Text("agentType", func(m *store.Member) *string { return &m.AgentType }),
		Text("model", func(m *store.Member) *string { return &m.Model }),
		Text("prompt", func(m *store.Member) *string { return &m.Prompt }),
		Text("color", func(m *store.Member) *string { return &m.Color }),
		Always(Scalar("planModeRequired", func(m *store.Member) *bool { return &m.PlanModeRequired }), "false"),
		millis("joinedAt", func(m *store.Member) *time.Time { return &m.JoinedAt }),
		Always(Text("tmuxPaneId", func(m *store.Member) *string { return &m.TmuxPaneID }), `""`),
		Always(Text("cwd", func(m *store.Member) *string { return &m.Cwd }), `""`),
		Constant[store.Member]("subscriptions", "[]"), // always empty so far, and never ours
		Text("backendType", func(m *store.Member) *string { return &m.BackendType }),
		optional("isActive", func(m *store.Member) **bool { return &m.IsActive }),
		Text("mode", func(m *store.Member) *string { return &m.Mode }),
		Text("worktreePath", func(m *store.Member) *string { return &m.WorktreePath }),
		metadata(func(m *store.Member) *map[string]json.RawMessage { return &m.Metadata }),
		nested("leadlight", func(m *store.Member) **store.Bookkeeping { return &m.Leadlight }, bookkeepingFields()),
	}
}

func bookkeepingFields() []Field[store.Bookkeeping] {
	type b = store.Bookkeeping
	return []Field[b]{
		Text("host", func(x *b) *string { return &x.Host }),
		Text("kind", func(x *b) *string { return &x.Kind }),
		Text("profile", func(x *b) *string { return &x.Profile }),
		Text("state", func(x *b) *string { return &x.State }),
		optional("exitCode", func(x *b) **int { return &x.ExitCode }),
		Text("signal", func(x *b) *string { return &x.Signal }),
		Text("reason", func(x *b) *string { return &x.Reason }),
		Scalar("runTask", func(x *b) *bool { return &x.RunTask }),
		Text("run", func(x *b) *string { return &x.Run }),
		Text("restart", func(x *b) *string { return &x.Restart }),
		optional("spawnedAt", func(x *b) **time.Time { return &x.SpawnedAt }),
		optional("stoppedAt", func(x *b) **time.Time { return &x.StoppedAt }),
		Text("machine", func(x *b) *string { return &x.Machine }),
		optional("replaced", func(x *b) **store.Replaced { return &x.Replaced }),
	}
}

// parseMember reads one element of members. What is no object with a name is not
// a member; it is kept as it is.
func parseMember(raw json.RawMessage, fields []Field[store.Member]) (m store.Member, o *rawjson.Object, odd []string, ok bool) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return m, nil, nil, false
	}
	m.Unknown, odd = Decode(o, &m, fields)
	return m, o, odd, m.Name != ""
}

func membersField() Field[draft] {
	fields := memberFields()
	return Field[draft]{Key: "members",
		Load: func(d *draft, raw json.RawMessage) {
			list, err := rawjson.ParseArray(raw)
			if err != nil {
				d.Warnings = append(d.Warnings, "members is not a list and was passed over")
				return
			}
			for _, item := range list {
				m, _, odd, ok := parseMember(item, fields)
				if !ok {
					d.Warnings = append(d.Warnings, "an entry of members without a name was passed over")
					continue
				}
				d.Members = append(d.Members, m)
				for _, what := range odd {
					d.Odd = append(d.Odd, "member "+store.Shown(m.Name)+": "+what)
				}
			}
		},
		Save: func(d *draft, found json.RawMessage) json.RawMessage {
			list, err := rawjson.ParseArray(found)
			if err != nil && len(d.Members) == 0 {
				return nil
			}
			return rawjson.Array(mergeMembers(list, d.Members, fields))
		},
		Same:  func(was, now *draft) bool { return reflect.DeepEqual(was.Members, now.Members) },
		Fresh: "[]"}
}

// mergeMembers writes members over the list the file has, with all that is not ours; those
// that are gone are left out, and the others take the places of those that were there, in
// their order. A new one stands before the member that it precedes, else behind all.
func mergeMembers(list []json.RawMessage, members []store.Member, fields []Field[store.Member]) []json.RawMessage {
	entries, written := entriesOf(list, members, fields)
	inOrder(entries)
	out := make([]json.RawMessage, 0, len(members))
	next := 0
	compose := func(before int) { // the new ones
		for ; next < before; next++ {
			if !written[next] {
				out = append(out, Compose(&members[next], fields).Raw())
			}
		}
	}
	for _, e := range entries {
		switch {
		case e.object == nil:
			out = append(out, e.raw)
			continue
		case e.to < 0:
			continue
		}
		compose(e.to)
		if now := asWritten(members[e.to], e.was); !reflect.DeepEqual(e.was, now) {
			Amend(e.object, &e.was, &now, fields)
			e.raw = e.object.Raw()
		}
		out = append(out, e.raw)
	}
	compose(len(members))
	return out
}

// inOrder puts the entries of members into the order of these. Any other entry stays where it
// stands.
func inOrder(entries []memberEntry) {
	var at []int
	var stay []memberEntry
	for i, e := range entries {
		if e.to >= 0 {
			at, stay = append(at, i), append(stay, e)
		}
	}
	slices.SortFunc(stay, func(a, b memberEntry) int { return a.to - b.to })
	for n, i := range at {
		entries[i] = stay[n]
	}
}

// memberEntry is an element of the list of members: no member if it has no object.
type memberEntry struct {
	raw    json.RawMessage
	object *rawjson.Object
	was    store.Member
	to     int // the member that it stands for, -1 for one that is gone
}

// entriesOf finds the members whose entries a list has. Of several with one name, those that
// have not changed keep their entries; the others are taken in their order.
func entriesOf(list []json.RawMessage, members []store.Member, fields []Field[store.Member]) (entries []memberEntry, written []bool) {
	written = make([]bool, len(members))
	for _, raw := range list {
		e := memberEntry{raw: raw, to: -1}
		if was, o, _, ok := parseMember(raw, fields); ok {
			e.was, e.object = was.Clone(), o
		}
		entries = append(entries, e)
	}
	for _, same := range []func(was, now store.Member) bool{
		func(was, now store.Member) bool { return reflect.DeepEqual(was, now) },
		func(store.Member, store.Member) bool { return true },
	} {
		for n := range entries {
			e := &entries[n]
			if e.object == nil || e.to >= 0 {
				continue
			}
			for i, m := range members {
				if !written[i] && m.Name == e.was.Name && same(e.was, asWritten(m, e.was)) {
					e.to = i
					break
				}
			}
			if e.to >= 0 {
				written[e.to] = true
			}
		}
	}
	return entries, written
}

// asWritten is a member as its entry has it: an address that was derived was not asked for.
func asWritten(now, was store.Member) store.Member {
	if was.AgentID == "" && derived(now.AgentID, now.Name) {
		now.AgentID = ""
	}
	return now
}

func derived(agentID, name string) bool {
	return len(agentID) > len(name) && agentID[:len(name)+1] == name+"@"
}
