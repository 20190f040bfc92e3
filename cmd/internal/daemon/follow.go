package daemon

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// mute is how long a host that runs but does not listen is left before it is
// tried again.
const mute = 2 * time.Second

// follow watches the mail of everybody and the hosts of those who live, and
// leaves those who are gone.
func (t *teamWatch) follow(ctx context.Context) {
	now := t.hub.last(t.name)
	wanted := map[string]bool{}
	if now.Name != "" {
		for _, owner := range owners(now) {
			wanted[owner] = true
		}
	}
	t.keep(ctx, t.boxes, wanted, func(ctx context.Context, owner string) {
		t.relay(func() (<-chan struct{}, error) { return t.stores.Mail.Watch(ctx, t.name, owner) }, parts{boxes: map[string]bool{owner: true}})
	})
	live := map[string]bool{}
	for _, m := range now.Members {
		if m.Kind != "" && m.Live() {
			live[m.Name] = true
		}
	}
	t.keep(ctx, t.hosts, live, func(ctx context.Context, agent string) {
		t.wg.Go(func() {
			t.followHost(ctx, agent)
			t.mu.Lock()
			delete(t.hosts, agent)
			t.mu.Unlock()
			t.touch(parts{members: true}) // it is followed anew if it lives
		})
	})
}

// keep makes watched what is wanted.
func (t *teamWatch) keep(ctx context.Context, watched map[string]context.CancelFunc, wanted map[string]bool, begin func(context.Context, string)) {
	var fresh []func()
	t.mu.Lock()
	for name, cancel := range watched {
		if !wanted[name] {
			cancel()
			delete(watched, name)
		}
	}
	for name := range wanted {
		if watched[name] == nil {
			own, cancel := context.WithCancel(ctx)
			watched[name] = cancel
			fresh = append(fresh, func() { begin(own, name) })
		}
	}
	t.mu.Unlock()
	for _, f := range fresh {
		f()
	}
}

// followHost touches the members each time the host of one says something, and
// returns when that host is gone. A host that does not listen is watched as a
// process.
func (t *teamWatch) followHost(ctx context.Context, agent string) {
	rec, err := t.stores.Panes.Records().Host(ctx, t.name, agent)
	if err != nil || rec.Ended != nil {
		t.settle(ctx) // on its way, or ended and about to say so in the roster
		return
	}
	err = t.stores.Panes.Client(rec).Follow(ctx, func(host.Status) { t.touch(parts{members: true}) })
	if ctx.Err() != nil {
		return
	}
	if !errors.Is(err, host.ErrNoHost) {
		t.log.Debug("follow a host", "team", t.name, "member", agent, "error", err)
	}
	limited, cancel := context.WithTimeout(ctx, mute)
	defer cancel()
	if rec.Process.Wait(limited) != nil && ctx.Err() == nil {
		return // it runs, or nothing is known of it
	}
	t.touch(parts{members: true})
}

// settle waits for the next word about the hosts' records, or a while.
func (t *teamWatch) settle(ctx context.Context) {
	timer := time.NewTimer(mute)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// replaceAgain is when one that is lost is looked at anew.
const replaceAgain = time.Second

// replace starts those again who are lost and whose restart policy says so.
func (t *teamWatch) replace(ctx context.Context) {
	if !slices.ContainsFunc(t.hub.last(t.name).Members, func(m api.Member) bool { return m.State == api.StateLost }) {
		return
	}
	_, more, err := t.service.RestartLost(ctx, t.name)
	if err != nil && ctx.Err() == nil {
		t.log.Warn("start the lost again", "team", t.name, "error", err)
	}
	if more {
		time.AfterFunc(replaceAgain, func() { t.touch(parts{members: true}) })
	}
}

// lost tells whether somebody was lost just now.
func lost(list []events.Event) bool {
	for _, e := range list {
		if e.Type == events.MemberLost {
			return true
		}
	}
	return false
}
