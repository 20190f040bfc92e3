package teams_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// led makes a team that process pid leads; change says what is special about it.
func (d *desk) led(name string, pid int, change func(*store.LeadProcess), members ...store.Member) {
	d.t.Helper()
	d.team(name, members...)
	id, err := signals.Identify(pid)
	if err != nil {
		d.t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		d.t.Fatal(err)
	}
	p := &store.LeadProcess{PID: id.PID, PIDSpace: host + "#" + id.Namespace, ProcStart: strconv.FormatUint(id.Start, 10)}
	if change != nil {
		change(p)
	}
	err = d.fs.Roster().Update(d.t.Context(), name, func(x *store.Team) error { x.LeadProcess = p; return nil })
	if err != nil {
		d.t.Fatal(err)
	}
}

// session returns the verbs as a session of its own uses them, such as an MCP
// server that leads.
func (d *desk) session() *teams.Service {
	return teams.New(teams.Config{
		Base: d.base, Roster: d.fs.Roster(), Mail: d.fs.Mail(nil), Tasks: d.fs.Tasks(), Cwd: d.base,
		Panes:  panes.NewManager(panes.Options{Dir: d.fs.Dir(), Base: d.base, Runtime: d.t.TempDir()}),
		Caller: teams.Caller{Name: store.Lead, Session: true},
	})
}

// TestM05_OneTeamASession: a process that leads a team gets no second one, whether
// it makes it or takes it over; a shell is no session and may make many.
func TestM05_OneTeamASession(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	lead := func(name string) error {
		_, err := s.CreateTeam(t.Context(), teams.TeamSpec{Name: name, Description: "x", LeadProcess: true})
		return err
	}
	if err := lead("alpha"); err != nil {
		t.Fatal(err)
	}
	err := lead("beta")
	wantCode(t, err, fault.LimitReached)
	if !strings.Contains(err.Error(), "leads team alpha") {
		t.Errorf("it does not say which: %v", err)
	}
	wantCode(t, lead("alpha"), fault.TeamExists)
	d.team("gamma")
	_, err = s.Takeover(t.Context(), "gamma", teams.TakeoverSpec{Process: true})
	wantCode(t, err, fault.LimitReached)
	if err := s.DeleteTeam(t.Context(), "alpha", teams.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := lead("beta"); err != nil {
		t.Errorf("after the first one has ended: %v", err)
	}
}

// TestM06_NoTeamInsideATeam: whoever runs inside a teammate makes none and takes
// none over.
func TestM06_NoTeamInsideATeam(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("bob"))
	d.led("beta", os.Getpid(), func(p *store.LeadProcess) { p.ProcStart = "1" })
	bob := d.as("bob")
	_, err := bob.CreateTeam(t.Context(), teams.TeamSpec{Name: "inner", Description: "x"})
	wantCode(t, err, fault.NotLead)
	_, err = bob.Start(t.Context(), teams.Plan{Team: teams.TeamSpec{Name: "inner", Description: "x"}}, func(string) {})
	wantCode(t, err, fault.NotLead)
	_, err = bob.Takeover(t.Context(), "beta", teams.TakeoverSpec{})
	wantCode(t, err, fault.NotLead)
}

// TestM22_TheLeadIsFixed: only the end of a lead makes room for another, and it has
// to be proved; and a session cleans up nobody else's team.
func TestM22_TheLeadIsFixed(t *testing.T) {
	d := newDesk(t)
	parent := os.Getppid()
	for _, tc := range []struct {
		name   string
		change func(*store.LeadProcess)
		want   fault.Code
	}{
		{"runs", nil, fault.NotLead},
		{"another-machine", func(p *store.LeadProcess) { p.PIDSpace = "elsewhere#pid:[1]" }, fault.Unproven},
		{"no-start", func(p *store.LeadProcess) { p.ProcStart = "" }, fault.Unproven},
		{"gone", func(p *store.LeadProcess) { p.ProcStart = "1" }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d.led(tc.name, parent, tc.change)
			before, err := d.fs.Roster().Get(t.Context(), tc.name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.as("").Takeover(t.Context(), tc.name, teams.TakeoverSpec{})
			wantCode(t, err, tc.want)
			after, err := d.fs.Roster().Get(t.Context(), tc.name)
			if err != nil {
				t.Fatal(err)
			}
			if kept := after.LeadProcess != nil && *after.LeadProcess == *before.LeadProcess; kept != (tc.want != "") {
				t.Errorf("the lead was %+v and is %+v", before.LeadProcess, after.LeadProcess)
			}
		})
	}
	wantCode(t, d.session().DeleteTeam(t.Context(), "runs", teams.DeleteOptions{}), fault.NotLead)
	if err := d.as("").DeleteTeam(t.Context(), "runs", teams.DeleteOptions{}); err != nil {
		t.Errorf("a person in a shell: %v", err)
	}
}

// Who leads by tools leads below the client that started them, and nowhere else.
func TestLedBelow(t *testing.T) {
	s := newDesk(t).as("")
	if _, err := s.CreateTeam(t.Context(), teams.TeamSpec{Name: "by-tools", Description: "x", LeadProcess: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateTeam(t.Context(), teams.TeamSpec{Name: "by-hand", Description: "x"}); err != nil {
		t.Fatal(err)
	}
	for pid, want := range map[int]string{os.Getppid(): "by-tools", os.Getpid(): ""} {
		if team, err := s.LedBelow(t.Context(), pid); team != want || err != nil {
			t.Errorf("below %d leads %q, want %q (%v)", pid, team, want, err)
		}
	}
}

// TestXS40_HintsCanBeFollowed: nobody is told to do what would be refused.
func TestXS40_HintsCanBeFollowed(t *testing.T) {
	d := newDesk(t)
	inside := store.Member{Name: "ann", AgentID: "ann@alpha", TmuxPaneID: teams.InProcess, BackendType: teams.InProcess}
	gone := func(p *store.LeadProcess) { p.ProcStart = "1" }
	d.led("alpha", os.Getpid(), gone, inside, stopped("bob"), running("eve"))
	const restart = "leadlight restart"
	for _, tc := range []struct {
		who, member string
		told        bool // to start it again
	}{{"", "bob", true}, {"", "ann", false}, {"eve", "bob", false}} {
		svc := d.as(tc.who)
		_, sent := svc.Send(t.Context(), "alpha", teams.SendSpec{To: tc.member, Text: "x", Type: store.ShutdownRequest})
		for what, err := range map[string]error{"send": sent, "focus": svc.Focus(t.Context(), "alpha", tc.member)} {
			wantCode(t, err, fault.RecipientInactive)
			if told := strings.Contains(fault.Of(err).Hint, restart); told != tc.told {
				t.Errorf("%s of %s by %q is answered with the hint %q", what, tc.member, tc.who, fault.Of(err).Hint)
			}
		}
		if _, err := svc.Restart(t.Context(), "alpha", tc.member); !tc.told && fault.CodeOf(err) != fault.NotLead {
			t.Errorf("%q may start %s again: %v", tc.who, tc.member, err)
		}
		if tc.who == "" {
			if err := svc.Keys(t.Context(), "alpha", tc.member, []string{"enter"}); strings.Contains(fault.Of(err).Hint, restart) != tc.told {
				t.Errorf("keys for %s are answered with the hint %q", tc.member, fault.Of(err).Hint)
			}
		}
	}
}

// TestXS40_WhoCannotEndIsToldOfNoStop: a live teammate of another lead, and a team whose lead
// runs, are not to be stopped or taken down by whoever is told that they are in the way.
func TestXS40_WhoCannotEndIsToldOfNoStop(t *testing.T) {
	d := newDesk(t)
	active := true
	d.led("alpha", os.Getppid(), nil, store.Member{Name: "ann", AgentID: "ann@alpha", TmuxPaneID: teams.InProcess, BackendType: teams.InProcess, IsActive: &active}, running("bob"))
	for _, tc := range []struct {
		member string
		told   bool
	}{{"ann", false}, {"bob", true}} {
		err := d.as("").Spawn(t.Context(), "alpha", []teams.SpawnSpec{{Name: tc.member, Command: []string{"true"}}})[0].Err
		wantCode(t, err, fault.DuplicateName)
		if told := strings.Contains(fault.Of(err).Hint, "leadlight stop"); told != tc.told {
			t.Errorf("who spawns another %s is told %q", tc.member, fault.Of(err).Hint)
		}
	}
	err := d.as("").DeleteTeam(t.Context(), "alpha", teams.DeleteOptions{})
	wantCode(t, err, fault.ActiveMembers)
	if hint := fault.Of(err).Hint; strings.Contains(hint, "leadlight down") {
		t.Errorf("who deletes a team with a live teammate of its lead is told %q", hint)
	}
	_, err = d.session().CreateTeam(t.Context(), teams.TeamSpec{Name: "alpha", Description: "x"})
	wantCode(t, err, fault.TeamExists)
	if hint := fault.Of(err).Hint; strings.Contains(hint, "leadlight down") {
		t.Errorf("a session that may not take the team down is told %q", hint)
	}
}
