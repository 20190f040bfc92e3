package teammate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// How often the screen is looked at: while a program takes what was submitted, while
// mail waits for a quiet moment, and while nothing has to be typed.
const (
	typingPoll = 20 * time.Millisecond
	quietPoll  = 200 * time.Millisecond
	screenPoll = time.Second
)

// mailNet is how often the mail is read although nothing hints at it.
const mailNet = 15 * time.Second

// mailTyper types the mail of an interactive agent into it, a message at a time, when
// it is quiet and nobody else types.
type mailTyper struct {
	m          *teammate
	screen     *watcher
	introduced bool
	worked     bool // something was typed since the lead was told that it is idle
	owes       bool // it rested before a task was completed: it may have been quiet while it worked
	asks       question
	done       map[string]bool // its completed tasks that the lead knows of
	kept       int             // how often in a row hooks have kept it from going idle
	objection  string          // what they have said, and could not be typed yet
	typed      *typed
	swallowed  *swallowed
	unseen     bool      // mail may have come since it was last read
	changed    bool      // a task may have changed since its own were last read
	readAt     time.Time // when that was
	late       string    // id of a message that was typed, and not seen: it is typed again
	lost       int       // how often that was so
	stuck      string    // id of a message that was not handed over at first
	stuckAt    time.Time // when that was
	told       string    // id of one that is not for long, as the lead knows
	offers     offering
}

// deliver lives beside the program of an interactive agent until ctx ends.
func (m *teammate) deliver(ctx context.Context) {
	w, err := newWatcher(m.host, *m.launch.PromptProtocol)
	if err != nil {
		m.print("mail cannot be typed into it: %v", err)
		return
	}
	hints, err := m.o.Service.Hints(ctx, m.o.Team)
	if err != nil {
		m.print("its mail cannot be watched: %v", err)
		return
	}
	c := &mailTyper{m: m, screen: w, done: map[string]bool{}, unseen: true}
	c.m.completed(ctx, c.done) // what is done before it starts is nothing new
	for ctx.Err() == nil {
		c.round(ctx)
		select {
		case <-ctx.Done():
		case <-hints: // they end with ctx
			c.unseen, c.changed = true, true
		case <-time.After(screenPoll):
		}
	}
}

// round delivers what has come, if something may have, and shows what the agent does. An
// idle one is looked at, but reads no file.
func (c *mailTyper) round(ctx context.Context) {
	reading := ctx
	if c.unseen {
		reading = store.AfterHint(ctx)
	}
	if c.unseen = c.unseen || time.Since(c.readAt) > mailNet; c.unseen {
		c.unseen, c.readAt = false, time.Now()
		if !c.deliverAll(reading) {
			c.unseen = true // the next round tries again
			return
		}
	}
	c.show(ctx)
}

// deliverAll types the mail that is there. It is false if something is left.
func (c *mailTyper) deliverAll(ctx context.Context) bool {
	msgs, err := c.m.unread(ctx)
	if err != nil {
		c.m.o.Log.Warn("read the inbox", "error", err)
		c.unseen = true
	}
	for _, msg := range teams.Collapse(msgs) {
		if err := c.deliverOne(ctx, msg); err != nil {
			if ctx.Err() == nil { // not said on its screen, which is the agent's, and is read from
				c.m.o.Log.Warn("type a message", "from", msg.From, "error", err)
				c.showStuck(ctx, msg, err)
			}
			return false // it stays unread
		}
	}
	return true
}

// deliverOne types one message when the moment is right, and marks it as read when the
// program has taken it. If a person begins to type in that moment, it waits for
// the next one.
func (c *mailTyper) deliverOne(ctx context.Context, msg teams.Batch) error {
	for {
		since, err := c.waitFree(ctx, msg.ID)
		if err == nil {
			err = c.typeMessage(ctx, msg, since)
		}
		switch {
		case errors.Is(err, fault.Rejected):
		case err != nil:
			return err
		default:
			if err := c.m.markRead(context.WithoutCancel(ctx), msg.IDs); err != nil { // also of a program that has ended since
				c.m.o.Log.Warn("write down that a message was typed", "from", msg.From, "error", err)
				c.unseen = true // it is tried again
			}
			return nil
		}
	}
}

// typeMessage types what a message says: REJECTED if a person has typed after since, or is
// asked something.
func (c *mailTyper) typeMessage(ctx context.Context, msg teams.Batch, since time.Time) error {
	if msg.Type == store.ShutdownRequest && msg.Note == "" {
		protocol := c.m.launch.PromptProtocol
		quits := len(protocol.QuitKeys) > 0 || protocol.Quit != ""
		c.m.asked.Store(quits)
		err := c.askToEnd(ctx, msg, since)
		if errors.Is(err, errUnread) || ctx.Err() != nil { // it may be ended before it reads that, or have ended at once
			err = nil
		}
		c.m.asked.Store(quits && err == nil)
		if err == nil && !c.m.launch.LedByUs && quits {
			err = c.agree(ctx, msg)
		}
		return err
	}
	if msg.Type == store.PlanResponse && msg.Note == "" && c.m.launch.Plan {
		if ended, err := c.carryOut(ctx, msg, since); ended || err != nil {
			return errors.Join(err, ctx.Err())
		}
	}
	c.m.asked.Store(false)
	text := ""
	if !c.waits(msg.ID) { // else it is known, and to put it into words takes a look at the whole team
		text = c.m.wording(ctx, msg, c.introduced)
	}
	if err := c.hand(ctx, text, msg.ID, since); err != nil {
		return err
	}
	c.introduced, c.worked, c.kept, c.objection = true, true, 0, ""
	return nil
}

// wording is a message as an agent gets it, by whatever way: after what the agent has to know,
// if it has not been introduced.
func (m *teammate) wording(ctx context.Context, msg teams.Batch, introduced bool) string {
	text := header(msg.Message) + teams.InWords(msg.Text) + howToTake(msg.Text)
	if f, _ := store.ParseFrame(msg.Text); !m.goesOn && msg.Type == store.PlanResponse {
		text += m.o.Service.PlanInFull(ctx, m.o.Team, f.RequestID, m.began)
	}
	if !introduced {
		text = m.introduction(ctx) + "\n" + text
	}
	return text
}

// howToTake is how an agent takes the task that a message is about, and ends it. Nothing but
// an id is put into a command.
func howToTake(text string) string {
	f, ok := store.ParseFrame(text)
	if !ok || f.Type != store.TaskAssignment || store.IDNumber(f.TaskID) <= 0 {
		return ""
	}
	return fmt.Sprintf("\nBegin with: leadlight task claim %s. When it is done: leadlight task done %s --result TEXT.", f.TaskID, f.TaskID)
}

// askToEnd asks as the profile says: by keys, by what its prompt takes, or, where
// neither is known, in words.
func (c *mailTyper) askToEnd(ctx context.Context, msg teams.Batch, since time.Time) error {
	protocol := c.m.launch.PromptProtocol
	switch {
	case len(protocol.QuitKeys) > 0:
		return c.m.host.LockInput(ctx, since, func(t *host.InputLock) error {
			return t.Keys(ctx, c.screen.read(ctx).MayType(), protocol.QuitKeys)
		})
	case protocol.Quit != "":
		return c.enter(ctx, protocol.Quit, msg.ID, since)
	}
	return c.enter(ctx, endWords(msg.Message), msg.ID, since)
}

// endWords asks to end in words, with the reason if there is one.
func endWords(msg api.Message) string {
	f, _ := store.ParseFrame(msg.Text)
	why := ""
	if reason := strings.TrimSpace(f.Reason); reason != "" {
		why = " (" + teams.Quoted(reason) + ")"
	}
	return fmt.Sprintf("%sPlease finish and end%s. Run: leadlight approve %s - or refuse: leadlight deny %s --reason WHY",
		header(msg), why, f.RequestID, f.RequestID)
}

// carryOut ends a program that may only read, if msg approves its plan: it starts again and
// may do more. The verbs have done that already where they could; they cannot for a lead that
// answers by itself, on another machine, or when a restart has failed. The message stays
// unread: the program gets it then. REJECTED, as typeMessage, and the program goes on.
func (c *mailTyper) carryOut(ctx context.Context, msg teams.Batch, since time.Time) (ended bool, err error) {
	m := c.m
	lifted, err := m.o.Service.CarryOut(ctx, m.o.Team, msg.Text)
	if err != nil {
		m.o.Log.Warn("carry the plan out", "error", err)
	}
	if !lifted {
		return false, nil
	}
	m.lifted.Store(true)
	if p := m.launch.PromptProtocol; len(p.QuitKeys) > 0 || p.Quit != "" {
		switch err := c.askToEnd(ctx, msg, since); {
		case errors.Is(err, fault.Rejected):
			m.lifted.Store(false)
			return false, err
		case err != nil:
			m.o.Log.Warn("ask it to end", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(quitLimit):
		}
	}
	if ctx.Err() == nil {
		if _, err := m.host.End(context.WithoutCancel(ctx), termLimit, killLimit); err != nil {
			m.o.Log.Error("end the program", "error", err)
		}
		<-ctx.Done()
	}
	return true, nil
}

// quitLimit is how long a program may take to end after it was asked to.
const quitLimit = 10 * time.Second

// agree answers another lead in the name of a program that knows no such answer, once
// the program is gone, which ends ctx, or should be.
func (c *mailTyper) agree(ctx context.Context, msg teams.Batch) error {
	select {
	case <-ctx.Done():
	case <-time.After(quitLimit):
	}
	f, _ := store.ParseFrame(msg.Text)
	answering, cancel := context.WithTimeout(context.WithoutCancel(ctx), quitLimit)
	defer cancel()
	_, err := c.m.o.Service.AnswerShutdown(answering, c.m.o.Team, f.RequestID, true, "")
	return err
}

// header says who sent a message: what only looks like another sender does not pass.
func header(msg api.Message) string {
	who := store.Shown(msg.From)
	if msg.Note != "" {
		who += " (" + msg.Note + ")" // it may repeat a name that the text gives
	}
	return fmt.Sprintf("[leadlight] message from %s: ", teams.Quoted(who))
}

// introduction tells an agent, once, where it is and how it answers.
func (m *teammate) introduction(ctx context.Context) string {
	o := m.o
	others := "nobody yet"
	if members, _, err := o.Service.Members(ctx, o.Team, false); err == nil {
		var names []string
		for _, other := range members {
			if other.Name != o.Agent {
				names = append(names, teams.Quoted(store.Shown(other.Name)))
			}
		}
		if len(names) > 0 {
			others = strings.Join(names, ", ")
		}
	}
	plan := ""
	if m.launch.Plan {
		plan = " You are in plan mode: first make a plan and change nothing. Hand it in with: leadlight plan submit TEXT, " +
			"and wait for the answer. Carry it out only when it is approved; else change it and hand it in again."
	}
	return fmt.Sprintf("[leadlight] You are %s, a teammate in the team %s led by %s; the other teammates: %s. "+
		"Answer with the command: leadlight send NAME TEXT. Tasks: leadlight task ls, task claim ID, task done ID --result TEXT. "+
		"Mail: leadlight inbox. When you are asked to shut down: leadlight approve."+plan,
		o.Agent, o.Team, store.Lead, others)
}
