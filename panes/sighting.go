package panes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/signals"
)

// sighting is what was seen of one host: by its record, by its socket, by its lock and
// among the processes. None of them alone proves that it is gone.
type sighting struct {
	state   signals.Liveness
	why     string      // it is not alive, or does not answer
	status  host.Status // as it answered; ID is "" when it did not
	silence error       // why it did not answer
	record  HostRecord  // zero when there is none of this host that can be read
	broken  error       // why the record cannot be read; nil when there is none
}

// known tells whether the host's record was read.
func (s sighting) known() bool { return s.record.Host != "" }

// answers tells whether the host itself said who it is.
func (s sighting) answers() bool { return s.status.ID != "" }

// sight looks for a host of a member. A record that is missing or damaged says nothing:
// then the host is asked where it would listen.
func (m *Manager) sight(ctx context.Context, team, agent, hostID string) sighting {
	var s sighting
	if err := checkHostID(hostID); err != nil {
		s.why = "the roster names no host for it: " + err.Error()
		return s
	}
	socket := m.SocketPath(team, agent)
	if s.read(ctx, m, team, agent, hostID); s.known() {
		socket = s.record.Socket
	}
	st, err := status(ctx, socket)
	if err == nil && st.ID == hostID {
		s.state, s.status = signals.Alive, st
		if s.record.Ended == nil && state.Ended(st.State) { // it was written between the two looks
			s.read(ctx, m, team, agent, hostID)
		}
		return s
	}
	s.read(ctx, m, team, agent, hostID) // it may have written it between the two looks
	s.silence = err
	if s.state, s.why = s.silent(); s.state == signals.Gone || !s.known() {
		m.doubt(ctx, &s, team, agent, hostID)
	}
	return s
}

// Runs tells whether a host surely runs: its record is there, without an end, and its
// lock is held. That costs less than to ask the host; false says nothing.
func (m *Manager) Runs(ctx context.Context, team, agent, hostID string) bool {
	rec, err := m.records.Host(ctx, team, agent)
	if err != nil || rec.Host != hostID || rec.Ended != nil {
		return false
	}
	return m.held(HostLock(team, agent))
}

func (s *sighting) read(ctx context.Context, m *Manager, team, agent, hostID string) {
	rec, err := m.records.Host(ctx, team, agent)
	switch {
	case err == nil && rec.Host == hostID:
		s.record, s.broken = rec, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		s.broken = err
	}
}

// silent says what its record says of a host that does not answer. One that cannot be seen from
// here is believed that it has ended all that it started: then it wrote that down.
func (s *sighting) silent() (signals.Liveness, string) {
	if !s.known() {
		return signals.Gone, "its host left no record"
	}
	state, why := s.record.Process.Observe()
	switch {
	case state == signals.Unknown && s.record.Ended != nil:
		return signals.Gone, "it has ended in another place"
	case state == signals.Unknown:
		return state, "its host could not be observed: " + why.Error()
	case state == signals.Alive && errors.Is(s.silence, host.ErrNoHost):
		return state, "its host runs but does not listen"
	case state == signals.Alive:
		return state, "its host runs but does not answer"
	}
	if self, err := signals.Self(); err == nil && self.Boot != s.record.Process.Boot {
		return state, "the machine was restarted"
	}
	return state, "its host was killed"
}

// doubt looks at what no record can get wrong: a host holds its lock all its life, and
// what it started carries its id. Found, they make a host that seems gone unknown; of
// one whose record is there, what carries its id was left behind.
func (m *Manager) doubt(ctx context.Context, s *sighting, team, agent, hostID string) {
	switch held, err := lock.Busy(m.opt.Dir, HostLock(team, agent)); {
	case err != nil:
		s.state, s.why = signals.Unknown, fmt.Sprintf("%s, and its lock cannot be looked at: %v", s.why, err)
		return
	case held:
		s.state, s.why = signals.Unknown, s.why+", and yet its lock is held"
		return
	}
	if s.known() {
		return
	}
	if s.broken == nil && !m.startedHere(ctx, team, agent, hostID) {
		s.state, s.why = signals.Unknown, s.why+", and nothing of it was ever here: its records may be in another place"
		return
	}
	if all, err := m.processes(); err != nil {
		s.state, s.why = signals.Unknown, fmt.Sprintf("%s, and its processes cannot be looked for: %v", s.why, err)
	} else if left := all.Marked(hostID); len(left) > 0 {
		s.state, s.why = signals.Unknown, fmt.Sprintf("%s, and yet %d processes of it run", s.why, len(left))
	}
	if s.broken != nil {
		s.why += fmt.Sprintf(" (%v)", s.broken)
	}
}
