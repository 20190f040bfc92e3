package mate

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// How often the screen is looked at: while a program takes what was submitted, while
// mail waits for a quiet moment, and while nothing has to be typed.
const (
	typingPoll = 50 * time.Millisecond
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

// courier types the mail of an interactive agent into it, a message at a time, when
// it is quiet and nobody else types.
type courier struct {
	m       *mate
	look    *look
	briefed bool
	worked  bool   // something was typed since the lead was told that it is idle
	stuck   string // id of the message that stands in the input line, typed but not taken
}

// deliver lives beside the program of an interactive agent until ctx ends.
func (m *mate) deliver(ctx context.Context) {
	l, err := newLook(m.host, *m.launch.Manner)
	if err != nil {
		m.say("mail cannot be typed into it: %v", err)
		return
	}
	hints, err := m.o.Service.Hints(ctx, m.o.Team)
	if err != nil {
		m.say("its mail cannot be watched: %v", err)
		return
	}
	c := &courier{m: m, look: l}
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
func (c *courier) round(ctx context.Context) {
	msgs, err := c.m.o.Service.Inbox(ctx, c.m.o.Team, "", teams.InboxFilter{Unread: true})
	if err != nil {
		c.m.o.Log.Warn("read the inbox", "error", err)
	}
	for _, msg := range collapse(msgs) {
		if err := c.hand(ctx, msg); err != nil {
			if ctx.Err() == nil {
				c.m.say("a message from %s could not be typed: %v", msg.From, err)
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
// sender: they say nothing but how it is now.
func collapse(msgs []api.Message) []batch {
	var out []batch
	for _, msg := range msgs {
		last := len(out) - 1
		if msg.Type == store.IdleNotification && last >= 0 && out[last].Type == msg.Type && out[last].From == msg.From {
			out[last].Message, out[last].ids = msg, append(out[last].ids, msg.ID)
			continue
		}
		out = append(out, batch{msg, []string{msg.ID}})
	}
	return out
}

// hand types one message when the moment is right, and marks it as read when the
// program has taken it.
func (c *courier) hand(ctx context.Context, msg batch) error {
	if err := c.await(ctx); err != nil {
		return err
	}
	if msg.Type == store.ShutdownRequest && msg.Note == "" {
		return c.askToEnd(ctx, msg)
	}
	text := header(msg.Message) + msg.Text
	if !c.briefed {
		text = c.briefing(ctx) + "\n" + text
	}
	if err := c.enter(ctx, text, msg.ID); err != nil {
		return err
	}
	c.briefed, c.worked = true, true
	return c.m.o.Service.MarkRead(ctx, c.m.o.Team, "", msg.ids)
}

// askToEnd asks as the profile says: by keys, by what its prompt takes, or, where
// neither is known, in words.
func (c *courier) askToEnd(ctx context.Context, msg batch) error {
	manner := c.m.launch.Manner
	var err error
	switch {
	case len(manner.QuitKeys) > 0:
		err = c.m.host.Keys(ctx, manner.QuitKeys)
	case manner.Quit != "":
		err = c.enter(ctx, manner.Quit, msg.ID)
	default:
		f, _ := store.ParseFrame(msg.Text)
		err = c.enter(ctx, fmt.Sprintf("%sPlease finish and end (%s). Run: leadlight shutdown approve %s - or refuse: "+
			"leadlight shutdown refuse %s --reason WHY", header(msg.Message), f.Reason, f.RequestID, f.RequestID), msg.ID)
	}
	if err != nil {
		return err
	}
	return c.m.o.Service.MarkRead(ctx, c.m.o.Team, "", msg.ids)
}

// await waits until the program is ready for text and nobody types. What the screen
// shows meanwhile is the state that others see.
func (c *courier) await(ctx context.Context) error {
	tick := time.NewTicker(quietPoll)
	defer tick.Stop()
	for {
		seen := c.look.see(ctx)
		c.tell(seen)
		if seen.free {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// tell shows the state that was seen.
func (c *courier) tell(s seen) {
	switch {
	case s.asking != "":
		c.m.show(api.StateWaiting, "", s.asking)
	case !s.free:
		c.m.show(api.StateActive, "", "")
	}
}

// show keeps the state true between messages, and tells the lead, once, when an
// agent that was given something has come to rest.
func (c *courier) show(ctx context.Context) {
	s := c.look.see(ctx)
	c.tell(s)
	if !s.free {
		return
	}
	c.m.show(api.StateIdle, "", "")
	if c.worked && s.rested {
		c.worked = false
		c.m.tellIdle(ctx, finished{})
	}
}

// enter types text and submits it, and makes sure that it was taken: what still
// stands in the input line is submitted again, a few times. Text that is too long to
// be typed goes as a reference to a file.
func (c *courier) enter(ctx context.Context, text, id string) error {
	manner, h := c.m.launch.Manner, c.m.host
	st := h.Status()
	if limit := manner.MaxPaste; len(text) > limit || st.Cooked && (len(text) > maxCooked || longest(text) > st.MaxLine) {
		name := panes.OwnPath(c.m.o.Team, "mail", c.m.o.Agent+"-"+id+".txt")
		if err := c.m.o.Dir.Write(ctx, name, []byte(text)); err != nil {
			return fmt.Errorf("put a long message into a file: %w", err)
		}
		text = fmt.Sprintf("[leadlight] a message of %d bytes is in the file %s - read it, and do what it says", len(text), c.m.o.Dir.Join(path.Clean(name)))
	}
	in := host.Input{Text: text, Submit: manner.Submit, Join: manner.Multiline != "lines"}
	if st.Cooked {
		return h.Inject(ctx, in) // the terminal itself hands a line over
	}
	switch {
	case c.stuck != id:
		in.Submit = host.SubmitNone
		if err := h.Inject(ctx, in); err != nil {
			return err
		}
		if c.stuck = ""; c.look.stands(ctx, text, submitWait) {
			c.stuck = id
		}
	case c.look.taken(ctx, text, 0):
		c.stuck = "" // a person has submitted it
		return nil
	}
	return c.submit(ctx, text)
}

// submit presses the submit key until the text has left the input line. One that was
// not to be seen there, because the program shows a paste in its own way, is taken to
// be submitted by the first.
func (c *courier) submit(ctx context.Context, text string) error {
	key := c.m.launch.Manner.Submit
	for range submitTries {
		if err := c.m.host.Keys(ctx, []string{key}); err != nil {
			return err
		}
		if c.stuck == "" || c.look.taken(ctx, text, submitWait) {
			c.stuck = ""
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

// briefing tells an agent, once, where it is and how it answers.
func (c *courier) briefing(ctx context.Context) string {
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
		"Mail: leadlight inbox. When you are asked to shut down: leadlight shutdown approve.",
		o.Agent, o.Team, store.Lead, others)
}
