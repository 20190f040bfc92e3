package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestTeamFilesThatAreRight(t *testing.T) {
	for _, path := range samples(t, "good") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := ParseTeamFile(filepath.Base(path), "/here", data)
			if err != nil {
				t.Fatal(err)
			}
			_, getenv := machine(t, nil, nil)
			s, err := Load(Sources{Getenv: getenv, Team: f})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, path, said(t, map[string]any{"plan": f.Plan, "profiles": f.Profiles, "layout": s.Layout()}))
		})
	}
}

// said writes what v holds besides zero values, in the order of the names.
func said(t *testing.T, v any) string {
	t.Helper()
	var tree any
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &tree)
	}
	if err == nil {
		b, err = json.MarshalIndent(withoutZeros(tree), "", "  ")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

func withoutZeros(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if e = withoutZeros(e); e == nil {
				delete(x, k)
			} else {
				x[k] = e
			}
		}
		if len(x) == 0 {
			return nil
		}
	case []any:
		for i := range x {
			x[i] = withoutZeros(x[i])
		}
	case string, float64, bool:
		if x == "" || x == 0.0 || x == false {
			return nil
		}
	}
	return v
}

func TestTeamFilesThatAreWrong(t *testing.T) {
	for _, path := range samples(t, "bad") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = ParseTeamFile(filepath.Base(path), "/here", data)
			if err == nil {
				t.Fatal("accepted")
			}
			if code := fault.CodeOf(err); code != fault.TeamFile && code != fault.Unsupported {
				t.Errorf("code %s", code)
			}
			golden(t, path, string(fault.CodeOf(err))+"\n"+err.Error()+"\n")
		})
	}
}

func samples(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples in %s: %v", dir, err)
	}
	return paths
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	path = strings.TrimSuffix(path, ".yaml") + ".golden"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// The profile that help and docs/agents.md show is right, and no longer than they say.
func TestAProfileInTenLines(t *testing.T) {
	f, err := ParseTeamFile("x.yaml", "/here", []byte("team: abc\nmembers: [{name: a, agent: mycli, model: small-1}]\n"+ProfileExample))
	if err != nil || f.Profiles["mycli"].Kind != profiles.Interactive {
		t.Fatalf("%+v, %v", f, err)
	}
	if n := strings.Count(ProfileExample, "\n"); n != 10 {
		t.Errorf("%d lines", n)
	}
	page, err := os.ReadFile("../../../docs/agents.md")
	if err != nil || !strings.Contains(string(page), ProfileExample) {
		t.Errorf("docs/agents.md shows another one (%v)", err)
	}
}

// The golden files show no zero values: what is given and empty is looked at here.
func TestWhatIsLeftOutOfATeamFile(t *testing.T) {
	f, err := ParseTeamFile("x.yaml", "/here", []byte("team: one-two\nmembers: [{name: a, command: [x], worktree: true}, {name: b, command: [x]}]\ntasks: [{subject: s}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if m := f.Plan.Members; m[0].Worktree == nil || *m[0].Worktree != "" || m[1].Worktree != nil || f.Plan.Tasks[0].Metadata != nil {
		t.Errorf("%+v", f.Plan)
	}
}

func TestTheStarterIsATeamFile(t *testing.T) {
	f, err := ParseTeamFile("leadlight.yaml", "/here", []byte(Starter))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Plan.Members) != 2 || len(f.Plan.Tasks) != 3 {
		t.Errorf("%d members, %d tasks", len(f.Plan.Members), len(f.Plan.Tasks))
	}
}

func TestAFileThatIsNotThere(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "no.yaml"), t.TempDir()} {
		_, err := ReadTeamFile(path)
		if fault.CodeOf(err) != fault.TeamFile || !strings.Contains(err.Error(), path) || fault.Of(err).Hint == "" {
			t.Errorf("%v", err)
		}
	}
}

// A file at the limit is refused or read in reasonable time, never hung on.
func TestALargeTeamFile(t *testing.T) {
	prompt := strings.Repeat("  Look at every line of it.\n", 1<<20/28)
	start := time.Now()
	f, err := ParseTeamFile("x.yaml", "/", []byte("team: abc\nmembers:\n- name: a\n  command: [ls]\n  prompt: |\n    x\n"+strings.ReplaceAll(prompt, "  Look", "    Look")))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.Plan.Members[0].Prompt); n < 1<<19 {
		t.Errorf("prompt of %d bytes", n)
	}
	if _, err := ParseTeamFile("x.yaml", "/", make([]byte, maxFile+1)); fault.CodeOf(err) != fault.TeamFile {
		t.Errorf("too large: %v", err)
	}
	long := "team: abc\nmembers: [{name: a, command: [ls]}]\ntasks:\n- {subject: x, description: " + strings.Repeat("d", store.MaxMessage) + "}\n"
	if _, err := ParseTeamFile("x.yaml", "/", []byte(long)); err == nil || !strings.Contains(err.Error(), "x.yaml:4:3: the text of the task has 1048577 bytes") {
		t.Errorf("a task that no store takes: %.200v", err)
	}
	long = "team: abc\nmembers: [{name: a, command: [ls], prompt: " + strings.Repeat("p", store.MaxPrompt+1) + "}]\n"
	if _, err := ParseTeamFile("x.yaml", "/", []byte(long)); err == nil || !strings.Contains(err.Error(), "x.yaml:2:44: the prompt has") {
		t.Errorf("a prompt that no store takes: %.200v", err)
	}
	if d := time.Since(start); d > 3*time.Minute { // what hangs does so for ever
		t.Errorf("took %s", d)
	}
}

func TestNearest(t *testing.T) {
	words := []string{"members", "team", "tasks", "up", "down", "stop"}
	for word, want := range map[string]string{
		"memebrs": "members", "taem": "team", "task": "tasks", "xyz": "", "Tasks": "tasks", "dwon": "down",
		"stpo": "stop", "q": "", strings.Repeat("x", 10_000): "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", word, got, want)
		}
	}
}

func FuzzTeamFile(f *testing.F) {
	for _, dir := range []string{"good", "bad"} {
		paths, _ := filepath.Glob(filepath.Join("testdata", dir, "*.yaml"))
		for _, p := range paths {
			if data, err := os.ReadFile(p); err == nil {
				f.Add(data)
			}
		}
	}
	f.Add([]byte(Starter))
	f.Add([]byte("team: abc\n" + ProfileExample))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ParseTeamFile("f.yaml", "/here", data)
		if (got == nil) == (err == nil) {
			t.Fatalf("%v, %v", got, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("an error without a place: %v", err)
		}
		_, _ = parseUserFile("u.yaml", data)
	})
}

// Every template is a team file as it stands, for a team that is named after its folder.
func TestXD08_XH07_TheTemplatesAreTeamFiles(t *testing.T) {
	for _, info := range Templates() {
		text, ok := Template(info.Name, TeamNameOf("My Project 2"), []string{"claude", "codex"})
		if !ok || strings.Contains(text, "AGENT") {
			t.Fatalf("%s: %v\n%s", info.Name, ok, text)
		}
		f, err := ParseTeamFile("leadlight.yaml", "/here", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		if f.Plan.Team.Name != "my-project-2" || len(f.Plan.Members) == 0 || len(f.Plan.Tasks) == 0 {
			t.Errorf("%s: %+v", info.Name, f.Plan.Team)
		}
	}
	for folder, want := range map[string]string{"a": "team-a", "": "team", "x_y": "x-y", "日本": "team", strings.Repeat("b", 80): strings.Repeat("b", 64)} {
		if got := TeamNameOf(folder); got != want {
			t.Errorf("folder %q: team %q, want %q", folder, got, want)
		}
	}
}

// The recipes are what init writes where three agents are installed, each with a picture.
func TestXD08_TheRecipesAreTheTemplates(t *testing.T) {
	page, err := os.ReadFile("../../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"review", "feature", "research", "nightly", "lead"} {
		text, ok := Template(name, name, []string{"claude", "codex", "gemini"})
		if ok && !bytes.Contains(page, []byte("```yaml\n"+text+"```\n")) {
			t.Errorf("docs/recipes.md shows the template %s otherwise:\n%s", name, text)
		}
		picture := "pictures/recipe-" + name + ".svg"
		if _, err := os.Stat("../../../docs/" + picture); err != nil || !bytes.Contains(page, []byte("]("+picture+")")) {
			t.Errorf("docs/recipes.md shows no picture of %s: %v", name, err)
		}
	}
}

// What the recipes and the README show can be copied and used as it is.
func TestTheFilesOfTheDocsAreTeamFiles(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	for page, least := range map[string]int{"docs/recipes.md": 4, "README.md": 1} {
		text, err := os.ReadFile(filepath.Join("../../..", page))
		if err != nil {
			t.Fatal(err)
		}
		files := 0
		for _, block := range blocks.FindAllSubmatch(text, -1) {
			if !bytes.Contains(block[1], []byte("team: ")) {
				continue
			}
			files++
			if _, err := ParseTeamFile(page, "/here", block[1]); err != nil {
				t.Errorf("%s: %v\n%s", page, err, block[1])
			}
		}
		if files < least {
			t.Errorf("%s shows %d team files, want at least %d", page, files, least)
		}
	}
}
