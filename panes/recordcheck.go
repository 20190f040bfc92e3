package panes

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/state"
)

// checkHostID refuses what is no id of a host. An id becomes a part of file names, and
// it is by the id that processes are found and ended.
func checkHostID(id string) error {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return fmt.Errorf("%.60q is no id of a host", id)
	}
	return nil
}

// check refuses what no host of that member writes into its record.
func (h HostRecord) check(baseKey, team, agent string) error {
	switch {
	case h.Version < 1:
		return fmt.Errorf("it has no version")
	case checkHostID(h.Host) != nil:
		return checkHostID(h.Host)
	case h.Process.Check() != nil:
		return h.Process.Check()
	case h.Ended != nil && !slices.Contains([]string{state.Stopped, state.Failed, state.Lost}, h.Ended.State):
		return fmt.Errorf("%.60q is no end of an agent", h.Ended.State)
	}
	if err := checkPane(h.Pane); err != nil {
		return err
	}
	return checkSocket(h.Socket, baseKey, team, agent)
}

// check refuses what no spawn of that member writes into its record.
func (l LaunchRecord) check(baseKey, team, agent string) error {
	switch {
	case l.Version < 1:
		return fmt.Errorf("it has no version")
	case l.Team != team || l.Agent != agent:
		return fmt.Errorf("it is that of %.64q in team %.64q", l.Agent, l.Team)
	case checkHostID(l.Host) != nil:
		return checkHostID(l.Host)
	case !slices.Contains(profiles.Kinds(), l.Kind):
		return fmt.Errorf("%.60q is no kind of agent", l.Kind)
	case !filepath.IsAbs(l.Dir):
		return fmt.Errorf("its folder %.200q is not absolute", l.Dir)
	case l.Terminal != "" && strings.ContainsFunc(l.Terminal, unicode.IsControl):
		return fmt.Errorf("its terminal %.200q is no path", l.Terminal)
	}
	if b := l.Beside; b != nil {
		if err := checkPane(string(b.Pane)); err != nil {
			return err
		}
	}
	if err := checkRunFile(l.EnvFile, baseKey, "env-"+l.Host); err != nil {
		return fmt.Errorf("the file of its environment: %w", err)
	}
	return checkSocket(l.Socket, baseKey, team, agent)
}

// checkSocket refuses a control socket that is not the member's own. The run folder may
// be another than the caller's; but below it each member of each base has one path only.
func checkSocket(path, baseKey, team, agent string) error {
	if err := checkRunFile(path, baseKey, filepath.Base(socketPath("/", baseKey, team, agent))); err != nil {
		return fmt.Errorf("its socket: %w", err)
	}
	return nil
}

// checkRunFile refuses a path that does not name a file of a base's run folder.
func checkRunFile(path, baseKey, name string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("%.200q is no path in a run folder", path)
	}
	if folder := filepath.Dir(path); filepath.Base(path) != name || filepath.Base(folder) != baseKey {
		return fmt.Errorf("%.200q is not %s", path, filepath.Join("…", baseKey, name))
	}
	return nil
}

// checkRun refuses what is no command that a team file gives to a task.
func checkRun(task, line string) error {
	if n, err := strconv.ParseUint(task, 10, 63); err != nil || n == 0 {
		return fmt.Errorf("%.60q is no id of a task", task)
	}
	if line == "" || strings.ContainsRune(line, 0) {
		return fmt.Errorf("task %s has no command: %.60q", task, line)
	}
	return nil
}

// checkPane refuses what no terminal gives as the id of a pane.
func checkPane(id string) error {
	if len(id) > 200 || strings.HasPrefix(id, "-") || strings.ContainsFunc(id, unicode.IsControl) {
		return fmt.Errorf("%.60q is no id of a pane", id)
	}
	return nil
}

// damaged is the error for a record that can be read and cannot be right.
func damaged(name string, why error) error {
	err := fault.New(fault.CorruptFile, "read %s: %w", name, why)
	agent, folder, team := strings.TrimSuffix(path.Base(name), ".json"), path.Base(path.Dir(name)), shell.Line(path.Base(path.Dir(path.Dir(name))))
	switch {
	case strings.HasPrefix(agent, "."):
	case folder == "hosts":
		return err.WithHint("leadlight restart %s -t %s writes a new one", agent, team)
	case folder == "launch":
		return err.WithHint("leadlight stop %s -t %s ends it; then leadlight spawn %s -t %s writes a new one", agent, team, agent, team)
	}
	return err.WithHint("mend it, or move it away: what it said is forgotten then")
}
