package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// vendor stands in for the agent of a vendor: its input looks as that one's does, it does
// the tasks that it is told of, and it ends as that one does.
type vendor struct {
	*prompt
	name  string
	pause time.Duration // between the steps of a task, so that a person sees them
	said  []string
	busy  bool
	asked bool // it waits for its plan to be approved
	stops int  // how often ctrl-c was pressed
}

// stubVendor is NAME PAUSE ARG...: claude, codex or gemini, called with these arguments.
func stubVendor(args []string) {
	pause, _ := time.ParseDuration(args[1])
	v := &vendor{prompt: openPrompt(os.DevNull, nil), name: args[0], pause: pause}
	if slices.Contains(args, "--version") {
		fmt.Println("2.1.177 (Claude Code)")
		return
	}
	if slices.Contains(args, "--agent-id") {
		v.native()
		return
	}
	raw(func() {
		fmt.Print("\x1b[?2004h")
		v.show()
	}, func(b []byte) {
		for _, c := range b {
			switch {
			case c == 3:
				if v.stops++; v.stops == 2 {
					os.Exit(0)
				}
			case c == '\r' && !v.paste:
				text := string(v.input)
				v.input = v.input[:0]
				v.submitted(text)
			default:
				v.key(c)
			}
		}
		v.show()
	})
}

// native reads its mail itself, and writes into the roster whether it works. Where there is a
// file "ask" it hands in a plan first.
func (v *vendor) native() {
	fs, err := claudefs.Open(os.Getenv("LEADLIGHT_BASE_DIR"), claudefs.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	v.show()
	ctx, team, me := context.Background(), os.Getenv("LEADLIGHT_TEAM"), os.Getenv("LEADLIGHT_AGENT")
	if _, err := os.Stat("ask"); err == nil {
		v.asked = answer("plan", "submit", "first read, then write")
	}
	active := func(works bool) {
		_ = fs.Roster().Update(ctx, team, func(t *store.Team) error {
			if m := t.Member(me); m != nil {
				m.IsActive = &works
			}
			return nil
		})
	}
	active(false)
	for ; ; time.Sleep(50 * time.Millisecond) {
		box, _ := fs.Mail(nil).List(ctx, team, me)
		for _, m := range box {
			f, _ := store.ParseFrame(m.Text)
			if m.Read || v.asked && f.Type == store.TaskAssignment || fs.Mail(nil).MarkRead(ctx, team, me, []string{m.ID}) != nil {
				continue
			}
			switch f.Type {
			case store.ShutdownRequest:
				answer("approve")
				os.Exit(0)
			case store.TaskAssignment:
				active(true)
				v.task(f.TaskID)
				active(false)
			case store.PlanResponse:
				v.asked = false
			}
		}
	}
}

// submitted takes what was typed into it.
func (v *vendor) submitted(text string) {
	if text == "/quit" || text == "/exit" {
		os.Exit(0)
	}
	if strings.Contains(text, "Please finish and end") {
		answer("approve")
		os.Exit(0)
	}
	v.said = append(v.said, "› "+strings.ReplaceAll(text, "\n", "\r\n  "), "• Noted.")
	v.show()
	for _, told := range toldOfTask.FindAllStringSubmatch(text, -1) {
		v.task(told[1] + told[2])
	}
}

// task takes a task and does it: what is to be written is written, and committed where the
// folder is a worktree of its own.
func (v *vendor) task(id string) {
	out, err := exec.Command("leadlight", "task", "claim", id, "--json").Output()
	if err != nil {
		return
	}
	var task api.Task
	_ = json.Unmarshal(out, &task)
	v.busy = true
	v.say("• " + task.Subject)
	v.runs("show", "--stat", "--format=%s")
	v.runs("grep", "-n", "TODO")
	me := os.Getenv("LEADLIGHT_AGENT")
	if _, file, ok := strings.Cut(task.Subject, "into "); ok {
		_ = os.MkdirAll(filepath.Dir(file), 0o700)
		_ = os.WriteFile(file, []byte(strings.Repeat("found by "+me+"\n", 3)), 0o600)
		v.say("• Wrote " + file)
	}
	if git, err := os.Stat(".git"); err == nil && !git.IsDir() {
		_ = os.WriteFile(me+".txt", []byte(strings.Repeat("made by "+me+"\n", 12)), 0o600)
		_ = exec.Command("git", "add", ".").Run()
		_ = exec.Command("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", task.Subject).Run()
		v.say("• Committed " + me + ".txt")
	}
	answer("task", "done", id, "--result", "done by "+me)
	v.busy = false
	v.say("• Done")
}

// runs runs git, and shows what it says.
func (v *vendor) runs(args ...string) {
	out, _ := exec.Command("git", args...).Output() // nothing is found: there is nothing to show
	v.said = append(v.said, "• Ran git "+strings.Join(args, " "))
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" {
			v.said = append(v.said, "  │ "+line)
		}
	}
	v.show()
	time.Sleep(v.pause)
}

func (v *vendor) say(line string) {
	v.said = append(v.said, line)
	v.show()
	time.Sleep(v.pause)
}

// show draws what it has said, its input, and what stands around that.
func (v *vendor) show() {
	text := strings.ReplaceAll(string(v.input), "\n", " ")
	if r := []rune(text); len(r) > 60 {
		text = string(r[len(r)-60:])
	}
	rule := strings.Repeat("─", 36)
	frames := map[string]struct{ busy, input string }{
		"claude": {"✻ Working…", rule + "\r\n❯ " + text + "\r\n" + rule + "\r\n  ? for shortcuts"},
		"codex":  {"• Working (1s • esc to interrupt)", "› " + text + "\r\n\r\n  stand-in · ~/project"},
		"gemini": {"⠋ Working (esc to cancel, 1s)", rule + "\r\n > " + text + "\r\n" + rule + "\r\n ~/project"},
	}
	frame := frames[v.name]
	out := "\x1b[H\x1b[2J\x1b[1m" + v.name + "\x1b[0m (stand-in)\r\n\r\n" + strings.Join(v.said[max(0, len(v.said)-8):], "\r\n") + "\r\n\r\n"
	if v.busy {
		out += frame.busy + "\r\n\r\n"
	}
	_, _ = os.Stdout.WriteString(out + frame.input + "\r\n")
}
