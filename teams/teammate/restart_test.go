package teammate

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
)

// The conversation that follows one that cannot be resumed has an id of its own, in every
// command line and on disk.
func TestXF05_ANewConversationHasANewId(t *testing.T) {
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	manager := panes.NewManager(panes.Options{Dir: dir, Runtime: t.TempDir()})
	host, socket := uuid.NewString(), manager.SocketPath("alpha", "bob")
	m := &teammate{
		o: Options{Team: "alpha", Agent: "bob", Panes: manager, Log: slog.New(slog.DiscardHandler)},
		launch: panes.LaunchRecord{
			Host: host, Team: "alpha", Agent: "bob", Kind: profiles.Interactive, Dir: "/", Session: "old-id",
			Socket: socket, EnvFile: filepath.Join(filepath.Dir(socket), "env-"+host),
			Argv: []string{"claude", "--session-id", "old-id"}, Resume: []string{"claude", "--resume=old-id"},
		},
	}
	m.newSession(context.Background())
	id := m.launch.Session
	if id == "" || id == "old-id" || !slices.Equal(m.launch.Argv, []string{"claude", "--session-id", id}) || !slices.Equal(m.launch.Resume, []string{"claude", "--resume=" + id}) {
		t.Errorf("%+v", m.launch)
	}
	if rec, err := m.o.Panes.Records().Launch(t.Context(), "alpha", "bob"); err != nil || rec.Session != id || strings.Contains(strings.Join(rec.Argv, " "), "old-id") {
		t.Errorf("on disk: %+v, %v", rec, err)
	}
}
