package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// FuzzXF06_Lines: whatever lines a program sends, each answer is a whole one of the
// protocol, and a request behind them is served.
func FuzzXF06_Lines(f *testing.F) {
	for _, seed := range []string{
		"", "hello", "{", "[]", "[1,2]", "7", "null", "\x00", "\ufeff{}", "\xff\xfe", `{"jsonrpc":"2.0","id":1,"method":"get","params":{"id":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"meth`, `{"id":1,"method":"get"}`, `{"jsonrpc":"2.0","id":{},"method":"get"}`, `{"jsonrpc":"2.0","method":"get"}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"no\u0000ne"}`, `[{"jsonrpc":"2.0","id":1,"method":"get"},7]`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":"end","method":"rpc.cancel","params":["end"]}`, strings.Repeat("[", 5000), `{"jsonrpc":"2.0","id":1,"method":"get","params":{"id":7}}` + "\r",
	} {
		f.Add([]byte(seed))
	}
	get := rpc.Func("get", "Refuse.", func(_ context.Context, p api.IDParams) (rpc.Nothing, error) {
		return rpc.Nothing{}, fault.New(fault.RunNotFound, "no %s", p.ID)
	})
	server, err := New([]rpc.Method{get}, slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		near, far := net.Pipe()
		done := make(chan struct{})
		go func() { defer close(done); server.Serve(t.Context(), far) }()
		const last = "the-last-request-of-all"
		sent := make(chan error, 1)
		go func() {
			_, err := fmt.Fprintf(near, "%s\n{\"jsonrpc\":\"2.0\",\"id\":%q,\"method\":\"get\",\"params\":{\"id\":\"x\"}}\n", lines, last)
			sent <- err
		}()
		served := false
		for r := bufio.NewReader(near); !served; {
			line, err := r.ReadString('\n')
			if err != nil && err != io.EOF || err == io.EOF && !served {
				t.Fatalf("after %q the server has gone: %v", lines, err)
			}
			if !json.Valid([]byte(line)) {
				t.Fatalf("%q is answered with %q", lines, line)
			}
			served = strings.Contains(line, last) && strings.Contains(line, string(fault.RunNotFound))
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		near.Close()
		<-done
	})
}
