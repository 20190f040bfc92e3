package external_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/backendtest"
	"github.com/leadlight-dev/leadlight/backend/external"
	"github.com/leadlight-dev/leadlight/backend/external/plugin"
	"github.com/leadlight-dev/leadlight/backend/memory"
	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/leaktest"
)

// TestMain lets the test binary be a backend's program, good or bad.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "as" {
		helper(os.Args[2], os.Args[3:])
		os.Exit(0)
	}
	leaktest.Main(m)
}

const hello = `{"jsonrpc":"2.0","id":1,"result":{"protocol":%d,"backend":{"name":"x"},"new":{"things":[1]}}}` + "\n"

// helper is one kind of program.
func helper(kind string, args []string) {
	in := bufio.NewScanner(os.Stdin)
	next := func() bool { return in.Scan() }
	greet := func() {
		next()
		fmt.Printf(hello, 1)
	}
	drain := func() {
		for next() {
		}
	}
	switch kind {
	case "memory":
		b := memory.New()
		// Main would not come back to end the programs in the panes.
		_ = plugin.Serve(context.Background(), os.Stdin, os.Stdout, plugin.Info{Name: "memory", NoFocus: true, NoReopen: true},
			func(plugin.Host) (backend.Backend, error) { return b, nil })
		b.End()
	case "mute":
		drain()
	case "mute-later":
		greet()
		drain()
	case "deaf": // does not even read
		time.Sleep(time.Hour)
	case "deaf-later":
		greet()
		time.Sleep(time.Hour)
	case "newer":
		next()
		fmt.Printf(hello, 7)
		drain()
	case "dies":
		fmt.Fprintln(os.Stderr, "no display\nset DISPLAY")
		os.Exit(3)
	case "dies-later": // at the first question; the greeting counts the runs
		if f, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, _ = f.WriteString("x")
		}
		greet()
		for next() {
			if strings.Contains(in.Text(), `"list"`) {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}
	case "says": // the same to every question
		greet()
		for next() {
			fmt.Println(args[0])
		}
	case "reopens": // what it lists, or tells of its own pane, it opens; it notes what it is asked
		greet()
		notes, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			os.Exit(3)
		}
		for next() {
			var asked struct {
				ID     int
				Method string
			}
			_ = json.Unmarshal(in.Bytes(), &asked)
			fmt.Fprintln(notes, asked.Method)
			result := map[string]string{"list": `{"panes":[{"id":"a"}]}`, "self": `{"self":{"id":"s"}}`, "open": `{"panes":[{"pane":{"id":"s"}}]}`}[asked.Method]
			if result != "" {
				fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}\n", asked.ID, result)
			}
		}
	case "stays": // when its input ends
		greet()
		drain()
		time.Sleep(time.Hour)
	}
}

func start(t backendtest.T, change func(*external.Options), as ...string) *external.Backend {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := external.Options{Name: "x", Argv: append([]string{exe, "as"}, as...), Environ: os.Environ(), StateDir: "/nowhere", Idle: -1, Limit: 20 * time.Second}
	if change != nil {
		change(&o)
	}
	b, err := external.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	return b
}

func TestBackend(t *testing.T) {
	opts := backendtest.Opts{
		New: func(t backendtest.T) backendtest.Terminal {
			return backendtest.Terminal{Backend: start(t, nil, "memory"), At: backend.Spec{Place: backend.Split}}
		},
		NoFocus: true, NoBorder: true, NoReopen: true, NoFreeze: true, NoKill: true,
	}
	t.Logf("declared weak: %q", opts.Weaknesses())
	for _, c := range backendtest.Cases(opts) {
		t.Run(c.Name, func(t *testing.T) { t.Parallel(); c.Run(t) })
	}
}

// Whoever asks while the program is being greeted waits no longer than they want to.
func TestIT05_NobodyWaitsBehindAnother(t *testing.T) {
	b := start(t, func(o *external.Options) { o.Limit = time.Minute }, "mute")
	first, enough := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := b.List(first); done <- err }()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := b.List(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second: %v", err)
	}
	if took := time.Since(begin); took > 50*time.Second {
		t.Errorf("the second waited %v", took)
	}
	enough()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v", err)
	}
}

// https://github.com/TomAnthony/itermocil/issues/95 and others: a helper that hangs, is
// refused or talks nonsense is a clear error within the limit, and never an empty list.
func TestIT01_IT05_BadPrograms(t *testing.T) {
	for _, tc := range []struct {
		as   []string
		says string
	}{
		{[]string{"mute"}, "did not answer initialize within 500ms"},
		{[]string{"mute-later"}, "did not answer list within 3s"},
		{[]string{"deaf"}, "did not answer initialize within 500ms"},
		{[]string{"deaf-later"}, "did not answer list within 3s"},
		{[]string{"newer"}, "speaks version 7 of the protocol, this leadlight version 1"},
		{[]string{"dies"}, "ended: exit status 3; it said: no display | set DISPLAY"},
		{[]string{"dies-later", os.DevNull}, "ended: signal: killed"},
		{[]string{"says", "Welcome!"}, `did not answer list within 3s; the line is not JSON: "Welcome!"`},
		{[]string{"says", "[]"}, "did not answer list within 3s; the line is not one JSON object"},
		{[]string{"says", `{"id":3,"result":{}}`}, `did not answer list within 3s; the line lacks "jsonrpc":"2.0"`},
		{[]string{"says", strings.Repeat("Welcome!\n", 40)}, "does not keep to the protocol: the line is not JSON"},
		{[]string{"says", `{"jsonrpc":"2.0","id":3,"result":{"panes":7}}`}, "answered list with something else"},
		{[]string{"says", `{"jsonrpc":"2.0","id":3}`}, "answered list with something else"},
		{[]string{"says", `{"jsonrpc":"2.0","id":3,"result":{"panes":[{"id":"a"},{"id":"a"}]}}`}, `answered list oddly: pane "a"`},
		{[]string{"says", `{"jsonrpc":"2.0","id":3,"result":{"panes":[{}]}}`}, "answered list oddly"},
		{[]string{"says", `{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"the API is off","data":{"code":"ODD","hint":"turn it on"}}}`}, "could not list: the API is off"},
		{[]string{"says", `{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"the API is off","data":[1]}}`}, "could not list: the API is off"},
	} {
		t.Run(strings.Join(tc.as, "_"), func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if _, within, ok := strings.Cut(tc.says, "within "); ok {
				within, _, _ = strings.Cut(within, ";")
				limit, _ = time.ParseDuration(within)
			}
			b := start(t, func(o *external.Options) { o.Limit = limit }, tc.as...)
			began := time.Now()
			list, err := b.List(t.Context())
			if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(err.Error(), tc.says) || len(list) != 0 {
				t.Errorf("%d panes, error %v, want %s", len(list), err, tc.says)
			}
			if took := time.Since(began); took > 50*time.Second {
				t.Errorf("it took %v", took)
			}
			if fault.Of(err).Hint == "" && strings.Contains(tc.says, "within") {
				t.Errorf("no way out of: %v", err)
			}
		})
	}
}

// A line that is no message is passed over, and the answer after it counts.
func TestXF06_OneBadLine(t *testing.T) {
	for _, line := range []string{"Welcome!", "[]", "\xef\xbb\xbf{}", `{"id":3}`, `{"jsonrpc":"2.0","id":3`} {
		b := start(t, nil, "says", line+"\n"+`{"jsonrpc":"2.0","id":3,"result":{"panes":[{"id":"a","mark":{"base":"b","team":"t","agent":"a","host":"h"}}]}}`)
		if list, err := b.List(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("after %q: %v, %v", line, list, err)
		}
	}
}

// A pane that was there before is no new one, and is left alone.
func TestXH11_APaneOfBefore(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "asked")
	b := start(t, nil, "reopens", notes)
	if _, err := b.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	spec := backend.Spec{Argv: []string{"sleep", "1000"}, Dir: "/", Place: backend.Session, Mark: backend.Mark{Team: "t", Agent: "a", Host: "h"}}
	if err := b.Open(t.Context(), []backend.Spec{spec})[0].Err; !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(err.Error(), "was there before") {
		t.Errorf("it opened a pane of before: %v", err)
	}
	if _, err := b.List(t.Context()); err != nil { // what was asked before this is noted
		t.Fatal(err)
	}
	data, err := os.ReadFile(notes)
	asked := strings.Fields(string(data))
	if err != nil || !slices.Contains(asked, "open") || slices.Contains(asked, "close") || slices.Contains(asked, "label") {
		t.Errorf("it was asked %q, %v", asked, err)
	}
}

// The asking pane is not closed, whatever the program would do.
func TestXH11_TheAskingPaneIsNotToldToClose(t *testing.T) {
	b := start(t, nil, "says", `{"jsonrpc":"2.0","id":3,"result":{"self":{"id":"a"},"window":[{"id":"a"}]}}`)
	err := backend.CloseOne(t.Context(), b, "a", backend.Mark{Base: "b", Team: "t", Agent: "a", Host: "h"})
	if !errors.Is(err, fault.Unproven) || !strings.Contains(err.Error(), "this program runs in it") {
		t.Errorf("close: %v", err)
	}
}

// A method that a program does not know is not supported, whatever the program knows else.
func TestUnknownMethod(t *testing.T) {
	b := start(t, nil, "says", `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"what?"}}`)
	if err := b.Focus(t.Context(), "a"); !errors.Is(err, fault.Unsupported) {
		t.Errorf("focus: %v", err)
	}
	if _, err := b.Capture(t.Context(), "a", 0, false); !errors.Is(err, fault.Unsupported) {
		t.Errorf("capture, which is not offered: %v", err)
	}
}

// The codes of errors come through the pipe as they are.
func TestErrorsComeThrough(t *testing.T) {
	b := start(t, nil, "memory")
	if err := b.Label(t.Context(), "m999", backend.Mark{}, backend.Label{}); !errors.Is(err, backend.ErrGone) {
		t.Errorf("label: %v", err)
	}
	if err := b.Arrange(t.Context(), backend.Layout{Window: "x", Kind: backend.Tiled}); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("arrange: %v", err)
	}
	res := b.Open(t.Context(), []backend.Spec{{Argv: []string{"sh", "\xff"}, Dir: "/", Place: backend.Split}})
	if !errors.Is(res[0].Err, fault.InvalidArgument) || !strings.Contains(res[0].Err.Error(), "UTF-8") {
		t.Errorf("open: %v", res[0].Err)
	}
}

// A program that crashes is started anew, but not for ever when it cannot even begin.
func TestCrashIsNotTheEnd(t *testing.T) {
	t.Parallel()
	runs := t.TempDir() + "/runs"
	b := start(t, nil, "dies-later", runs)
	for range 3 {
		if _, err := b.List(t.Context()); !errors.Is(err, fault.BackendUnavailable) {
			t.Fatalf("list: %v", err)
		}
	}
	if data, _ := os.ReadFile(runs); string(data) != "xxx" {
		t.Errorf("it was started %d times, want 3", len(data))
	}
	bad := start(t, nil, "dies")
	var err error
	for range 6 {
		_, err = bad.List(t.Context())
	}
	if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(err.Error(), "5 times in a row") {
		t.Errorf("list: %v", err)
	}
}

// The program rests after a while, ends when it is told, is killed when it does not, and
// serves again.
func TestRest(t *testing.T) {
	t.Parallel()
	runs := t.TempDir() + "/runs"
	b := start(t, func(o *external.Options) { o.Idle = 30 * time.Millisecond }, "dies-later", runs)
	again := func(n int) {
		t.Helper()
		if _, err := b.Hello(t.Context()); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			if data, _ := os.ReadFile(runs); len(data) >= n {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("it did not come to %d runs", n)
			}
			if _, err := b.Hello(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(60 * time.Millisecond) // longer than it waits for a question
		}
	}
	again(1)
	again(3)
	stays := start(t, nil, "stays")
	if _, err := stays.Hello(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	stays.Stop()
	if took := time.Since(began); took > time.Minute {
		t.Errorf("a program that does not go held us up for %v", took)
	}
}

// Of a caller who goes the program is told; the others are served meanwhile.
func TestCancelledCaller(t *testing.T) {
	b := start(t, func(o *external.Options) { o.Limit = 10 * time.Minute }, "mute-later")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := b.List(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("list: %v", err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// With a log, every line can be read.
func TestTee(t *testing.T) {
	var log syncBuffer
	b := start(t, func(o *external.Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}, "memory")
	if _, err := b.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"initialize", "x-grease", "-32601", `\"method\":\"list\"`, `\"panes\":[]`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log.String())
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A pane is found again by the program and the terminal that it was opened with.
func TestAddress(t *testing.T) {
	for address, want := range map[string][2]string{
		"/bin/x": {"/bin/x", ""}, "/bin/x::/tmp/kitty-1": {"/bin/x", "/tmp/kitty-1"}, "/a::b/x::@k": {"/a::b/x", "@k"}, "": {"", ""},
	} {
		if program, terminal := backend.ParseAddress(address); program != want[0] || terminal != want[1] {
			t.Errorf("%q is %q and %q", address, program, terminal)
		}
	}
	dir := t.TempDir()
	if err := exetest.Write(dir+"/leadlight-backend-near", []byte("#!/bin/sh\n")); err != nil {
		t.Fatal(err)
	}
	if got, err := external.Find("near", dir+"/leadlight"); err != nil || got != dir+"/leadlight-backend-near" {
		t.Errorf("beside the program: %q, %v", got, err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	if err := exetest.Write(dir+"/leadlight-backend-mine", []byte("#!/bin/sh\n")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got, err := external.Find("mine", "/no/program"); err != nil || got != dir+"/leadlight-backend-mine" {
		t.Errorf("%s %v", got, err)
	}
	for name, code := range map[string]fault.Code{"other": fault.BackendUnavailable, "../mine": fault.InvalidArgument, "": fault.InvalidArgument, "-x": fault.InvalidArgument, "a b": fault.InvalidArgument} {
		if _, err := external.Find(name, "/no/program"); !errors.Is(err, code) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
