package integration_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// nobody is a user that owns nothing.
const nobody = 65534

// Where the base directory cannot be written, the tools say so. Root may write
// everywhere, so its server runs as nobody.
func TestA02_A13_MCPNoPermission(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.team("alpha")
	cmd := exec.Command(r.bin, "mcp", "--enable-teams", "--backend", "headless")
	own := r.path("work")
	cmd.Dir, cmd.Env = "/", append(slices.Clone(r.env), "HOME="+own, "XDG_RUNTIME_DIR="+own, "XDG_CONFIG_HOME="+own, "XDG_STATE_HOME="+own)
	if os.Geteuid() == 0 {
		cmd.Path = r.path("leadlight") // where nobody may go
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		daemon := filepath.Join(filepath.Dir(r.bin), "leadlightd")
		if err := errors.Join(copyFile(r.bin, cmd.Path), os.Chmod(cmd.Path, 0o755), copyFile(daemon, r.path("leadlightd")), os.Chmod(r.path("leadlightd"), 0o755), os.Chown(own, nobody, nobody)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	modes(t, r.path("base"), 0o555, 0o444)
	defer modes(t, r.path("base"), 0o700, 0o600)

	m := r.client(cmd)
	for name, in := range map[string]params{
		"TeamCreate": {"team_name": "beta", "description": "x"},
		"TeamDelete": {"team_name": "alpha"},
	} {
		if _, code := toolCall[any](m, name, in); code != "PERMISSION_DENIED" {
			t.Errorf("%s: %s", name, code)
		}
	}
	if names, err := filepath.Glob(r.path("base", "teams", "*")); err != nil || len(names) != 1 {
		t.Errorf("teams are %q", names)
	}
}

// modes sets the modes of the folders and of the files below a folder, and its own.
func modes(t *testing.T, root string, folder, file fs.FileMode) {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	for _, path := range all {
		if fi, serr := os.Stat(path); serr != nil {
			err = serr
		} else if fi.IsDir() {
			err = errors.Join(err, os.Chmod(path, folder))
		} else {
			err = errors.Join(err, os.Chmod(path, file))
		}
	}
	if err != nil {
		t.Error(err)
	}
}
