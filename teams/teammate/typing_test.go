package teammate

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/screen"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// slowAgent shows its prompt at once, and listens once the file go is there: then it does
// what $1 says, and from then on shows what is typed and writes down what is submitted.
const slowAgent = `stty raw -echo
draw() { printf '\033[2J\033[H%s❯ %s' "$above" "$line"; }
take() { printf '%s\n' "$line$chunk" | tr -d '\r' >>taken; }
draw
while [ ! -e go ]; do sleep 0.02; done
eval "$1"
while :; do
	chunk=$(dd bs=65536 count=1 2>/dev/null; echo .)
	chunk=${chunk%.}
	[ "$chunk" ] || exit
	case "$chunk" in
	*"$(printf '\r')"*) take; line= ;;
	*) line=$line$chunk ;;
	esac
	draw
done`

// typer types into a slow agent.
func typer(t *testing.T, does string) (c *mailTyper, dir string) {
	t.Helper()
	protocol := profiles.PromptProtocol{Ready: []string{`^❯`}, Busy: []string{`^working$`}, Quiet: 100 * time.Millisecond}
	c, dir = typerInto(t, protocol, slowAgent, does)
	eventually(t, "its prompt is there", func() bool { return c.screen.read(t.Context()).Shows() })
	return c, dir
}

// typerInto types into a shell's program that is spoken to by a protocol.
func typerInto(t *testing.T, protocol profiles.PromptProtocol, program string, args ...string) (c *mailTyper, dir string) {
	t.Helper()
	dir, protocol = t.TempDir(), protocol.WithDefaults()
	h, err := host.New(host.Options{ID: filepath.Base(dir) + t.Name(), Screen: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWatcher(h, protocol)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		argv := append([]string{"sh", "-c", program, "sh"}, args...)
		_, err := h.Run(context.Background(), host.Command{Argv: argv, Dir: dir, Env: os.Environ()})
		ended <- err
	}()
	t.Cleanup(func() {
		if _, err := h.End(context.Background(), 0, 5*time.Second); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = h.Close()
	})
	return &mailTyper{m: &teammate{host: h, launch: panes.LaunchRecord{PromptProtocol: &protocol}}, screen: w}, dir
}

// A program that says nothing may be looked at before it runs. It takes text all the same.
func TestXH03_ASilentProgramIsSeenToListen(t *testing.T) {
	h, err := host.New(host.Options{ID: t.Name(), Screen: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	w, err := newWatcher(h, profiles.PromptProtocol{Quiet: 10 * time.Millisecond}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if w.observe(t.Context()).free {
		t.Fatal("it takes text before it runs")
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := h.Run(ctx, host.Command{Argv: []string{"sleep", "1000"}, Dir: "/", Env: os.Environ()})
		ended <- err
	}()
	eventually(t, "it takes text", func() bool { return w.observe(t.Context()).free })
	stop()
	if _, err := h.End(context.Background(), 0, 5*time.Second); err != nil {
		t.Error(err)
	}
	<-ended
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

// types calls enter until the text has been taken.
func (c *mailTyper) types(t *testing.T, text, id string) {
	t.Helper()
	eventually(t, "it is taken: "+text, func() bool { return c.enter(t.Context(), text, id, time.Now()) == nil })
}

// taken is what the agent was given.
func taken(t *testing.T, dir string, n int) (lines []string) {
	t.Helper()
	eventually(t, "it has written down what it was given", func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, "taken"))
		lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		return len(lines) >= n && lines[0] != ""
	})
	return lines
}

// listen lets the agent listen.
func listen(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// What an agent has not read yet is not typed again, however long it takes.
func TestXH03_UnreadIsNotTypedAgain(t *testing.T) {
	c, dir := typer(t, "")
	const text = "a text that is to come once"
	for range 2 {
		if err := c.enter(t.Context(), text, "1", time.Now()); fault.CodeOf(err) != fault.Timeout || c.typed == nil {
			t.Fatalf("typed %+v: %v", c.typed, err)
		}
		c.typed.at = time.Now().Add(-2 * typeAgain)
	}
	listen(t, dir)
	c.types(t, text, "1")
	if got := taken(t, dir, 1); !slices.Equal(got, []string{text}) {
		t.Errorf("it was given %q", got)
	}
}

// While an agent has not read the submit key, that is not pressed again: once it goes on, it
// might submit the text as often.
func TestXH03_AnUnreadKeyIsNotPressedAgain(t *testing.T) {
	t.Parallel()
	c, dir := typer(t, `take() { printf '%s\n' "$line$chunk" | tr '\r' '^' >>taken; }
		draw() { printf '\033[2J\033[H❯ %s' "$line"; while [ "$line" ] && [ ! -e on ]; do sleep 0.02; done; }`)
	listen(t, dir)
	const text = "a text that is to be submitted once"
	eventually(t, "the key is pressed", func() bool {
		err := c.enter(t.Context(), text, "1", time.Now())
		if fault.CodeOf(err) != fault.Timeout {
			t.Fatal(err)
		}
		return !c.typed.pressed.IsZero()
	})
	if err := os.WriteFile(filepath.Join(dir, "on"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.types(t, text, "1")
	if got := taken(t, dir, 1); !slices.Equal(got, []string{text + "^"}) {
		t.Errorf("it was given %q", got)
	}
}

// What was typed before an agent listens, and is lost, is typed again, once.
func TestXH03_LostIsTypedAgain(t *testing.T) {
	c, dir := typer(t, "dd bs=65536 count=1 >lost 2>/dev/null; draw")
	const text = "a text that is lost at first"
	if err := c.enter(t.Context(), text, "1", time.Now()); fault.CodeOf(err) != fault.Timeout {
		t.Fatal(err)
	}
	listen(t, dir)
	eventually(t, "it has lost what was typed", func() bool {
		lost, _ := os.ReadFile(filepath.Join(dir, "lost"))
		return string(lost) == text
	})
	c.typed.unread, c.typed.at = time.Time{}, time.Now().Add(-2*typeAgain)
	c.types(t, text, "1")
	if got := taken(t, dir, 1); !slices.Equal(got, []string{text}) {
		t.Errorf("it was given %q", got)
	}
	if c.late != "1" || c.lost != 1 {
		t.Errorf("lost %s, %d times", c.late, c.lost)
	}
	for lost, want := range map[int]bool{0: false, 1: true, 5: true, 1000: true} { // ever more rarely
		if ty := (&typed{lost: lost, at: time.Now().Add(-typeAgain)}); ty.mayCome(0) != want || (&typed{lost: lost}).mayCome(0) {
			t.Errorf("lost %d times: waited for longer: %t", lost, !want)
		}
	}
}

// Texts arrive as they are, whatever they begin with.
func TestXH03_OddTexts(t *testing.T) {
	c, dir := typer(t, "")
	listen(t, dir)
	texts := []string{"/help me", "!ls", "@nobody knows", "#note", "?", "grüße 漢字 עברית 🙂", "> quoted", "ends with a colon:", "x"}
	for i, text := range texts {
		c.types(t, text, string(rune('a'+i)))
	}
	if got := taken(t, dir, len(texts)); !slices.Equal(got, texts) {
		t.Errorf("it was given %q", got)
	}
}

// swallow makes the agent clear its input at the first return key and do nothing; what
// comes after that it does, and says in the words of $says.
const swallow = `take() {
	if [ -e swallowed ]; then printf '%s\n' "$line$chunk" | tr -d '\r' >>taken; SAYS; else : >swallowed; STARTS; fi
}`

// A first text that has left the input while the agent does not begin with it is typed again,
// once, and one that is begun with in any way is not.
func TestXH03_SwallowedIsTypedAgain(t *testing.T) {
	for name, says := range map[string]string{
		"it works":    `above="working$nl"`,
		"it shows it": `above="> $line$nl"`,
		"it asks":     `printf '\033[2J\033[HRun it?\r\n❯ 1. yes\r\n  2. no\r\n'; sleep 2; above=`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			starts := `above="one${nl}two${nl}three$nl"` // what an agent prints that is not listening yet
			if name == "it asks" {
				starts = ":"
			}
			c, dir := typer(t, newline+strings.NewReplacer("SAYS", says, "STARTS", starts).Replace(swallow))
			listen(t, dir)
			const text = "a text that is swallowed at first"
			if err := c.hand(t.Context(), text, "1", time.Now()); fault.CodeOf(err) != fault.Timeout || c.swallowed == nil {
				t.Fatalf("swallowed %+v: %v", c.swallowed, err)
			}
			if err := c.hand(t.Context(), text, "1", time.Now()); fault.CodeOf(err) != fault.Timeout {
				t.Fatalf("it is not typed again so soon: %v", err)
			}
			c.swallowed.at = time.Now().Add(-2 * typeAgain)
			eventually(t, "it is taken", func() bool { return c.hand(t.Context(), text, "1", time.Now()) == nil })
			if got := taken(t, dir, 1); !slices.Equal(got, []string{text}) {
				t.Errorf("it was given %q", got)
			}
		})
	}
}

// A first text that an agent clears from its input each time is typed ever more rarely.
func TestXH03_SwallowedIsTypedMoreRarely(t *testing.T) {
	t.Parallel()
	c, dir := typer(t, `take() { :; }`)
	listen(t, dir)
	c.swallowed = &swallowed{}
	for lost := range 3 {
		hand := func(ago time.Duration) {
			t.Helper()
			c.swallowed.at = time.Now().Add(-ago)
			if err := c.hand(t.Context(), "a text that is swallowed", "1", time.Now()); fault.CodeOf(err) != fault.Timeout || c.swallowed == nil {
				t.Fatalf("swallowed %+v: %v", c.swallowed, err)
			}
		}
		hand(typeAgain << lost)
		if c.lost != lost {
			t.Errorf("it is taken for lost %d times, want %d", c.lost, lost)
		}
		if hand((typeAgain << lost) / 2); c.lost != lost {
			t.Errorf("lost %d times, it is typed again before its time", lost)
		}
	}
}

// newline makes a variable of what ends a line.
const newline = `nl=$(printf '\r\n.'); nl=${nl%.}
`

// The same text, with the same answer, comes once each time: nothing tells the screen after the
// second from the one after the first, where the pane is too small for both.
func TestXH03_TheSameTextAgain(t *testing.T) {
	c, dir := typer(t, newline+`take() { printf '%s\n' "$line$chunk" | tr -d '\r' >>taken; above="> $line${nl}ok$nl"; }`)
	listen(t, dir)
	want := []string{"go on", "go on", "go on"}
	for i, text := range want {
		eventually(t, "it is taken", func() bool {
			return c.hand(t.Context(), text, string(rune('a'+i)), time.Now()) == nil || c.swallowed != nil
		})
		if c.swallowed != nil {
			t.Fatalf("text %d is taken for swallowed", i)
		}
		c.introduced = true
	}
	if got := taken(t, dir, len(want)); !slices.Equal(got, want) {
		t.Errorf("it was given %q", got)
	}
}

// What an agent does while nobody may type counts, too: it began late with its first text, and
// has nothing more to show for it when it rests.
func TestXH03_BegunBetweenTwoTries(t *testing.T) {
	c, dir := typer(t, newline+`take() {
		printf '%s\n' "$line$chunk" | tr -d '\r' >>taken; line=; draw
		until [ -e works ]; do sleep 0.02; done; above="working$nl"; draw
		until [ -e rests ]; do sleep 0.02; done; above=; }`)
	c.mailed(t) // for what waits while it works
	c.introduced = false
	listen(t, dir)
	const text = "a text that is begun with late"
	if err := c.hand(t.Context(), text, "1", time.Now()); fault.CodeOf(err) != fault.Timeout || c.swallowed == nil {
		t.Fatalf("swallowed %+v: %v", c.swallowed, err)
	}
	tell := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tell("works")
	eventually(t, "it works", func() bool { return c.screen.read(t.Context()).State == screen.Busy })
	c.swallowed.at = time.Now().Add(-2 * typeAgain)
	over := make(chan error, 1)
	go func() {
		since, err := c.waitFree(t.Context(), "1")
		over <- errors.Join(err, c.hand(t.Context(), text, "1", since))
	}()
	eventually(t, "it is seen to work", func() bool { return c.m.host.Status().State == api.StateActive })
	tell("rests")
	if err := <-over; err != nil {
		t.Error(err)
	}
	if got := taken(t, dir, 1); !slices.Equal(got, []string{text}) {
		t.Errorf("it was given %q", got)
	}
}

// A menu that comes up when a text arrives, and shows it, is not answered by the return key.
func TestXH03_AMenuBeforeEnter(t *testing.T) {
	c, dir := typer(t, `draw() { printf '\033[2J\033[HRun this?\r\n❯ 1. %s\r\n  2. no\r\n' "$line"; }`)
	listen(t, dir)
	if err := c.enter(t.Context(), "a text that a menu shows", "1", time.Now()); fault.CodeOf(err) != fault.Rejected {
		t.Errorf("it was entered: %v", err)
	}
	if r := c.screen.read(t.Context()); r.State != screen.Asking || len(r.Choices) != 2 {
		t.Errorf("it shows %+v", r)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "taken")); err == nil {
		t.Errorf("it was given %q", data)
	}
}

// At a menu nobody is asked to end, in whatever way: a key would answer it.
func TestXH03_NobodyIsAskedToEndInAMenu(t *testing.T) {
	for name, protocol := range map[string]profiles.PromptProtocol{
		"keys": {QuitKeys: []string{"ctrl-d"}}, "a command": {Quit: "/exit"}, "words": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, dir := strange(t, protocol, `Run this?\r\n❯ 1. yes\r\n  2. no\r\n`, screen.Asking)
			msg := teams.Batch{Message: api.Message{ID: "1", From: store.Lead, Type: store.ShutdownRequest, Text: `{"type":"shutdown_request","requestId":"r"}`}}
			if err := c.askToEnd(t.Context(), msg, time.Now()); fault.CodeOf(err) != fault.Rejected || c.typed != nil {
				t.Errorf("it was asked to end: %v", err)
			}
			if got := c.given(t, dir); got != "" {
				t.Errorf("it was given %q", got)
			}
		})
	}
}
