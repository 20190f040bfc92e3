package panes

import "github.com/leadlight-dev/leadlight/signals"

// Above returns the teammate of a base directory below whose host a process runs, the nearest
// one; ok is false if there is none that can be seen.
func Above(base string, pid int) (team, agent string, ok bool) {
	key := BaseKey(base)
	for _, p := range signals.AncestorsOf(pid) {
		switch {
		case isHost(p.Argv) && BaseKey(p.Argv[7]) == key:
			return p.Argv[3], p.Argv[5], true
		case p.Serves():
			return "", "", false
		}
	}
	return "", "", false
}

// isHost tells whether a command line is one that Launch gives a host.
func isHost(argv []string) bool {
	return len(argv) == 8 && argv[1] == "teammate" && argv[2] == "--team" && argv[4] == "--agent" && argv[6] == "--base-dir"
}
