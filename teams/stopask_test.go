package teams

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

// TestXD04_CountdownToTerm: of two who are busy and do not answer it is said, for each, how
// long it is until SIGTERM.
func TestXD04_CountdownToTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		var said []string
		say := func(name, what string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, fmt.Sprintf("%s %s: %s", time.Since(began), name, what))
		}
		r := &stopping{stopper: assemble(&common{mail: memory.New().Mail()}).stopper, t: store.Team{Name: "alpha"}, o: StopOptions{Ask: 30 * time.Second, Progress: say}}
		var both sync.WaitGroup
		for _, name := range []string{"ann", "bob"} {
			both.Go(func() {
				m := &stoppingMember{Member: store.Member{Name: name}, answers: make(chan answer, 1)}
				if got := r.countDown(t.Context(), m, nil, nil); got != (answer{}) {
					t.Errorf("%s: %+v", name, got)
				}
			})
		}
		both.Wait()
		slices.Sort(said)
		want := "10s ann: has not answered; gets SIGTERM in 20s\n10s bob: has not answered; gets SIGTERM in 20s\n" +
			"20s ann: has not answered; gets SIGTERM in 10s\n20s bob: has not answered; gets SIGTERM in 10s"
		if got := strings.Join(said, "\n"); got != want || time.Since(began) != 30*time.Second {
			t.Errorf("after %s it was said\n%s\nwant\n%s", time.Since(began), got, want)
		}
	})
}

// TestXD04_WhoeverIsAnsweredIsNotDeaf: questions that follow each other fast are not one that
// nobody answers.
func TestXD04_WhoeverIsAnsweredIsNotDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d dialog
		for i := range 20 {
			if d.stays(host.Shown{Asks: true, Reason: fmt.Sprint("Run ", i)}) {
				t.Fatalf("it counts as deaf at question %d", i)
			}
			time.Sleep(answerLook)
		}
		began := time.Now()
		for !d.stays(host.Shown{Asks: true, Reason: "Run make"}) {
			time.Sleep(answerLook)
		}
		if took := time.Since(began); took != dialogGrace {
			t.Errorf("one question counts after %s", took)
		}
		if d.stays(host.Shown{Reason: "Run make"}) || d.stays(host.Shown{Asks: true, Reason: "Run make"}) {
			t.Error("a question of before counts for a new one")
		}
	})
}
