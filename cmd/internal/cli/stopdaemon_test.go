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

// A daemon that is told to end may do so before its answer has come: it has ended all the
// same. One that says no is believed at once.
func TestStopDaemon(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		ends   bool
	}{
		"hangs up":            {"", true},
		"takes back the call": {`{"jsonrpc":"2.0","id":%s,"error":{"code":-32097,"message":"request cancelled"}}`, true},
		"answers":             {`{"jsonrpc":"2.0","id":%s,"result":{}}`, true},
		"says no":             {`{"jsonrpc":"2.0","id":%s,"error":{"code":-32004,"message":"no","data":{"code":"NOT_LEAD","message":"no"}}}`, false},
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
			over := make(chan struct{})
			go func() {
				defer func() { _ = input.Close(); _ = daemon.Wait() }()
				if _, err := bufio.NewReader(theirs).ReadString('\n'); err == nil && tc.answer != "" {
					fmt.Fprintf(theirs, tc.answer+"\n", "1")
				}
				if !tc.ends { // it goes on
					<-over
				}
				_ = theirs.Close()
			}()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := stopDaemon(ctx, c, daemon.Process.Pid); (err == nil) != tc.ends {
				t.Errorf("%v", err)
			}
			close(over)
		})
	}
}
