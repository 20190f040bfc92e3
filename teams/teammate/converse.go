package teammate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leadlight-dev/leadlight/panes/acp"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// conversation gives an agent that speaks the Agent Client Protocol its mail, as prompts,
// and puts its questions to the lead.
type conversation struct {
	m      *teammate
	client *acp.Client
	page   *page
	input  io.Closer // of the agent: its end asks it to end

	introduced bool
	kept       int             // how often in a row hooks have kept it from going idle
	done       map[string]bool // its completed tasks that the lead knows of
	offers     offering

	turn   atomic.Pointer[turn] // the prompt that it works on
	asking sync.Mutex           // one question after the other
}

// turn is a prompt and what becomes of it.
type turn struct {
	taken func() // it was begun
	once  sync.Once
}

// converse runs such an agent once. goOn: with the conversation that it had.
func (m *teammate) converse(ctx context.Context, helpers *sync.WaitGroup, argv []string, goOn bool) (host.Exit, error) {
	in, input := io.Pipe()
	c := &conversation{m: m, input: input, done: map[string]bool{}}
	c.page = newPage(m.host, func() { _ = c.client.Cancel() })
	c.client = acp.New(input, acp.Handler{Update: c.update, Permit: c.permit, Noise: func(line string) { c.page.Line("%s", line) }})
	session := ""
	if goOn && m.launch.Session != profiles.NoSession {
		session = m.launch.Session
	}
	living, cancel := context.WithCancel(ctx)
	exit, err := m.host.Run(ctx, host.Command{
		Argv: argv, Dir: m.launch.Dir, Env: m.env, Pipes: true, Stdout: c.client, Stderr: errorLines{c.page},
		Talk: &host.Talk{Input: in, Keys: c.page}, Started: func() error {
			err := m.announce(ctx)
			helpers.Go(func() { c.live(living, session) })
			return err
		},
	})
	cancel()
	c.client.Close()
	_ = in.Close()
	c.page.Flush()
	return exit, err
}

// errorLines shows what an agent prints besides its messages.
type errorLines struct{ *page }

func (e errorLines) Write(p []byte) (int, error) {
	e.Line("%s", strings.TrimRight(string(p), "\r\n"))
	return len(p), nil
}

// live opens the session, and then gives the agent what comes, until ctx ends.
func (c *conversation) live(ctx context.Context, session string) {
	m := c.m
	id, lost, err := c.client.Open(ctx, m.launch.Dir, session)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		c.page.Line("leadlight: the agent begins no conversation: %v", err)
		m.show(api.StateWaiting, "", fmt.Sprintf("it begins no conversation: %v", err))
		m.tellIdle(ctx, teams.Idle{Question: fmt.Sprintf("it begins no conversation: %v", err)})
		return
	}
	m.opened = id
	if err := m.o.Panes.Records().WriteLaunch(ctx, m.launch.WithSession(id)); err != nil {
		m.o.Log.Warn("record the conversation", "error", err)
	}
	if lost != nil {
		m.tellNewConversation(ctx, lost.Error())
	}
	hints, err := m.o.Service.Hints(ctx, m.o.Team)
	if err != nil {
		m.print("its mail cannot be watched: %v", err)
		return
	}
	m.completed(ctx, c.done) // what is done before it starts is nothing new
	for ctx.Err() == nil {
		if !c.deliverAll(ctx) {
			return
		}
		m.show(api.StateIdle, "", "")
		c.offers.look(ctx, m)
		select {
		case <-ctx.Done():
		case <-hints: // they end with ctx
		case text := <-c.page.lines:
			c.prompt(ctx, text, func() {})
			c.rest(ctx)
		case <-time.After(mailNet):
		}
	}
}

// deliverAll gives it the mail that is there, a message at a time. It is false if it was
// asked to end.
func (c *conversation) deliverAll(ctx context.Context) bool {
	m, worked := c.m, false
	for ctx.Err() == nil {
		asked, err := m.answerShutdown(ctx)
		if asked {
			m.agreed.Store(true)
			_ = c.input.Close()
			return false
		}
		if err != nil {
			m.o.Log.Warn("answer the request to shut down", "error", err)
		}
		msgs, err := m.unread(ctx)
		if err != nil {
			m.o.Log.Warn("read the inbox", "error", err)
		}
		batches := teams.Collapse(msgs)
		if len(batches) == 0 {
			break
		}
		if !c.deliver(ctx, batches[0]) {
			return ctx.Err() == nil
		}
		worked = true
	}
	if worked {
		c.rest(ctx)
	}
	return true
}

// deliver gives it one message, and marks it as read once it has begun.
func (c *conversation) deliver(ctx context.Context, msg teams.Batch) bool {
	read := func() {
		if err := c.m.markRead(context.WithoutCancel(ctx), msg.IDs); err != nil {
			c.m.o.Log.Warn("mark a message as read", "error", err)
		}
	}
	if msg.Type == store.PermissionResponse { // to a question that is over
		read()
		return true
	}
	if !c.prompt(ctx, c.m.wording(ctx, msg, c.introduced), read) {
		return false
	}
	c.introduced, c.kept = true, 0
	return true
}

// prompt gives it a text and waits until it rests. taken is called once it has begun.
func (c *conversation) prompt(ctx context.Context, text string, taken func()) bool {
	t := &turn{taken: taken}
	c.turn.Store(t)
	defer c.turn.Store(nil)
	c.m.show(api.StateActive, "", "")
	c.page.Line("› %s", clipped(text))
	stopped, err := c.client.Prompt(ctx, text)
	c.page.Flush()
	if ctx.Err() != nil || errors.Is(err, acp.ErrEnded) {
		return false
	}
	t.begun()
	switch {
	case err != nil:
		c.page.Line("! %v", err)
		c.m.tellIdle(ctx, teams.Idle{Fault: err.Error()})
	case stopped != acp.EndTurn:
		c.page.Line("! it stopped: %s", stopped)
	}
	return true
}

// shownPrompt is how much of a prompt its pane shows, in characters.
const shownPrompt = 2000

func clipped(text string) string {
	r := []rune(text)
	if len(r) <= shownPrompt {
		return text
	}
	return fmt.Sprintf("%s … (%d more characters)", string(r[:shownPrompt]), len(r)-shownPrompt)
}

func (t *turn) begun() { t.once.Do(t.taken) }

// rest tells the lead, once, that it has come to rest, unless a hook objects.
func (c *conversation) rest(ctx context.Context) {
	m := c.m
	for ctx.Err() == nil {
		feedback := m.mayIdle(ctx, c.kept)
		if feedback == "" {
			break
		}
		c.kept++
		c.prompt(ctx, "[leadlight] not finished yet: "+teams.Quoted(feedback), func() {})
	}
	idle := m.completed(ctx, c.done)
	m.show(api.StateIdle, "", "")
	m.tellIdle(ctx, idle)
	c.offers = offering{}
}

// update shows what the agent does.
func (c *conversation) update(u acp.Update) {
	switch u.Kind {
	case acp.Said:
		c.page.Say(u.Text)
	case acp.Called:
		c.page.Line("• %s", cmp.Or(u.Tool.Title, u.Tool.Kind, u.Tool.ID))
	case acp.Changed:
		if u.Status == acp.Failed {
			c.page.Line("  failed: %s", cmp.Or(u.Tool.Title, u.Tool.ID))
		}
	case acp.Thought:
	default:
		return
	}
	if t := c.turn.Load(); t != nil {
		t.begun()
	}
}

// permit answers a question by the permission mode of the lead, else it asks.
func (c *conversation) permit(ctx context.Context, q acp.Question) string {
	c.asking.Lock()
	defer c.asking.Unlock()
	if t := c.turn.Load(); t != nil {
		t.begun()
	}
	mode := c.m.launch.Mode
	if mode == profiles.ModeBypass || mode == profiles.ModeAcceptEdits && q.Tool.Kind == "edit" {
		return q.Answer(true)
	}
	if mode == profiles.ModeDontAsk {
		return q.Answer(false)
	}
	allowed, answered := c.ask(ctx, q)
	if ctx.Err() == nil && c.turn.Load() != nil {
		c.m.show(api.StateActive, "", "")
	}
	if !answered {
		return ""
	}
	return q.Answer(allowed)
}

// ask puts a question to the lead, and to whoever sits at the pane.
func (c *conversation) ask(ctx context.Context, q acp.Question) (allowed, answered bool) {
	m := c.m
	what := cmp.Or(q.Tool.Title, q.Tool.Kind, "use a tool")
	hints, err := m.o.Service.Hints(ctx, m.o.Team)
	if err == nil {
		var id string
		id, err = m.o.Service.AskPermission(ctx, m.o.Team, api.Permission{Tool: cmp.Or(q.Tool.Kind, "tool"), ToolUseID: q.Tool.ID, Description: what, Input: q.Tool.Input})
		if err == nil {
			c.page.Line("? May it: %s\n  y, n, or: leadlight approve %s", what, id)
			m.showAll(host.Shown{State: api.StateWaiting, Reason: what, Asks: true})
			return c.answer(ctx, id, hints)
		}
	}
	m.o.Log.Warn("ask the lead", "error", err)
	return false, false
}

// answer waits for what the lead says, or a person at the pane.
func (c *conversation) answer(ctx context.Context, id string, hints <-chan struct{}) (allowed, answered bool) {
	m := c.m
	for {
		select {
		case <-ctx.Done():
			return false, false
		case text := <-c.page.lines:
			yes := strings.EqualFold(text, "y") || strings.EqualFold(text, "yes")
			if !yes && !strings.EqualFold(text, "n") && !strings.EqualFold(text, "no") {
				c.page.Line("  y or n")
				continue
			}
			if err := m.o.Service.PermissionSettled(ctx, m.o.Team, id, yes); err != nil {
				m.o.Log.Warn("note an answer", "error", err)
			}
			return yes, true
		case _, ok := <-hints:
			if !ok {
				hints = nil
			}
		case <-time.After(mailNet):
		}
		yes, come, reason, err := m.o.Service.PermissionAnswer(ctx, m.o.Team, id)
		if err != nil {
			m.o.Log.Warn("read the answer", "error", err)
		}
		if come {
			c.page.Line("  %s", cmp.Or(reason, map[bool]string{true: "allowed", false: "refused"}[yes]))
			return yes, true
		}
	}
}
