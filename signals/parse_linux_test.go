package signals

import (
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	tail := " S 1 2 3 0 -1 0 0 0 0 0 0 0 0 0 20 0 4 0 777 0"
	zombie := " Z 1 2 3 34816 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0"
	leader := " Z 1 2 3 34816 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 777 0"
	for _, tc := range []struct {
		name, line, command string
		zombie, noTTY       bool
	}{
		{"plain", "42 (sh)" + tail, "sh", false, true},
		{"a name that tries", "42 (a) S 9 (b\n) c)" + tail, "a) S 9 (b\n) c", false, true},
		{"ended", "42 (sh)" + zombie, "sh", true, false},
		{"a leader whose threads run on", "42 (sh)" + leader, "sh", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := parseStat([]byte(tc.line))
			if err != nil {
				t.Fatal(err)
			}
			if p.PID != 42 || p.PPID != 1 || p.PGID != 2 || p.SID != 3 || p.Start != 777 ||
				p.Command != tc.command || p.zombie != tc.zombie || p.noTTY != tc.noTTY {
				t.Errorf("%+v", p)
			}
		})
	}
	for _, bad := range []string{"", "42", "42 (sh", "(sh)" + tail, "42 (sh) S 1", "x (sh)" + tail, "42 )(" + tail} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	if own, err := os.ReadFile("/proc/self/stat"); err == nil {
		f.Add(own)
	}
	f.Add([]byte("1 (a) b) Z 1 2 3"))
	f.Fuzz(func(t *testing.T, line []byte) { parseStat(line) })
}

func TestPidOf(t *testing.T) {
	for _, tc := range []struct {
		info string
		pid  int
		ok   bool
	}{
		{"pos:\t0\nflags:\t02\nPid:\t12580\nNSpid:\t12580\n", 12580, true},
		{"pos:\t0\nPid:\t-1\n", -1, false},
		{"pos:\t0\n", 0, false},
		{"Pid:\tx\n", 0, false},
	} {
		if pid, ok := pidOf([]byte(tc.info)); pid != tc.pid || ok != tc.ok {
			t.Errorf("%q: %d %v", tc.info, pid, ok)
		}
	}
}
