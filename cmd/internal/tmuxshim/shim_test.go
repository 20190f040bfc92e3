package tmuxshim

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// recorded are the calls of tmux that versions of the client were seen to make, inside
// tmux and outside.
func recorded(t testing.TB) [][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/argv.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var row struct {
			Client string
			Argv   []string
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		out = append(out, row.Argv)
	}
	return out
}

func TestEveryRecordedCallIsKnown(t *testing.T) {
	used := map[string]bool{}
	for _, argv := range recorded(t) {
		_, rest, version, err := serverOf(argv)
		if version {
			continue
		}
		c, err2 := parse(rest)
		if err = errors.Join(err, err2); err != nil {
			t.Errorf("%q: %v", argv, err)
			continue
		}
		used[c.verb.Name] = true
		switch c.verb.Name {
		case "set-option":
			if _, known := options()[c.words[0]]; !known {
				t.Errorf("%q: the option is not known", argv)
			}
		case "show-options":
			if _, err := showOption(t.Context(), nil, c); err != nil {
				t.Errorf("%q: %v", argv, err)
			}
		}
	}
	for _, v := range Verbs() {
		if seen := strings.HasPrefix(v.Clients, "2.") || strings.Contains(v.Clients, ": "); used[v.Name] != seen {
			t.Errorf("%s is said to be used by %q, and it was recorded: %v", v.Name, v.Clients, used[v.Name])
		}
	}
}

func TestUnknownIsRefusedByName(t *testing.T) {
	for line, says := range map[string]string{
		"choose-tree":                   `"choose-tree"`,
		"":                              "without a verb",
		"-C attach":                     "-C",
		"kill-pane -a":                  "-a of the tmux verb kill-pane",
		"list-panes -t a ; kill-server": "one line",
		"select-pane -t %0 extra":       "1 words after the tmux verb select-pane",
		"show-options -g status-left":   "status-left",
	} {
		_, args, _, err := serverOf(strings.Fields(line))
		var c call
		if err == nil {
			c, err = parse(args)
		}
		if err == nil && c.verb.Name == "show-options" {
			_, err = showOption(t.Context(), nil, c)
		}
		if !errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), says) || fault.Of(err).Hint == "" {
			t.Errorf("%q: %v, want %q", line, err, says)
		}
	}
	if _, err := parse([]string{"split-window", "-t"}); err == nil || err.Error() != "split-window: -t expects an argument" {
		t.Errorf("a flag without its value: %v", err)
	}
}

func TestTargetsAndFormats(t *testing.T) {
	s := &server{Session: "swarm", Windows: []string{"view", "more"}, Panes: []pane{
		{ID: "%0", Window: 0, Title: "a"}, {ID: "%3", Window: 0}, {ID: "%4", Window: 1, Title: "#{pane_id}"},
	}}
	for target, want := range map[string]string{
		"%3": "%3", "": "%0", "swarm": "%0", "=swarm": "%0", "swarm:": "%0", "swarm:more": "%4", "swarm:1": "%4", "@1": "%4",
		"%1": "can't find pane: %1", "%": "can't find pane: %", "@7": "can't find window: @7", "swarm:x": "can't find window: x", "other": "can't find session: other",
	} {
		p, err := s.target(target)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = p.ID
		}
		if got != want {
			t.Errorf("%q is %q, want %q", target, got, want)
		}
	}
	for format, want := range map[string]string{
		"#{pane_id}": "%4", "#{session_name}:#{window_id}.#{pane_id}": "swarm:@1.%4", "#{window_name} #{pane_title}": "more #{pane_id}",
		"#{client_termtype}\t#{status}": "\ton", "plain": "plain", "#{pane_id": "",
	} {
		if got := s.expand(format, &s.Panes[2]); got != want {
			t.Errorf("%q is %q, want %q", format, got, want)
		}
	}
}

func TestColors(t *testing.T) {
	for style, want := range map[string]string{"bg=default,fg=blue": "blue", "fg=magenta": "purple", "fg=colour208": "orange", "fg=colour205": "pink", "bg=red": ""} {
		var p pane
		if p.paint(style); p.Color != want {
			t.Errorf("%s is %q, want %q", style, p.Color, want)
		}
	}
}

func TestXH08_OnlyALaunchIsTaken(t *testing.T) {
	k := Keeper{Runtime: t.TempDir()}
	dir, a, b := Folder(k.Runtime), rand.Text(), rand.Text()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, text string
		taken      bool
	}{
		{"launch-" + a, `{"host":"` + a + `","socket":"` + k.socket(a) + `"}`, true},
		{"launch-" + b, `{"host":"` + a + `","socket":"` + k.socket(a) + `"}`, false},
		{"launch-" + b, `{"host":"` + b + `","socket":"/precious"}`, false},
		{"launch-", `{}`, false},
		{"launch-C", `{"host":"C"`, false},
		{"package.json", `{"name":"mine"}`, false},
	} {
		file := filepath.Join(dir, tc.name)
		if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := k.take(file)
		if taken := err == nil; taken != tc.taken || !taken && !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("%s: %v", tc.name, err)
		}
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) != tc.taken {
			t.Errorf("%s afterwards: %v", tc.name, err)
		}
	}
}

// TestXH08_OtherServersHostsAreNotBelieved: a file that names a path as a host, or a host of
// another server or pane, is damaged, and nothing is done to whom it names.
func TestXH08_OtherServersHostsAreNotBelieved(t *testing.T) {
	k := Keeper{Runtime: t.TempDir()}
	if err := os.Mkdir(Folder(k.Runtime), 0o700); err != nil {
		t.Fatal(err)
	}
	id := rand.Text()
	good := pane{ID: "%0", Host: id, Mark: markOf("a", "%0", id), Process: signals.Identity{PID: 4242, Start: 1, Boot: "b"}}
	everyone := good
	everyone.Process.PID = -1
	for name, tc := range map[string]struct {
		server string
		pane   pane
		ok     bool
	}{
		"its own":              {"a", good, true},
		"no program yet":       {"a", pane{ID: "%0"}, true},
		"a host of no process": {"a", everyone, false},
		"a copy of another":    {"b", good, false},
		"a path":               {"a", pane{ID: "%0", Host: "../../precious", Mark: markOf("a", "%0", "../../precious")}, false},
		"of another server":    {"a", pane{ID: "%0", Host: id, Mark: markOf("b", "%0", id)}, false},
		"of another pane":      {"a", pane{ID: "%1", Host: id, Mark: markOf("a", "%0", id)}, false},
		"of a team":            {"a", pane{ID: "%0", Host: id, Mark: backend.Mark{Base: "b", Team: "a", Agent: "%0", Host: id}}, false},
		"in no window":         {"a", pane{ID: "%0", Window: 1}, false},
		"in a negative window": {"a", pane{ID: "%0", Window: -1}, false},
	} {
		data, err := json.Marshal(server{Name: tc.server, Windows: []string{"w"}, Panes: []pane{tc.pane}})
		if err := errors.Join(err, os.WriteFile(k.file("a"), data, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := k.read(k.file("a")); (err == nil) != tc.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzXH08_Server: whatever stands in the file of a server, it is refused, or speaks of that
// server's own panes and hosts.
func FuzzXH08_Server(f *testing.F) {
	k := Keeper{Runtime: f.TempDir()}
	if err := os.Mkdir(Folder(k.Runtime), 0o700); err != nil {
		f.Fatal(err)
	}
	id := rand.Text()
	for _, p := range []pane{
		{ID: "%0"}, {ID: "%0", Host: id, Mark: markOf("a", "%0", id), Process: signals.Identity{PID: 4242, Start: 1, Boot: "b"}},
		{ID: "%0", Host: id, Mark: markOf("a", "%0", id)}, {ID: "%0", Host: "../x", Mark: markOf("a", "%0", "../x")}, {ID: "%0", Host: id, Mark: markOf("b", "%0", id)}, {ID: "%0", Window: 2},
	} {
		for _, name := range []string{"a", "b"} {
			data, err := json.Marshal(server{Name: name, Windows: []string{"w"}, Panes: []pane{p}})
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte(`null`))
	f.Add([]byte(`{"name":"a","panes":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := k.file("a")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := k.read(file)
		if err != nil {
			return
		}
		for _, p := range s.Panes {
			own := p.Host == "" || filepath.Dir(k.socket(p.Host)) == Folder(k.Runtime) && p.Mark == backend.Mark{Base: base, Team: "a", Agent: p.ID, Host: p.Host} && p.Process.PID > 1
			if s.Name != "a" || !own || p.Window < 0 || p.Window >= len(s.Windows) {
				t.Errorf("%q is believed to be %+v", data, p)
			}
		}
	})
}

func TestKeyNames(t *testing.T) {
	for word, want := range map[string]string{
		"Enter": "enter", "enter": "enter", "C-m": "enter", "c-C": "ctrl-c", "BSpace": "backspace", "Space": "space",
		"Up": "refused", "down": "refused", "F1": "refused", "F12": "refused", "C-x": "refused", "M-x": "refused", "C-M-Left": "refused",
		"^c": "refused", "S-Tab": "refused", "C-é": "refused", "PgUp": "refused", "KP*": "refused", "C--": "refused", "0x1b": "refused",
		"": "", "a": "", "-": "", "^": "", "C-": "", "C-foo": "", "F13": "", "Upper": "", "c": "", "0x": "", "0xyz": "", "研究": "", "M-": "",
	} {
		got, err := keyOf(word)
		if errors.Is(err, fault.Unsupported) {
			got = "refused"
		} else if err != nil {
			t.Errorf("%q: %v", word, err)
		}
		if got != want {
			t.Errorf("%q is the key %q, want %q", word, got, want)
		}
	}
}

func FuzzCall(f *testing.F) {
	for _, argv := range recorded(f) {
		f.Add(strings.Join(argv, "\x00"))
	}
	f.Fuzz(func(t *testing.T, line string) {
		_, args, _, err := serverOf(strings.Split(line, "\x00"))
		if err != nil {
			return
		}
		c, err := parse(args)
		if err != nil {
			return
		}
		s := &server{Session: "s", Windows: []string{"w"}, Panes: []pane{{ID: "%0"}}}
		if p, err := s.target(c.flags['t']); err == nil {
			s.expand(c.flags['F'], p)
		}
		for _, word := range c.words {
			_, _ = keyOf(word)
		}
	})
}
