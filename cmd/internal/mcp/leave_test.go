package mcp

import (
	"errors"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/watch"
)

// A team of the same name that another session has made since is not ours to end.
func TestAnotherSessionsTeamGoesOn(t *testing.T) {
	d := newFixture(t)
	svc, who := d.as("")
	begin := func() (err error) {
		_, err = svc.CreateTeam(t.Context(), teams.TeamSpec{Name: "web-team", Description: "a site"})
		return err
	}
	if err := begin(); err != nil {
		t.Fatal(err)
	}
	ours, err := svc.Team(t.Context(), "web-team")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Source: watch.Source{Service: svc, Roster: d.fs.Roster()}, Caller: who, Enabled: true, ShutDown: true})
	if err := s.endTeam(t.Context(), ours); err != nil {
		t.Errorf("our own: %v", err)
	}
	if err := errors.Join(svc.DeleteTeam(t.Context(), "web-team", teams.DeleteOptions{}), begin()); err != nil {
		t.Fatal(err)
	}
	if err := s.endTeam(t.Context(), ours); !errors.Is(err, fault.Unproven) {
		t.Errorf("another's: %v", err)
	}
	s.lead(ours)
	if team, err := s.team(t.Context(), ""); !errors.Is(err, fault.Unproven) {
		t.Errorf("meant without a name is %q: %v", team, err)
	}
	if team, err := s.team(t.Context(), "web-team"); err != nil || team != "web-team" {
		t.Errorf("meant by name is %q: %v", team, err)
	}
}
