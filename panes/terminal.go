package panes

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// Terminals die slowly: this long their socket may take connections after the
// panes are gone. Then only an answer shows that one lives, for as long as its end is
// waited for.
const (
	terminalDies = 200 * time.Millisecond
	terminalEnds = 8 * time.Second
)

// peersFell is how close together hosts end whose terminal died.
const peersFell = 5 * time.Second

// TerminalDied tells a host whose pane has gone whether the whole terminal has.
// Our own terminal server also ends when its last pane is closed; so there it is
// only said if other teammates fell with it.
func (m *Manager) TerminalDied(ctx context.Context, l LaunchRecord) bool {
	socket := l.Terminal
	if _, terminal := backend.ParseAddress(socket); terminal != "" {
		socket = terminal
	}
	if socket == "" || !m.terminalDead(ctx, l, socket) {
		return false
	}
	return l.Terminal != OwnSocket(m.opt.Runtime) || m.peerFell(ctx, l)
}

// terminalDead waits until the terminal has ended or shows that it lives. On a busy
// machine the one may take as long as the other: so a silent one is waited for, and taken to
// live only in the end.
func (m *Manager) terminalDead(ctx context.Context, l LaunchRecord, socket string) bool {
	ctx, cancel := context.WithTimeout(ctx, terminalEnds)
	defer cancel()
	for ctx.Err() == nil {
		if dead, known := socketDead(ctx, socket, terminalDies); known {
			return dead
		}
		if m.terminalAnswers(ctx, l) {
			return false
		}
	}
	return false
}

// terminalAnswers tells whether the terminal names the panes in it. One that has no panes
// any more is about to end.
func (m *Manager) terminalAnswers(ctx context.Context, l LaunchRecord) bool {
	b, err := m.backendOf(terminal{l.Backend, l.Terminal})
	if err != nil {
		return false
	}
	all, err := listAll(ctx, Choice{Type: l.Backend, Backend: b})
	if errors.Is(err, fault.Unsupported) {
		_, err = b.List(ctx)
		return err == nil
	}
	return err == nil && len(all) > 0
}

// socketDead waits for a socket to have nobody behind it, or to be gone; not known: somebody
// may still be there. What is no socket (a folder, a program) is not dead.
func socketDead(ctx context.Context, socket string, limit time.Duration) (dead, known bool) {
	if info, err := os.Stat(socket); err == nil && info.Mode()&os.ModeSocket == 0 {
		return false, true
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		conn, err := net.Dial("unix", socket)
		if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist) {
			return true, true
		}
		if err == nil {
			_ = conn.Close()
		}
		select {
		case <-ctx.Done():
			return false, false
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// peerFell tells whether another teammate in the same terminal runs still (it is
// about to fall) or has just ended.
func (m *Manager) peerFell(ctx context.Context, l LaunchRecord) bool {
	agents, _ := m.records.members(OwnPath(l.Team, "hosts"))
	for _, agent := range agents {
		if agent == l.Agent {
			continue
		}
		rec, err := m.records.Host(ctx, l.Team, agent)
		launch, err2 := m.records.Launch(ctx, l.Team, agent)
		if err != nil || err2 != nil || launch.Terminal != l.Terminal {
			continue
		}
		if (rec.Ended == nil && rec.Process.Probe() == signals.Alive) || (rec.Ended != nil && within(rec.Ended.At, peersFell)) {
			return true
		}
	}
	return false
}
