package tmux

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// reachLimit is how long a server may take to make its socket again.
const reachLimit = 2 * time.Second

// reach deals with a socket that is not there although the server runs: its folder was
// removed. Told by SIGUSR1, tmux makes its socket again. A server of ours is told; how to
// tell the person's own is said. No error means: nobody listens, or somebody does again.
func (b *Backend) reach(ctx context.Context, dead error) error {
	inode := ""
	if errors.Is(dead, os.ErrNotExist) {
		inode = listening(b.opt.Socket)
	}
	if inode == "" {
		return nil
	}
	pid := holder(inode)
	for end := time.Now().Add(reachLimit); pid == 0 && time.Now().Before(end) && ctx.Err() == nil; pid = holder(inode) {
		if listening(b.opt.Socket) != inode { // it was about to end
			return nil
		}
		pause(ctx)
	}
	e := fault.New(fault.BackendUnavailable, "the tmux server of %s runs, but its socket is gone", b.opt.Socket)
	switch {
	case pid == 0:
		return e.WithHint("end that server, or start it again")
	case !b.opt.Own:
		return e.WithHint("kill -USR1 %d makes tmux create its socket again", pid)
	}
	if err := os.MkdirAll(filepath.Dir(b.opt.Socket), 0o700); err != nil {
		return fault.New(fault.Of(err).Code, "make the folder of tmux's socket again: %w", err)
	}
	still := func(p signals.Process) bool { return isTmux(p) && holds(p.PID, inode) }
	if err := tell(pid, syscall.SIGUSR1, still); err != nil && listening(b.opt.Socket) != inode {
		return nil
	} else if err != nil {
		return e.WithHint("kill -USR1 %d makes tmux create its socket again", pid)
	}
	b.opt.Log.Debug("tmux: asked the server for its socket", "pid", pid)
	for end := time.Now().Add(reachLimit); b.dial() != nil && time.Now().Before(end); {
		pause(ctx)
	}
	return nil
}

// listening returns the inode of the socket on which somebody listens by this path, also
// when the file is gone; "": nobody.
func listening(path string) (inode string) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		w := strings.Fields(lines.Text()) // Num RefCount Protocol Flags Type St Inode Path
		if len(w) > 7 && w[3] == "00010000" && strings.HasSuffix(lines.Text(), " "+path) {
			return w[6]
		}
	}
	return ""
}

// holder is the tmux server of ours that holds a socket; 0: none is found.
func holder(inode string) (pid int) {
	names, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, name := range names {
		comm, err := os.ReadFile(name)
		if err != nil || !bytes.HasPrefix(comm, []byte("tmux: server")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && holds(pid, inode) {
			return pid
		}
	}
	return 0
}

// holds tells whether a process has a socket open.
func holds(pid int, inode string) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(files, func(f string) bool {
		link, err := os.Readlink(f)
		return err == nil && link == fmt.Sprintf("socket:[%s]", inode)
	})
}
