package integration_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestXD11_TheReadmeIsTrue runs what the README shows to a new user, line by line as it
// stands there: the team file, and the same by hand. In tmux, without it, and from a bare
// shell, where the panes are on a server of our own.
func TestXD11_TheReadmeIsTrue(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	file := block(t, string(readme), "```yaml\n")
	byFile, byHand := block(t, string(readme), "```\nleadlight up"), block(t, string(readme), "```\nleadlight team create")
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	tour := func(t *testing.T, r *rig) {
		for name, text := range map[string]string{
			"leadlight.yaml": file, "go.mod": "module example.com/x\n\ngo 1.26\n", "x.go": "package x\n",
			"x_test.go": "package x\n\nimport \"testing\"\n\nfunc TestX(*testing.T) {}\n",
		} {
			if err := os.WriteFile(r.path("work", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for line := range strings.Lines(byFile + byHand) {
			cmd := exec.Command("bash", "-c", line)
			cmd.Dir = r.path("work")
			cmd.Env = append(r.env, "PATH="+filepath.Dir(r.bin)+":"+os.Getenv("PATH"), "GOCACHE="+strings.TrimSpace(string(cache)))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
			if strings.HasPrefix(line, "leadlight task show 3") && !strings.Contains(string(out), "completed") {
				t.Errorf("what the writer found:\n%s", out)
			}
		}
	}
	everywhere(t, tour)
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		tour(t, newRig(t, ""))
	})
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
