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

func (f *teamFile) readProfiles(d *decoder, n ast.Node, what string) {
	d.eachKey(n, what, func(name string, pos Pos, v ast.Node) {
		p := profilePart{name: scalar[string]{name, pos, true}}
		if isNull(v) {
			d.fail(pos, "the profile %q is empty", name)
			return
		}
		d.readMap(v, "a profile", profileKeys(&p.profile))
		f.profiles = append(f.profiles, p)
	})
}

func profileKeys(p *profiles.Profile) []Key {
	keys := []Key{
		{"kind", strings.Join(profiles.Kinds(), "|"), "kind of agent", valueInto(&p.Kind, oneOf(profiles.Kinds()...))},
		{"summary", "text", "what it is, in a line", valueInto(&p.Summary, text)},
		{"command", "list", "program and arguments", command(&p.Command)},
		{"acp", "list", "program and arguments with which it speaks the Agent Client Protocol (--kind acp)", command(&p.ACP)},
		{"models", "list", "the models it can be told to use; * stands for any text", texts(&p.Models, nil)},
		{"env", "keys", "variables that it needs, under those that a spawn asks for", variables(&p.Env)},
		{"needs", "list", "variables without which it does not start", texts(&p.Needs, CheckVariable)},
		{"agentTypes", "list", "types of agent for which it stands where Claude Code leads", texts(&p.AgentTypes, nil)},
		{"modeArgs", "keys", "arguments for the permission mode of its lead, by that mode", func(d *decoder, n ast.Node, what string) { readModeArgs(d, n, what, p) }},
	}
	return slices.Concat(keys, argumentKeys(p), promptKeys(p))
}

// argumentKeys are the lists of arguments that are put behind the command.
func argumentKeys(p *profiles.Profile) []Key {
	return []Key{
		{"joinArgs", "list", "native: tell it who it is", arguments(&p.JoinArgs)},
		{"typeArgs", "list", "tell it --agent-type", arguments(&p.TypeArgs)},
		{"modelArgs", "list", "tell it --model", arguments(&p.ModelArgs)},
		{"sessionArgs", "list", "give its conversation an id", arguments(&p.SessionArgs)},
		{"planArgs", "list", "make it plan first, read-only (--plan-mode)", arguments(&p.PlanArgs)},
		{"resumeArgs", "list", "make it go on with its conversation, which {session} names", arguments(&p.ResumeArgs)},
	}
}

// promptKeys say how an interactive agent is spoken to.
func promptKeys(p *profiles.Profile) []Key {
	return []Key{
		{"sessionShown", "regular expression", "what it prints in the end of its conversation's id, the first group, where it takes no sessionArgs", func(d *decoder, n ast.Node, what string) {
			if found := readPatterns(d, n, what); len(found) > 0 {
				p.SessionShown = found[0]
			}
		}},
		{"submit", "key", "the key that submits what was typed; " + profiles.DefaultSubmit, func(d *decoder, n ast.Node, what string) { p.Submit = d.keyNamed(text(d, n, what)) }},
		{"quit", "text", "what is typed to ask it to end", valueInto(&p.Quit, text)},
		{"quitKeys", "list", "the keys that ask it to end, instead of quit", func(d *decoder, n ast.Node, what string) {
			p.QuitKeys = []string{}
			d.eachItem(n, what, func(v ast.Node) { p.QuitKeys = append(p.QuitKeys, d.keyNamed(text(d, v, "a key"))) })
		}},
		{"quiet", "time", "how long its screen rests before it is typed to; " + profiles.DefaultQuiet.String(), valueInto(&p.Quiet, duration)},
		{"multiline", profiles.Join + "|" + profiles.Lines, "what becomes of line breaks where it takes no pastes; " + profiles.Join, valueInto(&p.Multiline, oneOf(profiles.Join, profiles.Lines))},
		{"maxPaste", "number", "bytes; longer mail goes as a reference to a file; 16384", valueInto(&p.MaxPaste, integer(store.MaxMessage))},
		{"ready", "list", "regular expressions on the first line of its input: it takes text", patterns(&p.Ready)},
		{"frame", screen.FrameRules + "|" + screen.FrameBar + "|" + screen.FrameFooter, "what stands around its input; without it: anything", valueInto(&p.Frame, oneOf(screen.FrameRules, screen.FrameBar, screen.FrameFooter))},
		{"footer", "list", "a line that stands below its input", patterns(&p.Footer)},
		{"busy", "list", "a line right above its input, or below it: it works", patterns(&p.Busy)},
		{"asking", "list", "a line of a question, besides menus, which are recognized", patterns(&p.Asking)},
		{"onUnknown", profiles.Wait + "|" + profiles.Type, "what to do with mail on a screen that is not recognized; " + profiles.Wait, valueInto(&p.OnUnknown, oneOf(profiles.Wait, profiles.Type))},
	}
}

func readModeArgs(d *decoder, n ast.Node, what string, p *profiles.Profile) {
	p.ModeArgs = map[string][]string{}
	d.eachKey(n, what, func(mode string, pos Pos, v ast.Node) {
		if !slices.Contains(teams.PermissionModes(), mode) {
			d.fail(pos, "%q is not a permission mode%s", store.Shown(mode), didYouMean(mode, teams.PermissionModes()))
			return
		}
		var args []string
		arguments(&args)(d, v, mode)
		p.ModeArgs[mode] = args
	})
}

// texts reads a list of texts, which is empty and not nil if it is there. Each is
// checked, if there is a check.
func texts(to *[]string, check func(string) error) reader {
	return func(d *decoder, n ast.Node, what string) {
		*to = []string{}
		d.eachItem(n, what, func(v ast.Node) {
			s := word(d, v, what)
			if !s.Set {
				return
			}
			if check != nil {
				if err := check(s.V); err != nil {
					d.fail(s.Pos, "%v", err)
					return
				}
			}
			*to = append(*to, s.V)
		})
	}
}

// arguments reads a list of arguments. Words in braces that nothing replaces are refused.
func arguments(to *[]string) reader {
	return func(d *decoder, n ast.Node, what string) {
		texts(to, nil)(d, n, what)
		d.checkWords(n, *to)
	}
}

// patterns reads one regular expression or several.
func patterns(to *[]string) reader {
	return func(d *decoder, n ast.Node, what string) { *to = readPatterns(d, n, what) }
}

func readPatterns(d *decoder, n ast.Node, what string) []string {
	list := []string{}
	one := func(v ast.Node) {
		s := text(d, v, what)
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
