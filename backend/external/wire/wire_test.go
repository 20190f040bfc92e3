package wire_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/external/wire"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

func TestDecode(t *testing.T) {
	for line, code := range map[string]int{
		`{"jsonrpc":"2.0","id":1,"method":"list"}`:       0,
		`{"jsonrpc":"2.0","method":"$/cancel","x":[{}]}`: 0,
		`{"jsonrpc":"2.0","id":"a","result":null}`:       0,
		`{"jsonrpc":"2.0","id":null,"error":{}}`:         0,
		`{"jsonrpc":"2.0","id":null}`:                    wire.InvalidRequest,
		`{"jsonrpc":"2.0","id":{},"method":"x"}`:         wire.InvalidRequest,
		`{"jsonrpc":"1.0","id":1,"method":"x"}`:          wire.InvalidRequest,
		`{"jsonrpc":"2.0","id":1,"method":7}`:            wire.InvalidRequest,
		`{}`:                                             wire.InvalidRequest,
		`[]`:                                             wire.InvalidRequest,
		`7`:                                              wire.InvalidRequest,
		`{`:                                              wire.ParseError,
		`{} {}`:                                          wire.ParseError,
		"\x00":                                           wire.ParseError,
	} {
		_, bad := wire.Decode([]byte(line))
		got := 0
		if bad != nil {
			got = bad.Code
		}
		if got != code {
			t.Errorf("%s: %d, want %d", line, got, code)
		}
	}
}

func TestErrorsThereAndBack(t *testing.T) {
	for _, want := range []fault.Code{fault.NoSpace, fault.SpawnFailed, fault.Unproven, fault.Unsupported, fault.InvalidArgument} {
		err := wire.ErrorOf(fault.New(want, "what").WithHint("how")).Fault("it")
		if f := fault.Of(err); f.Code != want || f.Hint != "how" || !strings.Contains(f.Message, "what") {
			t.Errorf("%s became %+v", want, f)
		}
	}
	if err := wire.ErrorOf(fault.New(fault.BackendUnavailable, "x: %w", backend.ErrGone)).Fault("it"); !errors.Is(err, backend.ErrGone) {
		t.Errorf("gone became %v", err)
	}
	if err := wire.ErrorOf(fault.New(fault.TeamNotFound, "odd")).Fault("it"); !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("a code that no terminal has became %v", err)
	}
}

// FuzzLines: any bytes are lines, each a message or an error; what is sent is one line.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"open\",\"params\":{\"panes\":[{\"argv\":[\"a\",\"b\"]}]}}\n[]\n"))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32000,\"message\":\"\",\"data\":{\"code\":7}}}"))
	f.Add([]byte("\r\n\x00{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(bytes.NewReader(data))
		for {
			line, err := r.Next()
			if err != nil {
				return
			}
			if len(line) == 0 || bytes.ContainsRune(line, '\n') {
				t.Fatalf("a line is %q", line)
			}
			m, bad := wire.Decode(line)
			if bad != nil {
				continue
			}
			if m.Error != nil && m.Error.Fault("it") == nil {
				t.Fatal("an error became none")
			}
			var out bytes.Buffer
			sent, err := wire.NewWriter(&out).Send(m)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Count(out.Bytes(), []byte("\n")) != 1 || !bytes.Equal(bytes.TrimSuffix(out.Bytes(), []byte("\n")), sent) {
				t.Fatalf("sent %q", out.Bytes())
			}
			if _, bad := wire.Decode(sent); bad != nil {
				t.Fatalf("%s came back as %v", sent, bad)
			}
		}
	})
}
