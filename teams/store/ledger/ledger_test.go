package ledger_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/ledger"
)

func open(t *testing.T) (*files.Dir, string) {
	t.Helper()
	d, err := files.Open(t.TempDir())
	ok(t, err)
	t.Cleanup(func() { d.Close() })
	return d, filepath.Join(d.Path(), "leadlight/alpha/ledger/bob")
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, l *ledger.Ledger, ids ...string) (n int) {
	t.Helper()
	box := make([]store.Message, len(ids))
	for i, id := range ids {
		box[i].ID = id
	}
	ok(t, l.Flag("alpha", "bob", box))
	for _, m := range box {
		if m.Read {
			n++
		}
	}
	return n
}

func TestTwoReadersOfOneLedger(t *testing.T) {
	d, path := open(t)
	one, two := ledger.New(d), ledger.New(d)
	odd := []string{"", "a b", "new\nline", strings.Repeat("x", 300), "\x00"}
	if n := has(t, one, append(odd, "a")...); n != 0 {
		t.Errorf("%d in a ledger that does not exist", n)
	}
	ok(t, one.Add("alpha", "bob", append(odd, "a", "a")))
	ok(t, two.Add("alpha", "bob", []string{"a", "b"}))
	for _, l := range []*ledger.Ledger{one, two, ledger.New(d)} {
		if n := has(t, l, append(odd, "a", "b")...); n != len(odd)+2 || has(t, l, "c", "new", "line") != 0 {
			t.Errorf("%d of %d", n, len(odd)+2)
		}
	}
	data, err := os.ReadFile(path)
	ok(t, err)
	if n := strings.Count(string(data), "\n"); n != len(odd)+2 {
		t.Errorf("%d lines:\n%s", n, data)
	}
	ok(t, os.WriteFile(path, append(data, "torn"...), 0o600))
	ok(t, one.Add("alpha", "bob", []string{"c"}))
	if has(t, two, "a", "c") != 2 {
		t.Error("a torn line swallows the next")
	}
}

func TestALongLedgerLosesItsOlderHalf(t *testing.T) {
	d, path := open(t)
	var b strings.Builder
	const n = 40_000
	for i := range n {
		fmt.Fprintf(&b, "id-%032d\n", i)
	}
	ok(t, os.MkdirAll(filepath.Dir(path), 0o700))
	ok(t, os.WriteFile(path, []byte(b.String()), 0o600))
	l := ledger.New(d)
	ok(t, l.Add("alpha", "bob", []string{"newest"}))
	info, err := os.Stat(path)
	ok(t, err)
	if info.Size() > int64(b.Len())/2+100 {
		t.Errorf("%d bytes left of %d", info.Size(), b.Len())
	}
	old, recent := fmt.Sprintf("id-%032d", 1), fmt.Sprintf("id-%032d", n-1)
	for _, l := range []*ledger.Ledger{l, ledger.New(d)} {
		if has(t, l, "newest", recent) != 2 || has(t, l, old) != 0 {
			t.Error("the wrong half is left")
		}
	}
}

func TestArchiveHasOneMessageALine(t *testing.T) {
	d, _ := open(t)
	l := ledger.New(d)
	ok(t, l.Archive("alpha", "bob", nil))
	ok(t, l.Archive("alpha", "bob", []json.RawMessage{json.RawMessage("{\n  \"a\": 1.0\n}"), json.RawMessage(`{"b":null}`)}))
	path := filepath.Join(d.Path(), "leadlight/alpha/archive/bob.jsonl")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	ok(t, err)
	_, err = f.WriteString(`{"torn`)
	ok(t, err)
	ok(t, f.Close())
	ok(t, l.Archive("alpha", "bob", []json.RawMessage{json.RawMessage(`{"c":3}`)}))
	data, err := os.ReadFile(path)
	ok(t, err)
	lines := strings.Fields(string(data))
	if want := `{"a":1.0} {"b":null} {"torn {"c":3}`; strings.Join(lines, " ") != want {
		t.Errorf("archive %q, want %s", lines, want)
	}
}
