package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// answers answers each request that comes with nothing.
func answers(conn net.Conn) {
	for r := json.NewDecoder(conn); ; {
		var q struct{ ID int }
		if r.Decode(&q) != nil {
			return
		}
		fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%d,"result":{}}`+"\n", q.ID)
	}
}

// TestADaemonThatTakesNothing: a call ends with its context also while its request, or one
// before it, is not taken. What is half written makes the connection useless.
func TestADaemonThatTakesNothing(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]int{"nothing": 0, "half a line": 10} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				c := rpc.NewClient(ours)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				got := make(chan error, 2)
				go func() { got <- c.Call(ctx, "first", nil, nil) }()
				_, _ = io.ReadFull(theirs, make([]byte, taken))
				synctest.Wait()
				go func() { got <- c.Call(ctx, "second", nil, nil) }()
				for range 2 {
					if err := <-got; !errors.Is(err, context.DeadlineExceeded) && (taken == 0 || !errors.Is(err, rpc.ErrHungUp)) {
						t.Errorf("%v", err)
					}
				}
				go answers(theirs)
				if err := c.Call(t.Context(), "third", nil, nil); errors.Is(err, rpc.ErrHungUp) != (taken > 0) || taken == 0 && err != nil {
					t.Errorf("afterwards: %v", err)
				}
				go func() { got <- c.Call(t.Context(), "fourth", nil, nil) }()
				_ = c.Close()
				<-got
				theirs.Close()
			})
		})
	}
}

// TestAClosedClientWaitsForNobody: it hangs up also while a request is not taken.
func TestAClosedClientWaitsForNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		c := rpc.NewClient(ours)
		got := make(chan error, 2)
		for range 2 {
			go func() { got <- c.Call(t.Context(), "m", nil, nil) }()
		}
		synctest.Wait()
		_ = c.Close()
		for range 2 {
			if err := <-got; !errors.Is(err, rpc.ErrHungUp) {
				t.Errorf("%v", err)
			}
		}
	})
}

// TestARequestThatIsTooLong is refused before it is sent, and the next one is.
func TestARequestThatIsTooLong(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go answers(theirs)
	c := rpc.NewClient(ours)
	defer c.Close()
	err := c.Call(t.Context(), "big", make([]byte, rpc.MaxLine), nil)
	if !errors.Is(err, fault.LimitReached) || errors.Is(err, rpc.ErrHungUp) || fault.Of(err).Hint == "" {
		t.Errorf("too long: %v", err)
	}
	if err := c.Call(t.Context(), "small", nil, nil); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// TestAnAnswerToNobody: an error without an id is told to all who wait, since it may be
// anybody's, and is no end of the connection.
func TestAnAnswerToNobody(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	c := rpc.NewClient(ours)
	defer c.Close()
	got := make(chan error, 2)
	r := bufio.NewReader(theirs)
	for range 2 {
		go func() { got <- c.Call(t.Context(), "m", nil, nil) }()
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintln(theirs, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"that is no request"}}`)
	for range 2 {
		if err := <-got; errors.Is(err, rpc.ErrHungUp) || !strings.Contains(fmt.Sprint(err), "that is no request") {
			t.Errorf("%v", err)
		}
	}
	go answers(theirs)
	if err := c.Call(t.Context(), "m", nil, nil); err != nil {
		t.Errorf("the next one: %v", err)
	}
}
