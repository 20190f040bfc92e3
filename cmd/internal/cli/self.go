package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

// program is how this program is started again: by the hosts it opens, and by the verbs
// that leadlightd runs.
type program struct {
	path string
	err  error
}

// findSelf finds this program; called is the name that it was started by. A link is what is
// kept, because an upgrade (brew, mise, nix) moves the link and removes the file behind it,
// while teams run. It is looked up once, at the start, as long as link and file are one.
// A link by another name counts for nothing: called tmux, it would be another program.
func findSelf(called string) program {
	file, err := os.Executable()
	if err != nil {
		return program{err: fmt.Errorf("find this program: %w", err)}
	}
	if real, err := filepath.EvalSymlinks(file); err == nil { // else it was replaced since
		file = real
	}
	link, err := exec.LookPath(called)
	if err == nil {
		link, err = filepath.Abs(link)
	}
	named := slices.Contains([]string{lightProgram, heavyProgram, filepath.Base(file)}, filepath.Base(link))
	if err != nil || !named || !files.Same(link, file) {
		return program{path: file}
	}
	return program{path: link}
}

// besides finds one of the two programs: this one, that in the folder of the link or of
// the file behind it, or the one on PATH.
func (a *app) besides(name string) (string, error) {
	own, err := a.own.path, a.own.err
	if err != nil || filepath.Base(own) == name {
		return own, err
	}
	folders := []string{filepath.Dir(own)}
	if file, err := filepath.EvalSymlinks(own); err == nil {
		folders = append(folders, filepath.Dir(file))
	}
	for _, folder := range folders {
		if path := filepath.Join(folder, name); runnable(path) {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", fault.New(fault.ProgramNotFound, "%s is neither in %s nor on PATH", name, filepath.Dir(own)).
			WithHint("install it beside %s: make build writes both programs to bin/", filepath.Base(own))
	}
	return path, nil
}

func runnable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o111 != 0
}

// light is leadlight, which runs as the host in each pane. Only leadlightd has to find it.
func (a *app) light() (string, error) {
	if a.long == nil {
		return a.own.path, a.own.err
	}
	return a.besides(lightProgram)
}
