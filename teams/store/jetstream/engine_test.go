package jetstream_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

// urlVar hands the server to the tests and to their child processes.
const urlVar = "LEADLIGHT_JETSTREAM_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(urlVar) != "" { // a child
		storetest.Main(m, open)
	}
	server, err := natstest.Start("")
	if err != nil {
		fmt.Println("jetstream: the tests that need an engine are skipped:", err)
		storetest.Main(m, open)
	}
	os.Setenv(urlVar, server.URL)
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

func need(t testing.TB) {
	if os.Getenv(urlVar) == "" {
		t.Skip(natstest.ErrNone)
	}
}

// open opens the stores of a base: buckets of their own on the one server.
func open(base string) (storetest.Stores, error) {
	return openAt(os.Getenv(urlVar), natstest.Prefix(base))
}

func openAt(url, prefix string) (storetest.Stores, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o := jetstream.Options{URL: url, Machine: "test", Prefix: prefix}
	id, err := jetstream.Join(ctx, o)
	if err != nil {
		return storetest.Stores{}, err
	}
	e, err := jetstream.Open(o)
	if err != nil {
		return storetest.Stores{}, err
	}
	return storetest.Stores{Roster: e.Roster(), Mail: e.Mail(), Tasks: e.Tasks(), Close: e.Close}, e.Check(ctx, id)
}

func TestRoster(t *testing.T) { need(t); storetest.TestRoster(t, open) }
func TestMail(t *testing.T)   { need(t); storetest.TestMail(t, open) }
func TestTasks(t *testing.T)  { need(t); storetest.TestTasks(t, open) }
func TestShared(t *testing.T) { need(t); storetest.TestShared(t, open) }
