package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/leadlight-dev/leadlight/backend/backendtest"
)

// marks say, in a test or a script, that it runs with teammates that have no terminal.
var marks = regexp.MustCompile(`everywhere\(|newHeadless\(|r\.headless\(|LEADLIGHT_BACKEND=headless|^[^\n]*\(also headless\)\n`)

// TestHeadlessColumnIsTrue: what the table of cases says of a life without a terminal is
// what the proofs do.
func TestHeadlessColumnIsTrue(t *testing.T) {
	root, found := discovered(t)
	items := table(t, "cases.tsv")
	suite := map[string]bool{}
	for _, c := range backendtest.Cases(backendtest.Opts{NoFocus: true, NoBorder: true, NoFreeze: true, NoKill: true}) { // as the backend's own test has it
		suite[c.Name] = true
	}
	texts := sources{}
	for _, it := range items {
		by := ""
		for _, p := range found[it.ID] {
			if p.Dir == "./backend/headless" && (!p.Suite || suite[p.Script]) || !p.Suite && marks.MatchString(texts.of(t, root, p)) {
				by = p.String()
				break
			}
		}
		switch {
		case by != "" && it.Headless != Both:
			t.Errorf("%s: the table says %q, but %s runs without a terminal", it.ID, it.Headless, by)
		case by == "" && (it.Headless == Both || it.Headless == ""):
			t.Errorf("%s: the table says %q, but no proof runs without a terminal", it.ID, it.Headless)
		}
	}
}

// sources are the texts of scripts and tests, by what a proof says of them.
type sources map[string]string

// of is the text of a proof; the tests of a folder are read once.
func (all sources) of(t *testing.T, root string, p proof) string {
	t.Helper()
	dir := filepath.Join(root, filepath.FromSlash(p.Dir))
	if p.Script != "" {
		data, err := os.ReadFile(filepath.Join(dir, "testdata", "script", p.Script+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if _, known := all[dir]; !known {
		all[dir] = ""
		all.read(t, dir)
	}
	return all[dir+" "+p.Test]
}

func (all sources) read(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				all[dir+" "+f.Name.Name] = string(text[set.Position(f.Pos()).Offset:set.Position(f.End()).Offset])
			}
		}
	}
}
