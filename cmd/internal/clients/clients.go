// Package clients knows in which files other programs keep the list of their MCP
// servers, and puts ours there. What else is in such a file stays as it is, byte for
// byte. A file that would need a parser of our own, such as JSON with comments, is left
// to its owner, with the text to put into it.
package clients

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Server is how a client starts our server.
type Server struct {
	Name string   // what the client calls it
	Argv []string // the program and its arguments
}

// Place is where a client's file may lie.
type Place struct {
	Home   string
	Getenv func(string) string
	Exists func(path string) bool
	Darwin bool
}

// Client is one program. Sources of the files and their form: code.claude.com/docs
// (MCP), developers.openai.com/codex/mcp, geminicli.com/docs (MCP servers),
// opencode.ai/docs/mcp-servers and opencode.ai/v2/docs/mcp-servers, code.visualstudio.com/docs (MCP configuration).
type Client struct {
	name string
	Path func(Place) string // where its file is
	// Edit returns its file with our server in it, in the place of what it said of it before:
	// fault.CorruptFile if it cannot be read, fault.Unsupported if it says it in a form that is
	// left to its owner.
	Edit func(file []byte, s Server) ([]byte, error)
}

// passed are the variables that our server needs and Codex would not pass on.
func passed() []string {
	return []string{"LEADLIGHT_AGENT", "LEADLIGHT_TEAM", "LEADLIGHT_BASE_DIR", "CLAUDE_CONFIG_DIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "TMUX", "TMUX_PANE"}
}

// patience is how long, in seconds, a client is to wait for an answer: longer than
// the longest wait of WaitForEvents.
const patience = 360

func list() []Client {
	type fields = []field
	stdio := func(s Server) fields {
		return fields{{"type", "stdio"}, {"command", s.Argv[0]}, {"args", s.Argv[1:]}}
	}
	return []Client{
		{"claude", func(p Place) string {
			return filepath.Join(cmp.Or(p.Getenv("CLAUDE_CONFIG_DIR"), p.Home), ".claude.json")
		}, jsonEdit("mcpServers", "", stdio)},
		{"codex", func(p Place) string {
			return filepath.Join(cmp.Or(p.Getenv("CODEX_HOME"), filepath.Join(p.Home, ".codex")), "config.toml")
		}, tomlEdit("mcp_servers", func(s Server) fields {
			return fields{{"command", s.Argv[0]}, {"args", s.Argv[1:]}, {"env_vars", passed()}, {"tool_timeout_sec", patience}}
		})},
		{"gemini", func(p Place) string { return filepath.Join(p.Home, ".gemini", "settings.json") },
			jsonEdit("mcpServers", "", func(s Server) fields { return fields{{"command", s.Argv[0]}, {"args", s.Argv[1:]}} })},
		{"opencode", func(p Place) string {
			path := filepath.Join(p.config(), "opencode", "opencode.json")
			if p.Exists(path + "c") {
				return path + "c"
			}
			return path
		}, jsonEdit("mcp", "servers", func(s Server) fields { return fields{{"type", "local"}, {"command", s.Argv}} })}, // servers: its version 2
		{"vscode", func(p Place) string {
			dir := p.config()
			if p.Darwin {
				dir = filepath.Join(p.Home, "Library", "Application Support")
			}
			return filepath.Join(dir, "Code", "User", "mcp.json")
		}, jsonEdit("servers", "", stdio)},
	}
}

// config is the folder of a user's settings. A relative one is ignored, as the rules of XDG
// say.
func (p Place) config() string {
	if dir := p.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.Home, ".config")
}

// Names are the clients there are.
func Names() []string {
	var out []string
	for _, c := range list() {
		out = append(out, c.name)
	}
	return out
}

// Find returns a client by its name.
func Find(name string) (Client, error) {
	for _, c := range list() {
		if c.name == name {
			return c, nil
		}
	}
	return Client{}, fault.New(fault.InvalidArgument, "leadlight does not know the client %q", store.Shown(name)).
		WithHint("the clients are: %s", strings.Join(Names(), ", "))
}

// field is one setting, in the order in which it is written.
type field struct {
	name  string
	value any
}

// encode writes a value as JSON, which for texts, numbers, truth and lists of texts
// is TOML, too.
func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // what fields hold always encodes
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), `","`, `", "`)
}

// newline is how lines end in a file, as its first one does.
func newline(file []byte) string {
	if first := bytes.IndexByte(file, '\n'); first > 0 && file[first-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
