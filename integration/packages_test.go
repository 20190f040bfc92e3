package integration_test

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/leadlight-dev/leadlight"

// pkg is what go list tells of one package, as far as the rules ask.
type pkg struct {
	ImportPath, Name, Dir, Export string
	Standard                      bool
	GoFiles, CgoFiles             []string
	TestGoFiles, XTestGoFiles     []string
	Imports                       []string
	TestImports, XTestImports     []string
}

// packages returns the packages of this module by their path below it. The
// imports are those for Linux and for macOS together.
func packages(t *testing.T) map[string]pkg {
	t.Helper()
	all, err := listed()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return all
}

var listed = sync.OnceValues(func() (map[string]pkg, error) {
	all := map[string]pkg{}
	for _, goos := range []string{"linux", "darwin"} {
		found, err := list(goos, "./...")
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			name := strings.TrimPrefix(p.ImportPath, module+"/")
			p.Imports = union(all[name].Imports, p.Imports)
			p.TestImports = union(all[name].TestImports, p.TestImports)
			p.XTestImports = union(all[name].XTestImports, p.XTestImports)
			p.GoFiles = union(all[name].GoFiles, p.GoFiles)
			p.TestGoFiles = union(all[name].TestGoFiles, p.TestGoFiles)
			p.XTestGoFiles = union(all[name].XTestGoFiles, p.XTestGoFiles)
			all[name] = p
		}
	}
	return all, nil
})

func union(a, b []string) []string {
	set := map[string]bool{}
	for _, s := range append(slices.Clone(a), b...) {
		set[s] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// list asks go list about the packages that args name, in the order it gives
// (with -deps: what is imported comes first). A package that does not compile is
// listed too: that is the compiler's complaint, not ours.
func list(goos string, args ...string) ([]pkg, error) {
	cmd := exec.Command("go", append([]string{"list", "-e", "-json"}, args...)...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var found []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		found = append(found, p)
	}
}

func goList(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// own picks the packages of this module, by their path below it.
func (p pkg) own(imports []string) []string {
	var own []string
	for _, i := range imports {
		if below, ok := strings.CutPrefix(i, module+"/"); ok {
			own = append(own, below)
		}
	}
	return own
}

// foreign picks what is neither of this module nor of the standard library.
func (p pkg) foreign(imports []string) []string {
	return slices.DeleteFunc(slices.Clone(imports), func(i string) bool {
		first, _, _ := strings.Cut(i, "/")
		return strings.HasPrefix(i, module+"/") || !strings.Contains(first, ".")
	})
}
