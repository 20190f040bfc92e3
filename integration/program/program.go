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
		c := exec.Command("go", "build", "-o", bin, "github.com/leadlight-dev/leadlight/"+folder)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := c.CombinedOutput()
		if err != nil {
			err = errors.Join(err, errors.New(string(out)))
		}
		return bin, err
	})
}
