package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

const limitVar = "LEADLIGHT_FILES_LIMIT"

func TestMain(m *testing.M) {
	limit := os.Getenv(limitVar)
	if limit == "" {
		os.Exit(m.Run())
	}
	do := without
	if limit == across {
		do = moveAcross
	}
	if err := do(limit, os.Args[1]); err != nil {
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
	if limit == "watches" && strings.Contains(log.String(), "max_user_instances") {
		return fmt.Errorf("skip: %s", log.String()) // others have all of them
	}
	if n := strings.Count(log.String(), "fs.inotify.max_user_"+limit); n != 1 {
		return fmt.Errorf("the limit is named %d times: %s", n, log.String())
	}
	return nil
}

// across stands for no limit, but for a file system of its own below the folder.
const across = "across"

// moveAcross moves what is in one file system to another.
func moveAcross(_, base string) error {
	for _, dir := range []string{"a/team/inboxes", "b"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			return err
		}
	}
	if err := syscall.Mount("tmpfs", filepath.Join(base, "b"), "tmpfs", 0, "mode=700,size=1m"); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	d, err := files.Open(base)
	if err != nil {
		return err
	}
	err = errors.Join(d.Write(context.Background(), "a/team/inboxes/bob.json", []byte("[]")), os.Symlink("/nowhere", filepath.Join(base, "a/team/link")),
		os.Chmod(filepath.Join(base, "a/team/inboxes/bob.json"), 0o640), os.Chmod(filepath.Join(base, "a/team"), 0o500))
	if err != nil {
		return err
	}
	if err := d.Rename("a/team", "b/archive/team"); err != nil {
		return err
	}
	data, err := d.Read("b/archive/team/inboxes/bob.json")
	info, noInfo := d.Lstat("b/archive/team/inboxes/bob.json")
	leads, noLink := os.Readlink(filepath.Join(base, "b/archive/team/link"))
	left, noList := d.ReadDir("a")
	there, noOther := d.ReadDir("b/archive")
	if err := errors.Join(err, noInfo, noLink, noList, noOther); err != nil {
		return err
	}
	if string(data) != "[]" || info.Mode().Perm() != 0o640 || leads != "/nowhere" || len(left) != 0 || len(there) != 1 {
		return fmt.Errorf("it has %q, %v, %s; left are %v, there %v", data, info.Mode(), leads, left, there)
	}
	// What does not fit is not moved at all.
	if err := d.Write(context.Background(), "a/big/x", make([]byte, 2<<20)); err != nil {
		return err
	}
	err = d.Rename("a/big", "b/big")
	there, noList = d.ReadDir("b")
	if data, gone := d.Read("a/big/x"); fault.CodeOf(err) != fault.DiskFull || gone != nil || noList != nil || len(data) != 2<<20 || len(there) != 1 {
		return fmt.Errorf("%v; it has %d bytes, %v; there are %v, %v", err, len(data), gone, there, noList)
	}
	return nil
}

// apart runs this test program in namespaces of its own, where it does what TestMain says.
func apart(t *testing.T, what string, flags uintptr) {
	t.Helper()
	cmd := exec.Command(os.Args[0], t.TempDir())
	cmd.Env = append(os.Environ(), limitVar+"="+what)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | flags,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil && (cmd.ProcessState == nil || strings.HasPrefix(string(out), "skip")) {
		t.Skipf("needs a user namespace, and inotify: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestXF04_MovedToAnotherFileSystem: a folder is moved though its new place is on another
// file system, whole or not at all.
func TestXF04_MovedToAnotherFileSystem(t *testing.T) {
	t.Parallel()
	apart(t, across, syscall.CLONE_NEWNS)
}

// In a user namespace of its own a process can have its own limits of inotify.
func TestMH02_A17_WatchLimits(t *testing.T) {
	for _, limit := range []string{"instances", "watches"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			apart(t, limit, 0)
		})
	}
}
