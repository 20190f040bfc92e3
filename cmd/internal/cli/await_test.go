package cli

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// TestXF14_WhoWaitsLateIsLeft: a verb that was interrupted before it began to wait for a text,
// however long that took it, does not wait for it for ever.
func TestXF14_WhoWaitsLateIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &app{}
		a.begun.Store(true)
		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		never := make(chan struct{})
		go func() {
			time.Sleep(10 * politeEnd)
			_, _ = a.outside(func() ([]byte, error) { <-never; return nil, nil })
		}()
		if status := a.await(ctx, nil, nil); status != fault.ExitInterrupted {
			t.Errorf("status %d", status)
		}
		close(never)
	})
}
