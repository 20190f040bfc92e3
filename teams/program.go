package teams

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// workingFolder returns the absolute folder that a teammate works in. A terminal
// would start it elsewhere without a word if the folder were not there.
func (s *Service) workingFolder(t store.Team, asked string) (string, error) {
	dir := orDefault(asked, t.Ours.Cwd)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.cwd, dir)
	}
	fi, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", fault.New(fault.InvalidArgument, "the working folder %s: %w", dir, err).WithHint("make it, or name another one with --cwd")
	case !fi.IsDir():
		return "", fault.New(fault.InvalidArgument, "the working folder %s is not a folder", dir).WithHint("name another one with --cwd")
	}
	return filepath.Clean(dir), nil
}

// checkProgram says early, and by name, that the program is not there.
func (s *Service) checkProgram(n *newcomer) error {
	argv := n.spec.Command
	if len(argv) == 0 {
		if n.kind == profiles.Worker {
			return nil // its tasks, or its own line, bring the command
		}
		return fault.New(fault.InvalidArgument, "teammate %s has no command to run", n.spec.Name).
			WithHint("give one after --, or a profile with --agent")
	}
	for _, word := range argv {
		if strings.ContainsRune(word, 0) {
			return fault.New(fault.InvalidArgument, "the command of %s holds a NUL byte", n.spec.Name)
		}
	}
	env := s.panes.Environment("", "", "", n.spec.Env)
	if !programThere(argv[0], n.dir, variable(env, "PATH")) {
		return fault.New(fault.ProgramNotFound, "teammate %s: profile %s needs the program %q, which is not there", n.spec.Name, n.profile, store.Shown(argv[0])).
			WithHint("install it, or name its path; it was looked for in %s", orDefault(variable(env, "PATH"), n.dir))
	}
	return nil
}

// programThere looks a program up as the host will: in the teammate's own folder
// and PATH, not in ours.
func programThere(name, dir, path string) bool {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return executable(name)
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		if executable(filepath.Join(d, name)) {
			return true
		}
	}
	return false
}

func executable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && !fi.IsDir() && fi.Mode()&0o111 != 0
}

func variable(env []string, name string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
