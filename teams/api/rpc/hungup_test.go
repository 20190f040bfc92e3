package rpc_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// A call whose connection is lost was not interrupted by its caller: who may repeat it has
// to see that.
func TestALostConnectionIsNoInterrupt(t *testing.T) {
	for name, interrupted := range map[string]bool{"the daemon ends": false, "the caller is interrupted": true} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			c := rpc.NewClient(ours)
			defer c.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				_, _ = bufio.NewReader(theirs).ReadString('\n')
				if interrupted {
					cancel()
				} else {
					_ = theirs.Close()
				}
			}()
			err := c.Call(ctx, "daemon.status", nil, nil)
			if errors.Is(err, rpc.ErrHungUp) == interrupted || errors.Is(err, context.Canceled) != interrupted {
				t.Errorf("%v", err)
			}
		})
	}
}
