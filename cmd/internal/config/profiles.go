package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/screen"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// profilePart is one profile of a file, by its name.
type profilePart struct {
	name    scalar[string]
	profile profiles.Profile
}

func readProfiles(d *decoder, n ast.Node, f *teamFile) {
	d.eachKey(n, "profiles", func(name string, pos Pos, v ast.Node) {
		p := profilePart{name: scalar[string]{name, pos, true}}
		if isNull(v) {
			d.fail(pos, "the profile %q is empty", name)
			return
		}
		readMap(d, v, "a profile", profileKeys(), &p.profile)
		f.profiles = append(f.profiles, p)
	})
}

func profileKeys() []key[profiles.Profile] {
	type p = profiles.Profile
	keys := []key[p]{
		{"kind", strings.Join(profiles.Kinds(), "|"), "kind of agent", func(d *decoder, n ast.Node, p *p) {
			p.Kind = d.oneOf(n, "kind", profiles.Kinds()...).V
		}},
		{"summary", "text", "what it is, in a line", func(d *decoder, n ast.Node, p *p) { p.Summary = d.text(n, "summary").V }},
		{"command", "list", "program and arguments", func(d *decoder, n ast.Node, p *p) { p.Command = readCommand(d, n) }},
		{"acp", "list", "program and arguments with which it speaks the Agent Client Protocol (--kind acp)", func(d *decoder, n ast.Node, p *p) { p.ACP = readCommand(d, n) }},
		{"models", "list", "the models it can be told to use; * stands for any text", func(d *decoder, n ast.Node, p *p) {
			p.Models = d.texts(n, "models", nil)
		}},
		{"env", "keys", "variables that it needs, under those that a spawn asks for", func(d *decoder, n ast.Node, p *p) {
			p.Env = append([]string{}, d.variables(n)...)
		}},
		{"needs", "list", "variables without which it does not start", func(d *decoder, n ast.Node, p *p) {
			p.Needs = d.texts(n, "needs", CheckVariable)
		}},
		{"agentTypes", "list", "types of agent for which it stands where Claude Code leads", func(d *decoder, n ast.Node, p *p) {
			p.AgentTypes = d.texts(n, "agentTypes", nil)
		}},
		{"modeArgs", "keys", "arguments for the permission mode of its lead, by that mode", readModeArgs},
	}
	return append(append(keys, argumentKeys()...), promptKeys()...)
}

// argumentKeys are the lists of arguments that are put behind the command.
func argumentKeys() []key[profiles.Profile] {
	var keys []key[profiles.Profile]
	for _, list := range []struct {
		name, doc string
		of        func(*profiles.Profile) *[]string
	}{
		{"joinArgs", "native: tell it who it is", func(p *profiles.Profile) *[]string { return &p.JoinArgs }},
		{"typeArgs", "tell it --agent-type", func(p *profiles.Profile) *[]string { return &p.TypeArgs }},
		{"modelArgs", "tell it --model", func(p *profiles.Profile) *[]string { return &p.ModelArgs }},
		{"sessionArgs", "give its conversation an id", func(p *profiles.Profile) *[]string { return &p.SessionArgs }},
		{"planArgs", "make it plan first, read-only (--plan-mode)", func(p *profiles.Profile) *[]string { return &p.PlanArgs }},
		{"resumeArgs", "make it go on with its conversation, which {session} names", func(p *profiles.Profile) *[]string { return &p.ResumeArgs }},
	} {
		keys = append(keys, key[profiles.Profile]{list.name, "list", list.doc, func(d *decoder, n ast.Node, p *profiles.Profile) {
			args := d.texts(n, list.name, nil)
			d.checkWords(n, args)
			*list.of(p) = args
		}})
	}
	return keys
}

// promptKeys say how an interactive agent is spoken to.
func promptKeys() []key[profiles.Profile] {
	type p = profiles.Profile
	return []key[p]{
		{"sessionShown", "regular expression", "what it prints in the end of its conversation's id, the first group, where it takes no sessionArgs", func(d *decoder, n ast.Node, p *p) {
			if found := d.patterns(n, "sessionShown"); len(found) > 0 {
				p.SessionShown = found[0]
			}
		}},
		{"submit", "key", "the key that submits what was typed; " + profiles.DefaultSubmit, func(d *decoder, n ast.Node, p *p) {
			p.Submit = d.keyNamed(d.text(n, "submit"))
		}},
		{"quit", "text", "what is typed to ask it to end", func(d *decoder, n ast.Node, p *p) { p.Quit = d.text(n, "quit").V }},
		{"quitKeys", "list", "the keys that ask it to end, instead of quit", func(d *decoder, n ast.Node, p *p) {
			p.QuitKeys = []string{}
			d.eachItem(n, "quitKeys", func(v ast.Node) { p.QuitKeys = append(p.QuitKeys, d.keyNamed(d.text(v, "a key"))) })
		}},
		{"quiet", "time", "how long its screen rests before it is typed to; " + profiles.DefaultQuiet.String(), func(d *decoder, n ast.Node, p *p) {
			p.Quiet = d.duration(n, "quiet").V
		}},
		{"multiline", profiles.Join + "|" + profiles.Lines, "what becomes of line breaks where it takes no pastes; " + profiles.Join, func(d *decoder, n ast.Node, p *p) {
			p.Multiline = d.oneOf(n, "multiline", profiles.Join, profiles.Lines).V
		}},
		{"maxPaste", "number", "bytes; longer mail goes as a reference to a file; 16384", func(d *decoder, n ast.Node, p *p) {
			p.MaxPaste = d.integer(n, "maxPaste", 1, store.MaxMessage).V
		}},
		{"ready", "list", "regular expressions on the first line of its input: it takes text", func(d *decoder, n ast.Node, p *p) { p.Ready = d.patterns(n, "ready") }},
		{"frame", screen.FrameRules + "|" + screen.FrameBar + "|" + screen.FrameFooter, "what stands around its input; without it: anything", func(d *decoder, n ast.Node, p *p) {
			p.Frame = d.oneOf(n, "frame", screen.FrameRules, screen.FrameBar, screen.FrameFooter).V
		}},
		{"footer", "list", "a line that stands below its input", func(d *decoder, n ast.Node, p *p) { p.Footer = d.patterns(n, "footer") }},
		{"busy", "list", "a line right above its input, or below it: it works", func(d *decoder, n ast.Node, p *p) { p.Busy = d.patterns(n, "busy") }},
		{"asking", "list", "a line of a question, besides menus, which are recognized", func(d *decoder, n ast.Node, p *p) { p.Asking = d.patterns(n, "asking") }},
		{"onUnknown", profiles.Wait + "|" + profiles.Type, "what to do with mail on a screen that is not recognized; " + profiles.Wait, func(d *decoder, n ast.Node, p *p) {
			p.OnUnknown = d.oneOf(n, "onUnknown", profiles.Wait, profiles.Type).V
		}},
	}
}

func readModeArgs(d *decoder, n ast.Node, p *profiles.Profile) {
	p.ModeArgs = map[string][]string{}
	d.eachKey(n, "modeArgs", func(mode string, pos Pos, v ast.Node) {
		if !slices.Contains(teams.PermissionModes(), mode) {
			d.fail(pos, "%q is not a permission mode%s", store.Shown(mode), didYouMean(mode, teams.PermissionModes()))
			return
		}
		args := d.texts(v, mode, nil)
		d.checkWords(v, args)
		p.ModeArgs[mode] = args
	})
}

// texts reads a list of texts, which is empty and not nil if it is there. Each is
// checked, if there is a check.
func (d *decoder) texts(n ast.Node, what string, check func(string) error) []string {
	list := []string{}
	d.eachItem(n, what, func(v ast.Node) {
		s := d.word(v, what)
		if !s.Set {
			return
		}
		if check != nil {
			if err := check(s.V); err != nil {
				d.fail(s.Pos, "%v", err)
				return
			}
		}
		list = append(list, s.V)
	})
	return list
}

// patterns reads one regular expression or several.
func (d *decoder) patterns(n ast.Node, what string) []string {
	list := []string{}
	one := func(v ast.Node) {
		s := d.text(v, what)
		if !s.Set {
			return
		}
		if _, err := regexp.Compile(s.V); err != nil {
			d.fail(s.Pos, "%s is no regular expression that is understood: %v", what, err)
			return
		}
		list = append(list, s.V)
	}
	if v, isText := n.(*ast.StringNode); isText {
		one(v)
	} else {
		d.eachItem(n, what, one)
	}
	return list
}

// checkWords refuses words in arguments that nothing replaces.
func (d *decoder) checkWords(n ast.Node, args []string) {
	for _, arg := range args {
		if word := profiles.UnknownWord(arg); word != "" {
			var known []string
			for _, w := range profiles.Words() {
				known = append(known, w[0])
			}
			d.fail(at(n), "nothing replaces %s; the words are %s", store.Shown(word), strings.Join(known, " "))
		}
	}
}

// keyNamed returns the name of a key, or "" for one that there is not.
func (d *decoder) keyNamed(s scalar[string]) string {
	if s.Set && !slices.Contains(host.KeyNames(), strings.ToLower(s.V)) {
		d.fail(s.Pos, "there is no key %q%s", store.Shown(s.V), didYouMean(s.V, host.KeyNames()))
		return ""
	}
	return strings.ToLower(s.V)
}
