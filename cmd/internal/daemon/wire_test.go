package daemon

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// TestXF07_Wire pins what goes over the socket, byte by byte.
func TestXF07_Wire(t *testing.T) {
	_, socket := served(t, 16)
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(3 * time.Minute))
	r := bufio.NewReader(conn)
	for _, tc := range []struct{ ask, answer string }{
		{`{"jsonrpc":"2.0","id":1,"method":"events.list"}`, `{"jsonrpc":"2.0","id":1,"result":{"events":[],"last":0,"more":false}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"team.fly"}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"there is no method \"team.fly\"","data":{"code":"UNSUPPORTED","message":"there is no method \"team.fly\"","hint":"leadlight daemon schema lists them"}}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"observed.list","params":{"teem":"x"}}`,
			`{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"the parameters of observed.list: json: unknown field \"teem\"","data":{"code":"INVALID_ARGUMENT","message":"the parameters of observed.list: json: unknown field \"teem\"","hint":"leadlight daemon schema shows what observed.list takes"}}}`},
		{`{"jsonrpc":"2.0","id":4,"method":"test.get","params":{}}`,
			`{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"the parameters of test.get: id is missing","data":{"code":"INVALID_ARGUMENT","message":"the parameters of test.get: id is missing","hint":"leadlight daemon schema shows what test.get takes"}}}`},
		{`{"jsonrpc":"2.0","id":5,"method":"test.get","params":{"id":"x"}}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32003,"message":"no x","data":{"code":"RUN_NOT_FOUND","message":"no x"}}}`},
		{`{"jsonrpc":"2.0","id":7,"method":"observed.list","params":{"team":1}}`,
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"the parameters of observed.list: json: cannot unmarshal number into Go struct field ObservedParams.team of type string","data":{"code":"INVALID_ARGUMENT","message":"the parameters of observed.list: json: cannot unmarshal number into Go struct field ObservedParams.team of type string","hint":"leadlight daemon schema shows what observed.list takes"}}}`},
		{"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"test.get\",\"params\":{\"id\":\"a\xff\"}}",
			`{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"the parameters of test.get are not UTF-8","data":{"code":"INVALID_ARGUMENT","message":"the parameters of test.get are not UTF-8"}}}`},
		{`{"jsonrpc":"2.0","id":6,"method":"events.subscribe"}`, `{"jsonrpc":"2.0","id":6,"result":{"seq":0,"teams":[]}}`},
	} {
		fmt.Fprintln(conn, tc.ask)
		if line, err := r.ReadString('\n'); err != nil || strings.TrimSpace(line) != tc.answer {
			t.Errorf("%s\n got %s, %v\nwant %s", tc.ask, line, err, tc.answer)
		}
	}
}

// TestSchemaGolden pins the names of methods and the fields of types.
func TestSchemaGolden(t *testing.T) {
	got, err := json.MarshalIndent(rpc.SchemaOf(Methods(nil), Notifications()), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/schema.json"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != string(got)+"\n" {
		t.Errorf("the schema has changed (%v): look at the difference, then UPDATE=1 go test ./cmd/internal/daemon -run Schema", err)
	}
}

// TestXF06_XF16_BadLinesOfAProgram: a line that is no request is answered with the
// protocol's error, and the next one is served. Ids come back as they were.
func TestXF06_XF16_BadLinesOfAProgram(t *testing.T) {
	_, socket := served(t, 16)
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(3 * time.Minute))
	r := bufio.NewReader(conn)
	for _, line := range []string{
		"hello", `{"jsonrpc":"2.0","id":5,"meth`, "\ufeff" + `{"jsonrpc":"2.0","id":5,"method":"events.list"}`, `{"id":5,"method":"events.list"}`,
		`7`, `[]`, "", `{"jsonrpc":"2.0","id":{},"method":"events.list"}`, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"p\xff\"}",
		"\x00", "{\x00\"\x00i\x00d\x00\"\x00:\x005\x00}\x00", `{"jsonrpc":"2.0","id":5,"method":"events.list"}{"jsonrpc":"2.0","id":6,"method":"events.list"}`,
		`[{"jsonrpc":"2.0","id":5,"method":"events.list"},7]`, strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000),
	} {
		fmt.Fprintln(conn, line)
		got, err := r.ReadString('\n')
		if err != nil || !strings.Contains(got, `"error":{`) {
			t.Fatalf("%.80q: got %s, %v", line, got, err)
		}
		fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":9007199254740993,"method":"events.list"}`)
		if got, err = r.ReadString('\n'); err != nil || !strings.Contains(got, `"id":9007199254740993,"result":{`) {
			t.Fatalf("after %.80q: got %s, %v", line, got, err)
		}
	}
}
