package wire

import "github.com/leadlight-dev/leadlight/backend"

// PaneOf is a pane of a backend in words.
func PaneOf(p backend.Pane) Pane {
	out := Pane{
		ID: string(p.ID), Window: p.Window, Session: p.Session, Server: p.Server, PID: p.PID, Dead: p.Dead, Active: p.Active,
		Width: p.Width, Height: p.Height, WindowWidth: p.WindowWidth, WindowHeight: p.WindowHeight,
	}
	if p.Mark != (backend.Mark{}) {
		m := Mark(p.Mark)
		out.Mark = &m
	}
	return out
}

// PanesOf are panes of a backend in words.
func PanesOf(list []backend.Pane) []Pane {
	out := make([]Pane, 0, len(list))
	for _, p := range list {
		out = append(out, PaneOf(p))
	}
	return out
}

// Pane is the pane that p tells of.
func (p Pane) Pane() backend.Pane {
	out := backend.Pane{
		ID: backend.ID(p.ID), Window: p.Window, Session: p.Session, Server: p.Server, PID: p.PID, Dead: p.Dead, Active: p.Active,
		Width: p.Width, Height: p.Height, WindowWidth: p.WindowWidth, WindowHeight: p.WindowHeight,
	}
	if p.Mark != nil {
		out.Mark = backend.Mark(*p.Mark)
	}
	return out
}

// SpecOf is a spec in words.
func SpecOf(s backend.Spec) Spec {
	return Spec{
		Argv: s.Argv, Dir: s.Dir, Place: string(s.Place), Target: string(s.Target), Below: s.Below, Size: s.Size, Chain: s.Chain,
		Name: s.Name, Mark: Mark(s.Mark), Label: Tag(s.Label),
	}
}

// Spec is the spec that s tells of.
func (s Spec) Spec() backend.Spec {
	return backend.Spec{
		Argv: s.Argv, Dir: s.Dir, Place: backend.Place(s.Place), Target: backend.ID(s.Target), Below: s.Below, Size: s.Size, Chain: s.Chain,
		Name: s.Name, Mark: backend.Mark(s.Mark), Label: backend.Label(s.Label),
	}
}
