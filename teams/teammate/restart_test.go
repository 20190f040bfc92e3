package teammate

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
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
	id, socket := uuid.NewString(), manager.SocketPath("alpha", "bob")
	m := &teammate{
		o: Options{Team: "alpha", Agent: "bob", Panes: manager, Log: slog.New(slog.DiscardHandler)},
		launch: panes.LaunchRecord{
			Host: id, Team: "alpha", Agent: "bob", Kind: profiles.Interactive, Dir: "/", Session: "old-id",
			Socket: socket, EnvFile: filepath.Join(filepath.Dir(socket), "env-"+id),
			Argv: []string{"claude", "--session-id", "old-id"}, Resume: []string{"claude", "--resume=old-id"},
		},
	}
	m.newSession(context.Background())
	id = m.launch.Session
	if id == "" || id == "old-id" || !slices.Equal(m.launch.Argv, []string{"claude", "--session-id", id}) || !slices.Equal(m.launch.Resume, []string{"claude", "--resume=" + id}) {
		t.Errorf("%+v", m.launch)
	}
	if rec, err := m.o.Panes.Records().Launch(t.Context(), "alpha", "bob"); err != nil || rec.Session != id || strings.Contains(strings.Join(rec.Argv, " "), "old-id") {
		t.Errorf("on disk: %+v, %v", rec, err)
	}
}

// An agent that names its own conversation is resumed in that one, by the id that it
// shows when it ends, and in none if it shows none: the newest of its folder may be another's.
func TestXF19_OnlyItsOwnConversationIsResumed(t *testing.T) {
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	manager := panes.NewManager(panes.Options{Dir: dir, Runtime: t.TempDir()})
	for name, tc := range map[string]struct{ says, id, resume string }{
		"codex": {"To continue this session, run:\n  codex resume 01a22460-03ee-7b31-98e9-b000fbb034ad\nOr run codex resume and select hello there.\n",
			"01a22460-03ee-7b31-98e9-b000fbb034ad", "resume 01a22460-03ee-7b31-98e9-b000fbb034ad"},
		"opencode": {"  Session   hello\n  Continue  opencode -s ses_ddbac835effewFqGfeU2keOTG4\n", "ses_ddbac835effewFqGfeU2keOTG4", "--session ses_ddbac835effewFqGfeU2keOTG4"},
	} {
		profile := profiles.NewSet(nil)[name]
		id := uuid.NewString()
		argv, resume, err := profile.Argv(profiles.Ask{Kind: profiles.Interactive, Session: profile.BeginSession(profiles.Interactive, id)})
		if err != nil {
			t.Fatal(err)
		}
		socket := manager.SocketPath("alpha", name)
		m := &teammate{
			o: Options{Team: "alpha", Agent: name, Panes: manager, Log: slog.New(slog.DiscardHandler)},
			launch: panes.LaunchRecord{
				Host: id, Team: "alpha", Agent: name, Kind: profiles.Interactive, Dir: "/", Socket: socket, EnvFile: filepath.Join(filepath.Dir(socket), "env-"+id),
				Argv: argv, Resume: resume, Session: profile.BeginSession(profiles.Interactive, id), Origin: &profile,
			},
		}
		if m.launch.CanResume() {
			t.Errorf("%s would go on with %q at once", name, resume)
		}
		for _, says := range []string{tc.says, "killed\n", tc.says} {
			if m.host, err = host.New(host.Options{ID: uuid.NewString(), Log: slog.New(slog.DiscardHandler)}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.host.Run(t.Context(), host.Command{Argv: []string{"printf", says}, Dir: "/", Env: os.Environ()}); err != nil {
				t.Fatal(err)
			}
			m.noteSession(t.Context(), host.Exit{})
			if says == tc.says { // what the screen of one shows that did not end by itself may be another's
				for _, exit := range []host.Exit{{Code: 1}, {Signal: "SIGKILL"}} {
					m.noteSession(t.Context(), exit)
					if m.launch.CanResume() {
						t.Errorf("%s, which ended with %+v, goes on with what stood on its screen", name, exit)
					}
				}
				m.noteSession(t.Context(), host.Exit{})
			}
			m.host.Close()
			rec, err := manager.Records().Launch(t.Context(), "alpha", name)
			if err != nil || rec.CanResume() != (says == tc.says) || rec.CanResume() && (rec.Session != tc.id || !strings.Contains(strings.Join(rec.Resume, " "), tc.resume)) {
				t.Errorf("%s, after %q: %q %q, %v", name, says, rec.Session, rec.Resume, err)
			}
		}
	}
}

// Whatever words an agent has for it, and however long a busy machine takes, a conversation
// that it cannot go on with is not tried again.
func TestXF05_HowAgentsRefuseAConversation(t *testing.T) {
	failed, stopped, killed := panes.ExitRecord{State: api.StateFailed}, panes.ExitRecord{State: api.StateStopped}, panes.ExitRecord{State: api.StateFailed, Signal: "SIGKILL"}
	for _, says := range []string{
		"No conversation found with session ID: 0b5e", "Error: Session ID 0b5e is already in use.", "Error: session 01a2 not found", "Invalid session identifier \"0b5e\"",
		"Error resuming session: it does not exist", "ERROR: No saved session found with ID 01a2", "could not load the conversation 01a2", "failed to resume thread 01a2: no rollout found",
		"This conversation belongs to another folder and cannot be resumed", "Unable to open session file: gone", "Session not found: ses_1", "the chat 7 has been deleted",
	} {
		for e, lived := range map[*panes.ExitRecord]time.Duration{&failed: 50 * time.Second, &stopped: 50 * time.Second} {
			if !noConversation(*e, says+"\n", lived) {
				t.Errorf("%q, %s: it would be tried for ever", says, e.State)
			}
		}
	}
	for _, tc := range []struct {
		e     panes.ExitRecord
		says  string
		lived time.Duration
		want  bool
	}{
		{failed, "boom\n", time.Second, true}, {failed, "boom\n", 20 * time.Second, false}, {killed, "no session\n", 20 * time.Second, false},
		{stopped, "To continue this session, run:\n  codex resume 01a2\n", time.Second, false}, {stopped, "bye\n", time.Second, false},
		{failed, "Session saved. Resume it with: gemini --resume 01a2\n", 20 * time.Second, false}, {failed, "session not found\n", time.Hour, false},
	} {
		if got := noConversation(tc.e, tc.says, tc.lived); got != tc.want {
			t.Errorf("%q after %s, %+v: %v", tc.says, tc.lived, tc.e, got)
		}
	}
}
