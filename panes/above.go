package panes

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/signals"
)

// Above returns the teammate of a base directory below whose host a process runs, the nearest
// one; ok is false if there is none that can be seen.
func Above(base string, pid int) (team, agent string, ok bool) {
	key := BaseKey(base)
	for _, p := range signals.AncestorsOf(pid) {
		if p.Serves() {
			return "", "", false
		}
		if of, team, agent := hosted(p.Argv); of != "" && BaseKey(of) == key {
			return team, agent, true
		}
	}
	return "", "", false
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
