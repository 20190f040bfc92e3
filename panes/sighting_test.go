package panes

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes/state"
)

// TestXH04_NothingOfItIsHere: a host that a roster names and of which nothing was ever here,
// as where the rosters were brought from another place, is unknown. It is lost where its
// start was begun here.
func TestXH04_NothingOfItIsHere(t *testing.T) {
	base := t.TempDir()
	dir, err := files.Open(base)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	m := NewManager(Options{Base: base, Dir: dir, Runtime: t.TempDir()})
	look := func(want string) {
		t.Helper()
		if o := m.Observe(t.Context(), "alpha", "bob", uuid.NewString(), time.Now().Add(-time.Hour)); o.State != want {
			t.Errorf("bob is %s (%s), want %s", o.State, o.Reason, want)
		}
	}
	look(state.Unknown)
	if err := m.Expect("alpha", "bob"); err != nil {
		t.Fatal(err)
	}
	look(state.Lost)
}
