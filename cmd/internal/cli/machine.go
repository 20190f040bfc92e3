package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

func machineCommand(a *app) *cobra.Command {
	return group("machine", plain(a, "machine ls", runMachineList), a.handOver(machineJoinCommand(a, byLead("join an engine", runMachineJoin))), machineLeaveCommand(a, byLead("leave an engine", runMachineLeave)))
}

func machineJoinCommand(a *app, run func(context.Context, *app, dial.Machine) error) *cobra.Command {
	var o dial.Machine
	c := command(a, "machine join", run, &o, one(&o.Engine), noFiles)
	f := c.Flags()
	f.Var(given(&o.Name), "name", "`NAME` of this machine, if not that of the host")
	f.Var(given(&o.Access.Creds), "creds", "`FILE` with NATS credentials")
	f.Var(given(&o.Access.NKey), "nkey", "`FILE` with the seed of an nkey")
	f.Var(given(&o.Access.Token), "token-file", "`FILE` with a token")
	f.Var(given(&o.Access.CA), "tls-ca", "`FILE` with the certificates that sign the engine's")
	f.Var(given(&o.Access.Cert), "tls-cert", "`FILE` with this machine's certificate")
	f.Var(given(&o.Access.Key), "tls-key", "`FILE` with the key of that certificate")
	return c
}

func machineLeaveCommand(a *app, run func(context.Context, *app, bool) error) *cobra.Command {
	var force bool
	c := command(a, "machine leave", run, &force, takes(0, 0), noFiles)
	c.Flags().BoolVar(&force, "force", false, "leave although teammates run here, or the engine cannot be asked who does; gc then ends them")
	return c
}

func runMachineJoin(ctx context.Context, a *app, m dial.Machine) error {
	p, now, err := a.joined()
	switch {
	case err != nil:
		return err
	case now != nil:
		return fault.New(fault.Rejected, "this machine has joined %s as %s already", now.Engine, now.Name).WithHint("leadlight machine leave first")
	}
	c, err := a.runningDaemon(ctx) // now: once the record is another, it lets nobody in
	if err != nil {
		return err
	}
	m.Name, m.Owner = cmp.Or(m.Name, hostName()), rand.Text()
	if err := store.CheckNewTeam(m.Name); err != nil {
		return fault.New(fault.InvalidName, "%q is not the name of a machine", store.Shown(m.Name)).WithHint("give one with --name: 3 to 64 lower-case letters and digits, in words joined by single hyphens")
	}
	if err := a.wholePaths(&m.Access); err != nil {
		return err
	}
	recorded := false
	err = a.long.Join(ctx, m, version().Version, a.daemonLog(), func(m dial.Machine) error {
		if err := knowNoTeams(p.Base); err != nil {
			return err
		}
		if err := p.Join(ctx, m); err != nil {
			return fmt.Errorf("write down what was joined: %w", err)
		}
		recorded = true
		return nil
	})
	if err == nil {
		err = a.renewDaemon(ctx, c)
	}
	if err != nil && recorded {
		_, undo := p.Leave()
		err = errors.Join(err, undo)
	}
	if err != nil {
		return err
	}
	a.say("machine %s has joined %s", m.Name, m.Engine)
	for _, path := range m.Access.OpenToAll() {
		a.say("leadlight: warning: by its mode every user may read the secret in %s: chmod 600 it", path)
	}
	return nil
}

// knowNoTeams makes the folder of teams in files where no team was ever known: without it nobody
// could tell later that a team is gone, and gc would keep what runs of it.
func knowNoTeams(base string) error {
	dir, err := files.Open(base)
	if err != nil {
		return err
	}
	defer dir.Close()
	if _, err := dir.Lstat(panes.OwnPath("")); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return dir.MkdirAll("teams")
}

// hostName is the name of the host in the form of a machine's name.
func hostName() string {
	name, _ := os.Hostname()
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name), "-")
}

// wholePaths makes the paths absolute, and refuses files that cannot be read.
func (a *app) wholePaths(access *dial.Access) error {
	for _, path := range []*string{&access.Creds, &access.NKey, &access.Token, &access.CA, &access.Cert, &access.Key} {
		if *path == "" {
			continue
		}
		whole := a.path(*path)
		if _, err := files.ReadFile(whole, files.MaxSecret); err != nil {
			return fault.New(fault.InvalidArgument, "the file cannot be read: %w", err)
		}
		*path = whole
	}
	if (access.Cert == "") != (access.Key == "") {
		return usage("--tls-cert and --tls-key belong together")
	}
	return nil
}

// renewDaemon makes the daemon, of before if that is not nil, begin anew with what is recorded now.
func (a *app) renewDaemon(ctx context.Context, before *rpc.Client) error {
	if before != nil {
		if _, err := a.endDaemon(ctx, before, nil); err != nil {
			return err
		}
	}
	_, err := a.daemon(ctx)
	return err
}

func runMachineLeave(ctx context.Context, a *app, force bool) error {
	p, err := a.daemonPaths()
	if err != nil {
		return err
	}
	if err := a.refuseTeammatesOfEngine(ctx, p, force); err != nil {
		return err
	}
	c, mute := a.runningDaemon(ctx) // now: once the record is another, it lets nobody in
	switch was, err := p.Leave(); {
	case err != nil:
		return fmt.Errorf("leave the engine: %w", err)
	case !was:
		a.say("this machine has joined no engine")
		return nil
	}
	err = cmp.Or(mute, dial.ErrNone)
	if c != nil {
		err = c.Call(ctx, "machine.leave", nil, nil)
	}
	if err != nil {
		a.say("leadlight: warning: this machine was not taken off the list of the engine: %s", fault.Of(err).Message)
	}
	if c != nil {
		_, mute = a.endDaemon(ctx, c, nil)
	}
	if mute != nil {
		return mute
	}
	a.say("this machine has left the engine")
	return nil
}

// refuseTeammatesOfEngine refuses to leave teammates of a team on the engine behind.
func (a *app) refuseTeammatesOfEngine(ctx context.Context, p dial.Paths, force bool) error {
	if joined, err := p.Joined(); force || err != nil || joined == nil {
		return nil // leave is the way out of a damaged record
	}
	list, err := a.machines(ctx)
	if err != nil {
		e := fault.Of(err)
		return fault.New(e.Code, "ask the engine who runs here: %w", err).WithHint("--force leaves all the same")
	}
	for _, m := range list {
		if m.This && m.Teammates > 0 {
			return fault.New(fault.ActiveMembers, "%d teammates of teams on the engine run on this machine", m.Teammates).WithHint("leadlight stop --all --team NAME ends them; --force leaves all the same, and leadlight gc then ends those of here")
		}
	}
	return nil
}

func (a *app) machines(ctx context.Context) ([]api.Machine, error) {
	return ask[[]api.Machine](ctx, a, "machine.ls", nil)
}

func runMachineList(ctx context.Context, a *app) error {
	_, joined, err := a.joined()
	if err != nil {
		return err
	}
	if joined == nil {
		return fault.New(fault.EngineUnavailable, "this machine has joined no engine").WithHint("leadlight machine join nats://HOST:4222")
	}
	list, err := a.machines(ctx)
	if err != nil {
		return fmt.Errorf("this machine has joined %s as %s: %w", store.EngineShown(joined.Engine), joined.Name, err)
	}
	return a.answer(list, nil, func(w io.Writer) {
		t := &table{head: []string{"NAME", "STATE", "SEEN", "TEAMMATES", "LOAD", "TERMINALS", "VERSION"}}
		for _, m := range list {
			name := m.Name
			if m.This {
				name += " (this)"
			}
			t.add(name, m.State, since(m.Seen), m.Teammates, fmt.Sprintf("%.1f", m.Load), strings.Join(m.Terminals, " "), m.Version)
		}
		a.table(w, t)
	})
}
