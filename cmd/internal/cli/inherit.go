package cli

import (
	"context"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
)

// loginLimit is how long a login shell may take to tell its environment.
const loginLimit = 5 * time.Second

// inherited returns what teammates get of this process's environment, found out at
// the first start of one; nil: all of it as it is.
func (a *app) inherited(s *config.Settings) func() []string {
	if s.Environment.V != config.OfLoginShell {
		return nil
	}
	return sync.OnceValue(func() []string {
		env, err := panes.LoginEnvironment(context.Background(), a.environ, loginLimit)
		if err != nil {
			a.warn([]string{fault.Of(err).Message + "; the teammates get what is set here"})
		}
		return env
	})
}
