package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/panes/profiles"
)

func TestDoctorLooksAround(t *testing.T) {
	bin := t.TempDir()
	if err := exetest.Write(filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho '2.1.332 (Claude Code)'\n")); err != nil {
		t.Fatal(err)
	}
	look := func(environ ...string) string {
		a := newApp(Stdio{}, environ)
		a.built = &composition{settings: &config.Settings{Profiles: map[string]profiles.Profile{"claude": {Kind: profiles.Native, Command: []string{"claude"}}}}}
		var b strings.Builder
		for _, c := range a.around(t.Context()) {
			b.WriteString(c.Name + " " + c.Status + " " + c.Detail + " " + c.Fix + "\n")
		}
		return b.String()
	}
	for _, tc := range []struct {
		environ    []string
		want, lack string
	}{
		{[]string{"LANG=C.UTF-8", "TERM=xterm"}, "terminal ok", ""},
		{[]string{"LANG=C.UTF-8", "LC_ALL=POSIX"}, "terminal warn", ""},
		{[]string{"PATH=" + bin}, "claude (" + filepath.Join(bin, "claude") + ")", "found: none"},
		{[]string{"PATH=" + bin}, "Claude Code ok version 2.1.332", ""},
		{[]string{"PATH=/nowhere"}, "found: none", filepath.Join(bin, "claude")},
		{[]string{gate + "=1"}, gate + "=1", "is not set"},
		{nil, gate + " is not set", ""},
	} {
		got := look(tc.environ...)
		if !strings.Contains(got, tc.want) || (tc.lack != "" && strings.Contains(got, tc.lack)) {
			t.Errorf("%v: want %q and not %q in\n%s", tc.environ, tc.want, tc.lack, got)
		}
	}
}

// Limits at which watching the files would fail are told before it does.
func TestDoctorReadsTheLimitsOfFileEvents(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, known := checkWatches(dir); known {
		t.Error("limits where there are none")
	}
	write("max_user_watches", "65536\n")
	write("max_user_instances", "128\n")
	if c, known := checkWatches(dir); !known || c.Status != "ok" {
		t.Errorf("enough: %+v", c)
	}
	write("max_user_instances", "8\n")
	if c, _ := checkWatches(dir); c.Status != "warn" || !strings.Contains(c.Fix, "fs.inotify.max_user_instances") {
		t.Errorf("too few: %+v", c)
	}
}
