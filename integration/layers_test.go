package integration_test

import (
	"slices"
	"strings"
	"testing"
)

// layer is how high a package stands. It may import what stands lower.
type layer int

const (
	floor  layer = iota - 1 // the words for failure: everyone may import it
	ground                  // contracts, processes, files: each alone
	l0                      // what the stores share, on that ground
	l1                      // one implementation each, knowing no other
	l2                      // panes: what is running
	l3                      // teams: the verbs
	l4                      // for the command line: settings, later daemon, MCP, dashboard
	l5                      // who asks
	proof                   // tests of the whole; nothing imports it
)

// rule is one row of the law: the packages it is about, where they stand, what of
// this module they may import, and why it is so.
type rule struct {
	packages string // patterns below the module's path, the first matching row holds
	at       layer
	may      string // patterns; internal/fault need not be named
	why      string
}

// layers is the law of imports. A new package gets a row, and a sentence why.
func layers() []rule {
	return []rule{
		{"internal/fault", floor, "", "the codes are spoken by all, so they know nobody"},

		{"backend", ground, "internal/environ", "the contract of terminals knows no terminal"},
		{"signals", ground, "", "processes are ended the same way whoever asks"},
		{"teams/store", ground, "internal/rawjson", "the contract of what is remembered knows no file"},
		{"teams/events", ground, "", "the closed set of events"},
		{"panes/state", floor, "", "the words for how a teammate is doing: a leaf"},
		{"teams/api", ground, "panes/state", "wire structs are for programs outside, who have nothing else of ours"},
		{"internal/environ", floor, "", "what a started program gets is said once, whoever starts it"},
		{"internal/files", ground, "internal/shell", "durable files know neither teams nor locks"},
		{"internal/rawjson", floor, "", "keeping unknown fields is about JSON alone"},
		{"internal/exetest", floor, "", "a program is written for a test the same way in every package"},
		{"internal/leaktest", floor, "", "that nothing is left running is proved the same way in every package"},
		{"internal/shell", floor, "", "words are quoted the same way wherever a shell or tmux reads them"},
		{"internal/tail", floor, "", "the end of an output is kept the same way whose it is"},
		{"internal/lineio", floor, "", "a line of bounded length is read the same way whoever sends it"},
		{"internal/oneshot", l0, "signals", "a program that answers and ends is run the same way whatever it is, and ends with what it started"},
		{"internal/lock", l0, "internal/files signals", "a lock lies in a folder that files opened, and names a living holder"},
		{"internal/unixsock", l0, "internal/files", "a socket lies in a folder that is ours alone, whoever answers on it"},

		{"teams/store/ledger", l0, "teams/store internal/files internal/lock", "what has been handed over is remembered alike for both mailboxes"},
		{"teams/store/document", l0, "teams/store internal/rawjson", "the form of a roster and a task is one, wherever they are kept"},

		{"teams/api/rpc", l0, "internal/rawjson teams/api", "the API's two halves, for programs outside too"},
		{"teams/api/rpc/serve", l1, "teams/api teams/api/rpc", "who only calls links nothing of what serves"},
		{"teams/changes", l0, "teams/api teams/events teams/store", "what happened is told from two looks, without looking itself"},
		{"teams/db", l0, "internal/files", "one place that knows SQLite, and nothing of what is kept there; the file system says why it cannot be written"},
		{"teams/history", l1, "teams/db teams/events", "events are kept in the database"},
		{"teams/runs", l1, "teams/db teams/api", "definitions, runs and items are kept in the database, with the rules for them"},

		{"teams/store/memory", l1, "teams/store", "the smallest store that keeps the contract"},
		{"teams/store/claudefs", l1, "teams/store internal/files internal/lock internal/rawjson teams/store/document teams/store/ledger signals", "Claude Code's files, on the ground of L0"},
		{"teams/store/maildir", l1, "teams/store internal/files internal/lock internal/rawjson teams/store/ledger", "the other mailbox, on the ground of L0"},
		{"teams/store/jetstream/natstest", ground, "", "a real engine for tests knows nothing of what is kept there"},
		{"teams/store/jetstream/natstest/relay", l0, "teams/store/jetstream/natstest", "the way to an engine that a demo cuts is that of the tests"},
		{"teams/store/jetstream", l1, "teams/store internal/files internal/rawjson teams/store/document", "an engine's entries, in the form that the files have"},
		{"teams/store/routed", l1, "teams/store", "a team is here or on the engine, whatever keeps it"},
		{"teams/store/remote", l1, "teams/store teams/api/rpc", "a store in another process, by the API's two halves"},
		{"teams/store/storetest", l1, "teams/store", "the suite knows the contract and no store"},
		{"backend/backendtest", l1, "backend", "the suite knows the contract and no terminal"},
		{"backend/iterm2/wire", l0, "", "iterm2's language, for the backend and for the server it is tested with"},
		{"backend/iterm2/iterm2test", l1, "backend/iterm2/wire", "the server knows the language and not who speaks to it"},
		{"backend/iterm2", l1, "backend backend/iterm2/wire internal/files internal/oneshot internal/shell", "a terminal that is spoken to in a language of its own"},
		{"backend/external/wire", l0, "backend internal/lineio", "the words of a protocol, for both of its halves"},
		{"backend/external/plugin", l1, "backend backend/external/wire internal/lineio", "one half of a protocol does not know the other"},
		{"backend/external/externaltest", l1, "backend backend/backendtest backend/external/wire internal/tail", "the frame's own cases, by no good client"},
		{"backend/external", l1, "backend backend/external/wire internal/lineio internal/tail signals", "a terminal in a program of its own"},
		{"backend/*", l1, "backend signals internal/environ internal/files internal/oneshot internal/shell internal/tail internal/unixsock", "a terminal knows where panes are, not what they are"},
		{"panes/screen", l0, "", "reading a screen is a pure function, and the only source of proofs that text may be typed"},
		{"panes/host", l1, "signals internal/environ internal/files internal/rawjson internal/unixsock panes/screen", "the process inside a pane knows nothing of teams"},
		{"panes/acp", l0, "", "a protocol, spoken on two streams, whoever is at their ends"},
		{"panes/worktree", l1, "internal/environ internal/files internal/lock internal/oneshot internal/shell", "a worktree is git's, and a lock keeps works on it apart"},
		{"panes/profiles", l1, "panes/screen", "how an agent is run is a table"},
		{"teams/observe", l1, "teams/events internal/files internal/rawjson", "a stream is read without looking at files"},

		{"panes", l2, "backend panes/host panes/profiles panes/state signals internal/environ internal/files internal/lock internal/oneshot internal/shell internal/unixsock", "what is running: panes, hosts and their records, not what teams remember"},
		{"hooks", l2, "signals internal/*", "programs that may object"},

		{"teams", l3, "internal/* teams/store teams/store/* teams/api backend panes panes/* hooks signals teams/events", "the verbs bring it all together"},
		{"teams/watch", l3, "internal/fault teams teams/api teams/changes teams/store", "one watch of a team for all who live long"},
		{"teams/teammate", l3, "internal/* teams teams/store teams/store/* teams/api backend panes panes/* hooks signals teams/events teams/observe", "a teammate's life on its host, lived by the verbs"},

		{"cmd/internal/config", l4, "internal/files panes panes/profiles panes/screen panes/host hooks backend teams teams/store", "settings name things of the lower layers and start none"},
		{"cmd/internal/dial", l3, "teams/api teams/api/rpc panes signals internal/*", "the way to the daemon links nothing of the daemon"},
		{"cmd/internal/daemon", l4, "cmd/internal/dial internal/* teams teams/* panes panes/* backend signals", "the long-lived process asks the verbs like everybody"},
		{"cmd/internal/scheduler", l4, "internal/files teams teams/* panes/profiles backend hooks", "runs are carried out by the verbs alone"},
		{"cmd/internal/tmuxshim", l4, "backend panes panes/host signals teams/api internal/environ internal/files internal/lock", "tmux's verbs, answered with panes that no team knows"},
		{"cmd/internal/clients", l4, "teams/store", "the files of other programs are edited without knowing what for"},
		{"cmd/internal/style", l4, "teams/api", "how states and colours look is a table"},
		{"cmd/internal/tui", l4, "cmd/internal/style teams teams/api teams/changes teams/events panes panes/host panes/profiles", "the dashboard looks and acts by the verbs alone"},
		{"cmd/internal/mcp", l4, "internal/lineio teams teams/api teams/changes teams/events teams/store teams/watch", "tools for models are the verbs under other names"},
		{"cmd/internal/engine", l4, "cmd/internal/dial internal/unixsock teams/api teams/api/rpc teams/store teams/store/jetstream teams/store/remote", "the daemon's connection to an engine"},
		{"cmd/internal/longlived", l5, "cmd/internal/* teams teams/* panes/profiles", "leadlightd puts together what leadlight does not link"},
		{"cmd/internal/*", l5, "internal/* teams teams/* panes panes/* backend backend/* hooks signals cmd/internal/config cmd/internal/style cmd/internal/dial cmd/internal/clients cmd/internal/tmuxshim", "who asks may ask everyone"},
		{"cmd/leadlight", l5, "cmd/internal/cli internal/environ", "main is a few lines"},
		{"cmd/leadlightd", l5, "cmd/internal/cli cmd/internal/longlived internal/environ", "main is a few lines"},

		{"cmd/leadlight-backend-kitty", l5, "backend backend/external/plugin", "a terminal as anyone may add one: by the protocol, and nothing else of ours"},
		{"cmd/leadlight-backend-kitty/kittytest", l1, "internal/environ", "a real kitty, seen past the backend"},
		{"examples/backend-*", l5, "backend backend/external/plugin", "a backend outside is made of what is public"},
		{"examples/*", l5, "", "what shows the program in use is made of nothing of it"},

		{"integration", proof, "*", "the proof looks at all"},
		{"integration/*", proof, "*", "the proof looks at all"},
	}
}

// level lists the imports between packages of one layer, each with its reason.
// Everything else of one layer are siblings, which do not know each other.
func level() map[string]string {
	return map[string]string{
		"teams/store/ledger → internal/lock":                  "a ledger has one writer at a time",
		"teams/store/ledger → teams/store":                    "it flags messages that were handed over",
		"teams/watch → teams":                                 "it looks at a team by the verbs",
		"teams/teammate → teams":                              "a teammate claims, answers and reports by the same verbs as everybody, in the teammate's name",
		"backend/external/externaltest → backend/backendtest": "cases of the frame are run like the others",
		"cmd/internal/tui → cmd/internal/style":               "the dashboard shows states as the tables do",
		"cmd/leadlight → cmd/internal/cli":                    "main calls the command line",
		"cmd/leadlightd → cmd/internal/cli":                   "main gives the command line its streams",
		"cmd/leadlightd → cmd/internal/longlived":             "main calls what is long-lived",
		"cmd/internal/longlived → cmd/internal/cli":           "what is long-lived runs under the same command line",
	}
}

// linkers says which packages may link a module from outside, and why only they.
// Patterns as in layers; "tests" stands for test files and the suites.
func linkers() map[string]struct{ who, why string } {
	return map[string]struct{ who, why string }{
		"github.com/GianlucaP106/gotmux":       {"backend/tmux", "its weak spots stay behind our own errors; in tests it is the second witness"},
		"github.com/gofrs/flock":               {"internal/lock", "one dialect of locking"},
		"github.com/fsnotify/fsnotify":         {"internal/files", "one place that knows when events do not work"},
		"github.com/creack/pty":                {"panes/host examples/backend-pty", "one owner of terminals; the example is a program of its own"},
		"github.com/charmbracelet/x/vt":        {"panes/host", "one screen model, out of the copy path"},
		"github.com/coder/websocket":           {"backend/iterm2/iterm2test", "iTerm2's part in tests; it brings in a web server"},
		"charm.land/bubbletea/v2":              {"cmd/internal/tui", "the dashboard alone"},
		"charm.land/lipgloss/v2":               {"cmd/internal/tui", "the dashboard alone"},
		"github.com/charmbracelet/x/ansi":      {"cmd/internal/tui panes/host", "the dashboard, and who parts a text as the screen model does"},
		"github.com/goccy/go-yaml":             {"cmd/internal/config", "one reader of team files"},
		"github.com/spf13/cobra":               {"cmd/internal/cli", "the verbs only"},
		"github.com/spf13/pflag":               {"cmd/internal/cli", "the verbs only"},
		"github.com/creachadair/jrpc2":         {"teams/api/rpc/serve", "one dialect of JSON-RPC"},
		"modernc.org/sqlite":                   {"teams/db", "one place that opens the database"},
		"github.com/google/uuid":               {"teams teams/teammate teams/runs teams/store teams/store/* panes panes/host", "ids"},
		"golang.org/x/sys":                     {"signals panes/host panes internal/environ internal/files internal/lock internal/unixsock teams/store/claudefs backend/* cmd/internal/cli backend", "system calls"},
		"github.com/clipperhouse/displaywidth": {"cmd/internal/cli", "tables line up in every script"},
		"golang.org/x/term":                    {"panes/host cmd/internal/cli", "terminals in raw mode"},
		"golang.org/x/text":                    {"teams/store", "one spelling for one name"},
		"golang.org/x/sync":                    {"panes teams teams/teammate cmd/internal/cli backend/*", "groups of goroutines"},
		"github.com/rogpeppe/go-internal":      {"tests", "script tests"},
		"github.com/nats-io/nats.go":           {"teams/store/jetstream", "one place that speaks to engines"},
		"github.com/google/go-cmp":             {"tests", "comparing"},
		"go.uber.org/goleak":                   {"internal/leaktest", "counting goroutines, with one patience"},
		"pgregory.net/rapid":                   {"tests", "properties"},

		"github.com/modelcontextprotocol/go-sdk": {"cmd/internal/mcp", "one place that speaks the protocol of tools"},
		"github.com/google/jsonschema-go":        {"cmd/internal/mcp", "the tools' parameters are described there"},
	}
}

// suites are packages of test code that is not in _test.go files.
const suites = "teams/store/jetstream/natstest teams/store/jetstream/natstest/relay backend/backendtest backend/external/externaltest backend/iterm2/iterm2test teams/store/storetest integration integration/*"

// offered are suites that the program puts to strangers.
const offered = "backend/backendtest backend/external/externaltest"

// witnesses may link what they check against in their tests: tmux and terminals.
const witnesses = "integration integration/* backend/backendtest backend/iterm2/iterm2test teams/store/claudefs cmd/leadlight cmd/internal/cli panes teams teams/teammate"

func TestHouseLayers(t *testing.T) {
	t.Parallel()
	for name, p := range packages(t) {
		own, ok := ruleOf(name)
		if !ok {
			t.Errorf("%s has no row in the table of layers", name)
			continue
		}
		for _, imported := range p.own(p.Imports) {
			if !mayImport(own, name, imported) {
				t.Errorf("%s imports %s; it may import what stands below it among %q, because %s (see also level)",
					name, imported, own.may, own.why)
			}
		}
		for _, imported := range p.own(slices.Concat(p.TestImports, p.XTestImports)) {
			if r, ok := ruleOf(imported); imported != name && ok && r.at > own.at {
				t.Errorf("tests of %s import %s, which stands above it", name, imported)
			}
		}
	}
}

// TestHouseTableIsSound keeps the table itself honest: no row allows an import
// upwards, or sideways without a reason.
func TestHouseTableIsSound(t *testing.T) {
	t.Parallel()
	all := packages(t)
	for name := range all {
		own, _ := ruleOf(name)
		for other := range all {
			r, ok := ruleOf(other)
			if !ok || other == name || own.at == proof || !matches(own.may, other) {
				continue
			}
			if r.at > own.at {
				t.Errorf("the table lets %s import %s, which stands above it", name, other)
			}
		}
	}
	for _, r := range layers() {
		if r.why == "" {
			t.Errorf("the row %q gives no reason", r.packages)
		}
	}
}

func TestHouseLinkers(t *testing.T) {
	t.Parallel()
	for name, p := range packages(t) {
		for _, imported := range p.foreign(p.Imports) {
			if !mayLink(name, imported, matches(suites, name)) {
				t.Errorf("%s links %s, which is not its business: see linkers", name, imported)
			}
		}
		for _, imported := range p.foreign(slices.Concat(p.TestImports, p.XTestImports)) {
			if !mayLink(name, imported, true) {
				t.Errorf("tests of %s link %s: see linkers", name, imported)
			}
		}
	}
}

// TestHouseBinaryLinksNoTests keeps test code out of the program.
func TestHouseBinaryLinksNoTests(t *testing.T) {
	t.Parallel()
	deps := strings.Fields(goList(t, "-deps", "-f", "{{.ImportPath}}", "./cmd/leadlight"))
	for _, dep := range deps {
		short := strings.TrimPrefix(dep, module+"/")
		if matches(offered, short) {
			continue
		}
		if dep == "testing" || matches(suites, short) || strings.HasPrefix(dep, "github.com/google/go-cmp") {
			t.Errorf("bin/leadlight links %s", dep)
		}
	}
}

func ruleOf(name string) (rule, bool) {
	rules := layers()
	if i := slices.IndexFunc(rules, func(r rule) bool { return matches(r.packages, name) }); i >= 0 {
		return rules[i], true
	}
	return rule{}, false
}

func mayImport(own rule, name, imported string) bool {
	r, ok := ruleOf(imported)
	if !ok || r.at == floor {
		return r.at == floor
	}
	if r.at == own.at && own.at != proof {
		if _, excused := level()[name+" → "+imported]; !excused {
			return false
		}
	}
	return r.at <= own.at && matches(own.may, imported)
}

func mayLink(name, imported string, test bool) bool {
	for path, l := range linkers() {
		if imported == path || strings.HasPrefix(imported, path+"/") {
			return matches(l.who, name) || test && (l.who == "tests" || matches(witnesses, name))
		}
	}
	return false
}

// matches tells whether one of the patterns is name, or, ending in "*", a prefix
// of it.
func matches(patterns, name string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(p string) bool {
		prefix, wild := strings.CutSuffix(p, "*")
		return p == name || wild && strings.HasPrefix(name, prefix)
	})
}

// heavy are the libraries that leadlight must not link: they cost time at every start, or
// belong to what is long-lived.
func heavy() map[string]string {
	return map[string]string{
		"modernc.org/sqlite":                     "the database is the daemon's",
		"github.com/modelcontextprotocol/go-sdk": "tools for models are leadlightd's",
		"charm.land/bubbletea/v2":                "the dashboard is leadlightd's",
		"charm.land/lipgloss/v2":                 "the dashboard is leadlightd's",
		"github.com/nats-io/nats.go":             "the connection to an engine is the daemon's",
		"net/http":                               "web servers and their clients are leadlightd's; 4 MiB with all their encryption",
		"crypto/tls":                             "the command line speaks to nobody but this machine",
		"google.golang.org/protobuf":             "iTerm2's messages are written by hand; it reads the program's file at every start",
	}
}

// programs are the programs of the module, and which of them may link heavy libraries.
func programs() map[string]bool {
	return map[string]bool{"cmd/leadlight": false, "cmd/leadlightd": true}
}

// TestHousePrograms asks for each program what it links, with all that this links in turn.
func TestHousePrograms(t *testing.T) {
	t.Parallel()
	for program, long := range programs() {
		linked := map[string]bool{}
		for _, dep := range strings.Fields(goList(t, "-deps", "-f", "{{.ImportPath}}", "./"+program)) {
			for path, why := range heavy() {
				if dep != path && !strings.HasPrefix(dep, path+"/") {
					continue
				}
				linked[path] = true
				if !long {
					t.Errorf("%s links %s, but %s", program, dep, why)
				}
			}
		}
		if long && !linked["modernc.org/sqlite"] {
			t.Errorf("%s links no database: this test looks in the wrong place", program)
		}
	}
}
