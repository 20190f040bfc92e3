package observe

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/events"
)

// sample is the state after a stream of testdata/observe.
func sample(t *testing.T, name string) *watch {
	t.Helper()
	_, stream := archive(t, name)
	return seen(strings.SplitAfter(string(stream), "\n")...).close()
}

func states(t *testing.T, stream []byte) string {
	t.Helper()
	out, _ := observed(t, stream, EmitState)
	return out
}

// longStory is the lifecycle with one line of about that many bytes in it.
func longStory(t *testing.T, size int) []byte {
	_, stream := archive(t, "s01-lifecycle")
	first, rest, _ := bytes.Cut(stream, []byte("\n"))
	long := result("tu_0", strings.Repeat("x", size), nil)
	return bytes.Join([][]byte{first, []byte(long), rest}, []byte("\n"))
}

// https://github.com/kelos-dev/kelos/issues/1188,
// https://github.com/specstoryai/getspecstory/issues/108
func TestOB01_LongLines(t *testing.T) {
	_, plain := archive(t, "s01-lifecycle")
	want := states(t, plain)
	for _, c := range []struct {
		size    int
		skipped bool
	}{{1_200_000, false}, {15 << 20, false}, {80 << 20, true}} {
		if testing.Short() && c.size > 2<<20 {
			continue
		}
		stream := longStory(t, c.size)
		if got := states(t, stream); got != want {
			t.Errorf("%d bytes: %s", c.size, got)
		}
		out, warnings := observed(t, stream, EmitEvents)
		if strings.Contains(warnings, "longer than the limit of 67108864") != c.skipped || strings.Count(out, "\n") != 8 {
			t.Errorf("%d bytes: warnings %q", c.size, warnings)
		}
	}
}

// The long line itself holds what a team did.
func TestOB01_LongTeamLine(t *testing.T) {
	lines := join(create("c", "a"), []string{
		use("t", "TaskCreate", object{"subject": "s", "description": strings.Repeat("d", 3<<20)}), result("t", "Task #1 created", nil)})
	w := seen(lines...)
	if k := w.state.Team.Task("1"); k == nil || len(k.Description) != 3<<20 {
		t.Error("the task is not as it was made")
	}
}

// A line above the limit passes unchanged and costs no memory.
func TestOB01_BoundedMemory(t *testing.T) {
	const size = 200 << 20
	head, tail := strings.Join(create("c", "a"), "\n")+"\n", "\n"+strings.Join(spawn("s", "a", "ann"), "\n")+"\n"
	in := io.MultiReader(strings.NewReader(head), io.LimitReader(filler{}, size), strings.NewReader(tail))
	var count counter
	var warnings bytes.Buffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := Run(context.Background(), Options{In: in, Out: &count, Warn: &warnings, Emit: EmitMessages, MaxLine: 8 << 20})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if count.n < size || !strings.Contains(warnings.String(), "longer than the limit of 8388608") {
		t.Errorf("%d bytes out; %s", count.n, warnings.String())
	}
	if count.last == "" || !strings.Contains(count.last, `"teamToolUseId":"s"`) {
		t.Errorf("the stream did not go on: %q", count.last)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 { // all that was ever allocated, freed or not
		t.Errorf("%d MiB for a line of %d MiB", used>>20, size>>20)
	}
}

type filler struct{}

func (filler) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// counter counts what is written and keeps the end of it.
type counter struct {
	n    int64
	last string
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	c.last = string(p[max(0, len(p)-4096):])
	return len(p), nil
}

// https://github.com/anthropics/claude-agent-sdk-python/pull/156
func TestOB03_Noise(t *testing.T) {
	w := sample(t, "s08-noise")
	if s := w.Stats(); s.Skipped != 3 {
		t.Errorf("stats %+v", s)
	}
	_, stream := archive(t, "s08-noise")
	var clean []byte
	for line := range bytes.Lines(stream) {
		if bytes.HasPrefix(line, []byte("{")) {
			clean = append(clean, line...)
		}
	}
	if states(t, stream) != states(t, clean) {
		t.Error("noise made a difference")
	}
}

func TestOB03_BOMAndCRLF(t *testing.T) {
	_, plain := archive(t, "s01-lifecycle")
	_, stream := archive(t, "s20-bom-crlf")
	if !bytes.HasPrefix(stream, bom) || !bytes.Contains(stream, []byte("\r\n")) {
		t.Fatal("the sample is not what it should be")
	}
	if states(t, stream) != states(t, plain) {
		t.Error("not the same state")
	}
	out, _ := observed(t, stream, EmitMessages)
	var own []byte
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, `{"type":"team_`) {
			own = append(own, line...)
		}
	}
	if !bytes.Equal(own, stream) {
		t.Error("the stream's own bytes changed")
	}
}

// https://github.com/phiat/claude-esp/pull/15
func TestOB05_NewTypes(t *testing.T) {
	w := sample(t, "s11-unknown-types")
	w.is(t, "alpha/lead")
	if s := w.Stats(); s.Foreign != 3 || s.Skipped != 1 {
		t.Errorf("stats %+v", s)
	}
}

// https://github.com/hrntknr/claude-code-protocol
func TestOB06_DeletedNothing(t *testing.T) {
	w := sample(t, "s04-delete-nothing")
	w.is(t, "alpha/lead")
	w.told(t, "created")
	w.warned(t, "nothing to clean up")
}

// https://github.com/anthropics/claude-code/issues/25371
func TestOB07_FailureWithoutFlag(t *testing.T) {
	w := sample(t, "s03-delete-refused")
	w.is(t, "alpha/lead builder:active #1:pending")
	if r := w.state.Team.Refusals; len(r) != 1 || r[0].ToolName != "TeamDelete" || !strings.Contains(r[0].Message, "active member") {
		t.Errorf("refusals %+v", r)
	}
	w = sample(t, "s17-error-result")
	w.is(t, "alpha/lead #1:pending")
	if r := w.state.Team.Refusals; len(r) != 1 || r[0].Message != "Task not found" {
		t.Errorf("refusals %+v", r)
	}
}

// The recorded client says so, too: the first delete is refused without a flag.
func TestOB07_Recorded(t *testing.T) {
	_, stream := archive(t, "stream-2.1.41")
	lines := strings.Split(strings.TrimSpace(string(stream)), "\n")
	w := seen(lines[:38]...)
	if !w.state.Team.known() || len(w.state.Team.Refusals) != 1 {
		t.Errorf("after the refusal: %s", short(w.state.Team))
	}
	if w.feed(lines[38:]...); w.state.Team != nil {
		t.Errorf("at the end: %s", short(w.state.Team))
	}
}

// https://github.com/anthropics/claude-code/issues/68721
func TestOB09_BothGenerations(t *testing.T) {
	sample(t, "s02-implicit-team").is(t, "session-1a2b3c4d/lead qa:active")
	for name, team := range map[string]string{
		"transcript-2.1.41-tmux-inside-team-lead": "demo-team", "transcript-2.1.177-standard-team-lead": "demo-team",
		"transcript-2.1.240-standard-team-lead": "session-8de0cf81", "transcript-2.1.332-tmux-inside-team-lead": "session-72420259",
		"transcript-2.1.332-in-process-team-lead": "session-6da37dec",
	} {
		w := sample(t, name)
		made, ok := w.events[0].Data.(*events.Team)
		if !ok || made.TeamName != team || made.Role != RoleLead {
			t.Errorf("%s begins with %s", name, encode(w.events[0]))
		}
		if names := w.names(); strings.Count(names, "member:joined(alice) ") != 1 || strings.Count(names, "member:joined(bob) ") != 1 ||
			strings.Count(names, "task:created ") != 2 {
			t.Errorf("%s: %s", name, names)
		}
	}
	if w := sample(t, "stream-2.1.332"); w.state.View() != nil || len(w.events) != 0 || len(w.messages) == 0 {
		t.Errorf("named subagents are no team: %s", w.names())
	}
}

// https://github.com/hrntknr/claude-code-protocol
func TestOB13_ContentShapes(t *testing.T) {
	w := sample(t, "s13-content-shapes")
	w.is(t, "/teammate #1:pending #2:pending #3:pending") // a list without a team, and so without events
	if w.state.View() != nil {
		t.Error("a team from nothing")
	}
	_, stream := archive(t, "s13-content-shapes")
	joined := string(stream) + strings.Join(spawn("s", "alpha", "ann"), "\n") + "\n"
	seen(strings.SplitAfter(joined, "\n")...).is(t, "alpha/teammate ann:active #1:pending #2:pending #3:pending")
	if _, warnings := observed(t, stream, EmitState); !strings.Contains(warnings, "own list: 3") {
		t.Errorf("warnings %q", warnings)
	}
}

// https://github.com/hrntknr/claude-code-protocol
func TestOB14_InitEveryTurn(t *testing.T) {
	_, plain := archive(t, "s01-lifecycle")
	_, stream := archive(t, "s15-many-inits")
	if states(t, stream) != states(t, plain) {
		t.Error("an init made a difference")
	}
	if bytes.Count(stream, []byte(`"init"`)) < 2 {
		t.Fatal("the sample is not what it should be")
	}
}

// https://github.com/anthropics/claude-agent-sdk-python/pull/156
func TestOB16_CutTail(t *testing.T) {
	_, cut := archive(t, "s07-cut-tail")
	_, plain := archive(t, "s01-lifecycle")
	whole := cut[:bytes.LastIndexByte(cut, '\n')+1]
	if states(t, cut) != states(t, whole) {
		t.Error("the torn line made a difference")
	}
	if _, warnings := observed(t, cut, EmitEvents); strings.Count(warnings, "\n") != 1 || !strings.Contains(warnings, "ends within a line") {
		t.Errorf("warnings %q", warnings)
	}
	if out, _ := observed(t, cut, EmitMessages); !strings.HasSuffix(out, string(cut[len(whole):])) {
		t.Error("the torn line did not pass")
	}
	path := filepath.Join(t.TempDir(), "stream.jsonl")
	if err := os.WriteFile(path, cut, 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, Options{File: path, Follow: true})
	r.out.await(t, "team:message:sent")
	appendTo(t, path, string(plain[len(cut):]))
	r.out.await(t, "team:deleted")
	_ = r.stop(t)
	want, _ := observed(t, plain, EmitEvents)
	if r.out.String() != want || r.warn.String() != "" {
		t.Errorf("got %s\n%s", r.out.String(), r.warn.String())
	}
}
