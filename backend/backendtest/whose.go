package backendtest

import (
	"errors"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// whoseCases are about whose a pane is.
func whoseCases() []testCase {
	return []testCase{
		{"XH11_IDsAreNew", nil, idsAreNew},
		{"XH11_AVisitorStays", func(o Opts) bool { return o.Visitors }, visitorStays},
		{"XH11_TheAskingPaneStays", func(o Opts) bool { return o.Insiders }, askingPaneStays},
		{"XH11_ThePersonsSessionStays", func(o Opts) bool { return o.Sessions }, personsSessionStays},
	}
}

// idsAreNew: a new pane has an id that no pane has, nor has had.
func idsAreNew(t T, r *rig) {
	had := map[backend.ID]bool{}
	here, err := r.Backend.Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	had[here.ID()] = true
	for _, p := range here.Window {
		had[p.ID] = true
	}
	for _, closed := range []string{"two", "four"} {
		for _, p := range r.open(r.spec("beside-"+closed), r.spec(closed)) {
			if had[p.ID] {
				t.Errorf("pane %s of %s was there before", p.ID, p.Mark.Agent)
			}
			had[p.ID] = true
			if p.Mark.Agent == closed {
				r.close(p)
			}
		}
	}
}

// visitorStays: a pane in which somebody else's program runs is not closed, although it
// carries our mark still.
func visitorStays(t T, r *rig) {
	panes := r.open(r.spec("visited"), r.spec("ours"))
	for _, agent := range []string{"visited", "ours"} {
		r.recorded(agent)
	}
	r.Visit(panes[0].ID)
	errs := r.Backend.Close(t.Context(), backend.Marked{ID: panes[0].ID, Mark: panes[0].Mark}, backend.Marked{ID: panes[1].ID, Mark: panes[1].Mark})
	if !errors.Is(errs[0], fault.Unproven) {
		t.Errorf("close of the visited: %v", errs[0])
	}
	if errs[1] != nil {
		t.Errorf("close of ours: %v", errs[1])
	}
	if !r.has(panes[0].ID) || r.has(panes[1].ID) {
		t.Errorf("left are %v", agents(r.list()))
	}
}

// askingPaneStays: nobody closes the pane in which it runs.
func askingPaneStays(t T, r *rig) {
	panes := r.open(r.spec("asks"), r.spec("other"))
	inside := r.Inside(panes[0].ID)
	if err := backend.CloseOne(t.Context(), inside, panes[0].ID, panes[0].Mark); !errors.Is(err, fault.Unproven) {
		t.Errorf("close of the asking pane: %v", err)
	}
	if err := backend.CloseOne(t.Context(), inside, panes[1].ID, panes[1].Mark); err != nil {
		t.Errorf("close of another one: %v", err)
	}
	if !r.has(panes[0].ID) || r.has(panes[1].ID) {
		t.Errorf("left are %v", agents(r.list()))
	}
}

// personsSessionStays: where our pane was the last of a person's session, something is left.
func personsSessionStays(t T, r *rig) {
	pane := r.open(r.spec("last"))[0]
	left := r.Alone(pane.ID)
	r.close(pane)
	if r.has(pane.ID) || left() != 1 {
		t.Errorf("%d panes are left", left())
	}
}
