package claudefs_test

import (
	"path/filepath"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

func open(base string) (storetest.Stores, error) {
	fs, err := claudefs.Open(base, claudefs.Options{})
	if err != nil {
		return storetest.Stores{}, err
	}
	return storetest.Stores{Roster: fs.Roster(), Mail: fs.Mail(nil), Tasks: fs.Tasks(), Close: fs.Close}, nil
}

func TestMain(m *testing.M) { storetest.Main(m, open) }

func TestRoster(t *testing.T) { storetest.TestRoster(t, open) }
func TestMail(t *testing.T)   { storetest.TestMail(t, open) }
func TestTasks(t *testing.T)  { storetest.TestTasks(t, open) }

func TestDisk(t *testing.T) {
	storetest.TestDisk(t, storetest.Disk{
		Open:   open,
		Tasks:  true,
		Box:    func(base string) string { return filepath.Join(base, "teams/alpha/inboxes/builder.json") },
		Roster: func(base string) string { return filepath.Join(base, "teams/alpha/config.json") },
	})
}
