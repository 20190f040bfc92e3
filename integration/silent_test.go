package integration_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// frozen stops the daemon of a machine, which says nothing any more. thaw lets it go on.
func frozen(r *rig) (thaw func()) {
	r.t.Helper()
	pid := into[api.DaemonStatus](r, "daemon", "status").PID
	thaw = func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
	r.t.Cleanup(thaw) // before the rig ends what is left
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		r.t.Fatal(err)
	}
	r.eventually("it has stopped", func() bool { return exetest.Stopped(pid) })
	return thaw
}

// runningIn are those of teammates that are not known to have ended.
func runningIn(r *rig, team string) (out []string) {
	for _, m := range into[[]api.Member](r, "ps", "--team", team) {
		out = append(out, m.Name)
	}
	slices.Sort(out)
	return out
}

// TestUpWithASilentMachine: one machine that says nothing keeps no teammate of the others from
// starting or ending. What is asked of it meanwhile is not done later either.
func TestUpWithASilentMachine(t *testing.T) {
	t.Parallel()
	engine, a, b := twoMachines(t)
	joined(engine, a, b)
	file := a.path("work", "team.yaml")
	sleeps := ", command: [sleep, '1000'], machine: "
	text := "team: beta\nengine: " + engine.URL + "\nmembers:\n- {name: near" + sleeps + "desk}\n" +
		"- {name: far" + sleeps + "hub, cwd: " + b.path("work") + "}\n- {name: last" + sleeps + "desk}\ntasks: [{subject: one, owner: far}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	up := func(exit int, args ...string) (result struct {
		Members []api.Member
		Missing []struct {
			Name, Machine string
			Error         fault.Error
		}
		OK bool
	}) {
		t.Helper()
		r := a.run(append([]string{"up", file, "--team", "beta", "--json"}, args...)...)
		if r.exit != exit || r.out != "" && json.Unmarshal([]byte(r.out), &result) != nil {
			t.Fatalf("up %v: exit %d, not %d\n%s%s", args, r.exit, exit, r.out, r.err)
		}
		if exit == 7 && !strings.Contains(r.err, `"code":"TIMEOUT","message":"1 of 3 teammates was not started: far: machine hub is silent for `) {
			t.Errorf("up %v: %s", args, r.err)
		}
		return result
	}

	thaw := frozen(b)
	if r := a.run("spawn", "ghost", "--machine", "hub", "--cwd", b.path("work"), "--", "sleep", "1000"); r.exit != 7 || !strings.Contains(r.err, "nothing was done there (TIMEOUT)") {
		t.Errorf("spawn: %d %s", r.exit, r.err)
	}
	if plan := up(7, "--dry-run"); len(plan.Missing) != 1 || plan.Missing[0].Name != "far" || plan.Missing[0].Error.Code != "TIMEOUT" {
		t.Errorf("the plan while hub is silent: %+v", plan)
	}
	if got := a.must("team", "ls"); strings.Contains(got, "beta") {
		t.Errorf("made by a dry run: %s", got)
	}
	first := up(7, "--detach")
	if len(first.Members) != 2 || len(first.Missing) != 1 || first.Missing[0].Machine != "hub" || first.Missing[0].Error.Code != "TIMEOUT" || first.OK {
		t.Errorf("up while hub is silent: %+v", first)
	}
	thaw()
	a.eventually("hub is back", func() bool { return strings.Count(a.must("machine", "ls"), "active") == 2 })
	b.must("ps", "--all")
	second := up(0, "--detach")
	if got := runningIn(a, "beta"); !slices.Equal(got, []string{"far", "last", "near"}) || second.Missing != nil {
		t.Fatalf("the second up: %v %+v", got, second)
	}
	for i, m := range second.Members { // in the order of the file
		if was := slices.IndexFunc(first.Members, func(o api.Member) bool { return o.Name == m.Name }); m.Name != []string{"near", "far", "last"}[i] || was >= 0 && first.Members[was].PID != m.PID {
			t.Errorf("after the second up: %+v", m)
		}
	}

	a.must("spawn", "near", "--", "sleep", "1000")
	b.must("spawn", "far", "--cwd", b.path("work"), "--", "sleep", "1000")
	if got := runningIn(b, "alpha"); !slices.Equal(got, []string{"far", "near"}) {
		t.Errorf("what was asked while hub was silent was done later: %v", got)
	}
	emptied := ended(engine.URL, a, b)
	thaw = frozen(b)
	emptied(7)
	if again := up(0, "--detach"); len(again.Members) != 3 || again.Missing != nil {
		t.Errorf("up of who runs while hub is silent: %+v", again)
	}
	for verb, team := range map[string]string{"stop": "alpha", "down": "beta"} {
		args := []string{verb, "--all", "--team", team, "--timeout", "1s", "--json"}
		if verb == "down" {
			args = []string{verb, team, "--timeout", "1s", "--json"}
		}
		r := a.run(args...)
		var ends api.Endings
		if err := json.Unmarshal([]byte(r.out), &ends); err != nil || r.exit != 7 || ends.OK || !strings.Contains(r.err, "far: machine hub is silent for ") {
			t.Fatalf("%s: %d %s%s", verb, r.exit, r.out, r.err)
		}
		for _, m := range ends.Members {
			if (m.Name == "far") != (m.Outcome == api.UnprovenStop) {
				t.Errorf("%s: %+v", verb, m)
			}
		}
		if got := runningIn(a, team); !slices.Equal(got, []string{"far"}) {
			t.Errorf("after %s: %v", verb, got)
		}
	}
	thaw()
	a.eventually("hub is back", func() bool { return a.member("far").State == api.StateActive })
	if got := runningIn(a, "beta"); !slices.Equal(got, []string{"far"}) {
		t.Errorf("what was UNPROVEN was done later: %v", got)
	}
	emptied(0)
	for _, team := range []string{"gamma", "delta", "beta", "alpha"} {
		a.must("down", team, "--timeout", "1s")
	}
}

// ended makes a team whose only teammate is stopped. Then up, of it and of one whose only other
// teammate ends at once, must end so, and remove neither team: later it adds who is missing.
func ended(engine string, a, b *rig) (up func(exit int)) {
	a.t.Helper()
	member := map[string]string{"delta": "", "gamma": "- {name: near, command: ['true'], machine: desk}\n"}
	for team, near := range member {
		text := "team: " + team + "\nengine: " + engine + "\nmembers:\n" + near + "- {name: far, command: [sleep, '1000'], machine: hub, cwd: " + b.path("work") + "}\n"
		if err := os.WriteFile(a.path("work", team+".yaml"), []byte(text), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	a.must("up", a.path("work", "delta.yaml"), "--team", "delta", "--detach")
	a.must("stop", "far", "--team", "delta", "--timeout", "1s")
	a.must("send", "team-lead", "keep this", "--team", "delta")
	return func(exit int) {
		a.t.Helper()
		var wg sync.WaitGroup
		for team := range member { // at once: each waits for the silent machine
			args := []string{"up", a.path("work", team+".yaml"), "--team", team}
			if exit == 0 {
				args = append(args, "--detach")
			}
			wg.Go(func() {
				if r := a.run(args...); r.exit != exit || strings.Contains(r.err, "is removed") {
					a.t.Errorf("up of %s: %d, not %d\n%s%s", team, r.exit, exit, r.out, r.err)
				}
			})
		}
		wg.Wait()
		for team := range member {
			if exit == 0 && !slices.Contains(runningIn(a, team), "far") {
				a.t.Errorf("far of %s does not run", team)
			}
		}
		if got := a.must("inbox", "--team", "delta"); !strings.Contains(got, "keep this") {
			a.t.Errorf("the mail of delta: %s", got)
		}
	}
}
