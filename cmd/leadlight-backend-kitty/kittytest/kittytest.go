// Package kittytest starts real kitties for tests, on a display that nobody sees (Xvfb,
// software rendering), and looks at them past the backend.
package kittytest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/environ"
)

// Missing says what a machine lacks for this package, "" if nothing: nobody needs kitty to
// work on the rest.
func Missing() string {
	for _, program := range []string{"Xvfb", "kitty"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not here: apt-get install --no-install-recommends xvfb kitty libgl1-mesa-dri"
		}
	}
	return ""
}

// T is what is needed of *testing.T.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// startLimit is how long a kitty may take to listen: three seconds on a quiet machine.
const startLimit = 90 * time.Second

// Display is a screen that nobody sees.
type Display struct{ name string }

// S is one kitty with one window, number 1.
type S struct {
	t      T
	Socket string
	cmd    *exec.Cmd
}

// NewDisplay starts a display, which ends with t.
func NewDisplay(t T) *Display {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatalf("%v", err)
	}
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{w}
	start(t, cmd)
	_ = w.Close()
	_ = r.SetReadDeadline(time.Now().Add(startLimit))
	number, err := bufio.NewReader(r).ReadString('\n')
	_ = r.Close()
	if err != nil {
		t.Fatalf("Xvfb tells no display: %v", err)
	}
	return &Display{":" + strings.TrimSpace(number)}
}

// start starts a program in a process group of its own, which is killed at the end.
func start(t T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		done := make(chan struct{})
		go func() { _ = cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-done
		}
	})
}

// Kitty starts a kitty on the display, which ends with t.
func (d *Display) Kitty(t T) *S {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "llk")
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &S{t: t, Socket: filepath.Join(dir, "k")}
	s.cmd = exec.Command("kitty", "--config", "NONE", "-o", "allow_remote_control=socket-only", "-o", "update_check_interval=0",
		"-o", "sync_to_monitor=no", "-o", "shell_integration=disabled", "-o", "confirm_os_window_close=0", "-o", "remember_window_size=no",
		"-o", "initial_window_width=1600", "-o", "initial_window_height=1000", "--listen-on", "unix:"+s.Socket, "sh", "-c", "exec sleep 100000")
	// Nothing ties it to the terminal or the desktop of who tests.
	s.cmd.Env = append(environ.Without(os.Environ(), "KITTY_*", "TMUX*", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"), "DISPLAY="+d.name, "LIBGL_ALWAYS_SOFTWARE=1", "HOME="+dir, "XDG_RUNTIME_DIR="+dir,
		"KITTY_CONFIG_DIRECTORY="+dir, "KITTY_CACHE_DIRECTORY="+dir)
	start(t, s.cmd)
	for end := time.Now().Add(startLimit); ; time.Sleep(20 * time.Millisecond) {
		windows, err := s.ls()
		if err == nil && len(windows) == 1 && windows[0].ID == 1 {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("kitty does not listen: %v", err)
		}
	}
}

// Window is a window as kitty lists it.
type Window struct {
	ID      int
	Title   string
	Active  bool `json:"is_active_window"` // of its tab
	Columns int
	Lines   int
	InFront bool `json:"-"` // its tab is the active one of its OS window
}

// ask runs one command.
func (s *S) ask(cmd string, payload map[string]any) (json.RawMessage, error) {
	conn, err := net.DialTimeout("unix", s.Socket, time.Second)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	text, err := json.Marshal(map[string]any{"cmd": cmd, "version": []int{0, 26, 0}, "payload": payload})
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "\x1bP@kitty-cmd%s\x1b\\", text); err != nil {
		return nil, err
	}
	r := bufio.NewReader(conn)
	if _, err := r.Discard(len("\x1bP@kitty-cmd")); err != nil {
		return nil, err
	}
	var answer struct {
		OK    bool
		Data  json.RawMessage
		Error string
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return nil, err
	}
	if !answer.OK {
		return nil, errors.New(answer.Error)
	}
	return answer.Data, nil
}

func (s *S) ls() ([]Window, error) {
	data, err := s.ask("ls", nil)
	if err != nil {
		return nil, err
	}
	var text string
	var tree []struct {
		Tabs []struct {
			Active  bool `json:"is_active_tab"`
			Windows []Window
		}
	}
	if err := errors.Join(json.Unmarshal(data, &text), json.Unmarshal([]byte(text), &tree)); err != nil {
		return nil, err
	}
	var out []Window
	for _, o := range tree {
		for _, t := range o.Tabs {
			for _, w := range t.Windows {
				w.InFront = t.Active
				out = append(out, w)
			}
		}
	}
	return out, nil
}

// Windows lists the windows.
func (s *S) Windows() []Window {
	s.t.Helper()
	list, err := s.ls()
	if err != nil {
		s.t.Fatalf("%v", err)
	}
	return list
}

// Focus describes which windows get what a person types in each OS window. Which of those
// has the keyboard is the desktop's affair, and there is none here.
func (s *S) Focus() string {
	s.t.Helper()
	var at []string
	for _, w := range s.Windows() {
		if w.Active && w.InFront {
			at = append(at, fmt.Sprint("window ", w.ID))
		}
	}
	return strings.Join(at, ", ")
}

// Shown is the title of a window, "" if it is gone.
func (s *S) Shown(id string) string {
	s.t.Helper()
	for _, w := range s.Windows() {
		if fmt.Sprint(w.ID) == id {
			return w.Title
		}
	}
	return ""
}

// CloseByHand closes a window as a person does.
func (s *S) CloseByHand(id string) {
	s.t.Helper()
	if _, err := s.ask("close-window", map[string]any{"match": "id:" + id}); err != nil {
		s.t.Fatalf("%v", err)
	}
}

// Reset closes all windows but the first, and gives that the focus.
func (s *S) Reset() {
	s.t.Helper()
	_, _ = s.ask("close-window", map[string]any{"match": "not id:1"})
	_, _ = s.ask("focus-window", map[string]any{"match": "id:1"})
	for end := time.Now().Add(20 * time.Second); len(s.Windows()) > 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("windows stay")
		}
	}
}

// Freeze makes kitty hang until thaw.
func (s *S) Freeze() (thaw func()) {
	_ = s.cmd.Process.Signal(syscall.SIGSTOP)
	return func() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }
}

// Kill ends kitty without a goodbye, and waits until nobody listens.
func (s *S) Kill() {
	s.t.Helper()
	_ = s.cmd.Process.Kill()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if conn, err := net.Dial("unix", s.Socket); err != nil {
			return
		} else {
			_ = conn.Close()
		}
		if time.Now().After(end) {
			s.t.Fatalf("kitty stays")
		}
	}
}
