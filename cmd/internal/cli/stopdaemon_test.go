package cli

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// A daemon that is told to end may do so before its answer has come, or have ended by itself
// since it said hello: it has ended all the same. One that says no is believed at once.
func TestStopDaemon(t *testing.T) {
	for name, tc := range map[string]struct {
		gone   bool
		answer string
		ends   bool
	}{
		"ended by itself":     {gone: true, ends: true},
		"hangs up":            {ends: true},
		"takes back the call": {answer: `{"jsonrpc":"2.0","id":2,"error":{"code":-32097,"message":"request cancelled"}}`, ends: true},
		"answers":             {answer: `{"jsonrpc":"2.0","id":2,"result":{}}`, ends: true},
		"says no":             {answer: `{"jsonrpc":"2.0","id":2,"error":{"code":-32004,"message":"no","data":{"code":"NOT_LEAD","message":"no"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			daemon := exec.Command("cat")
			input, err := daemon.StdinPipe()
			if err == nil {
				err = daemon.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs := net.Pipe()
			c := rpc.NewClient(ours)
			defer c.Close()
			over, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				defer func() { _ = input.Close(); _ = daemon.Wait() }()
				defer theirs.Close()
				lines := bufio.NewReader(theirs)
				if _, err := lines.ReadString('\n'); err == nil {
					fmt.Fprintf(theirs, `{"jsonrpc":"2.0","id":1,"result":{"pid":%d}}`+"\n", daemon.Process.Pid)
				}
				if tc.gone {
					return
				}
				if _, err := lines.ReadString('\n'); err == nil && tc.answer != "" {
					fmt.Fprintln(theirs, tc.answer)
				}
				if !tc.ends { // it goes on
					<-over
				}
			}()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := c.Hello(ctx, ""); err != nil {
				t.Fatal(err)
			}
			if tc.gone {
				<-ended
			}
			if pid, err := (&app{}).endDaemon(ctx, c, nil); (err == nil) != tc.ends || pid != daemon.Process.Pid {
				t.Errorf("process %d: %v", pid, err)
			}
			close(over)
			<-ended
		})
	}
}
