package integration_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// checked is one package of this module with its syntax and its types.
type checked struct {
	*types.Package
	name  string // path below the module
	files []*ast.File
	info  *types.Info
	set   *token.FileSet
}

// typeChecked returns this module's packages for the system of this run, checked
// from source, so that a type means the same thing in all of them.
func typeChecked(t *testing.T) []checked {
	t.Helper()
	all, err := checkAll()
	if err != nil {
		t.Fatalf("the module does not compile: %v", err)
	}
	return all
}

var checkAll = sync.OnceValues(func() ([]checked, error) {
	all, err := list(runtime.GOOS, "-deps", "-export", "./...")
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	from := &imports{own: map[string]*types.Package{}, exports: map[string]string{}}
	from.compiled = importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(from.exports[path])
	})
	var done []checked
	for _, p := range all {
		if !strings.HasPrefix(p.ImportPath, module+"/") {
			from.exports[p.ImportPath] = p.Export
			continue
		}
		c, err := check(p, set, from)
		if err != nil {
			return nil, err
		}
		from.own[p.ImportPath] = c.Package
		done = append(done, c)
	}
	return done, nil
})

func check(p pkg, set *token.FileSet, from types.Importer) (checked, error) {
	c := checked{
		name: strings.TrimPrefix(p.ImportPath, module+"/"),
		info: &types.Info{Uses: map[*ast.Ident]types.Object{}},
		set:  set,
	}
	for _, f := range p.GoFiles {
		parsed, err := parser.ParseFile(set, filepath.Join(p.Dir, f), nil, 0)
		if err != nil {
			return c, err
		}
		c.files = append(c.files, parsed)
	}
	conf := types.Config{Importer: from, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	var err error
	c.Package, err = conf.Check(p.ImportPath, set, c.files, c.info)
	return c, err
}

// imports finds packages: our own as they were checked, others as compiled.
type imports struct {
	own      map[string]*types.Package
	exports  map[string]string // import path → file of export data
	compiled types.Importer
}

func (i *imports) Import(path string) (*types.Package, error) {
	if p, ok := i.own[path]; ok {
		return p, nil
	}
	return i.compiled.Import(path)
}
