package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// stub stands in for an agent. Its first argument says how it behaves:
//
//	record FILE ARG…  write argv, environment, folder and terminals into FILE, then wait
//	ok                read mail; when asked to shut down, approve and exit
//	refuse            read mail; when asked to shut down, refuse and go on
//	mute              ignore mail
//	noterm            ignore mail and SIGTERM
//	call FILE SOCKET LINE…  say the lines on a socket, write each answer into FILE, then wait
//	forker FILE       leave descendants of all kinds behind, their pids in FILE
func stub() {
	mode := os.Args[1]
	switch mode {
	case "record":
		record(os.Args[2])
	case "noterm":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	case "call":
		call(os.Args[2], os.Args[3], os.Args[4:])
	case "forker":
		fork(os.Args[2])
	case "ok", "refuse":
		answer(mode)
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

func record(file string) {
	cwd, _ := os.Getwd()
	b, err := json.Marshal(map[string]any{
		"argv": os.Args, "env": environment(), "cwd": cwd,
		"tty": []bool{term.IsTerminal(0), term.IsTerminal(1), term.IsTerminal(2)},
	})
	if err == nil {
		err = os.WriteFile(file+".tmp", b, 0o600)
	}
	if err == nil {
		err = os.Rename(file+".tmp", file)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func call(file, socket string, lines []string) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var answers []string
	for r := bufio.NewReader(conn); len(answers) < len(lines); {
		fmt.Fprintln(conn, lines[len(answers)])
		answer, err := r.ReadString('\n')
		if err != nil {
			answer = err.Error()
		}
		answers = append(answers, answer)
	}
	if err := os.WriteFile(file, []byte(strings.Join(answers, "")), 0o600); err != nil {
		os.Exit(1)
	}
}

func environment() map[string]string {
	env := map[string]string{}
	for _, kv := range os.Environ() {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	return env
}

// fork starts a child in a session of its own, whose own child ignores signals,
// and one that is orphaned at once. Both ignore signals when their pids are written.
func fork(file string) {
	var pids []string
	start := func(sid bool, args ...string) {
		c := exec.Command(args[0], args[1:]...)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: sid}
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err == nil {
			pids = append(pids, strconv.Itoa(c.Process.Pid))
			_, err = bufio.NewReader(out).ReadString('\n') // ready
		}
		if err != nil {
			os.Exit(1)
		}
	}
	start(true, "stub", "noterm")
	start(false, "sh", "-c", "trap '' HUP TERM; echo ready; sleep 1000 & sleep 1000")
	if err := os.WriteFile(file, []byte(strings.Join(pids, " ")), 0o600); err != nil {
		os.Exit(1)
	}
}

// answer reads mail until it is asked to shut down.
func answer(mode string) {
	fmt.Println("ready")
	for ; ; time.Sleep(50 * time.Millisecond) {
		out, err := exec.Command("leadlight", "inbox", "--unread", "--mark-read", "--json").Output()
		if err != nil || !strings.Contains(string(out), "shutdown_request") {
			continue
		}
		if mode == "ok" {
			out, err := exec.Command("leadlight", "approve").CombinedOutput()
			fmt.Printf("%s%v\n", out, err)
			os.Exit(0)
		}
		out, err = exec.Command("leadlight", "deny", "--reason", "busy with tests").CombinedOutput()
		fmt.Printf("%s%v\n", out, err)
	}
}
