package teams_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// desk is a base directory with real files and no terminal: what can be done
// without a pane.
type desk struct {
	t    *testing.T
	base string
	fs   *claudefs.FS
	mail store.Mail // nil: that of fs

	roster store.Roster // nil: that of fs
	tasks  store.Tasks  // nil: that of fs
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	base := t.TempDir()
	fs, err := claudefs.Open(base, claudefs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fs.Close(); err != nil {
			t.Error(err)
		}
	})
	return &desk{t: t, base: base, fs: fs}
}

// as returns the verbs as somebody uses them: "" is the lead in a shell.
func (d *desk) as(name string) *teams.Service {
	return d.serve(teams.Caller{Name: name, Teammate: name != "" && name != store.Lead})
}

func (d *desk) serve(who teams.Caller) *teams.Service {
	noTerminal := func(context.Context) (panes.Choice, error) {
		return panes.Choice{}, fault.New(fault.BackendUnavailable, "no terminal here")
	}
	roster := cmp.Or(d.roster, d.fs.Roster())
	return teams.New(teams.Config{
		Base: d.base, Roster: roster, Mail: cmp.Or(d.mail, d.fs.Mail(nil)), Tasks: cmp.Or(d.tasks, d.fs.Tasks()), Cwd: d.base,
		Panes: panes.NewManager(panes.Options{Dir: d.fs.Dir(), Base: d.base, Runtime: d.t.TempDir(), Environ: os.Environ(), Choose: noTerminal,
			Claims: teams.Claims(roster, panes.NewRecords(d.fs.Dir())),
			Open: func(string, string) (backend.Backend, error) {
				return nil, fault.New(fault.BackendUnavailable, "no terminal here")
			}}),
		Caller: who,
		Trust:  func(string, []hooks.Hook) bool { return true },
	})
}

// team makes a team of ours whose members are said to run in this process.
func (d *desk) team(name string, members ...store.Member) {
	d.t.Helper()
	if _, err := d.as("").CreateTeam(d.t.Context(), teams.TeamSpec{Name: name, Description: "for a test"}); err != nil {
		d.t.Fatal(err)
	}
	for _, m := range members { // as a spawn leaves it
		if err := lock.Make(d.fs.Dir(), panes.HostLock(name, m.Name)); err != nil {
			d.t.Fatal(err)
		}
	}
	err := d.fs.Roster().Update(d.t.Context(), name, func(t *store.Team) error {
		t.Members = append(t.Members, members...)
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// running is a member on its way: it counts as live.
func running(name string) store.Member {
	now := time.Now()
	return store.Member{Name: name, AgentID: name + "@alpha", Color: "blue", JoinedAt: now, Leadlight: &store.Bookkeeping{Host: uuid.NewString(), Kind: "plain", State: api.StateStarting, SpawnedAt: &now}}
}

func stopped(name string) store.Member {
	m := running(name)
	m.Leadlight.State, m.Leadlight.Reason = api.StateStopped, "pane closed"
	return m
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); got != code {
		t.Errorf("got %q (%v), want %s", got, err, code)
	}
}

func TestA01_A02_M01_CreateTeam(t *testing.T) {
	d := newDesk(t)
	got, err := d.as("").CreateTeam(t.Context(), teams.TeamSpec{Name: "code-review", Description: "Look at it"})
	if err != nil {
		t.Fatal(err)
	}
	if got.LeadAgentID != "team-lead@code-review" || got.Mailbox != "claude" || got.LedBy != "leadlight" || len(got.Members) != 1 {
		t.Errorf("got %+v", got)
	}
	for _, p := range []string{"teams/code-review/config.json", "teams/code-review/inboxes", "tasks/code-review"} {
		if _, err := os.Stat(filepath.Join(d.base, p)); err != nil {
			t.Error(err)
		}
	}
	_, err = d.as("").CreateTeam(t.Context(), teams.TeamSpec{Name: "code-review", Description: "Again"})
	wantCode(t, err, fault.TeamExists)
	if f := fault.Of(err); !strings.Contains(f.Message, "made by leadlight") || !strings.Contains(f.Hint, "leadlight down code-review") {
		t.Errorf("UX-04: who has it and the ways on are not said: %q, hint %q", f.Message, f.Hint)
	}
	for name, code := range map[string]fault.Code{"ab": fault.InvalidName, "Upper": fault.InvalidName, "../x": fault.InvalidName, "a--b": fault.InvalidName} {
		_, err := d.as("").CreateTeam(t.Context(), teams.TeamSpec{Name: name, Description: "x"})
		wantCode(t, err, code)
	}
}

func TestM06_M22_TheLeadsVerbsAreTheLeads(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("a"))
	s := d.as("a")
	_, err := s.CreateTeam(t.Context(), teams.TeamSpec{Name: "nested", Description: "x"})
	wantCode(t, err, fault.NotLead)
	wantCode(t, s.DeleteTeam(t.Context(), "alpha", teams.DeleteOptions{}), fault.NotLead)
	_, err = s.Stop(t.Context(), "alpha", nil, teams.StopOptions{})
	wantCode(t, err, fault.NotLead)
	_, err = s.Send(t.Context(), "alpha", teams.SendSpec{To: "team-lead", Text: "go", Type: store.ShutdownRequest})
	wantCode(t, err, fault.NotLead)
	wantCode(t, s.Spawn(t.Context(), "alpha", []teams.SpawnSpec{{Name: "b", Command: []string{"true"}}})[0].Err, fault.NotLead)
}

func TestSpawnRefusals(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("a"))
	if err := os.WriteFile(filepath.Join(d.base, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ok := []string{"true"}
	before, _ := os.ReadFile(filepath.Join(d.base, "teams/alpha/config.json"))
	for _, tc := range []struct {
		name string
		spec teams.SpawnSpec
		code fault.Code
	}{
		{"SE10 reserved", teams.SpawnSpec{Name: "Team-Lead", Command: ok}, fault.InvalidName},
		{"SE10 everyone", teams.SpawnSpec{Name: "*", Command: ok}, fault.InvalidName},
		{"A06 taken", teams.SpawnSpec{Name: "a", Command: ok}, fault.DuplicateName},
		{"SP13 no folder", teams.SpawnSpec{Name: "b", Command: ok, Cwd: "/srv/gone"}, fault.InvalidArgument},
		{"SP13 a file", teams.SpawnSpec{Name: "b", Command: ok, Cwd: "file"}, fault.InvalidArgument},
		{"SP11 no program", teams.SpawnSpec{Name: "b", Command: []string{"no-such-program"}}, fault.ProgramNotFound},
		{"no profile", teams.SpawnSpec{Name: "b", Profile: "nobody"}, fault.ProfileNotFound},
		{"A06 model", teams.SpawnSpec{Name: "b", Command: ok, Model: "gpt-0"}, fault.InvalidModel},
		{"kind", teams.SpawnSpec{Name: "b", Command: ok, Kind: "odd"}, fault.InvalidArgument},
		{"colour", teams.SpawnSpec{Name: "b", Command: ok, Color: "beige"}, fault.InvalidArgument},
		{"UX06 native", teams.SpawnSpec{Name: "研究員", Command: ok, Kind: "native"}, fault.InvalidName},
		{"prompt", teams.SpawnSpec{Name: "b", Command: ok, Prompt: strings.Repeat("x", store.MaxPrompt+1)}, fault.InvalidArgument},
		{"no command", teams.SpawnSpec{Name: "b", Profile: "exec"}, fault.InvalidArgument},
		{"an empty command", teams.SpawnSpec{Name: "b", Command: []string{""}}, fault.InvalidArgument},
		{"SP04 no terminal", teams.SpawnSpec{Name: "b", Command: ok}, fault.BackendUnavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			wantCode(t, d.as("").Spawn(t.Context(), "alpha", []teams.SpawnSpec{tc.spec})[0].Err, tc.code)
		})
	}
	after, _ := os.ReadFile(filepath.Join(d.base, "teams/alpha/config.json"))
	if string(before) != string(after) {
		t.Errorf("SP04: something half-made is left:\n%s", after)
	}
}

// https://github.com/anthropics/claude-code/issues/55821
func TestTD01_TD03_TD06_M04_Delete(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("busy"), stopped("done"))
	_, err := os.Stat(filepath.Join(d.base, "teams/alpha"))
	if err != nil {
		t.Fatal(err)
	}
	err = d.as("").DeleteTeam(t.Context(), "alpha", teams.DeleteOptions{})
	wantCode(t, err, fault.ActiveMembers)
	if !strings.Contains(err.Error(), "busy") || strings.Contains(err.Error(), "done") {
		t.Errorf("names: %v", err)
	}
	d.team("beta", stopped("done"))
	backup := filepath.Join(t.TempDir(), "beta.tar.gz")
	if err := d.as("").DeleteTeam(t.Context(), "beta", teams.DeleteOptions{Backup: backup}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"teams/beta", "tasks/beta"} {
		if _, err := os.Lstat(filepath.Join(d.base, p)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", p, err)
		}
	}
	if fi, err := os.Stat(backup); err != nil || fi.Size() == 0 {
		t.Errorf("A13: no backup: %v", err)
	}
	wantCode(t, d.as("").DeleteTeam(t.Context(), "beta", teams.DeleteOptions{}), fault.TeamNotFound)
	mute, before := running("mute"), time.Now().Add(-time.Hour)
	mute.Leadlight.State, mute.Leadlight.SpawnedAt = api.StateActive, &before
	d.team("gamma", mute)
	held, err := lock.Try(d.fs.Dir(), panes.HostLock("gamma", "mute"), "host")
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	defer held.Release()
	e := fault.Of(d.as("").DeleteTeam(t.Context(), "gamma", teams.DeleteOptions{}))
	if wantCode(t, e, fault.ActiveMembers); !strings.Contains(e.Message, "could not be observed: mute") || !strings.Contains(e.Hint, "leadlight stop mute") {
		t.Errorf("of one whose host does not answer: %v (%s)", e, e.Hint)
	}
}

func TestPickTeam(t *testing.T) {
	d := newDesk(t)
	s := d.as("")
	_, err := s.PickTeam(t.Context(), "", nil)
	wantCode(t, err, fault.TeamNotFound)
	d.team("alpha")
	if got, err := s.PickTeam(t.Context(), "", nil); err != nil || got != "alpha" {
		t.Errorf("%q, %v", got, err)
	}
	d.team("beta")
	_, err = s.PickTeam(t.Context(), "", nil)
	wantCode(t, err, fault.InvalidArgument)
	if !strings.Contains(err.Error(), "alpha, beta") {
		t.Errorf("the teams are not listed: %v", err)
	}
}

// TestXH07_TheTeamOfAnotherFileIsNotMeant: among several teams that of the folder's team
// file is meant, and not one of its name that another file has made, or none.
func TestXH07_TheTeamOfAnotherFileIsNotMeant(t *testing.T) {
	d := newDesk(t)
	d.team("alpha")
	d.team("beta")
	err := d.fs.Roster().Update(t.Context(), "beta", func(t *store.Team) error { t.Ours.File = "/a/leadlight.yaml"; return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ explicit, here, file, want string }{
		{"beta", "alpha", "/b/leadlight.yaml", "beta"}, {"", "beta", "/a/leadlight.yaml", "beta"}, {"", "beta", "/b/leadlight.yaml", ""},
		{"", "alpha", "/a/leadlight.yaml", ""}, {"", "gamma", "/a/leadlight.yaml", ""}, {"", "", "", ""},
	} {
		got, err := d.as("").PickTeam(t.Context(), c.explicit, func() (string, string) { return c.here, c.file })
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q in the folder of %q of %q: %q, %v", c.explicit, c.here, c.file, got, err)
		}
	}
}

// A team whose own lead runs is that lead's to delete.
func TestM22_ALivingLeadsTeamStays(t *testing.T) {
	d := newDesk(t)
	d.team("alpha")
	path := filepath.Join(d.base, "teams/alpha/config.json")
	err := d.fs.Roster().Update(t.Context(), "alpha", func(x *store.Team) error {
		self, err := signals.Self()
		host, _ := os.Hostname()
		x.LeadProcess = &store.LeadProcess{PID: self.PID, PIDSpace: host + "#" + self.Namespace, ProcStart: strconv.FormatUint(self.Start, 10)}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// As Claude Code writes it: without our mark.
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), `"leadlight"`, `"other"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	wantCode(t, d.as("").DeleteTeam(t.Context(), "alpha", teams.DeleteOptions{Force: true}), fault.NotLead)
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
