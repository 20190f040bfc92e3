package integration_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/signals"
)

// damages are what may become of a file of a team.
func damages() map[string]func(path string, was []byte) error {
	write := func(data func(was []byte) []byte) func(string, []byte) error {
		return func(path string, was []byte) error { return os.WriteFile(path, data(was), 0o600) }
	}
	instead := func(put func(path string) error) func(string, []byte) error {
		return func(path string, _ []byte) error { return errors.Join(os.Remove(path), put(path)) }
	}
	return map[string]func(string, []byte) error{
		"emptied":   write(func([]byte) []byte { return nil }),
		"cut":       write(func(was []byte) []byte { return was[:len(was)/2] }),
		"an object": write(func([]byte) []byte { return []byte("{}") }),
		"gone":      instead(func(string) error { return nil }),
		"a pipe":    instead(func(path string) error { return syscall.Mkfifo(path, 0o600) }),
		"a folder":  instead(func(path string) error { return os.Mkdir(path, 0o700) }),
		"a link":    instead(func(path string) error { return os.Symlink("/etc/passwd", path) }),
	}
}

// TestXH09_DamagedFilesHarmNobody: whatever becomes of a file of a living team, the verbs
// that clean up end nobody who lives and free nothing of theirs, and each ends in time.
func TestXH09_DamagedFilesHarmNobody(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		for _, name := range []string{"a", "b"} {
			r.spawn(name, nil, "sh", "-c", "echo ready; exec sleep 1000")
		}
		stranger := exec.Command("sleep", "1000")
		if err := stranger.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stranger.Process.Kill(); _ = stranger.Wait() }()
		living := map[string]signals.Identity{"a": hostRecord(r, "alpha", "a").Process, "b": hostRecord(r, "alpha", "b").Process}
		id, err := signals.Identify(stranger.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		living["a stranger"] = id
		outside, err := os.ReadFile("/etc/passwd")
		if err != nil {
			t.Fatal(err)
		}

		for file, verbs := range map[string][][]string{
			"teams/alpha/config.json":       {{"ps"}, {"gc"}, {"doctor", "--fix"}, {"down", "alpha", "--force", "--timeout", "100ms"}},
			"leadlight/alpha/hosts/a.json":  {{"ps"}, {"gc"}, {"doctor", "--fix"}},
			"leadlight/alpha/launch/a.json": {{"ps"}, {"gc"}, {"doctor", "--fix"}},
		} {
			path := r.path("base", filepath.FromSlash(file))
			was, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for what, damage := range damages() {
				if what == "gone" && len(verbs) > 3 {
					continue // without a roster there is no team: then gc ends what is left of it
				}
				if err := damage(path, was); err != nil {
					t.Fatal(err)
				}
				for _, verb := range verbs {
					began := time.Now()
					res := r.run(verb...)
					if took := time.Since(began); took > 45*time.Second {
						t.Errorf("%s is %s: %v took %s", file, what, verb, took)
					}
					for name, id := range living {
						if state := id.Probe(); state != signals.Alive {
							t.Fatalf("%s is %s: after %v %s is %v\n%s%s", file, what, verb, name, state, res.out, res.err)
						}
					}
				}
				if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, was, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if now, err := os.ReadFile("/etc/passwd"); err != nil || string(now) != string(outside) {
			t.Error("a file outside was changed")
		}
		var left []struct{ Name, State string }
		if err := json.Unmarshal([]byte(r.must("ps", "--json")), &left); err != nil || len(left) != 2 {
			t.Errorf("the team is %v: %v", left, err)
		}
		r.must("down", "alpha", "--force")
	})
}
