package integration_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// doer is an agent at a prompt that does the tasks it is told of, as their descriptions
// say, and writes down what happens to it.
type doer struct {
	in   *bufio.Reader
	log  *os.File
	name string
	rest []string // lines that came while it waited for another
}

// doerProfile is how a doer is spoken to.
const doerProfile = `{kind: interactive, ready: '^>\s*$', asking: '\(y/n\)\s*$', quiet: 60ms, submit: enter}`

var toldOfTask = regexp.MustCompile(`task (\d+) is (?:yours|still in progress)|task (\d+) still waits`)

// stubDoer is LOG ARG...
func stubDoer(args []string) {
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	d := &doer{in: bufio.NewReaderSize(os.Stdin, 64<<10), log: f, name: os.Getenv("LEADLIGHT_AGENT")}
	d.note("begins %s", strings.Join(args[1:], " "))
	for {
		d.note("rests")
		line, ok := d.line()
		if !ok {
			return
		}
		if strings.Contains(line, "Please finish and end") {
			answer("approve")
			return
		}
		d.note("hears %.1000s", line)
		if told := toldOfTask.FindStringSubmatch(line); told != nil {
			d.task(told[1] + told[2])
		}
	}
}

// line is the next line that is typed into it.
func (d *doer) line() (string, bool) {
	if len(d.rest) > 0 {
		line := d.rest[0]
		d.rest = d.rest[1:]
		return line, true
	}
	fmt.Print("> ")
	line, err := d.in.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err == nil
}

// until reads on to a line that holds one of the words, and returns that word.
func (d *doer) until(words ...string) string {
	var others []string
	defer func() { d.rest = append(others, d.rest...) }()
	for {
		line, ok := d.line()
		if !ok {
			os.Exit(1)
		}
		for _, w := range words {
			if strings.Contains(line, w) {
				return w
			}
		}
		others = append(others, line)
	}
}

func (d *doer) note(format string, args ...any) {
	fmt.Fprintf(d.log, "%s %s\n", d.name, fmt.Sprintf(format, args...))
}

// task takes a task and does what its description says, word by word.
func (d *doer) task(id string) {
	d.note("told %s", id)
	out, err := exec.Command("leadlight", "task", "claim", id, "--json").Output()
	if err != nil {
		d.note("cannot take %s: %v", id, err)
		return
	}
	var task api.Task
	_ = json.Unmarshal(out, &task)
	d.note("takes %s", id)
	steps := map[string]func(){"plan": d.plan, "permission": d.permission, "dialog": d.dialog, "long": func() { fmt.Print("works\n"); stay() }}
	for _, word := range strings.Fields(task.Description) {
		if step := steps[word]; step != nil {
			if _, err := os.Stat(word + ".once"); err == nil && word == "long" {
				continue // it was killed in it before
			} else if word == "long" {
				_ = os.WriteFile(word+".once", nil, 0o600)
			}
			step()
		}
	}
	if answer("task", "done", id, "--result", "by "+d.name) {
		d.note("done %s", id)
	}
}

// plan hands a plan in until it is approved.
func (d *doer) plan() {
	for n := 1; ; n++ {
		answer("plan", "submit", fmt.Sprintf("plan %d", n))
		if d.until("does not approve the plan", "approves the plan") == "approves the plan" {
			return
		}
	}
}

// permission asks for one as Claude Code's teammates do.
func (d *doer) permission() {
	fs, err := claudefs.Open(os.Getenv("LEADLIGHT_BASE_DIR"), claudefs.Options{})
	if err != nil {
		os.Exit(1)
	}
	now, team := time.Now(), os.Getenv("LEADLIGHT_TEAM")
	f := store.Frame{Type: store.PermissionRequest, RequestID: fmt.Sprintf("perm-%s-%d", d.name, now.UnixNano()), AgentID: d.name, ToolName: "Bash", Description: "run make", Timestamp: store.FormatTime(now)}
	if _, err := fs.Mail(nil).Put(context.Background(), team, store.Lead, store.Message{From: d.name, Text: f.Text(), Timestamp: now}); err != nil {
		os.Exit(1)
	}
	_ = fs.Close()
	d.until("gives permission")
}

// dialog asks the person at its pane.
func (d *doer) dialog() {
	fmt.Print("Run make? (y/n) ")
	line, _ := d.in.ReadString('\n')
	d.note("dialog %s", strings.TrimSpace(line))
}
