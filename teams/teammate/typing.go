package teammate

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/screen"
	"github.com/leadlight-dev/leadlight/teams/api"
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
	// typeAgain is how long what was typed must not have been seen, or begun with, before
	// it is typed again: the agent was not listening yet. That doubles each time, up to
	// typeRarely times: who reads and shows nothing would get it again and again.
	typeAgain  = 10 * time.Second
	typeRarely = 6
)

// typed is a message that was typed, but not taken yet.
type typed struct {
	id      string
	text    string // as it was typed
	at      time.Time
	seen    bool            // it stood in the input
	lost    int             // how often it was typed before, and not seen
	unread  time.Time       // when the agent had not read all of it, at the last look
	pressed time.Time       // when our submit key was pressed last, zero if it never was
	line    *screen.Reading // what was shown when it went, with its submit key, into a terminal that edits lines; nil: it did not
	echoed  int             // how often it stood in the output then
}

// errUnread says that what was handed to a terminal which edits lines waits there.
var errUnread = errors.New("its program has not read what was typed")

// swallowed is the first message of a program, which has left the input, and which the agent
// has not been seen to begin with.
type swallowed struct {
	id, text string
	at       time.Time
	lost     int            // how often it was typed before, and lost
	stood    screen.Reading // while it stood in the input
	begun    bool           // the agent was seen to begin with it after all
}

// look tells whether the agent has begun, by now or at an earlier look.
func (s *swallowed) look(r screen.Reading) bool {
	s.begun = s.begun || r.Begun(s.stood, s.text)
	return s.begun
}

// submitted tells, of a text that has left the input, whether it was submitted: by a
// person's return key, or by our own key if no person typed after that. Else they have
// erased it.
func (t *typed) submitted(st host.Status) bool {
	return st.LastReturnAt.After(t.at) || !t.pressed.IsZero() && !st.LastKeyAt.After(t.pressed)
}

// waits tells whether a message was typed, but not taken yet.
func (c *mailTyper) waits(id string) bool { return c.typed != nil && c.typed.id == id }

// mayCome tells, of a text that is not seen, whether it may still be shown: the agent
// has not had it for long.
func (t *typed) mayCome(unread int) bool {
	if unread > 0 {
		t.unread = time.Now()
	}
	return time.Since(later(t.at, t.unread)) < nextTry(t.lost)
}

// nextTry is how long what was lost so often is waited for until it is typed again.
func nextTry(lost int) time.Duration { return typeAgain << min(lost, typeRarely) }

// isLost notes that a message was typed and not seen, or not begun with: it is typed again.
func (c *mailTyper) isLost(id string) {
	if c.late != id {
		c.late, c.lost = id, 0
	}
	c.lost++
}

// waitFree waits until the program is ready for text and nobody types, and returns
// since when nobody does. What the screen shows meanwhile is the state that others see. id is
// the message that waits.
func (c *mailTyper) waitFree(ctx context.Context, id string) (since time.Time, err error) {
	tick := time.Tick(min(quietPoll, max(typingPoll, c.screen.quiet/4)))
	for {
		seen := c.screen.observe(ctx)
		if c.swallowed != nil {
			c.swallowed.look(c.screen.last)
		}
		c.showState(ctx, seen)
		if seen.unknown {
			c.tellStuck(ctx, id, c.unknown(seen))
		}
		if seen.free && (!seen.full || c.waits(id) && !seen.half) {
			return seen.since, nil
		} else if seen.free {
			c.m.showAll(host.Shown{State: api.StateWaiting, Reason: notSubmitted, Unsubmitted: true})
			st := c.m.host.Status()
			if time.Since(st.LastKeyAt) > c.screen.patient && (seen.half || time.Since(st.LastOutputAt) > c.screen.patient) {
				c.tellStuck(ctx, id, notSubmitted)
			}
		}
		select {
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		case <-tick:
		}
	}
}

// enter types text, sees it in the input, submits it, and sees it leave. A person who
// types meanwhile waits a moment; one who comes between ends it: REJECTED, and what
// stands in the input is submitted the next time.
func (c *mailTyper) enter(ctx context.Context, text, id string, since time.Time) error {
	protocol, st := c.m.launch.PromptProtocol, c.m.host.Status()
	if c.waits(id) {
		text = c.typed.text
	} else if limit := protocol.MaxPaste; len(text) > limit || st.Cooked && (len(text) > maxCooked || longest(text) > st.MaxLine) {
		var err error
		if text, err = c.inFile(ctx, text, id); err != nil {
			return err
		}
	}
	in := host.Input{Text: closed(text), Submit: protocol.Submit, Join: protocol.Multiline != profiles.Lines}
	err := c.m.host.LockInput(ctx, since, func(t *host.InputLock) error {
		if c.waits(id) {
			if done, err := c.resume(ctx, t, text); done || err != nil {
				return err
			}
		}
		if !c.waits(id) {
			printed := 0
			if st.Cooked {
				printed = c.printed(text)
			} else {
				in.Submit = host.SubmitNone
			}
			if err := t.Type(ctx, c.screen.read(ctx).MayType(), in); err != nil {
				return err
			}
			if c.typed = (&typed{id: id, text: text, at: time.Now()}); c.late == id {
				c.typed.lost = c.lost
			}
			if st.Cooked {
				return c.handOver(ctx, t, printed)
			}
		}
		return c.submit(ctx, t, text)
	})
	if err == nil {
		c.screen.typed = time.Now()
	}
	return err
}

// handOver waits until the program has read what it was given line by line. printed is how
// often that stood in the output before.
func (c *mailTyper) handOver(ctx context.Context, t *host.InputLock, printed int) error {
	c.typed.pressed = c.typed.at
	c.typed.echoed = printed + 1 // by the terminal, however late
	read, err := t.LineIsRead(ctx, host.DefaultPause)
	if err == nil && !read {
		err = errUnread
	}
	shown := c.screen.read(ctx)
	if c.typed.line = &shown; err == nil {
		c.typed = nil
	}
	return err
}

// printed is how often a text stands in the output, also where it has left the screen.
func (c *mailTyper) printed(text string) int { return screen.Printed(c.m.host.Tail(0), text) }

// resume finds out what became of a text that was typed earlier. done: it was submitted.
// Where it was erased, it is to be typed again, and where the agent has read it and not
// shown it for long: it was not listening.
func (c *mailTyper) resume(ctx context.Context, t *host.InputLock, text string) (done bool, err error) {
	unread := t.Unread() // looked at first: what goes after this look may be thrown away
	r, st := c.screen.read(ctx), c.m.host.Status()
	hidden := !r.Shows() && !r.MayType().Valid()
	switch line := c.typed.line; {
	case line != nil && unread > 0:
		return false, errUnread
	case line != nil && (st.Cooked || r.Said(text) > line.Said(text) || c.printed(text) > c.typed.echoed): // else it may have thrown away what came before it listened
		c.typed = nil
		return true, nil
	case hidden && (line != nil || !r.Holds(text) && (c.typed.seen || st.LastKeyAt.After(c.typed.at))):
		return false, fault.New(fault.Rejected, "its input is not to be seen") // what its terminal showed of a line is none
	case r.Holds(text) && !c.typed.pressed.IsZero(): // the key may have been read just now
		if r = c.screen.until(ctx, submitWait, func(r screen.Reading) bool { return left(r, text) }); left(r, text) {
			done = c.typed.submitted(st)
			c.typed = nil
		} else if unread > 0 {
			return false, fault.New(fault.Timeout, "it has not read all that was typed")
		}
	case r.Holds(text):
		return false, nil
	case c.typed.seen || st.LastKeyAt.After(c.typed.at):
		done = c.typed.submitted(st)
		c.typed = nil
	case c.m.launch.PromptProtocol.OnUnknown == profiles.Type: // it may show nothing of it
	case c.typed.mayCome(unread):
		return false, fault.New(fault.Timeout, "it does not show what was typed")
	default:
		c.isLost(c.typed.id)
		c.typed = nil
	}
	return done, nil
}

// submit waits for text to stand in the input, and presses the submit key until it has
// left it. A question that came up meanwhile is not for us to answer.
func (c *mailTyper) submit(ctx context.Context, t *host.InputLock, text string) error {
	key := c.m.launch.PromptProtocol.Submit
	limit := submitWait
	if c.typed.lost > 0 { // what was typed first may still come
		limit += c.screen.quiet
	}
	arrived := func(r screen.Reading) bool {
		rests := c.typed.lost == 0 || time.Since(c.m.host.Status().LastOutputAt) > c.screen.quiet
		return r.Times(text) > 1 || r.Holds(text) && rests && t.Unread() == 0
	}
	r := c.screen.until(ctx, limit, arrived)
	if c.typed.seen = r.Holds(text); r.Times(text) > 1 {
		return c.erase(ctx, t, r, text)
	}
	if !arrived(r) && c.typed.seen {
		return fault.New(fault.Timeout, "it has not read all that was typed")
	}
	for range submitTries {
		if r.State == screen.Asking {
			return fault.New(fault.Rejected, "it asks something")
		}
		if given := r.MaySubmit(text); !given.Valid() {
			return fault.New(fault.Timeout, "it does not show what was typed")
		} else if err := t.Keys(ctx, given, []string{key}); err != nil {
			return err
		}
		c.typed.pressed = time.Now()
		stood := r
		r = c.screen.until(ctx, submitWait, func(r screen.Reading) bool { return left(r, text) })
		if left(r, text) || !c.typed.seen {
			if !c.introduced && c.typed.seen && stood.Shows() && c.screen.reader.TellsBusy() && !r.Begun(stood, text) {
				c.swallowed = &swallowed{id: c.typed.id, text: text, at: time.Now(), lost: c.typed.lost, stood: stood}
			}
			c.typed = nil
			return nil
		}
		if t.Unread() > 0 { // once it goes on, each key might submit the text
			return fault.New(fault.Timeout, "it has not read all that was typed")
		}
	}
	return fault.New(fault.Timeout, "it stays in the input line: %s, pressed %d times, did not submit it", key, submitTries)
}

// hand enters a message, and sees the agent begin with it, if it is the first. Who has begun
// with one listens: what has left its input since was taken, also where nothing of that is to
// be seen, since the same text and the same answer have taken the place of those before.
func (c *mailTyper) hand(ctx context.Context, text, id string, since time.Time) error {
	if c.swallowed != nil && c.swallowed.id == id { // since the last look it may have begun
		if err := c.begun(ctx); err == nil || time.Since(c.swallowed.at) < nextTry(c.swallowed.lost) {
			return err
		}
		c.isLost(id)
	}
	c.swallowed = nil
	if err := c.enter(ctx, text, id, since); err != nil || c.swallowed == nil {
		return err
	}
	return c.begun(ctx)
}

// begun waits until the agent is seen to have begun with a text that has left its input,
// or to have queued it. One that does not for long has cleared its input and was not
// listening: the text is typed again.
func (c *mailTyper) begun(ctx context.Context) error {
	if r := c.screen.until(ctx, submitWait, c.swallowed.look); c.swallowed.look(r) || ctx.Err() != nil {
		c.swallowed = nil
		return nil
	}
	return fault.New(fault.Timeout, "it has left the input line, and the agent does not begin with it")
}

// left tells whether text has left the input: it is not there, and the input is, or need
// not be known, or the agent has begun to work or to ask.
func left(r screen.Reading, text string) bool {
	return !r.Holds(text) && (r.Shows() || r.MayType().Valid() || r.State == screen.Busy || r.State == screen.Asking)
}

// erase takes back a text that stands in the input twice, because the agent read late
// what was typed early. It is typed again once the input is empty.
func (c *mailTyper) erase(ctx context.Context, t *host.InputLock, r screen.Reading, text string) error {
	for range 4 * (strings.Count(text, "\n") + 1) {
		given := r.MaySubmit(text)
		if !given.Valid() {
			break
		}
		if err := t.Keys(ctx, given, []string{"end", "ctrl-u", "backspace"}); err != nil {
			return err
		}
		before := r.Input
		r = c.screen.until(ctx, 10*typingPoll, func(r screen.Reading) bool { return r.Input != before })
	}
	if c.typed = nil; r.Input != "" && r.Input != c.screen.blank {
		return fault.New(fault.Timeout, "its input holds a message twice: erase it there")
	}
	return fault.New(fault.Rejected, "it was typed twice, and erased")
}

// closed is a text whose end no agent takes for something else: a file or a command that
// it completes, or a line that goes on.
func closed(text string) string {
	last := text[strings.LastIndexAny(text, " \n\t")+1:]
	if last != "" && strings.ContainsRune("@/#$!", rune(last[0])) || strings.HasSuffix(last, `\`) || strings.Contains(last, "@") {
		if !strings.HasPrefix(text, last) { // a command of the agent's own stays as it is
			return text + " "
		}
	}
	return text
}

// inFile puts a text into a file and returns the reference to it.
func (c *mailTyper) inFile(ctx context.Context, text, id string) (string, error) {
	name := panes.OwnPath(c.m.o.Team, "mail", c.m.o.Agent+"-"+id+".txt")
	if err := c.m.o.Dir.Write(ctx, name, []byte(text)); err != nil {
		return "", fmt.Errorf("put a long message into a file: %w", err)
	}
	return fmt.Sprintf("[leadlight] a message of %d bytes is in the file %s - read it, and do what it says", len(text), c.m.o.Dir.Join(path.Clean(name))), nil
}

func longest(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n = max(n, len(line))
	}
	return n
}
