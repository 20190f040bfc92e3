// Package daemon is the long-lived process of a base directory: it watches what
// every verb writes, tells programs what happens, and carries runs out for them,
// over a socket. No verb needs it: it sees the same files as they do, and when it
// is killed nothing changes for teammates.
//
// There is one for a base directory. Whoever holds the lock beside the database is
// it. Run is the process; package dial is the way to it.
package daemon

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/unixsock"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/api/rpc/serve"
	"github.com/leadlight-dev/leadlight/teams/db"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/history"
)

// linger is how long a daemon that was started on demand stays after its last
// client and its last live teammate.
const linger = 2 * time.Second

// Part is what another package adds to the daemon: its tables, if it has any, and its methods.
type Part struct {
	Component db.Component
	Methods   func(Deps) []rpc.Method
}

// Deps is what a Part's methods work with.
type Deps struct {
	DB      *sql.DB
	Serve   func() (*teams.Service, error)        // the verbs, in the lead's name
	Publish func(context.Context, []events.Event) // numbers them, writes them down, tells everybody
	Beside  func(func(context.Context))           // what runs as long as the daemon; it ends when its context does
	Hold    func() (release func())               // keeps a daemon up that would end by itself
	Log     *slog.Logger
}

// Options are what a daemon is made of.
type Options struct {
	Paths    dial.Paths
	Version  string
	OnDemand bool        // ends by itself
	Current  func() bool // whether it still is of what this machine has joined; nil: of nothing
	Stores   Stores
	Serve    func() (*teams.Service, error)
	Parts    []Part
	Log      *slog.Logger
}

// daemon is the process.
type daemon struct {
	Options
	started  time.Time
	hub      *hub
	refresh  func(context.Context, time.Time) // a look at everything that was there at that time
	listener *unixsock.Listener
	wg       sync.WaitGroup // of what runs beside the connections
	parts    sync.WaitGroup // of what the parts let run
	ready    chan struct{}  // closed after the first look
	changed  chan struct{}  // clients or teams changed
	beside   []func(context.Context)
	clients  atomic.Int64
	held     atomic.Int64 // by parts that have something to do
	enough   context.CancelCauseFunc
}

// errJoined ends a daemon that was begun before this machine joined an engine, or left it.
var errJoined = errors.New("this machine has joined an engine, or left it")

// errAsked ends a daemon that was told to stop.
var errAsked = errors.New("asked to stop")

// Run is the daemon: it serves until ctx ends, it is told to stop, or, started on
// demand, nobody needs it. A second one for the same base directory is
// fault.LockTimeout's quiet sibling fault.DuplicateName.
func Run(ctx context.Context, o Options) error {
	state, held, err := dial.Claim(o.Paths)
	if err != nil {
		return err
	}
	defer state.Close()
	defer held.Release()
	components := []db.Component{history.Component()}
	for _, p := range o.Parts {
		if p.Component.Name != "" {
			components = append(components, p.Component)
		}
	}
	store, err := db.Open(ctx, o.Paths.Database(), components...)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, enough := context.WithCancelCause(ctx)
	defer enough(nil)
	d := &daemon{Options: o, started: time.Now(), ready: make(chan struct{}), changed: make(chan struct{}, 1), enough: enough}
	if d.hub, err = newHub(ctx, history.New(store), o.Log, d.notify); err != nil {
		return err
	}
	lead, err := o.Serve()
	if err != nil {
		return err
	}
	w := newWatcher(o.Stores, lead, d.hub, o.Log)
	d.refresh = w.refresh
	deps := Deps{DB: store, Serve: o.Serve, Publish: d.hub.Publish, Hold: d.hold, Log: o.Log,
		Beside: func(f func(context.Context)) { d.beside = append(d.beside, f) }}
	server, err := serve.New(d.methods(deps), o.Log)
	if err != nil {
		return err
	}
	return d.live(ctx, w, server)
}

// live serves until it is enough.
func (d *daemon) live(ctx context.Context, w *watcher, server *serve.Server) error {
	var err error
	if d.listener, err = listen(d.Paths.Socket, d.Log); err != nil {
		return err
	}
	serving, hangUp := context.WithCancel(context.WithoutCancel(ctx)) // also while the parts end, whose teammates may ask
	defer hangUp()
	for _, f := range d.beside {
		d.parts.Go(func() { f(ctx) })
	}
	d.listener.Start(func(conn *net.UnixConn) {
		if d.Current != nil && !d.Current() { // the next one is
			d.enough(errJoined)
			d.parts.Wait() // until then it is on the list of the engine
			return
		}
		d.clients.Add(1)
		d.notify()
		server.Serve(rpc.WithTeammate(serving, d.calling(conn)), conn)
		d.clients.Add(-1) // first: nobody looks again until the next change
		d.notify()
	})
	d.Log.Info("daemon is up", "pid", os.Getpid(), "base", d.Paths.Base, "socket", d.Paths.Socket, "onDemand", d.OnDemand)
	run := make(chan error, 2)
	go func() { run <- w.run(ctx, func() { close(d.ready); d.notify() }) }()
	go func() { run <- d.guard(ctx) }()
	if d.OnDemand {
		go d.endWhenIdle(ctx)
	}
	err = <-run
	if err == nil {
		<-ctx.Done()
	}
	d.enough(err)
	d.parts.Wait()
	hangUp()
	d.listener.Close()
	d.listener.Wait()
	d.wg.Wait()
	err = errors.Join(err, <-run)
	d.Stores.Panes.TidyRun(context.WithoutCancel(ctx)) // while it was up, its folder was taken for a host's
	d.Log.Info("daemon ends", "why", context.Cause(ctx))
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// hold keeps the daemon up until it is released.
func (d *daemon) hold() (release func()) {
	d.held.Add(1)
	d.notify()
	return sync.OnceFunc(func() {
		d.held.Add(-1)
		d.notify()
	})
}

// notify says that clients or teams have changed.
func (d *daemon) notify() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// errIdle ends a daemon that nobody needs.
var errIdle = errors.New("no client and no live teammate")

func (d *daemon) endWhenIdle(ctx context.Context) {
	timer := time.NewTimer(linger)
	defer timer.Stop()
	quiet := true // since the timer was started
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.changed:
			if busy := d.busy(); busy == quiet {
				quiet = !busy
				if quiet {
					timer.Reset(linger)
				}
			}
		case <-timer.C:
			if quiet = !d.busy(); quiet {
				d.enough(errIdle)
				return
			}
		}
	}
}

// busy tells whether somebody needs the daemon. Before the first look it is.
func (d *daemon) busy() bool {
	select {
	case <-d.ready:
	default:
		return true
	}
	var s api.DaemonStatus
	d.hub.count(&s)
	return d.clients.Load() > 0 || s.Live > 0 || d.held.Load() > 0
}
