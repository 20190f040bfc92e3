package main

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// proof is one test function, or one script or case of a suite and the test
// function that runs it.
type proof struct {
	Dir    string // of its package, slash path below the module's root, such as "./panes/host"
	Test   string // name of the test function
	Script string // name of the script without its ending, or of the suite's case; "" for a plain test
	Suite  bool   // a case of a suite: not every test that runs the suite runs all of it
}

func (p proof) String() string {
	if p.Script != "" {
		return p.Dir + " " + p.Test + "/" + p.Script
	}
	return p.Dir + " " + p.Test
}

// proofs are the proofs found, by id.
type proofs map[string][]proof

var (
	idInName   = regexp.MustCompile(`^([A-Z]{1,2})([0-9]{2})$`)
	idsInNote  = regexp.MustCompile(`^#\s*((?:[A-Z]{1,2}-[0-9]{2}[\s,;:.]*)+)`)
	idInScript = regexp.MustCompile(`[A-Z]{1,2}-[0-9]{2}`)
	caseName   = regexp.MustCompile(`^[A-Z]{1,2}[0-9]{2}_`)
)

// suites are the packages of cases that several implementations run, by the name
// under which they are called.
func suites() map[string]string {
	return map[string]string{"storetest": "teams/store/storetest", "backendtest": "backend/backendtest"}
}

// discover looks through every package below root.
func discover(root string) (proofs, error) {
	found := proofs{}
	called, err := suiteCases(root)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		// A file for another system proves nothing here.
		if fits, err := build.Default.MatchFile(filepath.Dir(path), name); err != nil || !fits {
			return err
		}
		return found.addFile(root, path, called)
	})
	return found, err
}

// addFile adds the proofs of one file of tests; called are the cases of the suites.
func (found proofs) addFile(root, path string, called map[string][]string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return err
	}
	dir := "./" + filepath.ToSlash(rel)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		for _, id := range idsOfName(f.Name.Name) {
			found[id] = append(found[id], proof{Dir: dir, Test: f.Name.Name})
		}
		for suite, cases := range called {
			if !calls(f, suite) {
				continue
			}
			for _, c := range cases {
				for _, id := range idsOfName("Test" + c) {
					found[id] = append(found[id], proof{Dir: dir, Test: f.Name.Name, Script: c, Suite: true})
				}
			}
		}
		if calls(f, "testscript") {
			if err := found.addScripts(filepath.Dir(path), dir, f.Name.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// idsOfName finds SP-01 and SP-02 in TestSP01_SP02_Together.
func idsOfName(test string) []string {
	var ids []string
	for part := range strings.SplitSeq(strings.TrimPrefix(test, "Test"), "_") {
		m := idInName.FindStringSubmatch(part)
		if m == nil {
			break
		}
		ids = append(ids, m[1]+"-"+m[2])
	}
	return ids
}

// calls tells whether the test calls a function Run…, Test… or Cases of a package.
func calls(f *ast.FuncDecl, pkg string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, isIdent := s.X.(*ast.Ident)
			found = found || isIdent && x.Name == pkg && (strings.HasPrefix(s.Sel.Name, "Run") || strings.HasPrefix(s.Sel.Name, "Test") || s.Sel.Name == "Cases")
		}
		return !found
	})
	return found
}

// suiteCases finds the names of cases in the suites: string literals that begin
// with an id.
func suiteCases(root string) (map[string][]string, error) {
	out := map[string][]string{}
	for name, folder := range suites() {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && caseName.MatchString(text) {
						out[name] = append(out[name], text)
					}
				}
				return true
			})
		}
	}
	return out, nil
}

// addScripts looks for ids in the comments of a package's scripts.
func (found proofs) addScripts(folder, dir, test string) error {
	err := filepath.WalkDir(filepath.Join(folder, "testdata"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txtar" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		for _, id := range idsOfScript(string(data)) {
			found[id] = append(found[id], proof{Dir: dir, Test: test, Script: name})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// idsOfScript finds the ids at the beginning of comment lines, up to the first
// file of the archive.
func idsOfScript(text string) []string {
	var ids []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "-- ") {
			break
		}
		if m := idsInNote.FindStringSubmatch(line); m != nil {
			ids = append(ids, idInScript.FindAllString(m[1], -1)...)
		}
	}
	return ids
}

// moduleRoot is the folder of go.mod, here or above.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod here or above")
		}
	}
}
