package claudefs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
)

// seed adds the sample files of one kind.
func seed(f *testing.F, pattern string) {
	f.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		f.Fatalf("%s: %q %v", pattern, names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 10_000 {
			f.Add(data)
		}
	}
}

func FuzzTeam(f *testing.F) {
	seed(f, "testdata/cases/config/*.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		opened, err := document.OpenTeam("alpha", data)
		if err != nil {
			return
		}
		_, err = opened.Edit(func(x *store.Team) error {
			x.Description += "x"
			for i := range x.Members {
				x.Members[i].Color += "x"
			}
			x.Members = append(x.Members, store.Member{Name: "fuzz-is-new"})
			return nil
		})
		if err != nil {
			return // the name is taken
		}
		again, err := document.ReadTeam("alpha", opened.Bytes())
		if err != nil || !json.Valid(opened.Bytes()) || again.Member("fuzz-is-new") == nil {
			t.Fatalf("%q became %q: %v", data, opened.Bytes(), err)
		}
	})
}

func FuzzBox(f *testing.F) {
	seed(f, "testdata/cases/inbox/*.json")
	f.Add([]byte(`[{"from":"a","text":"x","read":false},66]`)) // no message, so it cannot be read
	f.Add([]byte(`[{"text":"z"}]`))                            // the next of the same content is another message
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseBox(data, "builder")
		if err != nil {
			return
		}
		more := appended(data, json.RawMessage(`{"from":"x","text":"y"}`))
		after, err := parseBox(more, "builder")
		if err != nil || len(after) != len(entries)+1 || after[len(entries)].msg.Text != "y" {
			t.Fatalf("%q became %q: %v", data, more, err)
		}
		var odd []string // every other message is marked as read
		for i, e := range entries {
			if string(after[i].raw) != string(e.raw) {
				t.Fatalf("entry %d of %q was changed", i, data)
			}
			if i%2 == 1 && e.ok {
				odd = append(odd, e.msg.ID)
			}
		}
		marked, n, err := markedRead(data, "builder", odd)
		after, parsed := parseBox(marked, "builder")
		if err != nil || parsed != nil || n != len(entries) || len(after) != n {
			t.Fatalf("%q became %q: %v %v", data, marked, err, parsed)
		}
		for i, e := range entries {
			if asked := e.ok && slices.Contains(odd, e.msg.ID); after[i].msg.Read != (e.msg.Read || asked) || !asked && string(after[i].raw) != string(e.raw) {
				t.Fatalf("entry %d of %q became %s", i, data, after[i].raw)
			}
		}
		if !blank(data) {
			grows(t, readBox{"alpha", "builder", openBox(data), entries}, more, marked)
		}
	})
}

// grows proves that what is read of a box by its earlier state is what is read of it alone.
func grows(t *testing.T, r readBox, boxes ...[]byte) {
	usual := []string{" ]\n", `, {"text":"z","timestamp":"2026-01-01T00:00:00.000Z"}]`}
	for _, end := range append(usual, "", ",]", "1]", `"]`, `,{"text":"z"}]`, ",[1] ,{} ]", `,{"text":"z"}]]`) {
		boxes = append(boxes, append(slices.Clone(r.body), end...))
	}
	for _, box := range boxes {
		got, ok := r.grown(box, r.owner)
		want, err := parseBox(box, r.owner)
		known := len(r.entries) > 0 && slices.ContainsFunc(usual, func(end string) bool { return string(r.body)+end == string(box) })
		if known && !ok || ok && (err != nil || !reflect.DeepEqual(got, want)) {
			t.Fatalf("%q after %q: %t %+v, want %+v %v", box, r.body, ok, got, want, err)
		}
	}
}

func FuzzTask(f *testing.F) {
	seed(f, "testdata/cases/tasks/*/*.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		task, o, err := document.OpenTask("7", data, "alpha")
		if err != nil {
			return
		}
		now := task.Clone()
		now.Owner, now.BlockedBy, now.Result = "someone", append(now.BlockedBy, "5"), "done"
		document.SaveTask(o, &task, &now)
		again, _, err := document.OpenTask("7", document.Bytes(o), "alpha")
		if err != nil || again.Owner != "someone" || len(again.BlockedBy) != len(now.BlockedBy) {
			t.Fatalf("%q became %q: %+v %v", data, document.Bytes(o), again, err)
		}
	})
}
