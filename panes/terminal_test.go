package panes

import (
	"errors"
	"net"
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/memory"
)

// TestIT05_ADyingTerminalTakesItsTime: a terminal that ends is waited for, however long it
// still takes connections; one that answers lives.
func TestIT05_ADyingTerminalTakesItsTime(t *testing.T) {
	l, folder, socket := listening(t)
	dying := make(chan struct{})
	go func() {
		defer close(dying)
		for range 40 { // looks; a moment has ten at most
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
		_ = l.Close()
	}()
	launch := LaunchRecord{Terminal: socket, Backend: "kitty"}
	silent := NewManager(Options{Base: folder, Runtime: folder, Open: func(string, string) (backend.Backend, error) {
		return nil, errors.New("it did not answer")
	}})
	if !silent.TerminalDied(t.Context(), launch) {
		t.Error("a terminal that ended slowly is taken for a live one")
	}
	_ = l.Close()
	<-dying

	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	alive := NewManager(Options{Base: folder, Runtime: folder, Open: func(string, string) (backend.Backend, error) {
		return memory.New(), nil
	}})
	if alive.TerminalDied(t.Context(), launch) {
		t.Error("a terminal that answers is taken for a dead one")
	}
}
