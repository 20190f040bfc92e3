package host

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/signals"
)

// In a pane of a real tmux: the size is the pane's, what tmux types arrives, what
// is shown can be captured, and kill-pane takes the whole tree along.
func TestHostInTmux(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("no tmux")
	}
	dir := shortDir(t)
	server, sock := filepath.Join(dir, "t"), filepath.Join(dir, "h")
	run := func(args ...string) string {
		t.Helper()
		c := exec.Command(tmux, append([]string{"-S", server, "-f", "/dev/null"}, args...)...)
		c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TMUX") })
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	id := fmt.Sprintf("in-tmux-%d-%d", os.Getpid(), time.Now().UnixNano())
	t.Cleanup(func() {
		exec.Command(tmux, "-S", server, "kill-server").Run()
		(signals.TreeKiller{Host: id, Kill: 5 * time.Second}).Run(context.Background())
	})
	script := `trap '' TERM HUP; setsid sleep 1000 & stty size; while read x; do echo "got $x"; done; sleep 1000; true`
	pane := run("new-session", "-d", "-P", "-F", "#{pane_id}", "-x", "101", "-y", "31", "--",
		"env", roleEnv+"=host", quickExit, "HOST_ID="+id, "HOST_SOCKET="+sock,
		"HOST_ARGV="+strings.Join([]string{"sh", "-c", script}, "\x1f"), self(t))
	run("new-session", "-d", "--", "sleep", "1000") // keeps the server
	text := func() string { return run("capture-pane", "-p", "-t", pane) }
	eventually(t, "the size", func() bool {
		s, err := Dial(sock).Status(limited(t))
		return err == nil && strings.Contains(text(), fmt.Sprintf("%d %d", s.Rows, s.Cols))
	})
	run("send-keys", "-t", pane, "-l", "--", "from tmux")
	run("send-keys", "-t", pane, "Enter")
	eventually(t, "what tmux typed", func() bool { return strings.Contains(text(), "got from tmux") })
	if err := Dial(sock).Inject(limited(t), Input{Text: "from us;"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what we typed", func() bool { return strings.Contains(text(), "got from us;") })
	run("kill-pane", "-t", pane)
	eventually(t, "the cause", func() bool { cause, _ := os.ReadFile(sock + ".cause"); return string(cause) == CausePaneClosed })
	eventually(t, "nothing is left", func() bool { left, err := signals.Marked(id); return err == nil && len(left) == 0 })
	eventually(t, "the socket goes", func() bool { _, err := os.Lstat(sock); return os.IsNotExist(err) })
}
