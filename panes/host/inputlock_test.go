package host

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	proof "github.com/leadlight-dev/leadlight/panes/screen"
	"golang.org/x/sys/unix"
)

// A person who begins to type between the look at the pane and the first byte is not
// typed over; one who begins while a text is being typed waits until it is submitted.
func TestATurnAndAPerson(t *testing.T) {
	h := newHost(t, Options{})
	h.input.patience = time.Minute // how long that is, the next test shows
	read := rawReader(t, h, "")
	looked := time.Now()
	h.fromPerson(t.Context(), []byte("a"), typing{human: true, draft: true})
	err := h.LockInput(limited(t), looked, func(turn *InputLock) error { return turn.enter(limited(t), requested(), Input{Text: "NOT"}) })
	if fault.CodeOf(err) != fault.Rejected {
		t.Errorf("typed over a person: %v", err)
	}
	if st := h.Status(); !st.Draft || st.LastKeyAt.Before(looked) {
		t.Errorf("%+v", st)
	}
	typed := make(chan struct{})
	looked = time.Now()
	err = h.LockInput(limited(t), looked, func(turn *InputLock) error {
		if err := turn.enter(limited(t), requested(), Input{Text: "mail", Submit: SubmitNone}); err != nil {
			return err
		}
		go func() {
			defer close(typed)
			h.fromPerson(context.Background(), []byte("b"), typing{human: true, draft: true})
		}()
		return turn.put(limited(t), requested(), []byte("\r"))
	})
	if err != nil {
		t.Error(err)
	}
	<-typed
	// One who has waited for long comes between, and nothing more is typed.
	h.input.patience = time.Millisecond
	err = h.LockInput(limited(t), time.Now(), func(turn *InputLock) error {
		if err := turn.enter(limited(t), requested(), Input{Text: "more", Submit: SubmitNone}); err != nil {
			return err
		}
		h.fromPerson(t.Context(), []byte("c"), typing{human: true, draft: true})
		h.fromPerson(t.Context(), []byte("d\r"), typing{human: true, returned: true})
		return turn.put(limited(t), requested(), []byte("\r"))
	})
	if fault.CodeOf(err) != fault.Rejected {
		t.Errorf("submitted what a person is typing in: %v", err)
	}
	if st := h.Status(); st.Draft || !st.LastReturnAt.Equal(st.LastKeyAt) {
		t.Errorf("the line was ended by return: %+v", st)
	}
	if got := read(); got != "amail\rbmorecd\r" {
		t.Errorf("the program read %q", got)
	}
}

// A person waits while a text is typed: until it is submitted, or for their time, and then not
// again while that text is typed.
func TestAPersonWaitsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInputState()
		waits := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			in.enter(t.Context())()
			if took := time.Since(began); took != want {
				t.Errorf("a person waited %s, want %s", took, want)
			}
		}
		for range 2 { // for each text anew
			release, err := in.take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			waits(personWaits)
			waits(0)
			release()
			waits(0)
		}
		release, err := in.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(personWaits/3, release)
		waits(personWaits / 3)
	})
}

func TestDraft(t *testing.T) {
	k := newKeyboard()
	for _, step := range []struct {
		typed string
		draft bool
	}{
		{"abc", true}, {"\x1b[A", true}, {"\r", false}, {"x\x15", false}, {"\x1b[200~one\ntwo\n\x1b[201~", true}, {"\x03", false},
		{"z\x1b[122;1:3u", true}, {"\x1b[99;5u", false}, {"\x1b[99;5:3u", false}, {"y", true}, {"\x1b", false}, {"\x1b[I", false}, {"\x1b[200~a\rb\x1b[201~", true}, {"\x15", false},
	} {
		if k.read([]byte(step.typed)); k.draft != step.draft {
			t.Errorf("after %q: %v", step.typed, k.draft)
		}
		if want := step.typed == "\r"; k.returned != want {
			t.Errorf("after %q: returned %v", step.typed, k.returned)
		}
	}
	if want := "y a\n"; k.half.text != want { // of a text of several lines one is erased at a time
		t.Errorf("left is %q, want %q", k.half.text, want)
	}
}

// What a person has typed is seen at the cursor, until it is submitted, erased, or no longer
// there, and nothing is typed for others while it is. What was not shown is not waited for.
func TestAHalfLine(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{Screen: true})
	background(t, h, shell(`printf '$ '; while read -r l; do case $l in hide) stty -echo;; hint) printf 'to do';; esac; printf '\n$ '; done`))
	eventuallyTail(t, h, "$ ")
	keys := newKeyboard()
	types := func(p string) {
		typed, _ := keys.read([]byte(p))
		h.fromPerson(t.Context(), []byte(p), typed)
	}
	holds := func() bool { return h.HalfLine(limited(t)) }
	if holds() {
		t.Error("it stands there at the beginning")
	}
	for _, half := range []string{"half a line\x7f", "ls", "x", "rm -rf /sr\tv/", strings.Repeat("漢字 ", 60), "1half", "\x1b[A"} {
		types(half)
		eventually(t, fmt.Sprintf("%q stands there", half), holds)
		if strings.Contains(half, "half a") {
			err := h.LockInput(limited(t), time.Now(), func(turn *InputLock) error { return turn.enter(limited(t), requested(), Input{Text: "NOT"}) })
			if fault.CodeOf(err) != fault.Rejected {
				t.Errorf("typed behind %q: %v", half, err)
			}
		}
		prompts := strings.Count(h.Tail(0), "$ ")
		types("\r")
		eventually(t, "it is submitted", func() bool { return strings.Count(h.Tail(0), "$ ") > prompts })
		eventually(t, "it is gone, and the new prompt is known", func() bool { return !holds() && h.input.promptAt().After(h.out.lastAt()) })
	}
	types("half\x15")
	eventually(t, "it is erased", func() bool { return !holds() })
	for _, key := range []string{"x", "enter"} { // by leadlight keys
		if err := h.Keys(limited(t), []string{key}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it stands there until it is submitted", func() bool { return holds() == (key == "x") })
	}
	eventually(t, "the new prompt is known", func() bool { return !holds() && h.input.promptAt().After(h.out.lastAt()) })
	types("hint\r") // what stood there before a word was erased that is in it, too, is none
	eventually(t, "the hint is shown", func() bool {
		c, err := h.Capture(limited(t), 0, false)
		return err == nil && strings.HasSuffix(c.Text, "to do\n$\n") || strings.HasSuffix(c.Text, "to do\n$ \n")
	})
	if holds() {
		t.Error("the hint counts")
	}
	types("do\x17")
	eventually(t, "the word is erased", func() bool { return !holds() })
	types("\r")
	types("hide\r")
	eventually(t, "it does not echo", func() bool {
		p, err := h.current()
		termios, err2 := termiosOf(p.master)
		return err == nil && err2 == nil && termios.Lflag&unix.ECHO == 0
	})
	if types("secret"); holds() {
		t.Error("what is not shown stands there")
	}
}

// TestXH08_NothingIsTypedWithoutAProof: who has the keyboard needs a proof for each text
// and each key, and only a screen makes one.
func TestXH08_NothingIsTypedWithoutAProof(t *testing.T) {
	h := newHost(t, Options{})
	rawReader(t, h, "")
	err := h.LockInput(limited(t), time.Time{}, func(turn *InputLock) error {
		for _, err := range []error{
			turn.Type(limited(t), proof.Proof{}, Input{Text: "NOT"}),
			turn.Keys(limited(t), proof.Proof{}, []string{"enter"}),
			turn.Keys(limited(t), proof.Reading{}.MayType(), []string{"enter"}),
			turn.Type(limited(t), proof.Reading{}.MaySubmit("NOT"), Input{Text: "NOT"}),
		} {
			if fault.CodeOf(err) != fault.Rejected {
				t.Errorf("typed: %v", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
