package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// maxSettings is the largest settings file that is read, in bytes.
const maxSettings = 1 << 20

// settingsTimeout is how long a hook of settings may take that says nothing of it: as
// long as Claude Code lets it.
const settingsTimeout = 10 * time.Minute

// Trust decides whether the hooks that a project's own settings bring may be run.
// found is what the project brings for all
// events.
type Trust func(project string, found []Hook) bool

// ReadSettings returns the hooks of one event in Claude Code's settings: those that are
// managed for all users, the user's own, and those of the project folder, which come with
// somebody else's files and count only if trust says so (nil: never); of each with those of
// the plugins that it enables. trust is asked only where its answer matters. Who manages the
// machine may turn off what the others bring, and nobody what is managed. A project cannot
// turn off a plugin of the user's.
//
// A file that is not there says nothing. One that is there and cannot be read is an
// error, since it may hold a gate: fault.CorruptFile or fault.PermissionDenied.
func ReadSettings(from Sources, event string, trust Trust) ([]Hook, error) {
	managed, err := from.readLayer(from.managed(), "", nil)
	if err != nil || managed.off {
		return nil, err
	}
	always := append(Of(managed.hooks, event), from.Managed.inLists(event)...)
	if managed.managedOnly {
		return always, nil
	}
	user, err := from.readLayer(from.user(), "", managed.plugins)
	if err != nil {
		return nil, err
	}
	brought, err := from.readLayer(from.local(), from.Project, managed.plugins)
	if err != nil {
		return nil, err
	}
	own, here := Of(user.hooks, event), Of(brought.hooks, event)
	if user.off || len(own) == 0 && (len(here) == 0 || brought.off) {
		return always, nil
	}
	own = append(always, own...)
	// Neither may a folder that is not trusted turn the user's own hooks off.
	if (len(here) > 0 || brought.off) && (trust == nil || !trust(from.Project, brought.hooks)) {
		return own, nil
	}
	if brought.off {
		return always, nil
	}
	return append(own, here...), nil
}

func unreadable(path string, err error) error {
	hint := "mend the file, or move it away: hooks may stand in it, which are asked before this is done"
	if errors.Is(err, fs.ErrPermission) {
		return fault.New(fault.PermissionDenied, "read the settings %s: %s", path, err).WithHint("%s", hint)
	}
	return fault.New(fault.CorruptFile, "read the settings %s: %s", path, err).WithHint("%s", hint)
}

// ParseSettings returns the hooks of our events in one settings file, of the form
// {"hooks": {EVENT: [{"matcher": …, "hooks": [HOOK…]}]}}
// (https://docs.anthropic.com/en/docs/claude-code/hooks). off: the file turns all hooks
// off. source is its name in messages. A byte order mark is passed over, as the client
// does. What stands on one of our events and is not understood is a hook that refuses;
// what is no JSON object is an error.
func ParseSettings(data []byte, source string) (found []Hook, off bool, err error) {
	file, err := settingsFields(data)
	if err != nil {
		return nil, false, err
	}
	return hooksIn(file, source)
}

// settingsFields are the fields of a settings file, none of an empty one. They are maps,
// since the client tells upper from lower case in names and encoding/json does not.
func settingsFields(data []byte) (file map[string]json.RawMessage, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) > 0 {
		err = json.Unmarshal(data, &file)
	}
	return file, err
}

// hooksIn returns the hooks in the fields of a settings file.
func hooksIn(file map[string]json.RawMessage, source string) (found []Hook, off bool, err error) {
	var events map[string]json.RawMessage
	for name, to := range map[string]any{"disableAllHooks": &off, "hooks": &events} {
		if raw, ok := file[name]; ok {
			if err := json.Unmarshal(raw, to); err != nil {
				return nil, false, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if off {
		return nil, true, nil
	}
	for _, event := range Events() {
		raw, ok := events[event]
		if !ok || string(raw) == "null" {
			continue
		}
		for _, h := range readEvent(raw) {
			h.Event, h.Source = event, source
			if h.Refusal != "" {
				h.Refusal = "leadlight cannot ask it: " + h.Refusal + " (" + source + ")"
			}
			found = append(found, h)
		}
	}
	return found, false, nil
}

func refused(format string, args ...any) []Hook {
	return []Hook{{Refusal: fmt.Sprintf(format, args...)}}
}

func readEvent(raw json.RawMessage) []Hook {
	var groups []json.RawMessage
	if json.Unmarshal(raw, &groups) != nil {
		return refused("the event is no list")
	}
	var out []Hook
	for _, g := range groups {
		out = append(out, readGroup(g)...)
	}
	return out
}

// readGroup reads a group. Its matcher means nothing: our events have nothing to match.
func readGroup(raw json.RawMessage) []Hook {
	var group struct {
		Matcher json.RawMessage   `json:"matcher"`
		Hooks   []json.RawMessage `json:"hooks"`
	}
	if err := understood(raw, &group, "matcher", "hooks"); err != nil {
		return refused("its group is not understood: %s", err)
	}
	var out []Hook
	for _, h := range group.Hooks {
		hook, asks := readHook(h)
		if asks {
			out = append(out, hook)
		}
	}
	return out
}

// readHook reads one hook. A hook that the client does not wait for is no gate, and is
// not asked.
func readHook(raw json.RawMessage) (h Hook, asks bool) {
	var hook struct {
		Type    string          `json:"type"`
		Command string          `json:"command"`
		Args    *[]*string      `json:"args"`
		Timeout *float64        `json:"timeout"` // in seconds
		Shell   string          `json:"shell"`
		Async   bool            `json:"async"`
		Message json.RawMessage `json:"statusMessage"` // shown by the client while it waits
	}
	if fields, ok := fieldsOf(raw); ok && textOf(fields["type"]) != "command" {
		return refused("hooks of type %s are not supported", cmp.Or(string(fields["type"]), `""`))[0], true
	}
	if err := understood(raw, &hook, "type", "command", "args", "timeout", "shell", "async", "statusMessage"); err != nil {
		return refused("it is not understood: %s", err)[0], true
	}
	h = Hook{Command: hook.Command, Exec: hook.Args != nil, Timeout: settingsTimeout}
	if h.Exec {
		for _, arg := range *hook.Args {
			if arg == nil {
				return refused("one of its args is null")[0], true
			}
			h.Args = append(h.Args, *arg)
		}
	}
	switch {
	case strings.TrimSpace(h.Command) == "":
		h.Refusal = "it has no command"
	case strings.ContainsRune(h.Command+strings.Join(h.Args, ""), 0):
		h.Refusal = "a NUL stands in it"
	case hook.Shell != "" && hook.Shell != "bash":
		h.Refusal = fmt.Sprintf("the shell %q is not supported", hook.Shell)
	case hook.Shell != "" && h.Exec:
		h.Refusal = "it has both args and a shell"
	case hook.Shell != "":
		h.Command, h.Args, h.Exec = hook.Shell, []string{"-c", h.Command}, true
	case h.Exec && pluginVariable(append([]string{h.Command}, h.Args...)):
		h.Refusal = "it uses a variable of a plugin"
	}
	if hook.Timeout != nil {
		if *hook.Timeout <= 0 {
			h.Refusal = "its timeout is not above zero"
		}
		h.Timeout = max(time.Duration(min(*hook.Timeout, MaxTimeout.Seconds())*float64(time.Second)), time.Millisecond)
	}
	return h, !hook.Async
}

// understood decodes an object, and refuses a field that has none of these names, letter
// for letter.
func understood(raw json.RawMessage, v any, names ...string) error {
	fields, ok := fieldsOf(raw)
	if !ok {
		return errors.New("it is no object")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("unknown field %q", name)
		}
	}
	return json.Unmarshal(raw, v)
}

// pluginVariable tells whether words name something that only the client knows.
func pluginVariable(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return strings.Contains(w, "${CLAUDE_PLUGIN_") || strings.Contains(w, "${user_config.")
	})
}
