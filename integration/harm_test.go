package integration_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// deed is something that may do harm, how it looks in the code, and the files that do it,
// each with its reason. A new file in this list needs a proof of its own.
type deed struct {
	what  string
	looks string
	who   map[string]string
}

func deeds() []deed {
	return []deed{
		{"make a proof that a process is ours", `signals\.(Prove|Child|Below)\(`, map[string]string{
			"panes/stop.go":                   "a host that was proved to be its member's, by its answer or its command line",
			"panes/host/host.go":              "^C for the host's own child",
			"panes/host/run.go":               "the host's own child",
			"hooks/run.go":                    "a hook that this process has started",
			"cmd/internal/tmuxshim/keeper.go": "the host of a pane of the shim, by its command line",
		}},
		{"end a tree of processes", `\.TreeKiller\{`, map[string]string{
			"panes/stop.go":                   "killTree, for an ownHost",
			"panes/orphans.go":                "only looks what would be ended",
			"panes/host/run.go":               "what the host itself has started",
			"backend/headless/headless.go":    "what carries the mark of a pane",
			"hooks/run.go":                    "what a hook has started",
			"cmd/internal/tmuxshim/keeper.go": "what carries the mark of a pane of the shim",
		}},
		{"signal a number", `(syscall|unix)\.Kill\(|PidfdSendSignal|\.Process\.(Kill|Signal)\(`, map[string]string{
			"signals/pidfd_linux.go":         "the gate itself",
			"signals/process_darwin.go":      "the gate itself",
			"signals/procfs_linux.go":        "signal 0, which only asks",
			"hooks/run.go":                   "the group of a hook that this process has started and not waited for",
			"panes/login.go":                 "the group of a shell that this process has started and not waited for",
			"backend/external/conn.go":       "the group of a plugin that this process has started and not waited for",
			"backend/memory/memory.go":       "the children of a terminal for tests",
			"backend/tmux/exits_linux.go":    "SIGCHLD to a tmux server that was asked for its pid: it has lost one",
			"backend/tmux/reach_linux.go":    "SIGUSR1 to a tmux server of ours: it makes its socket again",
			"cmd/internal/cli/foreground.go": "this process itself, and its own child",
			"cmd/internal/cli/top.go":        "its own child",
		}},
		{"close a pane", `CloseOne\(|\b(b|Backend)\.Close\(ctx`, map[string]string{
			"panes/close.go":                     "closePanes, for hosts that were proved",
			"panes/stay.go":                      "a pane that stays to be read, of the caller's own host",
			"backend/sets.go":                    "a set of one",
			"backend/external/plugin/methods.go": "the other half of the protocol",
			"cmd/internal/cli/backendtest.go":    "the panes that the test itself has opened",
			"cmd/internal/tmuxshim/keeper.go":    "a pane of the shim, by its mark",
			"cmd/internal/tmuxshim/leftovers.go": "a pane of the shim whose server nobody remembers, by its mark",
		}},
		{"make a proof that something may be typed", `\.(MayType|MaySubmit)\(|\brequested\(\)`, map[string]string{
			"panes/host/inject.go":      "a request on the host's own socket, which only the operator can open",
			"panes/host/inputlock.go":   "the gate itself",
			"teams/teammate/deliver.go": "the keys by which an agent quits, from its screen",
			"teams/teammate/typing.go":  "mail and its submit key, from the agent's screen",
		}},
		{"type a text or press a key", `\.(Type|Keys|Inject)\(ctx|\.LockInput\(`, map[string]string{
			"panes/host/inject.go":            "for whoever asks on the socket",
			"panes/host/serve.go":             "the socket",
			"teams/teammate/deliver.go":       "with a proof",
			"teams/teammate/typing.go":        "with a proof",
			"teams/keys.go":                   "leadlight keys: a person answers a dialog",
			"cmd/internal/cli/keys.go":        "the same",
			"cmd/internal/tmuxshim/keeper.go": "send-keys of a client that types into its own teammate",
		}},
		{"write into a program's terminal", `queue\.(put|offer|feed)\(`, map[string]string{
			"panes/host/inputlock.go": "the gate: a permit",
			"panes/host/inject.go":    "what a terminal answers to queries, where there is none",
			"panes/host/host.go":      "what a person types in the pane, or attached to it",
		}},
		{"delete a file outside of a team's folder", `os\.Remove(All)?\(`, map[string]string{
			"panes/removing.go":                  "the gate: a runFile, which was checked for its form and its type",
			"panes/lead.go":                      "a folder that the call itself has made",
			"panes/look.go":                      "the run folder, if it is empty",
			"panes/tidy.go":                      "the run folder, if it is empty, and the socket of our own server that nobody listens on",
			"internal/unixsock/unixsock.go":      "the socket that the caller listens on, while it holds the lock",
			"panes/worktree/worktree.go":         "the folder of a team's worktrees, if it is empty",
			"backend/headless/records.go":        "the record of a pane, by an id that was checked",
			"backend/iterm2/command.go":          "a file that the call itself has made",
			"cmd/internal/cli/backendtest.go":    "a folder that the test itself has made",
			"cmd/internal/cli/init.go":           "a file that the call itself has made",
			"cmd/internal/dial/dial.go":          "the socket of a daemon that is gone, while its lock is held",
			"cmd/internal/dial/machine.go":       "the record that this machine has joined, of one fixed name",
			"cmd/internal/scheduler/records.go":  "a record that was taken in",
			"cmd/internal/tmuxshim/host.go":      "a launch that was taken, and the shim's own socket",
			"cmd/internal/tmuxshim/keeper.go":    "the shim's own files",
			"cmd/internal/tmuxshim/leftovers.go": "the shim's own files",
			"teams/backup.go":                    "a file that the call itself has made",
			"teams/doctor.go":                    "a file that the call itself has made",
			"teams/teammate/teammate.go":         "the teammate's own files of the run folder",
		}},
	}
}

// TestXH08_OneGateForHarm: the code does each of these deeds where this table says, and
// nowhere else.
func TestXH08_OneGateForHarm(t *testing.T) {
	code := map[string]string{}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		switch {
		case err != nil:
			return err
		case e.IsDir() && (name == "integration" || name == "examples" || e.Name() == "testdata" || len(name) > 2 && strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), "test")):
			return fs.SkipDir
		case !e.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			data, err := os.ReadFile(path)
			code[name] = string(data)
			return err
		}
		return nil
	})
	if err != nil || len(code) < 100 {
		t.Fatalf("%d files: %v", len(code), err)
	}
	for _, d := range deeds() {
		looks, found := regexp.MustCompile(d.looks), map[string]bool{}
		for name, text := range code {
			if looks.MatchString(text) {
				found[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if d.who[name] == "" {
				t.Errorf("%s can %s: prove first that it is ours, and say in this table how", name, d.what)
			}
		}
		for name := range d.who {
			if !found[name] {
				t.Errorf("%s does not %s any more: take its row out", name, d.what)
			}
		}
	}
}
