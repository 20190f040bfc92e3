package hooks

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/signals"
)

// readsProgram tells why the hook may not be run: its program would be its input.
func (h Hook) readsProgram() string {
	if h.Exec {
		return ReadsProgram(append([]string{h.Command}, h.Args...))
	}
	return lineReadsProgram(h.Command)
}

// objects is the exit status with which a hook says no.
const objects = 2

// maxReason is how much of a hook's standard error is kept, in bytes.
const maxReason = 16 << 10

// At its limit a hook gets SIGTERM, and SIGKILL after termLimit. drainLimit is how
// long what it wrote is waited for, when a process that it left holds the pipe.
const (
	termLimit  = time.Second
	killLimit  = 2 * time.Second
	drainLimit = 500 * time.Millisecond
)

// Ask asks the hooks of in's event, all at once, and waits for them; each has its
// own limit, at which it is ended with everything it started. list is the environment they
// get, nil for that of this process. The error is that of ctx, and then nobody has
// agreed to anything.
func Ask(ctx context.Context, all []Hook, in Input, list []string) (Answer, error) {
	asked := Of(all, in.HookEventName)
	data, err := in.encode()
	if err != nil {
		return Answer{}, fmt.Errorf("encode the input of the hooks: %w", err)
	}
	said := make([]Answer, len(asked))
	var wg sync.WaitGroup
	for i, h := range asked {
		wg.Go(func() { said[i] = h.ask(ctx, in, data, list) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return Answer{}, fmt.Errorf("ask the hooks of %s: %w", in.HookEventName, err)
	}
	var out Answer
	for _, a := range said {
		out.Objections = append(out.Objections, a.Objections...)
		out.Failures = append(out.Failures, a.Failures...)
	}
	return out, nil
}

// encode is the input as JSON in which no interpreter finds a program: what a shell, Perl
// or Ruby would replace within quotes is escaped. To who reads JSON it is the same.
func (in Input) encode() ([]byte, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	inert := strings.NewReplacer("$", `\u0024`, "`", `\u0060`, "{", `\u007b`)
	return append(data[:1:1], inert.Replace(string(data[1:]))...), nil // the first is no text
}

// ask runs one hook.
func (h Hook) ask(ctx context.Context, in Input, data []byte, list []string) Answer {
	if h.Refusal = cmp.Or(h.Refusal, h.readsProgram()); h.Refusal != "" {
		return Answer{Objections: []Objection{{Hook: h, Reason: h.Refusal}}}
	}
	ctx, cancel := context.WithTimeout(ctx, h.Limit())
	defer cancel()
	said, answered := &head{limit: maxReason}, &head{limit: maxVerdict}
	c, id := h.program(ctx, in, list), rand.Text()
	c.Env = environ.Set(c.Env, hookMark+"="+id)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(string(data)+"\n"), answered, said
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var began signals.Identity
	c.Cancel, c.WaitDelay = func() (err error) {
		began, err = end(c.Process.Pid, id)
		return err
	}, drainLimit
	err := c.Run()
	exit, _ := errors.AsType[*exec.ExitError](err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("it took longer than %s and was ended%s", h.Limit(), maybeLeft(began, c.Dir))
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		if why, no := verdict(in.HookEventName, answered.text(), answered.cut); no {
			return Answer{Objections: []Objection{{Hook: h, Reason: why}}}
		}
		return Answer{}
	case exit != nil && exit.ExitCode() == objects:
		return Answer{Objections: []Objection{{Hook: h, Reason: said.text()}}}
	}
	why := err.Error()
	if text := said.text(); text != "" {
		why += ": " + text
	}
	return Answer{Failures: []Failure{{Hook: h, Why: why}}}
}

// projectDir is the variable by which a hook finds the project, and projectMark the
// way it stands in the command and the arguments of a hook without a shell.
const (
	projectDir  = "CLAUDE_PROJECT_DIR"
	projectMark = "${" + projectDir + "}"
)

// program is the hook's program, not started.
func (h Hook) program(ctx context.Context, in Input, list []string) *exec.Cmd {
	project := cmp.Or(h.Project, in.Cwd)
	name, args := "sh", []string{"-c", h.Command}
	if h.Exec {
		full := strings.NewReplacer(projectMark, project)
		name, args = full.Replace(h.Command), make([]string, len(h.Args))
		for i, a := range h.Args {
			args[i] = full.Replace(a)
		}
	}
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = cmp.Or(h.Dir, in.Cwd)
	if list == nil {
		list = os.Environ()
	}
	c.Env = environ.In(list, c.Dir)
	if project != "" {
		c.Env = environ.Set(c.Env, projectDir+"="+project)
	}
	if h.Plugin != "" {
		c.Env = environ.Set(c.Env, pluginRoot+"="+h.Plugin)
	}
	return c
}

// hookMark is the variable by which what a hook has started is found again, also what
// left its parent and its group.
const hookMark = "LEADLIGHT_HOOK"

// endRounds bounds how often is looked for what a hook started meanwhile.
const endRounds = 5

// end ends a hook with what it started: what is below it, what is in its group, and what
// carries its mark. It returns who the hook was.
func end(pid int, id string) (hook signals.Identity, err error) {
	var errs []error
	hook, _ = signals.Identify(pid)
	group, noGroup := signals.OwnGroup(pid) // while nobody has waited for it
	for range endRounds {
		table, err := signals.Snapshot()
		if err != nil {
			return hook, err
		}
		ours := func(p signals.Process) bool {
			mark, _ := p.Variable(hookMark)
			return mark == id || p.PID == pid && p.PPID == os.Getpid()
		}
		var roots []signals.Proof
		for _, p := range table.All() {
			if !ours(p) {
				continue
			}
			if root, err := signals.Prove(p.Identity, ours); err == nil {
				roots = append(roots, root)
			}
		}
		if len(roots) == 0 {
			break
		}
		_, err = signals.TreeKiller{Roots: roots, Term: termLimit, Kill: killLimit}.Run(context.Background())
		errs = append(errs, err)
	}
	if noGroup == nil {
		if err := group.Signal(syscall.SIGKILL); !errors.Is(err, signals.ErrGone) {
			errs = append(errs, err)
		}
	}
	return hook, errors.Join(errs...)
}

// maybeLeft names what a hook that was ended may have left: what has shed its mark, its
// group and its parents is not proved to be the hook's, and runs on.
func maybeLeft(hook signals.Identity, dir string) string {
	table, err := signals.Snapshot()
	if dir == "" {
		dir, _ = os.Getwd()
	}
	if err != nil || dir == "" {
		return ""
	}
	left := table.Suspects(hook, dir)
	if len(left) == 0 {
		return ""
	}
	return "; what it may have left is not ended: " + strings.Join(signals.Lines(left), ", ")
}

// head keeps the beginning of what is written to it. It never fails, so that a
// hook that says much is not stopped by it.
type head struct {
	limit int
	buf   []byte
	cut   bool // more came
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.limit-len(h.buf))
	h.buf, h.cut = append(h.buf, p[:n]...), h.cut || n < len(p)
	return len(p), nil
}

// text is what was written, fit to be shown: without control characters but line
// breaks and tabs.
func (h *head) text() string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(h.buf), "")))
}
