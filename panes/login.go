package panes

import (
	"bytes"
	"cmp"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/oneshot"
)

// loginMark stands between what a shell's files print and its variables.
const loginMark = "leadlight-environment-begins"

// LoginEnvironment asks the login shell that list names (SHELL, else sh) for the
// variables that its files set, interactive ones included, and returns list with
// those that it lacks, and with the folders of the shell's PATH behind its own. A
// shell that does not answer within limit is ended: TIMEOUT.
func LoginEnvironment(ctx context.Context, list []string, limit time.Duration) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	shell := cmp.Or(environ.Get(list, "SHELL"), "/bin/sh")
	c := exec.CommandContext(ctx, shell, "-l", "-i", "-c", "echo "+loginMark+"; exec env -0")
	c.Env = list
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // an interactive shell would take our terminal
	out, err := oneshot.Output(c)
	_, vars, found := bytes.Cut(out, []byte(loginMark+"\n"))
	switch {
	case ctx.Err() != nil:
		return list, fault.New(fault.Timeout, "the login shell %s does not tell its environment within %s", shell, limit)
	case err != nil || !found:
		return list, fault.New(fault.Failed, "the login shell %s does not tell its environment: %v", shell, err)
	}
	return withLogin(list, strings.Split(string(vars), "\x00")), nil
}

// withLogin adds to list what it lacks of login.
func withLogin(list, login []string) []string {
	own := filepath.SplitList(environ.Get(list, "PATH"))
	for _, dir := range filepath.SplitList(environ.Get(login, "PATH")) {
		if !slices.Contains(own, dir) {
			own = append(own, dir)
		}
	}
	login = environ.Without(login, append(environ.Folder(), "_", "SHLVL")...) // what a shell sets for itself
	out := environ.Set(login, list...)
	if len(own) > 0 {
		out = environ.Set(out, "PATH="+strings.Join(own, string(filepath.ListSeparator)))
	}
	return out
}
