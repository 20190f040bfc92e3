package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/tail"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/screen"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// How long an agent may take to show its prompt, and to end.
const (
	comesUp    = time.Minute
	goesTerm   = 2 * time.Second
	goesKill   = 2 * time.Second
	lookPause  = 100 * time.Millisecond
	lookSteady = 5 // looks at which a screen must say the same
)

// startAgents starts each agent that is installed, here and with the environment there
// is, says nothing to it, and tells whether it shows its prompt.
func (a *app) startAgents(ctx context.Context) (checks []api.Check) {
	set := profiles.NewSet(a.built.settings.Profiles)
	tried := map[string]bool{}
	for _, name := range set.Names() {
		p := set[name]
		if len(p.Command) == 0 || len(p.Ready) == 0 || tried[p.Command[0]] || teams.FindProgram(p.Command[0], "", a.getenv("PATH")) == "" {
			continue
		}
		tried[p.Command[0]] = true
		a.say("starting %s", strings.Join(p.Command, " "))
		checks = append(checks, a.startAgent(ctx, p))
	}
	return checks
}

// startAgent starts one agent and ends it again.
func (a *app) startAgent(ctx context.Context, p profiles.Profile) api.Check {
	c := api.Check{Name: "agent " + p.Command[0], Status: "fail"}
	reader, err := screen.NewReader(p.Screen())
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	h, err := host.New(host.Options{ID: fmt.Sprintf("doctor-%d-%s", os.Getpid(), filepath.Base(p.Command[0])), Screen: true, Log: a.logger()})
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	defer h.Close()
	dir, _ := os.Getwd()
	ended := make(chan host.Exit, 1)
	go func() {
		exit, _ := h.Run(ctx, host.Command{Argv: p.Command, Dir: dir, Env: append(a.environ[:len(a.environ):len(a.environ)], p.Env...)})
		ended <- exit
	}()
	began := time.Now()
	r, exit := lookUntil(ctx, h, reader, ended)
	if exit == nil {
		_, _ = h.End(context.WithoutCancel(ctx), goesTerm, goesKill)
		<-ended
	}
	byHand := "run " + p.Command[0] + " in " + filepath.Base(dir) + " by hand"
	switch {
	case exit != nil:
		c.Detail, c.Fix = "ended by itself: "+tail.LastLine(h.Tail(20)), byHand+", and see what it says"
	case r.State == screen.Ready || r.State == screen.Busy:
		c.Status, c.Detail = "ok", fmt.Sprintf("shows its prompt after %s", time.Since(began).Round(time.Second))
	case r.State == screen.Asking:
		c.Status, c.Detail, c.Fix = "warn", "asks: "+r.Ask(), byHand+" once, and answer"
	default:
		c.Status, c.Detail, c.Fix = "warn", "shows no prompt that its profile knows: "+tail.LastLine(h.Tail(20)), byHand+", and see what it shows"
	}
	return c
}

// lookUntil looks at a screen until it has shown a prompt, or a question, for a moment,
// or its program has ended.
func lookUntil(ctx context.Context, h *host.Host, reader *screen.Reader, ended <-chan host.Exit) (r screen.Reading, exit *host.Exit) {
	tick := time.Tick(lookPause)
	same := 0
	for end := time.Now().Add(comesUp); time.Now().Before(end) && ctx.Err() == nil; {
		select {
		case e := <-ended:
			return r, &e
		case <-tick:
		}
		shown, err := h.Capture(ctx, 0, false)
		if err != nil {
			continue
		}
		now := reader.Read(screen.Screen{Text: shown.Text, Cursor: shown.Cursor, Cooked: h.Status().Cooked})
		if same++; now.State != r.State {
			same = 0
		}
		if r = now; same >= lookSteady && (r.State == screen.Ready || r.State == screen.Asking) {
			return r, nil
		}
	}
	return r, nil
}
