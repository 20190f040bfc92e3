package panes

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/signals"
)

// Above returns the teammate of a base directory below whose host a process runs, the nearest
// one that its record proves; ok is false if there is none that can be seen. A command line
// alone is easily imitated, by what runs below the host itself: without a record the farthest
// is believed.
func Above(base string, pid int) (team, agent string, ok bool) {
	key := BaseKey(base)
	for _, p := range signals.AncestorsOf(pid) {
		if p.Serves() {
			break
		}
		of, t, a := hosted(p.Argv)
		if of == "" || t == "" || a == "" || BaseKey(of) != key {
			continue
		}
		if team, agent, ok = t, a, true; provedHost(base, t, a, p) {
			break
		}
	}
	return team, agent, ok
}

// provedHost tells whether the host record of a teammate names this process.
func provedHost(base, team, agent string, p signals.Process) bool {
	dir, err := files.Open(base)
	if err != nil {
		return false
	}
	defer dir.Close()
	h, err := (&Records{dir: dir, baseKey: BaseKey(base)}).Host(context.Background(), team, agent)
	return err == nil && h.Process.PID == p.PID && h.Process.Start == p.Start
}

// hosted returns whom a process hosts, and of which base directory, as its command line says;
// base is "" if it is no host.
func hosted(argv []string) (base, team, agent string) {
	if isHost(argv) {
		return argv[7], argv[3], argv[5]
	}
	if id := agentID(argv); id != "" { // one that a Claude Code started by us
		if lead, err := ReadLead(filepath.Dir(argv[0])); err == nil {
			at := strings.LastIndexByte(id, '@')
			return lead.Base, id[at+1:], id[:max(at, 0)]
		}
	}
	return "", "", ""
}

// isHost tells whether a command line is one that Launch gives a host.
func isHost(argv []string) bool {
	return len(argv) == 8 && argv[1] == "teammate" && argv[2] == "--team" && argv[4] == "--agent" && argv[6] == "--base-dir"
}

// agentID is the address of the teammate that a command line hosts for a lead that is a Claude
// Code; "" if it hosts none.
func agentID(argv []string) string {
	if len(argv) == 0 || filepath.Base(argv[0]) != TeammateLink {
		return ""
	}
	i := slices.Index(argv, "--agent-id")
	if i < 0 || i+1 >= len(argv) {
		return ""
	}
	return argv[i+1]
}
