package panes

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// loginMark stands between what a shell's files print and its variables.
const loginMark = "leadlight-environment-begins"

// LoginEnvironment asks the login shell that environ names (SHELL, else sh) for the
// variables that its files set, interactive ones included, and returns environ with
// those that it lacks, and with the folders of the shell's PATH behind its own. A
// shell that does not answer within limit is ended: TIMEOUT.
func LoginEnvironment(ctx context.Context, environ []string, limit time.Duration) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	shell := valueOf(environ, "SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	c := exec.CommandContext(ctx, shell, "-l", "-i", "-c", "echo "+loginMark+"; exec env -0")
	c.Env, c.WaitDelay = environ, time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // an interactive shell would take our terminal
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	out, err := c.Output()
	_, vars, found := bytes.Cut(out, []byte(loginMark+"\n"))
	switch {
	case ctx.Err() != nil:
		return environ, fault.New(fault.Timeout, "the login shell %s does not tell its environment within %s", shell, limit)
	case err != nil || !found:
		return environ, fault.New(fault.Failed, "the login shell %s does not tell its environment: %v", shell, err)
	}
	return withLogin(environ, strings.Split(string(vars), "\x00")), nil
}

// ofTheShell are variables that a shell sets for itself.
var ofTheShell = []string{"_", "SHLVL", "PWD", "OLDPWD"}

// withLogin adds to environ what it lacks of login.
func withLogin(environ, login []string) []string {
	out := slices.Clone(environ)
	for _, kv := range login {
		name, value, ok := strings.Cut(kv, "=")
		at := slices.IndexFunc(out, func(have string) bool { return strings.HasPrefix(have, name+"=") })
		switch {
		case !ok || name == "" || slices.Contains(ofTheShell, name):
		case at < 0:
			out = append(out, kv)
		case name == "PATH":
			own := filepath.SplitList(valueOf(out, "PATH"))
			for _, dir := range filepath.SplitList(value) {
				if !slices.Contains(own, dir) {
					own = append(own, dir)
				}
			}
			out[at] = fmt.Sprintf("PATH=%s", strings.Join(own, string(filepath.ListSeparator)))
		}
	}
	return out
}

func valueOf(environ []string, name string) string {
	for _, kv := range environ {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
