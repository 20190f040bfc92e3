package integration_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// vendors puts stand-ins for the agents of three vendors into a folder, beside no other
// programs than those a team of them needs, and returns that folder as the PATH.
func (r *rig) vendors() (path string) {
	r.t.Helper()
	dir := r.path("vendors")
	if err := os.Mkdir(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	for _, name := range []string{"sh", "git", "tmux"} {
		program, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(program, filepath.Join(dir, name))
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	for _, name := range []string{"claude", "codex", "gemini"} {
		line := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", strings.Join(r.stub("vendor", name, "0s"), "' '"))
		if err := exetest.Write(filepath.Join(dir, name), []byte(line)); err != nil {
			r.t.Fatal(err)
		}
	}
	r.env = append(r.env, "CLAUDE_CONFIG_DIR="+r.path("base")) // where a native claude looks for its team
	return "PATH=" + dir
}

// repository makes a git repository with one commit of the working folder.
func (r *rig) repository() {
	r.t.Helper()
	for _, args := range [][]string{{"init", "-q", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "begin"}} {
		c := exec.Command("git", args...)
		c.Dir, c.Env = r.path("work"), append(os.Environ(), "HOME="+r.path("home"))
		if out, err := c.CombinedOutput(); err != nil {
			r.t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
}

// TestXD08_TemplatesWorkAsTheyAre: the file of each template of agents is worked off, as it
// is written, by the agents that are installed.
func TestXD08_TemplatesWorkAsTheyAre(t *testing.T) {
	t.Parallel()
	for template, owners := range map[string][]string{
		"agents": {"", "builder", "reader"}, "review": {"mistakes", "security", "tests", "mistakes"},
		"feature": {"builder", "tester", "reviewer"}, "research": {"", "", "", "writer"}, "nightly": {"", "", ""},
	} {
		t.Run(template, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "220x60")
			path := r.vendors()
			r.repository()
			if res := r.runEnv([]string{path}, "init", "--template", template); res.exit != 0 {
				t.Fatal(res.err)
			}
			if res := r.runEnv([]string{path}, "up"); res.exit != 0 {
				t.Fatalf("up: exit %d\n%s%s", res.exit, res.out, res.err)
			}
			tasks := into[[]api.Task](r, "task", "ls")
			if len(tasks) != len(owners) {
				t.Fatalf("%d tasks, want %d", len(tasks), len(owners))
			}
			for i, task := range tasks {
				if task.Status != "completed" || owners[i] != "" && owners[i] != task.Owner {
					t.Errorf("%+v", task)
				}
			}
			file, err := os.ReadFile(r.path("work", "leadlight.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			agents := []string{"claude", "codex", "gemini"}
			if slices.ContainsFunc(agents[:min(3, len(into[[]api.Member](r, "ps", "--all")))], func(a string) bool {
				return template != "nightly" && !strings.Contains(string(file), "agent: "+a+"\n")
			}) {
				t.Errorf("not all agents are in it:\n%s", file)
			}
			if template == "feature" && !strings.Contains(r.must("diff", "--stat"), "builder.txt") {
				t.Error("the work of builder is not shown")
			}
		})
	}
}
