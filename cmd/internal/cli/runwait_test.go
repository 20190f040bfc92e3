package cli

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// TestXS14_TheResultOutlivesTheDaemon: who waits for a run asks another daemon for what it came
// to if the first one ends before it has answered.
func TestXS14_TheResultOutlivesTheDaemon(t *testing.T) {
	dial := func(answer string) *rpc.Client {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			if _, err := theirs.Read(make([]byte, 1<<10)); err == nil {
				_, _ = io.WriteString(theirs, answer)
			}
		}()
		return rpc.NewClient(ours)
	}
	a, asked := &app{conn: dial("")}, 0
	answer, err := untilAnswered(t.Context(), a, func() (string, error) {
		if asked++; a.conn == nil {
			a.conn = dial(`{"jsonrpc":"2.0","id":1,"result":"done"}` + "\n")
		}
		return ask[string](t.Context(), a, "teamRun:report", nil)
	})
	if answer != "done" || err != nil || asked != 2 {
		t.Errorf("%q after %d questions: %v", answer, asked, err)
	}
	a.hangUp()
	over, end := context.WithCancel(t.Context())
	end()
	a.conn = dial("")
	defer a.hangUp()
	if _, err := untilAnswered(over, a, func() (string, error) { return ask[string](t.Context(), a, "teamRun:report", nil) }); err == nil {
		t.Error("an interrupted wait has an answer")
	}
}
