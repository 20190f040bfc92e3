// Package engine is the daemon's part for a machine that has joined an engine: it holds the
// one connection, says that the machine is there, and serves the stores of the engine to
// the programs of this machine.
package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/remote"
)

// beatEvery is how often a machine says that it is there.
const beatEvery = jetstream.SilenceLimit / 3

// offLimit bounds what a daemon that ends does for the list.
const offLimit = 2 * time.Second

// Engine is the engine that this machine has joined.
type Engine struct {
	*jetstream.Engine
	joined dial.Machine
	self   jetstream.Machine
	run    string // the folder for sockets
	log    *slog.Logger
	known  atomic.Uint64 // the connection for which the engine was proved to be the one

	name name

	beating sync.Mutex
	left    bool // nothing more is said there
}

func options(m dial.Machine, log *slog.Logger) jetstream.Options {
	return jetstream.Options{URL: m.Engine, Machine: m.Name, Access: jetstream.Access(m.Access), Log: log}
}

// Open connects to what was joined, in the background if it does not answer now. run is the
// folder for sockets.
func Open(m dial.Machine, run, version string, log *slog.Logger) (*Engine, error) {
	e, err := jetstream.Open(options(m, log))
	if err != nil {
		return nil, err
	}
	self := jetstream.Machine{Name: m.Name, Owner: m.Owner, Version: version, Process: rand.Text(), Terminals: terminals()}
	return &Engine{Engine: e, joined: m, self: self, run: run, log: log}, nil
}

// Join prepares an engine for a machine, has record write down what is joined, and takes the
// name there, in this order: one that is cut off and tried again finds no name of its own that
// looks like another machine's. A name that another machine has is refused; one that is silent
// loses it.
func Join(ctx context.Context, m dial.Machine, version string, log *slog.Logger, record func(dial.Machine) error) (err error) {
	if err := store.CheckEngine(m.Engine); err != nil {
		return err
	}
	if m.ID, err = jetstream.Join(ctx, options(m, log)); err != nil {
		return err
	}
	e, err := Open(m, "", version, log)
	if err != nil {
		return err
	}
	defer e.Close()
	asking := e.self
	asking.Name = "joining-" + asking.Process
	defer func() { err = errors.Join(err, e.Leave(context.WithoutCancel(ctx), asking.Name)) }()
	list, err := e.Machines(ctx, asking)
	if err != nil {
		return err
	}
	for _, other := range list {
		if other.Name == m.Name && other.Silent < jetstream.SilenceLimit {
			return fault.New(fault.DuplicateName, "a machine called %s is there already", m.Name).WithHint("choose another name with --name; a machine that says nothing more loses its name after %s", jetstream.SilenceLimit)
		}
	}
	if err := record(m); err != nil {
		return err
	}
	return e.Claim(ctx, e.self)
}

// terminals are those of this machine that can hold panes.
func terminals() []string {
	out := []string{"headless"}
	for _, program := range []string{"tmux", "kitty"} {
		if _, err := exec.LookPath(program); err == nil {
			out = append(out, program)
		}
	}
	return out
}

// load is how many processes want to run, 0 where the system does not say.
func load() float64 {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(data), " ")
	l, _ := strconv.ParseFloat(first, 64)
	return l
}

// Run says that the machine is there, until ctx ends. One that has left, which current tells, and
// was cut off before it was taken off the list, is taken off it.
func (e *Engine) Run(ctx context.Context, current func() bool) {
	defer func() {
		if current() || e.hasLeft() {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), offLimit)
		defer cancel()
		if _, err := e.leave(ctx, rpc.Nothing{}); err != nil {
			e.log.Warn("take this machine off the list", "error", err)
		}
	}()
	tick := time.Tick(beatEvery)
	for current() {
		if err := e.beat(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("say that this machine is there", "error", err)
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return
		}
	}
}

// beat says once that the machine is there, on the engine that was joined and on no other.
func (e *Engine) beat(ctx context.Context) error {
	e.beating.Lock()
	defer e.beating.Unlock()
	if e.left {
		return nil
	}
	if err := e.provedNow(ctx, true); err != nil {
		return err
	}
	return e.still(ctx, e.Beat(ctx, e.now()))
}

func (e *Engine) hasLeft() bool {
	e.beating.Lock()
	defer e.beating.Unlock()
	return e.left
}

// leave takes the machine off the list of the engine.
func (e *Engine) leave(ctx context.Context, _ rpc.Nothing) (rpc.Nothing, error) {
	e.beating.Lock()
	defer e.beating.Unlock()
	e.left = true
	if err := e.proved(ctx); err != nil {
		return rpc.Nothing{}, err
	}
	return rpc.Nothing{}, e.Leave(ctx, e.joined.Name)
}

func (e *Engine) now() jetstream.Machine {
	m := e.self
	m.Load = load()
	return m
}

// Methods are what the daemon serves of it. Nothing is served of an engine that is not the
// one that was joined.
func (e *Engine) Methods() []rpc.Method {
	return append(remote.Methods(func(ctx context.Context) (store.Stores, error) {
		return store.Stores{Roster: e.Roster(), Mail: e.Mail(), Tasks: e.Tasks()}, e.proved(ctx)
	}), rpc.Func("machine.ls", "The machines that have joined the engine.", e.list),
		rpc.Func("machine.leave", "Take this machine off their list.", e.leave).OfLead(),
		rpc.Func("machine.do", "Let another machine carry out a verb on its teammates. What it tells meanwhile comes as notifications.", e.do))
}

// proved asks once for each connection whether the engine is the one that was joined, and from
// time to time whether this machine still has its name there.
func (e *Engine) proved(ctx context.Context) error { return e.provedNow(ctx, false) }

// provedNow is proved; with now, the name is looked at in any case.
func (e *Engine) provedNow(ctx context.Context, now bool) error {
	connection := e.Connection()
	if e.known.Load() != connection {
		if err := e.Check(ctx, e.joined.ID); err != nil {
			return err
		}
		e.known.Store(connection)
	}
	return e.name.mine(ctx, connection, now, e.stillMine)
}

// still is the error of what was said in the name of this machine: if another one has taken the
// name since it was looked at last, what is told of that.
func (e *Engine) still(ctx context.Context, err error) error {
	if fault.CodeOf(err) != fault.DuplicateName {
		return err
	}
	return cmp.Or(e.provedNow(ctx, true), err)
}

// machines are all machines. This one says that it is there with that.
func (e *Engine) machines(ctx context.Context) ([]jetstream.SeenMachine, error) {
	list, err := e.Machines(ctx, e.now())
	return list, e.still(ctx, err)
}

func (e *Engine) list(ctx context.Context, how api.MachineList) ([]api.Machine, error) {
	if err := e.proved(ctx); err != nil {
		return nil, err
	}
	found, err := e.machines(ctx)
	if err != nil {
		return nil, err
	}
	var count map[string]int
	if !how.Uncounted {
		if count, err = e.teammates(ctx); err != nil {
			return nil, err
		}
	}
	out := []api.Machine{}
	for _, m := range found {
		if strings.HasPrefix(m.Name, "joining-") {
			continue
		}
		state := api.MachineActive
		if m.Silent >= jetstream.SilenceLimit {
			state = api.MachineSilent
		}
		out = append(out, api.Machine{Name: m.Name, State: state, Seen: api.At(m.Seen), SilentMS: m.Missed.Milliseconds(), Version: m.Version, Teammates: count[m.Name], Load: m.Load,
			Terminals: m.Terminals, Engine: e.URL(), This: m.Name == e.joined.Name})
		if m.Name == e.joined.Name {
			out[len(out)-1].AheadMS = e.Ahead(ctx).Milliseconds()
		}
	}
	return out, nil
}

// teammates counts by machine those that are not known to have ended.
func (e *Engine) teammates(ctx context.Context) (map[string]int, error) {
	names, err := e.Roster().List(ctx)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, name := range names {
		t, err := e.Roster().Get(ctx, name)
		if err != nil {
			continue // deleted just now, or damaged: it is not counted
		}
		for _, m := range t.Teammates() {
			if b := m.Leadlight; b != nil && b.Machine != "" && b.State != api.StateStopped && b.State != api.StateFailed && b.State != api.StateLost {
				count[b.Machine]++
			}
		}
	}
	return count, nil
}
