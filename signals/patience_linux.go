package signals

import (
	"fmt"
	"os"
	"strconv"
)

// cpuOf reads how long each thread of a process has run and has been ready without
// running: the first two numbers of its schedstat (nanoseconds), see sched-stats in the
// kernel's documentation. ok is false where the kernel does not count it.
func cpuOf(pid int) (cpuUse, bool) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return cpuUse{}, false
	}
	use := cpuUse{threads: map[int]threadUse{}}
	for _, task := range tasks {
		raw, err := os.ReadFile(dir + task.Name() + "/schedstat")
		thread, ok := parseSchedstat(raw)
		stat, statErr := os.ReadFile(dir + task.Name() + "/stat")
		p, parseErr := parseStat(stat)
		if err != nil || !ok || statErr != nil || parseErr != nil {
			continue
		}
		thread.ready = p.state == 'R'
		use.blocked = use.blocked || p.state == 'D'
		use.ended = use.ended || p.state == 'Z' && p.PID == pid
		use.threads[p.PID] = thread
	}
	return use, len(use.threads) > 0
}

func parseSchedstat(raw []byte) (use threadUse, ok bool) {
	n, _ := fmt.Sscan(string(raw), &use.ran, &use.waited)
	return use, n == 2 && use.ran >= 0 && use.waited >= 0
}
