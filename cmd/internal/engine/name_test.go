package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// Nobody says that this machine is there on an engine that is not the one that was joined.
func TestNoBeatOnAnotherEngine(t *testing.T) {
	t.Parallel()
	server := natstest.For(t)
	m := dial.Machine{Name: "hub", Engine: server.URL}
	var err error
	if m.ID, err = jetstream.Join(t.Context(), jetstream.Options{URL: server.URL}); err != nil {
		t.Fatal(err)
	}
	for id, there := range map[string]bool{m.ID: true, "another": false} {
		m.Name, m.ID = "on-"+id[:4], id
		e, err := Open(m, "", "1", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		if err := e.beat(t.Context()); (err == nil) != there {
			t.Errorf("%s: %v", id, err)
		}
		list, err := e.Machines(t.Context(), jetstream.Machine{Name: "who-asks"})
		listed := slices.ContainsFunc(list, func(x jetstream.SeenMachine) bool { return x.Name == m.Name })
		if err != nil || listed != there {
			t.Errorf("%s is listed: %v, %v", m.Name, listed, err)
		}
		if !there {
			continue
		}
		if _, err := e.leave(t.Context(), rpc.Nothing{}); err != nil {
			t.Error(err)
		}
		if err := e.beat(t.Context()); err != nil {
			t.Error(err)
		}
		for what, look := range map[string]func() error{
			"machine ls": func() error { _, err := e.list(t.Context(), api.MachineList{}); return err },
			"a verb":     func() error { _, err := e.find(t.Context(), m.Name); return err },
		} { // as the daemon does until it has ended
			if err := look(); fault.CodeOf(err) != fault.EngineUnavailable {
				t.Errorf("%s after it has left: %v", what, err)
			}
		}
		list, err = e.Machines(t.Context(), jetstream.Machine{Name: "who-asks"})
		if err != nil || slices.ContainsFunc(list, func(x jetstream.SeenMachine) bool { return x.Name == m.Name }) {
			t.Errorf("who has left is listed: %+v, %v", list, err)
		}
	}
}

// A machine whose name another one has taken while it was silent does nothing in that name,
// neither here nor for others, until that one has left.
func TestTheNameIsTaken(t *testing.T) {
	t.Parallel()
	server := natstest.For(t)
	id, err := jetstream.Join(t.Context(), jetstream.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	opened := func(owner string) *Engine {
		e, err := Open(dial.Machine{Name: "hub", Engine: server.URL, ID: id, Owner: owner}, "", "1", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	first, second := opened("first"), opened("second")
	asked := make(chan string, 10)
	for name, e := range map[string]*Engine{"first": first, "second": second} {
		go e.Answer(t.Context(), func(_ context.Context, _ jetstream.Asked) (any, error) {
			asked <- name
			return name, nil
		})
	}
	if err := first.beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second.beat(t.Context()); fault.CodeOf(err) != fault.EngineUnavailable { // it has not joined
		t.Errorf("a name that another machine has: %v", err)
	}
	if err := second.Claim(t.Context(), second.self); err != nil { // as join does
		t.Fatal(err)
	}
	// first was suspended, and looks at its name only from time to time.
	if _, err := first.list(t.Context(), api.MachineList{}); fault.CodeOf(err) != fault.EngineUnavailable || fault.Of(err).Hint == "" {
		t.Errorf("machine ls of one that does not know yet: %v", err)
	}
	if err := first.Beat(t.Context(), first.self); fault.CodeOf(err) != fault.DuplicateName {
		t.Errorf("a beat between the look at the name and the write: %v", err)
	}
	if err := first.beat(t.Context()); fault.CodeOf(err) != fault.EngineUnavailable || fault.Of(err).Hint == "" {
		t.Errorf("the name was taken: %v", err)
	}
	if _, err := first.list(t.Context(), api.MachineList{}); fault.CodeOf(err) != fault.EngineUnavailable {
		t.Errorf("machine ls of who has lost its name: %v", err)
	}
	if err := second.beat(t.Context()); err != nil {
		t.Errorf("who has it now: %v", err)
	}
	who := connectedTo(t, server.URL)
	ask := func(id string) string {
		call := jetstream.Call{ID: id, Verb: "x", Params: json.RawMessage("{}")}
		if _, err := who.Ask(t.Context(), "hub", call, time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		return <-asked
	}
	if name := ask("one"); name != "second" || len(asked) > 0 {
		t.Errorf("%s was asked, and %d more", name, len(asked))
	}
	if _, err := second.leave(t.Context(), rpc.Nothing{}); err != nil {
		t.Fatal(err)
	}
	if err := first.beat(t.Context()); err != nil {
		t.Errorf("when the other one has left: %v", err)
	}
}

func connectedTo(t *testing.T, url string) *jetstream.Engine {
	t.Helper()
	e, err := jetstream.Open(jetstream.Options{URL: url, Machine: "asker"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestACopyOfAMachine: of two daemons with one record the one that came later yields, also when the
// first one was started again since.
func TestACopyOfAMachine(t *testing.T) {
	t.Parallel()
	server := natstest.For(t)
	id, err := jetstream.Join(t.Context(), jetstream.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	begun := func() *Engine {
		e, err := Open(dial.Machine{Name: "hub", Engine: server.URL, ID: id, Owner: "one"}, "", "1", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	beats := func(who string, e *Engine, want fault.Code) {
		if err := e.beat(t.Context()); fault.CodeOf(err) != want {
			t.Errorf("%s: %v; want %q", who, err, want)
		}
	}
	here, copied := begun(), begun()
	beats("the first one", here, "")
	beats("a later one, which may be its next daemon", copied, "")
	beats("the first one goes on", here, "")
	beats("the later one", copied, fault.EngineUnavailable)
	next := begun()
	beats("the next daemon of the first one", next, "")
	beats("it again", next, "")
	beats("the later one", copied, fault.EngineUnavailable)
}
