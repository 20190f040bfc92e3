package teammate

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/screen"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// strangeAgent shows $1, and writes down every byte that comes. It shows what is typed where
// it stands, and begins anew after what is submitted.
const strangeAgent = `stty raw -echo
printf "$1"
: >taken
while :; do
	chunk=$(dd bs=65536 count=1 2>/dev/null; echo .)
	chunk=${chunk%.}
	[ "$chunk" ] || exit
	printf '%s' "$chunk" | tr '\r' '\n' >>taken
	case "$chunk" in
	*"$(printf '\r')"*) printf "\r\n$1" ;;
	*) printf '%s' "$chunk" ;;
	esac
done`

// strange types to an agent that shows something other than its prompt.
func strange(t *testing.T, protocol profiles.PromptProtocol, shows string, state screen.State) (c *mailTyper, dir string) {
	t.Helper()
	protocol.Ready, protocol.Busy, protocol.Quiet = []string{`^❯`}, []string{`^working$`}, 50*time.Millisecond
	c, dir = typerInto(t, protocol, strangeAgent, shows)
	eventually(t, "it shows something, and rests", func() bool {
		_, err := os.Stat(filepath.Join(dir, "taken"))
		return err == nil && c.screen.read(t.Context()).State == state && time.Since(c.m.host.Status().LastOutputAt) > c.screen.quiet
	})
	return c, dir
}

// given is all that such an agent was given until now: what is typed next is not before it.
func (c *mailTyper) given(t *testing.T, dir string) string {
	t.Helper()
	const end = "(end)"
	if err := c.m.host.Inject(t.Context(), host.Input{Text: end, Submit: host.SubmitNone}); err != nil {
		t.Fatal(err)
	}
	var before string
	eventually(t, "it has written down what it was given", func() (all bool) {
		data, _ := os.ReadFile(filepath.Join(dir, "taken"))
		before, all = strings.CutSuffix(string(data), end)
		return all
	})
	return before
}

// A screen that is not recognized for long is said to be so. Nothing is typed into it, and
// the mail stays unread.
func TestXH03_UnknownScreenSaysSo(t *testing.T) {
	c, dir := strange(t, profiles.PromptProtocol{}, `loading\r\n`, screen.Unknown)
	c.screen.patient = time.Hour
	if got := c.screen.observe(t.Context()); got != (observation{}) {
		t.Errorf("at first: %+v", got)
	}
	c.screen.patient = c.screen.quiet
	if got := c.screen.observe(t.Context()); got != (observation{unknown: true}) {
		t.Errorf("after a while: %+v", got)
	}
	c.mailed(t, "hello")
	ctx, enough := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); c.round(ctx) }()
	eventually(t, "others see it", func() bool {
		st := c.m.host.Status()
		return st.State == api.StateWaiting && strings.HasPrefix(st.Reason, "unknown screen")
	})
	enough()
	<-over
	if err := c.enter(t.Context(), "hello", "1", time.Now()); err == nil {
		t.Error("it was typed")
	}
	if n, got := c.unreadMail(t), c.given(t, dir); n != 1 || got != "" {
		t.Errorf("%d messages are unread, it was given %q", n, got)
	}
}

// Where the profile allows it, mail is typed into such a screen, and submitted once.
func TestXH03_UnknownScreenMayBeTypedInto(t *testing.T) {
	c, dir := strange(t, profiles.PromptProtocol{OnUnknown: profiles.Type}, `loading\r\n`, screen.Unknown)
	c.screen.patient = c.screen.quiet
	if got := c.screen.observe(t.Context()); !got.free || got.unknown {
		t.Fatalf("it was made out as %+v", got)
	}
	c.mailed(t, "hello")
	if c.round(t.Context()); c.unreadMail(t) != 0 {
		t.Error("the message is unread")
	}
	if got, want := c.given(t, dir), "[leadlight] message from team-lead: hello\n"; got != want {
		t.Errorf("it was given %q, want %q", got, want)
	}
}

// A text of several lines that stands in the input might be a menu: mail waits until it is gone,
// others are told so, and the screen is not looked at without a pause meanwhile, also where a
// message was typed before that is over.
func TestXH03_ATextInTheInputIsLeftAlone(t *testing.T) {
	protocol := profiles.PromptProtocol{Frame: screen.FrameRules}
	c, dir := strange(t, protocol, `────────────────────\r\n❯ one\r\n  two\r\n────────────────────\r\n`, screen.Ready)
	c.mailed(t, "hello")
	c.typed = &typed{id: "of one that is read by now"}
	ctx, enough := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); c.round(ctx) }()
	eventually(t, "others see it", func() bool {
		st := c.m.host.Status()
		return st.State == api.StateWaiting && strings.HasPrefix(st.Reason, "its input holds a text")
	})
	enough()
	<-over
	if n, got := c.unreadMail(t), c.given(t, dir); n != 1 || got != "" {
		t.Errorf("%d messages are unread, it was given %q", n, got)
	}
}

// A line that a person has left unfinished is left alone, however long it stands there. The lead
// is told, once. What is typed for others comes after it was submitted.
func TestXH03_AHalfLineIsLeftAlone(t *testing.T) {
	short, err := os.MkdirTemp("/tmp", "ll")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) }) // after the host, which makes its socket again
	c, dir := typer(t, "")
	listen(t, dir)
	c.mailed(t, "hello")
	c.screen.patient = c.screen.quiet
	types := person(t, c.m.host, filepath.Join(short, "h", "s"))
	types("half a line")
	eventually(t, "it stands there", func() bool { return c.screen.read(t.Context()).Holds("half a line") })
	ctx, enough := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); c.round(ctx) }()
	eventually(t, "the lead is told", func() bool { return len(c.leadsMail(t)) > 0 })
	st := c.m.host.Status()
	enough()
	<-over
	if told := c.leadsMail(t); st.State != api.StateWaiting || st.Reason != notSubmitted || len(told) != 1 || !strings.Contains(told[0].Text, notSubmitted) {
		t.Errorf("it is %s: %q; the lead was told %+v", st.State, st.Reason, told)
	}
	if err := c.enter(t.Context(), "NOT", "1", time.Now()); fault.CodeOf(err) != fault.Rejected {
		t.Errorf("typed behind it: %v", err)
	}
	const hooks = "leadlight/alpha/launch/.hooks.json" // are asked once, and not while what they say cannot be typed
	asked := filepath.Join(dir, "asked")
	hook := fmt.Sprintf(`[{"event":"TeammateIdle","command":"echo asked >>'%s'; echo 'the tests fail' >&2; exit 2"}]`, asked)
	if err := c.m.o.Dir.Write(t.Context(), hooks, []byte(hook)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if !c.hooksObject(t.Context(), time.Now()) {
			t.Error("no hook objects")
		}
	}
	if data, err := os.ReadFile(asked); err != nil || string(data) != "asked\n" {
		t.Errorf("hooks were asked %q, %v", data, err)
	}
	if err := c.m.o.Dir.Remove(hooks); err != nil {
		t.Fatal(err)
	}
	other, err := newWatcher(c.m.host, profiles.PromptProtocol{Ready: []string{`^never$`}, Quiet: c.screen.quiet}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	other.patient = c.screen.quiet
	if seen := other.observe(t.Context()); seen != (observation{unknown: true, half: true}) || c.unknown(seen) != notSubmitted {
		t.Errorf("on a screen that is not recognized: %+v", seen)
	}
	types("\r")
	eventually(t, "it has read its mail", func() bool { c.unseen = true; c.round(t.Context()); return c.unreadMail(t) == 0 })
	if got := taken(t, dir, 2); !slices.Equal(got, []string{"half a line", "[leadlight] message from team-lead: hello"}) {
		t.Errorf("it was given %q", got)
	}
}

// person types into a host, as one who is attached to it.
func person(t *testing.T, h *host.Host, socket string) (types func(keys string)) {
	t.Helper()
	if err := h.Listen(socket); err != nil {
		t.Fatal(err)
	}
	in, typed := io.Pipe()
	over := make(chan error, 1)
	go func() {
		_, err := host.Dial(socket).Attach(context.Background(), host.AttachOptions{In: in, Out: io.Discard})
		over <- err
	}()
	t.Cleanup(func() {
		_ = typed.Close()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return func(keys string) { _, _ = io.WriteString(typed, keys) }
}
