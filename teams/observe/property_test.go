package observe

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// session draws the lines of a session that uses team tools in any order, well
// and badly, with other things in between.
func session(t *rapid.T) []string {
	names := rapid.SampledFrom([]string{"ann", "bob", "cid"})
	numbers := rapid.SampledFrom([]string{"1", "2", "3"})
	n := 0
	next := func() string { n++; return fmt.Sprintf("tu_%d", n) }
	step := rapid.Custom(func(t *rapid.T) []string {
		id := next()
		switch rapid.IntRange(0, 14).Draw(t, "step") {
		case 0:
			return create(id, "a")
		case 1:
			return disband(id, "a")
		case 2, 3:
			return spawn(id, "a", names.Draw(t, "name"))
		case 4, 5:
			return task(id, numbers.Draw(t, "number"))
		case 6, 7, 8:
			with := object{"status": rapid.SampledFrom([]string{pending, inProgress, completed, deleted}).Draw(t, "status")}
			if rapid.Bool().Draw(t, "owned") {
				with["owner"] = names.Draw(t, "owner")
			}
			lines := update(id, numbers.Draw(t, "number"), with)
			if rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
				lines[1] = failure(id, "no")
			}
			return lines
		case 9:
			return update(id, numbers.Draw(t, "number"), object{"addBlockedBy": []any{numbers.Draw(t, "blocker")}})
		case 10:
			name := names.Draw(t, "name")
			return send(id, object{"type": "shutdown_request", "recipient": name}, object{"request_id": "r@" + name})
		case 11:
			return send(id, object{"type": "shutdown_response", "request_id": "r@" + names.Draw(t, "name"), "approve": rapid.Bool().Draw(t, "yes")}, object{"success": true})
		case 12:
			name := names.Draw(t, "name")
			kind := rapid.SampledFrom([]string{"idle_notification", "shutdown_approved", "shutdown_rejected"}).Draw(t, "kind")
			return []string{mailed(id, name, encode(object{"type": kind, "from": name, "requestId": "r@" + name}))}
		case 13:
			return []string{said("words"), "noise", ""}
		}
		return []string{`{"type":"system","subtype":"init","session_id":"S1","agents":["Explore"]}`, `{"type":"result"}`}
	})
	lines := slices.Concat(rapid.SliceOfN(step, 1, 25).Draw(t, "session")...)
	if rapid.Bool().Draw(t, "parallel") && len(lines) > 3 { // a use before the result of another
		if i := rapid.IntRange(1, len(lines)-2).Draw(t, "swap"); strings.Contains(lines[i], "tool_result") && strings.Contains(lines[i+1], `"tool_use"`) {
			lines[i], lines[i+1] = lines[i+1], lines[i]
		}
	}
	return lines
}

// told is what a consumer could tell two states apart by.
func told(w *watch) string {
	return encode(w.state.View()) + short(w.state.Team) + strings.Join(w.state.Agents, " ")
}

func TestPrefixAndReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := session(t)
		want := told(seen(lines...).close())
		cut := rapid.IntRange(0, len(lines)).Draw(t, "cut")
		back := rapid.IntRange(0, cut).Draw(t, "back")
		first := seen(lines[:cut]...)
		if rapid.Bool().Draw(t, "closed") {
			first.close()
		}
		b := encode(first.State())
		var state State
		if err := state.UnmarshalJSON([]byte(b)); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		if got := told(watching(state).feed(lines[back:]...).close()); got != want {
			t.Fatalf("%d lines, then again from %d:\n got %s\nwant %s\nstream\n%s", cut, back, got, want, strings.Join(lines, "\n"))
		}
	})
}

func TestDuplication(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := session(t)
		want := told(seen(lines...).close())
		var doubled []string
		for i, l := range lines {
			for range rapid.IntRange(1, 3).Draw(t, fmt.Sprintf("times %d", i)) {
				doubled = append(doubled, l)
			}
		}
		if got := told(seen(doubled...).close()); got != want {
			t.Fatalf("\n got %s\nwant %s\nstream\n%s", got, want, strings.Join(doubled, "\n"))
		}
	})
}

func TestOtherSessionsPassUnchanged(t *testing.T) {
	line := rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.String(), said),
		rapid.Map(rapid.String(), func(s string) string { return use("b", "Bash", object{"command": s, "name": "ann", "team_name": "a"}) }),
		rapid.Map(rapid.String(), func(s string) string { return use("s", "Task", object{"prompt": s}) }),
		rapid.Map(rapid.String(), func(s string) string { return result("b", s, nil) }),
		rapid.Map(rapid.String(), func(s string) string { return mailed("m", "ann", s) }),
		rapid.Just(`{"type":"system","subtype":"init","tools":["Task","TaskCreate"],"agents":["Plan"]}`),
		rapid.SampledFrom([]string{"\xef\xbb\xbf", "\r", "{", `{"type":"assistant"`, "\x00", "[]"}),
	)
	rapid.Check(t, func(rt *rapid.T) {
		var stream []byte
		for i, l := range rapid.SliceOf(line).Draw(rt, "lines") {
			if i > 0 {
				stream = append(stream, rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(rt, "end")...)
			}
			stream = append(stream, strings.ReplaceAll(l, "team", "t")...)
		}
		if bytes.HasPrefix(trim(stream), []byte("[")) {
			stream = append([]byte("{}\n"), stream...) // else it may be an array, whose elements become lines
		}
		if out, _ := observed(t, stream, EmitMessages); !bytes.Equal([]byte(out), stream) {
			rt.Fatalf("%q became %q", stream, out)
		}
		for _, emit := range []Emit{EmitEvents, EmitState} {
			if out, _ := observed(t, stream, emit); out != "" {
				rt.Fatalf("%q gave %q", stream, out)
			}
		}
	})
}

// However a stream is cut into chunks, the same lines come out of it.
func TestSplitter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := []byte(strings.Join(rapid.SliceOf(rapid.StringMatching(`[ab]{0,12}`)).Draw(t, "lines"), "\n"))
		limit := rapid.IntRange(1, 10).Draw(t, "limit")
		split := func(cuts []int) (all, lines, long string) {
			s := splitter{limit: limit}
			take := func(b []byte, p piece) error {
				all += string(b)
				switch p {
				case whole:
					if len(bytes.TrimSuffix(b, []byte("\n"))) > limit {
						t.Fatalf("%q is longer than %d", b, limit)
					}
					lines += string(b)
				case last:
					long += fmt.Sprint(s.skipped, " ")
				}
				return nil
			}
			from := 0
			for _, to := range append(cuts, len(stream)) {
				if err := s.feed(stream[from:to], take); err != nil {
					t.Fatal(err)
				}
				from = to
			}
			return all + string(s.rest()), lines, long
		}
		var wantLines string
		for line := range strings.Lines(string(stream)) {
			if text, ended := strings.CutSuffix(line, "\n"); ended && len(text) <= limit {
				wantLines += line
			}
		}
		cuts := rapid.SliceOf(rapid.IntRange(0, len(stream))).Draw(t, "cuts")
		slices.Sort(cuts)
		all, lines, long := split(cuts)
		_, _, wantLong := split(nil)
		if all != string(stream) || lines != wantLines || long != wantLong {
			t.Fatalf("%q cut at %v: %q, lines %q want %q, long %q want %q", stream, cuts, all, lines, wantLines, long, wantLong)
		}
	})
}
