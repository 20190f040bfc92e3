package signals

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func procArgs(argc int, parts ...string) []byte {
	raw := binary.LittleEndian.AppendUint32(nil, uint32(argc))
	return append(raw, strings.Join(parts, "\x00")...)
}

func TestParseProcArgs(t *testing.T) {
	for _, tc := range []struct {
		name          string
		raw           []byte
		args, environ []string
		fails         bool
	}{
		{name: "as the kernel lays it out", raw: procArgs(3, "/bin/sleep", "", "", "sleep", "", "a b", "LEADLIGHT_HOST=x", "B=", "", "executable_path=/bin/sleep", ""),
			args: []string{"sleep", "", "a b"}, environ: []string{"LEADLIGHT_HOST=x", "B="}},
		{name: "no environment", raw: procArgs(1, "/bin/true", "true", ""), args: []string{"true"}},
		{name: "cut within the arguments", raw: procArgs(2, "/bin/true", "true", "unended"), fails: true},
		{name: "a count that lies", raw: procArgs(1<<30, "/bin/true", "true", ""), fails: true},
		{name: "a negative count", raw: procArgs(-1, "/bin/true", "true", ""), fails: true},
		{name: "empty", fails: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args, environ, err := parseProcArgs(tc.raw)
			if (err != nil) != tc.fails {
				t.Fatalf("error %v", err)
			}
			var env []string
			for _, v := range environ {
				env = append(env, string(v))
			}
			if !tc.fails && (!slices.Equal(args, tc.args) || !slices.Equal(env, tc.environ)) {
				t.Errorf("args %q environ %q", args, env)
			}
		})
	}
}

func FuzzParseProcArgs(f *testing.F) {
	f.Add(procArgs(2, "/bin/a", "", "a", "b", "C=d", "", "x"))
	f.Add([]byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, environ, err := parseProcArgs(raw)
		if err == nil && len(args) > len(raw) {
			t.Errorf("%d arguments in %d bytes", len(args), len(raw))
		}
		valueIn(environ, Mark)
	})
}

func TestMarkIn(t *testing.T) {
	for _, tc := range []struct{ environ, want string }{
		{"A=b\x00LEADLIGHT_HOST=h-1\x00C=d\x00", "h-1"},
		{"XLEADLIGHT_HOST=no\x00LEADLIGHT_HOSTX=no\x00", ""},
		{"LEADLIGHT_HOST=\x00", ""},
		{"", ""},
	} {
		if got := valueIn(bytes.Split([]byte(tc.environ), []byte{0}), Mark); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.environ, got, tc.want)
		}
	}
}

func TestProcessAsTold(t *testing.T) {
	p := Process{Command: "x", Argv: []string{"x", strings.Repeat("é", 200)}, Spared: "a reason"}
	p.PID = 7
	if s := p.String(); !strings.HasPrefix(s, "pid 7 (x é") || !strings.HasSuffix(s, "…): a reason") || strings.ContainsRune(s, '\uFFFD') {
		t.Errorf("%q", s)
	}
	self, err := Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	// The kernel says 0 for a session whose leader is outside our pid namespace, which is where a container may begin.
	sid, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := self.Find(os.Getpid()); !ok || p.PPID != os.Getppid() || p.PGID != unix.Getpgrp() || p.SID != sid {
		t.Errorf("ourselves in the table: %+v, want parent %d, group %d, session %d", p.Identity, os.Getppid(), unix.Getpgrp(), sid)
	}
}
