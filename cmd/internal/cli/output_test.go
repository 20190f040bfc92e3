package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

func TestUX06_TablesAlignWideNamesAndCutWholeCharacters(t *testing.T) {
	tab := &table{head: []string{"NAME", "STATE", "REASON"}}
	tab.add("bob", cell{"active", "green"}, "x")
	tab.add(cell{"研究員", "red"}, "idle", "長い理由がここに書いてある")
	tab.add("cafe\u0301", "lost", "a\x1b[31mb\nc\u202e")
	var b bytes.Buffer
	tab.write(&b, 26, false)
	want := "NAME    STATE   REASON\n" +
		"bob     active  x\n" +
		"研究員  idle    長い理由…\n" +
		"cafe\u0301    lost    a�[31mb c�\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	tab.write(&b, 0, true)
	if !strings.Contains(b.String(), "\x1b[31m研究員\x1b[0m") || !strings.Contains(b.String(), "長い理由がここに書いてある") {
		t.Errorf("with colours and without a width: %q", b.String())
	}
}

func TestNoColorWithoutATerminal(t *testing.T) {
	a := newApp(Stdio{Out: io.Discard, Err: io.Discard}, nil)
	if a.colors(a.out.w) {
		t.Error("colours into a pipe")
	}
}

func TestAMessageCannotDriveTheTerminal(t *testing.T) {
	var b bytes.Buffer
	a := newApp(Stdio{Out: &b, Err: io.Discard}, nil)
	a.message(&b, api.Message{From: "x\x1b[2J", Text: "one\x1b]0;title\x07\ntwo\ttab", Type: "message", Timestamp: "now", Summary: "s\nt"})
	if got, want := b.String(), "* x�[2J  now  s t\n    one�]0;title�\n    two\ttab\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What another's files hold drives no terminal, and git's colours stay.
func TestXF16_ADiffCannotDriveTheTerminal(t *testing.T) {
	got := withColors("\x1b[32m+a\x1b[m\r\n+\x1b]0;x\a\x1b[2J\u009b2J\u202e\u200b\xff\tb\n")
	if want := "\x1b[32m+a\x1b[m\n+�]0;x��[2J�2J���\tb\n\x1b[m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := withColors("+plain\n"); got != "+plain\n" {
		t.Errorf("got %q", got)
	}
}

// Neither does an event, nor what a screen showed.
func TestXF16_WhatIsPassedOnDrivesNoTerminal(t *testing.T) {
	var b bytes.Buffer
	a := newApp(Stdio{Out: &b, Err: io.Discard}, nil)
	if err := a.eventLine(json.RawMessage("{\"x\":\"a\u202e\u009b\u2028\"}")); err != nil || b.String() != `{"x":"a\u202e\u009b\u2028"}`+"\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	if got := onScreen("\x1b[1ma\u202eb\u009b\n"); got != "\x1b[1ma�b�\n" {
		t.Errorf("%q", got)
	}
}

func TestSince(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "now", 5 * time.Second: "5s", 3 * time.Minute: "3m", 5 * time.Hour: "5h", 72 * time.Hour: "3d"} {
		if got := since(api.At(time.Now().Add(-d))); got != want {
			t.Errorf("%s: %s", d, got)
		}
	}
	if since(nil) != "" {
		t.Error("an unknown time is shown")
	}
}

func TestTheStatusLineGivesTmuxNothingToRun(t *testing.T) {
	got := statusLine([]api.Member{{Name: "#(id)", Color: "red", State: api.StateActive, Unread: new(2)}, {Name: "b", Color: "#[x]", State: "new"}}, 2)
	if want := "#[fg=yellow]requests: 2#[default]  #[fg=colour1]##(id)#[default] ●(2)  b ~"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestAResultThatCannotBeWrittenIsAnError(t *testing.T) {
	var errs bytes.Buffer
	if status := Main([]string{"version"}, Stdio{Out: fullDisk{}, Err: &errs}, nil); status != 1 || !strings.Contains(errs.String(), "(DISK_FULL)") {
		t.Errorf("%d %s", status, errs.String())
	}
	errs.Reset()
	if status := Main([]string{"help"}, Stdio{Out: closedPipe{}, Err: &errs}, nil); status != 0 || errs.Len() > 0 {
		t.Errorf("a reader that has gone: %d %s", status, errs.String())
	}
}

func TestATaskVerbThatCannotAnswerSaysWhatItDid(t *testing.T) {
	for _, c := range []struct {
		out    io.Writer
		status int
		want   string
	}{
		{fullDisk{}, 1, "task 4 is as asked for, but standard output cannot be written: no space left on device (DISK_FULL)"},
		{closedPipe{}, 0, ""},
	} {
		var errs bytes.Buffer
		a := newApp(Stdio{Out: c.out, Err: &errs}, nil)
		if status := a.finish(a.task(api.Task{ID: "4"}, nil)); status != c.status || !strings.Contains(errs.String(), c.want) || c.want == "" && errs.Len() > 0 {
			t.Errorf("%T: %d %s", c.out, status, errs.String())
		}
	}
}

func TestNarrationWaitsWithJSON(t *testing.T) {
	var errs bytes.Buffer
	a := newApp(Stdio{Out: io.Discard, Err: &errs}, nil)
	a.json = true
	a.say("said")
	if status := a.finish(fault.New(fault.NoSpace, "full").WithHint("go")); status != 6 {
		t.Errorf("status %d", status)
	}
	if got := errs.String(); got != `{"error":{"code":"NO_SPACE","message":"full","hint":"go"}}`+"\n" {
		t.Errorf("with an error: %q", got)
	}
	errs.Reset()
	if a.finish(nil); errs.String() != "said\n" {
		t.Errorf("without: %q", errs.String())
	}
	if status := a.finish(errors.New("x")); status != 1 {
		t.Errorf("an error without a code: %d", status)
	}
}
