package signals

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pin lets a process run on one CPU only, and there after all others if idle.
func pin(t *testing.T, pid int, idle bool) {
	t.Helper()
	var one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	first := 0
	for !one.IsSet(first) {
		first++
	}
	one.Zero()
	one.Set(first)
	if err := unix.SchedSetaffinity(pid, &one); err != nil {
		t.Fatal(err)
	}
	if !idle {
		return
	}
	policy := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: 5} // SCHED_IDLE, see sched(7)
	if err := unix.SchedSetAttr(pid, &policy, 0); err != nil {
		t.Skip("this system does not let a process be idle:", err)
	}
}

// busy keeps a CPU busy until the test ends.
func busy(t *testing.T) Identity { return start(t, exec.Command("sh", "-c", "while :; do :; done")) }

// Only the time counts in which a process could run: one that waits for a CPU that is
// always taken has its time before it still, one that sleeps has not.
func TestPatienceCountsTheChanceToRun(t *testing.T) {
	starved, asleep := busy(t), start(t, exec.Command("sleep", "600"))
	for range 2 {
		pin(t, busy(t).PID, false)
	}
	pin(t, starved.PID, true)
	const limit = 200 * time.Millisecond
	waits, sleeps := newPatience(starved.PID, limit), newPatience(asleep.PID, limit)
	if !waits.known {
		t.Skip("this system does not tell how long a process waited for the CPU")
	}
	eventually(t, "the end of the sleeper's time", func() bool { return sleeps.left() <= 0 && time.Since(waits.since) > 2*limit })
	if left := waits.left(); left < limit/4 {
		t.Errorf("the one that could not run has %v left of %v", left, limit)
	}
	late := errors.New("late")
	fromSleeper, stop := Within(t.Context(), 2*limit, late, func() int { return asleep.PID })
	defer stop()
	fromStarved, stop := Within(t.Context(), 2*limit, late, func() int { return asleep.PID }, func() int { return starved.PID })
	defer stop()
	<-fromSleeper.Done()
	if err := fromSleeper.Err(); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(context.Cause(fromSleeper), late) {
		t.Errorf("an answer that does not come: %v, because of %v", err, context.Cause(fromSleeper))
	}
	if err := fromStarved.Err(); err != nil {
		t.Errorf("an answer from one that could not run: %v", err)
	}
	if <-fromStarved.Done(); !errors.Is(context.Cause(fromStarved), late) {
		t.Error("it is waited for without end")
	}
}

// Fifty that go on TERM go by it, also while every CPU is taken.
func TestFiftySleepsEndByTermBesideBusyLoops(t *testing.T) {
	for range 2 {
		busy(t)
	}
	var roots []Proof
	for range 50 {
		id := start(t, exec.Command("sleep", "600"))
		if err := unix.Setpriority(unix.PRIO_PROCESS, id.PID, 19); err != nil {
			t.Fatal(err)
		}
		roots = append(roots, Proof{id: id})
	}
	report, err := TreeKiller{Roots: roots, Term: 5 * time.Millisecond, Kill: 5 * time.Second}.Run(limited(t))
	if err != nil || report.Killed || len(report.Ended) != 50 {
		t.Errorf("killed %v, ended %d, %v", report.Killed, len(report.Ended), err)
	}
}

// One that never goes is killed, however busy it is and the machine is.
func TestTheDeafAreKilledInTheEnd(t *testing.T) {
	root := script(t, freshMark(t), `trap '' TERM; echo ready; while :; do :; done`)
	for range 2 {
		busy(t)
	}
	report, err := TreeKiller{Roots: []Proof{{id: root}}, Term: 200 * time.Millisecond, Kill: 5 * time.Second}.Run(limited(t))
	if err != nil || !report.Killed || len(report.Survivors) > 0 {
		t.Errorf("report %+v, %v", report, err)
	}
}

// reads is how many reads this process has asked the system for.
func reads(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("this system does not count reads:", err)
	}
	for line := range strings.Lines(string(raw)) {
		if n, ok := strings.CutPrefix(line, "syscr: "); ok {
			count, err := strconv.Atoi(strings.TrimSpace(n))
			if err != nil {
				t.Fatal(err)
			}
			return count
		}
	}
	t.Skip("this system does not count reads")
	return 0
}

// What a host reads to end its own does not depend on who else runs.
func TestAHostReadsItsOwnOnly(t *testing.T) {
	adopt(t)
	cost := func() int {
		mark := freshMark(t)
		root := script(t, mark, `sleep 1000 & echo ready; wait`)
		before := reads(t)
		if _, err := (TreeKiller{Host: mark, Roots: []Proof{{id: root}}, Adopted: true, Term: 20 * time.Second, Kill: time.Second}).Run(limited(t)); err != nil {
			t.Fatal(err)
		}
		return reads(t) - before
	}
	alone := cost()
	others := freshMark(t)
	script(t, others, `for i in $(seq 400); do sleep 600 & done; echo ready; wait`)
	defer TreeKiller{Host: others, Kill: 5 * time.Second}.Run(limited(t))
	with := cost()
	// Who has to look more often, on a busy machine, reads more, and so does who has adopted
	// more of those who have ended. One who reads the others reads each of them more than once.
	if with > alone+400 {
		t.Errorf("%d reads beside 400 others, %d without them", with, alone)
	}
}

// Of each process the environment is read once, however many hosts are asked for.
func TestOneLookForManyHosts(t *testing.T) {
	own := freshMark(t)
	script(t, own, `sleep 1000 & echo ready; wait`)
	defer TreeKiller{Host: own, Kill: 5 * time.Second}.Run(limited(t))
	var all *Processes
	var table Table
	eventually(t, "both show the mark", func() bool { // not while one becomes another program
		all = new(Processes)
		var err error
		if table, err = all.Last(); err != nil {
			t.Fatal(err)
		}
		return len(table.Marked(own)) == 2
	})
	running := 0 // what belongs to other users shows no environment, and is asked once as well
	for _, p := range table.byPID {
		if !p.kernel && !p.zombie {
			running++
		}
	}
	before := reads(t)
	for range 50 {
		table.Marked(freshMark(t))
	}
	mine := reads(t) - before
	if mine > 50*running/4 { // 50*running and more if each look asked again
		t.Errorf("%d reads for 50 hosts more, with %d processes, %d of them running", mine, len(table.byPID), running)
	}
	if again, err := all.Last(); err != nil || len(again.byPID) != len(table.byPID) {
		t.Error("the look was not shared")
	}
}
