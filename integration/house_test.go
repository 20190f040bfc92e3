package integration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// How large things may grow. Above the first number the test says so, above the
// second it fails.
const (
	fileLines, fileLinesHard = 400, 600
	funcLines, funcLinesHard = 60, 90
)

// source is one parsed file of the module.
type source struct {
	pkg  string // path below the module
	path string // below the repository
	test bool
	file *ast.File
	set  *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var parsed = sync.OnceValues(func() (all []source, err error) {
	found, err := listed()
	for name, p := range found {
		for _, file := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, file), nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			all = append(all, source{
				pkg: name, path: name + "/" + file, test: strings.HasSuffix(file, "_test.go"), file: f, set: set,
			})
		}
	}
	slices.SortFunc(all, func(a, b source) int { return strings.Compare(a.path, b.path) })
	return all, err
})

func TestHousePackageComments(t *testing.T) {
	t.Parallel()
	comments := map[string][]string{}
	for _, s := range sources(t) {
		if !s.test && s.file.Doc != nil {
			comments[s.pkg] = append(comments[s.pkg], s.file.Doc.Text())
		}
	}
	for name, p := range packages(t) {
		switch found := comments[name]; {
		case len(p.GoFiles) == 0:
			t.Errorf("%s has only tests: give it a doc.go that says what they prove", name)
		case len(found) != 1:
			t.Errorf("%s has %d package comments, want one", name, len(found))
		case p.Name == "main" && len(found[0]) < 60,
			p.Name != "main" && (!strings.HasPrefix(found[0], "Package "+p.Name+" ") || len(found[0]) < 80):
			t.Errorf("%s: the package comment must say what its one duty is; it says %q", name, found[0])
		}
	}
}

func TestHouseSizes(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		lines := s.set.File(s.file.Pos()).LineCount()
		tooLong(t, s.path, lines, fileLines, fileLinesHard)
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || s.test {
				continue
			}
			lines := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1
			tooLong(t, s.path+": "+f.Name.Name, lines, funcLines, funcLinesHard)
		}
	}
}

func tooLong(t *testing.T, what string, lines, soft, hard int) {
	t.Helper()
	if lines > hard {
		t.Errorf("%s has %d lines, the limit is %d", what, lines, hard)
	} else if lines > soft {
		t.Logf("note: %s has %d lines, more than %d", what, lines, soft)
	}
}

func TestHouseNoInit(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has a func init: starting up is main's business", s.path)
			}
		}
	}
}

func TestHouseNoUtilPackages(t *testing.T) {
	t.Parallel()
	grabBag := regexp.MustCompile(`^(util|utils|common|helpers?|misc|shared|base|lib)$`)
	for name, p := range packages(t) {
		if grabBag.MatchString(p.Name) {
			t.Errorf("%s: a package is named after its duty", name)
		}
	}
}
