package cli

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/maildir"
	"github.com/leadlight-dev/leadlight/teams/store/remote"
	"github.com/leadlight-dev/leadlight/teams/store/routed"
)

// stores puts together where teams are: in files, and on the engine, if this machine has
// joined one. The daemon holds the connection; all others ask it.
func (a *app) stores(s *config.Settings, c *composition) (all store.Stores, err error) {
	folders := map[string]store.Mail{store.MailboxMaildir: maildir.New(c.files.Dir(), maildir.Options{Watcher: c.files.Watcher()})}
	here := store.Stores{Roster: c.files.Roster(), Mail: c.files.Mail(folders), Tasks: c.files.Tasks()}
	p := dial.PathsOf(s.BaseDir.V, a.getenv)
	joined, err := p.Joined()
	if err != nil || joined == nil {
		return here, err
	}
	reach := func(ctx context.Context) (*rpc.Client, error) {
		conn, _, err := a.reachDaemon(ctx, p)
		return conn, err
	}
	c.config.Machine, c.config.Machines = joined.Name, otherMachines{reach}
	there := store.Stores{}
	if e := a.engine; e != nil {
		c.config.Machines = e
		there, c.hangUp = store.Stores{Roster: e.Roster(), Mail: e.Mail(), Tasks: e.Tasks()}, func() { _ = e.Close() }
	} else {
		client := remote.New(reach)
		there, c.hangUp = store.Stores{Roster: client.Roster(), Mail: client.Mail(), Tasks: client.Tasks()}, func() { _ = client.Close() }
	}
	notice := func(err error) { a.warn([]string{fault.Of(err).Message}) }
	return routed.New(here, there, joined.Engine, c.files.RemoveRecords, notice), nil
}

// otherMachines asks the other machines by way of this one's daemon.
type otherMachines struct {
	reach func(context.Context) (*rpc.Client, error)
}

// Do implements teams.Machines. A daemon that ends before it answers is asked again: under
// the same id nothing is done twice.
func (o otherMachines) Do(ctx context.Context, call api.MachineCall, tell func(json.RawMessage)) (json.RawMessage, error) {
	result, err := o.do(ctx, call, tell)
	if errors.Is(err, rpc.ErrHungUp) && ctx.Err() == nil && !call.Follow {
		result, err = o.do(ctx, call, tell)
	}
	return result, err
}

func (o otherMachines) do(ctx context.Context, call api.MachineCall, tell func(json.RawMessage)) (json.RawMessage, error) {
	conn, err := o.reach(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close() // which ends the call there, if ctx has ended
	var answer api.MachineResult
	err = conn.CallTold(ctx, "machine.do", call, &answer, rpc.MachineTold, func(raw json.RawMessage) {
		var t api.MachineTold
		if json.Unmarshal(raw, &t) == nil {
			tell(t.Told)
		}
	})
	if m := answer.Mute; m != nil && err == nil {
		err = api.Mute{Machine: call.Machine, Err: m}
	}
	return answer.Result, err
}

// List implements teams.Machines.
func (o otherMachines) List(ctx context.Context) ([]api.Machine, error) {
	return o.list(ctx, api.MachineList{})
}

// Seen implements teams.Machines.
func (o otherMachines) Seen(ctx context.Context) ([]api.Machine, error) {
	return o.list(ctx, api.MachineList{Uncounted: true})
}

func (o otherMachines) list(ctx context.Context, how api.MachineList) (list []api.Machine, err error) {
	conn, err := o.reach(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return list, conn.Call(ctx, "machine.ls", how, &list)
}

// openEngine connects the daemon to the engine that this machine has joined, nil if none.
func (a *app) openEngine(p dial.Paths, joined *dial.Machine) (_ Engine, err error) {
	if joined == nil {
		return nil, nil
	}
	a.engine, err = a.long.Engine(p, *joined, version().Version, a.daemonLog())
	return a.engine, err
}

// engineFor is the address of the engine that is to keep a new team, "" for files: the one
// that is given, else that of the settings. One that this machine has not joined is refused.
func (a *app) engineFor(given string) (url string, err error) {
	s, err := a.set(nil)
	if err != nil {
		return "", err
	}
	url, origin := given, "--engine"
	if url == "" {
		url, origin = s.Engine.V, s.Engine.Origin.String()
	}
	if url == "" || url == store.InFiles {
		return "", nil
	}
	_, joined, err := a.joined()
	switch {
	case err != nil:
		return "", err
	case joined == nil:
		return "", fault.New(fault.EngineUnavailable, "%s asks for the engine %s, and this machine has joined no engine", origin, store.EngineShown(url)).
			WithHint("leadlight machine join %s", store.EngineShown(url))
	case joined.Engine != url:
		return "", fault.New(fault.InvalidArgument, "%s asks for the engine %s, and this machine has joined %s", origin, store.EngineShown(url), joined.Engine).
			WithHint("leadlight machine ls shows the engine")
	}
	return url, nil
}
