package memory_test

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/store/memory"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

func open(string) (storetest.Stores, error) {
	s := memory.New()
	return storetest.Stores{Roster: s.Roster(), Mail: s.Mail(), Tasks: s.Tasks()}, nil
}

func TestRoster(t *testing.T) { storetest.TestRoster(t, open) }
func TestMail(t *testing.T)   { storetest.TestMail(t, open) }
func TestTasks(t *testing.T)  { storetest.TestTasks(t, open) }
