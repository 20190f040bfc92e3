package integration_test

import (
	"go/ast"
	"go/types"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// deed is something that may do harm, or makes the proof that it may be done: the functions
// that come to it, as patterns of path.Match, and the packages that call them, each with
// its reason.
type deed struct {
	what string
	by   string
	who  map[string]string
}

// deeds is the table of callers. Each deed has one gate, which takes a value that only the
// checks can make; a package that is new here needs a proof of its own.
func deeds() []deed {
	return []deed{
		{"signal a number", "syscall.Kill golang.org/x/sys/unix.*[kK]ill golang.org/x/sys/unix.PidfdSendSignal (os.Process).Kill (os.Process).Signal os.FindProcess", map[string]string{
			"signals":          "the gate: Proof.Signal; else signal 0, which only asks",
			"cmd/internal/tui": "the group of this process, to stop on Ctrl+Z as the terminal would stop it",
		}},
		{"prove a process ours to signal", "signals.Own signals.OwnGroup signals.Prove", map[string]string{
			"hooks":                 "a hook that this process runs, and what carries the hook's mark",
			"panes":                 "a host that was proved to be its member's",
			"internal/oneshot":      "a program that this process runs",
			"panes/host":            "the host's own program",
			"backend/external":      "a plugin that this process runs",
			"backend/memory":        "the programs of a terminal for tests",
			"backend/tmux":          "a tmux server, which is told to look again, for its socket or for ended programs",
			"cmd/internal/cli":      "what runs in this program's place, and this program itself, which stops with it",
			"cmd/internal/tmuxshim": "the host of a pane of the shim, by its command line",
		}},
		{"end a tree of processes", "(signals.TreeKiller).Run", map[string]string{
			"hooks":                 "what a hook has started",
			"internal/oneshot":      "what a program that this process runs has started",
			"panes":                 "killTree, for an ownHost",
			"panes/host":            "what the host itself has started",
			"backend/headless":      "what carries the mark of a pane",
			"cmd/internal/tmuxshim": "what carries the mark of a pane of the shim",
		}},
		{"close a pane", "backend.CloseOne (backend.Backend).Close (backend/*.Backend).Close", map[string]string{
			"panes":                   "the gate: Close, for a Closable",
			"backend":                 "a set of one",
			"backend/external/plugin": "the other half of the protocol: it is told what Close was given",
			"cmd/internal/cli":        "backend test: the panes that the test itself has opened",
		}},
		{"prove a pane ours to close", "panes.Opened panes.Vacated (panes.ownHost).closable", map[string]string{
			"panes":                 "of a host that was proved, or that holds a session open for a moment",
			"cmd/internal/tmuxshim": "of the shim's own call, or whose host is gone with all that it ran",
		}},
		{"write into a program's terminal", "(panes/host.queue).put (panes/host.queue).offer (panes/host.queue).feed", map[string]string{
			"panes/host": "the gate: InputLock.put, for a permit; else what a terminal answers, and what a person types",
		}},
		{"prove that something may be typed", "(panes/screen.Reading).May* panes/host.requested", map[string]string{
			"panes/host":     "a request on the host's own socket, which only its user can open",
			"teams/teammate": "mail, its submit key and the keys by which an agent quits, from the agent's screen",
		}},
		{"delete a file", "os.Remove* (os.Root).Remove* syscall.Unlink* syscall.Rmdir golang.org/x/sys/unix.Unlink* golang.org/x/sys/unix.Rmdir", map[string]string{
			"internal/files": "the gate: Ours.Remove; else below a Dir, and folders in which nothing is",
		}},
		{"prove a file ours to delete", "internal/files.In internal/files.Remove internal/files.Create internal/files.Temp*", map[string]string{
			"internal/files":         "Remove is In and the deed",
			"internal/lock":          "a file that the call itself has made",
			"internal/unixsock":      "a socket that this process listens on",
			"panes/worktree":         "half a pack in a clone of ours, while its lock is held; an index that the call itself has made",
			"panes":                  "what is left in the run folder of hosts, leads and terminals that are gone",
			"backend/headless":       "the record of a pane, by an id that was checked",
			"backend/iterm2":         "the command of a pane that did not begin",
			"teams":                  "a file that the call itself has made",
			"teams/teammate":         "the environment that was handed over to this very host",
			"cmd/internal/cli":       "a file or folder that the call itself has made",
			"cmd/internal/dial":      "the socket of a daemon that is gone, while its lock is held; the record that this machine has joined",
			"cmd/internal/scheduler": "a record that was taken in",
			"cmd/internal/tmuxshim":  "the shim's own records, launches and sockets",
		}},
		{"delete below a folder that was opened", "(internal/files.Dir).Remove*", map[string]string{
			"internal/files":       "what Rename has copied to another file system, or half of a copy that failed",
			"internal/lock":        "a folder that serves as a lock, beside the file of a team",
			"panes":                "records, in a team's folder",
			"teams/store/claudefs": "files and folders of a team that is deleted, and tasks",
			"teams/store/maildir":  "messages, in a team's folder",
		}},
	}
}

// TestXH08_OneGateForHarm: the code does each of these deeds where this table says, and
// nowhere else.
func TestXH08_OneGateForHarm(t *testing.T) {
	t.Parallel()
	called := map[string]map[string]string{} // by package: function → a place that calls it
	for _, p := range typeChecked(t) {
		if matches(suites+" examples/*", p.name) || strings.HasSuffix(p.name, "test") {
			continue
		}
		called[p.name] = map[string]string{}
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if f, ok := p.info.Uses[id].(*types.Func); ok {
						called[p.name][spelled(f)] = p.set.Position(id.Pos()).String()
					}
				}
				return true
			})
		}
	}
	for _, d := range deeds() {
		found := map[string]bool{}
		for name, functions := range called {
			for f, at := range functions {
				if !comesTo(d, f) {
					continue
				}
				if found[name] = true; d.who[name] == "" {
					t.Errorf("%s: %s can %s: prove first that it is ours, and say in this table how", at, f, d.what)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(d.who)) {
			if !found[name] && runtime.GOOS == "linux" { // some are in files for Linux alone
				t.Errorf("%s does not %s any more: take its row out", name, d.what)
			}
		}
	}
}

// spelled is a function as the table has it: without this module's path and without the
// star of a receiver.
func spelled(f *types.Func) string {
	return strings.Replace(strings.ReplaceAll(f.FullName(), module+"/", ""), "(*", "(", 1)
}

func comesTo(d deed, f string) bool {
	return slices.ContainsFunc(strings.Fields(d.by), func(pattern string) bool {
		ok, _ := path.Match(pattern, f)
		return ok
	})
}
