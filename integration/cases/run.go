package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

const module = "github.com/leadlight-dev/leadlight"

// outcome is how one test ended: "pass", "fail" or "skip".
type outcome string

// outcomes are by package folder and full name of the test, subtests included; the
// package's own stands under no name.
type outcomes map[string]map[string]outcome

// failed tells whether anything has.
func (o outcomes) failed() bool {
	for _, tests := range o {
		if slices.Contains(slices.Collect(maps.Values(tests)), "fail") {
			return true
		}
	}
	return false
}

// event is one line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// runProofs runs every proof once, all packages in one go test, and shows the
// output of those that failed on narration.
func runProofs(ctx context.Context, root string, found proofs, narration io.Writer) (outcomes, error) {
	tests, dirs := map[string]bool{}, map[string]bool{}
	for _, list := range found {
		for _, p := range list {
			tests[regexp.QuoteMeta(p.Test)] = true
			dirs[p.Dir] = true
		}
	}
	if len(tests) == 0 {
		return outcomes{}, nil
	}
	pattern := "^(" + strings.Join(slices.Sorted(maps.Keys(tests)), "|") + ")$"
	args := append([]string{"test", "-json", "-timeout", "15m", "-run", pattern}, slices.Sorted(maps.Keys(dirs))...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Stderr = narration
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("go test: %w", err)
	}
	results, readErr := readEvents(out, narration)
	// A failed test makes go test fail; that is in the results already.
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return nil, fmt.Errorf("go test: %w", err)
	}
	return results, errors.Join(readErr, ctx.Err())
}

// readTests takes the outcomes from a run of all tests that somebody else has begun.
func readTests(ctx context.Context, _ string, _ proofs, narration io.Writer) (outcomes, error) {
	results, err := readEvents(os.Stdin, narration)
	return results, errors.Join(err, ctx.Err())
}

// readEvents gathers the outcomes; what a failed test or package printed goes to
// narration.
func readEvents(r io.Reader, narration io.Writer) (outcomes, error) {
	results := outcomes{}
	printed := map[string][]string{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				results.add(e, printed, narration)
			} else {
				fmt.Fprintf(narration, "%s", line)
			}
		}
		if err == io.EOF {
			return results, nil
		}
		if err != nil {
			return results, err
		}
	}
}

func (o outcomes) add(e event, printed map[string][]string, narration io.Writer) {
	dir := "./" + strings.TrimPrefix(e.Package, module+"/")
	top, _, _ := strings.Cut(e.Test, "/")
	key := dir + " " + top
	switch e.Action {
	case "output":
		printed[key] = append(printed[key], e.Output)
	case "build-output":
		fmt.Fprint(narration, e.Output)
	case "pass", "fail", "skip":
		if o[dir] == nil {
			o[dir] = map[string]outcome{}
		}
		o[dir][e.Test] = outcome(e.Action)
		if e.Test == top && e.Action == "fail" {
			fmt.Fprintf(narration, "--- %s\n%s", key, strings.Join(printed[key], ""))
		}
		if e.Test == "" && e.Action != "skip" {
			fmt.Fprintf(narration, "%s %s %.1fs\n", e.Action, dir, e.Elapsed)
		}
		if e.Test == top {
			delete(printed, key)
		}
	}
}

// of returns how the proof ended; "" if it did not run.
func (o outcomes) of(p proof) outcome {
	tests := o[p.Dir]
	if p.Script == "" {
		return tests[p.Test]
	}
	var worst outcome // a case may run in several places
	for name, out := range tests {
		if !strings.HasPrefix(name, p.Test+"/") || !strings.HasSuffix(name, "/"+p.Script) {
			continue
		}
		if out == "fail" || worst == "" || (out == "skip" && worst == "pass") {
			worst = out
		}
	}
	return worst
}

// drop takes the cases of suites that did not run out of the proofs.
func (found proofs) drop(results outcomes) {
	for id, list := range found {
		found[id] = slices.DeleteFunc(list, func(p proof) bool { return p.Suite && results.of(p) == "" })
	}
}
