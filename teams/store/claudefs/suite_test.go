package claudefs_test

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

func open(base string) (storetest.Stores, error) {
	fs, err := claudefs.Open(base, claudefs.Options{})
	if err != nil {
		return storetest.Stores{}, err
	}
	return storetest.Stores{Roster: fs.Roster(), Mail: fs.Mail(), Tasks: fs.Tasks(), Close: fs.Close}, nil
}

func TestRoster(t *testing.T) { storetest.TestRoster(t, open) }
func TestMail(t *testing.T)   { storetest.TestMail(t, open) }
func TestTasks(t *testing.T)  { storetest.TestTasks(t, open) }
