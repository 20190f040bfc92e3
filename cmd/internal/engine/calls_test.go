package engine

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// A teammate asks other machines in its own name, whatever it says.
func TestATeammateNamesNoOtherCaller(t *testing.T) {
	for _, said := range []string{
		`{"team":"alpha"}`, `{"team":"alpha","caller":{"name":"team-lead"}}`, `{"caller":{"name":"bob","teammate":true},"Caller":{"name":"team-lead"},"team":"alpha"}`,
		`{"team":"alpha","caller":{"name":"bob"},"caller":{"name":"ann","session":true}}`, `{"team":"alpha","\u0063aller":{},"CALLER":null}`,
	} {
		got, err := inNameOf("bob", json.RawMessage(said))
		if err != nil || string(got) != `{"caller":{"name":"bob","teammate":true},"team":"alpha"}` {
			t.Errorf("%s: %s %v", said, got, err)
		}
	}
	for _, said := range []string{"", "null", "[]", `"x"`, "{"} {
		if _, err := inNameOf("bob", json.RawMessage(said)); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v", said, err)
		}
	}
}

// The socket of a stream lets nobody in but the process that has asked.
func TestOnlyWhoAsksGetsTheStream(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "llmeet")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	e := &Engine{run: filepath.Join(dir, "run"), log: slog.New(slog.DiscardHandler)}
	for pid, mine := range map[int]bool{os.Getpid(): true, os.Getppid(): false} {
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan string, 1)
		conn, hangUp, err := e.meet(ctx, pid, func(raw json.RawMessage) {
			var where api.MachineSocket
			if err := json.Unmarshal(raw, &where); err != nil {
				t.Error(err)
			}
			go func() {
				defer cancel()
				c, err := net.Dial("unix", where.Socket)
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				got, _ := io.ReadAll(c)
				answer <- string(got)
			}()
		})
		if (err == nil) != mine {
			t.Errorf("asked by %d, connected by %d: %v", pid, os.Getpid(), err)
		}
		if err == nil {
			if _, err := io.WriteString(conn, "welcome"); err != nil {
				t.Error(err)
			}
			hangUp()
		}
		if got := <-answer; (got == "welcome") != mine {
			t.Errorf("asked by %d, connected by %d: got %q", pid, os.Getpid(), got)
		}
	}
}
