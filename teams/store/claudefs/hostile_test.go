package claudefs_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// TestXF14_HostileFilesAreRefusedAtOnce: sparse files of 20 GiB, pipes and folders in the
// place of every file of a team are refused, and others go on.
func TestXF14_HostileFilesAreRefusedAtOnce(t *testing.T) {
	for kind, make := range map[string]func(path string) error{
		"sparse": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 20<<30)
		},
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(kind, func(t *testing.T) {
			b := newBase(t, claudefs.Options{})
			b.put("teams/alpha/config.json", claudeTeam)
			b.put("tasks/alpha/1.json", taskText("1", "pending", "", nil, nil))
			b.put("teams/alpha/inboxes/other.json", "[]")
			b.ok(make(b.path("tasks/alpha/2.json")))
			b.ok(make(b.path("teams/alpha/inboxes/builder.json")))
			b.ok(os.Mkdir(b.path("teams/beta"), 0o700))
			b.ok(make(b.path("teams/beta/config.json")))
			start := time.Now()
			_, err := b.Roster().Get(t.Context(), "beta")
			b.want("the roster", err, fault.CorruptFile)
			_, err = b.Mail(nil).List(t.Context(), "alpha", "builder")
			b.want("the box", err, fault.CorruptFile)
			_, err = b.Mail(nil).Put(t.Context(), "alpha", "builder", store.Message{From: "a", Text: "x"})
			b.want("a message for it", err, fault.CorruptFile)
			if list, warnings, err := b.Tasks().List(t.Context(), "alpha"); err != nil || len(list) != 1 || len(warnings) != 1 {
				t.Errorf("%d tasks, %q, %v", len(list), warnings, err)
			}
			if names, err := b.Roster().List(t.Context()); err != nil || len(names) != 2 {
				t.Errorf("teams %q, %v", names, err)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}
