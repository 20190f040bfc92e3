package panes

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/signals"
)

const someHost = "0d4e6c9e-6d0c-4a4b-9d5c-3a0a7c3f6f11"

// hostRecord is a record as the host of a member below base writes it.
func hostRecord(base, team, agent string) HostRecord {
	return HostRecord{
		Version: recordVersion, Host: someHost, Process: signals.Identity{PID: 4242, Start: 1, Boot: "b"},
		Socket: socketPath("/run/user/1/leadlight", BaseKey(base), team, agent), Pane: "%5", StartedAt: time.Now(),
	}
}

func launchRecord(base, team, agent string) LaunchRecord {
	return LaunchRecord{
		Version: recordVersion, Host: someHost, Team: team, Agent: agent, Kind: profiles.Plain, Dir: "/",
		Socket:  socketPath("/run/user/1/leadlight", BaseKey(base), team, agent),
		EnvFile: filepath.Join("/run/user/1/leadlight", BaseKey(base), "env-"+someHost),
	}
}

// TestXH08_RecordsAreReadStrictly: what no writer of ours writes into a record is not
// believed: no path that leads elsewhere, no host of another member, no number out of
// range.
func TestXH08_RecordsAreReadStrictly(t *testing.T) {
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	base, r := dir.Path(), NewRecords(dir)
	host := func(change func(*HostRecord)) func() error {
		return func() error {
			h := hostRecord(base, "alpha", "bob")
			change(&h)
			data, _ := json.Marshal(h)
			if err := dir.Write(t.Context(), hostPath("alpha", "bob"), data); err != nil {
				t.Fatal(err)
			}
			_, err := r.Host(t.Context(), "alpha", "bob")
			return err
		}
	}
	launch := func(change func(*LaunchRecord)) func() error {
		return func() error {
			l := launchRecord(base, "alpha", "bob")
			change(&l)
			data, _ := json.Marshal(l)
			if err := dir.Write(t.Context(), launchPath("alpha", "bob"), data); err != nil {
				t.Fatal(err)
			}
			_, err := r.Launch(t.Context(), "alpha", "bob")
			return err
		}
	}
	good := map[string]func() error{"a host": host(func(*HostRecord) {}), "a launch": launch(func(*LaunchRecord) {})}
	for _, end := range []string{"stopped", "failed", "lost"} { // lost: its terminal has ended
		good["a host that is "+end] = host(func(h *HostRecord) { h.Ended = &ExitRecord{State: end} })
	}
	for name, read := range good {
		if err := read(); err != nil {
			t.Errorf("%s as we write it: %v", name, err)
		}
	}
	outside := filepath.Join(t.TempDir(), "precious")
	for name, read := range map[string]func() error{
		"a host without a version":    host(func(h *HostRecord) { h.Version = 0 }),
		"a launch without a version":  launch(func(l *LaunchRecord) { l.Version = 0 }),
		"a terminal with a break":     launch(func(l *LaunchRecord) { l.Terminal = "/a\nb" }),
		"a host id that is a path":    host(func(h *HostRecord) { h.Host = "x/../../../../precious/file1" }),
		"no host id":                  host(func(h *HostRecord) { h.Host = "" }),
		"a host id in capitals":       host(func(h *HostRecord) { h.Host = strings.ToUpper(someHost) }),
		"any path as socket":          host(func(h *HostRecord) { h.Socket = outside }),
		"a socket with dots":          host(func(h *HostRecord) { h.Socket = "/a/.." + h.Socket }),
		"a relative socket":           host(func(h *HostRecord) { h.Socket = h.Socket[1:] }),
		"the socket of another":       host(func(h *HostRecord) { h.Socket = hostRecord(base, "alpha", "eve").Socket }),
		"the socket of another team":  host(func(h *HostRecord) { h.Socket = hostRecord(base, "beta", "bob").Socket }),
		"the socket of another base":  host(func(h *HostRecord) { h.Socket = hostRecord(outside, "alpha", "bob").Socket }),
		"process 1":                   host(func(h *HostRecord) { h.Process.PID = 1 }),
		"a process below 0":           host(func(h *HostRecord) { h.Process.PID = -7 }),
		"a process too high":          host(func(h *HostRecord) { h.Process.PID = 1<<22 + 1 }),
		"a process without a start":   host(func(h *HostRecord) { h.Process.Start = 0 }),
		"an end that is none":         host(func(h *HostRecord) { h.Ended = &ExitRecord{State: "active"} }),
		"a pane that is an option":    host(func(h *HostRecord) { h.Pane = "-t" }),
		"a pane with a line break":    host(func(h *HostRecord) { h.Pane = "%5\nkill-server" }),
		"{}":                          host(func(h *HostRecord) { *h = HostRecord{} }),
		"a launch for another member": launch(func(l *LaunchRecord) { l.Agent = "eve" }),
		"a launch for another team":   launch(func(l *LaunchRecord) { l.Team = "beta" }),
		"a file outside as variables": launch(func(l *LaunchRecord) { l.EnvFile = outside }),
		"variables of another host":   launch(func(l *LaunchRecord) { l.EnvFile += "0" }),
		"a launch of another socket":  launch(func(l *LaunchRecord) { l.Socket = outside }),
		"a kind that is none":         launch(func(l *LaunchRecord) { l.Kind = "boss" }),
		"a relative folder":           launch(func(l *LaunchRecord) { l.Dir = "work" }),
	} {
		if err := read(); !errors.Is(err, fault.CorruptFile) || !strings.Contains(fault.Of(err).Hint, "bob -t alpha writes a new one") {
			t.Errorf("%s: %v, want %s and the way to a new one", name, err, fault.CorruptFile)
		}
	}
}

// TestXH08_TrustedCommandsAreReadStrictly: a worker obeys what stands in this record. What
// we never write into it makes the whole of it no longer trusted, and is not written.
func TestXH08_TrustedCommandsAreReadStrictly(t *testing.T) {
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	r := NewRecords(dir)
	for text, whole := range map[string]bool{
		`{"1":"go test ./..."}`: true, `{"1":"a\nb","20":"true"}`: true,
		`{"1":"true","../1":"true"}`: false, `{"1":"true","0":"true"}`: false, `{"1":"true","-1":"true"}`: false, `{"1":"true","x":"true"}`: false,
		`{"1":"true","2":""}`: false, `{"1":"true","2":"true\u0000; false"}`: false, `{"1":["true"]}`: false, `["true"]`: false, ``: false,
	} {
		got, err := trustedRuns().Decode("alpha", []byte(text))
		if whole != (err == nil) || whole == (len(got) == 0) || !whole && fault.CodeOf(err) != fault.CorruptFile {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	if err := dir.Write(t.Context(), OwnPath("alpha", trustedRuns().Name), []byte(`{"1":"true","x":"true"}`)); err != nil {
		t.Fatal(err)
	}
	if r.TrustedRun(t.Context(), "alpha", "1", "true") {
		t.Error("a record with a command of no task is trusted")
	}
	for task, line := range map[string]string{"": "true", "x": "true", "0": "true", "1": "", "2": "true\x00"} {
		if err := r.TrustRun(t.Context(), "beta", task, line); err == nil {
			t.Errorf("%q of task %q is written", line, task)
		}
	}
	if got := r.TrustedRuns(t.Context(), "beta"); len(got) > 0 {
		t.Errorf("written: %q", got)
	}
}

// FuzzRecords: what is read as a record names nothing outside the run folder of its base
// and no host but by a plain id.
func FuzzRecords(f *testing.F) {
	dir, err := files.Open(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { dir.Close() })
	base := dir.Path()
	for _, v := range []any{hostRecord(base, "alpha", "bob"), launchRecord(base, "alpha", "bob"), map[string]string{"1": "true"}, struct{}{}, []int{1}} {
		data, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	key := BaseKey(base)
	f.Fuzz(func(t *testing.T, data []byte) {
		var h HostRecord
		if json.Unmarshal(data, &h) == nil && h.check(key, "alpha", "bob") == nil {
			if strings.ContainsAny(h.Host, "/.\x00") || filepath.Base(filepath.Dir(h.Socket)) != key || h.Process.PID <= 1 {
				t.Errorf("believed %+v", h)
			}
		}
		var l LaunchRecord
		if json.Unmarshal(data, &l) == nil && l.check(key, "alpha", "bob") == nil {
			if l.Agent != "bob" || filepath.Base(filepath.Dir(l.EnvFile)) != key || filepath.Base(l.EnvFile) != "env-"+l.Host {
				t.Errorf("believed %+v", l)
			}
		}
		runs, err := trustedRuns().Decode("alpha", data)
		for task, line := range runs {
			if strings.ContainsAny(task, "/.-\x00") || line == "" || err != nil {
				t.Errorf("believed %q: %q, %v", task, line, err)
			}
		}
	})
}

// TestXH08_OnlyWhatWeMakeIsRemoved: a file that has the place of a socket, or of
// variables, and is something else stays.
func TestXH08_OnlyWhatWeMakeIsRemoved(t *testing.T) {
	m := NewManager(Options{Base: t.TempDir(), Runtime: t.TempDir()})
	if err := os.MkdirAll(m.runDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	socket, env := m.SocketPath("alpha", "bob"), filepath.Join(m.runDir(), "env-"+someHost)
	for _, path := range []string{socket, filepath.Join(env, "inside")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("precious"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range m.socketFiles(socket, "alpha", "bob") {
		t.Errorf("a plain file is a socket: %+v", f)
	}
	if f, err := m.envFile(someHost); err == nil {
		t.Errorf("a folder is a file of variables: %+v", f)
	}
	if f, err := m.envFile("x/../../../precious"); err == nil {
		t.Errorf("a path is an id: %+v", f)
	}
}
