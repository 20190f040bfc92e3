package hooks_test

import (
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// gate is the text of settings with one hook on TaskCompleted, and more before it.
func gate(more, command string) string {
	return fmt.Sprintf(`{%s"hooks":{"TaskCompleted":[{"hooks":[{"type":"command","command":%q}]}]}}`, more, command)
}

// commands are those of the hooks that are read.
func (d settingsFiles) commands(trusted bool) (out []string) {
	d.t.Helper()
	for _, h := range d.read(trusted) {
		out = append(out, h.Command+h.Refusal)
	}
	return out
}

func (d settingsFiles) want(what string, trusted bool, want ...string) {
	d.t.Helper()
	if got := d.commands(trusted); !slices.Equal(got, want) {
		d.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// What is managed for all users of a machine is a gate that nobody turns off but who
// manages it.
func TestXH01_ManagedSettings(t *testing.T) {
	d := newSettings(t)
	managed := func(name string) string { return filepath.Join(d.sources().Managed.Folder, name) }
	d.write(managed("managed-settings.json"), gate("", "managed"))
	d.write(managed("managed-settings.d/10-more.json"), gate("", "more"))
	d.write(managed("managed-settings.d/.hidden.json"), gate("", "hidden"))
	d.write(filepath.Join(d.home, ".claude", "remote-settings.json"), gate("", "remote"))
	d.write(d.user, gate("", "mine"))
	d.write(d.shared, gate("", "theirs"))
	d.want("all", true, "managed", "more", "remote", "mine", "theirs")
	d.want("not trusted", false, "managed", "more", "remote", "mine")
	d.write(d.user, gate(`"disableAllHooks":true,`, "mine"))
	d.want("the user turns them off", true, "managed", "more", "remote")
	d.write(d.user, gate("", "mine"))
	d.write(d.local, `{"disableAllHooks":true}`)
	d.want("the project turns them off", true, "managed", "more", "remote")
	d.write(managed("managed-settings.d/20-only.json"), `{"allowManagedHooksOnly":true}`)
	d.want("only managed ones", true, "managed", "more", "remote")
	d.write(managed("managed-settings.d/20-only.json"), `{"disableAllHooks":true}`)
	d.want("turned off by who manages", true)
	for _, bad := range []string{"{", "[]", `{"enabledPlugins":1}`} {
		d.write(managed("managed-settings.d/20-only.json"), bad)
		if _, err := hooks.ReadSettings(d.sources(), hooks.TaskCompleted, nil); fault.CodeOf(err) != fault.CorruptFile {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A property list of macOS that names the event refuses.
func TestXH01_ManagedPropertyLists(t *testing.T) {
	d := newSettings(t)
	list := filepath.Join(d.home, "x.plist")
	from := d.sources()
	from.Managed.Lists = []string{list, filepath.Join(d.home, "none.plist")}
	for text, want := range map[string]int{"bplist00 permissions": 0, "bplist00 TaskCompleted": 1, "bplist00 \x00T\x00a\x00s\x00k\x00C\x00o\x00m\x00p\x00l\x00e\x00t\x00e\x00d": 1} {
		d.write(list, text)
		all, err := hooks.ReadSettings(from, hooks.TaskCompleted, nil)
		if err != nil || len(all) != want || want == 1 && all[0].Refusal == "" {
			t.Errorf("%q: %+v %v", text, all, err)
		}
	}
}

// The hooks of the plugins that settings enable are gates as those of settings are.
func TestXH01_Plugins(t *testing.T) {
	d, in := newSettings(t), completed(t)
	root := filepath.Join(d.home, "with space", "p")
	table := filepath.Join(d.home, ".claude", "plugins", "installed_plugins.json")
	d.write(table, fmt.Sprintf(`{"version":2,"plugins":{"p@m":[{"scope":"user","installPath":%q}],
		"away@m":[{"scope":"project","projectPath":"/elsewhere","installPath":%q}],"old@m":{"installPath":%q}}}`, root, root, filepath.Join(d.home, "old")))
	d.write(filepath.Join(root, "hooks", "hooks.json"), `{"description":"x","hooks":{"TaskCompleted":[{"hooks":[{"type":"command","command":"sh","args":["${CLAUDE_PLUGIN_ROOT}/no.sh"]}]}]}}`)
	d.write(filepath.Join(root, "no.sh"), "echo \"no from $CLAUDE_PLUGIN_ROOT\" >&2; exit 2")
	d.want("none is enabled", true)
	d.write(d.user, `{"enabledPlugins":{"p@m":true,"away@m":true,"none@m":true}}`)
	a := ask(t, in, d.read(false)...)
	if len(a.Objections) != 1 || a.Objections[0].Reason != "no from "+root {
		t.Fatalf("got %+v", a)
	}
	d.write(d.user, `{"enabledPlugins":{"p@m":false}}`)
	d.want("it is disabled", true)
	d.write(d.shared, `{"enabledPlugins":{"p@m":true}}`)
	d.want("a project that is not trusted enables it", false)
	d.want("a project enables it", true, "sh")
	d.write(filepath.Join(d.sources().Managed.Folder, "managed-settings.json"), `{"enabledPlugins":{"p@m":false}}`)
	d.want("who manages disables it", true)
	d.write(filepath.Join(d.sources().Managed.Folder, "managed-settings.json"), `{"allowManagedHooksOnly":true,"enabledPlugins":{"old@m":true}}`)
	d.write(filepath.Join(d.home, "old", ".claude-plugin", "plugin.json"), `{"name":"old","hooks":["./extra.json",{"TaskCompleted":[{"hooks":[{"type":"command","command":"inline"}]}]},"../out.json"]}`)
	d.write(filepath.Join(d.home, "old", "extra.json"), gate("", "cd $CLAUDE_PLUGIN_DATA"))
	all := d.read(true)
	if len(all) != 3 || all[0].Refusal == "" || all[1].Command != "inline" || all[1].Refusal != "" || all[2].Refusal == "" {
		t.Errorf("by its manifest: %+v", all)
	}
	for _, path := range []string{filepath.Join(d.home, "old", "extra.json"), filepath.Join(d.home, "old", ".claude-plugin", "plugin.json"), table} {
		d.write(path, "{")
		if _, err := hooks.ReadSettings(d.sources(), hooks.TaskCompleted, nil); fault.CodeOf(err) != fault.CorruptFile {
			t.Errorf("damaged %s: %v", path, err)
		}
	}
}

// Whatever stands in the files, each hook that is read can be asked or refuses.
func FuzzXH01_Plugins(f *testing.F) {
	f.Add([]byte(`{"enabledPlugins":{"p@m":true}}`), []byte(`{"plugins":{"p@m":[{"installPath":"/ROOT"}]}}`), []byte(`{"hooks":{"TaskCompleted":[{"hooks":[]}]}}`), []byte(gate("", "x")))
	f.Add([]byte(gate(`"allowManagedHooksOnly":true,`, "x")), []byte(`{"plugins":{"p@m":{"installPath":"x"}}}`), []byte(`{"hooks":["./a.json"]}`), []byte("{}"))
	f.Fuzz(func(t *testing.T, user, table, manifest, own []byte) {
		d := newSettings(t)
		root := filepath.Join(d.home, "p")
		d.write(d.user, string(user))
		d.write(filepath.Join(d.home, ".claude", "plugins", "installed_plugins.json"), strings.ReplaceAll(string(table), "/ROOT", root))
		d.write(filepath.Join(root, ".claude-plugin", "plugin.json"), string(manifest))
		d.write(filepath.Join(root, "hooks", "hooks.json"), string(own))
		all, err := hooks.ReadSettings(d.sources(), hooks.TaskCompleted, nil)
		for _, h := range all {
			if err != nil || h.Command == "" && h.Refusal == "" {
				t.Errorf("%+v %v", h, err)
			}
		}
	})
}

// TestXH01_SettingsWithoutHome: who has no HOME has the same gates, as with the client.
func TestXH01_SettingsWithoutHome(t *testing.T) {
	d := newSettings(t)
	d.write(d.user, `{"hooks":{"TaskCompleted":[{"hooks":[{"type":"command","command":"exit 2"}]}]}}`)
	from := d.sources()
	from.Getenv = hooks.WithHome(func(string) string { return "" }, func() (*user.User, error) { return &user.User{HomeDir: d.home}, nil })
	if all, err := hooks.ReadSettings(from, hooks.TaskCompleted, nil); err != nil || len(all) != 1 {
		t.Errorf("got %+v %v", all, err)
	}
	from.Getenv = hooks.WithHome(d.getenv, func() (*user.User, error) { return nil, errors.New("nobody") })
	if all, err := hooks.ReadSettings(from, hooks.TaskCompleted, nil); err != nil || len(all) != 1 {
		t.Errorf("with HOME: %+v %v", all, err)
	}
}
