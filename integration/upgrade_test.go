//go:build linux

package integration_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// newerVersion is what the second build of a test says of itself.
const newerVersion = "v99.0.0"

// buildNewer builds both programs into dir as another version would be.
func buildNewer(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join("..", "cmd", "internal", "cli", "version.go")
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(source), "cmp.Or(info.Main.Version,", `cmp.Or("`+newerVersion+`",`, 1)
	if changed == string(source) {
		t.Fatal("version.go takes the version from elsewhere")
	}
	file, err = filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	other, overlay := filepath.Join(dir, "version.go"), filepath.Join(dir, "overlay.json")
	list, _ := json.Marshal(map[string]map[string]string{"Replace": {file: other}})
	for name, text := range map[string]string{other: changed, overlay: string(list)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("go", "build", "-overlay", overlay, "-o", dir+"/", "../cmd/leadlight", "../cmd/leadlightd")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// installed is a rig whose programs are links into a folder of their version, as brew,
// mise and nix install them.
func installed(t *testing.T) (r *rig, upgrade func()) {
	t.Helper()
	r = newRig(t, "220x60")
	old, newer, bin := r.path("v1"), r.path("v2"), r.path("bin")
	for _, dir := range []string{old, newer, bin} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	point := func(to string) {
		for _, name := range []string{"leadlight", "leadlightd"} {
			next := filepath.Join(bin, name+".next")
			if err := os.Symlink(filepath.Join(to, name), next); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(next, filepath.Join(bin, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"leadlight", "leadlightd"} {
		if err := os.Link(filepath.Join(filepath.Dir(r.bin), name), filepath.Join(old, name)); err != nil {
			data, err := os.ReadFile(filepath.Join(filepath.Dir(r.bin), name)) // another file system
			if err == nil {
				err = exetest.Write(filepath.Join(old, name), data)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	point(old)
	r.bin = filepath.Join(bin, "leadlight")
	buildNewer(t, newer)
	return r, func() {
		point(newer)
		if err := os.RemoveAll(old); err != nil {
			t.Fatal(err)
		}
	}
}

// hostProgram is the file that a teammate's host runs.
func hostProgram(r *rig, team, name string) string {
	file, _ := os.Readlink("/proc/" + strconv.Itoa(hostRecord(r, team, name).Process.PID) + "/exe")
	return file
}

// TestUpgradeBehindALink: the file behind the link is replaced while a team runs under
// up, mcp and the daemon. They go on, start new hosts by the link, and the newer program
// works with what the older one has started.
func TestUpgradeBehindALink(t *testing.T) {
	t.Parallel()
	r, upgrade := installed(t)
	file := `{team: redo, members: [{name: again, run: sleep 1000, restart: on-failure}, {name: stays, agent: exec, command: [cat]}],
		tasks: [{subject: a, owner: again}], lifecycle: {ask: 1s, term: 1s, keep: true}}`
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	up := r.start(nil, "up")
	r.eventually("the team is there", func() bool { return r.alive("redo") == 2 })
	r.must("daemon", "start")
	lead := r.mcp(r.claudeStub("approve"), "--backend", "headless")
	tool[any](lead, "TeamCreate", params{"team_name": "tools", "description": "x"})
	was := r.run("version").out

	upgrade()
	if now := r.must("version"); now == was || !strings.Contains(now, newerVersion) {
		t.Fatalf("before %q, after %q", was, now)
	}
	old := hostRecord(r, "redo", "again")
	if err := syscall.Kill(old.Process.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.eventually("up or the daemon starts it again", func() bool {
		return otherHost(r, "again", old.Host) && r.member("again").Task == "1"
	})
	if got := hostProgram(r, "redo", "again"); got != r.path("v2", "leadlight") {
		t.Errorf("its host is %s", got)
	}
	if s := into[api.DaemonStatus](r, "daemon", "status"); s.Version == newerVersion {
		t.Errorf("the daemon is of version %s: it was started before", s.Version)
	}
	r.must("send", "stays", "hello", "--team", "redo")
	tool[any](lead, "Task", params{"team_name": "tools", "name": "new", "model": "sonnet", "prompt": "x", "subagent_type": "general-purpose"})
	if got := hostProgram(r, "tools", "new"); got != r.path("v2", "leadlight") {
		t.Errorf("the host that mcp has started is %s", got)
	}
	// The newer one ends hosts of the older one, and the older up sees it.
	if got := hostProgram(r, "redo", "stays"); !strings.Contains(got, "(deleted)") {
		t.Errorf("the first host is %s", got)
	}
	r.must("down") // the limits of the file hold
	if res := up.wait(); res.exit != 0 || !strings.Contains(res.err, "the team was taken down by pid ") {
		t.Errorf("up: exit %d\n%s", res.exit, res.err)
	}
	_ = lead.Close()
	r.must("down", "tools", "--force", "--timeout", "1s")
	r.must("daemon", "stop")
}
