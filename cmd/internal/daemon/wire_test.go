package daemon

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// TestWire pins what goes over the socket, byte by byte.
func TestWire(t *testing.T) {
	_, socket := served(t, 16)
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	r := bufio.NewReader(conn)
	for _, tc := range []struct{ ask, answer string }{
		{`{"jsonrpc":"2.0","id":1,"method":"events.list"}`, `{"jsonrpc":"2.0","id":1,"result":{"events":[],"last":0,"more":false}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"live.fly"}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"there is no method \"live.fly\"","data":{"code":"UNSUPPORTED","message":"there is no method \"live.fly\"","hint":"leadlight daemon schema lists them"}}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"live.ps","params":{"teem":"x"}}`,
			`{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"the parameters of live.ps: json: unknown field \"teem\"","data":{"code":"INVALID_ARGUMENT","message":"the parameters of live.ps: json: unknown field \"teem\"","hint":"leadlight daemon schema shows what live.ps takes"}}}`},
		{`{"jsonrpc":"2.0","id":4,"method":"live.send","params":{"to":"bob"}}`,
			`{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"the parameters of live.send: text is missing","data":{"code":"INVALID_ARGUMENT","message":"the parameters of live.send: text is missing","hint":"leadlight daemon schema shows what live.send takes"}}}`},
		{`{"jsonrpc":"2.0","id":5,"method":"live.ps"}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32001,"message":"none","data":{"code":"FAILED","message":"none"}}}`},
		{`{"jsonrpc":"2.0","id":7,"method":"live.plan.reject","params":{"text":"why"}}`,
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"the parameters of live.plan.reject: id is missing","data":{"code":"INVALID_ARGUMENT","message":"the parameters of live.plan.reject: id is missing","hint":"leadlight daemon schema shows what live.plan.reject takes"}}}`},
		{`{"jsonrpc":"2.0","id":8,"method":"live.delegate","params":{"delegate":1}}`,
			`{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"the parameters of live.delegate: json: cannot unmarshal number into Go struct field DelegateParams.delegate of type bool","data":{"code":"INVALID_ARGUMENT","message":"the parameters of live.delegate: json: cannot unmarshal number into Go struct field DelegateParams.delegate of type bool","hint":"leadlight daemon schema shows what live.delegate takes"}}}`},
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

// TestClientHasAllVerbs: each live method has a method of the typed client that takes
// and gives the same.
func TestClientHasAllVerbs(t *testing.T) {
	client, nothing := reflect.TypeFor[rpc.Live](), reflect.TypeFor[rpc.Nothing]()
	for _, m := range Methods(nil) {
		verb, live := strings.CutPrefix(m.Name, "live.")
		if !live {
			continue
		}
		want := []reflect.Type{}
		if m.Params != nothing {
			want = append(want, m.Params)
		}
		if m.Result != nothing {
			want = append(want, m.Result)
		}
		typed, ok := client.MethodByName(goName(verb))
		if !ok {
			t.Errorf("%s: the client has no %s", m.Name, goName(verb))
			continue
		}
		got := []reflect.Type{}
		for i := 2; i < typed.Type.NumIn(); i++ { // after the receiver and the context
			got = append(got, typed.Type.In(i))
		}
		for i := range typed.Type.NumOut() - 1 { // before the error
			got = append(got, typed.Type.Out(i))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the client has %v, the daemon %v", m.Name, got, want)
		}
	}
}

// goName writes task.add as TaskAdd.
func goName(verb string) string {
	if verb == "gc" {
		return "GC"
	}
	var b strings.Builder
	for _, word := range strings.Split(verb, ".") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
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
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	r := bufio.NewReader(conn)
	for _, line := range []string{
		"hello", `{"jsonrpc":"2.0","id":5,"meth`, "\ufeff" + `{"jsonrpc":"2.0","id":5,"method":"events.list"}`, `{"id":5,"method":"events.list"}`,
		`7`, `[]`, "", `{"jsonrpc":"2.0","id":{},"method":"events.list"}`, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"p\xff\"}",
	} {
		fmt.Fprintln(conn, line)
		got, err := r.ReadString('\n')
		if err != nil || !strings.Contains(got, `"error":{`) {
			t.Fatalf("%q: got %s, %v", line, got, err)
		}
		fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":9007199254740993,"method":"events.list"}`)
		if got, err = r.ReadString('\n'); err != nil || !strings.Contains(got, `"id":9007199254740993,"result":{`) {
			t.Fatalf("after %q: got %s, %v", line, got, err)
		}
	}
}
