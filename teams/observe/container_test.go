package observe

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// asArray makes one JSON array of a stream's objects, in one of the forms that
// programs write.
func asArray(t testing.TB, stream []byte, indent bool) []byte {
	t.Helper()
	all := []json.RawMessage{}
	for line := range bytes.Lines(stream) {
		if line = trim(line); json.Valid(line) && isObject(line) {
			all = append(all, line)
		}
	}
	marshal := json.Marshal
	if indent {
		marshal = func(v any) ([]byte, error) { return json.MarshalIndent(v, "", "\t") }
	}
	data, err := marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestXF09_OneArray: a stream that is one JSON array says the same as its lines.
func TestXF09_OneArray(t *testing.T) {
	for _, name := range samples(t) {
		_, stream := archive(t, name)
		if name == "s14-line-1200KB" {
			continue
		}
		var clean []byte
		for line := range bytes.Lines(stream) {
			if b := trim(line); json.Valid(b) && isObject(b) {
				clean = append(append(clean, b...), '\n')
			}
		}
		want, _ := observed(t, clean, EmitEvents)
		for _, indent := range []bool{false, true} {
			if got, _ := observed(t, append([]byte("\xef\xbb\xbf \n"), asArray(t, clean, indent)...), EmitEvents); got != want {
				t.Errorf("%s, indented %v:\n got %s\nwant %s", name, indent, got, want)
			}
		}
	}
}

// However an array is cut into chunks, the same lines come out of it; and what is no
// array passes as it is.
func TestUnwrapInChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := []byte(rapid.SampledFrom([]string{
			`[{"a":"x]},{"},{"b":[1,{"c":"\\\""}]}]`, " [ {\"a\":1}\n,\n{\"b\":\n2} ] \n{\"c\":3}\n", `{"a":1}`, "[12:03] started\n{\"a\":1}\n", "[]", "", "\ufeff[{}]", "[",
		}).Draw(t, "stream"))
		whole := unwrapAll(stream, len(stream)+1)
		if got := unwrapAll(stream, rapid.IntRange(1, 5).Draw(t, "chunk")); !bytes.Equal(got, whole) {
			t.Fatalf("%q in chunks: %q, want %q", stream, got, whole)
		}
		if !bytes.HasPrefix(trim(stream), []byte("[{")) && !bytes.HasPrefix(trim(stream), []byte("[ {")) && !bytes.Equal(whole, stream) {
			t.Fatalf("%q became %q", stream, whole)
		}
	})
	if got := string(unwrapAll([]byte(" [ {\"a\":\n1}\n,{\"b\":2} ] \n{\"c\":3}\n"), 99)); got != "{\"a\": 1}\n{\"b\":2}\n \n{\"c\":3}\n" {
		t.Errorf("got %q", got)
	}
}

func unwrapAll(stream []byte, size int) []byte {
	var u unwrapper
	var out []byte
	for len(stream) > 0 {
		n := min(size, len(stream))
		out = append(out, u.feed(bytes.Clone(stream[:n]))...)
		stream = stream[n:]
	}
	return append(out, u.rest()...)
}

// FuzzContainer: in every form, cut anywhere, a stream is read without a panic, and an
// array says what its lines say.
func FuzzContainer(f *testing.F) {
	addSamples(f, func(stream []byte) {
		if len(stream) < 8192 {
			f.Add(stream, uint16(len(stream)/2))
			f.Add(asArray(f, stream, true), uint16(7))
		}
	})
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		observed(t, stream[:min(int(cut), len(stream))], EmitState)
		array := asArray(t, stream, cut%2 == 0)
		if bytes.Equal(array, []byte("[]")) {
			return
		}
		var elements []json.RawMessage
		if err := json.Unmarshal(array, &elements); err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(bytes.TrimSuffix(unwrapAll(array, int(cut)%31+1), []byte("\n")), []byte("\n")) {
			if i >= len(elements) || !sameJSON(line, elements[i]) {
				t.Fatalf("element %d of %q became %q", i, array, line)
			}
		}
	})
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// in says that lines belong to another session.
func in(session string, lines ...string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.Replace(l, `"session_id":"S1"`, `"session_id":"`+session+`"`, 1))
	}
	return out
}

// TestXF09_SessionsApart: two sessions in one file have a state each, also when their
// lines are mixed, and after a restart.
func TestXF09_SessionsApart(t *testing.T) {
	w := seen(join(create("c", "a"), task("k1", "1"))...)
	w.feed(in("S2", join(create("c2", "b"), task("k2", "1"), task("k3", "2"))...)...).is(t, "b/lead #1:pending #2:pending")
	w.feed(update("u1", "1", object{"status": completed})...).is(t, "a/lead #1:completed")
	var back State
	b, err := json.Marshal(w.State())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	again := watching(back)
	again.feed(in("S2", update("u2", "2", object{"status": completed})...)...).is(t, "b/lead #1:pending #2:completed")
	if again.state.Seq != w.state.Seq+1 {
		t.Errorf("event %d after %d", again.state.Seq, w.state.Seq)
	}
}

// TestXF09_ResultsWithoutTheirUse: a stream that begins in the middle still tells what
// its results say.
func TestXF09_ResultsWithoutTheirUse(t *testing.T) {
	w := seen(
		result("t1", "", object{"team_name": "a", "team_file_path": "/h/teams/a/config.json", "lead_agent_id": "team-lead@a"}),
		result("t2", "", object{"status": "teammate_spawned", "team_name": "a", "name": "ann", "agent_id": "ann@a"}),
		result("t3", "", object{"task": object{"id": "1", "subject": "one"}}),
		result("t4", "", object{"success": true, "taskId": "1", "statusChange": object{"from": "pending", "to": "in_progress"}}),
	)
	w.is(t, "a/lead ann:active #1:in_progress")
	w.feed(result("t5", "", object{"success": true, "team_name": "a", "message": `Cleaned up directories for team "a"`})).is(t, "none")
	w = seen(
		result("t1", "", object{"team_name": "a", "team_file_path": "/h/teams/a/config.json", "lead_agent_id": "team-lead@a"}),
		result("t2", "Spawned successfully.\nagent_id: ann@a\nname: ann\nteam_name: a\nThe agent is now running", nil),
		result("t3", "Task #7 created successfully: Mend it", nil),
		result("t4", "", object{"success": true, "message": "Message sent to ann's inbox", "routing": object{"sender": "team-lead", "target": "@ann", "summary": "s", "content": "hi"}}),
		result("t5", "", object{"success": true, "message": "Message broadcast to 1 teammate(s): ann", "routing": object{"sender": "team-lead", "target": "@team", "content": "all"}}),
		result("t6", "", object{"success": true, "message": "Shutdown request sent to ann. Request ID: shutdown-1@ann", "request_id": "shutdown-1@ann", "target": "ann"}),
		result("t7", "", object{"success": true, "message": `Shutdown rejected. Reason: "busy". Continuing to work.`, "request_id": "shutdown-1@ann"}),
	)
	w.told(t, "created member:joined(ann) task:created message:sent(team-lead) message:sent(team-lead) shutdown:requested(ann) shutdown:response(ann)")
	if got := w.state.Team.Task("7"); got == nil || got.Subject != "Mend it" {
		t.Errorf("%+v", w.state.Team)
	}
	w.feed(result("t8", "", object{"success": true, "message": "Shutdown approved. Sent confirmation to team-lead. Agent ann is now exiting.", "request_id": "shutdown-1@ann"})).
		is(t, "a/lead ann:shutdown(approved) #7:pending")
	for _, nothing := range []object{{"success": false, "taskId": "1", "statusChange": object{"to": "completed"}}, {"task": object{"id": "1", "subject": "s", "status": "completed"}}, {"team_name": "a"}} {
		if w := seen(result("x", "", nothing)); w.state.Team != nil {
			t.Errorf("%v: %s", nothing, short(w.state.Team))
		}
	}
}

// TestXF09_EndsInItsApproval: a teammate that approves its end gets no result any more.
func TestXF09_EndsInItsApproval(t *testing.T) {
	w := seen(join(create("c", "a"), spawn("s", "a", "ann"))...)
	w.feed(by("s", use("m", "SendMessage", object{"type": "shutdown_response", "request_id": "r@ann", "approve": true})))
	w.close().is(t, "a/lead ann:shutdown(approved)")
	w = seen(join(create("c", "a"), spawn("s", "a", "ann"))...)
	w.feed(by("s", use("m", "SendMessage", object{"type": "shutdown_response", "request_id": "r@ann", "approve": false})))
	w.close().is(t, "a/lead ann:active")
}

// TestXF09_ARestoredStateIsShown: who asks for states sees the one to go on from.
func TestXF09_ARestoredStateIsShown(t *testing.T) {
	state := seen(join(create("c", "a"), spawn("s", "a", "ann"))...).State()
	var out bytes.Buffer
	if err := Run(t.Context(), Options{In: strings.NewReader(""), Out: &out, Emit: EmitState, Load: func() (State, error) { return state, nil }}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, `{"name":"a","role":"lead"`) || !strings.Contains(got, `"agents":["ann"]`) {
		t.Errorf("got %q", got)
	}
}

// TestXF09_WhatIsNotUnderstoodIsTold: an unknown tool once, a teammate of another team each
// time.
func TestXF09_WhatIsNotUnderstoodIsTold(t *testing.T) {
	lines := join(create("c", "a"), []string{use("z1", "TeamRename", object{}), use("z2", "TeamRename", object{})}, spawn("s", "b", "bob"))
	var warned bytes.Buffer
	if err := Run(t.Context(), Options{In: strings.NewReader(strings.Join(lines, "\n")), Out: io.Discard, Warn: &warned}); err != nil {
		t.Fatal(err)
	}
	if got := warned.String(); strings.Count(got, "TeamRename") != 1 || strings.Count(got, "another team, b") != 1 {
		t.Errorf("warned %q", got)
	}
}

// TestXF01_AddressesAreNames: a member is meant by its name and by its address, as owner, as
// recipient and in the id of a request.
func TestXF01_AddressesAreNames(t *testing.T) {
	w := seen(join(create("c", "a"), spawn("s", "a", "ann"), task("1", "1"),
		update("u1", "1", object{"status": inProgress, "owner": "ann@a"}), update("u2", "1", object{"status": completed}), []string{said("next")},
		send("m1", object{"to": "ann@a", "message": "hi"}, object{"success": true}),
		send("m2", object{"type": "shutdown_request", "recipient": "ann@a"}, object{"request_id": "r@ann@a"}),
		send("m3", object{"type": "shutdown_response", "request_id": "r@ann@a", "approve": true}, object{"success": true}),
	)...)
	w.is(t, "a/lead ann:shutdown(approved) #1:completed@ann")
	w.told(t, "created member:joined(ann) task:created task:claimed(ann) task:completed(ann) member:idle(ann) "+
		"message:sent(team-lead) shutdown:requested(ann) shutdown:response(ann) member:shutdown(ann)")
}

// TestXS02_TheFirstUseDecidesTheRole, whichever result comes first; and who is not
// known to lead does not send in the lead's name.
func TestXS02_TheFirstUseDecidesTheRole(t *testing.T) {
	made, started := create("c", "a"), spawn("s", "a", "ann")
	w := seen(made[0], started[0], started[1], made[1])
	w.is(t, "a/lead ann:active")
	w.told(t, "created member:joined(ann)")
	w = seen(join(started, send("m", object{"to": "ann", "message": "hi"}, object{"success": true}))...)
	w.is(t, "a/teammate ann:active")
	w.told(t, "created member:joined(ann) message:sent")
}

// TestXS01_WhatASessionSendsIsSent: and programs that know it by another name are told so.
func TestXS01_WhatASessionSendsIsSent(t *testing.T) {
	w := seen(join(create("c", "a"), spawn("s", "a", "ann"), send("m", object{"to": "ann", "message": "hi"}, object{"success": true}))...)
	w.told(t, "created member:joined(ann) message:sent(team-lead)")
	page, err := os.ReadFile("../../docs/observe.md")
	if err != nil || !strings.Contains(string(page), "| `team:message:received` for what the session sends | `team:message:sent` |") {
		t.Errorf("docs/observe.md does not name the other name of the event: %v", err)
	}
}

// TestXS04_APersonTakesLonger: a use that waits for a person's leave is not forgotten.
func TestXS04_APersonTakesLonger(t *testing.T) {
	w := seen(create("c", "a")...)
	asked := spawn("s", "a", "ann")
	w.feed(asked[0])
	w.take(w.Quiet(10 * time.Second))
	w.now = w.now.Add(5 * time.Minute)
	w.feed(asked[1]).is(t, "a/lead ann:active")
}
