package iterm2_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/backendtest"
	"github.com/leadlight-dev/leadlight/backend/iterm2"
	"github.com/leadlight-dev/leadlight/backend/iterm2/iterm2test"
)

// open returns a backend on a server, as a process in that session has it.
func open(t backendtest.T, s *iterm2test.Server, session string, timeout time.Duration) *iterm2.Backend {
	dir := filepath.Join(s.Home, "commands")
	b, err := iterm2.New(iterm2.Options{
		Socket: s.Socket, Dir: dir, Cookie: s.Cookie, Timeout: timeout,
		Getenv: func(name string) string { return map[string]string{iterm2.Variable: "w0t0p0:" + session}[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.HangUp()
		_, err := os.Stat(dir)
		for end := time.Now().Add(time.Minute); err == nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			_, err = os.Stat(dir)
		}
		if err == nil {
			t.Errorf("the folder of commands stays")
		}
	})
	return b
}

func TestBackend(t *testing.T) {
	opts := backendtest.Opts{New: func(t backendtest.T) backendtest.Terminal {
		s := iterm2test.Start(t)
		b := open(t, s, s.Lead, time.Minute)
		return backendtest.Terminal{
			Backend: b,
			At:      backend.Spec{Place: backend.Window, Target: backend.ID(s.Lead)},
			Focus:   s.Focus,
			Border:  func(id backend.ID) string { return s.Shown(string(id)) },
			Other:   func() backend.Backend { return open(t, s, "", time.Minute) },
			Visit: func(id backend.ID) {
				if err := s.Visit(string(id)); err != nil {
					t.Fatal(err)
				}
			},
			Inside:    func(id backend.ID) backend.Backend { return open(t, s, string(id), time.Minute) },
			Freeze:    s.Freeze,
			Kill:      s.Kill,
			Impatient: open(t, s, s.Lead, 300*time.Millisecond),
			Patience:  time.Minute,
		}
	}, Visitors: true, Insiders: true}
	t.Logf("declared weak: %q", opts.Weaknesses())
	for _, c := range backendtest.Cases(opts) {
		t.Run(c.Name, func(t *testing.T) { t.Parallel(); c.Run(t) })
	}
}
