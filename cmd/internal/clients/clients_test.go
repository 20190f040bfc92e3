package clients

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

func ours() Server {
	return Server{Name: "leadlight", Argv: []string{"leadlight", "mcp", "--enable-teams"}}
}

func named(t *testing.T, name string) Client {
	t.Helper()
	c, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each file of testdata is one case: a client's file before, and after. Its name begins
// with the client's.
func TestInstallKeepsTheRest(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) < 10 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, path := range cases {
		name, _, _ := strings.Cut(filepath.Base(path), "-")
		t.Run(filepath.Base(path), func(t *testing.T) {
			ar, err := txtar.ParseFile(path)
			if err != nil || len(ar.Files) != 2 {
				t.Fatalf("%d files, %v", len(ar.Files), err)
			}
			before, want := ar.Files[0].Data, ar.Files[1].Data
			for _, nl := range []string{"\n", "\r\n"} {
				before, want := withNewline(before, nl), withNewline(want, nl)
				got, err := named(t, name).Edit(before, ours())
				if ar.Files[1].Name == "error" {
					if err == nil || fault.Of(err).Hint == "" || !strings.Contains(err.Error()+" "+string(fault.CodeOf(err)), strings.TrimSpace(string(ar.Files[1].Data))) {
						t.Errorf("got %v", err)
					}
					continue
				}
				if err != nil || len(before) > 0 && !bytes.Equal(got, want) {
					t.Errorf("%v\n%s\nwant\n%s", err, got, want)
				}
				again, err := named(t, name).Edit(got, ours())
				if err != nil || !bytes.Equal(again, got) {
					t.Errorf("twice is not once: %v\n%s", err, again)
				}
			}
		})
	}
}

func withNewline(b []byte, nl string) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte(nl)) }

// TestXF07_FoldersOfXDGAreWhole: a relative one is ignored.
func TestXF07_FoldersOfXDGAreWhole(t *testing.T) {
	for value, want := range map[string]string{"": "/h/.config", "rel": "/h/.config", "./~": "/h/.config", "/x": "/x"} {
		p := Place{Home: "/h", Getenv: func(string) string { return value }, Exists: func(string) bool { return false }}
		if got := named(t, "opencode").Path(p); got != want+"/opencode/opencode.json" {
			t.Errorf("%q: %s", value, got)
		}
	}
}

func TestSnippets(t *testing.T) {
	for _, name := range Names() {
		got, err := named(t, name).Edit(nil, ours())
		if err != nil || !strings.Contains(string(got), `"--enable-teams"`) {
			t.Errorf("%s: %v %s", name, err, got)
		}
		if name != "codex" && !json.Valid(got) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if _, err := Find("emacs"); fault.CodeOf(err) != fault.InvalidArgument {
		t.Error(err)
	}
}

func TestPaths(t *testing.T) {
	env := map[string]string{}
	p := Place{Home: "/h", Getenv: func(k string) string { return env[k] }, Exists: func(string) bool { return false }}
	for name, want := range map[string]string{
		"claude": "/h/.claude.json", "codex": "/h/.codex/config.toml", "gemini": "/h/.gemini/settings.json",
		"opencode": "/h/.config/opencode/opencode.json", "vscode": "/h/.config/Code/User/mcp.json",
	} {
		if got := named(t, name).Path(p); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	env["CODEX_HOME"], p.Darwin, p.Exists = "/c", true, func(string) bool { return true }
	for name, want := range map[string]string{"codex": "/c/config.toml", "opencode": "/h/.config/opencode/opencode.jsonc", "vscode": "/h/Library/Application Support/Code/User/mcp.json"} {
		if got := named(t, name).Path(p); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Whatever is edited stays what it was: everything before and after ours is there
// still, and the result can be edited again.
func FuzzEdit(f *testing.F) {
	cases, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range cases {
		if ar, err := txtar.ParseFile(path); err == nil {
			f.Add(ar.Files[0].Data)
		}
	}
	for _, s := range []string{"{", "{}", "[[a]]", "a = '''", "a = [", "{\"mcpServers\":{}}x", "\"", "{\"a\":[[[", "//", "{/*", "[mcp_servers.leadlight]"} {
		f.Add([]byte(s))
	}
	if _, err := os.Stat("testdata"); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if bytes.Count(file, []byte("\r")) != bytes.Count(file, []byte("\r\n")) {
			return // lines that end in another way than any client writes
		}
		for _, name := range Names() {
			got, err := named(t, name).Edit(file, ours())
			if err != nil {
				continue
			}
			again, err := named(t, name).Edit(got, ours())
			if err != nil || !bytes.Equal(got, again) {
				t.Fatalf("%s: %q became %q, then %q (%v)", name, file, got, again, err)
			}
			if name == "codex" {
				if !bytes.HasPrefix(got, file) {
					t.Fatalf("%q became %q", file, got)
				}
				continue
			}
			if before, after := others(file), others(got); json.Valid(file) && !reflect.DeepEqual(before, after) {
				t.Fatalf("%s: %q became %q: %v, %v", name, file, got, before, after)
			}
		}
	})
}

// others is what a file of JSON says of anything but how our server is started.
func others(file []byte) map[string]any {
	var all map[string]any
	if json.Unmarshal(file, &all) != nil {
		return nil
	}
	if all == nil {
		all = map[string]any{}
	}
	for _, key := range []string{"mcpServers", "servers", "mcp"} {
		within(all, key, func(group map[string]any) {
			within(group, "servers", withoutOurs)
			withoutOurs(group)
		})
	}
	return all
}

// within changes an object in another, and takes it out if nothing is left of it.
func within(all map[string]any, key string, change func(map[string]any)) {
	if v, ok := all[key].(map[string]any); ok {
		if change(v); len(v) == 0 {
			delete(all, key)
		}
	}
}

func withoutOurs(group map[string]any) {
	old, object := group["leadlight"].(map[string]any)
	if _, found := group["leadlight"]; found && !object {
		delete(group, "leadlight")
	}
	for _, name := range overNetwork() {
		if _, remote := old[name]; remote {
			delete(group, "leadlight")
		}
	}
	within(group, "leadlight", func(entry map[string]any) {
		for _, name := range []string{"type", "command", "args"} {
			delete(entry, name)
		}
	})
}
