package maildir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/maildir"
)

func newMail(t testing.TB) (*maildir.Mail, string) {
	t.Helper()
	base := t.TempDir()
	d, err := files.Open(base)
	ok(t, err)
	t.Cleanup(func() { d.Close() })
	ok(t, os.MkdirAll(filepath.Join(base, "teams/alpha"), 0o700))
	ok(t, os.WriteFile(filepath.Join(base, "teams/alpha/config.json"), []byte("{}"), 0o600))
	return maildir.New(d, maildir.Options{}), filepath.Join(base, "teams/alpha/inbox/builder")
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A message of after the clock was set back comes after those of before. One that is ahead by
// days is another program's mistake, and moves no other.
func TestTheOrderOutlivesAClockSetBack(t *testing.T) {
	t.Parallel()
	m, box := newMail(t)
	ok(t, os.MkdirAll(box, 0o700))
	for text, ahead := range map[string]time.Duration{"1": -time.Hour, "2": time.Hour, "4": 1000 * time.Hour} {
		name := fmt.Sprintf("msg-%019d-%s.json", time.Now().Add(ahead).UnixNano(), text)
		ok(t, os.WriteFile(filepath.Join(box, name), []byte(`{"from":"x","type":"direct","content":"`+text+`"}`), 0o600))
	}
	for i := range 100 { // more than are looked at in each box
		name := fmt.Sprintf("msg-%019d-%d.json", time.Now().Add(time.Hour-time.Duration(i+1)*time.Second).UnixNano(), i)
		ok(t, os.WriteFile(filepath.Join(box, name), []byte(`{"from":"x","type":"direct","content":""}`), 0o600))
	}
	_, err := m.Put(t.Context(), "alpha", "builder", store.Message{From: "team-lead", Text: "3"})
	ok(t, err)
	msgs, err := m.List(t.Context(), "alpha", "builder")
	ok(t, err)
	got := ""
	for _, msg := range msgs {
		got += msg.Text
	}
	if got != "1234" {
		t.Errorf("in the order %s", got)
	}
}

// To send costs no more because many messages wait.
func TestAFullBoxCostsNoMore(t *testing.T) {
	m, box := newMail(t)
	put := func() float64 {
		return testing.AllocsPerRun(20, func() {
			_, err := m.Put(t.Context(), "alpha", "builder", store.Message{From: "team-lead", Text: "hi"})
			ok(t, err)
		})
	}
	few := put()
	for i := range 2000 {
		ok(t, os.WriteFile(filepath.Join(box, fmt.Sprintf("msg-%019d-%d.json", i+1, i)), []byte(`{}`), 0o600))
	}
	if many := put(); many > 2*few {
		t.Errorf("%.0f allocations in a box of few, %.0f in one of many", few, many)
	}
}

func TestR02_D1_OneFileAMessage(t *testing.T) {
	m, box := newMail(t)
	at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	sent, err := m.Put(t.Context(), "alpha", "builder", store.Message{ID: "id-1", From: "team-lead", Text: "hi", Timestamp: at})
	ok(t, err)
	entries, err := os.ReadDir(box)
	ok(t, err)
	if len(entries) != 1 || !regexp.MustCompile(`^msg-\d{19}-[0-9a-f-]{36}\.json$`).MatchString(entries[0].Name()) {
		t.Fatalf("files: %v", entries)
	}
	data, err := os.ReadFile(filepath.Join(box, entries[0].Name()))
	ok(t, err)
	want := `{
  "id": "id-1",
  "from": "team-lead",
  "to": "builder",
  "type": "direct",
  "content": "hi",
  "timestamp": "2026-03-02T10:00:00.000Z"
}`
	if string(data) != want {
		t.Errorf("got\n%s\nwant\n%s", data, want)
	}
	ok(t, m.MarkRead(t.Context(), "alpha", "builder", []string{sent.ID}))
	if entries, _ = os.ReadDir(box); len(entries) != 0 {
		t.Errorf("after the hand-over: %v", entries)
	}
	archive, err := os.ReadFile(filepath.Join(box, "../../../../leadlight/alpha/archive/builder.jsonl"))
	if err != nil || !strings.Contains(string(archive), `"id":"id-1"`) {
		t.Errorf("archive %q, %v", archive, err)
	}
}

func TestMessagesOfOtherPrograms(t *testing.T) {
	m, box := newMail(t)
	ok(t, os.MkdirAll(box, 0o700))
	for name, text := range map[string]string{
		"msg-001.json":     `{"id":"msg-001","from":"lead","to":"builder","type":"direct","content":"one","timestamp":"2026-02-09T10:00:00Z"}`,
		"msg-002.json":     "\ufeff{\"from\":\"lead\",\"type\":\"shutdown_request\",\"text\":\"two\",\"priority\":1}\r\n",
		"msg-003.json":     `{"from":"le`,
		"msg-004.json":     `{"id":"msg-004","from":"team-lead","to":"builder","type":"shutdown_request","content":"all is done"}`,
		"msg-004.json.tmp": `{}`,
		"notes.txt":        `x`,
	} {
		ok(t, os.WriteFile(filepath.Join(box, name), []byte(text), 0o600))
	}
	list, err := m.List(t.Context(), "alpha", "builder")
	ok(t, err)
	// XF-12: a type that is known makes a frame of plain content.
	if f, ok := store.ParseFrame(list[2].Text); !ok || f.Type != store.ShutdownRequest || f.Reason != "all is done" || f.RequestID != "msg-004" || f.From != "team-lead" {
		t.Errorf("the request to end is %q", list[2].Text)
	}
	if len(list) != 3 || list[0].ID != "msg-001" || list[0].Text != "one" || list[0].Type != "message" || list[0].Stamp == "" ||
		list[1].ID != "002" || list[1].Kind() != store.ShutdownRequest || list[1].Type != "shutdown_request" || string(list[1].Unknown["priority"]) != "1" {
		t.Errorf("%+v", list)
	}
	if len(list[0].Odd) != 1 || !strings.Contains(list[0].Odd[0], "msg-003.json") { // XS-39
		t.Errorf("of the damaged one is said %q", list[0].Odd)
	}
	n, err := m.Archive(t.Context(), "alpha", "builder")
	if err != nil || n != 3 {
		t.Errorf("archived %d, %v", n, err)
	}
	_, err = m.List(t.Context(), "alpha", "builder")
	if fault.CodeOf(err) != fault.CorruptFile || !strings.Contains(err.Error(), "msg-003.json") || !strings.Contains(err.Error(), "at byte 11") {
		t.Errorf("only a damaged message: %v", err)
	}
	if _, err := os.Stat(filepath.Join(box, "msg-003.json")); err != nil {
		t.Errorf("the damaged message: %v", err)
	}
}

// TestXF12_AnswersOfOtherPrograms: an answer that another program writes as fields of the file
// is one; only words are no answer; and no message is empty because its content is no text.
func TestXF12_AnswersOfOtherPrograms(t *testing.T) {
	m, box := newMail(t)
	ok(t, os.MkdirAll(box, 0o700))
	for name, text := range map[string]string{
		"msg-001.json": `{"from":"lead","type":"plan_approval_response","request_id":"p","approve":true,"feedback":"go"}`,
		"msg-002.json": `{"from":"builder","type":"shutdown_response","request_id":"r","approve":false,"content":"busy"}`,
		"msg-003.json": `{"from":"builder","type":"shutdown_response","content":"ok"}`,
		"msg-004.json": `{"from":"lead","type":"direct","content":["x",1]}`,
	} {
		ok(t, os.WriteFile(filepath.Join(box, name), []byte(text), 0o600))
	}
	list, err := m.List(t.Context(), "alpha", "builder")
	ok(t, err)
	plan, _ := store.ParseFrame(list[0].Text)
	if plan.Type != store.PlanResponse || plan.RequestID != "p" || plan.Approved == nil || !*plan.Approved || plan.Feedback != "go" {
		t.Errorf("the plan: %q", list[0].Text)
	}
	stop, _ := store.ParseFrame(list[1].Text)
	if stop.Type != store.ShutdownRejected || stop.RequestID != "r" || stop.Approved == nil || *stop.Approved || stop.Reason != "busy" {
		t.Errorf("the shutdown: %q", list[1].Text)
	}
	if list[2].Text != "ok" || list[3].Text != `["x",1]` {
		t.Errorf("words: %q, %q", list[2].Text, list[3].Text)
	}
}

// TestXF12_NoWordsOfOtherProgramsAreLost: what a file says beside the request it names stays to
// be read, also what is said in another field than ours, and so do the requests of a no.
func TestXF12_NoWordsOfOtherProgramsAreLost(t *testing.T) {
	m, box := newMail(t)
	ok(t, os.MkdirAll(box, 0o700))
	for i, c := range []struct {
		text, kind string
		requests   int
		words      func(store.Frame) string
	}{
		{`{"type":"plan_approval_request","request_id":"p","content":"THE PLAN"}`, store.PlanRequest, 1, func(f store.Frame) string { return f.PlanContent }},
		{`{"type":"plan_approval_request","request_id":"p","planContent":"THE PLAN","content":"see"}`, store.PlanRequest, 1, func(f store.Frame) string { return f.PlanContent }},
		{`{"type":"permission_request","request_id":"p","content":"THE PLAN"}`, store.PermissionRequest, 1, func(f store.Frame) string { return f.Description }},
		{`{"type":"permission_response","request_id":"p","text":"THE PLAN"}`, store.PermissionResponse, 1, func(f store.Frame) string { return f.Error }},
		{`{"type":"shutdown_response","request_id":"p","approve":false,"text":"THE PLAN"}`, store.ShutdownRejected, 1, func(f store.Frame) string { return f.Reason }},
		{"\ufeff" + `{"type":"shutdown_response","request_id":"p","requestId":"q","approve":false,"content":"THE PLAN"}`, store.ShutdownRejected, 2, func(f store.Frame) string { return f.Reason }},
		{`{"type":"idle_notification","request_id":"p","content":"THE PLAN"}`, "message", 0, nil},
	} {
		name := fmt.Sprintf("msg-%03d.json", i)
		ok(t, os.WriteFile(filepath.Join(box, name), []byte(c.text), 0o600))
		list, err := m.List(t.Context(), "alpha", "builder")
		ok(t, err)
		got := list[0]
		f, _ := store.ParseFrame(got.Text)
		if said := f.Requests(); got.Kind() != c.kind || len(said) != c.requests || strings.HasPrefix(got.Text, "\ufeff") {
			t.Errorf("%s is read as %s of %q: %q", c.text, got.Kind(), said, got.Text)
		}
		if c.words == nil {
			c.words = func(store.Frame) string { return got.Text }
		}
		if words := c.words(f); words != "THE PLAN" {
			t.Errorf("%s says %q", c.text, words)
		}
		ok(t, os.Remove(filepath.Join(box, name)))
	}
}

// BenchmarkPut compares a message into a box of 10,000 with one into a box of 10,
// by turns.
func BenchmarkPut(b *testing.B) {
	var boxes [2]*maildir.Mail
	for i, n := range []int{10, 10_000} {
		m, dir := newMail(b)
		ok(b, os.MkdirAll(dir, 0o700))
		for j := range n {
			ok(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("msg-%019d-x.json", j)), []byte(`{"id":"x"}`), 0o600))
		}
		boxes[i] = m
	}
	var times [2][]time.Duration
	for b.Loop() {
		for i, m := range boxes {
			start := time.Now()
			_, err := m.Put(b.Context(), "alpha", "builder", store.Message{From: "a", Text: "hello"})
			ok(b, err)
			times[i] = append(times[i], time.Since(start))
		}
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	small, large := times[0][len(times[0])/2], times[1][len(times[1])/2]
	b.ReportMetric(float64(small.Microseconds()), "box-of-10-p50-µs")
	b.ReportMetric(float64(large.Microseconds()), "box-of-10000-p50-µs")
	b.ReportMetric(float64(large)/float64(small), "times-small")
}

func TestXF12_TypesOnDisk(t *testing.T) {
	m, box := newMail(t)
	for want, msg := range map[string]store.Message{
		`"type": "direct"`:            {Text: "hi"},
		`"type": "broadcast"`:         {Text: "all", Type: "broadcast"},
		`"type": "shutdown_request"`:  {Text: store.Frame{Type: store.ShutdownRequest, RequestID: "r"}.Text()},
		`"type": "shutdown_response"`: {Text: store.Frame{Type: store.ShutdownApproved, RequestID: "r"}.Text()},
	} {
		msg.From = store.Lead
		sent, err := m.Put(t.Context(), "alpha", "builder", msg)
		ok(t, err)
		entries, err := os.ReadDir(box)
		ok(t, err)
		data, err := os.ReadFile(filepath.Join(box, entries[len(entries)-1].Name()))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%v\n%s lacks %s", err, data, want)
		}
		list, err := m.List(t.Context(), "alpha", "builder")
		if ok(t, err); list[len(list)-1].Text != msg.Text || list[len(list)-1].ID != sent.ID {
			t.Errorf("read as %+v", list[len(list)-1])
		}
	}
}
