package backendtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

func openCases() []testCase {
	return []testCase{
		{"QU01_QU03_QU10_ArgvIsExact", nil, argvIsExact},
		{"SP03_LongArgv", nil, longArgv},
		{"SE09_DirIsExact", nil, dirIsExact},
		{"SP02_BatchOfTen", nil, batchOfTen},
		{"SP02_FiftyAtOnce", nil, fiftyAtOnce},
		{"SP11_InstantExit", nil, instantExit},
		{"SP13_BadSpecs", nil, badSpecs},
		{"CancelBefore", nil, cancelBefore},
		{"CancelBetween", nil, cancelBetween},
	}
}

func argvIsExact(t T, r *rig) {
	marker := filepath.Join(r.dir, "marker")
	want := []string{
		"two words", `q"uo'te`, ";", "x;", `x\;`, "a;b", ";;", "", "nl\nline", "tab\tcr\rend", "-----BEGIN", "-t", "--",
		"$HOME", "`touch " + marker + "`", "$(touch " + marker + ")", "#(touch " + marker + ")", "#{pane_id}", "##", "!!", "%1", "{", "}", "~",
		"研究員 é", "\\", `\037`, "\x1b[31m", "*", "Enter", "C-c", "last;",
	}
	r.open(r.spec("exact", want...))
	if got, _ := r.recorded("exact"); !slices.Equal(got, want) {
		t.Errorf("the program saw\n%q, not\n%q", got, want)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("an argument was run as a command")
	}
}

func longArgv(t T, r *rig) {
	long := strings.Repeat("0123456789abcde;", 9<<10/16)
	deep := filepath.Join(r.dir, strings.Repeat("d", 200), strings.Repeat("e", 200), strings.Repeat("f", 200))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	s := r.spec("long", long, "end")
	s.Dir = deep
	r.open(s)
	args, dir := r.recorded("long")
	if !slices.Equal(args, []string{long, "end"}) {
		t.Errorf("an argument of %d bytes did not arrive whole", len(long))
	}
	if filepath.Base(dir) != filepath.Base(deep) {
		t.Errorf("the program runs in %s", dir)
	}
}

func dirIsExact(t T, r *rig) {
	names := []string{"my dir", "it's $(touch X) `id`;x", "#(touch marker)", "dir #{pid}", "##", "new\nline", "研究", "end;", "-d", "%5", `back\slash`}
	var specs []backend.Spec
	for i, name := range names {
		s := r.spec(fmt.Sprintf("a%d", i))
		s.Dir = filepath.Join(r.dir, "dirs", name)
		if err := os.MkdirAll(s.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		specs = append(specs, s)
	}
	r.open(specs...)
	for i, s := range specs {
		want, err := filepath.EvalSymlinks(s.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := r.recorded(fmt.Sprintf("a%d", i)); got != want {
			t.Errorf("the program runs in %q, not in %q", got, want)
		}
	}
	// A folder's name that was run would have written into one of these.
	for _, where := range []string{".", r.dir, os.Getenv("HOME")} {
		for _, file := range []string{"marker", "X"} {
			if _, err := os.Stat(filepath.Join(where, file)); err == nil {
				t.Errorf("a folder's name was run as a command: %s is in %s", file, where)
			}
		}
	}
}

func batchOfTen(t T, r *rig) {
	var specs []backend.Spec
	for i := range 10 {
		agent := fmt.Sprintf("b%d", i)
		specs = append(specs, r.spec(agent, "I am "+agent))
	}
	opened := r.open(specs...)
	ids := map[backend.ID]bool{}
	for i, p := range opened {
		if p.Mark != specs[i].Mark {
			t.Errorf("result %d carries the mark of %s", i, p.Mark.Agent)
		}
		ids[p.ID] = true
		if args, _ := r.recorded(specs[i].Mark.Agent); !slices.Equal(args, []string{"I am " + specs[i].Mark.Agent}) {
			t.Errorf("%s saw %q", specs[i].Mark.Agent, args)
		}
	}
	if len(ids) != 10 {
		t.Errorf("%d different panes, want 10", len(ids))
	}
	if got := agents(r.list()); len(got) != 10 || got[0] != "b0" || got[9] != "b9" {
		t.Errorf("listed are %v", got)
	}
}

func fiftyAtOnce(t T, r *rig) {
	const n = 50
	var wg sync.WaitGroup
	results := make([]backend.Result, n)
	for i := range n {
		wg.Go(func() {
			results[i] = r.Backend.Open(t.Context(), []backend.Spec{r.spec(fmt.Sprintf("c%02d", i), "arg")})[0]
		})
	}
	wg.Wait()
	ids := map[backend.ID]bool{}
	for i, res := range results {
		if res.Err != nil {
			t.Fatalf("open %d of %d at once: %v", i, n, res.Err)
		}
		ids[res.Pane.ID] = true
	}
	if got := agents(r.list()); len(ids) != n || len(slices.Compact(got)) != n {
		t.Errorf("%d ids, listed are %v", len(ids), got)
	}
	for i := range n {
		r.recorded(fmt.Sprintf("c%02d", i))
	}
}

// A program that ends at once is an error or a dead or a missing pane; it does not
// disturb the rest of the batch.
func instantExit(t T, r *rig) {
	specs := []backend.Spec{
		r.spec("before"),
		r.script("succeeds", "exit 0"),
		r.script("fails", "exit 3"),
		r.spec("after"),
	}
	results := r.Backend.Open(t.Context(), specs)
	for i, agent := range map[int]string{0: "before", 3: "after"} {
		if results[i].Err != nil {
			t.Errorf("%s: %v", agent, results[i].Err)
		}
		r.recorded(agent)
	}
	for _, res := range results[1:3] {
		if res.Err != nil && !errors.Is(res.Err, fault.SpawnFailed) {
			t.Errorf("a program that ended at once: %v", res.Err)
		}
	}
	r.eventually("no pane shows an ended program as running", func() bool {
		return !slices.ContainsFunc(r.list(), func(p backend.Pane) bool {
			return !p.Dead && (p.Mark.Agent == "succeeds" || p.Mark.Agent == "fails")
		})
	})
	for _, p := range r.list() {
		r.close(p)
	}
	r.left()
}

func badSpecs(t T, r *rig) {
	gone := filepath.Join(r.dir, "gone")
	file := filepath.Join(r.dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	change := func(agent string, f func(*backend.Spec)) backend.Spec {
		s := r.spec(agent)
		f(&s)
		return s
	}
	type refusal struct {
		spec backend.Spec
		code fault.Code
		says string
	}
	bad := []refusal{
		{change("gone", func(s *backend.Spec) { s.Dir = gone }), fault.InvalidArgument, gone},
		{change("file", func(s *backend.Spec) { s.Dir = file }), fault.InvalidArgument, file},
		{change("relative", func(s *backend.Spec) { s.Dir = "some/where" }), fault.InvalidArgument, "some/where"},
		{change("nodir", func(s *backend.Spec) { s.Dir = "" }), fault.InvalidArgument, ""},
		{change("noprogram", func(s *backend.Spec) { s.Argv = []string{"/no/such/program", "x"} }), fault.ProgramNotFound, "/no/such/program"},
		{change("oneword", func(s *backend.Spec) { s.Argv = []string{"sleep 1000"} }), fault.InvalidArgument, "sleep 1000"},
		{change("noword", func(s *backend.Spec) { s.Argv = nil }), fault.InvalidArgument, ""},
		{change("nul", func(s *backend.Spec) { s.Argv = []string{"sleep", "1000\x00"} }), fault.InvalidArgument, "NUL"},
		{change("chain", func(s *backend.Spec) { s.Place, s.Chain = backend.Split, 99 }), fault.InvalidArgument, "99"},
		{change("place", func(s *backend.Spec) { s.Place = "moon" }), fault.InvalidArgument, "moon"},
	}
	if closed := filepath.Join(r.dir, "closed"); os.Geteuid() != 0 { // root enters every folder
		if err := os.Mkdir(closed, 0); err != nil {
			t.Fatal(err)
		}
		bad = append(bad, refusal{change("closed", func(s *backend.Spec) { s.Dir = closed }), fault.PermissionDenied, closed})
	}
	specs := []backend.Spec{r.spec("first")}
	for _, b := range bad {
		specs = append(specs, b.spec)
	}
	results := r.Backend.Open(t.Context(), append(specs, r.spec("last")))
	for i, b := range bad {
		err := results[i+1].Err
		if !errors.Is(err, b.code) || !strings.Contains(fmt.Sprint(err), b.says) {
			t.Errorf("%s: %v, want %s with %q", b.spec.Mark.Agent, err, b.code, b.says)
		}
	}
	r.left("first", "last")
}

func cancelBefore(t T, r *rig) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, res := range r.Backend.Open(ctx, []backend.Spec{r.spec("x"), r.spec("y")}) {
		if !errors.Is(res.Err, context.Canceled) {
			t.Errorf("open: %v", res.Err)
		}
	}
	if _, err := r.Backend.List(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
	r.left()
}

// A batch that is cancelled on its way is there as a whole or not at all.
func cancelBetween(t T, r *rig) {
	var specs []backend.Spec
	for i := range 5 {
		specs = append(specs, r.spec(fmt.Sprintf("k%d", i)))
	}
	for _, after := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 40 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		failed := 0
		for _, res := range r.Backend.Open(ctx, specs) {
			if res.Err != nil {
				failed++
				if !errors.Is(res.Err, context.DeadlineExceeded) {
					t.Errorf("after %v: %v", after, res.Err)
				}
			}
		}
		cancel()
		list := r.list()
		if len(list)+failed != len(specs) || failed != 0 && failed != len(specs) {
			t.Errorf("after %v: %d failed, left are %v", after, failed, agents(list))
		}
		for _, p := range list {
			r.close(p)
		}
	}
}
