package teammate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestQU08_WhoDrawsItsInputAnew: an agent that answers each key that is pressed, and begins with
// nothing, is not at work.
// https://github.com/Yeachan-Heo/oh-my-codex/issues/647
func TestQU08_WhoDrawsItsInputAnew(t *testing.T) {
	c, _ := typer(t, "")
	c.mailed(t)
	msg := teams.Batch{Message: api.Message{ID: "1", From: store.Lead}}
	c.screen.patient, c.stuck, c.stuckAt = time.Hour, msg.ID, time.Now().Add(-2*time.Hour)
	for range 2 {
		c.showStuck(t.Context(), msg, fault.New(fault.Timeout, "it stays in the input line"))
	}
	if told := c.leadsMail(t); len(told) != 1 || !strings.Contains(told[0].Text, "it stays in the input line") {
		t.Errorf("the lead was told %+v", told)
	}
}

// lateAgent has a terminal that edits lines, and reads nothing before the file go is there.
const lateAgent = `while [ ! -e go ]; do sleep 0.02; done; eval "$1"`

// late types to such an agent, which does not listen yet.
func late(t *testing.T, does string) (c *mailTyper, dir string) {
	t.Helper()
	c, dir = typerInto(t, profiles.PromptProtocol{Quiet: 50 * time.Millisecond}, lateAgent, does)
	eventually(t, "it is quiet", func() bool { return c.screen.observe(t.Context()).free })
	c.mailed(t, "a text for one who listens late")
	if c.round(t.Context()); c.unreadMail(t) != 1 || c.m.host.Status().State != api.StateActive {
		t.Fatalf("%d messages are unread, it is %s", c.unreadMail(t), c.m.host.Status().State)
	}
	return c, dir
}

// delivered lets the agent have its mail, and returns what it was given.
func (c *mailTyper) delivered(t *testing.T, dir string) []string {
	t.Helper()
	listen(t, dir)
	eventually(t, "it has read its mail", func() bool { c.unseen = true; c.round(t.Context()); return c.unreadMail(t) == 0 })
	return taken(t, dir, 1)
}

// leadsMail is what the lead was told.
func (c *mailTyper) leadsMail(t *testing.T) []api.Message {
	t.Helper()
	msgs, err := c.m.o.Service.Inbox(t.Context(), "alpha", store.Lead, teams.InboxFilter{})
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

const lateText = "[leadlight] message from team-lead: a text for one who listens late"

// TestSP15_WhoDoesNotReadHasNotRead: what waits in a terminal has not been read. The lead is
// told of it, once; nothing is typed again, and once it is read, that is seen.
// https://github.com/anthropics/claude-code/issues/23415
func TestSP15_WhoDoesNotReadHasNotRead(t *testing.T) {
	c, dir := late(t, `while read -r l; do printf '%s\n' "$l" >>taken; done`)
	if c.screen.patient = time.Hour; c.stuck == "" {
		t.Fatal("nothing is stuck")
	}
	c.stuckAt = time.Now().Add(-2 * time.Hour)
	if c.round(t.Context()); c.m.host.Status().State != api.StateActive { // what it has printed may be its work
		t.Errorf("it is %s", c.m.host.Status().State)
	}
	c.screen.patient = time.Nanosecond
	for range 2 {
		c.round(t.Context())
	}
	if st := c.m.host.Status(); c.unreadMail(t) != 1 || st.State != api.StateWaiting || !strings.Contains(st.Reason, "has not read") {
		t.Errorf("%d messages are unread, it is %s (%s)", c.unreadMail(t), st.State, st.Reason)
	}
	if told := c.leadsMail(t); len(told) != 1 || !strings.Contains(told[0].Text, "has not read") {
		t.Errorf("the lead was told %+v", told)
	}
	if got := c.delivered(t, dir); !slices.Equal(got, []string{lateText}) {
		t.Errorf("it was given %q", got)
	}
}

// TestSP15_WhoReadsAndEndsHasRead: who ends right after its message was read has read it. Only
// Linux tells that it was.
// https://github.com/anthropics/claude-code/issues/23415
func TestSP15_WhoReadsAndEndsHasRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who has read from a terminal")
	}
	var w files.Watcher
	if _, err := w.Watch(t.Context(), []string{t.TempDir()}, nil); err != nil || w.Polling() {
		t.Skip("the system has no room for inotify, which tells it")
	}
	c, dir := typerInto(t, profiles.PromptProtocol{Quiet: 50 * time.Millisecond}, `read -r l; printf '%s\n' "$l" >>taken`)
	eventually(t, "it is quiet", func() bool { return c.screen.observe(t.Context()).free })
	c.mailed(t, "a text for one who ends")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for tick := time.Tick(time.Millisecond); c.m.host.Status().ExitCode == nil; {
			<-tick
		}
		cancel()
	}()
	c.unseen = true
	for c.round(ctx); ctx.Err() == nil; {
		c.round(ctx)
	}
	if n, got := c.unreadMail(t), taken(t, dir, 1); n != 0 || !slices.Equal(got, []string{"[leadlight] message from team-lead: a text for one who ends"}) {
		t.Errorf("%d messages are unread; it was given %q", n, got)
	}
}

// TestSP15_AnObjectionThatIsNotRead: hooks are not asked again while what they have said waits
// in a terminal.
// https://github.com/anthropics/claude-code/issues/23415
func TestSP15_AnObjectionThatIsNotRead(t *testing.T) {
	c, dir := typerInto(t, profiles.PromptProtocol{Quiet: 50 * time.Millisecond}, lateAgent, `while read -r l; do printf '%s\n' "$l" >>taken; done`)
	c.mailed(t)
	asked := filepath.Join(dir, "asked")
	hook := fmt.Sprintf(`[{"event":"TeammateIdle","command":"echo asked >>'%s'; echo 'the tests fail' >&2; exit 2"}]`, asked)
	if err := c.m.o.Dir.Write(t.Context(), "leadlight/alpha/launch/.hooks.json", []byte(hook)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is quiet", func() bool { return c.screen.observe(t.Context()).free })
	for range 3 {
		if !c.hooksObject(t.Context(), time.Now()) {
			t.Fatal("no hook objects")
		}
	}
	if data, err := os.ReadFile(asked); err != nil || string(data) != "asked\n" || c.kept != 0 {
		t.Errorf("it was asked %q, %v; it was kept from its rest %d times", data, err, c.kept)
	}
	listen(t, dir)
	eventually(t, "it has read it", func() bool { return c.hooksObject(t.Context(), time.Now()) && c.kept == 1 })
	if got := taken(t, dir, 1); len(got) != 1 || !strings.HasSuffix(got[0], ": the tests fail") {
		t.Errorf("it was given %q", got)
	}
}

// TestSP15_ANativeAgentThatDoesNotBegin: who reads its mail itself, and has not begun to, waits
// for somebody to look; the lead is told once. Once it has read, it is active. A look that
// fails tells nothing.
// https://github.com/anthropics/claude-code/issues/24771
func TestSP15_ANativeAgentThatDoesNotBegin(t *testing.T) {
	c, _ := typerInto(t, profiles.PromptProtocol{}, "sleep 1000")
	roster := c.mailed(t, "a prompt")
	roster.broken.Store(true)
	c.m.began = time.Now().Add(time.Minute)
	over := make(chan struct{})
	go func() { defer close(over); c.m.awaitReader(t.Context(), 10*time.Millisecond) }()
	eventually(t, "it has looked", func() bool { return roster.reads.Load() > 1 })
	roster.broken.Store(false)
	waits := func() bool { return c.m.host.Status().State == api.StateWaiting }
	eventually(t, "it waits, and the lead was told", func() bool { return waits() && len(c.leadsMail(t)) > 0 })
	msgs, err := c.m.unread(t.Context())
	if err != nil || len(msgs) != 1 {
		t.Fatalf("%+v, %v", msgs, err)
	}
	if err := c.m.markRead(t.Context(), []string{msgs[0].ID}); err != nil {
		t.Fatal(err)
	}
	<-over
	if told := c.leadsMail(t); waits() || len(told) != 1 || !strings.Contains(told[0].Text, "has not read its first message") {
		t.Errorf("it waits: %v; the lead was told %+v", waits(), told)
	}
	c.m.awaitReader(t.Context(), 10*time.Millisecond) // it ends by itself
}

// TestQU08_TypedButNotSubmitted: an agent that takes no return key is shown as that, and the
// lead is told, once. When somebody has submitted it, the message has been read.
// https://github.com/Yeachan-Heo/oh-my-codex/issues/647
func TestQU08_TypedButNotSubmitted(t *testing.T) {
	c, dir := typerInto(t, profiles.PromptProtocol{Quiet: 50 * time.Millisecond}, `stty raw -echo; printf '> '; line=$(dd bs=65536 count=1 2>/dev/null)
		printf '\r\n%s' "$line"; until [ -e go ]; do dd bs=1 count=1 >/dev/null 2>&1; done; printf '%s\n' "$line" >>taken; printf '\r\n> '; cat >more`)
	eventually(t, "its prompt is there", func() bool { return c.screen.observe(t.Context()).free })
	c.mailed(t, "a text that stays")
	c.unseen, c.screen.patient = true, time.Second
	over := make(chan struct{})
	go func() {
		defer close(over)
		for c.unseen = true; c.unseen && t.Context().Err() == nil; {
			c.round(t.Context())
		}
	}()
	eventually(t, "it is shown, and the lead was told", func() bool {
		st := c.m.host.Status()
		return st.State == api.StateWaiting && strings.HasPrefix(st.Reason, "typed but not submitted") && len(c.leadsMail(t)) > 0
	})
	listen(t, dir)
	if err := c.m.host.Keys(t.Context(), []string{"enter"}); err != nil {
		t.Fatal(err)
	}
	<-over
	if n, got, told := c.unreadMail(t), taken(t, dir, 1), c.leadsMail(t); n != 0 || !slices.Equal(got, []string{"[leadlight] message from team-lead: a text that stays"}) || len(told) > 2 {
		t.Errorf("%d messages are unread; it was given %q; the lead was told %+v", n, got, told)
	}
}

// TestSP01_ThrownAwayIsTypedAgain: a program that throws away what came before it edits its
// line itself is given it again; one that has read it is not.
// https://github.com/anthropics/claude-code/issues/40168
func TestSP01_ThrownAwayIsTypedAgain(t *testing.T) {
	for name, does := range map[string]string{
		"thrown away": `stty raw -echo; dd bs=65536 count=1 >lost 2>/dev/null; until [ -e drawn ]; do sleep 0.02; done; printf '\r\n> '
			line=$(dd bs=65536 count=1 2>/dev/null); printf '%s' "$line"; dd bs=1 count=1 >/dev/null 2>&1; printf '%s\n' "$line" >>taken; printf '\r\n> '; cat >more`,
		"read": `stty raw -echo; line=$(dd bs=65536 count=1 2>/dev/null); printf '%s\n' "$line" >>taken; printf '\r\n> %s\r\n> ' "$line"; cat >more`,
		"read after much was printed": `stty raw -echo; for n in 1 2 3 4 5 6 7 8 9 10; do printf '%s\r\n\r\n\r\n\r\n\r\n\r\n' "$n"; done
			line=$(dd bs=65536 count=1 2>/dev/null); printf '%s\n' "$line" >>taken; printf '\r\n> %s\r\n> ' "$line"; cat >>taken`,
		"read, and much printed": `stty raw -echo; line=$(dd bs=65536 count=1 2>/dev/null); printf '%s\n' "$line" >>taken; printf '\r\n> %s\r\n' "$line"
			for n in 1 2 3 4 5 6 7 8 9 10; do printf '%s\r\n\r\n\r\n\r\n\r\n\r\n' "$n"; done; printf '> '; cat >>taken`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, dir := late(t, does)
			if name == "thrown away" {
				c.typed.at = time.Now().Add(-2 * typeAgain)
				c.beforeItDraws(t, dir)
			}
			if got := c.delivered(t, dir); !slices.Equal(got, []string{lateText}) {
				t.Errorf("it was given %q", got)
			}
		})
	}
}

// beforeItDraws: what the terminal showed of a text that is gone is no input to submit.
func (c *mailTyper) beforeItDraws(t *testing.T, dir string) {
	t.Helper()
	listen(t, dir)
	eventually(t, "it has thrown it away", func() bool { st, err := os.Stat(filepath.Join(dir, "lost")); return err == nil && st.Size() > 0 })
	if err := c.enter(t.Context(), lateText, c.typed.id, time.Now()); fault.CodeOf(err) != fault.Rejected {
		t.Errorf("its text was handed over: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "drawn"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
