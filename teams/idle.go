package teams

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Reasons of an idle notice. Claude Code's own teammates give the first, and know
// interrupted and failed besides; the others say more, to those who read it.
const (
	IdleAvailable = "available"        // it takes whatever comes
	IdleWaiting   = "waiting_response" // it goes on when it has an answer
	IdleDone      = "task_complete"    // it has completed a task since it last told of itself
)

// How long the parts of an idle notice are at most, in characters, as Claude Code has
// them.
const (
	maxIdleResult = 4000
	maxIdleFault  = 200
)

// Idle is what a teammate tells its lead when it has come to rest.
type Idle struct {
	Question                  string // what it asks a person, "" for nothing: it waits for the answer
	TaskID, TaskStatus, Fault string // the task that it had: resolved, or failed and why
	Summary, Result           string // of what it did
}

// TellIdle tells the lead that the caller has come to rest, and why: it waits for an
// answer, to its question or to a plan or request of its own that is open; it has
// completed a task; or it is available. A Claude Code that leads gets the reason that
// every version knows, and a question in plain words.
func (ms *messenger) TellIdle(ctx context.Context, team string, i Idle) error {
	t, m, err := ms.find(ctx, team, ms.caller.Name)
	if err != nil {
		return err
	}
	if isLead(t, m.Name) {
		return fault.New(fault.InvalidArgument, "the lead has nobody to tell that it is idle").WithHint("a teammate tells that: --as NAME")
	}
	if i.Question != "" && !t.LedByUs() {
		return ms.tellLead(ctx, t, m, fmt.Sprintf("%s waits until somebody answers it in its pane: %s", m.Name, i.Question), m.Name+" asks something")
	}
	f := store.Frame{
		Type: store.IdleNotification, From: m.Name, IdleReason: IdleAvailable, Timestamp: store.FormatTime(time.Now()),
		Summary: cmp.Or(i.Question, i.Summary), Result: end(i.Result, maxIdleResult),
		CompletedTaskID: i.TaskID, CompletedStatus: i.TaskStatus, FailureReason: beginning(i.Fault, maxIdleFault),
	}
	if t.LedByUs() {
		f.IdleReason = i.reason(ms.waiting(ctx, t, ms.mail.List)[m.Name] != "")
	}
	return ms.tellLead(ctx, t, m, f.Text(), i.Summary)
}

// reason is why it rests; asked: a plan or a request of its own is open.
func (i Idle) reason(asked bool) string {
	switch {
	case asked || i.Question != "":
		return IdleWaiting
	case i.TaskID != "" && i.Fault == "":
		return IdleDone
	}
	return IdleAvailable
}

func beginning(text string, limit int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), limit)])
}

func end(text string, limit int) string {
	runes := []rune(text)
	return string(runes[max(0, len(runes)-limit):])
}

// Batch is a message and the others that it makes needless.
type Batch struct {
	api.Message
	IDs []string
}

// Collapse keeps, of the idle notices that follow each other, the last of each
// sender: they say nothing but how it is now. One that tells of a task or brings a
// result says more, and stays.
func Collapse(msgs []api.Message) []Batch {
	var out []Batch
	rests := map[string]int{} // by sender: the notice, since the last other message, that only says that it rests
	for _, msg := range msgs {
		next := Batch{msg, []string{msg.ID}}
		idle := msg.Type == store.IdleNotification
		if !idle {
			clear(rests)
		} else if i, ok := rests[msg.From]; ok {
			next.IDs, out[i].IDs = append(out[i].IDs, msg.ID), nil
			delete(rests, msg.From)
		}
		if idle && !news(msg.Text) {
			rests[msg.From] = len(out)
		}
		out = append(out, next)
	}
	return slices.DeleteFunc(out, func(b Batch) bool { return b.IDs == nil })
}

// news tells whether an idle notice says more than that its sender rests.
func news(text string) bool {
	f, _ := store.ParseFrame(text)
	return f.CompletedTaskID != "" || f.FailureReason != "" || f.Result != "" || f.Summary != ""
}
