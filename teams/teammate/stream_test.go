package teammate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
)

// followed lets a stream go by in pieces and returns what is kept of it.
func followed(t *testing.T, stream []byte, piece int) (panes.ObservedRecord, error) {
	t.Helper()
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	m := &teammate{o: Options{Team: "alpha", Agent: "bob", Panes: panes.NewManager(panes.Options{Dir: dir}), Log: slog.New(slog.DiscardHandler)}}
	s := m.followStream(t.Context(), "7")
	for part := range slices.Chunk(stream, piece) {
		if n, err := s.Write(part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	s.close()
	return m.o.Panes.Records().Observed(t.Context(), "alpha", "bob")
}

// TestStreamIsKept: the events of a stream and the state they led to are written
// down, however the output came; a stream without a team leaves nothing.
func TestStreamIsKept(t *testing.T) {
	stream, err := os.ReadFile("testdata/stream.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []int{7, 4096, len(stream)} {
		rec, err := followed(t, stream, piece)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Run == "" || rec.Task != "7" || rec.Seq != 4 || len(rec.Events) != 4 {
			t.Errorf("in pieces of %d: %+v", piece, rec)
		}
		if !bytes.Contains(rec.State, []byte(`"name":"alpha"`)) || !bytes.Contains(rec.Events[0], []byte(`"team:created"`)) {
			t.Errorf("in pieces of %d: %s, %s", piece, rec.State, rec.Events)
		}
	}
	plain := []byte(`{"type":"system","subtype":"init","session_id":"S1"}` + "\nnoise\n" + `{"type":"result","result":"done"}` + "\n")
	if rec, err := followed(t, plain, 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a stream without a team: %+v, %v", rec, err)
	}
}

// TestStreamIsBounded: of many events the last are kept.
func TestStreamIsBounded(t *testing.T) {
	stream, err := os.ReadFile("testdata/stream.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.Write(stream)
	const more = 1500
	for i := range more {
		fmt.Fprintf(&b, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"m%d","name":"SendMessage","input":{"type":"message","recipient":"builder","content":"%s"}}]}}`+"\n", i, strings.Repeat("x", 600))
		fmt.Fprintf(&b, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"m%d","content":"{\"success\":true}"}]}}`+"\n", i)
	}
	rec, err := followed(t, b.Bytes(), 32<<10)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, e := range rec.Events {
		size += len(e)
	}
	if rec.Seq != 4+more || size > maxEventBytes || len(rec.Events) > maxEvents || !bytes.Contains(rec.Events[len(rec.Events)-1], fmt.Appendf(nil, `"seq":%d,`, 4+more)) {
		t.Errorf("seq %d, %d events of %d bytes", rec.Seq, len(rec.Events), size)
	}
}

func TestWhichCommandsSpeakAStream(t *testing.T) {
	for line, want := range map[string]bool{
		"claude -p x --output-format stream-json --verbose": true,
		"claude -p x --output-format=stream-json":           true,
		"claude -p x --output-format json":                  false,
		"make watch":                                        false,
	} {
		if got := speaksStream(strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
		if got := speaksStream([]string{"sh", "-c", line}); got != want {
			t.Errorf("sh -c %q: %v", line, got)
		}
	}
}
