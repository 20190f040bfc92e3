package teammate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/tail"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// maxResult is how much of a command's output becomes the task's result, in bytes.
const maxResult = 4000

// work is the loop of a worker: mail first, then the next task, then wait. It
// finishes the current task before it obeys a shutdown request.
func (m *teammate) work(ctx context.Context) panes.ExitRecord {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := m.endOnClosing(ctx)
	defer stop()
	hints, err := m.o.Service.Hints(ctx, m.o.Team)
	if err != nil {
		return failed(err)
	}
	m.o.Service = m.o.Service.WithEnviron(m.launch.Dir, m.env, m.host.Closing()) // hooks inherit what it has
	m.show(api.StateActive, "", "")
	w := &rounds{teammate: m, again: claimFirst, said: map[string]bool{}}
	for {
		if m.closing() {
			return panes.ExitRecord{State: api.StateStopped, Reason: m.host.Cause()}
		}
		if asked, err := m.answerShutdown(ctx); asked {
			return panes.ExitRecord{State: api.StateStopped, Reason: "agreed to shut down"}
		} else if err != nil {
			w.trouble("the mail cannot be read just now", err)
		}
		pause := w.next(ctx)
		if pause == 0 {
			continue
		}
		select {
		case <-hints:
		case <-m.host.Closing():
		case <-time.After(pause):
		}
	}
}

// rounds are those of a worker: what it remembers from one to the next.
type rounds struct {
	*teammate
	last  teams.Idle // the task that it worked on last
	idle  bool
	kept  int             // how often in a row hooks have kept it from going idle
	again time.Duration   // until it tries to claim again after a failure
	said  map[string]bool // what was printed since the last claim
}

func (w *rounds) trouble(what string, err error) {
	if line := what + ": " + err.Error(); !w.said[line] {
		w.said[line] = true
		w.print("%s", line)
	}
}

// next carries out the next task. If none is ready it comes to rest, and returns how long it
// waits then. One whom the hooks do not let rest looks for work again: a hook may have added some.
func (w *rounds) next(ctx context.Context) (pause time.Duration) {
	task, err := w.claim(ctx)
	none := fault.CodeOf(err) == fault.NoTaskReady
	if err == nil || none {
		w.again = claimFirst
		clear(w.said)
	}
	if err == nil {
		w.idle, w.kept = false, 0
		w.last = w.run(ctx, task)
		return 0
	}
	pause = claimMost // a hint may have been lost
	if !none {
		pause, w.again = w.again, min(2*w.again, claimAgain)
		w.trouble("no task can be claimed just now", err)
	}
	if w.idle {
		return pause
	}
	if feedback := w.mayIdle(ctx, w.kept); feedback != "" {
		w.print("goes on: %s", feedback)
		w.kept++
		return 0
	}
	w.idle, w.kept = true, 0
	w.show(api.StateIdle, "", "")
	w.tellIdle(ctx, w.last)
	w.last = teams.Idle{}
	return pause
}

// resolved is the status of a completed task in an idle notice.
const resolved = "resolved"

// answerShutdown answers a request to shut down, if there is one.
func (m *teammate) answerShutdown(ctx context.Context) (bool, error) {
	f, asked, err := m.o.Service.Asked(ctx, m.o.Team)
	if err != nil || !asked {
		return false, err
	}
	m.show(api.StateStopping, "", f.Reason)
	if _, err := m.o.Service.AnswerShutdown(ctx, m.o.Team, f.RequestID, true, ""); err != nil {
		return false, fmt.Errorf("agree to shut down: %w", err)
	}
	return true, nil
}

// run carries out one task and writes down what came of it. A task that a hook
// does not let be completed is carried out again, with the hook's feedback in
// LEADLIGHT_FEEDBACK, until the hooks have objected too often.
func (m *teammate) run(ctx context.Context, task api.Task) teams.Idle {
	m.show(api.StateActive, task.ID, "")
	argv, shown := m.o.Service.CommandFor(ctx, m.launch, task)
	m.print("task %s: %s", task.ID, task.Subject)
	if argv == nil {
		return m.fail(ctx, task, inFull("neither the task nor the worker has a command (run:)"))
	}
	input := taskInput{Task: task, Messages: m.ownMail(ctx)}
	feedback := ""
	for range hooks.MaxObjections {
		m.print("$ %s", shown)
		out, why := m.attempt(ctx, argv, input, feedback)
		switch {
		case why == failure{}: // it is done, also if the host has to go now
		case m.closing():
			return teams.Idle{} // RecordExit gives the task back
		default:
			return m.fail(ctx, task, why)
		}
		write := func() error {
			_, err := m.o.Service.CompleteTask(context.WithoutCancel(ctx), m.o.Team, task.ID, out)
			return err
		}
		err := m.retryWrite(write)
		no, objected := errors.AsType[teams.Objection](err)
		switch {
		case err == nil:
			m.print("task %s is completed", task.ID)
			return teams.Idle{TaskID: task.ID, TaskStatus: resolved}
		case fault.CodeOf(err) == fault.LimitReached:
			return m.fail(ctx, task, inFull("it is done, but its result could not be kept: "+err.Error()))
		case givenAway(err):
			return m.gaveAway(task)
		case !objected:
			m.keep(task.ID, err, write)
			m.print("task %s is done, but that could not be written down: %v", task.ID, err)
			return teams.Idle{TaskID: task.ID, TaskStatus: "failed", Fault: err.Error()}
		}
		feedback = no.Feedback
		m.print("task %s stays open: %s", task.ID, feedback)
		if m.closing() {
			return teams.Idle{}
		}
	}
	return m.fail(ctx, task, inFull(feedback))
}

// taskInput is what the command of a task reads: the task, and what has come since the
// last one.
type taskInput struct {
	api.Task
	Messages []api.Message `json:"messages,omitempty"`
}

// ownMail is the worker's unread mail but for requests to shut down, which it answers itself.
func (m *teammate) ownMail(ctx context.Context) []api.Message {
	msgs, err := m.unread(ctx)
	if err != nil {
		m.print("the mail cannot be read just now: %v", err)
	}
	return slices.DeleteFunc(msgs, func(msg api.Message) bool { return msg.Type == store.ShutdownRequest })
}

// handedOver marks the mail as read that the command of a task was given.
func (m *teammate) handedOver(ctx context.Context, msgs []api.Message) {
	var ids []string
	for _, msg := range msgs {
		ids = append(ids, msg.ID)
	}
	if len(ids) == 0 {
		return
	}
	if err := m.markRead(context.WithoutCancel(ctx), ids); err != nil {
		m.print("the mail could not be marked as read: %v", err)
	}
}

// attempt runs the command of a task once. why says why it failed.
func (m *teammate) attempt(ctx context.Context, argv []string, task taskInput, feedback string) (result string, why failure) {
	if why := hooks.ReadsProgram(argv); why != "" {
		return "", inFull(why)
	}
	input, err := json.Marshal(task)
	if err != nil {
		return "", inFull(err.Error())
	}
	id := task.ID
	env := append(m.env[:len(m.env):len(m.env)], "LEADLIGHT_TASK="+id)
	if feedback != "" {
		env = append(env, "LEADLIGHT_FEEDBACK="+feedback)
	}
	out, said := tail.New(maxResult), tail.New(maxResult)
	all := []io.Writer{out, said}
	if speaksStream(argv) {
		s := m.followStream(ctx, id)
		defer s.close()
		all = append(all, s)
	}
	end := &reply{}
	if repliesInEvents(argv) {
		all = append(all, end)
	}
	exit, err := m.host.Run(ctx, host.Command{
		Argv: argv, Dir: m.launch.Dir, Env: env,
		Pipes: true, Stdin: append(input, '\n'), Stdout: io.MultiWriter(all...), Stderr: said,
	})
	switch n := len(task.Messages); {
	case n > 0 && exit.InputRead:
		m.handedOver(ctx, task.Messages)
	case n > 0 && err == nil:
		m.print("the command has not read its input: messages that stay unread: %d", n)
	}
	end.end()
	m.count(ctx, id, end.usage)
	return judge(exit, err, out, said, end)
}

// judge says what came of a command: its result, or why it failed.
func judge(exit host.Exit, err error, out, said *tail.Tail, end *reply) (result string, why failure) {
	if end.found { // not the events, but what the agent says
		out = tail.New(maxResult)
		_, _ = io.WriteString(out, end.text)
		if end.bad || exit.Code == 0 { // else it failed after its reply, and not the reply says why
			said = out
		}
	}
	switch {
	case err != nil:
		return "", inFull(fault.Of(err).Message)
	case exit.Code != 0, end.bad:
		why := whyFailed(exit, said)
		if !end.found { // the pane shows the rest above
			why.shown = howEnded(exit)
		}
		return "", why
	}
	return out.String(), failure{}
}

// count keeps what a task has cost with it.
func (m *teammate) count(ctx context.Context, id string, u api.Usage) {
	if u == (api.Usage{}) {
		return
	}
	if err := m.o.Service.AddUsage(context.WithoutCancel(ctx), m.o.Team, id, u); err != nil {
		m.o.Log.Warn("keep what a task has cost", "error", err)
	}
}

// failure is why a task failed: what the task keeps, and what is said of it in the pane.
type failure struct{ reason, shown string }

func inFull(reason string) failure { return failure{reason, reason} }

// howEnded says how a command ended.
func howEnded(exit host.Exit) string {
	if exit.Signal != "" {
		return "was ended by " + exit.Signal
	}
	return fmt.Sprintf("exited with %d", exit.Code)
}

// whyFailed is the last line of what the command said, and how it ended.
func whyFailed(exit host.Exit, said *tail.Tail) failure {
	why := howEnded(exit)
	if lines := lastLines(said.String()); len(lines) > 0 {
		why = lines[len(lines)-1] + " (" + why + ")"
	}
	return inFull(why)
}

func (m *teammate) fail(ctx context.Context, task api.Task, why failure) teams.Idle {
	m.print("task %s failed: %s", task.ID, why.shown)
	write := func() error {
		_, err := m.o.Service.FailTask(context.WithoutCancel(ctx), m.o.Team, task.ID, why.reason)
		return err
	}
	if err := m.retryWrite(write); givenAway(err) {
		return m.gaveAway(task)
	} else if err != nil {
		m.keep(task.ID, err, write)
		m.print("that could not be written down: %v", err)
	}
	return teams.Idle{TaskID: task.ID, TaskStatus: "failed", Fault: why.reason}
}

// givenAway tells that a task is another's by now, or removed.
func givenAway(err error) bool {
	code := fault.CodeOf(err)
	return code == fault.TaskClaimed || code == fault.TaskNotFound
}

// gaveAway is the end of a task that was given away while its command ran: it has not failed.
func (m *teammate) gaveAway(task api.Task) teams.Idle {
	m.print("task %s was taken from it meanwhile: what its command brought is not kept", task.ID)
	return teams.Idle{}
}

// How long a worker tries to write down what came of a task, before it keeps that until it
// looks for the next one.
const (
	writePause = time.Second // before it tries again
	writeLimit = 10 * time.Minute
)

// passing tells whether what cannot be written down now can be later: a disk that is full, or
// an engine that is away, will not stay so.
func passing(err error) bool {
	switch fault.CodeOf(err) {
	case fault.DiskFull, fault.PermissionDenied, fault.LockTimeout, fault.EngineUnavailable:
		return true
	}
	return false
}

// retryWrite calls do again and again while it fails in passing: what a task has brought must
// not be lost.
func (m *teammate) retryWrite(do func() error) error {
	for began := time.Now(); ; {
		err := do()
		if !passing(err) || time.Since(began) > cmp.Or(m.writeFor, writeLimit) {
			return err
		}
		m.print("that cannot be written down just now: %v", err)
		select {
		case <-m.host.Closing():
			return err
		case <-time.After(writePause):
		}
	}
}

// print writes a line of the host's own on the pane.
func (m *teammate) print(format string, args ...any) {
	line := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\r\n")
	if _, err := fmt.Fprintf(m.host, "leadlight: %s\r\n", line); err != nil && !errors.Is(err, context.Canceled) {
		m.o.Log.Debug("write on the pane", "error", err)
	}
}

// lastLines splits text into lines without the empty ones at the end.
func lastLines(text string) []string {
	text = strings.TrimRight(text, " \r\n\t")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, "\r ")
	}
	return lines
}
