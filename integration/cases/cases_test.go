package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTablesAreSound(t *testing.T) {
	for name, want := range map[string]int{"cases.tsv": 157, "checklist.tsv": 96} {
		if items := table(t, name); len(items) < want {
			t.Errorf("%s has %d items, want %d or more", name, len(items), want)
		}
	}
}

// table is one of the tables.
func table(t *testing.T, name string) []item {
	t.Helper()
	data, err := tables.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	items, err := parseTable(name, string(data))
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// discovered are the proofs that this module has, and where it is.
func discovered(t *testing.T) (root string, found proofs) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if found, err = discover(root); err != nil {
		t.Fatal(err)
	}
	return root, found
}

func TestParseTableRefuses(t *testing.T) {
	for _, text := range []string{"SP-01\tP0\tnow", "SP-1\tP0\tnow\tx", "SP-01\tP0\tnow\t", "SP-01\tP0\tnow\tx\nSP-01\tP0\tnow\ty", ""} {
		if _, err := parseTable("t", text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestEveryNamedIdIsInATable: an id in a test's name that no table holds is a slip of
// the pen.
func TestEveryNamedIdIsInATable(t *testing.T) {
	_, found := discovered(t)
	known := map[string]bool{}
	for _, name := range []string{"cases.tsv", "checklist.tsv"} {
		for _, it := range table(t, name) {
			known[it.ID] = true
		}
	}
	for id, list := range found {
		if !known[id] {
			t.Errorf("%s of %s is in no table", id, list[0])
		}
	}
}

func TestDiscover(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/a_test.go", "package a\nfunc TestIB03_A18_Both(t T) {}\nfunc TestOther(t T) {}\nfunc TestUTF16_SP01(t T) {}\n")
	write("a/x_plan9_test.go", "package a\nfunc TestSP02_Elsewhere(t T) {}\n")
	write("b/s_test.go", "package b\nfunc TestScripts(t T) { for range x { testscript.Run(t, p) } }\n")
	write("b/testdata/script/up/life.txtar", "# SH-01, SH-04: as it says\n# T-03\nexec x SP-09\n-- f --\n# SP-11\n")
	write("teams/store/storetest/mail.go", "package storetest\nvar cases = []string{\"IB01_Many\", \"no id\"}\n")
	write("c/suite_test.go", "package c\nfunc TestMail(t *testing.T) { storetest.TestMail(t) }\n")
	found, err := discover(root)
	if err != nil {
		t.Fatal(err)
	}
	script := proof{"./b", "TestScripts", "life", false}
	want := map[string]proof{
		"IB-03": {"./a", "TestIB03_A18_Both", "", false}, "A-18": {"./a", "TestIB03_A18_Both", "", false},
		"SH-01": script, "SH-04": script, "T-03": script,
		"IB-01": {"./c", "TestMail", "IB01_Many", true},
	}
	for id, p := range want {
		if !slices.Equal(found[id], []proof{p}) {
			t.Errorf("%s: found %v, want %v", id, found[id], p)
		}
	}
	if len(found) != len(want) {
		t.Errorf("found %v, want %d ids", found, len(want))
	}
}

func TestJudge(t *testing.T) {
	found := proofs{
		"SP-01": {{"./a", "TestSP01", "", false}, {"./b", "TestScripts", "life", false}},
		"SP-02": {{"./a", "TestSP01", "", false}, {"./a", "TestSkipped", "", false}},
		"SP-03": {{"./a", "TestGone", "", false}},
	}
	events := `{"Action":"pass","Package":"` + module + `/a","Test":"TestSP01"}
{"Action":"output","Package":"` + module + `/a","Test":"TestBad/x","Output":"what went wrong\n"}
{"Action":"fail","Package":"` + module + `/a","Test":"TestBad"}
{"Action":"skip","Package":"` + module + `/a","Test":"TestSkipped"}
{"Action":"pass","Package":"` + module + `/b","Test":"TestScripts/up/life"}
`
	var narration strings.Builder
	results, err := readEvents(strings.NewReader(events), &narration)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(narration.String(), "what went wrong") {
		t.Errorf("the output of a failed test is not shown: %q", narration.String())
	}
	if !results.failed() {
		t.Error("a failed test that proves nothing is passed over")
	}
	items := []item{{ID: "SP-01", Weight: "P0"}, {ID: "SP-02", Weight: "P0"}, {ID: "SP-03", Weight: "P1"},
		{ID: "SP-04", Weight: "P0"}, {ID: "SP-05", Weight: "P0", Needs: "needs x"}}
	want := []standing{pass, fail, fail, open, later}
	for i, it := range items {
		if got, _ := judge(it, found, results); got != want[i] {
			t.Errorf("%s: %s, want %s", it.ID, got, want[i])
		}
	}
	for i, ok := range []bool{true, false, false, false, true} {
		var out strings.Builder
		if got := report(&out, "cases.tsv", items[i:i+1], found, results); got != ok {
			t.Errorf("report of %s: %v, want %v\n%s", items[i].ID, got, ok, out.String())
		}
	}
}

// TestThePageNamesTheCases: docs/cases.md has a row for each X case.
func TestThePageNamesTheCases(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range table(t, "cases.tsv") {
		if strings.HasPrefix(item.ID, "X") && !strings.Contains(string(page), "\n| "+item.ID+" |") {
			t.Errorf("docs/cases.md has no row for %s", item.ID)
		}
	}
}

// TestTheFoundingRequirementsHaveProofs: each row of docs/seeds.md is full, and names tests
// that are there.
func TestTheFoundingRequirementsHaveProofs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "seeds.md"))
	if err != nil {
		t.Fatal(err)
	}
	there := namesOfTests(t)
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || cells[0] == "| asked" {
			continue
		}
		rows++
		if len(cells) != 3 || slices.ContainsFunc(cells, func(c string) bool { return len(strings.Trim(c, "| ")) < 2 }) {
			t.Errorf("a row is not full: %s", line)
			continue
		}
		named := regexp.MustCompile("`(Test[A-Za-z0-9_]+)(?:/([a-zA-Z0-9_]+))?`").FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("a row without a proof: %s", line)
		}
		for _, name := range named {
			if !there[name[1]] || name[2] != "" && !there[name[2]] {
				t.Errorf("there is no %s", name[0])
			}
		}
	}
	if rows < 100 {
		t.Errorf("%d rows", rows)
	}
}

// namesOfTests are the tests, the cases of suites and the scripts of the module.
func namesOfTests(t *testing.T) map[string]bool {
	t.Helper()
	there := map[string]bool{}
	name := regexp.MustCompile(`^func (Test\w+)|^\s+"(\w+)":\s+test\w+,`)
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case strings.HasSuffix(path, ".txtar"):
			there[strings.TrimSuffix(d.Name(), ".txtar")] = true
		case strings.HasSuffix(path, ".go"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(text)) {
				if !strings.HasPrefix(line, "func Test") && !strings.Contains(line, "test") { // quicker than the pattern
					continue
				}
				if found := name.FindStringSubmatch(line); found != nil {
					there[found[1]+found[2]] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return there
}
