package teams

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// workingFolder returns the absolute folder that a teammate works in. A terminal
// would start it elsewhere without a word if the folder were not there.
func (c *common) workingFolder(t store.Team, asked string) (string, error) {
	dir := cmp.Or(asked, t.Ours.Cwd)
	if lead := t.Member(leadName(t)); dir == "" && c.cwd == "" && lead != nil {
		dir = lead.Cwd
	}
	dir, err := c.absolute("the working folder", dir)
	if err != nil {
		return "", err
	}
	if err := CheckFolder(dir); err != nil {
		return "", err
	}
	fi, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", fault.New(fault.InvalidArgument, "the working folder %s: %w", dir, err).WithHint("make it, or name another one (--cwd, or the key cwd)")
	case !fi.IsDir():
		return "", fault.New(fault.InvalidArgument, "the working folder %s is not a folder", dir).WithHint("name another one (--cwd, or the key cwd)")
	}
	return filepath.Clean(dir), nil
}

// CheckFolder refuses the name of a working folder that would be kept as another.
func CheckFolder(dir string) error {
	if utf8.ValidString(dir) {
		return nil
	}
	return fault.New(fault.InvalidArgument, "the name of the working folder %q is no UTF-8, and cannot be kept in the files of a team", dir).
		WithHint("name another one (--cwd, or the key cwd), or a link to it")
}

// absolute completes a path as whoever asks means it. One who is in no folder has to
// name it whole.
func (c *common) absolute(what, path string) (string, error) {
	path = environ.WholePath(path, variable(c.environ, "HOME"), c.cwd)
	switch {
	case filepath.IsAbs(path):
		return path, nil
	case path == "" && c.cwd != "":
		return c.cwd, nil
	case path == "":
		return "", fault.New(fault.InvalidArgument, "%s is not said, and the team names none", what).WithHint("name it by an absolute path")
	}
	return "", fault.New(fault.InvalidArgument, "%s %q is not an absolute path", what, store.Shown(path)).WithHint("name it by an absolute path")
}

// checkProgram says early, and by name, that the program is not there.
func (c *common) checkProgram(n *resolvedMember) error {
	argv := n.record.Argv
	if len(argv) == 0 || argv[0] == "" {
		if len(argv) == 0 && n.record.Kind == profiles.Worker {
			return nil // its tasks, or its own line, bring the command
		}
		return fault.New(fault.InvalidArgument, "teammate %s has no command to run", n.spec.Name).
			WithHint("give one after --, or a profile with --agent")
	}
	for _, word := range argv {
		if strings.ContainsRune(word, 0) || !utf8.ValidString(word) {
			return fault.New(fault.InvalidArgument, "the command of %s holds bytes that are no text: %.60q", n.spec.Name, word).
				WithHint("a NUL, or what is no UTF-8, cannot be kept in the files of a team; give the bytes in a script or a variable")
		}
	}
	path := variable(n.env, "PATH")
	needed := []string{argv[0]}
	if len(n.spec.Command) == 0 {
		needed = append(needed, n.profile.Program)
	}
	for _, program := range needed {
		if n.spec.Git != nil && strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
			continue // it is in the repository, or is not
		}
		if program != "" && FindProgram(program, n.record.Dir, path) == "" {
			why := "is not there"
			if slices.ContainsFunc(environ.Candidates([]string{"PATH=" + path}, n.record.Dir, program), exists) {
				why = "is no executable file"
			}
			way := "give another agent with --agent, or a command after --: leadlight spawn " + n.spec.Name + " -- COMMAND"
			if n.spec.Places["name"] != "" { // it is in a team file
				way = "name another agent in the file: leadlight help agents lists them"
			}
			return fault.New(fault.ProgramNotFound, "profile %s needs the program %q, which %s", n.profile.Name, store.Shown(program), why).
				WithHint("install it; or %s (looked for in %s)", way, cmp.Or(path, n.record.Dir))
		}
	}
	return nil
}

// CommandFor returns what a worker runs for a task: the task's own command if that is to be
// obeyed, else the worker's; nil if there is none.
func (tl *tasklist) CommandFor(ctx context.Context, l panes.LaunchRecord, task api.Task) (argv []string, shown string) {
	if own, ok := RunOf(task.Metadata); ok && (l.RunTask || tl.panes.Records().TrustedRun(ctx, l.Team, task.ID, own)) {
		return []string{"sh", "-c", own}, own
	}
	switch {
	case l.Run != "":
		return []string{"sh", "-c", l.Run}, l.Run
	case len(l.Argv) > 0:
		return l.Argv, strings.Join(l.Argv, " ")
	}
	return nil, ""
}

// TakesTask tells whether a worker takes a task: it has a command for it, or the task is its
// own and brings one that must not be obeyed, which fails and says so.
func (tl *tasklist) TakesTask(ctx context.Context, l panes.LaunchRecord, task api.Task) bool {
	argv, _ := tl.CommandFor(ctx, l, task)
	_, brings := RunOf(task.Metadata)
	return argv != nil || brings && store.SameName(MeantFor(task), l.Agent)
}

// checkVariables says early what the agent lacks in its environment.
func (c *common) checkVariables(n *resolvedMember) error {
	for _, name := range n.profile.Needs {
		if variable(n.env, name) == "" {
			return fault.New(fault.InvalidArgument, "profile %s needs the variable %s, which is not set", n.profile.Name, store.Shown(name)).
				WithHint("set it, or give it with --env or --env-from, or the key env")
		}
	}
	if n.record.Kind == profiles.Native && len(n.profile.JoinArgs) > 0 { // it is Claude Code, not a program that asks leadlight
		return c.checkHome(n.spec.Name, n.env)
	}
	return nil
}

// checkHome refuses a native teammate that would look for its team elsewhere: it
// reads the files of its own home only.
func (c *common) checkHome(name string, env []string) error {
	home := cmp.Or(variable(env, "CLAUDE_CONFIG_DIR"), filepath.Join(variable(env, "HOME"), ".claude"))
	if home == c.base || files.Same(home, c.base) {
		return nil
	}
	return fault.New(fault.InvalidArgument, "the native teammate %s would look for its team in %s, but the team is in %s", name, home, c.base).
		WithHint("--env CLAUDE_CONFIG_DIR=%s, or the key env, makes that its home; or use the agent claude-interactive", c.base)
}

// FindProgram looks a program up as the host will, in the teammate's own folder dir and
// on its PATH, path, not in ours. It returns where it is, "" if nowhere.
func FindProgram(name, dir, path string) string {
	for _, c := range environ.Candidates([]string{"PATH=" + path}, dir, name) {
		if executable(c) {
			return c
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func executable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && !fi.IsDir() && fi.Mode()&0o111 != 0
}

func variable(env []string, name string) string { return environ.Get(env, name) }
