package daemon

import (
	"context"
	"os"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// Methods returns every method, for the schema: they are not to be called.
func Methods(parts []Part) []rpc.Method {
	return (&daemon{Options: Options{Parts: parts}}).methods(Deps{Beside: func(func(context.Context)) {}})
}

// Notifications are what the daemon says unasked.
func Notifications() []rpc.Method { return rpc.Notifications() }

// methods is the table of all methods.
func (d *daemon) methods(deps Deps) []rpc.Method {
	all := []rpc.Method{
		rpc.Func("hello", "Say who calls, ask who answers. It may be left out.", d.hello),
		rpc.Func("daemon.status", "What the daemon sees.", d.status),
		rpc.Func("daemon.stop", "End the daemon. Teammates go on.", d.stop).OfLead(),
		rpc.Func("events.list", "The events of the past.", d.list),
		rpc.Func("events.subscribe", "The state of now and all events after it, as notifications: one event each, and events.closed at the end.", d.subscribe),
		rpc.Func("observed.list", "The teams that are seen in the streams of workers: one for each worker that showed one.", d.observed),
	}
	for _, p := range d.Parts {
		all = append(all, p.Methods(deps)...)
	}
	return all
}

func (d *daemon) hello(_ context.Context, p api.HelloParams) (api.Hello, error) {
	d.Log.Debug("hello", "version", p.Version)
	return api.Hello{Version: d.Version, Protocol: rpc.Version, PID: os.Getpid(), Base: d.Paths.Base}, nil
}

func (d *daemon) status(ctx context.Context, _ rpc.Nothing) (api.DaemonStatus, error) {
	if err := d.current(ctx); err != nil {
		return api.DaemonStatus{}, err
	}
	s := api.DaemonStatus{
		PID: os.Getpid(), Socket: d.Paths.Socket, Version: d.Version, UptimeMs: time.Since(d.started).Milliseconds(), Base: d.Paths.Base,
		OnDemand: d.OnDemand, Clients: d.listener.Clients(), Database: d.Paths.Database(),
	}
	d.hub.count(&s)
	s.Watching = "events"
	if w := d.Stores.Watcher; w != nil && w.Polling() {
		s.Watching = "polling"
	}
	if d.OnDemand {
		s.Log = d.Paths.Log()
	}
	return s, nil
}

func (d *daemon) stop(context.Context, rpc.Nothing) (rpc.Nothing, error) {
	time.AfterFunc(50*time.Millisecond, func() { d.enough(errAsked) }) // after the answer
	return rpc.Nothing{}, nil
}

// current waits for the first look, and takes one more at what was looked at before the caller
// asked: what it has done until then is known.
func (d *daemon) current(ctx context.Context) error {
	asked := time.Now()
	select {
	case <-d.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	d.refresh(ctx, asked)
	return ctx.Err()
}
