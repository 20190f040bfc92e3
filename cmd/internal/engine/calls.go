package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/unixsock"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
)

// patience is how long a machine that does not answer is asked again.
const patience = 2 * time.Second

// Do lets another machine carry out a verb, see jetstream.Ask.
func (e *Engine) Do(ctx context.Context, d api.MachineCall, tell func(json.RawMessage)) (json.RawMessage, error) {
	return e.doFor(ctx, os.Getpid(), d, tell)
}

// doFor is Do for a process of this machine.
func (e *Engine) doFor(ctx context.Context, pid int, d api.MachineCall, tell func(json.RawMessage)) (json.RawMessage, error) {
	if err := store.CheckNewTeam(d.Machine); err != nil {
		return nil, e.noMachine(ctx, d.Machine)
	}
	if err := e.proved(ctx); err != nil {
		return nil, err
	}
	if d.Stream {
		return e.stream(ctx, pid, d, tell)
	}
	return e.call(ctx, d, tell)
}

func (e *Engine) call(ctx context.Context, d api.MachineCall, tell func(json.RawMessage)) (json.RawMessage, error) {
	call := jetstream.Call{ID: d.ID, Verb: d.Verb, Params: d.Params, Follow: d.Follow, Look: d.Look, Stream: d.Stream}
	result, err := e.Ask(ctx, d.Machine, call, 0, tell)
	if err == (jetstream.Silence{}) && !d.Look {
		if _, err := e.find(ctx, d.Machine); err != nil {
			return nil, err
		}
		result, err = e.Ask(ctx, d.Machine, call, patience, tell)
	}
	if silence, is := errors.AsType[jetstream.Silence](err); is {
		return nil, e.silent(ctx, d, silence.Begun)
	}
	if d.Stream && fault.CodeOf(err) == fault.Unproven {
		return nil, lost(fmt.Sprintf("the daemon of machine %s was started again", d.Machine))
	}
	return result, err
}

// lost is the error of a stream whose other end is gone.
func lost(why string) error {
	return fault.New(fault.Unproven, "%s: the connection to it is lost, and what was typed last may not have arrived", why).
		WithHint("what runs there goes on; leadlight machine ls shows when the machine is back")
}

// silent is the error of a machine that does not answer.
func (e *Engine) silent(ctx context.Context, d api.MachineCall, begun bool) error {
	m, err := e.find(ctx, d.Machine)
	if err != nil {
		return err
	}
	since := max(time.Second, m.Silent.Round(time.Second))
	switch {
	case d.Look:
		err = fault.New(fault.Timeout, "machine %s is silent for %s", m.Name, since)
	case begun && d.Stream:
		err = lost(fmt.Sprintf("machine %s is silent for %s", m.Name, since))
	case begun:
		err = fault.New(fault.Unproven, "machine %s is silent for %s: it had begun to %s", m.Name, since, d.Verb).
			WithHint("leadlight ps shows what became of it, once the machine is back")
	default:
		err = fault.New(fault.Timeout, "machine %s is silent for %s: nothing was done there", m.Name, since).
			WithHint("leadlight machine ls shows when it was seen; if its daemon does not run: leadlight daemon start, on %s", m.Name)
	}
	return api.Mute{Machine: m.Name, Err: err}
}

// find returns what is known of a machine.
func (e *Engine) find(ctx context.Context, name string) (jetstream.SeenMachine, error) {
	list, err := e.machines(ctx)
	if err != nil {
		return jetstream.SeenMachine{}, err
	}
	i := slices.IndexFunc(list, func(m jetstream.SeenMachine) bool { return m.Name == name })
	if i < 0 {
		return jetstream.SeenMachine{}, e.noMachine(ctx, name)
	}
	return list[i], nil
}

// noMachine is the error of a name that no machine has.
func (e *Engine) noMachine(ctx context.Context, name string) error {
	list, err := e.Seen(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	return fault.New(fault.InvalidArgument, "no machine %q has joined the engine", store.Shown(name)).WithHint("the machines: %s", strings.Join(names, ", "))
}

// List lists the machines.
func (e *Engine) List(ctx context.Context) ([]api.Machine, error) {
	return e.list(ctx, api.MachineList{})
}

// Seen is List without the number of teammates.
func (e *Engine) Seen(ctx context.Context) ([]api.Machine, error) {
	return e.list(ctx, api.MachineList{Uncounted: true})
}

// do is Do for a program of this machine, which is told by notifications.
func (e *Engine) do(ctx context.Context, d api.MachineCall) (api.MachineResult, error) {
	peer := rpc.PeerOf(ctx)
	conn, is := peer.Conn().(*net.UnixConn)
	if !is {
		return api.MachineResult{}, fault.New(fault.Unsupported, "machine.do needs a socket of this machine")
	}
	pid, err := unixsock.PeerProcess(conn)
	if err != nil {
		return api.MachineResult{}, fmt.Errorf("find out who asks: %w", err)
	}
	if who, is := rpc.TeammateOf(ctx); is {
		if d.Params, err = inNameOf(who.Name, d.Params); err != nil {
			return api.MachineResult{}, err
		}
	}
	result, err := e.doFor(ctx, pid, d, func(told json.RawMessage) {
		if err := peer.Notify(ctx, rpc.MachineTold, api.MachineTold{ID: d.ID, Told: told}); err != nil {
			peer.Close() // whoever asked does not listen
		}
	})
	if _, is := errors.AsType[api.Mute](err); is {
		return api.MachineResult{Mute: fault.Of(err)}, nil
	}
	return api.MachineResult{Result: result}, err
}

// inNameOf has what a teammate asks of another machine be asked in its own name, whatever it
// says itself: what is the lead's is refused there as it is here.
func inNameOf(teammate string, params json.RawMessage) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(params, &all); err != nil || all == nil {
		return nil, fault.New(fault.InvalidArgument, "the parameters are no object")
	}
	maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool { return strings.EqualFold(key, "caller") })
	caller, err := json.Marshal(map[string]any{"name": teammate, "teammate": true})
	if err != nil {
		return nil, err
	}
	all["caller"] = caller
	return json.Marshal(all)
}
