package panes

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

func TestLoginEnvironment(t *testing.T) {
	dir := t.TempDir()
	shell := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := exetest.Write(path, []byte("#!/bin/sh\n"+text)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// It runs the last of -l -i -c LINE as a shell would, after its files were noisy.
	good := shell("good", `echo welcome; export PATH="/rc/bin:$PATH:/more" NEW='a b' LEVEL=9; for last; do :; done; eval "$last"`)
	environ := []string{"SHELL=" + good, "PATH=/usr/bin:/bin", "LEVEL=1"}
	got, err := LoginEnvironment(t.Context(), environ, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"PATH=/usr/bin:/bin:/rc/bin:/more", "NEW=a b", "LEVEL=1"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in %q", want, got)
		}
	}
	if slices.ContainsFunc(got, func(kv string) bool { return strings.HasPrefix(kv, "SHLVL=") || strings.HasPrefix(kv, "PWD=") }) {
		t.Errorf("what the shell set for itself: %q", got)
	}
	// Its files may start something that holds the output open, as an agent for keys does.
	environ[0] = "SHELL=" + shell("leaves", `sleep 3 & for last; do :; done; eval "$last"`)
	if got, err := LoginEnvironment(t.Context(), environ, time.Minute); err != nil || len(got) < len(environ) {
		t.Errorf("a shell that leaves something running: %q, %v", got, err)
	}
	for name, tc := range map[string]struct {
		text string
		code fault.Code
	}{
		"mute": {"exit 0", fault.Failed}, "broken": {"exit 3", fault.Failed}, "hangs": {"sleep 1000 & sleep 1000", fault.Timeout},
	} {
		environ[0] = "SHELL=" + shell(name, tc.text)
		got, err := LoginEnvironment(t.Context(), environ, 300*time.Millisecond)
		if code := fault.CodeOf(err); code != tc.code && !(code == fault.Timeout && tc.code == fault.Failed) { // a slow machine
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(got, environ) {
			t.Errorf("%s: the environment is another: %q", name, got)
		}
	}
}
