package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// record is what a stub agent saw when it was started.
type record struct {
	Argv []string
	Dir  string
	Env  []string
	TTY  [3]bool
}

// stub is an agent: it does one thing, as mode says.
func stub(mode string, args []string) {
	modes := map[string]func([]string){
		"record":  stubRecord,  // FILE ARG...: writes down what it sees, then stays
		"approve": stubApprove, // agrees to every request to shut down and goes
		"agree":   stubAgree,   // agrees and stays
		"refuse":  stubRefuse,  // refuses every request
		"mute":    func([]string) { stay() },
		"noterm":  func([]string) { signal.Ignore(syscall.SIGTERM, syscall.SIGHUP); say("ready"); stay() },
		"forker":  stubForker, // leaves grandchildren in sessions of their own
		"tmux":    stubTmux,   // SOCKET: starts a tmux server
		"join":    stubJoin,   // BASE TEAM NAME: joins a team through the store
		"blast":   stubBlast,  // MEGABYTES: writes them at once, when a key comes
		"proxy":   stubProxy,  // ARGV...: passes bytes between its terminal and the program's
		"hosted":  stubHosted, // SOCKET ARGV...: the same, by our host
		"cooked":  stubCooked, // FILE: notes the lines that it reads from its terminal
		"raw":     stubRaw,    // FILE: the same, and edits them itself
		"tui":     stubTUI,    // FILE: the same, as a program that fills the screen
		"doer":    stubDoer,   // LOG: an agent at a prompt that does the tasks it is told of
		"acp":     stubACP,    // DIR: an agent that speaks the Agent Client Protocol
		"vendor":  stubVendor, // NAME PAUSE ARG...: stands in for the agent of a vendor
		"dialog":  stubDialog, // SCREEN TYPED: shows a file until it is empty, then a prompt, and notes every byte
		"screen":  stubScreen, // SCREEN TYPED: shows a file, and notes every byte that is typed
		"forge":   stubForge,  // SOCKET METHOD PARAMS …: asks the daemon for what is the lead's, and says what came of it
		"crash":   func(a []string) { fmt.Println("going down"); fmt.Sscan(a[0], new(int)); os.Exit(3) },
	}
	f, ok := modes[mode]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such mode:", mode)
		os.Exit(2)
	}
	f(args)
}

func say(s string) { fmt.Println("stub:", s) }

// stubForge asks a daemon by its own socket, and says what it likes of itself.
func stubForge(args []string) {
	c, err := rpc.Dial(context.Background(), args[0])
	for ; len(args) > 2; args = args[2:] {
		if err == nil {
			_, err = rpc.Do[json.RawMessage](context.Background(), c, args[1], json.RawMessage(args[2]))
		}
		say(fmt.Sprintf("%s was answered %q", args[1], fault.CodeOf(err)))
		err = nil
	}
	stay()
}

// stay runs until it is ended.
func stay() {
	for {
		time.Sleep(time.Hour)
	}
}

func stubRecord(args []string) {
	dir, _ := os.Getwd()
	rec := record{Argv: args[1:], Dir: dir, Env: os.Environ()}
	for i, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		fi, err := f.Stat()
		rec.TTY[i] = err == nil && fi.Mode()&os.ModeCharDevice != 0
	}
	b, _ := json.Marshal(rec)
	if err := os.WriteFile(args[0]+".tmp", b, 0o600); err == nil {
		_ = os.Rename(args[0]+".tmp", args[0])
	}
	say("recorded " + os.Getenv("LEADLIGHT_AGENT"))
	stay()
}

// onRequest waits for a request to shut down and calls act for each.
func onRequest(act func() bool) {
	for {
		out, err := exec.Command("leadlight", "inbox", "--unread", "--json").Output()
		if err == nil && strings.Contains(string(out), "shutdown_request") && act() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func answer(args ...string) bool {
	return exec.Command("leadlight", args...).Run() == nil
}

func stubApprove([]string) { say("ready"); onRequest(func() bool { return answer("approve") }) }

func stubAgree([]string) {
	say("ready")
	onRequest(func() bool { return answer("approve") })
	stay()
}

func stubRefuse([]string) {
	say("ready")
	onRequest(func() bool { answer("deny", "--reason", "not finished"); return false })
}

func stubForker([]string) {
	for _, line := range []string{"exec sleep 1000", "trap '' HUP; exec sleep 1000", "(setsid sleep 1000 &) ; exec sleep 1000"} {
		c := exec.Command("setsid", "sh", "-c", line)
		_ = c.Start()
	}
	say("ready")
	stay()
}

func stubTmux(args []string) {
	c := exec.Command("tmux", "-S", args[0], "-f", "/dev/null", "new-session", "-d", "sleep", "1000")
	if out, err := c.CombinedOutput(); err != nil {
		say(string(out) + err.Error())
	}
	say("ready")
	stay()
}

func stubJoin(args []string) {
	fs, err := claudefs.Open(args[0], claudefs.Options{LockTimeout: time.Minute}) // forty wait for each other
	if err == nil {
		err = fs.Roster().Update(context.Background(), args[1], func(t *store.Team) error {
			t.Members = append(t.Members, store.Member{Name: args[2], AgentID: args[2] + "@" + args[1]})
			return nil
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
