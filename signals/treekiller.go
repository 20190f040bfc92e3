package signals

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// TreeKiller takes processes down for good: Roots, everything that descends from
// them, and everything marked with Host. What descends is listed before the
// first signal is sent and again after every rung, so that neither a broken
// parent link nor a fork in between lets one escape.
//
// Left alone, with everything below them, and reported are processes that carry
// another host's mark, leadlight daemons and tmux servers.
// Roots were named by the caller and are not spared. This process and pids up to
// 1 are never signalled: with this process among the Roots the TreeKiller is about
// everything below it.
type TreeKiller struct {
	Host    string             // the mark; "" = none is looked for, and ours counts as own
	Roots   []Proof            // need not run any more
	Adopted bool               // also orphans this process adopted (see Subreaper)
	Term    time.Duration      // how long TERM may take, for each from its delivery, while it could run; 0 = no TERM at all
	Asked   func(Process) bool // who gets the TERM; the rest is killed once they are gone; nil = all
	Kill    time.Duration      // how long KILL may take

	// Processes is shared by all that one verb ends; nil = looks of its own. Only those
	// who look for a mark from outside need the whole table: with Adopted, or without a
	// Host, what descends is found from the kernel's lists of children.
	Processes *Processes
}

// Report is what a TreeKiller did. Of a spared tree only the top is listed.
type Report struct {
	Ended     []Process // signalled, and proved gone
	Killed    bool      // one of them was still there after TERM, and got KILL
	Leftovers []Process // left alone; Spared says why
	Survivors []Process // still there: no permission, or stuck in the kernel
}

// Run ends the processes: TERM to all, wait, then stop and kill until none is
// left or the time is over. Already gone is success. A context that ends cuts the
// waits short: the rest of the ladder then has no patience but is still climbed.
// The error is ErrUnproven if the process table could not be read.
func (t TreeKiller) Run(ctx context.Context) (Report, error) {
	k := t.start()
	left, err := k.list()
	if err != nil {
		return Report{}, err
	}
	if len(left) > 0 && t.Term > 0 {
		if left, err = k.terminate(ctx); err != nil {
			return k.report(left), err
		}
	}
	if len(left) > 0 {
		if left, err = k.kill(); err != nil {
			return k.report(left), err
		}
	}
	return k.report(left), nil
}

// Left returns what Run would end, and signals nothing: after a TreeKiller, the look
// again. The error is ErrUnproven if the process table could not be read.
func (t TreeKiller) Left() ([]Process, error) { return t.start().list() }

func (t TreeKiller) start() *treeKill {
	t.Processes = cmp.Or(t.Processes, new(Processes))
	k := &treeKill{
		TreeKiller: t, own: t.Host, facts: &t.Processes.facts, known: map[Identity]Process{}, termed: map[Identity]*patience{},
		spared: map[Identity]Process{}, zombies: map[Identity]bool{},
	}
	if t.Host == "" {
		k.own = os.Getenv(Mark)
	}
	return k
}

// What bounds the patience with those that wait for the CPU all the time.
const (
	starvedFactor = 6
	starvedLimit  = 10 * time.Second
)

// Patience is how long those may take to end who have the limit to go on their TERM.
func Patience(term time.Duration) time.Duration { return max(starvedFactor*term, starvedLimit) }

// terminate asks everything with TERM, those that appear meanwhile too, and waits.
func (k *treeKill) terminate(ctx context.Context) ([]Process, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience(k.Term))
	defer cancel()
	left, err := k.list()
	for ; err == nil; left, err = k.list() {
		asked := k.asked(left)
		if len(asked) == 0 {
			return left, nil
		}
		for _, p := range asked {
			if k.termed[p.Identity] == nil {
				k.signal(p, syscall.SIGTERM)
				k.signal(p, syscall.SIGCONT) // a stopped process cannot act on it
				k.termed[p.Identity] = newPatience(p.PID, k.Term)
			}
		}
		if !k.awaitTermed(ctx, asked) {
			return k.list()
		}
	}
	return left, err
}

// awaitTermed waits for all of them to go, for each as long as it may take; false if
// one did not.
func (k *treeKill) awaitTermed(ctx context.Context, asked []Process) bool {
	all := true
	for _, p := range asked {
		all = k.termed[p.Identity].await(ctx, p.Identity) && all
	}
	return all
}

// asked returns those that are to get the TERM.
func (k *treeKill) asked(left []Process) []Process {
	if k.Asked == nil {
		return left
	}
	return slices.DeleteFunc(slices.Clone(left), func(p Process) bool { return !k.Asked(p) })
}

// killPause is how long the killed may take to go before they are looked at again.
const killPause = 100 * time.Millisecond

// kill stops everything first, so that nothing forks away from the listing, and
// kills it; again until nothing is left.
func (k *treeKill) kill() ([]Process, error) {
	began := time.Now()
	for {
		left, err := k.freeze()
		if err != nil || len(left) == 0 {
			return left, err
		}
		for _, p := range left {
			if k.signal(p, syscall.SIGKILL) == nil {
				k.killed = true
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), killPause)
		waitAll(ctx, left)
		cancel()
		if gone := time.Since(began); gone > Patience(k.Kill) || gone > k.Kill && !dying(left) {
			return k.list()
		}
	}
}

// dying tells whether one of the killed is at work on its end: it needs the CPU for that.
func dying(killed []Process) bool {
	return anyAtWork(context.Background(), pidsOf(killed), killPause)
}

// freezeRounds bounds the chase after a process that forks faster than the table
// is read; the loop around it comes back.
const freezeRounds = 10

// freeze stops what is left until a look at the table shows nobody new.
func (k *treeKill) freeze() ([]Process, error) {
	stopped := map[Identity]bool{}
	for round := 0; ; round++ {
		left, err := k.list()
		if err != nil {
			return left, err
		}
		fresh := false
		for _, p := range left {
			if !stopped[p.Identity] {
				stopped[p.Identity], fresh = true, true
				k.signal(p, syscall.SIGSTOP)
			}
		}
		if !fresh || round == freezeRounds {
			return left, nil
		}
	}
}

// signal sends to one that look has found: below a root, or by the mark.
func (k *treeKill) signal(p Process, sig syscall.Signal) error {
	if _, found := k.known[p.Identity]; !found {
		return ErrUnproven
	}
	return Proof{id: p.Identity}.Signal(sig)
}

// waitAll waits for all of them to go, until ctx ends.
func waitAll(ctx context.Context, all []Process) {
	for _, p := range all {
		if p.Wait(ctx) == nil {
			continue
		}
		select { // it cannot be watched: look again a little later
		case <-ctx.Done():
			return
		case <-time.After(pollInterval):
		}
	}
}

// report sorts out what became of everything that was ever listed.
func (k *treeKill) report(left []Process) Report {
	r := Report{Killed: k.killed, Survivors: left}
	for id, p := range k.known {
		if !slices.ContainsFunc(left, func(l Process) bool { return l.Identity == id }) {
			r.Ended = append(r.Ended, p)
		}
	}
	r.Leftovers = slices.Collect(maps.Values(k.spared))
	r.Leftovers = slices.DeleteFunc(r.Leftovers, func(p Process) bool { return p.Probe() == Gone })
	for _, list := range [][]Process{r.Ended, r.Leftovers, r.Survivors} {
		slices.SortFunc(list, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
	}
	return r
}

// String is the process as it is told to a person: pid, command line, reason.
func (p Process) String() string {
	line := p.Command
	if len(p.Argv) > 0 {
		line = strings.Join(p.Argv, " ")
	}
	const most = 120
	if letters := []rune(line); len(letters) > most {
		line = string(letters[:most]) + "…"
	}
	if p.Spared != "" {
		return fmt.Sprintf("pid %d (%s): %s", p.PID, line, p.Spared)
	}
	return fmt.Sprintf("pid %d (%s)", p.PID, line)
}

// Lines is String of each of the processes.
func Lines(all []Process) []string {
	var lines []string
	for _, p := range all {
		lines = append(lines, p.String())
	}
	return lines
}
