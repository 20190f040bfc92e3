package observe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/events"
)

// TestXF09_AChildIsNotTheLead: an agent without a name acts for whoever started it, and one of
// which nothing is known for nobody; none of them is taken for the lead.
func TestXF09_AChildIsNotTheLead(t *testing.T) {
	child := func(id, parent string) string {
		return by(parent, use(id, "Task", object{"description": "look", "prompt": "p", "subagent_type": "Explore"}))
	}
	start := join(create("c", "a"), spawn("s1", "a", "ann"), spawn("s2", "a", "bob"), task("t", "1"),
		[]string{child("k1", "s1"), child("k2", "k1"), use("k3", "Agent", object{"description": "d", "prompt": "p"})})
	sidechain := func(line string) string { return strings.Replace(line, "{", `{"isSidechain":true,`, 1) }
	for _, c := range []struct {
		name, who string
		of        func(line string) string
	}{
		{"a teammate", "ann", func(l string) string { return by("s1", l) }},
		{"a teammate's child", "ann", func(l string) string { return by("k1", l) }},
		{"a child's child", "ann", func(l string) string { return by("k2", l) }},
		{"the lead", leadName, func(l string) string { return l }},
		{"the lead's child", leadName, func(l string) string { return by("k3", l) }},
		{"one that was started before the stream begins", "", func(l string) string { return by("k9", l) }},
		{"one of the rows beside", "", sidechain},
	} {
		w := watching(again(t, seen(start...).State())) // after a restart, too
		w.feed(c.of(use("m", "SendMessage", object{"to": "bob", "message": "hi"})), result("m", "", object{"success": true}))
		if got := w.events[len(w.events)-1]; got.Type != events.MessageSent || got.Member != c.who {
			t.Errorf("%s: a message of %q", c.name, got.Member)
		}
		w.feed(c.of(use("u", "TaskUpdate", object{"taskId": "1", "status": inProgress})), result("u", "Updated task #1 status", nil))
		if owner, want := w.state.Team.Task("1").Owner, strings.TrimPrefix(c.who, leadName); owner != want {
			t.Errorf("%s: the task is %q's", c.name, owner)
		}
		n := len(w.events)
		w.feed(c.of(strings.Replace(mailed("", "bob", "here"), "{", `{"parent_tool_use_id":null,`, 1)))
		if got := w.events[n:]; len(got) != min(len(c.who), 1) || len(got) > 0 && got[0].Data.(*events.Message).To != c.who {
			t.Errorf("%s: mail is shown as %s", c.name, encode(got))
		}
		n = len(w.events)
		w.feed(c.of(use("b", "Bash", object{}))).hold()
		w.take(w.Quiet(time.Minute))
		if got := w.events[n:]; len(got) != min(len(c.who), 1) || len(got) > 0 && got[0].Member != c.who {
			t.Errorf("%s: %s waits", c.name, encode(got))
		}
	}
	var many []string
	for range 2 * maxChildren {
		many = append(many, child(fmt.Sprint("x", len(many)), "s1"))
	}
	if n := len(seen(many...).State().Children); n != maxChildren {
		t.Errorf("%d children are remembered", n)
	}
	loop := seen(by("l2", use("l1", "Task", object{})), by("l1", use("l2", "Task", object{})))
	of := ToolUse{ParentID: "l1"}
	if loop.state.actsFor(&of); of.ParentID == "" {
		t.Error("two that started each other act for the lead")
	}
}

// TestXF09_WhoActsIsSeenWithTheResult: a use that is seen before its agent's spawn has its
// result is the teammate's, and not the lead's, whichever of the two results comes first.
func TestXF09_WhoActsIsSeenWithTheResult(t *testing.T) {
	ann := spawn("s1", "a", "ann")
	results := []string{result("m", "", object{"success": true}), result("u", "Updated task #1 status", nil)}
	for _, c := range []struct {
		name, who string
		of        string
		then      []string
	}{
		{"the spawn's first", "ann", "s1", append([]string{ann[1]}, results...)},
		{"the spawn's last", "ann", "s1", append(slices.Clone(results), ann[1])},
		{"of its child", "ann", "k1", append(slices.Clone(results), ann[1])},
		{"of a teammate of another team", "", "s2", results},
	} {
		for _, anew := range []bool{false, true} {
			other := spawn("s2", "b", "bob")
			w := seen(join(create("c", "a"), task("t", "1"), []string{ann[0], other[0],
				by("s1", use("k1", "Task", object{"description": "look", "prompt": "p"})),
				by(c.of, use("m", "SendMessage", object{"to": "bob", "message": "hi"})),
				by(c.of, use("u", "TaskUpdate", object{"taskId": "1", "status": inProgress}))})...)
			if anew {
				w = watching(again(t, w.State()))
			}
			w.feed(c.then...)
			i := slices.IndexFunc(w.events, func(e events.Event) bool { return e.Type == events.MessageSent })
			if i < 0 || w.events[i].Member != c.who {
				t.Errorf("%s, after a new start: %v: the message is told as %s", c.name, anew, encode(w.events))
			}
			if owner := w.state.Team.Task("1").Owner; owner != c.who {
				t.Errorf("%s, after a new start: %v: the task is %q's", c.name, anew, owner)
			}
		}
	}
}
