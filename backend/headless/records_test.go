package headless

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// FuzzXH08_PaneRecord: whatever stands in the record of a pane, it is refused, or speaks of
// that pane and of a process.
func FuzzXH08_PaneRecord(f *testing.F) {
	run := f.TempDir()
	dir := filepath.Join(run, "headless")
	if err := os.Mkdir(dir, 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.Chmod(run, 0o700); err != nil {
		f.Fatal(err)
	}
	b, err := New(Options{Dir: dir})
	if err != nil {
		f.Fatal(err)
	}
	mark := backend.Mark{Base: "b", Team: "alpha", Agent: "bob", Host: "h"}
	other := backend.Mark{Base: "b", Team: "beta", Agent: "bob", Host: "h"}
	process := signals.Identity{PID: 4242, Start: 1, Boot: "b"}
	id := idOf(mark)
	for _, r := range []record{
		{id, mark, process}, {idOf(other), other, process}, {id, other, process}, {idOf(other), mark, process},
		{id, mark, signals.Identity{}}, {id, mark, signals.Identity{PID: -1, Start: 1, Boot: "b"}}, {id, mark, signals.Identity{PID: 1, Start: 1, Boot: "b"}},
	} {
		data, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`null`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(b.file(id), data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := b.read(id)
		switch {
		case err != nil && fault.CodeOf(err) != fault.BackendUnavailable:
			t.Errorf("%q: %v", data, err)
		case err == nil && (r.ID != id || idOf(r.Mark) != id || r.Process.PID <= 1 || r.Process.Start == 0 || r.Process.Boot == ""):
			t.Errorf("%q is believed to be %+v", data, r)
		}
		if kept, err := os.ReadFile(b.file(id)); err != nil || string(kept) != string(data) {
			t.Errorf("%q is %q afterwards: %v", data, kept, err)
		}
	})
}
