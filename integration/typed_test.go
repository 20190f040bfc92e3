package integration_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// prompts are the agents at a prompt, and what becomes of a message's text there.
func prompts() map[string]func(string) string {
	joined := func(text string) string {
		return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), " ")
	}
	return map[string]func(string) string{"cooked": joined, "raw": joined, "tui": func(text string) string { return text }}
}

const promptProfiles = `profiles:
  cooked: {kind: interactive, command: [x], ready: '^>\s*$', quiet: 60ms}
  raw: {kind: interactive, command: [x], ready: '^>\s*$', quiet: 60ms}
  tui: {kind: interactive, command: [x], ready: '^❯', asking: '^\s*❯ \d\. ', quiet: 60ms}
`

// lastMark is the message after the last.
const lastMark = "that was all"

func isLast(text string) bool { return strings.HasSuffix(text, lastMark) }

func isPersons(text string) bool { return strings.HasSuffix(text, personsLine) }

// patiently waits for what takes many messages.
func (r *rig) patiently(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(5 * time.Minute); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("not within five minutes: %s", what)
		}
	}
}

// answersQuestion waits until the question of the agent tui is shown as such, and
// answers as a person.
func (r *rig) answersQuestion(was api.Member, first bool) {
	r.t.Helper()
	r.patiently("the question is shown", func() bool {
		m := r.member("tui")
		if first && m.State == api.StateIdle || m.TmuxPaneID != was.TmuxPaneID {
			r.t.Errorf("it asks something, and is shown as %s in %s", m.State, m.TmuxPaneID)
		}
		return m.State == api.StateWaiting && strings.Contains(m.Reason, "1. Yes")
	})
	r.types(was, "1")
}

// types presses a person's keys in a teammate's pane, one by one, and ends a line of
// several.
func (r *rig) types(m api.Member, line string) {
	press := func(key string) { _, _ = r.tmux.Try("send-keys", "-t", m.TmuxPaneID, "-l", key) }
	if r.isHeadless() {
		p := r.sits(r.t, 24, 80, "attach", m.Name)
		press = p.types
		defer p.leaves()
		p.sees(r, "and then d leaves")
	}
	for _, c := range line {
		press(string(c))
		time.Sleep(60 * time.Millisecond)
	}
	if len(line) > 1 {
		press("\r")
	}
}

// said is the text of message i.
func said(i int) string {
	text := map[int]string{
		0: "plain", 1: "two\nlines", 2: `"quoted" 'twice' $HOME`, 3: "ends with a semicolon;", 4: "\x1b[201~\x03 no keys", 5: "😀 👩‍💻 grüße",
	}[i%6]
	if i%40 == 7 {
		text = strings.Repeat("0123456789abcde\n", 64<<10/16)
	}
	return fmt.Sprintf("m%03d %s", i, text)
}

// talkers starts agents at prompts, each of the kind that it is called after.
func (r *rig) talkers(names ...string) map[string]api.Member {
	r.t.Helper()
	if err := os.MkdirAll(r.path("home", "leadlight"), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path("home", "leadlight", "config.yaml"), []byte(promptProfiles), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.team("talk")
	all := map[string]api.Member{}
	for _, name := range names {
		all[name] = r.spawn(name, []string{"--agent", name}, r.stub(name, r.path("work", name))...)
	}
	return all
}

// tookAll waits until all of them have the last message, and proves what each has taken.
func (r *rig) tookAll(t *testing.T, talkers map[string]api.Member, messages int) {
	t.Helper()
	r.patiently("all have all", func() bool {
		for name := range talkers {
			got := records(t, r.path("work", name))
			if !slices.ContainsFunc(got, isLast) || !slices.ContainsFunc(got, isPersons) {
				return false
			}
		}
		return true
	})
	for name := range talkers {
		checkTaken(t, name, messages, prompts()[name], records(t, r.path("work", name)))
	}
	r.must("stop", "--all", "--force", "--timeout", "100ms")
}

// Agents at prompts of three kinds get two hundred messages each: once, in order,
// whole or in a file, and none into what a person types.
func TestDL01_DL03_QU07_QU08_HK08_Prompts(t *testing.T) {
	t.Parallel()
	const messages = 200
	r := newRig(t, "220x60")
	all := r.talkers("cooked", "raw", "tui")
	var typing sync.WaitGroup
	defer typing.Wait()
	began := time.Now()
	for i := range messages {
		r.must("send", "--all", "--", said(i))
		if i == messages/8 { // it has asked at its first start, and waits since then
			r.answersQuestion(all["tui"], true)
		}
		if i == messages/2 { // a person types into two of them, while there is mail
			typing.Go(func() { r.types(all["cooked"], personsLine) })
			typing.Go(func() { r.types(all["raw"], personsLine) })
		}
		if i == messages*5/8 {
			r.answersQuestion(all["tui"], false)
		}
	}
	r.must("send", "--all", lastMark)
	t.Logf("sent in %s", time.Since(began))
	r.types(all["tui"], personsLine)
	r.tookAll(t, all, messages)
	t.Logf("taken in %s", time.Since(began))
}

// Without a terminal, what a person types comes through a viewer.
func TestDL01_DL03_QU07_PromptsHeadless(t *testing.T) {
	t.Parallel()
	const messages = 12
	r := newHeadless(t)
	all := r.talkers("cooked", "raw")
	var typing sync.WaitGroup
	defer typing.Wait()
	for i := range messages {
		r.must("send", "--all", "--", said(i))
		if i == messages/2 {
			for _, m := range all {
				typing.Go(func() { r.types(m, personsLine) })
			}
		}
	}
	r.must("send", "--all", lastMark)
	r.tookAll(t, all, messages)
}

// records are the lines that an agent was given.
func records(t *testing.T, file string) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil // not yet
	}
	defer f.Close()
	var out []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var text string
		if json.Unmarshal(lines.Bytes(), &text) == nil {
			out = append(out, text)
		}
	}
	return out
}

const personsLine = "a person types"

// checkTaken proves that every message was taken once and in order. A person's line
// stands by itself, or behind a text that stood there when they began.
func checkTaken(t *testing.T, name string, messages int, becomes func(string) string, got []string) {
	t.Helper()
	inFile := regexp.MustCompile(`^\[leadlight\] a message of \d+ bytes is in the file (\S+) - read it`)
	persons, next := 0, 0
	for _, text := range got {
		if own := strings.TrimSuffix(text, personsLine); own != text {
			persons++
			own = strings.TrimSuffix(own, " ")
			if text = own; text == "" {
				continue
			}
		}
		if isLast(text) {
			continue // a slow person's line may come after it
		}
		want := "[leadlight] message from team-lead: " + said(next)
		if m := inFile.FindStringSubmatch(text); m != nil {
			whole, err := os.ReadFile(m[1])
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			text = string(whole)
		} else {
			want = becomes(strings.NewReplacer("\x1b", "", "\x03", "").Replace(want))
		}
		if next == 0 { // the briefing is before it
			text = text[max(0, strings.Index(text, "[leadlight] message from")):]
		}
		if strings.TrimSuffix(text, " ") != strings.TrimSuffix(want, " ") { // a blank may close it, for agents that complete its end
			t.Errorf("%s, message %d:\n got %.200q\nwant %.200q", name, next, text, want)
			return
		}
		next++
	}
	if next != messages || persons != 1 {
		t.Errorf("%s took %d messages and %d lines of a person", name, next, persons)
	}
}
