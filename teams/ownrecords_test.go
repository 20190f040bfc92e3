package teams

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
)

// ownRecord is how a record is read from its file, and from bytes.
type ownRecord struct {
	read   func(context.Context) error
	decode func([]byte) error
}

// ownRecords are the records of our own about a team, by their paths.
func ownRecords(t testing.TB) (*files.Dir, map[string]ownRecord) {
	t.Helper()
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	s := assemble(&common{panes: panes.NewManager(panes.Options{Dir: dir, Base: dir.Path()}), environ: []string{"HOME=/home/me"}})
	r := s.panes.Records()
	return dir, map[string]ownRecord{
		"launch/.worktrees.json":  reading(s.worktreeRecord(), r),
		"ledger/.withdrawn.json":  reading(withdrawnRecord(), r),
		"ledger/.agreed.json":     reading(agreedRecord(), r),
		"ledger/.requests.json":   reading(requestsRecord(), r),
		"launch/.hooks.json":      reading(hooksRecord(), r),
		"ledger/.unread.json":     reading(toldUnreadRecord(), r),
		"ledger/.offers.json":     reading(offersRecord(), r),
		"ledger/.objections.json": reading(objectionsRecord(), r),
	}
}

func reading[T any](o panes.Own[T], r *panes.Records) ownRecord {
	return ownRecord{
		func(ctx context.Context) error { _, err := o.Read(ctx, r, "alpha"); return err },
		func(data []byte) error { _, err := o.Decode("alpha", data); return err },
	}
}

// TestXH08_OurRecordsAreReadStrictly: what we never write into a record of ours is not
// believed: no folder of somebody else, no name, number or state that there is not.
func TestXH08_OurRecordsAreReadStrictly(t *testing.T) {
	dir, read := ownRecords(t)
	tree := func(path, repo, branch, inside string) string {
		return fmt.Sprintf(`{"bob":{"path":%q,"repo":%q,"branch":%q,"made":true,"base":"x","dir":%q}}`, path, repo, branch, inside)
	}
	ours := "/home/me/.local/state/leadlight/worktrees/repo-6b4ca2db/alpha/bob"
	for file, texts := range map[string]map[string]string{
		"launch/.worktrees.json": {
			"":                      tree(ours, "/repo/.git", "leadlight/alpha/bob", ours+"/sub"),
			"a person's folder":     tree("/home/me/work", "/repo/.git", "main", "/home/me/work"),
			"another root":          tree("/tmp/worktrees/repo-6b4ca2db/alpha/bob", "/repo/.git", "main", "/tmp/worktrees/repo-6b4ca2db/alpha/bob"),
			"another teammate's":    tree(filepath.Dir(ours)+"/amy", "/repo/.git", "main", filepath.Dir(ours)+"/amy"),
			"another team's":        tree(filepath.Dir(filepath.Dir(ours))+"/beta/bob", "/repo/.git", "main", filepath.Dir(filepath.Dir(ours))+"/beta/bob"),
			"a way out":             tree(ours+"/../../../../../../work", "/repo/.git", "main", ours),
			"work outside":          tree(ours, "/repo/.git", "main", "/home/me/work"),
			"another repository":    tree(ours, "/precious/.git", "main", ours),
			"an option as a branch": tree(ours, "/repo/.git", "--force", ours),
			"a list":                `[]`,
		},
		"ledger/.withdrawn.json": {"": `["shutdown-1@bob"]`, "an empty id": `[""]`, "a terminal's code": `["\u001b[2J"]`, "a long one": `["` + strings.Repeat("x", 600) + `"]`},
		"ledger/.agreed.json":    {"": `{"bob":"h"}`, "a path": `{"../bob":"h"}`, "no text": `{"bob":1}`},
		"ledger/.requests.json": {
			"":              `{"plans":[{"id":"p1","from":"bob","status":"open","plan":"x"}],"permissions":[]}`,
			"nobody's":      `{"plans":[{"id":"p1","from":"","status":"open","plan":"x"}]}`,
			"without an id": `{"permissions":[{"id":"","from":"bob","status":"open","tool":"x"}]}`,
			"no state":      `{"permissions":[{"id":"1","from":"bob","status":"allowed","tool":"x"}]}`,
		},
		"launch/.hooks.json": {
			"":                  `[{"event":"TaskCompleted","command":"true"}]`,
			"an unknown event":  `[{"event":"Stop","command":"true"}]`,
			"without a command": `[{"event":"TaskCompleted","command":""}]`,
			"a relative folder": `[{"event":"TaskCompleted","command":"true","dir":"../x"}]`,
			"an object":         `{}`,
			"nothing":           `null`,
			"none":              `[]`,
		},
		"ledger/.unread.json":     {"": `["m1"]`, "an empty id": `[""]`, "a terminal's code": `["\u001b[2J"]`, "an object": `{"1":"m1"}`},
		"ledger/.offers.json":     {"": `{"tasks":{"1":{"to":"bob"}}}`, "no task": `{"tasks":{"../1":{"to":"bob"}}}`},
		"ledger/.objections.json": {"": `{"1":2}`, "less than none": `{"1":-1}`, "too many": `{"1":99999999}`},
	} {
		for what, text := range texts {
			if err := dir.Write(t.Context(), panes.OwnPath("alpha", file), []byte(text)); err != nil {
				t.Fatal(err)
			}
			err := read[file].read(t.Context())
			if what == "" && err != nil || what != "" && fault.CodeOf(err) != fault.CorruptFile {
				t.Errorf("%s, %q: %v", file, what, err)
			}
		}
	}
}

// FuzzXH08_OurRecords: whatever stands in a record of ours, it is read or refused.
func FuzzXH08_OurRecords(f *testing.F) {
	f.Add([]byte(`{"bob":{"path":"/x","repo":"/y/.git","branch":"b","dir":"/x"}}`))
	f.Add([]byte(`{"plans":[{"id":"p1","from":"bob","status":"open"}]}`))
	f.Add([]byte(`[{"event":"TaskCompleted","command":"true"}]`))
	_, all := ownRecords(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for file, one := range all {
			if err := one.decode(data); err != nil && fault.CodeOf(err) != fault.CorruptFile {
				t.Errorf("%s: %v", file, err)
			}
		}
	})
}
