package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/leaktest"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
	"github.com/leadlight-dev/leadlight/teams/watch"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// fixture is a base directory with real files and no terminal.
type fixture struct {
	t    *testing.T
	base string
	fs   *claudefs.FS
	made int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	base := t.TempDir()
	fs, err := claudefs.Open(base, claudefs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fs.Close() })
	return &fixture{t: t, base: base, fs: fs}
}

// as returns the verbs as somebody uses them: "" is a lead of a session of its own.
func (d *fixture) as(name string) (*teams.Service, teams.Caller) {
	noTerminal := fault.New(fault.BackendUnavailable, "no terminal here")
	who := teams.Caller{Name: store.Lead, Session: true}
	if name != "" {
		who = teams.Caller{Name: name, Teammate: true}
	}
	return teams.New(teams.Config{
		Base: d.base, Roster: d.fs.Roster(), Mail: d.fs.Mail(nil), Tasks: d.fs.Tasks(), Cwd: d.base, Environ: []string{"PATH=" + os.Getenv("PATH")},
		Panes: panes.NewManager(panes.Options{Dir: d.fs.Dir(), Base: d.base, Runtime: d.t.TempDir(), Environ: os.Environ(),
			Choose: func(context.Context) (panes.Choice, error) { return panes.Choice{}, noTerminal },
			Claims: teams.Claims(d.fs.Roster(), panes.NewRecords(d.fs.Dir())),
			Open:   func(string, string) (backend.Backend, error) { return nil, noTerminal }}),
		Caller: who,
	}), who
}

// serve starts a server for a caller and returns a client of it.
func (d *fixture) serve(name string, set func(*Options), client *sdk.ClientOptions) *sdk.ClientSession {
	d.t.Helper()
	svc, who := d.as(name)
	o := Options{Source: watch.Source{Service: svc, Roster: d.fs.Roster(), Mail: d.fs.Mail(nil), Tasks: d.fs.Tasks()}, Caller: who, Enabled: true}
	if set != nil {
		set(&o)
	}
	s := New(o)
	mine, theirs := sdk.NewInMemoryTransports()
	done := make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		done <- s.run(ctx, func(ctx context.Context) error { return s.sdk.Run(ctx, theirs) })
	}()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, client).Connect(d.t.Context(), mine, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = c.Close()
		select {
		case <-done:
		case <-time.After(time.Minute):
			d.t.Error("the server does not end when its client has gone")
		}
		stop()
	})
	return c
}

// teammates are members that count as live, however long a test takes: who was just started may
// be without a host.
func (d *fixture) teammates(team string, names ...string) {
	d.t.Helper()
	hosts := panes.NewManager(panes.Options{Dir: d.fs.Dir(), Base: d.base})
	err := d.fs.Roster().Update(d.t.Context(), team, func(t *store.Team) error {
		now := time.Now()
		spawned := now.Add(time.Minute)
		for _, name := range names {
			if err := hosts.Expect(team, name); err != nil {
				return err
			}
			d.made++
			host := fmt.Sprintf("00000000-0000-4000-8000-%012d", d.made)
			t.Members = append(t.Members, store.Member{Name: name, AgentID: name + "@" + team, Color: "blue", JoinedAt: now,
				Leadlight: &store.Bookkeeping{Host: host, Kind: "plain", State: api.StateStarting, SpawnedAt: &spawned}})
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// stopped writes down that a member has ended.
func (d *fixture) stopped(team, name string) {
	d.t.Helper()
	err := d.fs.Roster().Update(d.t.Context(), team, func(t *store.Team) error {
		t.Member(name).Leadlight.State = api.StateStopped
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

type args = map[string]any

// ask calls a tool that answers, whether well or not.
func ask(t *testing.T, c *sdk.ClientSession, name string, in any) (*sdk.CallToolResult, complaint) {
	t.Helper()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		t.Fatalf("%s %v: %v", name, in, err)
	}
	var out failure
	into(t, res, &out)
	if res.IsError != (out.Error.Code != "") {
		t.Errorf("%s %v: isError %v, error %+v", name, in, res.IsError, out.Error)
	}
	if len(res.Content) == 0 {
		t.Errorf("%s %v: no text", name, in)
	}
	return res, out.Error
}

func into(t *testing.T, res *sdk.CallToolResult, v any) {
	t.Helper()
	raw, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

// do calls a tool that has to succeed.
func do[T any](t *testing.T, c *sdk.ClientSession, name string, in args) T {
	t.Helper()
	res, e := ask(t, c, name, in)
	if e.Code != "" {
		t.Fatalf("%s %v: %+v", name, in, e)
	}
	var v T
	into(t, res, &v)
	return v
}

// refused calls a tool that has to fail with a code, and with a hint that a model can
// follow.
func refused(t *testing.T, c *sdk.ClientSession, name string, in any, code fault.Code) complaint {
	t.Helper()
	_, e := ask(t, c, name, in)
	if e.Code != string(code) {
		t.Errorf("%s %v: %+v, want %s", name, in, e, code)
	}
	if e.Hint == "" || ofCommandLine(e.Hint) {
		t.Errorf("%s %v: the hint is %q", name, in, e.Hint)
	}
	return e
}
