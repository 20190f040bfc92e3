package observe

// maxSessions bounds the states that are kept of sessions other than the current one.
const maxSessions = 64

// A file may hold several sessions, one after the other or mixed. Each has a state of
// its own, so that no session's tasks are counted for another's team.

// enter makes the session that a line names the current one. Lines without a session
// belong to the current one.
func (t *Tracker) enter(id string) {
	if id == "" || id == t.state.SessionID {
		return
	}
	t.step.Dirty = true
	if t.state.SessionID == "" {
		t.state.SessionID = id
		return
	}
	others, seq := t.state.Others, t.state.Seq
	parked := t.state
	parked.Others = nil
	next := State{SessionID: id}
	kept := make([]State, 0, len(others)+1)
	for _, s := range others {
		if s.SessionID == id {
			next = s
			continue
		}
		kept = append(kept, s)
	}
	kept = append(kept, parked)
	if n := len(kept) - maxSessions; n > 0 {
		kept = kept[n:]
	}
	next.Others, next.Seq = kept, seq // events have one count for the whole stream
	t.state = next
	if old, now := parked.Team.known(), next.Team.known(); old || now {
		t.step.Changed = true
	}
}
