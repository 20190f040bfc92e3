package panes

import (
	"context"
	"fmt"

	"github.com/leadlight-dev/leadlight/signals"
)

// suspects says what a host that ended no tree may have left running without a proof.
func (s *Stopper) suspects(ctx context.Context, h ownHost) []string {
	launch, err := s.m.records.Launch(ctx, h.Team, h.Agent)
	if err != nil || !h.seen.known() || h.process().Probe() != signals.Gone {
		return nil
	}
	now, err := s.processes.Last()
	if err != nil {
		return nil
	}
	var out []string
	for _, p := range now.Suspects(h.process(), launch.Dir) {
		out = append(out, fmt.Sprintf("%s: it may be of %s, works in its folder, and nothing proves whose it is", p, h.Agent))
	}
	return out
}
