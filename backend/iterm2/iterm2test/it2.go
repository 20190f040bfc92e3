package iterm2test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

// it2Script hands its arguments to the server and says what that answers: an exit status
// in the first line, then the text.
const it2Script = `#!/bin/sh
[ -p '%[1]s/requests' ] || { echo 'Error: could not connect to iTerm2' >&2; exit 2; }
d=$(mktemp -d '%[1]s/call.XXXXXX') || exit 2
trap 'rm -rf "$d"' EXIT
mkfifo "$d/answer"
for a do printf '%%s\0' "$a"; done > "$d/argv"
echo "$d" > '%[1]s/requests'
exec 3< "$d/answer"
read -r status <&3
if [ "$status" = 0 ]; then cat <&3; else cat <&3 >&2; fi
exit "$status"
`

// It2 puts the command line it2 into the folder dir, as far as leadlight uses it, and dir on
// the PATH of the programs in the sessions. It works also where the interface refuses.
func (s *Server) It2(dir string) error {
	spool := filepath.Join(s.Home, "it2")
	if err := os.Mkdir(spool, 0o700); err != nil {
		return err
	}
	if err := syscall.Mkfifo(filepath.Join(spool, "requests"), 0o600); err != nil {
		return err
	}
	requests, err := os.OpenFile(filepath.Join(spool, "requests"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.helper, s.requests = dir+":"+s.helper, requests
	s.mu.Unlock()
	s.serving.Go(func() {
		for lines := bufio.NewScanner(requests); lines.Scan(); {
			call := lines.Text()
			s.serving.Go(func() { s.answerIt2(call) })
		}
	})
	return Program(filepath.Join(dir, "it2"), fmt.Sprintf(it2Script, spool))
}

// Program writes a program so that it can be run at once: a process that is just being
// started must not have the file open for writing.
func Program(file, script string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(file, []byte(script), 0o700)
}

// Shell makes what it2 opens run this command instead of a shell: as one does that takes
// its time, or throws away what was typed meanwhile.
func (s *Server) Shell(command string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shell = command
}

// answerIt2 carries out the arguments that lie in a folder. Whoever was killed meanwhile
// is not told.
func (s *Server) answerIt2(dir string) {
	text, err := os.ReadFile(filepath.Join(dir, "argv"))
	if err != nil {
		return
	}
	s.gate.RLock()
	status, said := s.it2(strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"))
	s.gate.RUnlock()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		out, err := os.OpenFile(filepath.Join(dir, "answer"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			_, _ = fmt.Fprintf(out, "%d\n%s", status, said)
			_ = out.Close()
			return
		}
	}
}

func (s *Server) it2(argv []string) (status int, said string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(argv) < 2 || s.dead {
		return 2, "Error: could not connect to iTerm2\n"
	}
	verb, rest := argv[0]+" "+argv[1], argv[2:]
	option := func(name string) string {
		i := slices.Index(rest, name)
		if i < 0 || i+1 >= len(rest) {
			return ""
		}
		value := rest[i+1]
		rest = slices.Delete(slices.Clone(rest), i, i+2)
		return value
	}
	id, window := option("-s"), option("-w")
	_, _, leaf := s.find(id)
	last := ""
	if len(rest) > 0 {
		last = rest[len(rest)-1]
	}
	switch {
	case verb == "session list" && last == "--json":
		return 0, s.listIt2()
	case verb == "app get-focus" && s.key != nil:
		return 0, fmt.Sprintf("Current window: %s\nCurrent tab: %s\nCurrent session: %s\nSession name: x\n", s.key.id, s.key.selected.id, s.key.selected.active.id)
	case verb == "tab new" && window != "":
		made := s.createTab(&wire.CreateTabRequest{Window: window, Properties: s.profile()})
		if made.Status != wire.OK {
			return 3, fmt.Sprintf("Error: Window '%s' not found\n", window)
		}
		return 0, fmt.Sprintf("Created new tab: %d\n", made.Tab)
	case verb == "session focus":
		if s.activate(&wire.ActivateRequest{Session: last, SelectSession: true, SelectTab: true, FrontWindow: true}) != wire.OK {
			return 3, fmt.Sprintf("Error: Session '%s' not found\n", last)
		}
		return 0, "Focused session: " + last + "\n"
	case leaf == nil && id != "":
		return 3, fmt.Sprintf("Error: Session '%s' not found\n", id)
	case leaf == nil, verb == "session set-var" && len(rest) < 2:
		return 2, "Usage: it2 [OPTIONS] COMMAND [ARGS]...\n"
	}
	x := leaf.session
	switch verb {
	case "session split":
		direction := wire.Stacked
		if slices.Contains(rest, "-v") {
			direction = wire.SideBySide
		}
		made := s.splitPane(&wire.SplitPaneRequest{Session: id, Direction: direction, Properties: s.profile()})
		if made.Status != wire.OK {
			return 1, "Error: Failed to split pane\n"
		}
		return 0, "Created new pane: " + made.Sessions[0] + "\n"
	case "session run":
		_, _ = x.tty.WriteString(last + "\r")
	case "session set-name":
		x.profile["Name"] = last
	case "session set-var":
		x.vars[rest[len(rest)-2]] = last
	case "session get-var":
		if value, ok := x.vars[last]; ok {
			return 0, value + "\n"
		}
		return 0, "Variable '" + last + "' not set\n"
	case "session close":
		x.hangUp()
		s.remove(x)
		return 0, "Session closed\n"
	}
	return 0, ""
}

// profile is what sessions have that nobody gives one.
func (s *Server) profile() []wire.Property {
	out := []wire.Property{{Key: "Close Sessions On End", JSON: "1"}}
	if s.shell != "" {
		command, _ := json.Marshal(s.shell)
		out = append(out, wire.Property{Key: "Custom Command", JSON: `"Yes"`}, wire.Property{Key: "Command", JSON: string(command)})
	}
	return out
}

func (s *Server) listIt2() string {
	type row struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Title  string `json:"title"`
		Rows   int    `json:"rows"`
		Cols   int    `json:"cols"`
		Tmux   bool   `json:"is_tmux"`
		Window string `json:"window_id"`
		Tab    string `json:"tab_id"`
	}
	rows := []row{}
	for _, w := range s.windows {
		for _, t := range w.tabs {
			for _, l := range t.root.leaves() {
				rows = append(rows, row{ID: l.session.id, Name: l.session.shown(), Title: l.session.title, Rows: l.size.Rows, Cols: l.size.Cols, Window: w.id, Tab: t.id})
			}
		}
	}
	out, _ := json.MarshalIndent(rows, "", "  ")
	return string(out) + "\n"
}
