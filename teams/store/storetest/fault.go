package storetest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// testFullDisk fills a small file system in the middle of the work.
func testFullDisk(t *testing.T, d Disk) {
	base := smallDisk(t)
	s := d.Open.at(t, base)
	ok(t, s.Roster.Create(ctx(t), alpha()))
	_ = must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: "before"}))
	add(t, s)
	works := []func() error{
		func() error {
			_, err := s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: "after"})
			return err
		},
		func() error { _, err := s.Tasks.Create(ctx(t), team, store.Task{Subject: "x"}); return err },
		func() error { _, err := update(t, s, "1", func(x *store.Task) { x.Description = "new" }); return err },
		func() error {
			return s.Roster.Update(ctx(t), team, func(x *store.Team) error { x.Description = "new"; return nil })
		},
	}
	before := tree(t, teamFolders(base)...)
	filler := filepath.Join(base, "filler")
	fillUp(t, filler)
	for i, work := range works {
		err := work()
		wantCode(t, fmt.Sprint("work ", i), err, fault.DiskFull)
		if err != nil && !strings.Contains(err.Error(), base) {
			t.Errorf("%v does not name the path", err)
		}
	}
	ok(t, os.Remove(filler))
	if after := tree(t, teamFolders(base)...); after != before {
		t.Errorf("the files were\n%sand are now\n%s", before, after)
	}
	if left := orphansBelow(base); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	for _, work := range works {
		ok(t, work())
	}
}

// fillUp writes until nothing more fits.
func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	ok(t, err)
	defer f.Close()
	for _, n := range []int{64 << 10, 1 << 10, 1} {
		block := make([]byte, n)
		for {
			if _, err := f.Write(block); err != nil {
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatal(err)
				}
				break
			}
		}
	}
}

// teamFolders are those of all teams, without our locks.
func teamFolders(base string) []string {
	return []string{filepath.Join(base, "teams"), filepath.Join(base, "tasks")}
}

// tree describes the files below folders.
func tree(t testing.TB, folders ...string) string {
	t.Helper()
	var b strings.Builder
	for _, folder := range folders {
		ok(t, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %q\n", path, data)
			return err
		}))
	}
	return b.String()
}

// testNotWritable takes the right to write away from a user who is not root.
func testNotWritable(t *testing.T, d Disk) {
	base, s := d.begin(t)
	_ = must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: "before"}))
	add(t, s)
	before := tree(t, teamFolders(base)...)
	if os.Getuid() == 0 {
		giveAway(t, base)
	}
	for _, dir := range []string{"teams/" + team, "teams/" + team + "/inboxes", "teams/" + team + "/inbox/builder", "tasks/" + team} {
		if _, err := os.Stat(filepath.Join(base, dir)); err == nil {
			ok(t, os.Chmod(filepath.Join(base, dir), 0o555))
			t.Cleanup(func() { _ = os.Chmod(filepath.Join(base, dir), 0o755) })
		}
	}
	c := start(t, base, "unprivileged")
	act(c)
	lines := c.rest()
	if len(lines) < 2 {
		t.Fatalf("the child says %q", lines)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "reads") && (!strings.Contains(line, string(fault.PermissionDenied)) || !strings.Contains(line, base)) {
			t.Errorf("got %q, want %s and the path", line, fault.PermissionDenied)
		}
	}
	if after := tree(t, teamFolders(base)...); after != before {
		t.Errorf("the files were\n%sand are now\n%s", before, after)
	}
	if left := orphansBelow(base); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

const nobody = 65534

func giveAway(t *testing.T, base string) {
	t.Helper()
	for dir := base; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		ok(t, os.Chmod(dir, 0o755))
	}
	ok(t, filepath.WalkDir(base, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}))
}

// unprivileged gives up root's rights, reads, and tries to write everywhere.
func (a actor) unprivileged() error {
	if os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	if _, err := a.Roster.Get(a.ctx, team); err != nil {
		return err
	}
	a.say("reads the roster")
	try := func(what string, err error) { a.say("%s: %s %v", what, fault.CodeOf(err), err) }
	_, err := a.Mail.Put(a.ctx, team, "builder", store.Message{From: "a", Text: "x"})
	try("put", err)
	_, err = a.Tasks.Claim(a.ctx, team, "1", "builder")
	try("claim", err)
	try("update", a.Roster.Update(a.ctx, team, func(x *store.Team) error { x.Description = "new"; return nil }))
	return nil
}

// testModes checks the modes of what is made, under an umask that hides nothing.
func testModes(t *testing.T, d Disk) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	base := filepath.Join(t.TempDir(), "made")
	s := d.Open.at(t, base)
	ok(t, s.Roster.Create(ctx(t), alpha()))
	m := must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: "x"}))
	ok(t, s.Mail.MarkRead(ctx(t), team, "builder", []string{m.ID}))
	_ = must[int](t)(s.Mail.Archive(ctx(t), team, "builder"))
	add(t, s)
	_ = must[store.Task](t)(s.Tasks.Claim(ctx(t), team, "1", "builder"))
	ok(t, filepath.WalkDir(base, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return err
	}))
	config := filepath.Join(base, "teams", team, "config.json")
	ok(t, os.Chmod(config, 0o644))
	ok(t, s.Roster.Update(ctx(t), team, func(x *store.Team) error { x.Description = "new"; return nil }))
	if info, err := os.Stat(config); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("after a rewrite: %v %v, want the mode it had", info.Mode(), err)
	}
}

// testLinks puts links where files and folders should be.
func testLinks(t *testing.T, d Disk) {
	real := t.TempDir()
	base := filepath.Join(t.TempDir(), "linked")
	ok(t, os.Symlink(real, base)) // the base itself may be a link
	s := d.Open.at(t, base)
	ok(t, s.Roster.Create(ctx(t), alpha()))
	precious := t.TempDir()
	ok(t, os.WriteFile(filepath.Join(precious, "config.json"), []byte("{}"), 0o600))
	ok(t, os.WriteFile(filepath.Join(precious, "1.json"), []byte(`{"id":"1","subject":"x","status":"pending"}`), 0o600))
	before := tree(t, precious)
	ok(t, os.Symlink(precious, filepath.Join(real, "teams", "linked")))
	refused(t, "get a linked team", fault.PermissionDenied)(s.Roster.Get(ctx(t), "linked"))
	wantCode(t, "update a linked team", s.Roster.Update(ctx(t), "linked", func(*store.Team) error { return nil }), fault.PermissionDenied)
	refused(t, "put into a linked team", fault.PermissionDenied)(s.Mail.Put(ctx(t), "linked", "builder", store.Message{From: "a", Text: "x"}))
	ok(t, s.Roster.Delete(ctx(t), "linked"))
	if _, err := os.Lstat(filepath.Join(real, "teams", "linked")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link is still there: %v", err)
	}
	for _, folder := range []string{"tasks/" + team, "teams/" + team + "/inboxes", "teams/" + team + "/inbox"} {
		ok(t, os.RemoveAll(filepath.Join(real, folder)))
		ok(t, os.Symlink(precious, filepath.Join(real, folder)))
	}
	refused(t, "claim in a linked list", fault.PermissionDenied)(s.Tasks.Claim(ctx(t), team, "1", "builder"))
	refused(t, "create in a linked list", fault.PermissionDenied)(s.Tasks.Create(ctx(t), team, store.Task{Subject: "x"}))
	refused(t, "put into a linked folder", fault.PermissionDenied)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: "x"}))
	ok(t, s.Roster.Delete(ctx(t), team))
	if after := tree(t, precious); after != before {
		t.Errorf("what a link led to was\n%sand is\n%s", before, after)
	}
}
