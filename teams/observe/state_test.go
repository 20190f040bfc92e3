package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// story is a session with everything in it.
func story() []string {
	return join(create("c", "a"), task("t1", "1"), task("t2", "2"), spawn("s1", "a", "ann"), spawn("s2", "a", "bob"),
		update("u1", "1", object{"status": inProgress, "owner": "ann"}), update("u2", "2", object{"addBlockedBy": []any{"1"}}),
		update("u3", "1", object{"status": completed}), []string{said("well"), mailed("m1", "bob", "hello")},
		update("u4", "2", object{"status": inProgress, "owner": "ann"}), []string{use("x", "TeamDelete", object{}), failure("x", "busy")},
		send("q", object{"type": "shutdown_request", "recipient": "bob"}, object{"request_id": "shutdown-1@bob"}),
		[]string{mailed("m2", "bob", `{"type":"shutdown_approved","from":"bob","requestId":"shutdown-1@bob"}`)})
}

// again carries a state through its JSON form.
func again(t testing.TB, s State) State {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back State
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return back
}

func TestO13_RestartAnywhere(t *testing.T) {
	lines := story()
	straight := seen(lines...).close()
	for cut := range len(lines) + 1 {
		first := seen(lines[:cut]...)
		rest := watching(again(t, first.State())).feed(lines[cut:]...).close()
		if got, want := encode(rest.State()), encode(straight.State()); got != want {
			t.Fatalf("restart before line %d:\n got %s\nwant %s", cut, got, want)
		}
		if all := first.names() + " " + rest.names(); strings.TrimSpace(all) != straight.names() {
			t.Fatalf("restart before line %d: %s", cut, all)
		}
	}
}

func TestO13_ReplayChangesNothing(t *testing.T) {
	lines := story()
	done := seen(lines...).close()
	for from := range lines {
		replay := watching(again(t, done.State())).feed(lines[from:]...).close()
		if replay.changes != 0 || len(replay.events) != 0 || short(replay.state.Team) != short(done.state.Team) {
			t.Fatalf("replay from line %d: %d changes, %s", from, replay.changes, replay.names())
		}
	}
}

func TestO13_SavedAfterEachChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	lines := story()
	for n := range len(lines) + 1 {
		stream := strings.Join(lines[:n], "\n")
		if n > 0 {
			stream += "\n"
		}
		if err := Run(context.Background(), Options{In: strings.NewReader(stream), Out: new(bytes.Buffer), StateFile: path}); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			continue
		}
		got, err := LoadState(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := seen(lines[:n]...).close(); short(got.Team) != short(want.state.Team) {
			t.Fatalf("after %d lines: %s, want %s", n, short(got.Team), short(want.state.Team))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestO13_SaveOrder(t *testing.T) {
	var out bytes.Buffer
	saves := 0
	o := Options{In: strings.NewReader(strings.Join(story(), "\n") + "\n"), Out: &out,
		Save: func(s State) error {
			if saves++; out.Len() == 0 || s.Seq == 0 {
				t.Error("saved before it was told")
			}
			return nil
		}}
	if err := Run(context.Background(), o); err != nil || saves == 0 {
		t.Errorf("%d saves, %v", saves, err)
	}
	o.In, o.Save = strings.NewReader(strings.Join(story(), "\n")), func(State) error { return errors.New("disk full") }
	if err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("a save that fails: %v", err)
	}
}

func TestLoadState(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.json")
	if s, err := LoadState(path); err != nil || s.Team != nil {
		t.Errorf("none there: %+v, %v", s, err)
	}
	for _, c := range []struct {
		text string
		code fault.Code
		says string
	}{
		{"", fault.CorruptFile, "s.json"},
		{`{"version":1,"team":`, fault.CorruptFile, "at byte"},
		{`{}`, fault.CorruptFile, "no version"},
		{`{"version":1,"team":{"name":"a"}}`, fault.CorruptFile, "role"},
		{`{"version":1,"team":{"name":"a","role":"lead","members":[],"tasks":[],"refusals":7}}`, fault.CorruptFile, "refusals"},
		{`{"version":99}`, fault.VersionTooNew, "99"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadState(path)
		if fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v (%s)", c.text, err, fault.CodeOf(err))
		}
		if err := Run(context.Background(), Options{In: strings.NewReader(""), Out: new(bytes.Buffer), StateFile: path}); fault.CodeOf(err) != c.code {
			t.Errorf("%s: run: %v", c.text, err)
		}
		if b, _ := os.ReadFile(path); string(b) != c.text {
			t.Errorf("%s was changed to %s", c.text, b)
		}
	}
	if _, err := LoadState(dir); err == nil {
		t.Error("a folder is no state")
	}
}

func TestSaveState(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(real, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := SaveState(link, State{Seq: 7}); err != nil {
		t.Fatal(err)
	}
	if s, err := LoadState(real); err != nil || s.Seq != 7 {
		t.Errorf("%+v, %v", s, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if err := SaveState(filepath.Join(dir, "no", "such", "s.json"), State{}); err == nil {
		t.Error("no folder, no error")
	}
	if err := SaveState(dir, State{}); err == nil {
		t.Error("a folder, no error")
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAppliedIsBounded(t *testing.T) {
	var a Applied
	for i := range maxApplied + 3 {
		a.add(fmt.Sprint(i))
		a.add(fmt.Sprint(i))
	}
	if len(a.ids) != maxApplied || len(a.have) != maxApplied || a.Has("2") || !a.Has("3") {
		t.Errorf("%d ids, %d known", len(a.ids), len(a.have))
	}
	back := again(t, State{Applied: a})
	if !slices.Equal(back.Applied.ids, a.ids) || !back.Applied.Has("3") {
		t.Error("not the same after a restart")
	}
}

func TestRefusalsAreBounded(t *testing.T) {
	w := seen(create("c", "a")...)
	for i := range maxRefusals + 3 {
		id := fmt.Sprintf("d%d", i)
		w.feed(use(id, "TeamDelete", object{}), failure(id, strings.Repeat("é", 600)))
	}
	r := w.state.Team.Refusals
	if len(r) != maxRefusals || r[0].ToolUseID != "d3" || len(r[0].Message) > 510 {
		t.Errorf("%d refusals, first %+v", len(r), r[0])
	}
}

func TestO17_Checks(t *testing.T) {
	member := object{"name": "a", "agentId": "a@t", "agentType": "x", "status": "active"}
	task := object{"id": "1", "subject": "s", "status": "pending", "blockedBy": []any{}, "blocks": []any{"2"}}
	team := object{"name": "t", "role": "lead", "members": []any{member}, "tasks": []any{task}}
	without := func(o object, key string) object { return with2(o, key, nil) }
	for _, c := range []struct {
		name  string
		check func([]byte) error
		value any
		ok    bool
	}{
		{"member", CheckMember, member, true},
		{"member with more", CheckMember, with2(with2(member, "model", "m"), "pane", 7), true},
		{"member without a name", CheckMember, without(member, "name"), false},
		{"member without an agent id", CheckMember, without(member, "agentId"), false},
		{"member without a type", CheckMember, without(member, "agentType"), false},
		{"member of no status", CheckMember, with2(member, "status", "asleep"), false},
		{"member, status a number", CheckMember, with2(member, "status", 1), false},
		{"member, model a number", CheckMember, with2(member, "model", 1), false},
		{"text", CheckMember, "a", false}, {"null", CheckMember, nil, false}, {"list", CheckTask, []any{}, false},
		{"task", CheckTask, task, true},
		{"deleted task", CheckTask, with2(task, "status", "deleted"), true},
		{"task of no status", CheckTask, with2(task, "status", "blocked"), false},
		{"task, id a number", CheckTask, with2(task, "id", 1), false},
		{"task without blockers", CheckTask, without(task, "blockedBy"), false},
		{"task, blockers numbers", CheckTask, with2(task, "blocks", []any{1}), false},
		{"task, owner a list", CheckTask, with2(task, "owner", []any{strings.Repeat("long", 20)}), false},
		{"team", CheckTeam, team, true},
		{"team of no role", CheckTeam, with2(team, "role", "boss"), false},
		{"team without members", CheckTeam, without(team, "members"), false},
		{"team, a bad member", CheckTeam, with2(team, "members", []any{object{}}), false},
		{"team, a bad task", CheckTeam, with2(team, "tasks", []any{task, 7}), false},
	} {
		if err := c.check([]byte(encode(c.value))); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	w := seen(story()...)
	for _, m := range w.state.Team.Members {
		if err := CheckMember([]byte(encode(m))); err != nil {
			t.Error(err)
		}
	}
	for _, k := range w.state.Team.Tasks {
		if err := CheckTask([]byte(encode(k))); err != nil {
			t.Error(err)
		}
	}
	if err := CheckTeam([]byte(encode(w.state.View()))); err != nil {
		t.Error(err)
	}
}

// with2 is a copy of o with one field set, or taken away for nil.
func with2(o object, key string, value any) object {
	c := object{}
	for k, v := range o {
		c[k] = v
	}
	if c[key] = value; value == nil {
		delete(c, key)
	}
	return c
}

func TestO21_Adapters(t *testing.T) {
	for name, want := range map[string]bool{
		"sdk-url": true, "agent-sdk": true, "stream-json": true, "transcript": true, "acp": false, "codex": false, "unheard of": false,
	} {
		if Capable(name) != want {
			t.Errorf("%s: teams %v", name, !want)
		}
	}
	if len(Adapters()) != 6 {
		t.Errorf("%v", Adapters())
	}
}

func TestO16_Observer(t *testing.T) {
	lines := join(create("c", "a"), spawn("s", "a", "ann"), task("t", "1"), update("u0", "1", object{"subject": "other"}),
		update("u1", "1", object{"status": inProgress, "owner": "ann"}), update("u2", "1", object{"status": completed}), []string{said("on")},
		update("u3", "1", object{"status": inProgress}),
		send("m1", object{"to": "ann", "message": "hi"}, object{"success": true}),
		send("m2", object{"type": "shutdown_request", "recipient": "ann"}, object{"request_id": "r@ann"}),
		send("m3", object{"type": "plan_approval_request", "content": "p", "request_id": "p"}, object{"success": true}),
		send("m4", object{"type": "plan_approval_response", "recipient": "ann", "request_id": "p", "approve": true}, object{"success": true}),
		send("m5", object{"type": "shutdown_response", "request_id": "r@ann", "approve": true}, object{"success": true}))
	o := NewObserver(strings.NewReader(strings.Join(lines, "\n")), State{})
	if o.TeamName() != "" {
		t.Error("a name before the team")
	}
	var kinds []string
	for d, err := range o.Events(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if o.TeamName() != "a" {
			t.Fatalf("%s: team %q", d.Kind(), o.TeamName())
		}
		kinds = append(kinds, d.Kind())
	}
	want := "member_joined task_created task_updated task_claimed task_completed idle member_idle member_active task_claimed " +
		"message shutdown_request plan_approval_request plan_approval_response shutdown_response member_left"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestO16_ObserverEnds(t *testing.T) {
	lines := strings.Join(story(), "\n")
	n := 0
	for range NewObserver(strings.NewReader(lines), State{}).Events(context.Background()) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d events after a break", n)
	}
	broken := errors.New("broken pipe")
	var last error
	for _, err := range NewObserver(&failing{strings.NewReader(lines), broken}, State{}).Events(context.Background()) {
		last = err
	}
	if !errors.Is(last, broken) {
		t.Errorf("ended with %v", last)
	}
	s := seen(create("c", "b")...).State()
	o := NewObserver(strings.NewReader(strings.Join(spawn("s", "b", "ann"), "\n")), s)
	if o.TeamName() != "b" {
		t.Errorf("goes on with %q", o.TeamName())
	}
	for d := range o.Events(context.Background()) {
		if m, ok := d.(*events.Member); !ok || m.Member.Name != "ann" {
			t.Errorf("event %s", encode(d))
		}
	}
}

// failing is a reader that ends with an error.
type failing struct {
	*strings.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil {
		err = f.err
	}
	return n, err
}
