// Package program builds the program under test, once for a test binary that wants
// it, and removes it at the end.
package program

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// variable names the folder for the program; the folder belongs to one test binary.
const variable = "LEADLIGHT_TEST_BIN"

// Main runs the tests of a binary, for its TestMain, and returns the exit status.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "llbin")
	if err == nil {
		err = os.Setenv(variable, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Builder returns a function that builds the program at the first call and returns its
// path at every one. It may be called from several tests at once.
// The second program, leadlightd, is built beside it.
func Builder() func() (path string, err error) {
	light, heavy := BuilderOf("leadlight", "cmd/leadlight"), BuilderOf("leadlightd", "cmd/leadlightd")
	return func() (string, error) {
		if _, err := heavy(); err != nil {
			return "", err
		}
		return light()
	}
}

// BuilderOf is Builder for another program of the module, by its name and its folder.
func BuilderOf(name, folder string) func() (path string, err error) {
	return sync.OnceValues(func() (string, error) {
		bin := filepath.Join(os.Getenv(variable), name)
		return bin, Build(bin, "github.com/leadlight-dev/leadlight/"+folder)
	})
}

// Build builds a package, or a file, into bin and copies it there as it is installed: what the
// linker itself has written lies in memory page by page, and each start takes a fifth longer.
func Build(bin, what string) error {
	linked := bin + ".linked"
	for _, argv := range [][]string{{"go", "build", "-o", linked, what}, {"cp", linked, bin}} {
		c := exec.Command(argv[0], argv[1:]...)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return errors.Join(err, errors.New(string(out)))
		}
	}
	return os.Remove(linked)
}
