package files_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

const limitVar = "LEADLIGHT_FILES_LIMIT"

func TestMain(m *testing.M) {
	limit := os.Getenv(limitVar)
	if limit == "" {
		os.Exit(m.Run())
	}
	if err := without(limit, os.Args[1]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// without takes the means of getting events away and then watches.
func without(limit, base string) error {
	switch limit {
	case "instances", "watches":
		file := map[string]string{"instances": "max_inotify_instances", "watches": "max_inotify_watches"}[limit]
		if err := os.WriteFile("/proc/sys/user/"+file, []byte("0"), 0); err != nil {
			return fmt.Errorf("skip: %w", err)
		}
	}
	var log bytes.Buffer
	if err := pollAlone(base, &log); err != nil {
		return err
	}
	if n := strings.Count(log.String(), "fs.inotify.max_user_"+limit); n != 1 {
		return fmt.Errorf("the limit is named %d times: %s", n, log.String())
	}
	return nil
}

// In a user namespace of its own a process can have its own limits of inotify.
func TestMH02_A17_WatchLimits(t *testing.T) {
	for _, limit := range []string{"instances", "watches"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], t.TempDir())
			cmd.Env = append(os.Environ(), limitVar+"="+limit)
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER,
				UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
			}
			out, err := cmd.CombinedOutput()
			if err != nil && (cmd.ProcessState == nil || strings.HasPrefix(string(out), "skip")) {
				t.Skipf("needs a user namespace: %v %s", err, out)
			}
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
