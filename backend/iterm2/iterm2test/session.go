package iterm2test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/creack/pty"
	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

// session is one program on its terminal. All but what is said to be its own is guarded
// by the server's mu.
type session struct {
	id      string
	profile map[string]any
	vars    map[string]string // as JSON
	title   string            // by escape sequence
	tty     *os.File
	cmd     *exec.Cmd
	end     sync.Once
}

// start runs what a profile says. mu is held.
func (s *Server) start(profile map[string]any, cols, rows int) (*session, error) {
	x := &session{id: strings.ToUpper(uuid.NewString()), profile: maps.Clone(profile), vars: map[string]string{}}
	argv := []string{"/bin/sh"}
	if profile["Custom Command"] == "Yes" {
		text, _ := profile["Command"].(string)
		if argv = words(text); len(argv) == 0 {
			return nil, fmt.Errorf("the command %q is not one that is understood", text)
		}
	}
	x.cmd = exec.Command(argv[0], argv[1:]...)
	x.cmd.Env = []string{"PATH=" + s.helper + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8",
		"TERM=xterm-256color", "TERM_PROGRAM=iTerm.app", "ITERM_SESSION_ID=w0t0p0:" + x.id}
	x.cmd.Dir = s.Home
	tty, err := pty.StartWithSize(x.cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		return nil, err
	}
	x.tty = tty
	x.vars["pid"] = fmt.Sprint(x.cmd.Process.Pid)
	s.started[x] = true
	s.running.Go(func() { s.run(x) })
	return x, nil
}

// run reads what the program writes until nobody can write any more, and then the
// session is over.
func (s *Server) run(x *session) {
	var pending []byte
	buf := make([]byte, 4096)
	for {
		n, err := x.tty.Read(buf)
		pending = s.escapes(x, append(pending, buf[:n]...))
		if err != nil {
			break
		}
	}
	_ = x.cmd.Wait()
	_ = x.tty.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.started, x)
	if end, _ := x.profile["Close Sessions On End"].(float64); end == 1 {
		s.remove(x)
	}
}

// escapes obeys the sequences that set a title, and returns what is not finished.
func (s *Server) escapes(x *session, data []byte) []byte {
	for {
		i := bytes.Index(data, []byte("\x1b]"))
		if i < 0 {
			return nil
		}
		data = data[i:]
		end := bytes.IndexAny(data[2:], "\a\x1b")
		if end < 0 {
			return data[:min(len(data), 1<<16)]
		}
		if title, ok := bytes.CutPrefix(data[2:2+end], []byte("2;")); ok {
			s.mu.Lock()
			x.title = string(title)
			s.mu.Unlock()
		}
		data = data[2+end:]
	}
}

// resize changes the terminal's size, if it is still there.
func (x *session) resize(to wire.Size) {
	raw, err := x.tty.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(to.Cols), Row: uint16(to.Rows)})
	})
}

// hangUp takes the terminal away, as closing a session does; a program may see to it that
// it ends well.
func (x *session) hangUp() {
	x.end.Do(func() {
		_ = syscall.Kill(-x.cmd.Process.Pid, syscall.SIGHUP)
		_ = x.tty.Close()
	})
}

// shown is what people see of a session: its name, or, where a program may set it, the
// title, and the badge.
func (x *session) shown() string {
	name, _ := x.profile["Name"].(string)
	name = interpolate(name)
	if allowed, set := x.profile["Allow Title Setting"].(bool); (!set || allowed) && x.title != "" {
		name = x.title
	}
	badge, _ := x.profile["Badge Text"].(string)
	return name + " | " + interpolate(badge)
}

// interpolate does to a text what iTerm2 does: a backslash makes what follows literal,
// but an expression in \(…) is replaced by its value, here by a warning.
func interpolate(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		if s[i] == '(' {
			out.WriteString("INTERPOLATED")
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// words splits a command as iTerm2 does. What it takes for quotes or escapes is not known here,
// and nothing is started.
func words(s string) []string {
	if strings.ContainsAny(s, "\"'\\") {
		return nil
	}
	return strings.Fields(s)
}

// with does something with a session and its place, if it is there.
func (s *Server) with(id string, do func(leaf *node, x *session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, _, leaf := s.find(id); leaf != nil {
		do(leaf, leaf.session)
	}
}

// CloseByHand closes a session as a person does.
func (s *Server) CloseByHand(id string) {
	s.with(id, func(_ *node, x *session) { x.hangUp(); s.remove(x) })
}

// Shown is what people see of a session.
func (s *Server) Shown(id string) (text string) {
	s.with(id, func(_ *node, x *session) { text = x.shown() })
	return text
}

// Profile returns a value of a session's profile.
func (s *Server) Profile(id, key string) (value any) {
	s.with(id, func(_ *node, x *session) { value = x.profile[key] })
	return value
}

// Programs returns, for each session, the process of its program, which may have ended.
func (s *Server) Programs() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for _, w := range s.windows {
		for _, t := range w.tabs {
			for _, l := range t.root.leaves() {
				out[l.session.id] = l.session.cmd.Process.Pid
			}
		}
	}
	return out
}

// Size returns the size of a session in cells.
func (s *Server) Size(id string) (size wire.Size) {
	s.with(id, func(leaf *node, _ *session) { size = leaf.size })
	return size
}

// Visit has another program run in a session than the one that was started there.
func (s *Server) Visit(id string) error {
	visitor := exec.Command("sleep", "1000")
	if err := visitor.Start(); err != nil {
		return err
	}
	s.running.Go(func() { _ = visitor.Wait() })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visitors = append(s.visitors, visitor.Process)
	s.session(id).vars["pid"] = fmt.Sprint(visitor.Process.Pid)
	return nil
}
