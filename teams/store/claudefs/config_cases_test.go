package claudefs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// configCase says how a sample roster loads.
type configCase struct {
	file     string
	folder   string // "" is alpha
	members  int
	warnings int
	check    func(t *testing.T, x store.Team)
}

func configCases() []configCase {
	pane := func(name, pane, backend string) func(*testing.T, store.Team) {
		return func(t *testing.T, x store.Team) {
			if m := x.Member(name); m == nil || m.TmuxPaneID != pane || m.BackendType != backend {
				t.Errorf("%s = %+v, want pane %q, backend %q", name, m, pane, backend)
			}
		}
	}
	return []configCase{
		// https://github.com/mbourmaud/hive (agent-teams-analysis/raw/team)
		{"c01-lead-and-worker", "", 2, 0, pane("builder", "%5", "tmux")},
		{"c02-lead-only", "", 1, 0, func(t *testing.T, x store.Team) {
			if len(x.Teammates()) != 0 {
				t.Errorf("teammates: %+v", x.Teammates())
			}
		}},
		{"c03-in-process", "", 2, 0, func(t *testing.T, x store.Team) {
			if m := x.Teammates()[0]; m.TmuxPaneID != "in-process" || m.BackendType != "in-process" {
				t.Errorf("%+v", m)
			}
		}},
		{"c04-leader-marker", "", 2, 0, pane("team-lead", "leader", "")},
		{"c06-unknown-backend", "", 2, 0, func(t *testing.T, x store.Team) {
			if m := x.Teammates()[0]; m.BackendType == "" || m.BackendType == "tmux" {
				t.Errorf("%+v", m)
			}
		}},
		// https://github.com/randlee/agent-team-mail (docs/agent-team-api.md)
		{"c07-null-fields", "", 2, 0, func(t *testing.T, x store.Team) {
			if m := x.Member("scout"); m.Color != "" || m.TmuxPaneID != "" || m.IsActive != nil || string(m.Unknown["sessionId"]) != "null" {
				t.Errorf("%+v", m)
			}
		}},
		{"c08-iso-times", "", 2, 0, func(t *testing.T, x store.Team) {
			want := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
			if !x.CreatedAt.Equal(want) || !x.Members[1].JoinedAt.Equal(want.Add(5250*time.Millisecond-2*time.Hour)) {
				t.Errorf("created %v, joined %v", x.CreatedAt, x.Members[1].JoinedAt)
			}
		}},
		// https://github.com/Soul-Brews-Studio/maw-js/pull/1037
		{"c10-foreign-minimal", "kitchen", 2, 1, func(t *testing.T, x store.Team) {
			if x.Members[0].AgentID != "chef@kitchen" || x.LeadAgentID != "" {
				t.Errorf("%+v", x)
			}
		}},
		// https://github.com/anthropics/claude-code/issues/68776
		{"c12-future-fields", "", 2, 0, func(t *testing.T, x store.Team) {
			if string(x.Unknown["schemaVersion"]) != "3" || x.Member("builder").WorktreePath != "/srv/wt/builder" || x.Member("builder").Unknown["quota"] == nil {
				t.Errorf("unknown %s, builder %+v", x.Unknown, x.Member("builder"))
			}
		}},
		// https://github.com/NanmiCoder/dsh-agent-teams/issues/2
		{"c13-bom", "", 2, 0, nil},
		{"c14-crlf", "", 2, 0, nil},
		{"c18-null-members", "", 0, 0, nil},
		// https://github.com/anthropics/claude-code/issues/58434
		{"c21-non-ascii", "équipe-β", 3, 0, func(t *testing.T, x store.Team) {
			if x.Member("研究員") == nil || x.Member("зодчий") == nil || x.Member("研究員").Unsafe {
				t.Errorf("%+v", x.Members)
			}
		}},
		// https://github.com/anthropics/claude-code/issues/59169
		{"c23-name-differs-from-dir/alpha-team/config", "alpha-team", 2, 1, func(t *testing.T, x store.Team) {
			if x.Name != "alpha-team" || x.DisplayName != "Alpha_Team" {
				t.Errorf("name %q, display name %q", x.Name, x.DisplayName)
			}
		}},
		{"c24-session-team", "session-1a2b3c4d", 2, 0, nil},
		// https://github.com/code-yeongyu/oh-my-openagent/pull/1638
		{"c27-traversal-member", "", 2, 1, func(t *testing.T, x store.Team) {
			if m := x.Teammates()[0]; !m.Unsafe || m.Name != "../../../outside" {
				t.Errorf("%+v", m)
			}
		}},
		{"c29-no-isactive", "", 2, 0, func(t *testing.T, x store.Team) {
			if x.Teammates()[0].IsActive != nil {
				t.Errorf("%+v", x.Teammates()[0])
			}
		}},
		{"c30-huge-prompt", "", 2, 0, func(t *testing.T, x store.Team) {
			if n := len(x.Teammates()[0].Prompt); n < 100_000 {
				t.Errorf("a prompt of %d bytes", n)
			}
		}},
	}
}

func (c configCase) team() string {
	if c.folder == "" {
		return "alpha"
	}
	return c.folder
}

// TestIF_SampleRosters loads every sample that is to be accepted, touches it
// without a change, and then changes one field.
func TestIF01_IF02_IF03_IF04_IF05_IF07_IT07_SC05_UX06_SampleRosters(t *testing.T) {
	for _, c := range configCases() {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			b := newBase(t, claudefs.Options{})
			config := "teams/" + c.team() + "/config.json"
			text := sample(t, "config/"+c.file+".json")
			b.put(config, text)
			x, err := b.Roster().Get(t.Context(), c.team())
			b.ok(err)
			if len(x.Members) != c.members || len(x.Warnings) != c.warnings {
				t.Errorf("%d members, warnings %q; want %d and %d", len(x.Members), x.Warnings, c.members, c.warnings)
			}
			if c.check != nil {
				c.check(t, x)
			}
			b.ok(b.Roster().Update(t.Context(), c.team(), func(x *store.Team) error { return nil }))
			if b.text(config) != text {
				t.Error("an update that changes nothing rewrote the file")
			}
			b.ok(b.Roster().Update(t.Context(), c.team(), func(x *store.Team) error { x.Description = "changed"; return nil }))
			want := regexp.MustCompile(`"description": "[^"]*"`).ReplaceAllString(text, `"description": "changed"`)
			if got := b.text(config); got != pretty(t, want) {
				t.Errorf("more changed than was asked for:\n%.3000s", got)
			}
		})
	}
}

// pretty lays JSON out as the client does, by other means than ours.
func pretty(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(strings.TrimPrefix(text, "\ufeff")), "", "  "); err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(out.String(), "\r\n")
}

// https://github.com/anthropics/claude-code/issues/53895
func TestIB03_IF08_DamagedRosters(t *testing.T) {
	for name, want := range map[string]string{
		"c15-empty":      "at byte 0: the file is empty",
		"c16-truncated":  "at byte 429",
		"c17-array-root": "at byte 0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBase(t, claudefs.Options{})
				text := sample(t, "config/"+name+".json")
				b.put("teams/alpha/config.json", text)
				b.put("teams/beta/config.json", sample(t, "config/c01-lead-and-worker.json"))
				start := time.Now()
				_, err := b.Roster().Get(t.Context(), "alpha")
				took := time.Since(start)
				b.want("get", err, fault.CorruptFile)
				if took < 250*time.Millisecond || took > time.Second {
					t.Errorf("gave up after %v", took)
				}
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), b.path("teams/alpha/config.json")) {
					t.Errorf("%v does not say %q and the path", err, want)
				}
				b.want("create over it", b.Roster().Create(t.Context(), store.Team{Name: "alpha"}), fault.TeamExists)
				b.want("update", b.Roster().Update(t.Context(), "alpha", func(*store.Team) error { return nil }), fault.CorruptFile)
				b.want("delete", b.Roster().Delete(t.Context(), "alpha"), fault.CorruptFile)
				if got := b.text("teams/alpha/config.json"); got != text {
					t.Errorf("the damaged file is now %q", got)
				}
				if names, err := b.Roster().List(t.Context()); err != nil || strings.Join(names, " ") != "alpha beta" {
					t.Errorf("teams: %q %v", names, err)
				}
				if _, err := b.Roster().Get(t.Context(), "beta"); err != nil {
					t.Errorf("the other team: %v", err)
				}
				_, err = b.Mail(nil).Put(t.Context(), "alpha", "builder", store.Message{From: "a", Text: "mail goes on"})
				b.ok(err)
				_, err = b.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "tasks go on"})
				b.ok(err)
			})
		})
	}
}

// A writer that truncates and writes slowly must never be taken for damage.
func TestIB03_ReadWhileSaved(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", claudeTeam)
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			f, err := os.OpenFile(b.path("teams/alpha/config.json"), os.O_WRONLY|os.O_TRUNC, 0)
			if err != nil {
				t.Error(err)
				return
			}
			for rest := claudeTeam; rest != ""; { // in parts, some milliseconds apart
				n := min(len(rest), 200)
				_, _ = f.WriteString(rest[:n])
				rest = rest[n:]
				<-tick.C
			}
			f.Close()
		}
	}()
	for range 50 {
		if x, err := b.Roster().Get(t.Context(), "alpha"); err != nil || len(x.Members) != 2 {
			t.Errorf("%d members, %v", len(x.Members), err)
			break
		}
	}
	close(done)
	<-finished
}

// https://github.com/anthropics/claude-code/issues/68776
func TestIF06_IB16_FutureFieldsSurviveAJoin(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	text := sample(t, "config/c12-future-fields.json")
	b.put("teams/alpha/config.json", text)
	b.ok(b.Roster().Update(t.Context(), "alpha", func(x *store.Team) error {
		x.Members = append(x.Members, store.Member{Name: "scout", AgentID: "scout@alpha", JoinedAt: time.UnixMilli(1790000009000), Cwd: "/srv"})
		return nil
	}))
	joined := `
    },
    {
      "agentId": "scout@alpha",
      "name": "scout",
      "planModeRequired": false,
      "joinedAt": 1790000009000,
      "tmuxPaneId": "",
      "cwd": "/srv",
      "subscriptions": []
    }
  ],
  "schemaVersion": 3,`
	if got, want := b.text("teams/alpha/config.json"), replaced(t, text, "\n    }\n  ],\n  \"schemaVersion\": 3,", joined); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is not a member is passed over and kept, wherever it stands.
func TestIF03_OddEntriesOfMembersAreKept(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", `{"name":"alpha","members":[null,{"name":"a","color":7},"x",{"agentId":"?"},{"name":"b"}],"createdAt":"someday"}`)
	x, err := b.Roster().Get(t.Context(), "alpha")
	b.ok(err)
	if len(x.Members) != 2 || !x.CreatedAt.IsZero() {
		t.Errorf("%+v", x)
	}
	b.ok(b.Roster().Update(t.Context(), "alpha", func(x *store.Team) error {
		x.Members = x.Members[1:]
		x.Members[0].Model = "m"
		return nil
	}))
	want := pretty(t, `{"name":"alpha","members":[null,"x",{"agentId":"?"},{"name":"b","model":"m"}],"createdAt":"someday"}`)
	if got := b.text("teams/alpha/config.json"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
