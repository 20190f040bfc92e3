package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Disk is a store on disk, and what it keeps there.
type Disk struct {
	Open  Opener
	Tasks bool // they are its own
	// Box and Roster return the files of the box of builder and of the roster of
	// the team, if these are Claude Code's; nil if not.
	Box, Roster func(base string) string
	// Elsewhere: it is not on this disk, but processes share it.
	Elsewhere bool
}

// TestShared holds a store that is not on this disk to what several processes and killed
// processes ask of it.
func TestShared(t *testing.T, open Opener) {
	TestDisk(t, Disk{Open: open, Tasks: true, Elsewhere: true})
}

// TestDisk holds a store on disk to what several processes, killed processes and
// a failing disk ask of it.
func TestDisk(t *testing.T, d Disk) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Disk)
		have bool
	}{
		{"R01_ManyClaimers", testManyClaimers, d.Tasks},
		{"TC01_OneTaskManyClaimers", testOneTask, d.Tasks},
		{"TC02_ManyCreators", testManyCreators, d.Tasks},
		{"IB01_LK07_ManySenders", testManySenders, true},
		{"SP08_M19_ManyJoins", testManyJoins, d.Roster != nil || d.Elsewhere},
		{"LK06_StoppedHolder", testStoppedHolder, !d.Elsewhere},
		{"KilledSenders", testKilledSenders, true},
		{"KilledClaimers", testKilledClaimers, d.Tasks},
		{"MH03_FullDisk", testFullDisk, !d.Elsewhere},
		{"MH03_NotWritable", testNotWritable, !d.Elsewhere},
		{"SE06_Modes", testModes, !d.Elsewhere},
		{"SE04_LinksAreNotFollowed", testLinks, !d.Elsewhere},
	} {
		if c.have {
			t.Run(c.name, func(t *testing.T) { c.test(t, d) })
		}
	}
}

// size returns the small number, or the full one if that was asked for.
func size(small, full int) int {
	if os.Getenv("LEADLIGHT_STORETEST") == "full" {
		return full
	}
	return small
}

// begin makes the team below a fresh base.
func (d Disk) begin(t *testing.T) (string, Stores) {
	t.Helper()
	base := t.TempDir()
	s := d.Open.at(t, base)
	ok(t, s.Roster.Create(ctx(t), alpha()))
	return base, s
}

func testManyClaimers(t *testing.T, d Disk) {
	base, s := d.begin(t)
	const processes = 8
	total := size(40, processes*500)
	d.fill(t, base, s, total)
	began := time.Now()
	children := startAll(t, processes, base, "claim", func(i int) []string { return []string{fmt.Sprint("w", i)} })
	act(children...)
	owner := map[string]string{}
	for i, c := range children {
		for _, id := range c.rest() {
			if other, twice := owner[id]; twice {
				t.Errorf("task %s was claimed by %s and by w%d", id, other, i)
			}
			owner[id] = fmt.Sprint("w", i)
		}
	}
	t.Logf("%d claims by %d processes in %v", len(owner), processes, time.Since(began).Round(time.Millisecond))
	list, warnings, err := s.Tasks.List(ctx(t), team)
	ok(t, err)
	if len(owner) != total || len(list) != total || len(warnings) != 0 {
		t.Errorf("%d of %d claimed, %d listed, warnings %q", len(owner), total, len(list), warnings)
	}
	for _, x := range list {
		if x.Status != store.InProgress || x.Owner != owner[x.ID] {
			t.Errorf("task %s: %s %s, claimed by %s", x.ID, x.Status, x.Owner, owner[x.ID])
		}
	}
}

// fill makes n tasks: the first through the store, the rest as copies of its
// file, because creating them is not what is tested.
func (d Disk) fill(t testing.TB, base string, s Stores, n int) {
	t.Helper()
	add(t, s)
	if d.Elsewhere {
		for range n - 1 {
			add(t, s)
		}
		return
	}
	dir := filepath.Join(base, "tasks", team)
	for i := 2; i <= n; i++ {
		data := fmt.Sprintf("{\n  \"id\": \"%d\",\n  \"subject\": \"Piece\",\n  \"description\": \"\",\n  \"status\": \"pending\",\n  \"blocks\": [],\n  \"blockedBy\": []\n}", i)
		ok(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".json"), []byte(data), 0o600))
	}
}

func testOneTask(t *testing.T, d Disk) {
	base, s := d.begin(t)
	add(t, s)
	n := size(8, 30)
	children := startAll(t, n, base, "claim one", func(i int) []string { return []string{"1", fmt.Sprint("w", i)} })
	act(children...)
	winners, losers := 0, 0
	for _, c := range children {
		answer := strings.Join(c.rest(), "")
		switch {
		case answer == "ok":
			winners++
		case strings.HasPrefix(answer, string(fault.TaskClaimed)) && strings.Contains(answer, "taken by w"):
			losers++
		default:
			t.Errorf("a claimer got %q", answer)
		}
	}
	if winners != 1 || losers != n-1 {
		t.Errorf("%d winners, %d losers of %d", winners, losers, n)
	}
}

func testManyCreators(t *testing.T, d Disk) {
	base, s := d.begin(t)
	n, each := size(6, 30), 3
	children := startAll(t, n, base, "create", func(int) []string { return []string{strconv.Itoa(each)} })
	act(children...)
	seen := map[string]bool{}
	for _, c := range children {
		for _, id := range c.rest() {
			if seen[id] {
				t.Errorf("id %s was given twice", id)
			}
			seen[id] = true
		}
	}
	all := list(t, s)
	if len(all) != n*each || len(seen) != n*each || all[len(all)-1].ID != strconv.Itoa(n*each) {
		t.Errorf("%d tasks, %d ids, last %s", len(all), len(seen), all[len(all)-1].ID)
	}
}

// testManySenders lets processes of ours and stand-ins for Claude Code send into
// one box, while another stand-in rewrites it.
func testManySenders(t *testing.T, d Disk) {
	base, s := d.begin(t)
	n, each := size(4, 16), size(10, 500)
	children := startAll(t, n, base, "send", func(i int) []string { return []string{fmt.Sprint("s", i), strconv.Itoa(each)} })
	total := n * each
	var client *child
	if d.Box != nil {
		_ = must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "first", Text: "0"}))
		foreign := size(5, 100)
		for i, style := range []string{truncating, renaming} { // as older and newer clients do
			children = append(children, start(t, base, "stand-in send", d.Box(base), fmt.Sprint("c", i), strconv.Itoa(foreign), style))
		}
		total += 1 + 2*foreign
		client = start(t, base, "stand-in box", d.Box(base))
		act(client)
	}
	began := time.Now()
	act(children...)
	for _, c := range children {
		if lines := c.rest(); len(lines) == 0 {
			t.Errorf("%s sent nothing", c.name)
		}
	}
	t.Logf("%d messages in %v", total, time.Since(began).Round(time.Millisecond))
	var box []store.Message
	if client != nil {
		box = taken(t, client.rest())
	}
	box = append(box, must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder"))...)
	checkOrder(t, box, total)
	if left := orphansBelow(base); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// taken reads what the stand-in took out of the box.
func taken(t testing.TB, lines []string) []store.Message {
	t.Helper()
	var box []store.Message
	for _, line := range lines[:len(lines)-1] {
		var m store.Message
		if _, err := fmt.Sscanf(line, "took %s %s", &m.From, &m.Text); err != nil {
			t.Errorf("the stand-in says %q", line)
		}
		box = append(box, m)
	}
	if last := lines[len(lines)-1]; last == "0" {
		t.Error("the stand-in has not rewritten the box")
	}
	return box
}

func testManyJoins(t *testing.T, d Disk) {
	base, s := d.begin(t)
	n := size(8, 40)
	children := startAll(t, n, base, "join", func(i int) []string { return []string{fmt.Sprint("m", i), "1"} })
	finish := func() {}
	if d.Roster != nil {
		foreign := start(t, base, "stand-in roster", d.Roster(base), renaming)
		done := make(chan struct{})
		go readWhole(t, d.Roster(base), done)
		act(foreign)
		finish = func() {
			last := strings.Join(foreign.rest(), "")
			done <- struct{}{}
			if got := must[store.Team](t)(s.Roster.Get(ctx(t), team)); string(got.Unknown["counter"]) != last {
				t.Errorf("the other field is %s, want %s", got.Unknown["counter"], last)
			}
		}
	}
	act(children...)
	for _, c := range children {
		c.rest()
	}
	finish()
	if got := must[store.Team](t)(s.Roster.Get(ctx(t), team)); len(got.Members) != 3+n {
		t.Errorf("%d members, want %d", len(got.Members), 3+n)
	}
}

// readWhole reads a file all the time and wants it whole each time.
func readWhole(t testing.TB, path string, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
		}
		data, err := os.ReadFile(path)
		if err == nil && !json.Valid(data) {
			err = fmt.Errorf("%d bytes that are not JSON", len(data))
		}
		if err != nil {
			t.Errorf("a reader of %s: %v", path, err)
			<-done
			return
		}
	}
}

func testStoppedHolder(t *testing.T, d Disk) {
	base, s := d.begin(t)
	holder := start(t, base, "hold roster")
	act(holder)
	if line, _ := holder.line(); line != "held" {
		t.Fatalf("the holder says %q", line)
	}
	ok(t, holder.cmd.Process.Signal(syscall.SIGSTOP))
	short, cancel := context.WithTimeout(ctx(t), 700*time.Millisecond)
	defer cancel()
	began := time.Now()
	err := s.Roster.Update(short, team, func(x *store.Team) error { x.Description = "new"; return nil })
	wantCode(t, "update", err, fault.LockTimeout)
	if waited := time.Since(began); waited < 500*time.Millisecond || waited > time.Minute {
		t.Errorf("gave up after %v", waited)
	}
	pid := fmt.Sprintf("process %d (change team), for ", holder.cmd.Process.Pid)
	if err == nil || !strings.Contains(err.Error(), pid) || !strings.Contains(err.Error(), filepath.Join(base, "leadlight", team, "locks")) {
		t.Errorf("%v names not the process (%s) and its age, and the file", err, pid)
	}
	if got := must[store.Team](t)(s.Roster.Get(ctx(t), team)); got.Description != "a team" {
		t.Errorf("read %+v", got)
	}
	_ = must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: "still works"}))
	holder.kill()
	ok(t, s.Roster.Update(ctx(t), team, func(x *store.Team) error { x.Description = "new"; return nil }))
}

// killed lets children play a role, two at a time, kills them at odd moments, and returns what
// each of them, by its first argument, has said.
func killed(t *testing.T, base, role string, rounds int, more ...string) map[string][]string {
	said := map[string][]string{}
	for round := range rounds {
		name := func(i int) string { return fmt.Sprintf("w%d-%d", round, i) }
		children := startAll(t, 2, base, role, func(i int) []string { return append([]string{name(i)}, more...) })
		act(children...)
		for i, c := range children {
			for range rand.IntN(6) {
				if line, more := c.line(); more {
					said[name(i)] = append(said[name(i)], line)
				}
			}
			pause := time.NewTimer(time.Duration(rand.IntN(3000)) * time.Microsecond)
			<-pause.C
			said[name(i)] = append(said[name(i)], c.kill()...)
		}
	}
	return said
}

// testKilledSenders kills senders. What they were told was accepted must be there, once and
// in order, and the box must go on working.
func testKilledSenders(t *testing.T, d Disk) {
	base, s := d.begin(t)
	accepted := killed(t, base, "send", size(4, 40), "100000")
	began := time.Now()
	_ = must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "after", Text: "0"}))
	if waited := time.Since(began); waited > time.Minute {
		t.Errorf("the first message after the last kill took %v", waited)
	}
	box := must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder"))
	checkOrder(t, box, len(box))
	found := map[string]int{}
	for _, m := range box {
		found[m.From]++
	}
	for from, said := range accepted {
		// One more may be on disk whose acceptance could not be told.
		if n := len(said); found[from] < n || found[from] > n+1 {
			t.Errorf("%s: %d accepted, %d found", from, n, found[from])
		}
	}
}

func testKilledClaimers(t *testing.T, d Disk) {
	base, s := d.begin(t)
	d.fill(t, base, s, 300)
	claimed := map[string]string{}
	for who, ids := range killed(t, base, "claim", size(3, 30)) {
		for _, id := range ids {
			if claimed[id] != "" {
				t.Errorf("task %s: claimed by %s and %s", id, claimed[id], who)
			}
			claimed[id] = who
		}
	}
	list, warnings, err := s.Tasks.List(ctx(t), team)
	ok(t, err)
	if len(list) != 300 || len(warnings) != 0 {
		t.Errorf("%d tasks, warnings %q", len(list), warnings)
	}
	for id, who := range claimed {
		i := slices.IndexFunc(list, func(x store.Task) bool { return x.ID == id })
		if i < 0 || list[i].Owner != who || list[i].Status != store.InProgress {
			t.Errorf("task %s of %s is lost", id, who)
		}
	}
	add(t, s) // they may have claimed all before they were killed
	_ = must[store.Task](t)(s.Tasks.ClaimNext(ctx(t), team, "after"))
}
