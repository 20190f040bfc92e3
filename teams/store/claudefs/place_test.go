package claudefs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

// Claude Code keeps mail and tasks of a team with an odd name in folders of other
// names than the roster's.
func TestFoldersOfAnOddName(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("teams/my-team-x/config.json", strings.ReplaceAll(claudeTeam, `"name": "alpha"`, `"name": "My_Team.x"`))
	b.put("teams/My_Team-x/inboxes/v1-2.json", `[{"from":"a","text":"here","timestamp":"2026-03-02T10:00:00.000Z","read":false}]`)
	b.put("tasks/My_Team-x/4.json", `{"id":"4","subject":"x","status":"pending","blocks":[],"blockedBy":[]}`)
	box, err := b.Mail(nil).List(t.Context(), "my-team-x", "v1.2")
	if err != nil || len(box) != 1 {
		t.Errorf("box %+v, %v", box, err)
	}
	_, err = b.Mail(nil).Put(t.Context(), "my-team-x", "builder", store.Message{From: "a", Text: "x"})
	b.ok(err)
	made, err := b.Tasks().Create(t.Context(), "my-team-x", store.Task{Subject: "y"})
	if err != nil || made.ID != "5" || !b.exists("tasks/My_Team-x/5.json") || !b.exists("teams/My_Team-x/inboxes/builder.json") {
		t.Errorf("made %s, %v", made.ID, err)
	}
	if names, err := b.Roster().List(t.Context()); err != nil || strings.Join(names, " ") != "my-team-x" {
		t.Errorf("teams %q, %v", names, err)
	}
}

// https://github.com/anthropics/claude-code/issues/59169
func TestTD08_DeleteTakesTheOrphanedSibling(t *testing.T) {
	for name, other := range map[string]bool{"orphan": false, "another team": true} {
		t.Run(name, func(t *testing.T) {
			b := newBase(t, claudefs.Options{})
			b.put("teams/alpha-team/config.json", sample(t, "config/c23-name-differs-from-dir/alpha-team/config.json"))
			b.put("teams/Alpha_Team/inboxes/builder.json", sample(t, "config/c23-name-differs-from-dir/Alpha_Team/inboxes/builder.json"))
			b.put("tasks/Alpha_Team/1.json", sample(t, "tasks/t18-order/1.json"))
			if other {
				b.put("teams/Alpha_Team/config.json", claudeTeam)
			}
			x, err := b.Roster().Get(t.Context(), "alpha-team")
			if err != nil || len(x.Warnings) != 1 || !strings.Contains(x.Warnings[0], "Alpha_Team") {
				t.Errorf("warnings %q, %v", x.Warnings, err)
			}
			b.ok(b.Roster().Delete(t.Context(), "alpha-team"))
			if b.exists("teams/alpha-team") || b.exists("teams/Alpha_Team/inboxes/builder.json") != other || b.exists("tasks/Alpha_Team") != other {
				t.Errorf("left: own folder %t, sibling %t, tasks %t", b.exists("teams/alpha-team"), b.exists("teams/Alpha_Team"), b.exists("tasks/Alpha_Team"))
			}
		})
	}
}

func TestDeleteKeepsTheLocksAndNothingElse(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "alpha"}))
	m, err := b.Mail(nil).Put(t.Context(), "alpha", "builder", store.Message{From: "a", Text: "x"})
	b.ok(err)
	b.ok(b.Mail(nil).MarkRead(t.Context(), "alpha", "builder", []string{m.ID}))
	b.put("leadlight/alpha/transcripts/builder.log", "x")
	b.put("leadlight/alpha/mail/builder-1.txt", "a long message")
	b.ok(b.Roster().Delete(t.Context(), "alpha"))
	for name, want := range map[string]int{"teams": 0, "tasks": 0, "leadlight/alpha": 1} {
		entries, err := os.ReadDir(b.path(name))
		if err != nil || len(entries) != want {
			t.Errorf("%s: %v %v", name, entries, err)
		}
	}
	if !b.exists("leadlight/alpha/locks/roster") {
		t.Error("the locks are gone")
	}
}

// https://github.com/anthropics/claude-code/issues/27860
func TestSP06_FoldersThatAreThere(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	for _, dir := range []string{"tasks/alpha", "teams/alpha/inboxes"} {
		b.ok(os.MkdirAll(b.path(dir), 0o700))
	}
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "alpha"}))
	text := b.text("teams/alpha/config.json")
	b.want("create again", b.Roster().Create(t.Context(), store.Team{Name: "alpha", Description: "other"}), fault.TeamExists)
	if b.text("teams/alpha/config.json") != text {
		t.Error("the roster was overwritten")
	}
}

// https://github.com/code-yeongyu/oh-my-openagent/pull/1638
func TestSE01_SE02_NothingOutsideIsTouched(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", sample(t, "config/c27-traversal-member.json"))
	for _, name := range []string{"../../../outside", "../x", "a/../../b", "/etc/x"} {
		_, err := b.Mail(nil).Put(t.Context(), "alpha", name, store.Message{From: "a", Text: "x"})
		b.want("send to "+name, err, fault.InvalidName)
		_, err = b.Mail(nil).Archive(t.Context(), "alpha", name)
		b.want("archive of "+name, err, fault.InvalidName)
		b.want("delete of "+name, b.Roster().Delete(t.Context(), name), fault.InvalidName)
	}
	b.ok(b.Roster().Update(t.Context(), "alpha", func(x *store.Team) error { x.Description = "others are served"; return nil }))
	if !strings.Contains(b.text("teams/alpha/config.json"), `"../../../outside"`) {
		t.Error("the odd member was dropped")
	}
}

// A team that is being removed by a client, and folders that are no teams.
func TestListPassesOverWhatIsNoTeam(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", claudeTeam)
	b.put("teams/beta.deleted-0a1b2c3d-0000-4000-8000-000000000000/config.json", claudeTeam)
	b.put("teams/default/inboxes/team-lead.json", "[]")
	b.put("teams/.hidden/config.json", claudeTeam)
	b.put("teams/file", "x")
	b.put("teams/torn/config.json", claudeTeam[:50])
	if names, err := b.Roster().List(t.Context()); err != nil || strings.Join(names, " ") != "alpha torn" {
		t.Errorf("teams %q, %v", names, err)
	}
	_, err := b.Roster().Get(t.Context(), "file")
	b.want("a file", err, fault.TeamNotFound)
	_, err = b.Mail(nil).Put(t.Context(), "default", "bob", store.Message{From: "a", Text: "x"})
	b.want("mail to no team", err, fault.TeamNotFound)
}

func TestA19_Schemas(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "alpha", Description: "d"}))
	text := b.text("teams/alpha/config.json")
	for _, want := range []string{`"schemaVersion": 1`, `"schema": 1`, `"metadata": {`, `"leadAgentId": "team-lead@alpha"`, `"members": []`} {
		if !strings.Contains(text, want) {
			t.Errorf("a new roster lacks %s:\n%s", want, text)
		}
	}
	newer := replaced(t, text, `"schema": 1`, `"schema": 2`)
	b.put("teams/alpha/config.json", newer)
	_, err := b.Roster().Get(t.Context(), "alpha")
	b.want("get", err, fault.VersionTooNew)
	b.want("update", b.Roster().Update(t.Context(), "alpha", func(*store.Team) error { return nil }), fault.VersionTooNew)
	b.want("delete", b.Roster().Delete(t.Context(), "alpha"), fault.VersionTooNew)
	if b.text("teams/alpha/config.json") != newer {
		t.Error("a newer roster was touched")
	}
	b.put("teams/alpha/config.json", replaced(t, text, `"schemaVersion": 1`, `"schemaVersion": "9.0.0"`))
	b.ok(b.Roster().Update(t.Context(), "alpha", func(x *store.Team) error { x.Description = "new"; return nil }))
	if !strings.Contains(b.text("teams/alpha/config.json"), `"schemaVersion": "9.0.0"`) {
		t.Error("a foreign schemaVersion was judged")
	}
}

func TestD1_Mailbox(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "alpha", Ours: store.Ours{Mailbox: store.MailboxMaildir}}))
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "beta"}))
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "gamma", Ours: store.Ours{Mailbox: "nats"}}))
	mem := memory.New()
	b.ok(mem.Roster().Create(t.Context(), store.Team{Name: "alpha"}))
	mail := b.Mail(map[string]store.Mail{store.MailboxMaildir: mem.Mail()})
	for team, code := range map[string]fault.Code{"alpha": "", "beta": "", "gamma": fault.Unsupported, "nobody": fault.TeamNotFound} {
		_, err := mail.Put(t.Context(), team, "bob", store.Message{From: "a", Text: team})
		b.want(team, err, code)
	}
	if box, err := mem.Mail().List(t.Context(), "alpha", "bob"); err != nil || len(box) != 1 {
		t.Errorf("the other layout has %+v, %v", box, err)
	}
	if !b.exists("teams/alpha/inbox") || b.exists("teams/alpha/inboxes") || !b.exists("teams/beta/inboxes") {
		t.Error("folders of the other layout")
	}
}

// Locks stay for the next team of the name, unless there is none.
func TestALockOutlivesItsTeamIfTheNameDoes(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	for _, once := range []bool{false, true} {
		b.ok(b.Roster().Create(t.Context(), store.Team{Name: "alpha", Ours: store.Ours{Once: once}}))
		got, err := b.Roster().Get(t.Context(), "alpha")
		b.ok(err)
		b.ok(b.Roster().Delete(t.Context(), "alpha"))
		if got.Ours.Once != once || b.exists("leadlight/alpha") == once || b.exists("teams/alpha") {
			t.Errorf("once %v: read as %v, locks there %v", once, got.Ours.Once, b.exists("leadlight/alpha"))
		}
	}
}

// Where mail goes does not depend on whether the roster can be read.
func TestADamagedRosterLeadsNoMailAstray(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "alpha"}))
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "beta", Ours: store.Ours{Mailbox: store.MailboxMaildir}}))
	text := b.text("teams/alpha/config.json")
	for _, team := range []string{"alpha", "beta"} {
		b.put("teams/"+team+"/config.json", text[:40])
	}
	fresh, err := claudefs.Open(b.dir, claudefs.Options{})
	b.ok(err)
	defer fresh.Close()
	_, err = fresh.Mail(nil).Put(t.Context(), "alpha", "api.v2", store.Message{From: "a", Text: "x"})
	b.ok(err)
	if !b.exists("teams/alpha/inboxes/api.v2.json") {
		t.Error("the message went to another box")
	}
	_, err = fresh.Mail(map[string]store.Mail{store.MailboxMaildir: memory.New().Mail()}).List(t.Context(), "beta", "bob")
	b.want("the other layout, where there is no such team", err, fault.TeamNotFound)
	b.put("teams/alpha/config.json", claudeTeam) // whole again, and Claude Code's
	_, err = fresh.Mail(nil).Put(t.Context(), "alpha", "api.v2", store.Message{From: "a", Text: "x"})
	b.ok(err)
	if !b.exists("teams/alpha/inboxes/api-v2.json") {
		t.Error("the client would not find the message")
	}
}

const cutOff = ".deleted-0a1b2c3d-0000-4000-8000-000000000000"

// cutDelete leaves a team as a delete does that is killed after its renames.
func cutDelete(b base) {
	b.ok(b.Roster().Create(b.Context(), store.Team{Name: "alpha"}))
	_, err := b.Mail(nil).Put(b.Context(), "alpha", "builder", store.Message{From: "a", Text: "old"})
	b.ok(err)
	_, err = b.Tasks().Create(b.Context(), "alpha", store.Task{Subject: "old"})
	b.ok(err)
	b.ok(os.Rename(b.path("teams/alpha"), b.path("teams/alpha"+cutOff)))
	b.put("leadlight/alpha/ledger"+cutOff+"/builder", "x\n")
	old := time.Now().Add(-time.Hour)
	b.ok(os.Chtimes(b.path("teams/alpha"+cutOff), old, old))
}

func TestXH10_DeleteCutHalfWay(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	cutDelete(b)
	remains, err := b.Roster().Remains(t.Context())
	if err != nil || len(remains) != 1 || remains[0].What != b.path("teams/alpha"+cutOff) || !strings.Contains(remains[0].Why, "alpha") {
		t.Fatalf("%+v %v", remains, err)
	}
	b.ok(remains[0].Remove(t.Context()))
	for _, name := range []string{"teams/alpha" + cutOff, "tasks/alpha", "leadlight/alpha/ledger" + cutOff} {
		if b.exists(name) {
			t.Errorf("%s is still there", name)
		}
	}
	// A team that has the name again is left alone.
	cutDelete(b)
	b.put("teams/alpha/config.json", claudeTeam)
	remains, err = b.Roster().Remains(t.Context())
	b.ok(err)
	b.ok(remains[0].Remove(t.Context()))
	if !b.exists("tasks/alpha/1.json") || b.exists("teams/alpha"+cutOff) {
		t.Error("it took the tasks of the new team, or left the old one")
	}
}

// TestXH10_CreateCutHalfWay: the folders of a team that was killed before it had a roster are
// taken away, unless something is in them.
func TestXH10_CreateCutHalfWay(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	old := time.Now().Add(-time.Hour)
	for _, team := range []string{"cut", "mail", "host", "young"} {
		b.ok(b.Roster().Create(t.Context(), store.Team{Name: team}))
		b.ok(os.Remove(b.path("teams/" + team + "/config.json")))
		locks, err := os.ReadDir(b.path("leadlight/" + team + "/locks"))
		b.ok(err)
		for _, l := range locks {
			b.ok(os.Chtimes(b.path("leadlight/"+team+"/locks/"+l.Name()), old, old))
		}
		if team != "young" {
			b.ok(os.Chtimes(b.path("teams/"+team), old, old))
		}
	}
	b.put("teams/mail/inboxes/bob.json", "[]")
	b.put("leadlight/host/hosts/bob.json", "{}")
	remains, err := b.Roster().Remains(t.Context())
	b.ok(err)
	for _, r := range remains {
		if (r.Kept == "") != (r.Team == "cut") {
			t.Errorf("%+v", r)
		}
		if r.Remove != nil {
			b.ok(r.Remove(t.Context()))
		}
	}
	if len(remains) != 4 || b.exists("teams/cut") || b.exists("tasks/cut") || !b.exists("teams/mail/inboxes/bob.json") {
		t.Errorf("%+v", remains)
	}
}

// TestXH10_ADeleteOfTwoFoldersCutOff: a team whose mail and tasks have folders of another
// name than its roster leaves none of them after a delete that was cut off between them.
func TestXH10_ADeleteOfTwoFoldersCutOff(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "my-team"}))
	roster, err := os.ReadFile(b.path("teams/my-team/config.json"))
	b.ok(err)
	b.put("teams/my-team/config.json", strings.Replace(string(roster), `"name": "my-team"`, `"name": "My_Team"`, 1)) // as a client named it
	_, err = b.Mail(nil).Put(t.Context(), "my-team", "builder", store.Message{From: "a", Text: "old"})
	b.ok(err)
	b.put("tasks/My_Team/1.json", taskText("1", "pending", "", nil, nil))
	if !b.exists("teams/My_Team/inboxes/builder.json") {
		t.Fatal("its mail is elsewhere")
	}
	b.ok(os.Rename(b.path("teams/my-team"), b.path("teams/my-team"+cutOff)))
	old := time.Now().Add(-time.Hour)
	b.ok(os.Chtimes(b.path("teams/my-team"+cutOff), old, old))
	remains, err := b.Roster().Remains(t.Context())
	b.ok(err)
	for _, r := range remains {
		if r.Remove != nil {
			b.ok(r.Remove(t.Context()))
		}
	}
	for _, name := range []string{"teams/my-team" + cutOff, "teams/My_Team", "tasks/My_Team"} {
		if b.exists(name) {
			t.Errorf("%s is still there", name)
		}
	}
}

// TestXH10_RecordsOfBeforeAreNotTaken: what writers have made just after a team was deleted
// is nothing to the next one of that name; the records of hosts, which may run, stay.
func TestXH10_RecordsOfBeforeAreNotTaken(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	ours := "leadlight/alpha/"
	old := []string{"launch/.runs.json", "launch/.worktrees.json", "ledger/.agreed.json", "ledger/bob", "observed/bob.json", "transcripts/bob"}
	stay := []string{"launch/bob.json", "hosts/bob.json"}
	for _, name := range append(old, stay...) {
		b.put(ours+name, `{"1":"rm -rf x"}`)
	}
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "alpha"}))
	for _, name := range old {
		if b.exists(ours + name) {
			t.Errorf("the new team has %s of the old one", name)
		}
		if aside, _ := filepath.Glob(b.path(ours + "archive/before-*/" + name)); len(aside) != 1 {
			t.Errorf("%s is not kept aside: %q", name, aside)
		}
	}
	for _, name := range stay {
		if !b.exists(ours + name) {
			t.Errorf("%s is gone", name)
		}
	}
}

func TestXH10_CreateTakesNothingOver(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	cutDelete(b)
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "alpha"}))
	if list, _, err := b.Tasks().List(t.Context(), "alpha"); err != nil || len(list) > 0 || b.exists("teams/alpha"+cutOff) {
		t.Errorf("after a delete that was cut off: %d tasks, %v", len(list), err)
	}
	b.ok(b.Roster().Delete(t.Context(), "alpha"))

	var log strings.Builder
	b = newBase(t, claudefs.Options{Notice: func(line string) { log.WriteString(line) }})
	b.put("tasks/alpha/7.json", taskText("7", "pending", "", nil, nil)) // as after rm -r teams/alpha
	b.put("teams/alpha/inboxes/builder.json", `[{"from":"a","text":"old"}]`)
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "alpha"}))
	list, _, err := b.Tasks().List(t.Context(), "alpha")
	if err != nil || len(list) > 0 || len(b.list("builder")) > 0 {
		t.Errorf("taken over: %d tasks, %d messages, %v", len(list), len(b.list("builder")), err)
	}
	if made, err := b.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "new"}); err != nil || made.ID != "1" {
		t.Errorf("%+v %v", made, err)
	}
	if !strings.Contains(log.String(), b.path("leadlight/alpha/archive/before-")) {
		t.Errorf("it did not say where the old ones are: %s", log.String())
	}
}

func TestXS22_LocksOfTeamsThatAreGone(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	for _, team := range []string{"gone", "held", "kept", "young"} {
		b.ok(b.Roster().Create(t.Context(), store.Team{Name: team}))
		_, err := b.Mail(nil).Put(t.Context(), team, "builder", store.Message{From: "a", Text: "x"})
		b.ok(err)
		if team != "kept" {
			b.ok(b.Roster().Delete(t.Context(), team))
		}
		old := time.Now().Add(-time.Hour)
		locks, err := os.ReadDir(b.path("leadlight/" + team + "/locks"))
		b.ok(err)
		for _, l := range locks {
			if team != "young" {
				b.ok(os.Chtimes(b.path("leadlight/"+team+"/locks/"+l.Name()), old, old))
			}
		}
	}
	dir, err := files.Open(b.path("leadlight/held/locks"))
	b.ok(err)
	defer dir.Close()
	held, err := lock.Try(dir, "host-bob", "teammate")
	b.ok(err)
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"host-bob", ".host-bob"} {
		b.ok(os.Chtimes(b.path("leadlight/held/locks/"+name), old, old))
	}
	remains, err := b.Roster().Remains(t.Context())
	if err != nil || len(remains) != 1 || !remains[0].Usual || remains[0].What != b.path("leadlight/gone/locks") {
		t.Fatalf("%+v %v", remains, err)
	}
	b.ok(remains[0].Remove(t.Context()))
	if b.exists("leadlight/gone") {
		t.Error("the folder is there")
	}
	held.Release()
	if remains, err = b.Roster().Remains(t.Context()); err != nil || len(remains) != 1 {
		t.Fatalf("after its release: %+v %v", remains, err)
	}
	b.put("tasks/held/1.json", taskText("1", "pending", "", nil, nil)) // somebody has removed the folder of its roster alone
	b.put("leadlight/session-1/x", "")
	b.put("tasks/session-1/1.json", taskText("1", "pending", "", nil, nil)) // which Claude Code keeps
	b.put("tasks/strange/1.json", taskText("1", "pending", "", nil, nil))
	if all, err := b.Roster().Remains(t.Context()); err != nil || len(all) != 1 || all[0].What != b.path("tasks/held") || all[0].Kept == "" || all[0].Remove != nil {
		t.Errorf("tasks without a team: %+v %v", all, err)
	}
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "held"}))
	if err := remains[0].Remove(t.Context()); !errors.Is(err, fault.Rejected) {
		t.Errorf("of a team that is there again: %v", err)
	}
}

// TestSP04_ArchivedBoxLeavesNoFile: who is not there has no inbox; mail that comes later makes
// a new one.
// https://github.com/stablyai/orca/issues/6778
func TestSP04_ArchivedBoxLeavesNoFile(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "alpha"}))
	for range 2 {
		_, err := b.Mail(nil).Put(t.Context(), "alpha", "builder", store.Message{From: "a", Text: "x"})
		b.ok(err)
		n, err := b.Mail(nil).Archive(t.Context(), "alpha", "builder")
		if b.ok(err); n != 1 || b.exists("teams/alpha/inboxes/builder.json") {
			t.Errorf("%d messages were archived; the file is there: %v", n, b.exists("teams/alpha/inboxes/builder.json"))
		}
	}
}
