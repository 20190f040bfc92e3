package teammate

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
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

const (
	// maxCooked is the longest text, in bytes, that goes line by line into a terminal
	// which edits lines itself; what is longer goes as a file.
	maxCooked = 4000
	// submitTries is how often the submit key is pressed before the text is left as it
	// stands; the next time only that key is tried.
	submitTries = 4
	// submitWait is how long a program has to show what was typed, and to take what was
	// submitted, for each try.
	submitWait = 2 * time.Second
)

// mailTyper types the mail of an interactive agent into it, a message at a time, when
// it is quiet and nobody else types.
type mailTyper struct {
	m          *teammate
	look       *look
	introduced bool
	worked     bool // something was typed since the lead was told that it is idle
	asks       question
	done       map[string]bool // its completed tasks that the lead knows of
	kept       int             // how often in a row hooks have kept it from going idle
	typed      *typed
}

// typed is a message that was typed, but not taken yet.
type typed struct {
	id    string
	at    time.Time
	shown string // the input line with it
	seen  bool   // it was to be seen there
	// When our own submit key was pressed last, zero if it never was.
	pressed time.Time
}

// submitted tells, of a text that has left the input line, whether it was submitted:
// by a person's return key, or by our own key if no person typed after that. Else
// they have erased it.
func (t *typed) submitted(st host.Status) bool {
	return st.LastReturnAt.After(t.at) || !t.pressed.IsZero() && !st.LastKeyAt.After(t.pressed)
}

// deliver lives beside the program of an interactive agent until ctx ends.
func (m *teammate) deliver(ctx context.Context) {
	l, err := newLook(m.host, *m.launch.PromptProtocol)
	if err != nil {
		m.print("mail cannot be typed into it: %v", err)
		return
	}
	hints, err := m.o.Service.Hints(ctx, m.o.Team)
	if err != nil {
		m.print("its mail cannot be watched: %v", err)
		return
	}
	c := &mailTyper{m: m, look: l, done: map[string]bool{}}
	c.completed(ctx) // what is done before it starts is nothing new
	for ctx.Err() == nil {
		c.round(ctx)
		select {
		case <-ctx.Done():
		case _, ok := <-hints:
			if !ok {
				hints = nil
			}
		case <-time.After(screenPoll):
		}
	}
}

// round delivers what is there and shows what the agent does.
func (c *mailTyper) round(ctx context.Context) {
	msgs, err := c.m.o.Service.Inbox(ctx, c.m.o.Team, "", teams.InboxFilter{Unread: true})
	if err != nil {
		c.m.o.Log.Warn("read the inbox", "error", err)
	}
	for _, msg := range collapse(msgs) {
		if err := c.deliverOne(ctx, msg); err != nil {
			if ctx.Err() == nil { // not said on its screen, which is the agent's, and is read from
				c.m.o.Log.Warn("type a message", "from", msg.From, "error", err)
				c.m.show(api.StateWaiting, "", fmt.Sprintf("a message from %s cannot be typed: %v", store.Shown(msg.From), err))
			}
			return // it stays unread; the next round tries again
		}
	}
	c.show(ctx)
}

// batch is a message and the others that it makes needless.
type batch struct {
	api.Message
	ids []string
}

// collapse keeps, of the idle notices that follow each other, the last of each
// sender: they say nothing but how it is now. One that tells of a task or brings a
// result says more, and stays.
func collapse(msgs []api.Message) []batch {
	var out []batch
	for _, msg := range msgs {
		next := batch{msg, []string{msg.ID}}
		for i := len(out) - 1; i >= 0 && msg.Type == store.IdleNotification && out[i].Type == msg.Type; i-- {
			if out[i].From == msg.From && !news(out[i].Text) {
				next.ids = append(out[i].ids, msg.ID)
				out = slices.Delete(out, i, i+1)
				break
			}
		}
		out = append(out, next)
	}
	return out
}

// news tells whether an idle notice says more than that its sender rests.
func news(text string) bool {
	f, _ := store.ParseFrame(text)
	return f.CompletedTaskID != "" || f.FailureReason != "" || f.Result != "" || f.Summary != ""
}

// deliverOne types one message when the moment is right, and marks it as read when the
// program has taken it. If a person begins to type in that moment, it waits for
// the next one.
func (c *mailTyper) deliverOne(ctx context.Context, msg batch) error {
	for {
		since, err := c.waitFree(ctx)
		if err == nil {
			err = c.typeMessage(ctx, msg, since)
		}
		switch {
		case errors.Is(err, fault.Rejected):
		case err != nil:
			return err
		default:
			return c.m.o.Service.MarkRead(ctx, c.m.o.Team, "", msg.ids)
		}
	}
}

// typeMessage types what a message says: REJECTED if a person has typed after since, or is
// asked something.
func (c *mailTyper) typeMessage(ctx context.Context, msg batch, since time.Time) error {
	if msg.Type == store.ShutdownRequest && msg.Note == "" {
		err := c.askToEnd(ctx, msg, since)
		if protocol := c.m.launch.PromptProtocol; err == nil && !c.m.launch.LedByUs && (len(protocol.QuitKeys) > 0 || protocol.Quit != "") {
			err = c.agree(ctx, msg)
		}
		return err
	}
	text := header(msg.Message) + teams.InWords(msg.Text)
	if !c.introduced {
		text = c.introduction(ctx) + "\n" + text
	}
	if err := c.enter(ctx, text, msg.ID, since); err != nil {
		return err
	}
	c.introduced, c.worked, c.kept = true, true, 0
	return nil
}

// askToEnd asks as the profile says: by keys, by what its prompt takes, or, where
// neither is known, in words.
func (c *mailTyper) askToEnd(ctx context.Context, msg batch, since time.Time) error {
	protocol := c.m.launch.PromptProtocol
	switch {
	case len(protocol.QuitKeys) > 0:
		return c.m.host.LockInput(ctx, since, func(t *host.InputLock) error { return t.Keys(ctx, protocol.QuitKeys) })
	case protocol.Quit != "":
		return c.enter(ctx, protocol.Quit, msg.ID, since)
	}
	f, _ := store.ParseFrame(msg.Text)
	return c.enter(ctx, fmt.Sprintf("%sPlease finish and end (%s). Run: leadlight approve %s - or refuse: "+
		"leadlight deny %s --reason WHY", header(msg.Message), f.Reason, f.RequestID, f.RequestID), msg.ID, since)
}

// quitLimit is how long a program may take to end after it was asked to.
const quitLimit = 10 * time.Second

// agree answers another lead in the name of a program that knows no such answer, once
// the program is gone, which ends ctx, or should be.
func (c *mailTyper) agree(ctx context.Context, msg batch) error {
	timer := time.NewTimer(quitLimit)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	f, _ := store.ParseFrame(msg.Text)
	answering, cancel := context.WithTimeout(context.WithoutCancel(ctx), quitLimit)
	defer cancel()
	_, err := c.m.o.Service.AnswerShutdown(answering, c.m.o.Team, f.RequestID, true, "")
	return err
}

// waitFree waits until the program is ready for text and nobody types, and returns
// since when nobody does. What the screen shows meanwhile is the state that others see.
func (c *mailTyper) waitFree(ctx context.Context) (since time.Time, err error) {
	tick := time.NewTicker(min(quietPoll, max(typingPoll, c.look.quiet/4)))
	defer tick.Stop()
	for {
		seen := c.look.see(ctx)
		c.showState(ctx, seen)
		if seen.free {
			return seen.since, nil
		}
		select {
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		case <-tick.C:
		}
	}
}

// enter types text and submits it, and makes sure that it was taken: what still
// stands in the input line is submitted again, a few times. A person who types
// meanwhile waits a moment; one who comes between ends it: REJECTED, and what stands
// in the input line is submitted the next time.
func (c *mailTyper) enter(ctx context.Context, text, id string, since time.Time) error {
	protocol, st := c.m.launch.PromptProtocol, c.m.host.Status()
	if limit := protocol.MaxPaste; len(text) > limit || st.Cooked && (len(text) > maxCooked || longest(text) > st.MaxLine) {
		var err error
		if text, err = c.inFile(ctx, text, id); err != nil {
			return err
		}
	}
	in := host.Input{Text: text, Submit: protocol.Submit, Join: protocol.Multiline != profiles.Lines}
	return c.m.host.LockInput(ctx, since, func(t *host.InputLock) error {
		if st.Cooked {
			return t.Type(ctx, in) // the terminal itself hands a line over
		}
		if c.typed != nil && c.typed.id == id && c.gone(ctx, text) {
			submitted := c.typed.submitted(c.m.host.Status())
			c.typed = nil
			if submitted {
				return nil
			}
		}
		if c.typed == nil || c.typed.id != id {
			before := inputLine(c.look.capture(ctx))
			in.Submit = host.SubmitNone
			if err := t.Type(ctx, in); err != nil {
				return err
			}
			c.typed = &typed{id: id, at: time.Now()}
			c.typed.shown, c.typed.seen = c.look.appears(ctx, text, before, submitWait)
		}
		return c.submit(ctx, t, text)
	})
}

// inFile puts a text into a file and returns the reference to it.
func (c *mailTyper) inFile(ctx context.Context, text, id string) (string, error) {
	name := panes.OwnPath(c.m.o.Team, "mail", c.m.o.Agent+"-"+id+".txt")
	if err := c.m.o.Dir.Write(ctx, name, []byte(text)); err != nil {
		return "", fmt.Errorf("put a long message into a file: %w", err)
	}
	return fmt.Sprintf("[leadlight] a message of %d bytes is in the file %s - read it, and do what it says", len(text), c.m.o.Dir.Join(path.Clean(name))), nil
}

// gone tells whether what was typed has left the input line, submitted or erased.
func (c *mailTyper) gone(ctx context.Context, text string) bool {
	if c.typed.seen {
		return c.look.leaves(ctx, text, c.typed.shown, 0)
	}
	st := c.m.host.Status()
	return st.LastReturnAt.After(c.typed.at) || st.LastKeyAt.After(c.typed.at) && !st.Draft
}

// submit presses the submit key until the text has left the input line. One that was
// not to be seen there, because the program shows nothing of it, is taken to be
// submitted by the first. A question that came up meanwhile is not for us to answer.
func (c *mailTyper) submit(ctx context.Context, t *host.InputLock, text string) error {
	key := c.m.launch.PromptProtocol.Submit
	for range submitTries {
		if c.look.asks(ctx) {
			return fault.New(fault.Rejected, "it asks something")
		}
		if err := t.Keys(ctx, []string{key}); err != nil {
			return err
		}
		c.typed.pressed = time.Now()
		if !c.typed.seen || c.look.leaves(ctx, text, c.typed.shown, submitWait) {
			c.typed = nil
			return nil
		}
	}
	return fault.New(fault.Timeout, "it stays in the input line: %s, pressed %d times, did not submit it", key, submitTries)
}

func longest(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n = max(n, len(line))
	}
	return n
}

// header says who sent a message: what only looks like another sender does not pass.
func header(msg api.Message) string {
	who := store.Shown(msg.From)
	if msg.Note != "" {
		who += " (" + msg.Note + ")"
	}
	return fmt.Sprintf("[leadlight] message from %s: ", who)
}

// introduction tells an agent, once, where it is and how it answers.
func (c *mailTyper) introduction(ctx context.Context) string {
	o := c.m.o
	others := "nobody yet"
	if members, _, err := o.Service.Members(ctx, o.Team, false); err == nil {
		var names []string
		for _, m := range members {
			if m.Name != o.Agent {
				names = append(names, m.Name)
			}
		}
		if len(names) > 0 {
			others = strings.Join(names, ", ")
		}
	}
	return fmt.Sprintf("[leadlight] You are %s, a teammate in the team %s led by %s; the other teammates: %s. "+
		"Answer with the command: leadlight send NAME TEXT. Tasks: leadlight task ls, task claim ID, task done ID --result TEXT. "+
		"Mail: leadlight inbox. When you are asked to shut down: leadlight approve.",
		o.Agent, o.Team, store.Lead, others)
}
