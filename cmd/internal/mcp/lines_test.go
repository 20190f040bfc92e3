package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/leadlight-dev/leadlight/internal/lineio"
	"github.com/leadlight-dev/leadlight/teams/watch"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// answered sends lines to a server and returns its answers, by their ids, once there is
// one to id and to what was sent after the lines.
func answered(t *testing.T, lines, id string) map[string]string {
	t.Helper()
	d := newFixture(t)
	svc, who := d.as("")
	s := New(Options{Source: watch.Source{Service: svc, Roster: d.fs.Roster(), Mail: d.fs.Mail(nil), Tasks: d.fs.Tasks()}, Caller: who, Enabled: true})
	in, send := io.Pipe()
	got, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Stdio(t.Context(), in, out) }()
	go func() {
		_, _ = io.WriteString(send, hello+lines+"\n"+`{"jsonrpc":"2.0","id":"last","method":"ping"}`+"\n")
	}()
	answers := map[string]string{}
	r := bufio.NewReader(got)
	defer time.AfterFunc(3*time.Minute, func() { got.Close() }).Stop()
	for answers[`"last"`] == "" || answers[id] == "" {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the server has ended: %v; it answered %v", err, answers)
		}
		var a struct {
			ID    json.RawMessage
			Error *struct{ Code int }
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		answers[string(a.ID)] = "ok"
		if a.Error != nil {
			answers[string(a.ID)] = map[int]string{jsonrpc.CodeParseError: "parse", jsonrpc.CodeInvalidRequest: "invalid"}[a.Error.Code]
		}
	}
	_ = send.Close()
	go func() { _, _ = io.Copy(io.Discard, got) }()
	if err := <-done; err != nil {
		t.Error(err)
	}
	return answers
}

// A line that is no message is answered with the protocol's error, and the next line is
// read.
func TestXF06_BadLinesOfAClient(t *testing.T) {
	for _, c := range []struct{ name, line, id, want string }{
		{"not JSON", "hello", "null", "parse"},
		{"cut", `{"jsonrpc":"2.0","id":5,"meth`, "null", "parse"},
		{"a byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":5,"method":"ping"}`, "null", "parse"},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"p\xff\"}", "null", "parse"},
		{"no version", `{"id":5,"method":"ping"}`, "5", "invalid"},
		{"another version", `{"jsonrpc":"1.0","id":"x","method":"ping"}`, `"x"`, "invalid"},
		{"no object", `7`, "null", "invalid"},
		{"no method", `{"jsonrpc":"2.0"}`, "null", "invalid"},
		{"an id that is none", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", "invalid"},
		{"a null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", "invalid"},
		{"an empty batch", `[]`, "null", "invalid"},
		{"a batch with a bad part", `[{"id":5,"method":"ping"},{"jsonrpc":"2.0","id":6,"method":"ping"}]`, "6", "ok"},
		{"a batch within a batch", `[[{"jsonrpc":"2.0","id":5,"method":"ping"}]]`, "null", "invalid"},
		{"two on one line", `{"jsonrpc":"2.0","id":5,"method":"ping"}{"jsonrpc":"2.0","id":6,"method":"ping"}`, "null", "parse"},
		{"NUL", "\x00", "null", "parse"},
		{"UTF-16", "{\x00\"\x00i\x00d\x00\"\x00:\x005\x00}\x00", "null", "parse"},
		{"deep", strings.Repeat("[", 100_000), "null", "parse"},
		{"deep and whole", strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000), "null", "invalid"},
		{"CRLF", `{"jsonrpc":"2.0","id":5,"method":"ping"}` + "\r", "5", "ok"},
		{"blank", " \r\n\n", "1", "ok"},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":77,"result":{}}`, "1", "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := answered(t, c.line, c.id); got[c.id] != c.want {
				t.Errorf("answers %v, want %s for %s", got, c.want, c.id)
			}
		})
	}
}

// TestXF06_ALineOfAClientThatIsTooLong is answered, and the next one is read.
func TestXF06_ALineOfAClientThatIsTooLong(t *testing.T) {
	said, out := io.Pipe()
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(said).ReadString('\n')
		answer <- line
	}()
	in := strings.Repeat("x", 100) + "\n" + `{"jsonrpc":"2.0","id":5,"method":"ping"}` + "\n"
	l, err := newLines(io.NopCloser(strings.NewReader(in)), out, 64).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m, err := l.Read(t.Context())
	if req, ok := m.(*jsonrpc.Request); err != nil || !ok || req.Method != "ping" {
		t.Errorf("%v, %v", m, err)
	}
	if got := <-answer; !strings.Contains(got, "the line has more than 64 bytes") {
		t.Errorf("answered %s", got)
	}
}

// An id comes back as it was, to the last digit.
func TestXF16_IDsComeBackTheSame(t *testing.T) {
	for _, id := range []string{"9007199254740993", "-9007199254740993", "123456789012345678901234567890", "1.5", "9007199254740992", `"9007199254740993"`,
		"-0", "1e400", "1E2", "0.10", "-9223372036854775808", `"a\u0041\ud800\/"`, `"leadlight:number:5"`} {
		if got := answered(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`, id); got[id] != "ok" {
			t.Errorf("%s: answers to %v", id, got)
		}
	}
	kept := keepInMessage(json.RawMessage(`{"method":"tools/call","params":{"_meta":{"progressToken":9007199254740993}}}`))
	if !strings.Contains(string(kept), `"leadlight:number:9007199254740993"`) {
		t.Errorf("%s", kept)
	}
	out := restoreNumbers([]byte(`{"method":"notifications/progress","params":{"progressToken":"leadlight:number:9007199254740993"}}`))
	if !strings.Contains(string(out), `"progressToken":9007199254740993`) {
		t.Errorf("%s", out)
	}
	answer := `{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"metadata":{"id":"leadlight:number:5"}}}}`
	for _, said := range []string{answer, "event: message\ndata: " + answer + "\n\n"} {
		if out := restoreNumbers([]byte(said)); string(out) != said {
			t.Errorf("what a user wrote comes back as %s", out)
		}
	}
}

// Whatever a line holds, it is a message, a batch, or the protocol's error.
func FuzzXF06_Lines(f *testing.F) {
	for _, s := range []string{hello, "hello", `[1,[2]]`, `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, "\ufeff{}", `{"jsonrpc":"2.0","id":9007199254740993,"method":"notifications/cancelled","params":{"requestId":1.5}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l := &lines{max: 1 << 16}
		for r := lineio.NewReader(bytes.NewReader(data), l.max); ; {
			line, err := r.Next()
			if err == nil {
				m, bad := l.message(line)
				if m == nil && bad == nil && len(l.waiting) == 0 || m != nil && bad != nil {
					t.Fatalf("%q: %v %v", line, m, bad)
				}
				if req, ok := m.(*jsonrpc.Request); ok {
					if _, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: req.ID, Result: json.RawMessage("{}")}); err != nil {
						t.Fatalf("%q: %v", line, err)
					}
				}
				l.waiting = nil
			}
			if err == io.EOF {
				return
			}
		}
	})
}

// TestXF06_TheLastRequestsAreAnswered: who writes all its requests at once and closes its
// side, as a pipe does, gets the answers to all of them.
func TestXF06_TheLastRequestsAreAnswered(t *testing.T) {
	d := newFixture(t)
	svc, who := d.as("")
	s := New(Options{Source: watch.Source{Service: svc, Roster: d.fs.Roster(), Mail: d.fs.Mail(nil), Tasks: d.fs.Tasks()}, Caller: who, Enabled: true})
	var lines strings.Builder
	lines.WriteString(hello)
	for id := range 20 {
		lines.WriteString(`{"jsonrpc":"2.0","id":` + strconv.Itoa(id+100) + `,"method":"tools/call","params":{"name":"TeamStatus","arguments":{}}}` + "\n")
	}
	var out answersOf
	if err := s.Stdio(t.Context(), io.NopCloser(strings.NewReader(lines.String())), &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"result"`); n != 21 {
		t.Errorf("%d answers of 21:\n%s", n, out.String())
	}
}

// answersOf is where a server writes.
type answersOf struct{ bytes.Buffer }

func (*answersOf) Close() error { return nil }
