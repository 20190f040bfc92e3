package integration_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestXS43_AskedOnceAndRemembered: whoever stands at a terminal is asked once whether a folder
// with hooks is trusted; before the answer nothing of it runs, and after a yes it always does.
func TestXS43_AskedOnceAndRemembered(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	ran := r.path("ran")
	file := r.path("work", ".claude", "settings.json")
	settings := `{"hooks":{"TaskCompleted":[{"hooks":[{"type":"command","command":"echo ran >> ` + ran + `"}]}]}}`
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	r.team("alpha")
	for range 4 {
		r.must("task", "add", "x")
	}
	const question = "Do you trust this folder? [y/N]"
	times := func() int {
		text, _ := os.ReadFile(ran)
		return strings.Count(string(text), "ran")
	}
	for i, answer := range []string{"n", "y"} {
		p := r.sits(t, 24, 100, "task", "done", []string{"1", "2"}[i])
		p.sees(r, question)
		if times() != 0 {
			t.Error("the hook ran before the answer")
		}
		p.types(answer + "\r")
		if err := p.cmd.Wait(); err != nil || times() != i {
			t.Errorf("after %s: %v, the hook ran %d times", answer, err, times())
		}
	}
	p := r.sits(t, 24, 100, "task", "done", "3")
	if err := p.cmd.Wait(); err != nil || p.has(question) || times() != 2 {
		t.Errorf("asked again: %v, the hook ran %d times", p.has(question), times())
	}
	if r.must("task", "done", "4"); times() != 3 {
		t.Errorf("without a terminal the answer is not known: the hook ran %d times", times())
	}
	r.must("down")
}
