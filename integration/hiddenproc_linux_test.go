package integration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXS33_DoctorSaysWhatProcHides: where /proc shows processes and nothing else, as for a
// service with ProcSubset=pid, doctor and a verb say what is missing, and what to do.
func TestXS33_DoctorSaysWhatProcHides(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.must("team", "create", "alpha")
	hidden := func(args ...string) (out, said string) {
		t.Helper()
		cmd := exec.Command("sh", append([]string{"-c", `mount -t proc -o subset=pid proc /proc || exit 99; exec "$@"`, "sh", r.bin}, args...)...)
		cmd.Dir, cmd.Env = r.path("work"), r.env
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		var outs, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &outs, &errs
		err := cmd.Run()
		if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 99) {
			t.Skipf("needs namespaces: %v %s", err, errs.String())
		}
		return outs.String(), errs.String()
	}
	out, said := hidden("doctor", "--json")
	var answer api.Checkup
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, said)
	}
	i := slices.IndexFunc(answer.Checks, func(c api.Check) bool { return c.Name == "processes" })
	if i < 0 || answer.Checks[i].Status != "fail" || !strings.Contains(answer.Checks[i].Detail, "the id of this boot") || !strings.Contains(answer.Checks[i].Fix, "ProcSubset=pid") {
		t.Errorf("doctor says %+v", answer.Checks)
	}
	if _, said := hidden("spawn", "bob", "--backend", "headless", "--", "cat"); !strings.Contains(said, "the id of this boot") || !strings.Contains(said, "ProcSubset=pid") {
		t.Errorf("spawn says %s", said)
	}
	if all := r.must("ps", "--all", "--json"); strings.Contains(all, `"bob"`) {
		t.Errorf("a spawn that failed leaves %s", all)
	}
}
