package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// TestACallThatTheEndCuts: a method that ends because the server does was not interrupted by
// its caller, whatever it says then. Who may repeat the call has to see that.
func TestACallThatTheEndCuts(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]func(error) error{
		"as it is":      func(err error) error { return err },
		"with a code":   func(err error) error { return fault.New(fault.Failed, "do it: %w", err) },
		"in words only": func(error) error { return fault.New(fault.EngineUnavailable, "the engine is closed") },
	} {
		for range 30 { // the connection may be closed before the answer
			if err := cut(t, says); !errors.Is(err, rpc.ErrHungUp) || errors.Is(err, context.Canceled) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// cut is what a caller is told whose call is under way when the server ends.
func cut(t *testing.T, says func(error) error) error {
	ctx, end := context.WithCancel(t.Context())
	server, err := New([]rpc.Method{rpc.Func("wait", "Wait.", func(ctx context.Context, _ rpc.Nothing) (rpc.Nothing, error) {
		end()
		<-ctx.Done()
		return rpc.Nothing{}, says(fmt.Errorf("wait: %w", ctx.Err()))
	})}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); server.Serve(ctx, far) }()
	c := rpc.NewClient(near)
	err = c.Call(t.Context(), "wait", nil, nil)
	_ = c.Close()
	<-done
	return err
}
