package tmux

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A server that ends while it is looked for is not called one that runs.
func TestReachAServerThatEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { l.Close() })
	b := &Backend{opt: Options{Socket: path, Own: true}}
	if err := b.reach(context.Background(), os.ErrNotExist); err != nil {
		t.Error(err)
	}
}
