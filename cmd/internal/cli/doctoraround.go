package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/oneshot"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/internal/tail"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// around says what doctor finds around leadlight: the terminal's words, the kernel's
// limits, the agents that are installed.
func (a *app) around(ctx context.Context) []api.Check {
	checks := []api.Check{a.checkLocale()}
	if c, known := checkWatches("/proc/sys/fs/inotify"); known {
		checks = append(checks, c)
	}
	return slices.Concat(checks, a.checkDaemon(ctx), a.checkEngine(ctx), []api.Check{a.checkAgents(), a.checkGate()}, a.checkClaude(ctx))
}

// checkDaemon asks how the daemon is. Where none runs it looks whether what is kept for one can
// be read; where nothing is, it was never needed.
func (a *app) checkDaemon(ctx context.Context) []api.Check {
	p, err := a.daemonPaths()
	if err != nil {
		return nil // that is told elsewhere
	}
	if _, err := os.Lstat(p.Database()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, daemonLimit)
	defer cancel()
	c := api.Check{Name: "daemon", Status: "ok", Detail: "no daemon runs for " + p.Base}
	var now api.DaemonStatus
	daemon, err := a.runningDaemon(ctx)
	switch {
	case daemon != nil:
		now, err = daemon.Status(ctx)
		c.Detail = fmt.Sprintf("process %d", now.PID)
	case err == nil:
		err = a.checkHistory(ctx, p)
	}
	switch {
	case err != nil:
		c = failing("daemon", err)
		c.Fix = cmp.Or(c.Fix, "leadlight daemon status says more")
	case now.LastError != "":
		c.Status, c.Detail, c.Fix = "warn", c.Detail+", its last error: "+now.LastError, "see "+now.Log
	}
	return []api.Check{c}
}

// checkHistory lets the program that links the database read what is kept for a daemon, where
// none runs.
func (a *app) checkHistory(ctx context.Context, p dial.Paths) error {
	program, err := a.besides(heavyProgram)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "daemon", "status", "--json", "--base-dir", p.Base)
	cmd.Env = a.longLivedEnviron()
	_, err = oneshot.Output(cmd)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if e := dial.Said(tail.LastLine(string(exit.Stderr))); e != nil && e.Code == fault.Failed {
			return nil // that none runs is all it says
		} else if e != nil {
			return e
		}
	}
	return err
}

// daemonLimit bounds what it takes to read all that is kept for a daemon.
const daemonLimit = time.Minute

// checkEngine looks whether the engine answers, and who of its machines is silent. A machine
// that has joined none is not told of it.
func (a *app) checkEngine(ctx context.Context) []api.Check {
	p, err := a.daemonPaths()
	if err != nil {
		return nil // that is told elsewhere
	}
	joined, err := p.Joined()
	if err == nil && joined == nil {
		return nil
	}
	c := api.Check{Name: "engine", Status: "ok"}
	var list []api.Machine
	if err == nil {
		c.Detail = fmt.Sprintf("%s, which this machine has joined as %s", store.EngineShown(joined.Engine), joined.Name)
		list, err = a.machines(ctx)
	}
	if err != nil {
		said := c.Detail
		c = failing("engine", err)
		c.Detail = strings.TrimPrefix(said+": "+c.Detail, ": ")
		return []api.Check{c}
	}
	silent := picked(list, func(m api.Machine) string { return m.Name }, func(m api.Machine) bool { return m.State == api.MachineSilent })
	if c.Detail += fmt.Sprintf("; machines: %d", len(list)); len(silent) > 0 {
		c.Status, c.Fix = "warn", "leadlight machine ls shows since when; leadlight daemon start, there, starts a daemon that does not run"
		c.Detail += ", silent: " + strings.Join(silent, ", ")
	}
	if off := clockOff(list); off != 0 {
		c.Status, c.Fix = "warn", strings.TrimPrefix(c.Fix+"; set the clock of the one that is wrong: times of tasks and teammates are those of the machine that wrote them", "; ")
		where := "ahead of"
		if off < 0 {
			where = "behind"
		}
		c.Detail += fmt.Sprintf("; the clock of this machine is %s %s the engine's", off.Abs(), where)
	}
	if open := joined.Access.OpenToAll(); len(open) > 0 {
		c.Status, c.Fix = "warn", strings.TrimPrefix(c.Fix+"; chmod 600 "+shell.Line(open...), "; ") // also of a machine that is silent
		c.Detail += "; by its mode every user may read the secret in " + strings.Join(open, " ")
	}
	return []api.Check{c}
}

// clockOff is how far the clock of this machine is ahead of the engine's, to the second.
func clockOff(list []api.Machine) time.Duration {
	var off int64
	for _, m := range list {
		off += m.AheadMS // others do not say
	}
	return (time.Duration(off) * time.Millisecond).Round(time.Second)
}

// checkLocale looks at TERM and at the locale, in the order in which programs do.
func (a *app) checkLocale() api.Check {
	locale := cmp.Or(a.getenv("LC_ALL"), a.getenv("LC_CTYPE"), a.getenv("LANG"))
	c := api.Check{Name: "terminal", Status: "ok", Detail: fmt.Sprintf("TERM=%s, locale %s", a.getenv("TERM"), locale)}
	upper := strings.ToUpper(locale)
	if !strings.Contains(upper, "UTF-8") && !strings.Contains(upper, "UTF8") {
		c.Status, c.Fix = "warn", "set LANG to a locale with UTF-8, such as C.UTF-8: agents may show other scripts as question marks"
	}
	if t := a.getenv("TERM"); t == "" && isTerminal(a.out.w) {
		c.Status, c.Fix = "warn", "set TERM to the terminal's kind, such as xterm-256color"
	}
	return c
}

// What a few teams with their teammates need of the kernel's file events.
const (
	fewWatches   = 8192
	fewInstances = 64
)

// checkWatches reads the kernel's limits of file events. known is false where there
// are none to read.
func checkWatches(dir string) (c api.Check, known bool) {
	c = api.Check{Name: "file events", Status: "ok"}
	var parts []string
	for _, limit := range []struct {
		name string
		few  int
	}{{"max_user_watches", fewWatches}, {"max_user_instances", fewInstances}} {
		data, err := os.ReadFile(filepath.Join(dir, limit.name))
		n, bad := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil || bad != nil {
			continue
		}
		parts = append(parts, fmt.Sprintf("fs.inotify.%s=%d", limit.name, n))
		if n < limit.few {
			c.Status = "warn"
			c.Fix = fmt.Sprintf("sysctl fs.inotify.%s=%d; until then files are looked at every few seconds instead", limit.name, limit.few)
		}
	}
	c.Detail = strings.Join(parts, ", ")
	return c, len(parts) > 0
}

// checkAgents says which profiles' programs are on the PATH.
func (a *app) checkAgents() api.Check {
	set := profiles.NewSet(a.built.settings.Profiles)
	var there, missing []string
	for _, name := range set.Names() {
		p, err := set.Get(name)
		if err != nil || p.Needed() == "" {
			continue // it runs what it is given
		}
		if path := teams.FindProgram(p.Needed(), "", a.getenv("PATH")); path != "" {
			there = append(there, name+" ("+path+")")
		} else {
			missing = append(missing, name)
		}
	}
	if len(there) == 0 {
		there = []string{"none"}
	}
	c := api.Check{Name: "agents", Status: "ok", Detail: "found: " + strings.Join(there, ", ")}
	if len(missing) > 0 {
		c.Detail += "; not installed: " + strings.Join(missing, ", ")
	}
	return c
}

// claudeLimit bounds what Claude Code takes to say its version.
const claudeLimit = 5 * time.Second

// checkClaude asks the Claude Code that is installed for its version.
func (a *app) checkClaude(ctx context.Context) []api.Check {
	path := teams.FindProgram("claude", "", a.getenv("PATH"))
	if path == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, claudeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = a.environ
	said, err := oneshot.Output(cmd)
	words := strings.Fields(string(said))
	c := api.Check{Name: "Claude Code", Status: "ok"}
	switch {
	case err != nil:
		c.Status, c.Detail, c.Fix = "warn", fmt.Sprintf("%s --version: %v", path, err), "run it by hand, and see what it says"
	case len(words) == 0 || strings.Trim(words[0], "0123456789.") != "":
		c.Status, c.Detail = "warn", path+" names no version that leadlight knows"
	default:
		c.Detail = "version " + words[0]
	}
	return []api.Check{c}
}

// gate is the variable without which Claude Code has no teams of its own.
const gate = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"

func (a *app) checkGate() api.Check {
	c := api.Check{Name: "teams of Claude Code", Status: "ok", Detail: gate + "=" + a.getenv(gate)}
	if a.getenv(gate) != "1" {
		c.Detail = gate + " is not set to 1: Claude Code makes no teams of its own here, and leadlight mcp offers a model no tools " +
			"unless --enable-teams is given; all other verbs do not need it"
	}
	return c
}
