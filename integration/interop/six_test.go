package interop_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// unasked is how each agent is started so that it asks before no command: what Claude Code
// may do stands in its settings.
func unasked() map[string][]string {
	return map[string][]string{
		"codex":    {"codex", "--no-daemon", "--dangerously-bypass-approvals-and-sandbox"},
		"gemini":   {"gemini", "--approval-mode", "yolo"},
		"opencode": {"opencode", "--auto"},
		"qwen":     {"qwen", "--approval-mode", "yolo"},
		"copilot":  {"copilot", "--allow-all"},
	}
}

// sixWindow is the size of the window: three rows of three panes, of 80 columns each.
const sixWindow = "246x78"

// TestTeamOfSix lets all agents, in one window of tmux, do twelve tasks that wait for each
// other: each task once, and by its owner. Then all end politely, and nothing is left.
func TestTeamOfSix(t *testing.T) {
	r := newSix(t)
	team := r.team()
	look := r.camera()
	r.must("leadlight", "up", "--detach", team)
	r.allDone(10*time.Minute, look)
	for i, task := range r.tasks() {
		n, owner := i+1, vendors()[i%6].name
		if task.Owner != owner || task.Result != fmt.Sprintf("%d by %s", n, owner) {
			t.Errorf("task %d: %s %q by %s", n, task.Status, task.Result, task.Owner)
		}
		if begun := strings.Count(r.begun(), fmt.Sprintf("%d by %s\n", n, owner)); begun != 1 {
			t.Errorf("task %d was begun %d times", n, begun)
		}
	}
	if windows := r.tmux.Run("list-windows", "-a", "-F", "#{window_panes}"); windows != "7" {
		t.Errorf("panes of each window: %s", windows)
	}
	r.goesDown("six", 6)
}

// goesDown ends a team of n agents: each goes by itself, and the lead's pane is all that stays.
func (r *rig) goesDown(team string, n int) {
	r.t.Helper()
	ended := into[api.Endings](r, "down", team, "--timeout", "30s", "--json")
	for _, m := range ended.Members {
		if m.Outcome != api.Approved && m.Outcome != api.Exited || len(m.Leftovers) > 0 {
			r.t.Errorf("%s: %+v", m.Name, m)
		}
	}
	if len(ended.Members) != n || len(r.tmux.Panes()) != 1 {
		r.t.Errorf("%d ended, %d panes", len(ended.Members), len(r.tmux.Panes()))
	}
}

// newSix makes a home in which all agents can be started.
func newSix(t *testing.T) *rig {
	t.Helper()
	dirs, version := []string{}, ""
	for _, v := range vendors() { // Claude Code is the last
		var dir string
		version, dir = installed(t, v.name)
		dirs = append(dirs, dir)
	}
	r := newRig(t, version, strings.Join(dirs, ":"))
	r.home(object{"permissions": object{"defaultMode": "default", "allow": []string{"Bash"}}})
	for _, v := range vendors() {
		r.settle(v)
	}
	r.env = append(r.env, "LEADLIGHT_TEAM=six") // Claude Code makes one of its own
	width, height, _ := strings.Cut(sixWindow, "x")
	r.tmux.Run("resize-window", "-t", r.shell, "-x", width, "-y", height)
	return r
}

// team writes the plays of the tasks, and the file of the team.
func (r *rig) team() (file string) {
	r.t.Helper()
	profiles, members, tasks := object{}, []object{}, []object{}
	for name, command := range unasked() {
		profiles[name] = object{"command": command}
	}
	for _, v := range vendors() {
		members = append(members, object{"name": v.name, "agent": v.profile})
	}
	for n := 1; n <= 12; n++ {
		name := fmt.Sprintf("task-%d", n)
		claim, done := fmt.Sprintf("%s task claim %d ", r.bin, n), fmt.Sprintf(`%s task done %d --result "%d by $LEADLIGHT_AGENT" `, r.bin, n, n)
		begun := fmt.Sprintf(`echo "%d by $LEADLIGHT_AGENT" >>begun`, n)
		r.play(name, shell(begun+" && "+claim+">/dev/null && "+done+">/dev/null", false), text("It is done."))
		task := object{"subject": "PLAY:" + name, "owner": vendors()[(n-1)%6].name}
		if n > 6 { // the owner's first, and that of its neighbour
			task["blockedBy"] = []int{n - 6, (n-6)%6 + 1}
		}
		tasks = append(tasks, task)
	}
	data, err := json.Marshal(object{"team": "six", "profiles": profiles, "members": members, "tasks": tasks,
		"layout": object{"placement": "split", "arrange": "tiled"}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.write("project/six.yaml", string(data))
	return "six.yaml"
}

// begun is what the agents wrote down when they began a task.
func (r *rig) begun() string {
	data, err := os.ReadFile(r.path("project", "begun"))
	if err != nil {
		r.t.Error(err)
	}
	return string(data)
}

func (r *rig) tasks() []api.Task { return into[[]api.Task](r, "task", "ls", "--json") }

// allDone waits until all tasks are completed, and answers what an agent asks at its start.
func (r *rig) allDone(limit time.Duration, look func(done int)) {
	r.t.Helper()
	answered := map[string]bool{}
	for began := time.Now(); ; time.Sleep(time.Second) { // to ask all the time would take the time of those who work
		asking := map[string]bool{}
		for _, m := range into[[]api.Member](r, "ps", "--team", "six", "--json") {
			asking[m.Name] = m.State == api.StateWaiting
		}
		for _, v := range vendors() {
			if v.first != nil && asking[v.name] && !answered[v.name] {
				answered[v.name] = true
				r.must(append([]string{"leadlight", "keys", v.name}, v.first...)...)
			}
		}
		done := 0
		for _, task := range r.tasks() {
			if task.Status == "completed" {
				done++
			}
		}
		look(done)
		switch took := time.Since(began).Round(time.Second); {
		case done == 12:
			r.t.Logf("all tasks are completed after %v", took)
			return
		case took > limit:
			r.t.Fatalf("%d tasks are completed after %v\n%s\n%s", done, took, r.must("leadlight", "task", "ls"), r.must("leadlight", "ps"))
		}
	}
}

// picture names a folder for the README's picture: the window as it is while the tasks are
// done, for examples/picture, which draws it.
const picture = "INTEROP_PICTURE"

// camera looks at the window each time three more tasks are done, if a picture is wanted.
func (r *rig) camera() (look func(done int)) {
	r.t.Helper()
	dir := os.Getenv(picture)
	if dir == "" {
		return func(int) {}
	}
	r.tmux.Run("respawn-pane", "-k", "-t", r.shell, "-c", r.path("project"), "env", r.variable("PATH"), "LEADLIGHT_TEAM=six",
		"sh", "-c", "while sleep 1; do clear; leadlight task ls; done")
	r.tmux.Run("set", "-g", "status", "off")
	r.tmux.Run("select-pane", "-t", r.shell, "-T", "lead")
	c := tmuxtest.Server(r.t)
	lens := c.NewSession(sixWindow)
	c.Run("set", "-g", "status", "off")
	c.Run("respawn-pane", "-k", "-t", lens, "env", "-u", "TMUX", "tmux", "-u", "-S", r.tmux.Socket, "attach")
	f, err := os.Create(filepath.Join(dir, "six.frames"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = f.Close() })
	next := 1 // something to see
	return func(done int) {
		if done >= next || done == 12 {
			next = done + 3
			_, _ = fmt.Fprintf(f, "%s\n\f\n", c.Run("capture-pane", "-e", "-p", "-t", lens))
		}
	}
}
