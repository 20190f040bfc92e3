package interop_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// The answers of the table.
const (
	yes  = "yes"
	no   = "no"
	none = "n/a" // the agent has no such thing
)

// abilities are the rows of the table, in order.
var abilities = []string{
	"starts", "first prompt once and whole", "busy seen", inARow, "odd texts, paragraphs, 4 KB, 64 KB once and whole", "asking, with its text", "answered by keys",
	"resumed after restart", "another permission mode by set", "ends politely within 5 s", "nothing left",
	"plan mode: handed in by leadlight plan", "plan mode: carried out once approved", "a first start: what it asks is seen",
	"worker: result of a task", "worker: tokens and cost kept with the task", "worker: a failure is told",
	"acp: first prompt once and whole", acpInARow, "acp: asking, with its text", "acp: answered by approve", "acp: resumed after restart",
	"acp: kept at work by a hook", "acp: acceptEdits, dontAsk, bypassPermissions", "acp: ends politely, nothing left",
}

// The rows whose answer is how many.
const (
	inARow    = "messages in a row come once, whole, in order"
	acpInARow = "acp: " + inARow
)

// table is what each agent can do: rows of abilities, columns of agents. It is one for all
// runs of a process: what failed once is not yes.
type table struct {
	mu     sync.Mutex
	agents []string
	cells  map[[2]string]string // by ability and agent
	runs   int
}

var results = table{cells: map[[2]string]string{}}

// begin adds a run, and the columns of those that are fetched.
func (tb *table) begin(columns []string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.agents = columns
	tb.runs++
}

func (tb *table) set(ability, agent, value string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if tb.cells[[2]string{ability, agent}] != no {
		tb.cells[[2]string{ability, agent}] = value
	}
}

// markdown is the table as docs/agents.md shows it.
func (tb *table) markdown() string {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "| %s, runs: %d | %s |\n|---|%s\n", time.Now().Format("2006-01-02"), tb.runs, strings.Join(tb.agents, " | "), strings.Repeat("---|", len(tb.agents)))
	for _, ability := range abilities {
		fmt.Fprintf(&b, "| %s |", ability)
		for _, agent := range tb.agents {
			value := tb.cells[[2]string{ability, agent}]
			if value == "" {
				value = no // the test ended before
			}
			fmt.Fprintf(&b, " %s |", value)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// ways are how an agent is tried.
var ways = []struct {
	name string
	try  func(*trial)
}{
	{"prompt", (*trial).atPrompt}, {"worker", (*trial).asWorker}, {"acp", (*trial).overProtocol}, {"plan", (*trial).inPlanMode}, {"bare", (*trial).firstStart},
}

// TestAgents tries each agent as a teammate at its prompt, as a worker, and over the Agent
// Client Protocol, and writes a table of what it can do.
func TestAgents(t *testing.T) {
	columns := []string{}
	for _, v := range vendors() {
		if version, _, ok := fetched(v.name); ok {
			columns = append(columns, v.name+" "+version)
		}
	}
	results.begin(columns)
	t.Cleanup(func() { // when those that run side by side have ended
		if len(columns) > 0 {
			t.Log("\n" + results.markdown())
			if err := os.WriteFile(filepath.Join(os.Getenv(clientsVariable), "table.md"), []byte(results.markdown()), 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	for _, v := range vendors() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			version, dir := installed(t, v.name)
			if _, adapter, ok := fetched(v.adapter); ok {
				dir += ":" + adapter
			}
			for _, way := range ways {
				t.Run(way.name, func(t *testing.T) {
					t.Parallel()
					tr := &trial{rig: newRig(t, version, dir), vendor: v, many: howMany(), began: time.Now()}
					tr.note = func(ability, value string) { results.set(ability, v.name+" "+version, value) }
					way.try(tr)
				})
			}
		})
	}
}

// trial is one agent that is tried.
type trial struct {
	*rig
	vendor vendor
	many   int // messages are sent in a row
	note   func(ability, value string)
	began  time.Time
}

// check notes whether the agent has an ability, and fails the test if not.
func (tr *trial) check(ability string, ok bool, why ...any) bool {
	tr.t.Helper()
	value := yes
	tr.t.Logf("%s: %v, after %v", ability, ok, time.Since(tr.began).Round(time.Second))
	if !ok {
		value = no
		tr.t.Errorf("%s: no %v", ability, why)
		for _, pane := range tr.tmux.Panes() {
			tr.t.Logf("pane %s:\n%s", pane, strings.TrimRight(tr.screen(pane), "\n "))
		}
	}
	tr.note(ability, value)
	return ok
}

// prepare makes the home in which the questions of a first start are answered, and a team.
func (tr *trial) prepare() {
	tr.settle(tr.vendor)
	tr.must("leadlight", "team", "create", "alpha", "--description", "for a test")
	tr.env = append(tr.env, "LEADLIGHT_TEAM=alpha") // Claude Code makes one of its own
}

// messages is how many messages are sent in a row, unless INTEROP_MESSAGES says it: a busy
// machine may have no time for more.
const messages = 50

// howMany reads INTEROP_MESSAGES.
func howMany() int {
	if n, err := strconv.Atoi(os.Getenv("INTEROP_MESSAGES")); err == nil && n > 0 {
		return n
	}
	return messages
}

// sent is the text of a message that is to come once and whole.
func sent(i int) string {
	return fmt.Sprintf("<M%03d – ein Gruß, “%d” of many, ends here M%03d>", i, i, i)
}

// atPrompt tries the agent as a teammate at its prompt.
func (tr *trial) atPrompt() {
	tr.prepare()
	tr.must("leadlight", "spawn", "ann", "--agent", tr.vendor.profile, "--prompt", sent(0), "--ready-timeout", "60s")
	tr.answerFirst()
	tr.check("starts", within(2*patience, func() bool { return tr.state() == api.StateIdle || len(tr.conversation()) > 0 }), tr.state())
	tr.check("first prompt once and whole", within(2*patience, func() bool { return tr.came(0) > 0 }) && tr.rests() && tr.came(0) == 1, tr.came(0))

	tr.play("slow", slowly(5*time.Second, "That was slow."))
	tr.must("leadlight", "send", "ann", "PLAY:slow")
	busy := within(patience, func() bool { return tr.isAsked() && tr.state() == api.StateActive })
	tr.check("busy seen", busy && tr.rests(), tr.state())

	for i := 1; i <= tr.many; i++ {
		tr.must("leadlight", "send", "ann", sent(i))
	}
	for n := 0; n < tr.many && within(patience, func() bool { return tr.last() > n }); { // as long as more come
		n = tr.last()
	}
	tr.rests()
	if tr.check(inARow, tr.inOrder()) {
		tr.note(inARow, strconv.Itoa(tr.many))
	}
	tr.odd()
	tr.asks()

	tr.check("resumed after restart", tr.resumes(4*patience))
	tr.unasked("another permission mode by set")
	polite, took, ended := tr.stops()
	if tr.check("ends politely within 5 s", polite, took, ended.Members) && took >= 5*time.Second {
		tr.note("ends politely within 5 s", fmt.Sprintf("%.0f s", took.Seconds())) // how busy the machine is has a part in it
	}
	tr.check("nothing left", within(10*time.Second, func() bool { return len(tr.agents()) == 0 }), tr.agents())
}

// odd sends texts that an agent might take for something else, and long ones.
func (tr *trial) odd() {
	texts := []string{
		"<O1 lines\n/help me\n!ls\n#note\n? what\n@nobody here\nend O1>",
		"<O2 grüße, 漢字 עברית 🙂 end O2>",
		"<O3 " + strings.Repeat("four kilobytes of words ", 170) + "end O3>",
		"<O5 a paragraph\n\n  one that is indented\n\n\nend O5>",
		"<O4 " + strings.Repeat("sixty-four kilobytes of words ", 2200) + "end O4>", // a file
	}
	for _, text := range texts {
		tr.must("leadlight", "send", "ann", text)
	}
	came := func(text string) bool {
		if len(text) > profiles.DefaultMaxPaste {
			return strings.Count(strings.Join(tr.conversation(), "\n"), "is in the file") == 1
		}
		return strings.Count(squeezed(strings.Join(tr.conversation(), "\n")), squeezed(text)) == 1
	}
	for i, text := range texts {
		ok := within(2*patience, func() bool { return came(text) })
		if !ok {
			tr.t.Logf("text %d did not come once and whole", i+1)
		}
		texts[i] = map[bool]string{true: yes, false: no}[ok]
	}
	tr.check("odd texts, paragraphs, 4 KB, 64 KB once and whole", !slices.Contains(texts, no) && tr.rests(), texts)
}

// squeezed is a text without blanks: agents join and break lines.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

// asks tries the question that the agent asks before it runs a command.
func (tr *trial) asks() {
	tr.play("touch", shell("touch asked", true), text("It is touched."))
	tr.must("leadlight", "send", "ann", "PLAY:touch")
	var m api.Member
	asked := within(patience, func() bool {
		m, _ = tr.member("alpha", "ann")
		return m.State == api.StateWaiting && tr.vendor.question.MatchString(m.Reason)
	})
	tr.check("asking, with its text", asked, m.State, m.Reason)
	if !asked {
		tr.note("answered by keys", no)
		return
	}
	tr.t.Logf("asks: %s", m.Reason)
	tr.must(append([]string{"leadlight", "keys", "ann"}, tr.vendor.allow...)...)
	tr.check("answered by keys", within(patience, func() bool { return tr.there("asked") }) && tr.rests(), tr.state())
}

// asWorker tries the agent as a worker: a task that it does, and one that it cannot do.
func (tr *trial) asWorker() {
	tr.prepare()
	tr.play("work", text("The result is 42."))
	tr.play("fail", refuse("the script refuses this"))
	tr.must("leadlight", "spawn", "bob", "--agent", tr.vendor.worker)
	tr.must("leadlight", "task", "add", "PLAY:work", "--owner", "bob")
	tr.must("leadlight", "task", "add", "PLAY:fail", "--owner", "bob")
	tr.task("worker: result of a task", "1", "completed", "The result is 42.")
	if used := into[api.Task](tr.rig, "task", "show", "1", "--json").Usage; used != nil {
		tr.note("worker: tokens and cost kept with the task", used.String())
	} else {
		tr.note("worker: tokens and cost kept with the task", none)
	}
	defer func() { tr.t.Log(tr.must("leadlight", "logs", "bob", "--lines", "300")) }()
	tr.task("worker: a failure is told", "2", "failed", "the script refuses this")
}

// task checks what came of a task.
func (tr *trial) task(ability, id, status, words string) {
	var got api.Task
	within(patience, func() bool {
		got = into[api.Task](tr.rig, "task", "show", id, "--json")
		return got.Result+got.Failure != ""
	})
	tr.check(ability, got.Status == status && strings.Contains(got.Result+got.Failure, words), got.Status, got.Result, got.Failure)
}

// overProtocol tries the agent as one that speaks the Agent Client Protocol.
func (tr *trial) overProtocol() {
	if _, _, ok := fetched(tr.vendor.adapter); tr.vendor.adapter != "" && !ok {
		tr.none("acp: ")
		tr.t.Skip("its adapter was not fetched")
	}
	tr.prepare()
	for variable, program := range map[string]string{"CODEX_PATH": "codex", "CLAUDE_CODE_EXECUTABLE": "claude"} { // the adapters would take one of their own
		_, dir, _ := fetched(program)
		tr.env = append(tr.env, variable+"="+filepath.Join(dir, program))
	}
	tr.must("leadlight", "spawn", "ann", "--agent", tr.vendor.profile, "--kind", profiles.ACP, "--prompt", sent(0))
	tr.check("acp: first prompt once and whole", within(2*patience, func() bool { return tr.came(0) > 0 }) && tr.rests() && tr.came(0) == 1, tr.came(0))
	opened := time.Now()
	for i := 1; i <= tr.many; i++ {
		tr.must("leadlight", "send", "ann", sent(i))
	}
	within(2*patience, func() bool { return tr.last() == tr.many })
	if tr.check(acpInARow, tr.rests() && tr.inOrder()) {
		tr.note(acpInARow, strconv.Itoa(tr.many))
	}
	tr.permission()

	// Gemini CLI 0.61 names the file of a conversation by its minute, and empties it when it
	// is loaded within that.
	within(patience, func() bool {
		return tr.vendor.name != "gemini" || time.Since(opened.Truncate(time.Minute)) > time.Minute
	})
	tr.check("acp: resumed after restart", tr.resumes(2*patience))
	tr.hooked()
	tr.modes()
	polite, took, ended := tr.stops()
	tr.check("acp: ends politely, nothing left", polite && within(10*time.Second, func() bool { return len(tr.agents()) == 0 }), took, ended.Members, tr.agents())
}

// resumes tells whether the agent, started again, gets a message and knows those from before.
func (tr *trial) resumes(limit time.Duration) bool {
	tr.must("leadlight", "restart", "ann")
	tr.must("leadlight", "send", "ann", sent(tr.many+1))
	return within(limit, func() bool { return tr.came(tr.many+1) > 0 }) && tr.rests() && tr.came(0) == 1 && tr.came(tr.many) == 1
}

// stops asks the agent to end, and tells whether it did so by itself, and how long it took.
func (tr *trial) stops() (polite bool, took time.Duration, ended api.Endings) {
	began := time.Now()
	ended = into[api.Endings](tr.rig, "stop", "ann", "--timeout", "30s", "--json")
	polite = len(ended.Members) == 1 && (ended.Members[0].Outcome == api.Exited || ended.Members[0].Outcome == api.Approved)
	return polite, time.Since(began), ended
}

// permission lets the agent ask for a command, and approves it.
func (tr *trial) permission() {
	tr.play("touch", shell("touch asked", true), text("It is touched."))
	tr.must("leadlight", "send", "ann", "PLAY:touch")
	var open []openRequest
	asked := within(patience, func() bool { open = tr.open(); return len(open) == 1 && tr.state() == api.StateWaiting })
	tr.check("acp: asking, with its text", asked && strings.Contains(open[0].Text, "touch"), open, tr.state())
	if !asked {
		tr.note("acp: answered by approve", no)
		return
	}
	tr.t.Logf("asks: %+v", open[0])
	tr.must("leadlight", "approve", open[0].ID)
	tr.check("acp: answered by approve", within(patience, func() bool { return tr.there("asked") }) && tr.rests(), tr.state())
}

// state is the state of the teammate.
func (tr *trial) state() string {
	m, _ := tr.member("alpha", "ann")
	return m.State
}

// rests waits until the teammate is idle, and all its mail is read.
func (tr *trial) rests() bool {
	return within(patience, func() bool {
		m, _ := tr.member("alpha", "ann")
		return m.State == api.StateIdle && (m.Unread == nil || *m.Unread == 0)
	})
}

// came tells how often a message is in the conversation, whole.
func (tr *trial) came(i int) int {
	return strings.Count(strings.Join(tr.conversation(), "\n"), sent(i))
}

// last is the highest number of the messages that have come.
func (tr *trial) last() int {
	for i := tr.many; i > 0; i-- {
		if tr.came(i) > 0 {
			return i
		}
	}
	return 0
}

// inOrder tells whether all messages are there, once each and in their order.
func (tr *trial) inOrder() bool {
	all := strings.Join(tr.conversation(), "\n")
	at, ok := -1, true
	for i := range tr.many + 1 {
		begin := strings.Index(all, sent(i))
		if n := tr.came(i); n != 1 || begin < at || strings.Count(all, fmt.Sprintf("<M%03d", i)) != 1 {
			tr.t.Logf("message %d came %d times, at %d after %d", i, n, begin, at)
			ok = false
		}
		at = begin
	}
	return ok
}

// agents are the processes of this home that are neither ours nor tmux's.
func (tr *trial) agents() (out []string) {
	for _, p := range marked("HOME=" + tr.path("home")) {
		if s := p.String(); !strings.Contains(s, "tmux") && !strings.Contains(s, "leadlight") && !strings.Contains(s, "sleep") {
			out = append(out, s)
		}
	}
	return out
}
