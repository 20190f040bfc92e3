package integration_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestXD11_TheReadmeIsTrue runs what the README shows to a new user, line by line as it
// stands there: the team file, the same by hand, and a team of agents, for which programs
// stand in. In tmux, from a bare shell, and without tmux.
func TestXD11_TheReadmeIsTrue(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	tour := func(t *testing.T, r *rig) {
		byFile(t, r, string(readme))
		withAgents(t, r, block(t, string(readme), "```\nleadlight init"))
	}
	everywhere(t, tour)
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		tour(t, newRig(t, ""))
	})
}

// byFile is the tour with the team file, and by hand.
func byFile(t *testing.T, r *rig, readme string) {
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
	for line := range strings.Lines(block(t, readme, "```\nleadlight up") + block(t, readme, "```\nleadlight team create")) {
		out := r.shell(line, "PATH="+filepath.Dir(r.bin)+":"+os.Getenv("PATH"), "GOCACHE="+strings.TrimSpace(string(cache)))()
		if strings.HasPrefix(line, "leadlight task show 3") && !strings.Contains(out, "completed") {
			t.Errorf("what the writer found:\n%s", out)
		}
	}
}

// withAgents is the tour with agents. up runs in one terminal, and the other lines follow
// in a second one, with the ID of the request that there is.
func withAgents(t *testing.T, r *rig, lines string) {
	t.Helper()
	path := r.vendors() + ":" + filepath.Dir(r.bin)
	if err := os.Remove(r.path("work", "leadlight.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.path("work", "ask"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ends := func() string { return "" }
	for line := range strings.Lines(lines) {
		line, _, _ = strings.Cut(line, "#")
		switch strings.TrimSpace(line) {
		case "leadlight up":
			ends = r.shell(line, path)
			r.waitsForAnswer("work", "plan")
		case "leadlight approve ID":
			r.shell(strings.Replace(line, "ID", r.waitsForAnswer("work", "plan"), 1), path)()
			if out := ends(); !regexp.MustCompile(`(?m)^3 .*completed`).MatchString(out) {
				t.Errorf("up:\n%s", out)
			}
		default:
			r.shell(line, path)()
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
