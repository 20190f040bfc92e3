package memory_test

import (
	"fmt"
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/backendtest"
	"github.com/leadlight-dev/leadlight/backend/memory"
)

func TestBackend(t *testing.T) {
	opts := backendtest.Opts{
		New: func(t backendtest.T) backendtest.Terminal {
			b := memory.New()
			t.Cleanup(b.End)
			return backendtest.Terminal{
				Backend: b,
				At:      backend.Spec{Place: backend.Split},
				Border: func(id backend.ID) string {
					l, _ := b.Labelled(id)
					return fmt.Sprint(l.Name, " ", l.State)
				},
			}
		},
		NoFocus: true, NoReopen: true, NoFreeze: true, NoKill: true,
	}
	t.Logf("declared weak: %q", opts.Weaknesses())
	for _, c := range backendtest.Cases(opts) {
		t.Run(c.Name, func(t *testing.T) { t.Parallel(); c.Run(t) })
	}
}
