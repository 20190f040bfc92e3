package signals

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// escapists is a tree of those who are known to get away: sessions of their own,
// nohup, deaf ones, a double fork, job control.
const escapists = `
trap '' TERM
sleep 61 &
setsid sleep 62 &
nohup sleep 63 >/dev/null 2>&1 &
( trap '' HUP TERM INT; sleep 64; true ) &
( setsid sleep 65 & ) &
( ( setsid bash -c 'trap "" TERM; sleep 66; true' & ) & )
set -m
sleep 67 &
( sleep 68 & sleep 69; true ) &
echo ready
wait
sleep 70
`

// https://github.com/gastownhall/gastown/issues/699
func TestSH04_NothingEscapes(t *testing.T) {
	adopt(t)
	for _, tc := range []struct {
		name string
		term time.Duration
	}{{"after a term", 200 * time.Millisecond}, {"at once", 0}} {
		t.Run(tc.name, func(t *testing.T) {
			mark := freshMark(t)
			root := script(t, mark, escapists)
			eventually(t, "the whole tree", func() bool { p, _ := Marked(mark); return len(p) >= 12 })
			report, err := TreeKiller{Host: mark, Roots: []Proof{{id: root}}, Adopted: true, Term: tc.term, Kill: 5 * time.Second}.Run(limited(t))
			if err != nil {
				t.Fatal(err)
			}
			if !report.Killed || len(report.Survivors) > 0 || len(report.Ended) < 12 {
				t.Errorf("report %+v", report)
			}
			noneLeft(t, mark)
		})
	}
}

// An orphan without a mark is known by descent, through the subreaper.
func TestAdoptedIsEnded(t *testing.T) {
	adopt(t)
	id := startPrinted(t, part("fork"))
	eventually(t, "adoption", func() bool {
		p, err := lookup(id.PID)
		return err == nil && p.PPID == os.Getpid()
	})
	ours := start(t, part("sleep")) // started by us, not adopted
	if _, err := (TreeKiller{Host: freshMark(t), Adopted: true, Kill: 5 * time.Second}).Run(limited(t)); err != nil {
		t.Fatal(err)
	}
	if id.Probe() != Gone {
		t.Error("the orphan lives")
	}
	if ours.Probe() != Alive {
		t.Error("a child of our own was ended")
	}
}

// What this process starts while its children are listed is its own: the command of tmux
// with which a host shows its state is not ended, and nobody is reported as killed for it.
func TestStartedMeanwhileIsNotAdopted(t *testing.T) {
	all := adopted(func(pid int) []Process {
		id := start(t, part("sleep"))
		p, err := lookup(id.PID)
		if err != nil {
			t.Fatal(err)
		}
		return []Process{p}
	})
	if len(all) > 0 {
		t.Errorf("taken for an orphan: %v", all)
	}
}

func TestForkStormIsStopped(t *testing.T) {
	adopt(t)
	mark := freshMark(t)
	until := strconv.FormatInt(time.Now().Add(20*time.Second).UnixNano(), 10)
	root := part("forkstorm", Mark+"="+mark, "STORM_UNTIL="+until)
	begin(t, root)
	if err := root.Wait(); err != nil { // it goes before the storm does
		t.Fatal(err)
	}
	report, err := TreeKiller{Host: mark, Kill: 15 * time.Second}.Run(limited(t))
	if err != nil || len(report.Survivors) > 0 {
		t.Errorf("report %+v, %v", report, err)
	}
	noneLeft(t, mark)
}

// Orphans are reaped; children that os/exec waits for never are.
func TestReapOrphansStealsNoChild(t *testing.T) {
	adopt(t)
	for range 40 {
		c := exec.Command("sh", "-c", "( sleep 0.01 & ) ; exit 7")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "its end", func() bool { return hasDied(unix.P_PID, c.Process.Pid) })
		err := c.Wait()
		if c.ProcessState == nil || c.ProcessState.ExitCode() != 7 {
			t.Fatalf("its exit code was stolen: %v", err)
		}
	}
	eventually(t, "no zombies", func() bool { return !hasDied(unix.P_ALL, 0) })
}
