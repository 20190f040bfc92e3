package panes

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// listening is a socket, in a folder whose path is short enough for it.
func listening(t *testing.T) (l net.Listener, folder, socket string) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "ll")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket = filepath.Join(folder, "s")
	if l, err = net.Listen("unix", socket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, folder, socket
}

// TestAHostThatAnswersIsWaitedFor: what it ends may wait for the CPU for longer than the
// limits say. Nobody kills behind its back what goes on its TERM.
func TestAHostThatAnswersIsWaitedFor(t *testing.T) {
	t.Parallel()
	l, folder, socket := listening(t)
	asked := make(chan struct{}, 1)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				line, _ := bufio.NewReader(conn).ReadString('\n')
				if strings.Contains(line, `"shutdown"`) {
					<-asked // whoever waits wants to know whether it still answers
				} else {
					defer func() { asked <- struct{}{} }()
				}
				fmt.Fprintln(conn, `{"v":1,"result":{}}`)
			}()
		}
	}()
	ended, end := sleeper(t)
	end()
	m := NewManager(Options{Base: folder, Runtime: folder})
	h := ownHost{m: m, seen: sighting{record: HostRecord{Socket: socket, Process: ended}}}
	if _, err := m.Stopper(time.Millisecond, time.Millisecond).shutDown(t.Context(), h, time.Millisecond); err != nil {
		t.Error(err)
	}
}
