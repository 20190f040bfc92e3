package teammate

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
)

// startPause is how long a host whose agent has started waits before it does the rest of its
// own start: while a team starts, nothing of ours runs but what brings the next agent. Whoever
// waits for the host listens until that says that its agent has lasted, which takes longer.
const startPause = 100 * time.Millisecond

// othersFirst lets the other agents of a set start. Another lead opens one pane at a time.
func (m *teammate) othersFirst(ctx context.Context) {
	if m.announced || m.launch.ForeignPane != "" {
		return
	}
	select {
	case <-time.After(startPause):
	case <-m.host.Closing():
	case <-ctx.Done():
	}
}

// announce lets others know of the host: by its socket and its record. An agent is started
// before that, and does not wait for it: whoever looks for the host meanwhile finds its lock
// held, and its mark on what it has started.
func (m *teammate) announce(ctx context.Context) error {
	if m.announced {
		return nil
	}
	m.announced = true
	runtime.SetDefaultGOMAXPROCS() // a terminal may start a host on one processor
	o, l := m.o, m.launch
	err := m.host.Listen(l.Socket)
	if err == nil {
		err = o.Panes.Records().WriteHost(ctx, o.Team, o.Agent, m.record)
	}
	if l.ForeignPane == "" { // what stands on a foreign member's pane is its lead's to say
		m.showing.Lock()
		m.label = newLabeller(o.Panes, panes.Target{
			Team: o.Team, Agent: o.Agent, Host: l.Host, Backend: l.Backend, Terminal: l.Terminal, Pane: backend.ID(m.record.Pane),
		}, backend.Label{Name: o.Agent, Color: l.Color})
		m.label.show(m.shown)
		m.showing.Unlock()
	}
	// Only now, with our socket beside it: who tidies up removes an empty folder.
	return errors.Join(err, m.removeEnvironment())
}

// removeEnvironment removes the environment that was handed over to this host.
func (m *teammate) removeEnvironment() error {
	return files.Remove(filepath.Dir(m.launch.EnvFile), filepath.Base(m.launch.EnvFile), 0)
}

// paneOf is the pane this process runs in, as its terminal told it.
func paneOf(backendType string, env []string) string {
	name := map[string]string{"tmux": "TMUX_PANE", panes.Headless: "LEADLIGHT_PANE", panes.ITerm2: "ITERM_SESSION_ID", panes.Kitty: "KITTY_WINDOW_ID"}[backendType]
	pane := environ.Get(env, name)
	if backendType == panes.ITerm2 { // w0t1p2:UUID, of which only the second part stays true
		_, pane, _ = strings.Cut(pane, ":")
	}
	return pane
}
