package signals

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Subreaper makes this process the parent of every orphan below it, so that a
// process that forked twice is still found by descent. See PR_SET_CHILD_SUBREAPER
// in prctl(2). Whoever calls it must also run ReapOrphans.
func Subreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a subreaper: %w", err)
	}
	return nil
}

// reapInterval bounds how long an orphan stays a zombie when its signal fell
// together with another one.
const reapInterval = 5 * time.Second

// ReapOrphans asks for the exit status of adopted children until ctx ends, and
// returns its error. It never takes a child that this process started itself:
// os/exec waits for that one. It knows them apart by the pidfd that package os
// holds on every process it started; where the kernel has no pidfds, orphans are
// left as zombies to whoever inherits them.
func ReapOrphans(ctx context.Context) error {
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	defer signal.Stop(died)
	tick := time.Tick(reapInterval)
	for {
		reap()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-died:
		case <-tick:
		}
	}
}

// reap asks for every adopted child that has ended. The descriptors are listed
// after the dead: a child of package os is held from its start until it has been
// asked for, so that what is not held now is an orphan.
func reap() {
	if !hasDied(unix.P_ALL, 0) {
		return
	}
	dead := slices.DeleteFunc(children(), func(pid int) bool { return !hasDied(unix.P_PID, pid) })
	held, ok := heldChildren()
	if !ok {
		return
	}
	for _, pid := range dead {
		if !held[pid] {
			unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
}

// hasDied tells whether a child, or any of them, has ended, without asking for its status.
func hasDied(which, pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(which, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// children lists the children of this process, dead ones too.
func children() []int {
	if list, err := childPIDs(os.Getpid()); err == nil {
		return list
	}
	all, _, err := processes() // a kernel without CONFIG_PROC_CHILDREN
	if err != nil {
		return nil
	}
	var list []int
	for _, p := range all {
		if p.PPID == os.Getpid() {
			list = append(list, p.PID)
		}
	}
	return list
}

// childPIDs lists the children of a process, dead ones too, from the lists that the
// kernel keeps for each thread.
func childPIDs(pid int) ([]int, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, task := range tasks {
		raw, err := os.ReadFile(dir + "/" + task.Name() + "/children")
		if err != nil {
			if _, gone := os.Stat(dir + "/" + task.Name()); gone != nil && len(tasks) > 1 {
				continue // a thread that ended handed its children to another one
			}
			return nil, err
		}
		for word := range strings.FieldsSeq(string(raw)) {
			if pid, err := strconv.Atoi(word); err == nil {
				list = append(list, pid)
			}
		}
	}
	return list, nil
}

// heldChildren returns the processes this process has a pidfd on: the children
// that package os started and will wait for. ok is false if that is no proof here.
func heldChildren() (held map[int]bool, ok bool) {
	if !osHoldsPidfds() {
		return nil, false
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, false
	}
	held = map[int]bool{}
	for _, fd := range fds {
		link, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err != nil || !strings.Contains(link, "pidfd") {
			continue
		}
		info, err := os.ReadFile("/proc/self/fdinfo/" + fd.Name())
		if err != nil {
			continue // closed meanwhile
		}
		if pid, ok := pidOf(info); ok {
			held[pid] = true
		}
	}
	return held, true
}

// pidOf reads the line "Pid:" of a pidfd's fdinfo, see pidfd_open(2).
func pidOf(info []byte) (int, bool) {
	for line := range strings.Lines(string(info)) {
		if value, ok := strings.CutPrefix(line, "Pid:"); ok {
			pid, err := strconv.Atoi(strings.TrimSpace(value))
			return pid, err == nil && pid > 0
		}
	}
	return 0, false
}

// osHoldsPidfds tells whether package os has pidfds of its children here.
func osHoldsPidfds() bool {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return false
	}
	defer self.Release()
	return self.WithHandle(func(uintptr) {}) == nil
}

// orphansComeToUs says that what loses its parent below a Subreaper becomes its child.
const orphansComeToUs = true

// adopted returns those of the running children of this process, which below lists,
// that it did not start itself. Nothing where that cannot be told. The descriptors are
// listed after the children: one that this process starts meanwhile is no orphan.
func adopted(below func(int) []Process) []Process {
	running := below(os.Getpid())
	held, ok := heldChildren()
	if !ok {
		return nil
	}
	return slices.DeleteFunc(running, func(p Process) bool { return held[p.PID] })
}
