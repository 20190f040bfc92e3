package signals

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// here returns an Identity with everything but pid and start time filled in, as this
// process found it when it first asked.
var here = once(func() (Identity, error) { return placeOf("/proc") })

// placeOf is here, as the process file system shows it.
func placeOf(proc string) (Identity, error) {
	boot, err := os.ReadFile(proc + "/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, hidden("the id of this boot", err)
	}
	ns, err := os.Readlink(proc + "/self/ns/pid")
	if err != nil {
		return Identity{}, hidden("the pid namespace", err)
	}
	if self, err := os.Readlink(proc + "/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return Identity{}, hidden("the processes of this pid namespace", cmp.Or(err, fmt.Errorf("%s is that of another pid namespace", proc)))
	}
	clock, _ := os.Readlink(proc + "/self/ns/time") // older kernels have none
	name, err := os.Hostname()
	if err != nil {
		return Identity{}, fmt.Errorf("read the host name: %w", err)
	}
	return Identity{
		Boot: strings.TrimSpace(string(boot)), Namespace: ns, Clock: clock,
		Machine: machine(name), HostName: name,
	}, nil
}

// hidden is the error where /proc does not show what tells processes apart.
func hidden(what string, err error) error {
	return fault.New(fault.Unproven, "no process can be told from another here: %s cannot be read: %w", what, err).
		WithHint("run it where /proc is whole and of this pid namespace: ProcSubset=pid of a systemd unit, a container, or unshare --pid without --mount-proc hides parts of it")
}

// machine is /etc/machine-id (see machine-id(5)), else the name of the host.
func machine(name string) string {
	if id, err := os.ReadFile("/etc/machine-id"); err == nil {
		if s := strings.TrimSpace(string(id)); s != "" {
			return s
		}
	}
	return name
}

// lookup reads one process from /proc. ErrGone only if the system itself says
// that there is no such process: /proc may be hidden (hidepid) or not mounted.
func lookup(pid int) (Process, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				return Process{}, ErrGone
			}
		}
		return Process{}, err
	}
	return parseStat(stat)
}

// Fields of /proc/PID/stat after the command: the numbers of proc_pid_stat(5)
// less 3, since the state, number 3, is the first of them.
const (
	statState   = 0
	statPPID    = 4 - 3
	statPGRP    = 5 - 3
	statSession = 6 - 3
	statTTY     = 7 - 3
	statFlags   = 9 - 3
	statThreads = 20 - 3
	statStart   = 22 - 3
)

// kernelThread is PF_KTHREAD of the kernel's sched.h.
const kernelThread = 0x200000

// parseStat reads a line of /proc/PID/stat. The command stands in parentheses
// and may itself hold blanks, parentheses and line breaks.
func parseStat(stat []byte) (Process, error) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 1 || end < open {
		return Process{}, fmt.Errorf("stat line without a command: %.40q", stat)
	}
	f := strings.Fields(string(stat[end+1:]))
	if len(f) <= statStart {
		return Process{}, fmt.Errorf("stat line with %d fields after the command", len(f))
	}
	p := Process{Command: string(stat[open+1 : end])}
	var tty, threads int
	for _, n := range []struct {
		to   *int
		text string
	}{
		{&p.PID, strings.TrimSpace(string(stat[:open]))},
		{&p.PPID, f[statPPID]}, {&p.PGID, f[statPGRP]}, {&p.SID, f[statSession]},
		{&tty, f[statTTY]}, {&threads, f[statThreads]},
	} {
		v, err := strconv.Atoi(n.text)
		if err != nil {
			return Process{}, fmt.Errorf("stat line: %w", err)
		}
		*n.to = v
	}
	start, err := strconv.ParseUint(f[statStart], 10, 64)
	if err != nil {
		return Process{}, fmt.Errorf("stat line: %w", err)
	}
	p.Start, p.noTTY = start, tty == 0
	// A leader that left its threads behind shows as a zombie while they run on.
	p.zombie = (f[statState] == "Z" && threads <= 1) || f[statState] == "X"
	p.state = f[statState][0]
	flags, err := strconv.ParseUint(f[statFlags], 10, 64)
	p.kernel = err == nil && flags&kernelThread != 0
	return p, nil
}

// processes reads the whole table, as far as /proc shows it; vanished if one that was
// listed had ended before it was read.
func processes() (table []Process, vanished bool, err error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, false, err
	}
	table = make([]Process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		p, err := lookup(pid)
		if err != nil {
			vanished = vanished || errors.Is(err, ErrGone)
			continue
		}
		table = append(table, p)
	}
	return table, vanished, nil
}

// argv returns the arguments of a process as it shows them now, nil where they
// may not be read.
func argv(pid int) []string {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(raw) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
}

// environ returns the environment a process was started with; ok is false where it
// may not be read or is gone already, which proves nothing.
func environ(pid int) (variables [][]byte, ok bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || len(raw) == 0 {
		return nil, false
	}
	return bytes.Split(raw, []byte{0}), true
}

// becoming tells whether a process is in the middle of an exec, when it shows neither
// arguments nor environment.
func becoming(p Process) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/cmdline")
	return !p.kernel && err == nil && len(raw) == 0
}

// isTmuxServer tells the server from its clients: it names its main thread so.
func isTmuxServer(p Process) bool { return strings.HasPrefix(p.Command, "tmux: server") }

// workingFolder is where a process works, "" where that may not be read.
func workingFolder(pid int) string {
	dir, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	return dir
}
