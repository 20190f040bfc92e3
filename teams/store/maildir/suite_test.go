package maildir_test

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
	"github.com/leadlight-dev/leadlight/teams/store/maildir"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

func open(base string) (storetest.Stores, error) {
	fs, err := claudefs.Open(base, claudefs.Options{})
	if err != nil {
		return storetest.Stores{}, err
	}
	mail := maildir.New(fs.Dir(), maildir.Options{Watcher: fs.Watcher()})
	return storetest.Stores{Roster: fs.Roster(), Mail: mail, Tasks: fs.Tasks(), Close: fs.Close}, nil
}

func TestRoster(t *testing.T) { storetest.TestRoster(t, open) }
func TestMail(t *testing.T)   { storetest.TestMail(t, open) }

func TestMain(m *testing.M) { storetest.Main(m, open) }

func TestDisk(t *testing.T) { storetest.TestDisk(t, storetest.Disk{Open: open}) }
