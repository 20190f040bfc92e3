package remote_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/api/rpc/serve"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
	"github.com/leadlight-dev/leadlight/teams/store/remote"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

// socketsVar hands the folder of the sockets to child processes.
const socketsVar = "LEADLIGHT_REMOTE_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(socketsVar) != "" { // a child
		storetest.Main(m, open)
	}
	dir, err := os.MkdirTemp("/tmp", "llr")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Setenv(socketsVar, dir)
	serving = true
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// serving says that this is the process of the daemon, too.
var serving bool

func socketOf(base string) string {
	sum := sha256.Sum256([]byte(base))
	return filepath.Join(os.Getenv(socketsVar), hex.EncodeToString(sum[:8]))
}

// daemon serves the files below a base.
type daemon struct {
	listener net.Listener
	files    *claudefs.FS
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

func startDaemon(base string) (*daemon, error) {
	fs, err := claudefs.Open(base, claudefs.Options{})
	if err != nil {
		return nil, err
	}
	s, err := serve.New(remote.Methods(func(context.Context) (store.Stores, error) {
		return store.Stores{Roster: fs.Roster(), Mail: fs.Mail(nil), Tasks: fs.Tasks()}, nil
	}), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	d := &daemon{files: fs}
	if d.listener, err = net.Listen("unix", socketOf(base)); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.wg.Go(func() {
		for {
			conn, err := d.listener.Accept()
			if err != nil {
				return
			}
			d.wg.Go(func() { s.Serve(ctx, conn) })
		}
	})
	return d, nil
}

func (d *daemon) Close() error {
	d.stop()
	err := d.listener.Close()
	d.wg.Wait()
	return errors.Join(err, d.files.Close())
}

func client(base string) *remote.Client {
	return remote.New(func(ctx context.Context) (*rpc.Client, error) { return rpc.Dial(ctx, socketOf(base)) })
}

// open opens the client half, and in the first process the other half, too.
func open(base string) (storetest.Stores, error) {
	c := client(base)
	s := storetest.Stores{Roster: c.Roster(), Mail: c.Mail(), Tasks: c.Tasks(), Close: c.Close}
	if !serving {
		return s, nil
	}
	d, err := startDaemon(base)
	if err != nil {
		return s, err
	}
	s.Close = func() error { return errors.Join(c.Close(), d.Close()) }
	return s, nil
}

func TestRoster(t *testing.T) { storetest.TestRoster(t, open) }
func TestMail(t *testing.T)   { storetest.TestMail(t, open) }
func TestTasks(t *testing.T)  { storetest.TestTasks(t, open) }
func TestShared(t *testing.T) { storetest.TestShared(t, open) }

// TestDaemonComesBack: a client and its watches go on when the daemon was started anew.
func TestDaemonComesBack(t *testing.T) {
	base := t.TempDir()
	d, err := startDaemon(base)
	if err != nil {
		t.Fatal(err)
	}
	c := client(base)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := c.Roster().Create(ctx, store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}}}); err != nil {
		t.Fatal(err)
	}
	hints, err := c.Mail().Watch(ctx, "alpha", "builder")
	if err != nil {
		t.Fatal(err)
	}
	<-hints
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Roster().List(ctx); err == nil || fault.CodeOf(err) == fault.Timeout {
		t.Errorf("without a daemon: %v", err)
	}
	if d, err = startDaemon(base); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := c.Mail().Put(ctx, "alpha", "builder", store.Message{From: "a", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-hints:
	case <-ctx.Done():
		t.Error("no hint by the new daemon")
	}
	if _, err := c.Mail().Watch(ctx, "nobody", "builder"); fault.CodeOf(err) != fault.TeamNotFound {
		t.Errorf("watch of no team: %v", err)
	}
}
