package tmuxshim

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/panes/host"
)

// Verb is one tmux command that the shim answers.
type Verb struct {
	Name    string
	Does    string // for people
	Clients string // the versions of Claude Code seen to use it
	aliases []string
	flags   string // as for getopt: a colon after those with a value
	words   int    // at most, after the flags
	makes   bool   // it may begin a server
	run     func(context.Context, *server, call) (string, error)
}

// any number of words.
const many = 1 << 20

// Verbs is the table of what the shim answers.
func Verbs() []Verb {
	return []Verb{
		{"new-session", "begin a server with its first pane", "2.1.41 and later, outside tmux", []string{"new"}, "ds:n:PF:c:x:y:", many, true, newSession},
		{"has-session", "tell whether there is a session", "2.1.41 and later, outside tmux", []string{"has"}, "t:", 0, false, hasSession},
		{"new-window", "add a window with one pane", "none seen", []string{"neww"}, "dn:t:PF:c:", many, false, newWindow},
		{"list-windows", "list the windows", "2.1.41 and later, outside tmux", []string{"lsw"}, "at:F:", 0, false, listWindows},
		{"split-window", "add a pane", "2.1.41 and later", []string{"splitw"}, "bdhvl:p:t:PF:c:", many, false, onPane(splitWindow)},
		{"list-panes", "list the panes", "2.1.41 and later", []string{"lsp"}, "ast:F:", 0, false, onPane(listPanes)},
		{"select-pane", "title (-T) or colour (-P) of a pane", "-T: 2.1.41 and later; -P: to 2.1.177", []string{"selectp"}, "t:T:P:", 0, false, onPane(selectPane)},
		{"set-option", "colour of a pane; other options change nothing", "2.1.41 and later", []string{"set"}, "gpwt:", 2, false, onPane(setOption)},
		{"show-options", "the options the client asks for", "show -gv, show -Av: 2.1.112 and later", []string{"show"}, "gAvwpt:", 1, false, showOption},
		{"display-message", "facts about a pane (-p)", "2.1.41 and later", []string{"display"}, "pt:", 1, false, display},
		{"select-layout", "accepted, ignored", "2.1.41 and later", []string{"selectl"}, "t:", 1, false, onPane(accept)},
		{"resize-pane", "accepted, ignored", "2.1.41 and later", []string{"resizep"}, "t:x:y:", 0, false, onPane(accept)},
		{"respawn-pane", "start the program of a pane (-k)", "2.1.183 and later", []string{"respawnp"}, "kt:c:", many, false, onPane(respawn)},
		{"send-keys", "type; without a program, what is entered becomes it", "2.1.41 to 2.1.177", []string{"send"}, "lt:", many, false, onPane(sendKeys)},
		{"capture-pane", "what a pane shows (-p)", "none seen", []string{"capturep"}, "pt:", 0, false, capture},
		{"attach-session", "show a pane in this terminal; ctrl-\\ and then d leaves", "what it tells people", []string{"attach", "a"}, "t:", 0, false, attach},
		{"kill-pane", "end the program and all it has started", "2.1.41 and later", []string{"killp"}, "t:", 0, false, onPane(killPane)},
	}
}

// onPane is a verb about the pane that -t names.
func onPane(verb func(context.Context, *server, *pane, call) (string, error)) func(context.Context, *server, call) (string, error) {
	return func(ctx context.Context, s *server, c call) (string, error) {
		p, err := s.target(c.flags['t'])
		if err != nil {
			return "", err
		}
		return verb(ctx, s, p, c)
	}
}

func newSession(ctx context.Context, s *server, c call) (string, error) {
	name := cmp.Or(c.flags['s'], "0")
	if len(s.Panes) > 0 {
		return "", refusal("duplicate session: " + name)
	}
	s.Session = name
	return s.open(ctx, c, s.window(c.flags['n']))
}

func hasSession(_ context.Context, s *server, c call) (string, error) {
	if name := strings.TrimPrefix(c.flags['t'], "="); name != s.Session {
		return "", refusal("can't find session: " + name)
	}
	return "", nil
}

func newWindow(ctx context.Context, s *server, c call) (string, error) {
	if name, _, _ := strings.Cut(c.flags['t'], ":"); c.has('t') && strings.TrimPrefix(name, "=") != s.Session {
		return "", refusal("can't find session: " + name)
	}
	return s.open(ctx, c, s.window(c.flags['n']))
}

func listWindows(_ context.Context, s *server, c call) (string, error) {
	var lines []string
	seen := map[int]bool{}
	for i := range s.Panes {
		if p := &s.Panes[i]; !seen[p.Window] {
			seen[p.Window] = true
			lines = append(lines, s.expand(c.flags['F'], p))
		}
	}
	return strings.Join(lines, "\n"), nil
}

func splitWindow(ctx context.Context, s *server, p *pane, c call) (string, error) {
	return s.open(ctx, c, p.Window)
}

func listPanes(_ context.Context, s *server, at *pane, c call) (string, error) {
	var lines []string
	for i := range s.Panes {
		if p := &s.Panes[i]; p.Window == at.Window || c.has('a') || c.has('s') {
			lines = append(lines, s.expand(c.flags['F'], p))
		}
	}
	return strings.Join(lines, "\n"), nil
}

func selectPane(ctx context.Context, s *server, p *pane, c call) (string, error) {
	if c.has('T') {
		p.Title = c.flags['T']
	}
	if c.has('P') {
		p.paint(c.flags['P'])
	}
	if !c.has('T') && !c.has('P') {
		return "", unsupported("select-pane without -T or -P")
	}
	s.keeper.label(ctx, *p)
	return "", nil
}

// options are those of panes and windows that the client sets, and whether they hold the
// pane's colour.
func options() map[string]bool {
	return map[string]bool{
		"window-style": true, "pane-border-style": true, "pane-active-border-style": true,
		"pane-border-format": false, "pane-border-status": false, "remain-on-exit": false,
	}
}

func setOption(ctx context.Context, s *server, p *pane, c call) (string, error) {
	if len(c.words) != 2 {
		return "", unsupported("set-option without a value")
	}
	color, known := options()[c.words[0]]
	switch {
	case !known:
		return "", unsupported("the tmux option %.40q", c.words[0])
	case color && c.has('p'):
		p.paint(c.words[1])
		s.keeper.label(ctx, *p)
	}
	return "", nil
}

func showOption(_ context.Context, _ *server, c call) (string, error) {
	if len(c.words) == 1 {
		if value, ok := map[string]string{"focus-events": "off", "mouse": "off", "allow-passthrough": "off"}[c.words[0]]; ok {
			return value, nil
		}
	}
	return "", unsupported("the tmux option %.40q", strings.Join(c.words, " "))
}

func display(_ context.Context, s *server, c call) (string, error) {
	if !c.has('p') || len(c.words) != 1 {
		return "", unsupported("display-message without -p and a format")
	}
	p, err := s.target(c.flags['t'])
	if err != nil {
		return "", err
	}
	return s.expand(c.words[0], p), nil
}

func accept(context.Context, *server, *pane, call) (string, error) { return "", nil }

func respawn(ctx context.Context, s *server, p *pane, c call) (string, error) {
	switch {
	case len(c.words) == 0:
		return "", unsupported("respawn-pane without a command")
	case p.Host != "" && !c.has('k'):
		return "", refusal("respawn pane failed: pane " + s.Session + ":" + p.ID + " still active")
	case p.Host != "":
		return "", unsupported("a second program in a pane")
	}
	return "", s.start(ctx, p, c.words, c.flags['c'])
}

func sendKeys(ctx context.Context, s *server, p *pane, c call) (string, error) {
	pressed := make([]string, len(c.words)) // the key that a word stands for; "": none
	for i, word := range c.words {
		if c.has('l') {
			break
		}
		var err error
		if pressed[i], err = keyOf(word); err != nil {
			return "", err // before anything is typed
		}
	}
	for i, word := range c.words {
		key := pressed[i]
		switch {
		case p.Host != "":
			if err := s.keeper.press(ctx, *p, word, key); err != nil {
				return "", err
			}
		case key == "":
			p.Typed += word
		case key == "ctrl-u":
			p.Typed = ""
		case key == "enter" && strings.TrimSpace(p.Typed) != "":
			line := p.Typed
			p.Typed = ""
			if err := s.start(ctx, p, []string{line}, ""); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

func capture(ctx context.Context, s *server, c call) (string, error) {
	p, err := s.running(c.flags['t'])
	switch {
	case err != nil:
		return "", err
	case !c.has('p'):
		return "", unsupported("capture-pane without -p")
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	shown, err := host.Dial(s.keeper.socket(p.Host)).Capture(ctx, 0, false)
	return strings.TrimSuffix(shown.Text, "\n"), err
}

func attach(_ context.Context, s *server, c call) (string, error) {
	p, err := s.running(c.flags['t'])
	if err != nil {
		return "", err
	}
	if s.keeper.Terminal == nil {
		return "", refusal("open terminal failed: not a terminal")
	}
	s.viewed = p
	return "", nil
}

// running finds a pane that has a program.
func (s *server) running(target string) (*pane, error) {
	p, err := s.target(target)
	if err == nil && p.Host == "" {
		err = refusal("pane " + p.ID + " has no program yet")
	}
	return p, err
}

func killPane(_ context.Context, s *server, p *pane, c call) (string, error) {
	gone := *p
	s.Panes = slices.DeleteFunc(s.Panes, func(o pane) bool { return o.ID == gone.ID })
	if gone.Host != "" {
		s.ended = append(s.ended, gone)
	}
	return "", nil
}

// open adds a pane, with its program if that is said already. cat is what the client puts
// into a pane until it knows the program.
func (s *server) open(ctx context.Context, c call, window int) (string, error) {
	p := s.add(window)
	if len(c.words) > 0 && !slices.Equal(c.words, []string{"cat"}) {
		if err := s.start(ctx, p, c.words, c.flags['c']); err != nil {
			s.Panes = s.Panes[:len(s.Panes)-1]
			return "", err
		}
	}
	if !c.has('P') {
		return "", nil
	}
	return s.expand(c.flags['F'], p), nil
}
