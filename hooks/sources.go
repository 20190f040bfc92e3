package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/leadlight-dev/leadlight/internal/files"
)

// Sources say where Claude Code's settings are.
type Sources struct {
	Getenv  func(string) string // for the user's own
	Project string              // a project's folder, "": none
	Managed Managed
}

// Managed is where those who administer a machine put settings for all its users
// (https://code.claude.com/docs/en/managed-settings).
type Managed struct {
	Folder string   // of managed-settings.json and managed-settings.d
	Lists  []string // property lists that macOS manages
}

// ThisMachine is where the managed settings of this machine are.
func ThisMachine(getenv func(string) string) Managed {
	if runtime.GOOS != "darwin" {
		return Managed{Folder: "/etc/claude-code"}
	}
	const list = "com.anthropic.claudecode.plist"
	lists := "/Library/Managed Preferences"
	return Managed{"/Library/Application Support/ClaudeCode", []string{filepath.Join(lists, list), filepath.Join(lists, getenv("USER"), list)}}
}

// WithHome is getenv with the folder that the system has for a user whose HOME is not set:
// the client finds the settings there, and so the gates in them.
func WithHome(getenv func(string) string, current func() (*user.User, error)) func(string) string {
	return func(name string) string {
		value := getenv(name)
		if name == "HOME" && value == "" {
			if u, err := current(); err == nil {
				return u.HomeDir
			}
		}
		return value
	}
}

// home is the client's folder of a user, "" if it is not known.
func (s Sources) home() string {
	if dir := s.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	if home := s.Getenv("HOME"); home != "" {
		return filepath.Join(home, ".claude")
	}
	return ""
}

// managed, user and local are the files in which hooks may stand. The client keeps the
// settings that an organization's server gave it in the user's folder.
func (s Sources) managed() (out []string) {
	if s.Managed.Folder != "" {
		more, _ := filepath.Glob(filepath.Join(s.Managed.Folder, "managed-settings.d", "[^.]*.json")) // the pattern is right
		out = append([]string{filepath.Join(s.Managed.Folder, "managed-settings.json")}, more...)
	}
	if home := s.home(); home != "" {
		out = append(out, filepath.Join(home, "remote-settings.json"))
	}
	return out
}

func (s Sources) user() []string {
	if home := s.home(); home != "" {
		return []string{filepath.Join(home, "settings.json")}
	}
	return nil
}

func (s Sources) local() (out []string) {
	for _, name := range []string{"settings.json", "settings.local.json"} {
		if file := filepath.Join(s.Project, ".claude", name); s.Project != "" && !slices.Contains(s.user(), file) {
			out = append(out, file)
		}
	}
	return out
}

// layer is what the settings files of one origin say.
type layer struct {
	hooks       []Hook
	off         bool            // disableAllHooks
	managedOnly bool            // allowManagedHooksOnly
	plugins     map[string]bool // whether each that is named is enabled
}

// readLayer reads the files that are there, and the hooks of the plugins that they enable,
// but for those that are named in but.
func (s Sources) readLayer(paths []string, project string, but map[string]bool) (layer, error) {
	out := layer{plugins: map[string]bool{}}
	for _, path := range paths {
		data, there, err := readIfThere(path)
		if !there {
			continue
		}
		if err == nil {
			err = out.add(data, path)
		}
		if err != nil {
			return layer{}, unreadable(path, err)
		}
	}
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(out.plugins)) {
		if _, named := but[id]; !named && out.plugins[id] {
			ids = append(ids, id)
		}
	}
	more, err := s.ofPlugins(ids)
	out.hooks = append(out.hooks, more...)
	for i := range out.hooks {
		out.hooks[i].Project = project
	}
	return out, err
}

// readIfThere reads a file in which hooks may stand. One behind a link that leads nowhere
// is there, and cannot be read.
func readIfThere(path string) (data []byte, there bool, err error) {
	data, err = files.ReadFile(path, maxSettings)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, true, err
	}
	for at := path; ; at = filepath.Dir(at) {
		if _, none := os.Lstat(at); none == nil || at == filepath.Dir(at) {
			_, lost := os.Stat(at)
			return nil, lost != nil, err
		}
	}
}

// add adds what one file says.
func (l *layer) add(data []byte, path string) error {
	file, err := settingsFields(data)
	if err != nil {
		return err
	}
	found, off, err := hooksIn(file, path)
	if err != nil {
		return err
	}
	l.hooks, l.off = append(l.hooks, found...), l.off || off
	var plugins map[string]json.RawMessage
	l.managedOnly = l.managedOnly || string(file["allowManagedHooksOnly"]) == "true"
	if raw, ok := file["enabledPlugins"]; ok {
		if err := json.Unmarshal(raw, &plugins); err != nil {
			return err
		}
	}
	for id, raw := range plugins {
		l.plugins[id] = string(raw) != "false" && string(raw) != "null"
	}
	return nil
}

// inLists returns a hook that refuses for each property list that may hold a hook on the
// event: what stands in it is not read here.
func (m Managed) inLists(event string) (out []Hook) {
	for _, path := range m.Lists {
		data, there, err := readIfThere(path)
		if !there || err == nil && !names(data, event) {
			continue
		}
		out = append(out, Hook{Event: event, Source: path, Refusal: "leadlight cannot ask it: the hooks of a managed property list are not supported (" + path + ")"})
	}
	return out
}

// names tells whether a name stands in the data of a property list, in either encoding.
func names(data []byte, name string) bool {
	var wide strings.Builder
	for _, unit := range utf16.Encode([]rune(name)) {
		wide.Write([]byte{byte(unit >> 8), byte(unit)})
	}
	return bytes.Contains(data, []byte(name)) || bytes.Contains(data, []byte(wide.String()))
}
