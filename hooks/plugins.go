package hooks

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A plugin of the client brings hooks in hooks/hooks.json, and in or by its manifest
// (https://code.claude.com/docs/en/plugins-reference). pluginRoot is the variable by which
// they find its folder.
const (
	pluginRoot     = "CLAUDE_PLUGIN_ROOT"
	pluginHooks    = "hooks/hooks.json"
	pluginManifest = ".claude-plugin/plugin.json"
)

// installed is where a plugin is, and for whom.
type installed struct {
	Path    string `json:"installPath"`
	Project string `json:"projectPath"` // "": in every project
}

// ofPlugins returns the hooks of the plugins with these ids. One that is not installed has
// none, for the client neither.
func (s Sources) ofPlugins(ids []string) (out []Hook, err error) {
	if len(ids) == 0 || s.home() == "" {
		return nil, nil
	}
	path := filepath.Join(s.home(), "plugins", "installed_plugins.json")
	data, there, err := readIfThere(path)
	if !there {
		return nil, nil
	}
	var all struct {
		Plugins map[string]json.RawMessage `json:"plugins"`
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	for _, id := range ids {
		raw, ok := all.Plugins[id]
		if !ok {
			continue
		}
		var where []installed
		if one := (installed{}); json.Unmarshal(raw, &one) == nil { // the form before version 2
			where = []installed{one}
		} else if err := json.Unmarshal(raw, &where); err != nil {
			return nil, unreadable(path, err)
		}
		for _, in := range where {
			if in.Project != "" && filepath.Clean(in.Project) != filepath.Clean(s.Project) {
				continue
			}
			found, err := ofPlugin(in.Path)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

// ofPlugin returns the hooks of the plugin in a folder.
func ofPlugin(root string) ([]Hook, error) {
	if !filepath.IsAbs(root) {
		return refusedEverywhere("its plugin has no folder: " + root), nil
	}
	var manifest struct {
		Hooks json.RawMessage `json:"hooks"`
	}
	path := filepath.Join(root, pluginManifest)
	data, there, err := readIfThere(path)
	if err == nil {
		err = json.Unmarshal(data, &manifest)
	}
	if there && err != nil {
		return nil, unreadable(path, err)
	}
	var more []json.RawMessage // files and hooks: one, or several
	if json.Unmarshal(manifest.Hooks, &more) != nil && len(manifest.Hooks) > 0 {
		more = []json.RawMessage{manifest.Hooks}
	}
	standard, _ := json.Marshal(pluginHooks) // a string
	var out []Hook
	for _, raw := range append([]json.RawMessage{standard}, more...) {
		found, err := pluginPart(root, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// pluginPart returns the hooks in a file of a plugin that raw names, or in raw itself.
func pluginPart(root string, raw json.RawMessage) ([]Hook, error) {
	var name string
	source := filepath.Join(root, pluginManifest)
	if json.Unmarshal(raw, &name) == nil {
		if !filepath.IsLocal(name) {
			return refusedEverywhere(fmt.Sprintf("its file %q is outside of the plugin (%s)", name, source)), nil
		}
		source = filepath.Join(root, name)
		data, there, err := readIfThere(source)
		if !there {
			return nil, nil
		}
		if err != nil {
			return nil, unreadable(source, err)
		}
		raw = data
	} else if fields := map[string]json.RawMessage{}; json.Unmarshal(raw, &fields) == nil && fields["hooks"] == nil {
		raw, _ = json.Marshal(map[string]json.RawMessage{"hooks": raw}) // of valid parts
	}
	quoted, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(raw), "${"+pluginRoot+"}", string(quoted[1:len(quoted)-1]))
	found, _, err := ParseSettings([]byte(text), source) // it cannot turn hooks off
	if err != nil {
		return nil, unreadable(source, err)
	}
	for i := range found {
		found[i].Plugin = root
		if slices.ContainsFunc(append(found[i].Args, found[i].Command), onlyClientKnows) {
			found[i].Refusal = "leadlight cannot ask it: it uses a variable that only the client knows (" + source + ")"
		}
	}
	return found, nil
}

// onlyClientKnows tells whether a command names what the client keeps for a plugin.
func onlyClientKnows(word string) bool {
	return strings.Contains(word, "CLAUDE_PLUGIN_DATA") || strings.Contains(word, "${user_config.") || strings.Contains(word, "CLAUDE_PLUGIN_OPTION_")
}

// refusedEverywhere is a hook on each event that refuses.
func refusedEverywhere(why string) (out []Hook) {
	for _, event := range Events() {
		out = append(out, Hook{Event: event, Refusal: "leadlight cannot ask it: " + why})
	}
	return out
}
