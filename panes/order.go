package panes

import (
	"time"

	"github.com/leadlight-dev/leadlight/internal/begin"
	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
)

// How long a host whose program was started before all else waits with the rest of its own
// start, for each other one of its set, and at most.
const (
	pauseForEach = 6 * time.Millisecond
	longestPause = 100 * time.Millisecond
)

// order is what the host is to start before all else; nil where it has to do more before, or
// where it is to say what is wrong.
func (l *Launch) order() *begin.Order {
	r := l.Record
	argv := r.Argv
	if r.GoOn {
		argv = r.Resume
	}
	if r.Kind == profiles.Worker || r.Kind == profiles.ACP || r.Backend == Headless || r.ForeignPane != "" {
		return nil
	}
	command := host.Command{Argv: argv, Dir: r.Dir, Env: l.Env}
	path, err := command.Find()
	if err != nil {
		return nil
	}
	return &begin.Order{
		Host: r.Host, Dir: r.Dir, Path: path, Argv: argv,
		Defaults: withoutPane(), FromPane: environ.FromPane(), Over: command.Own(r.Host),
		Pause: min(time.Duration(max(l.set-1, 0))*pauseForEach, longestPause),
	}
}
