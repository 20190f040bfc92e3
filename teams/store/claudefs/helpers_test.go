package claudefs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

const samples = "testdata/cases"

// base is a base folder with a store on it.
type base struct {
	*testing.T
	dir string
	*claudefs.FS
}

func newBase(t *testing.T, opts claudefs.Options) base {
	t.Helper()
	dir := t.TempDir()
	fs, err := claudefs.Open(dir, opts)
	b := base{t, dir, fs}
	b.ok(err)
	t.Cleanup(func() { fs.Close() })
	return b
}

func (b base) ok(err error) {
	b.T.Helper()
	if err != nil {
		b.T.Fatal(err)
	}
}

func (b base) want(what string, err error, code fault.Code) {
	b.T.Helper()
	if fault.CodeOf(err) != code {
		b.T.Errorf("%s: %v (%s), want %s", what, err, fault.CodeOf(err), code)
	}
}

func (b base) path(name string) string { return filepath.Join(b.dir, name) }

// put writes a file and makes its folders.
func (b base) put(name, text string) {
	b.T.Helper()
	b.ok(os.MkdirAll(filepath.Dir(b.path(name)), 0o700))
	b.ok(os.WriteFile(b.path(name), []byte(text), 0o600))
}

func (b base) text(name string) string {
	b.T.Helper()
	data, err := os.ReadFile(b.path(name))
	b.ok(err)
	return string(data)
}

func (b base) exists(name string) bool {
	_, err := os.Lstat(b.path(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// sample returns a sample file.
func sample(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(samples, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// claudeTeam is a roster as Claude Code makes it.
const claudeTeam = `{
  "name": "alpha",
  "createdAt": 1790000000000,
  "leadAgentId": "team-lead@alpha",
  "leadSessionId": "11111111-2222-4333-8444-555555555555",
  "members": [
    {
      "agentId": "team-lead@alpha",
      "name": "team-lead",
      "joinedAt": 1790000000000,
      "tmuxPaneId": "",
      "cwd": "/srv/demo",
      "subscriptions": []
    },
    {
      "agentId": "builder@alpha",
      "name": "builder",
      "joinedAt": 1790000001000,
      "tmuxPaneId": "%5",
      "cwd": "/srv/demo",
      "subscriptions": [],
      "backendType": "tmux"
    }
  ]
}`

// replaced is text with one thing replaced, which must be there once.
func replaced(t *testing.T, text, old, new string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q stands %d times in %s", old, strings.Count(text, old), text)
	}
	return strings.Replace(text, old, new, 1)
}

// list returns a box of team alpha.
func (b base) list(owner string) []store.Message {
	b.T.Helper()
	box, err := b.Mail(nil).List(b.T.Context(), "alpha", owner)
	b.ok(err)
	return box
}
