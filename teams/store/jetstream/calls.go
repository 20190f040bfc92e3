package jetstream

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Call is what one machine asks another to do.
type Call struct {
	ID     string          `json:"id"` // the same for one that is sent again: it is carried out once, unless it only looks
	Verb   string          `json:"verb,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Follow bool            `json:"follow,omitempty"` // it ends when the asker is gone
	Look   bool            `json:"look,omitempty"`   // it may be carried out again: its answer is not kept
	Stream bool            `json:"stream,omitempty"` // bytes go both ways while it is under way

	Process string `json:"process,omitempty"` // of the daemon that is to carry it out, or does
	Sign    string `json:"sign,omitempty"`    // about a call that is known: signBegin and so on
}

// Signs of an asker.
const (
	signBegin   = "begin"    // it has heard that the call has arrived, and waits: let it begin
	signHere    = "here"     // it still listens
	signEnough  = "enough"   // it does not want the rest
	signGivenUp = "given up" // it has heard nothing: what has begun all the same goes on
)

// word is what the one who carries a call out says to the asker.
type word struct {
	Process string          `json:"process"`
	N       int             `json:"n,omitempty"`     // number of what is told, from 1
	Told    json.RawMessage `json:"told,omitempty"`  // something before the result
	Ended   bool            `json:"ended,omitempty"` // this is the last word
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *fault.Error    `json:"error,omitempty"`
}

// Times of calls.
const (
	aliveEvery  = time.Second             // how often it is said that a call is under way
	askAgain    = 1500 * time.Millisecond // without a word, until a call is sent again
	noneAgain   = 100 * time.Millisecond  // the same, if nobody is there
	silentAfter = 6 * time.Second         // without a word of a call that has begun, until it is given up
	hereEvery   = 3 * time.Second         // how often an asker says that it listens
	askerGone   = 12 * time.Second        // without that, until a call that follows ends
	keptEnds    = 5 * time.Minute         // how long the last word is kept for an asker that missed it
)

// maxFrame is more than a call takes beside its parameters, and a word beside its result.
const maxFrame = 1 << 10

// Asked is a call as it is carried out.
type Asked struct {
	Verb   string
	Params json.RawMessage
	Tell   func(any) error // reaches the asker before the result, in order
	Stream io.ReadWriter   // nil for a call that has none
}

// Answer carries a call out.
type Answer func(context.Context, Asked) (any, error)

// callee is this machine as the one that is asked.
type callee struct {
	e       *Engine
	machine string
	process string
	answer  Answer
	*calls
	wg sync.WaitGroup
}

// calls are those of which this daemon was asked. They stay known while it does not answer for a
// time, since another machine has its name.
type calls struct {
	mu    sync.Mutex
	known map[string]*carried
	over  []*carried // of these, whose answers are kept, in the order in which they ended
}

// carried is a call that was begun, or is about to be.
type carried struct {
	Call
	reply  string
	begun  bool
	enough context.CancelFunc
	here   time.Time // the asker was, last
	last   *word     // nil: it is under way
	ended  time.Time
}

func (e *Engine) callSubject(machine string) string { return e.subject("machine", machine, "call") }

// Answer carries out what other machines ask of this one, until ctx ends. process names
// this daemon: the next one does not know what this one has begun.
func (e *Engine) Answer(ctx context.Context, machine, process string, answer Answer) error {
	c := &callee{e: e, machine: machine, process: process, answer: answer, calls: &e.calls}
	sub, err := e.nc.Subscribe(e.callSubject(machine), func(m *nats.Msg) { c.hear(ctx, m) })
	if err != nil {
		return fmt.Errorf("listen for other machines: %w", err)
	}
	<-ctx.Done()
	_ = sub.Unsubscribe() // the connection ends next
	c.wg.Wait()
	return nil
}

// hear takes one message of an asker.
func (c *callee) hear(ctx context.Context, m *nats.Msg) {
	var call Call
	if json.Unmarshal(m.Data, &call) != nil || call.ID == "" {
		c.e.log.Warn("a machine asks for what cannot be read", "subject", m.Subject)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.known[call.ID]
	switch {
	case ctx.Err() != nil:
	case call.Sign == "" && (x == nil || !x.begun) && call.Process != "" && call.Process != c.process:
		c.say(m.Reply, word{Ended: true, Error: fault.New(fault.Unproven, "the daemon of machine %s was started again while it carried that out", c.machine).
			WithHint("leadlight ps shows what became of it")})
	case x != nil && !x.begun:
		c.hearWaiting(ctx, x, call, m.Reply)
	case x != nil && call.Sign == signEnough:
		x.enough()
	case x != nil && x.last != nil && call.Sign == "":
		c.say(m.Reply, *x.last)
	case x != nil:
		if x.here = time.Now(); call.Sign == "" {
			c.say(m.Reply, word{})
		}
	case call.Sign != "":
	default:
		x := &carried{Call: call, reply: m.Reply, here: time.Now()}
		if c.known[call.ID] = x; x.Look {
			c.begin(ctx, x)
		} else {
			c.say(x.reply, word{}) // it begins when the asker has heard that, and has not given up
		}
	}
}

// hearWaiting takes a message about a call that has arrived and not begun. It is called with
// c.mu held.
func (c *callee) hearWaiting(ctx context.Context, x *carried, call Call, reply string) {
	switch {
	case call.Process == c.process: // also if the sign to begin was lost
		x.reply = reply
		c.begin(ctx, x)
	case call.Sign == signEnough || call.Sign == signGivenUp:
		delete(c.known, x.ID)
	case call.Sign == "":
		x.reply = reply
		c.say(x.reply, word{})
	default:
		x.here = time.Now()
	}
}

// begin carries out a call. It is called with c.mu held.
func (c *callee) begin(ctx context.Context, x *carried) {
	for len(c.over) > 0 && time.Since(c.over[0].ended) > keptEnds {
		delete(c.known, c.over[0].ID)
		c.over = c.over[1:]
	}
	maps.DeleteFunc(c.known, func(_ string, o *carried) bool { return !o.begun && time.Since(o.here) > keptEnds }) // nobody asks any more
	ctx, enough := context.WithCancel(ctx)
	x.begun, x.enough, x.here = true, enough, time.Now()
	c.say(x.reply, word{})
	c.wg.Go(func() {
		defer enough()
		done := make(chan struct{})
		c.wg.Go(func() { c.stayAlive(x, done) })
		last := c.carryOut(ctx, x)
		close(done)
		c.mu.Lock()
		defer c.mu.Unlock()
		x.last, x.ended, x.Params = &last, time.Now(), nil
		c.say(x.reply, last)
		if x.Look {
			delete(c.known, x.ID)
		} else {
			c.over = append(c.over, x)
		}
	})
}

func (c *callee) carryOut(ctx context.Context, x *carried) word {
	n := 0
	result, err := c.streaming(ctx, x, Asked{Verb: x.Verb, Params: x.Params, Tell: func(v any) error {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		n++
		c.say(x.reply, word{N: n, Told: data})
		return nil
	}})
	last := word{N: n, Ended: true}
	if err == nil {
		last.Result, err = json.Marshal(result)
	}
	if most := int(c.e.nc.MaxPayload()) - maxFrame; err == nil && len(last.Result) > most {
		err = fault.New(fault.LimitReached, "the answer has %d bytes, more than the engine takes (%d)", len(last.Result), most)
	}
	if err != nil {
		last.Result, last.Error = nil, fault.Of(err)
	}
	return last
}

// streaming carries a call out with its stream, if it has one. What was written to that has
// arrived before the call has ended well.
func (c *callee) streaming(ctx context.Context, x *carried, asked Asked) (any, error) {
	if !x.Stream {
		return c.answer(ctx, asked)
	}
	stream, err := c.e.openStream(c.machine, x.ID, true)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	defer context.AfterFunc(ctx, func() { _ = stream.Close() })()
	asked.Stream = stream
	result, err := c.answer(ctx, asked)
	_ = stream.CloseWrite() // which flush tells, too
	if lost := stream.flush(silentAfter); err == nil && lost != nil {
		err = c.e.access.unavailable("send what was shown last", lost)
	}
	return result, err
}

// stayAlive says that a call is under way, and ends one that nobody follows any more.
func (c *callee) stayAlive(x *carried, done <-chan struct{}) {
	tick := time.Tick(aliveEvery)
	for {
		select {
		case <-done:
			return
		case <-tick:
		}
		c.mu.Lock()
		gone := x.Follow && time.Since(x.here) > askerGone
		c.mu.Unlock()
		if gone {
			x.enough()
		}
		c.say(x.reply, word{})
	}
}

// say says a word. One that is lost is made good: the asker asks again.
func (c *callee) say(to string, w word) {
	w.Process = c.process
	data, err := json.Marshal(w)
	if err == nil {
		err = c.e.nc.Publish(to, data)
	}
	if err != nil {
		c.e.log.Debug("a word to another machine is lost", "error", err)
	}
}

// Silence is the error of a machine that does not answer.
type Silence struct {
	Begun bool // it was told to begin, or had begun; else it does nothing, also later
}

func (s Silence) Error() string { return "the machine does not answer" }

// Ask lets a machine carry out a call, once, and returns its result. tell gets what is told
// before. A machine that is not there is waited for as long as patience says; one that does
// not answer is the error Silence.
func (e *Engine) Ask(ctx context.Context, machine string, call Call, patience time.Duration, tell func(json.RawMessage)) (json.RawMessage, error) {
	if err := e.reachable("ask machine " + machine); err != nil {
		return nil, err
	}
	if len(call.Params) > int(e.nc.MaxPayload())-maxFrame {
		return nil, e.explain(ctx, "ask machine "+machine, nats.ErrMaxPayload)
	}
	a := &asking{e: e, subject: e.callSubject(machine), inbox: e.nc.NewInbox(), call: call, tell: tell, limit: time.Now().Add(patience)}
	words := make(chan *nats.Msg, 1024)
	sub, err := e.nc.ChanSubscribe(a.inbox, words)
	if err != nil {
		return nil, e.access.unavailable("ask machine "+machine, err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	again, here := time.NewTimer(0), time.NewTicker(hereEvery)
	defer again.Stop()
	defer here.Stop()
	for {
		select {
		case <-again.C:
			if err := a.askAgain(); err != nil {
				return nil, err
			}
			again.Reset(askAgain)
		case <-here.C:
			a.send(Call{ID: call.ID, Sign: signHere})
		case m := <-words:
			if len(m.Data) == 0 && m.Header.Get("Status") == "503" { // nobody listens there
				again.Reset(noneAgain)
				continue
			}
			first := a.call.Process == ""
			last, err := a.hear(m.Data)
			if last != nil || err != nil {
				return last, err
			}
			if first && !call.Look {
				a.send(Call{ID: call.ID, Sign: signBegin, Process: a.call.Process})
			}
			again.Reset(askAgain)
		case <-ctx.Done():
			a.send(Call{ID: call.ID, Sign: signEnough})
			return nil, context.Cause(ctx)
		}
	}
}

// asking is one call, on the asker's side.
type asking struct {
	e              *Engine
	subject, inbox string
	call           Call
	tell           func(json.RawMessage)
	asked          bool
	limit          time.Time // for the next word
	told           int       // how much was told
}

// askAgain sends the call, for the first time or because nothing was heard.
func (a *asking) askAgain() error {
	if a.asked && time.Now().After(a.limit) {
		if err := a.e.reachable("wait for another machine"); err != nil {
			return err
		}
		begun := a.call.Process != ""
		if !begun {
			a.send(Call{ID: a.call.ID, Sign: signGivenUp})
		}
		return Silence{Begun: begun}
	}
	a.asked = true
	a.send(a.call)
	return nil
}

func (a *asking) send(call Call) {
	data, err := json.Marshal(call)
	if err == nil {
		err = a.e.nc.PublishMsg(&nats.Msg{Subject: a.subject, Reply: a.inbox, Data: data})
	}
	if err != nil {
		a.e.log.Debug("a call to another machine is lost", "error", err) // it is sent again
	}
}

// hear takes one word. The last one gives the result.
func (a *asking) hear(data []byte) (json.RawMessage, error) {
	var w word
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fault.New(fault.Failed, "the answer of another machine cannot be read: %w", err)
	}
	a.limit = time.Now().Add(silentAfter)
	a.call.Process = cmp.Or(a.call.Process, w.Process)
	missed := w.Told != nil && w.N > a.told+1 || w.Ended && w.N > a.told
	switch {
	case w.Error != nil:
		return nil, w.Error
	case missed && a.call.Follow: // else it was progress, which the result makes good
		return nil, fault.New(fault.EngineUnavailable, "a part of what another machine told is lost").WithHint("try again")
	case w.Told != nil && w.N > a.told:
		a.told = w.N
		a.tell(w.Told)
	case w.Ended:
		return w.Result, nil
	}
	return nil, nil
}
