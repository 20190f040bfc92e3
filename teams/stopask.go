package teams

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Limits of asking.
const (
	leaveGrace   = 2 * time.Second  // how long a teammate that agreed may take to go by itself
	answerLook   = time.Second      // how often the answers are read although no hint came
	dialogGrace  = 5 * time.Second  // how long a dialog in which no request is read may stay
	reminderStep = 10 * time.Second // how often it is said how long a teammate may still think
)

// asksByMail tells whether a request in the inbox reaches that kind: the host of an
// interactive agent reads it and asks as the profile says.
func asksByMail(kind string) bool { return kind != profiles.Plain }

// ask is the stage in which those who take a request to stop get one. From then on the
// lead's box is read for their answers, until stop is called.
func (r *stopping) ask(ctx context.Context) (stop func()) {
	var asked []*stoppingMember
	for _, m := range r.members {
		if m.live && m.obs.State != state.Unknown && asksByMail(m.Leadlight.Kind) {
			asked = append(asked, m)
		}
	}
	if len(asked) == 0 {
		return func() {}
	}
	all(len(asked), func(i int) {
		if err := r.sendRequest(ctx, asked[i]); err != nil {
			r.o.say(asked[i].Name, "could not be asked: "+fault.Of(err).Message) // a damaged inbox keeps nobody alive
		}
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var done sync.WaitGroup
	done.Go(func() { r.readAnswers(ctx, asked) })
	return func() {
		cancel()
		done.Wait()
	}
}

// sendRequest asks one member to stop.
func (r *stopping) sendRequest(ctx context.Context, m *stoppingMember) error {
	now := time.Now()
	id := store.NewRequestID("shutdown", m.Name, now)
	frame := store.Frame{Type: store.ShutdownRequest, RequestID: id, From: store.Lead, Reason: r.o.Reason, Timestamp: store.FormatTime(now)}
	sent, err := r.post(ctx, r.t, m.Name, store.Message{From: store.Lead, Text: frame.Text(), Timestamp: now})
	if err != nil {
		return fmt.Errorf("ask %s to stop: %w", m.Name, err)
	}
	m.request, m.message, m.asked, m.out.RequestID = id, sent.ID, now.Truncate(time.Millisecond), id
	r.o.say(m.Name, fmt.Sprintf("asked to stop; gets SIGTERM in %s", r.o.Ask))
	return nil
}

// readAnswers hands the newest answer of each member on, until ctx ends.
func (r *stopping) readAnswers(ctx context.Context, asked []*stoppingMember) {
	hints, err := r.mail.Watch(ctx, r.t.Name, leadName(r.t))
	if err != nil {
		r.log.Warn("watch for answers", "team", r.t.Name, "error", err)
	}
	look := time.Tick(answerLook) // a hint may have been lost
	told := map[string]string{}   // message by request, or by member if it names two
	for {
		if newest, err := r.newestAnswers(ctx, r.t); err == nil {
			for _, m := range asked {
				if a, ok := newest[requestKey{name: m.Name, unclear: true}]; ok && !a.at.Before(m.asked) && told[m.Name] != a.message {
					told[m.Name] = a.message
					r.o.say(m.Name, "agrees, but names more than one request: that counts for none")
				}
				if a, ok := newest[requestKey{name: m.Name, id: m.request}]; ok && told[m.request] != a.message {
					told[m.request] = a.message
					m.ingest(a)
					if r.t.LedByUs() {
						_ = r.mail.MarkRead(ctx, r.t.Name, leadName(r.t), []string{a.message}) // unread, it would only be seen twice
					}
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-look:
		case _, ok := <-hints:
			if !ok {
				hints = nil
			}
		}
	}
}

// ingest keeps the newest answer for whoever waits for it.
func (m *stoppingMember) ingest(a answer) {
	select {
	case <-m.answers:
	default:
	}
	m.answers <- a // only one goroutine sends, so there is room
}

// await waits until a member that was asked has gone or refused, or may not think any
// longer. The newest answer counts until then: who agreed may still refuse.
func (r *stopping) await(ctx context.Context, m *stoppingMember) answer {
	gone, deaf := make(chan struct{}), make(chan struct{})
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		defer close(gone)
		r.awaitEnd(watching, m)
	}()
	go func() {
		if r.awaitDialog(watching, m) {
			close(deaf)
		}
	}()
	return r.countDown(ctx, m, gone, deaf)
}

// countDown is await for who knows when a member has gone, and when no request can reach it.
// It says from time to time how long that one may still think.
func (r *stopping) countDown(ctx context.Context, m *stoppingMember, gone, deaf <-chan struct{}) answer {
	began := time.Now()
	limit := time.NewTimer(r.o.Ask)
	defer limit.Stop()
	remind := time.Tick(reminderStep)
	said, interrupted := answer{}, ctx.Done()
	for {
		select {
		case said = <-m.answers:
			if said.outcome == state.Rejected {
				return said
			}
			interrupted = nil // it goes: this is seen to its end
			limit.Reset(leaveGrace)
			continue
		case <-remind:
			if left := (r.o.Ask - time.Since(began)).Round(time.Second); said.outcome == "" && left > 0 {
				r.o.say(m.Name, fmt.Sprintf("has not answered; gets SIGTERM in %s", left))
			}
			continue
		case <-gone:
			if said = r.lastAnswer(ctx, m, said); said.outcome != state.Approved {
				said = answer{outcome: state.Exited}
			}
			return said
		case <-deaf:
			if deaf = nil; said.outcome == "" {
				r.o.say(m.Name, "asks a person something, so the request does not reach it")
				return r.lastAnswer(ctx, m, said)
			}
		case <-limit.C:
			return r.lastAnswer(ctx, m, said)
		case <-interrupted:
			return answer{}
		}
	}
}

// lastAnswer reads once more what a member has said.
func (r *stopping) lastAnswer(ctx context.Context, m *stoppingMember, said answer) answer {
	newest, err := r.newestAnswers(context.WithoutCancel(ctx), r.t)
	if a, ok := newest[requestKey{name: m.Name, id: m.request}]; err == nil && ok {
		return a
	}
	return said
}

// awaitEnd waits for the end of a member's host, or of ctx.
func (r *stopping) awaitEnd(ctx context.Context, m *stoppingMember) {
	for ctx.Err() == nil {
		if m.obs.Record.Process.PID > 0 && m.obs.Record.Process.Wait(ctx) == nil {
			return
		}
		obs := r.observed(ctx, r.t.Name, m.Member)
		if state.Ended(obs.State) {
			return
		}
		select { // it cannot be watched
		case <-ctx.Done():
		case <-time.After(answerLook):
		}
	}
}

// awaitDialog waits until a member has asked a person something for so long that the request
// to stop does not reach it: nothing is typed into a question, and no key of ours answers it. One
// that has read the request may ask whether it may answer. It is false when ctx ends first.
func (r *stopping) awaitDialog(ctx context.Context, m *stoppingMember) bool {
	var d dialog
	for m.Leadlight.Kind == profiles.Interactive || m.Leadlight.Kind == profiles.ACP {
		if d.stays(r.observed(ctx, r.t.Name, m.Member).Status.Shown) && r.unread(ctx, m) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(answerLook):
		}
	}
	return false
}

// dialog is a question that is put to a person.
type dialog struct {
	what  string
	since time.Time
}

// stays tells whether it has stood there for dialogGrace. A next question shows that somebody
// answers them.
func (d *dialog) stays(now host.Shown) bool {
	if !now.Asks || now.Reason != d.what || d.since.IsZero() {
		d.what, d.since = now.Reason, time.Now()
	}
	return now.Asks && time.Since(d.since) >= dialogGrace
}

// unread tells whether a member has not read the request to stop yet.
func (r *stopping) unread(ctx context.Context, m *stoppingMember) bool {
	msgs, err := r.mail.List(ctx, r.t.Name, m.Name)
	return err == nil && slices.ContainsFunc(msgs, func(msg store.Message) bool { return msg.ID == m.message && !msg.Read })
}

// withdraw takes a request back, so that it cannot end the teammate later, and says what
// that means.
func (r *stopping) withdraw(ctx context.Context, m *stoppingMember) string {
	if m.message == "" {
		return "it runs on"
	}
	if err := r.noteWithdrawn(ctx, r.t.Name, m.request); err != nil {
		return "it was asked, and may still stop: " + err.Error()
	}
	if err := r.mail.MarkRead(ctx, r.t.Name, m.Name, []string{m.message}); err != nil {
		return "it was asked, and may still stop: " + err.Error()
	}
	return "the request is taken back, and it runs on"
}

// giveUp takes back the requests of those who are not proved to have ended, and whose end
// nobody waits for any more.
func (r *stopping) giveUp(ctx context.Context, batch []*stoppingMember) {
	for _, m := range batch {
		if m.out.Outcome == state.Unproven && m.message != "" && !m.back {
			m.back = true
			r.withdraw(ctx, m)
		}
	}
}

// takeBack takes the requests to stop back that a teammate has got: nobody waits for them any
// more. Of one that is started again it takes the answers to its questions, too. leadlight
// itself sees that they are of an earlier time; an agent that reads its box by itself does not.
func (mb *mailbox) takeBack(ctx context.Context, team, name string, again bool) error {
	msgs, err := mb.mail.List(ctx, team, name)
	if err != nil {
		return fmt.Errorf("read the inbox of %s: %w", name, err)
	}
	var ids, requests []string
	for _, msg := range msgs {
		f, ok := store.ParseFrame(msg.Text)
		if !ok || !endsWithReader(f.Type) || f.Type != store.ShutdownRequest && !again {
			continue
		}
		if !msg.Read {
			ids = append(ids, msg.ID)
		}
		if f.Type == store.ShutdownRequest && checkRequestID(f.RequestID) == nil {
			requests = append(requests, f.RequestID)
		}
	}
	if len(requests) > 0 {
		err = mb.noteWithdrawn(ctx, team, requests...)
	}
	if err != nil || len(ids) == 0 {
		return err
	}
	return mb.mail.MarkRead(ctx, team, name, ids)
}

// maxWithdrawn is how many of them are kept.
const maxWithdrawn = 200

func (mb *mailbox) noteWithdrawn(ctx context.Context, team string, ids ...string) error {
	err := withdrawnRecord().Edit(ctx, mb.panes.Records(), team, "take a request back", func(known *[]string) (bool, error) {
		before := len(*known)
		for _, id := range ids {
			if !slices.Contains(*known, id) {
				*known = append(*known, id)
			}
		}
		changed := len(*known) > before
		*known = (*known)[max(0, len(*known)-maxWithdrawn):]
		return changed, nil
	})
	if err != nil {
		return fmt.Errorf("take the requests %s back: %w", strings.Join(ids, " "), err)
	}
	return nil
}

// awaitOthers waits for the end of each verb that starts or ends one of the members named
// (nil: all) and was there first, and returns the roster as it is then.
func (sp *stopper) awaitOthers(ctx context.Context, t store.Team, names []string, say func(name, what string)) (store.Team, error) {
	if names == nil {
		for _, m := range t.Teammates() {
			if m.Leadlight != nil {
				names = append(names, m.Name)
			}
		}
	}
	waited := false
	for _, name := range names {
		name, err := store.CheckMember(t.Local(name))
		if err != nil {
			continue // whoever picks the members says it
		}
		err = sp.panes.AwaitMember(ctx, t.Name, name, sp.limits.lockWait(), func(holder string) {
			say(name, "waits for "+holder)
			waited = true
		})
		if err != nil {
			return t, fmt.Errorf("wait for who starts or ends %s: %w", name, err)
		}
	}
	if !waited {
		return t, nil
	}
	return sp.get(ctx, t.Name)
}

// lock keeps other verbs from a member, unless a restart does that already.
func (r *stopping) lock(ctx context.Context, m *stoppingMember) (err error) {
	if !r.o.again {
		m.release, err = r.panes.LockMember(ctx, r.t.Name, m.Name, "stop a teammate", r.limits.lockWait(), func(holder string) { r.o.say(m.Name, "waits for "+holder) })
	}
	return err
}

// replaced tells whether another one has taken a member's place since it was looked at.
func (r *stopping) replaced(ctx context.Context, m *stoppingMember) bool {
	t, err := r.now.after(time.Now(), func() (store.Team, error) { return r.get(ctx, r.t.Name) })
	if err != nil {
		return false
	}
	now, err := memberOf(t, m.Name)
	return err == nil && now.Leadlight != nil && now.Leadlight.Host != m.Leadlight.Host
}

// sharedLook is a look at the roster that all who want one at the same time share: each by
// itself would read all members once for every member.
type sharedLook struct {
	mu    sync.Mutex
	began time.Time
	team  store.Team
}

// after returns a look that began after t.
func (l *sharedLook) after(t time.Time, look func() (store.Team, error)) (store.Team, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.began.After(t) {
		return l.team, nil
	}
	began := time.Now()
	team, err := look()
	if err == nil {
		l.team, l.began = team, began
	}
	return team, err
}
