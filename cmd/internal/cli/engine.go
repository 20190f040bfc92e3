package cli

import (
	"context"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/remote"
	"github.com/leadlight-dev/leadlight/teams/store/routed"
)

// stores puts together where teams are: in files, and on the engine, if this machine has
// joined one. The daemon holds the connection; all others ask it.
func (a *app) stores(s *config.Settings, c *composition) (all routed.Stores, machine string, err error) {
	here := routed.Stores{Roster: c.files.Roster(), Mail: c.mail, Tasks: c.files.Tasks()}
	p := dial.PathsOf(s.BaseDir.V, a.getenv)
	joined, err := p.Joined()
	if err != nil || joined == nil {
		return here, "", err
	}
	there := routed.Stores{}
	if e := a.engine; e != nil {
		there, c.hangUp = routed.Stores{Roster: e.Roster(), Mail: e.Mail(), Tasks: e.Tasks()}, func() { _ = e.Close() }
	} else {
		client := remote.New(func(ctx context.Context) (*rpc.Client, error) {
			conn, _, err := a.reachDaemonOf(ctx, p)
			return conn, err
		})
		there, c.hangUp = routed.Stores{Roster: client.Roster(), Mail: client.Mail(), Tasks: client.Tasks()}, func() { _ = client.Close() }
	}
	notice := func(err error) { a.warn([]string{fault.Of(err).Message}) }
	return routed.New(here, there, joined.Engine, c.files.RemoveRecords, notice), joined.Name, nil
}

// openEngine connects the daemon to the engine that this machine has joined, nil if none.
func (a *app) openEngine(p dial.Paths) (Engine, error) {
	joined, err := p.Joined()
	if err != nil || joined == nil {
		return nil, err
	}
	a.engine, err = a.long.Engine(*joined, version().Version, a.daemonLog())
	return a.engine, err
}

// checkEngine refuses an engine that this machine has not joined.
func (a *app) checkEngine(url string) error {
	if url == "" {
		return nil
	}
	p, err := a.daemonPaths()
	if err != nil {
		return err
	}
	joined, err := p.Joined()
	switch {
	case err != nil:
		return err
	case joined == nil:
		return notJoined()
	case joined.Engine != url:
		return fault.New(fault.InvalidArgument, "this machine has joined %s, not %s", joined.Engine, store.Shown(url)).WithHint("leadlight machine ls shows the engine")
	}
	return nil
}
