package integration_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXH08_AHostOfSomebodyElse: what a roster's entry or a host's record names is believed
// only if it is the member's own. A path, the host of another member or of another team, a
// stranger's number, a file as socket: stop ends nobody for it, and deletes nothing.
func TestXH08_AHostOfSomebodyElse(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		f := newForeignHost(t, r)
		own, a, x := hostRecord(r, "alpha", "d"), hostRecord(r, "alpha", "a"), hostRecord(r, "beta", "x")
		for _, tc := range []struct {
			host    string
			without string // a socket that is gone, so that its host does not answer
		}{
			{host: "x/../../../../precious/file1"}, {host: "../../../precious/file1"}, {host: a.Host}, {host: a.Host, without: a.Socket}, {host: x.Host},
		} {
			if tc.without != "" {
				if err := os.Remove(tc.without); err != nil {
					t.Fatal(err)
				}
			}
			was, err := os.ReadFile(r.path("base", "teams", "alpha", "config.json"))
			if err != nil {
				t.Fatal(err)
			}
			rewrite(r, "teams/alpha/config.json", `"`+own.Host+`"`, `"`+tc.host+`"`)
			f.stop("the roster has "+tc.host+" for d", true)
			plant(r, "teams/alpha/config.json", was)
		}
		if err := syscall.Kill(own.Process.PID, syscall.SIGKILL); err != nil { // else it says itself who it is
			t.Fatal(err)
		}
		r.eventually("d's host is gone", func() bool { return own.Process.Probe() == signals.Gone })
		delete(f.alive, "d")
		f.record("the stranger is d's host", true, func(rec *panes.HostRecord) { rec.Process = f.alive["a stranger"][0] })
		f.record("a's host is d's", true, func(rec *panes.HostRecord) { rec.Process = a.Process })
		f.record("a file is d's socket", false, func(rec *panes.HostRecord) { rec.Socket = r.path("precious", "file1") })
	})
}

// foreignHost is a member d of team alpha, of which something names what is not its own,
// and those who live beside it.
type foreignHost struct {
	*rig
	alive map[string][]signals.Identity
}

func newForeignHost(t *testing.T, r *rig) *foreignHost {
	t.Helper()
	if err := os.Mkdir(r.path("precious"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.path("precious", "file1"), []byte("precious\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &foreignHost{rig: r, alive: map[string][]signals.Identity{"a stranger": {r.stranger()}}}
	for _, of := range [][2]string{{"beta", "x"}, {"alpha", "a"}, {"alpha", "d"}} {
		if team, name := of[0], of[1]; name != "d" {
			r.team(team)
		}
		r.must("spawn", of[1], "-t", of[0], "--", "sleep", "1000")
	}
	for _, of := range [][2]string{{"beta", "x"}, {"alpha", "a"}, {"alpha", "d"}} {
		r.eventually(of[1]+" runs", func() bool { return len(r.processes(of[0], of[1])) == 2 })
		f.alive[of[1]] = r.processes(of[0], of[1])
	}
	return f
}

// stop tells d to end. What is foreign is left alone; d itself, too, if it is unproven that
// it is d.
func (f *foreignHost) stop(when string, unproven bool) {
	f.t.Helper()
	res := f.run("stop", "d", "-t", "alpha", "--timeout", "100ms", "--json")
	var ends api.Endings
	_ = json.Unmarshal([]byte(res.out), &ends)
	said := slices.ContainsFunc(ends.Members, func(e api.Ending) bool { return e.Outcome == api.UnprovenStop }) || strings.Contains(res.err, "CORRUPT_FILE")
	if unproven && (!said || ends.OK || res.exit == 0) {
		f.t.Errorf("%s: stop says %d, %s%s", when, res.exit, res.out, res.err)
	}
	for name, all := range f.alive {
		for _, id := range all {
			if state := id.Probe(); state != signals.Alive {
				f.t.Fatalf("%s: process %d of %s is %v\n%s%s", when, id.PID, name, state, res.out, res.err)
			}
		}
	}
	if text, err := os.ReadFile(f.path("precious", "file1")); err != nil || string(text) != "precious\n" {
		f.t.Fatalf("%s: the file is %q: %v\n%s%s", when, text, err, res.out, res.err)
	}
}

// record changes d's record of its host for one stop.
func (f *foreignHost) record(when string, unproven bool, change func(*panes.HostRecord)) {
	f.t.Helper()
	rec := hostRecord(f.rig, "alpha", "d")
	was, err := json.Marshal(rec)
	if err != nil {
		f.t.Fatal(err)
	}
	change(&rec)
	now, err := json.Marshal(rec)
	if err != nil {
		f.t.Fatal(err)
	}
	plant(f.rig, panes.OwnPath("alpha", "hosts", "d.json"), now)
	f.stop(when, unproven)
	plant(f.rig, panes.OwnPath("alpha", "hosts", "d.json"), was)
}
