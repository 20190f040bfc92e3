package integration_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestXD11_TheReadmeIsTrue runs what the README shows to a new user, line by line as it
// stands there: the team file, the same by hand, and a team of agents, for which programs
// stand in. It is typed at a shell in tmux, and run from a bare shell, with and without tmux.
func TestXD11_TheReadmeIsTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	for name, begin := range map[string]func(*testing.T) (*rig, func(env ...string) shellLine){
		"tmux":     func(t *testing.T) (*rig, func(...string) shellLine) { r := newRig(t, "220x60"); return r, r.inPane },
		"bare":     func(t *testing.T) (*rig, func(...string) shellLine) { r := newRig(t, ""); return r, r.atShell },
		"headless": func(t *testing.T) (*rig, func(...string) shellLine) { r := newHeadless(t); return r, r.atShell },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, at := begin(t)
			byFile(t, r, readme, at)
			withAgents(t, r, block(t, readme, "```\nleadlight init"), at)
		})
	}
}

// byFile is the tour with the team file, and by hand.
func byFile(t *testing.T, r *rig, readme string, at func(env ...string) shellLine) {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"leadlight.yaml": block(t, readme, "```yaml\n"), "go.mod": "module example.com/x\n\ngo 1.26\n", "x.go": "package x\n",
		"x_test.go": "package x\n\nimport \"testing\"\n\nfunc TestX(*testing.T) {}\n",
	} {
		if err := os.WriteFile(r.path("work", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	begins := at("PATH="+filepath.Dir(r.bin)+":"+os.Getenv("PATH"), "GOCACHE="+strings.TrimSpace(string(cache)))
	for line := range strings.Lines(block(t, readme, "```\nleadlight up") + block(t, readme, "```\nleadlight team create")) {
		out := begins(line)()
		if strings.HasPrefix(line, "leadlight task show 3") && !strings.Contains(out, "completed") {
			t.Errorf("what the writer found:\n%s", out)
		}
	}
}

// withAgents is the tour with agents. up runs in one terminal, and the other lines follow
// in a second one, with the ID of the request that there is.
func withAgents(t *testing.T, r *rig, lines string, at func(env ...string) shellLine) {
	t.Helper()
	path := r.vendors() + ":" + filepath.Dir(r.bin)
	if err := os.Remove(r.path("work", "leadlight.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.path("work", "ask"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	begins, second := at(path), at(path)
	ends := func() string { return "" }
	for line := range strings.Lines(lines) {
		line, _, _ = strings.Cut(line, "#")
		switch strings.TrimSpace(line) {
		case "leadlight up":
			ends = begins(line)
			r.waitsForAnswer("work", "plan")
		case "leadlight approve ID":
			second(strings.Replace(line, "ID", r.waitsForAnswer("work", "plan"), 1))()
			if out := ends(); !regexp.MustCompile(`(?m)^3 .*completed`).MatchString(out) {
				t.Errorf("up:\n%s", out)
			}
		default:
			second(line)()
		}
	}
}

// shellLine begins a line at a person's shell, and returns what waits for its end.
type shellLine func(line string) (ends func() string)

// atShell is a person at a shell that is in no terminal of the team's.
func (r *rig) atShell(env ...string) shellLine {
	return func(line string) func() string { return r.shell(line, env...) }
}

// inPane is a person at a shell in a window of its own in tmux.
func (r *rig) inPane(env ...string) shellLine {
	r.t.Helper()
	shell, err := exec.LookPath("bash")
	if err != nil {
		r.t.Skip("bash is not here")
	}
	var rc strings.Builder // tmux takes no command of any length
	for _, kv := range append(slices.Clone(r.env), append(env, `PS1=<$?:\#> `)...) {
		name, value, _ := strings.Cut(kv, "=")
		if regexp.MustCompile(`^[A-Za-z_]\w*$`).MatchString(name) && !strings.HasPrefix(name, "TMUX") { // tmux says that one
			fmt.Fprintf(&rc, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
		}
	}
	file := filepath.Join(r.t.TempDir(), "rc")
	if err := os.WriteFile(file, []byte(rc.String()), 0o600); err != nil {
		r.t.Fatal(err)
	}
	pane := r.tmux.Run("new-window", "-P", "-F", "#{pane_id}", "-c", r.path("work"), "--", shell, "--noprofile", "--rcfile", file)
	r.t.Cleanup(func() { _, _ = r.tmux.Try("kill-pane", "-t", pane) })
	lines := 0
	prompt := func() (status, shown string) { // after so many lines
		all := r.tmux.Run("capture-pane", "-p", "-J", "-S", "-", "-t", pane)
		m := regexp.MustCompile(fmt.Sprintf(`(?s)^(.*)<(\d+):%d>`, lines+1)).FindStringSubmatch(all)
		if m == nil {
			return "", ""
		}
		_, shown, _ = strings.Cut(m[1], fmt.Sprintf(":%d> ", lines))
		return m[2], shown
	}
	r.eventually("the shell is there", func() bool { status, _ := prompt(); return status != "" })
	return func(line string) func() string {
		r.t.Helper()
		r.tmux.Run("send-keys", "-t", pane, "-l", strings.TrimSuffix(line, "\n"))
		r.tmux.Run("send-keys", "-t", pane, "Enter")
		lines++
		return func() string {
			r.t.Helper()
			status, shown := "", ""
			for limit := time.Now().Add(runLimit); status == "" && time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
				status, shown = prompt()
			}
			if status != "0" {
				r.t.Fatalf("%s: exit %q\n%s", line, status, r.tmux.Capture(pane))
			}
			return shown
		}
	}
}

// shell begins a line in a shell, and returns what waits for its end.
func (r *rig) shell(line string, env ...string) (ends func() string) {
	r.t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Env = r.path("work"), append(slices.Clone(r.env), env...)
	var out growing
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	return func() string {
		r.t.Helper()
		if err := cmd.Wait(); err != nil {
			r.t.Fatalf("%s: %v\n%s", line, err, out.String())
		}
		return out.String()
	}
}

// block is the example that begins so, without its fence.
func block(t *testing.T, page, begin string) string {
	t.Helper()
	m := regexp.MustCompile("(?s)" + regexp.QuoteMeta(begin) + ".*?```").FindString(page)
	if m == "" {
		t.Fatalf("the README shows no example that begins with %q", begin)
	}
	_, m, _ = strings.Cut(m, "\n")
	return strings.TrimSuffix(m, "```")
}
