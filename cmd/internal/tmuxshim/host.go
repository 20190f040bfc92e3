package tmuxshim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
)

// HostWord is the verb, unknown to tmux, with which the program starts itself in a pane.
const HostWord = "host"

// Launch is what the host of a pane is told. It comes in a file that is read once.
type Launch struct {
	Server   string   `json:"server"`
	Host     string   `json:"host"`
	Socket   string   `json:"socket"`
	Words    []string `json:"words"` // one word is a line for the shell
	Dir      string   `json:"dir"`
	Env      []string `json:"env"`
	Kind     string   `json:"kind"` // of the backend
	Terminal string   `json:"terminal"`
}

// launchPrefix begins the names of launches.
const launchPrefix = "launch-"

// name is that of its file.
func (l Launch) name() string { return launchPrefix + l.Host }

// hand writes a launch down for its host alone.
func (k Keeper) hand(l Launch) (file string, err error) {
	file = filepath.Join(Folder(k.Runtime), l.name())
	data, err := json.Marshal(l)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("hand over the program of a pane: %w", err)
	}
	return file, nil
}

// take reads a launch and removes it. A file that is none stays.
func (k Keeper) take(file string) (l Launch, err error) {
	data, err := files.ReadFile(file, 0)
	if err == nil {
		err = json.Unmarshal(data, &l)
	}
	if err == nil && (!isHost(l.Host) || filepath.Base(file) != l.name() || l.Socket != k.socket(l.Host)) {
		err = fmt.Errorf("%s is no launch", file)
	}
	if err == nil {
		err = files.Remove(filepath.Dir(file), l.name(), 0)
	}
	if err != nil {
		return l, fault.New(fault.InvalidArgument, "tmux-shim %s: %w", HostWord, err).WithHint("it is started by tmux-shim, not by hand")
	}
	return l, nil
}

// argv is what runs: a line through the person's shell, or a program as it is.
func (l Launch) argv() []string {
	if len(l.Words) != 1 {
		return l.Words
	}
	shell := environ.Get(l.Env, "SHELL")
	if !filepath.IsAbs(shell) {
		shell = "/bin/sh"
	}
	return []string{shell, "-c", l.Words[0]}
}

// Host is the process in a pane: it runs the program of the launch in file, and returns
// the exit status.
func (k Keeper) Host(ctx context.Context, file string, log *slog.Logger) (int, error) {
	k.Runtime = filepath.Dir(filepath.Dir(file)) // the terminal may have another idea of it
	runtime.SetDefaultGOMAXPROCS()               // it may start a host on one processor
	l, err := k.take(file)
	if err != nil {
		return 0, err
	}
	h, err := host.New(host.Options{ID: l.Host, Socket: l.Socket, Terminal: k.Terminal, Screen: true, Log: log})
	if err != nil {
		return 0, fmt.Errorf("start the host of a pane: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
		case <-h.Closing():
			if c := h.Cause(); c == host.CausePaneClosed || c == host.CauseTerminated || c == host.CauseInterrupted {
				_, _ = h.End(context.WithoutCancel(ctx), host.DefaultTerm, host.DefaultKill) // the log of the host says what is left
			}
		}
	}()
	env := panes.WithTerminal(backend.Without(l.Env, backend.TerminalVariables()), k.Environ)
	exit, err := h.Run(ctx, host.Command{Argv: l.argv(), Dir: l.Dir, Env: env})
	close(ended)
	signal.Ignore(syscall.SIGHUP, syscall.SIGTERM) // whoever closes the pane now finds us about to leave
	gone := sync.OnceValue(func() error { return errors.Join(h.Close(), k.leave(ctx, l)) })
	err = errors.Join(err, k.left(ctx, l, gone))
	return exit.Code, errors.Join(exit.StartErr, err)
}

// leave lets a headless pane be forgotten, which is about to go; a terminal sees that itself.
func (k Keeper) leave(ctx context.Context, l Launch) error {
	id := environ.Get(k.Environ, "LEADLIGHT_PANE")
	if l.Kind != panes.Headless || id == "" {
		return nil
	}
	b, err := k.Open(l.Kind, l.Terminal)
	if err != nil {
		return err
	}
	return panes.Leave(ctx, b, backend.ID(id))
}
