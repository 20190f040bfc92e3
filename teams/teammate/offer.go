package teammate

import (
	"context"
	"time"
)

// offering is what an idle agent's host does for a team that no process leads: it sees to it
// that tasks that nobody owns are offered. The zero value has not looked since the agent came
// to rest.
type offering struct {
	looked bool
	again  time.Time // zero: only after the agent has worked
}

// look offers tasks if that is due.
func (o *offering) look(ctx context.Context, m *teammate) {
	if o.looked && (o.again.IsZero() || time.Now().Before(o.again)) {
		return
	}
	*o = offering{looked: true}
	if again := m.o.Service.OfferUnattended(ctx, m.o.Team); again > 0 {
		o.again = time.Now().Add(again)
	}
}
