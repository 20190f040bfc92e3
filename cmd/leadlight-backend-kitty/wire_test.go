package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
)

// A window whose first process just becomes another program shows its mark to the question why
// a command did not find it: the command is given again.
func TestMarkShowsLater(t *testing.T) {
	mark := backend.Mark{Base: "b", Team: "t", Agent: "a", Host: "h"}
	text, _ := json.Marshal(mark)
	tree, _ := json.Marshal([]osWindow{{ID: 1, Tabs: []tab{{ID: 2, Windows: []window{
		{ID: 3, Env: map[string]string{markVariable: string(text), hashVariable: hashOf(mark)}},
	}}}}})
	quoted, _ := json.Marshal(string(tree))
	socket := filepath.Join(t.TempDir(), "k")
	kitty, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer kitty.Close()
	go func() {
		for _, answer := range []string{`{"ok":false,"error":"No matching windows"}`, `{"ok":true,"data":` + string(quoted) + `}`, `{"ok":true}`} {
			conn, err := kitty.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(conn).ReadBytes('\\')
			_, _ = io.WriteString(conn, frameStart+answer+frameEnd)
			_ = conn.Close()
		}
	}()
	b, err := New(Options{Socket: socket, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Label(t.Context(), "3", mark, backend.Label{Name: "a"}); err != nil {
		t.Error(err)
	}
}

// FuzzAnswer: any bytes are an answer, an error of kitty's or no answer; what ls tells is
// a list whose marks are all our own.
func FuzzAnswer(f *testing.F) {
	mark := backend.Mark{Base: "b", Team: "t", Agent: "研", Host: "h"}
	text, _ := json.Marshal(mark)
	tree, _ := json.Marshal([]osWindow{{ID: 1, Tabs: []tab{{ID: 2, History: []int64{3}, Windows: []window{
		{ID: 3, Columns: 80, Lines: 24, Env: map[string]string{markVariable: string(text), hashVariable: hashOf(mark)}},
		{ID: 4, Columns: 40, Lines: 24, Env: map[string]string{markVariable: string(text), hashVariable: "0"}},
	}}}}})
	quoted, _ := json.Marshal(string(tree))
	f.Add([]byte(frameStart + `{"ok":true,"data":` + string(quoted) + `}` + frameEnd))
	f.Add([]byte(frameStart + `{"ok":false,"error":"No matching windows","tb":"x"}` + frameEnd))
	f.Add([]byte("\\\\\x1b\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		answer, err := readAnswer(bytes.NewReader(data))
		if err != nil {
			return
		}
		tree, err := parseTree(answer)
		if err != nil {
			return
		}
		for _, p := range panesOf(tree, "s") {
			if p.Mark != (backend.Mark{}) && p.Mark != mark {
				// A mark counts only with its own hash, which a fuzzer does not guess.
				t.Fatalf("a mark of nobody: %+v", p.Mark)
			}
		}
	})
}

func TestMarkOf(t *testing.T) {
	m := backend.Mark{Base: "b", Team: "t", Agent: "a", Host: "h"}
	text, _ := json.Marshal(m)
	for _, tc := range []struct {
		env  map[string]string
		want backend.Mark
	}{
		{nil, backend.Mark{}},
		{map[string]string{markVariable: string(text), hashVariable: hashOf(m)}, m},
		{map[string]string{markVariable: string(text)}, backend.Mark{}},
		{map[string]string{markVariable: "{", hashVariable: hashOf(m)}, backend.Mark{}},
	} {
		if got := markOf(tc.env); got != tc.want {
			t.Errorf("%v: %+v", tc.env, got)
		}
	}
}

func TestExtent(t *testing.T) {
	for _, tc := range []struct {
		windows     []window
		cols, lines int
	}{
		{nil, 0, 0},
		{[]window{{Columns: 80, Lines: 24}}, 80, 24},
		{[]window{{Columns: 80, Lines: 12}, {Columns: 80, Lines: 12}}, 80, 24},
		{[]window{{}}, 0, 0},
	} {
		if cols, lines := extent(tc.windows); cols != tc.cols || lines != tc.lines {
			t.Errorf("%v: %dx%d", tc.windows, cols, lines)
		}
	}
}
