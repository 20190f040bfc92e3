package integration_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// asksThere: what a teammate on another machine asks on its screen is a request here, too,
// and is answered from here. Its profile is known here alone.
func asksThere(a, b *rig) {
	a.t.Helper()
	if err := os.MkdirAll(a.path("home", "leadlight"), 0o700); err != nil {
		a.t.Fatal(err)
	}
	profile := "profiles:\n  asks: {kind: interactive, command: [x], ready: '^>\\s*$', asking: '\\(y/n\\)\\s*$', quiet: 60ms}\n"
	if err := os.WriteFile(a.path("home", "leadlight", "config.yaml"), []byte(profile), 0o600); err != nil {
		a.t.Fatal(err)
	}
	a.must("spawn", "asker", "--agent", "asks", "--machine", "hub", "--cwd", b.path("work"), "--", "sh", "-c", `printf 'Go on? (y/n) '; read -r x; echo "it was $x"; printf '> '; exec cat`)
	a.eventually("it asks", func() bool { return strings.Contains(a.must("requests"), "Go on? (y/n)") })
	a.eventually("it is told", func() bool {
		return strings.Contains(a.must("events", "--team", "alpha", "--type", "team:member:waiting"), "asker")
	})
	m := a.mcp(nil, "--enable-teams")
	if got, code := toolCall[map[string]any](m, "CapturePane", params{"team_name": "alpha", "name": "asker"}); code != "" || !strings.Contains(fmt.Sprint(got), "Go on?") {
		a.t.Errorf("a model sees %v, %s", got, code)
	}
	if got, code := toolCall[map[string]any](m, "TeamStatus", params{"team_name": "alpha"}); code != "" || !strings.Contains(fmt.Sprint(got), "machine:hub") {
		a.t.Errorf("a model is told %v, %s", got, code)
	}
	_ = m.Close()
	a.must("keys", "asker", "y", "Enter")
	a.eventually("it was answered", func() bool {
		return strings.Contains(a.must("capture", "asker"), "it was y") && !strings.Contains(a.must("requests"), "Go on?")
	})
	a.must("stop", "asker", "--force", "--timeout", "1s")
}

// answeredOnce: what was answered on one machine is not open on another, and is not answered
// again; of two answers at once one counts.
func answeredOnce(a, b *rig) {
	a.t.Helper()
	a.must("spawn", "planner", "--machine", "hub", "--cwd", b.path("work"), "--", "sleep", "1000")
	plan := func(text string) string {
		r := b.runEnv([]string{"LEADLIGHT_AGENT=planner"}, "plan", "submit", text)
		id := strings.TrimSpace(r.out)
		for _, m := range []*rig{a, b} {
			if got := m.must("requests"); r.exit != 0 || !strings.Contains(got, id) {
				a.t.Fatalf("the plan %s: %d %s%s", id, r.exit, r.err, got)
			}
		}
		return id
	}
	id := plan("first")
	a.must("approve", id)
	if got := b.must("requests"); strings.Contains(got, id) {
		a.t.Errorf("open on the other machine after its answer: %s", got)
	}
	if r := b.run("deny", id, "--reason", "no"); r.exit != 4 || !strings.Contains(r.err, "was approved already") {
		a.t.Errorf("answered again: %d %s", r.exit, r.err)
	}
	id = plan("second")
	yes, no := a.start(nil, "approve", id), b.start(nil, "deny", id, "--reason", "no")
	if y, n := yes.wait(), no.wait(); y.exit+n.exit != 4 {
		a.t.Errorf("answered at once: %d %s, and %d %s", y.exit, y.err, n.exit, n.err)
	}
	if got := b.must("inbox", "planner"); strings.Count(got, "(request "+id+")") != 1 {
		a.t.Errorf("answers: %s", got)
	}
	a.must("stop", "planner")
}

// attachedThere is a person who looks at a teammate on another machine.
func attachedThere(r *rig, name string) *person {
	r.t.Helper()
	p := r.sits(r.t, 24, 100, "attach", name)
	p.sees(r, "and then d leaves "+name+" on ")
	return p
}

// lookedAtThere: the dashboard shows a teammate of another machine, types into it, and goes to
// it.
func lookedAtThere(a, b *rig) {
	a.t.Helper()
	s := a.top("100x30") // far is the first
	s.shows("hello from the hub")
	s.press("Enter", "t", "o", "p", "Enter")
	b.eventually("it was typed", func() bool { return strings.Count(b.must("capture", "far"), "top") == 2 })
	s.press("F10", "f")
	s.shows("and then d leaves far on hub")
	s.press("C-\\", "d")
	s.shows("hub")
	s.press("q")
}

// talker echoes nothing by itself. It answers each line with the size of its terminal; to
// "flood" it writes parts of a quarter of a MiB, each when the one before was confirmed.
const talker = `stty -echo
echo ready
while read -r line; do
	case $line in
	flood)
		for part in 1 2 3 4 5 6 7 8 9 10 11 12; do
			seq ${part}000000 ${part}030000
			echo "end of $part"
			read -r line
		done ;;
	*) echo "got $line of $(stty size)" ;;
	esac
done`

// attachesThere: a person sees and types into a teammate on another machine as into one of
// here; several look; a flood arrives whole and in order.
func attachesThere(t *testing.T, a, b *rig) {
	t.Helper()
	a.must("spawn", "talker", "--machine", "hub", "--cwd", b.path("work"), "--", "sh", "-c", talker)
	a.eventually("it is ready", func() bool { return strings.Contains(a.must("capture", "talker"), "ready") })
	if got := a.must("attach", "talker"); !strings.HasPrefix(got, "leadlight attach talker --team alpha ") {
		t.Errorf("without a terminal: %q", got)
	}
	first := a.sits(t, 30, 100, "attach", "talker")
	first.sees(a, "ready")
	first.sees(a, "and then d leaves talker on hub")
	first.types("one\r")
	first.sees(a, "got one of 30 100")
	if err := pty.Setsize(first.tty, &pty.Winsize{Rows: 33, Cols: 111}); err != nil {
		t.Fatal(err)
	}
	a.eventually("the size is followed", func() bool {
		first.types("two\r")
		return first.has("got two of 33 111")
	})
	slow := a.sits(t, 26, 90, "attach", "talker")
	slow.sees(a, "got two")
	local := b.sits(t, 24, 80, "attach", "talker")
	local.sees(b, "got two")
	for _, r := range []*rig{a, b} { // a teammate may look, and not type, as it may press no keys
		as := *r
		as.env = append(slices.Clone(r.env), "LEADLIGHT_AGENT=far")
		p := as.sits(t, 20, 70, "attach", "talker")
		p.sees(r, "only the lead types into it")
		p.types("forbidden\r\x1cd")
		p.sees(r, "which goes on")
	}
	if err := slow.cmd.Process.Signal(syscall.SIGSTOP); err != nil { // from here on it takes nothing
		t.Fatal(err)
	}
	first.types("flood\r")
	for part := 1; part <= 12; part++ {
		first.sees(a, fmt.Sprintf("end of %d\r\n", part))
		if text := numbers(part*1000000, part*1000000+30000); !first.has(text) {
			t.Errorf("part %d is not whole", part)
		}
		first.types("\r")
	}
	first.types("last\r\x1cd") // all at once: what was typed before arrives
	first.sees(a, "left talker on hub, which goes on")
	if err := first.cmd.Wait(); err != nil {
		t.Errorf("detached: %v", err)
	}
	local.sees(b, "got last of ")
	if local.has("got forbidden") {
		t.Error("a teammate has typed")
	}
	killed := a.sits(t, 50, 120, "attach", "talker")
	killed.sees(a, "got last")
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	b.eventually("the size is that of who is left", func() bool {
		local.types("three\r")
		return local.has("got three of 24 80")
	})
	if err := slow.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	slow.sees(a, "took nothing of it for 5s, and was cut (LIMIT_REACHED)")
	slow.sees(a, "hint: leadlight attach talker")
	until := a.sits(t, 24, 80, "attach", "talker")
	until.sees(a, "got three")
	a.must("stop", "talker", "--timeout", "1s")
	until.sees(a, "talker on hub has ended")
	if err := until.cmd.Wait(); err != nil {
		t.Errorf("a viewer whose teammate ends: %v", err)
	}
	if p := a.sits(t, 24, 80, "attach", "talker"); p.cmd.Wait() == nil {
		t.Error("attached to one that has ended")
	} else {
		p.sees(a, "error")
	}
}

// numbers are those from one to another, as a terminal is sent them.
func numbers(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%d\r\n", i)
	}
	return b.String()
}
