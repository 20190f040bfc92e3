package panes

import (
	"context"
	"io"
	"os"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes/host"
)

// CaptureForeign reads the pane of an agent that we do not host.
func (m *Manager) CaptureForeign(ctx context.Context, backendType string, id backend.ID, lines int, ansi bool) (string, error) {
	if id == "" {
		return "", fault.New(fault.Unsupported, "no pane of it is known").WithHint("look at the terminal that it works in")
	}
	c, err := m.Choice(ctx)
	if err != nil {
		return "", err
	}
	if c.Type != backendType {
		return "", fault.New(fault.Unsupported, "a pane of %q cannot be read through %s", backendType, c.Type)
	}
	return capture(ctx, c.Backend, backendType, id, lines, ansi)
}

// CaptureStaying reads the pane of a host that has ended, if it stays to be read. Only a
// pane that carries the host's mark is read.
func (m *Manager) CaptureStaying(ctx context.Context, t Target, lines int, ansi bool) (string, error) {
	b, err := m.targetBackend(ctx, t)
	if err != nil {
		return "", err
	}
	id, err := paneOf(ctx, b, m.mark(t.Team, t.Agent, t.Host))
	if err != nil {
		return "", err
	}
	return capture(ctx, b, t.Backend, id, lines, ansi)
}

func capture(ctx context.Context, b backend.Backend, backendType string, id backend.ID, lines int, ansi bool) (string, error) {
	capturer, ok := backend.As[backend.Capturer](b)
	if !ok {
		return "", fault.New(fault.Unsupported, "a pane of %q cannot be read", backendType)
	}
	return capturer.Capture(ctx, id, lines, ansi)
}

// Transcript writes what a member's agents have written, the last lines of it if
// lines > 0, without escape sequences, and follows it until ctx ends if asked.
func (m *Manager) Transcript(ctx context.Context, team, agent string, lines int, follow bool, out io.Writer) error {
	name := TranscriptPath(team, agent)
	open := func(name string, flag int) (*os.File, error) { return m.opt.Dir.OpenFile(name, flag) }
	if follow {
		return host.FollowTranscript(ctx, open, name, lines, out)
	}
	data, err := host.ReadTranscript(open, name, lines, true)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

// Focus makes the pane the active one of its terminal.
func (m *Manager) Focus(ctx context.Context, t Target) error {
	b, err := m.targetBackend(ctx, t)
	if err != nil {
		return err
	}
	return b.Focus(ctx, t.Pane)
}

// Attach returns the command that shows the pane in the person's terminal.
func (m *Manager) Attach(ctx context.Context, t Target) ([]string, error) {
	b, err := m.targetBackend(ctx, t)
	if err != nil {
		return nil, err
	}
	a, ok := backend.As[backend.Attacher](b)
	if !ok {
		return nil, fault.New(fault.Unsupported, "%s has no command that shows a pane", t.Backend)
	}
	return a.Attach(ctx, t.Pane)
}

// attacherOfSet is a backend that answers Attach for several panes at once.
type attacherOfSet interface {
	AttachEach(ctx context.Context, ids []backend.ID) (map[backend.ID][]string, error)
}

// AttachEach is Attach for each of the targets, nil where there is no such command.
func (m *Manager) AttachEach(ctx context.Context, targets []Target) [][]string {
	out := make([][]string, len(targets))
	sets := map[terminal][]int{}
	for i, t := range targets {
		key := terminal{t.Backend, t.Terminal}
		sets[key] = append(sets[key], i)
	}
	for _, set := range sets {
		b, err := m.targetBackend(ctx, targets[set[0]])
		if err != nil {
			continue
		}
		a, ok := backend.As[attacherOfSet](b)
		if !ok {
			for _, i := range set {
				out[i], _ = m.Attach(ctx, targets[i]) // whoever asks for one is told why
			}
			continue
		}
		var ids []backend.ID
		for _, i := range set {
			ids = append(ids, targets[i].Pane)
		}
		ways, _ := a.AttachEach(ctx, ids)
		for _, i := range set {
			out[i] = ways[targets[i].Pane]
		}
	}
	return out
}

// targetBackend is the backend of a pane: its own terminal if that is recorded,
// else the one in use.
func (m *Manager) targetBackend(ctx context.Context, t Target) (backend.Backend, error) {
	if t.Terminal != "" {
		return m.backendOf(terminal{t.Backend, t.Terminal})
	}
	c, err := m.Choice(ctx)
	return c.Backend, err
}

// Label shows a member's name, state and colour on its pane.
func (m *Manager) Label(ctx context.Context, t Target, l backend.Label) error {
	b, err := m.targetBackend(ctx, t)
	if err != nil {
		return err
	}
	mark := m.mark(t.Team, t.Agent, t.Host)
	if t.Pane == "" {
		if t.Pane, err = paneOf(ctx, b, mark); err != nil {
			return err
		}
	}
	return b.Label(ctx, t.Pane, mark, l)
}

// paneOf finds the pane of a host whose terminal did not tell it which one it is in.
func paneOf(ctx context.Context, b backend.Backend, mark backend.Mark) (backend.ID, error) {
	list, err := b.List(ctx)
	if err != nil {
		return "", err
	}
	for _, p := range list {
		if p.Mark == mark {
			return p.ID, nil
		}
	}
	return "", fault.New(fault.BackendUnavailable, "no pane carries the mark of %s: %w", mark.Agent, backend.ErrGone)
}

// leaver is a backend that has something to do when a pane goes by itself.
type leaver interface {
	// Leave is called from within the pane id, which is about to go.
	Leave(ctx context.Context, id backend.ID) error
}

// Leave is called by a host that is about to end: it puts back what the terminal
// was changed for, if this is the last pane of ours in its window, and lets the terminal
// see the end.
func (m *Manager) Leave(ctx context.Context, l LaunchRecord, pane backend.ID) {
	_ = files.RemoveEmpty(m.runDir())
	b, err := m.backendOf(terminal{l.Backend, l.Terminal})
	if err != nil || pane == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, terminalLimit)
	defer cancel()
	_ = Leave(ctx, b, pane) // a border that stays is no reason to hold up the end
}

// Leave tells a backend, from within a pane, that it is about to go.
func Leave(ctx context.Context, b backend.Backend, pane backend.ID) error {
	if x, ok := backend.As[leaver](b); ok {
		return x.Leave(ctx, pane)
	}
	return nil
}
