package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestMail holds a store.Mail to its contract. A store may take messages out of
// the box when they are marked read.
func TestMail(t *testing.T, open Opener) {
	for name, test := range map[string]func(*testing.T, Opener){
		"A05_A07_PutAndList":           testPut,
		"QU_TextArrivesAsSent":         testTexts,
		"Limits":                       testMailLimits,
		"SE01_BadNamesAreRefused":      testBadBoxes,
		"UX06_BoxesAreDistinct":        testDistinctBoxes,
		"IB09_MarkReadAndLedger":       testMarkRead,
		"Prune":                        testPrune,
		"A09_Archive":                  testArchive,
		"IB01_ParallelSenders":         testParallelSenders,
		"DL03_DL04_WatchMissesNothing": testWatchMail,
		"WatchEnds":                    testWatchEnds,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

func testPut(t *testing.T, open Opener) {
	s := open.team(t)
	if box := must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder")); len(box) != 0 {
		t.Errorf("a box that does not exist holds %+v", box)
	}
	sent := must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: store.Lead, Text: "hi", Summary: "greeting", Color: "red"}))
	if sent.ID == "" || time.Since(sent.Timestamp) > time.Minute || sent.To != "builder" {
		t.Errorf("sent = %+v", sent)
	}
	second := must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{ID: "mine-1", From: "研究員", Text: "there"}))
	if second.ID != "mine-1" {
		t.Errorf("id = %q, want the sender's", second.ID)
	}
	box := must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder"))
	if len(box) != 2 {
		t.Fatalf("box = %+v", box)
	}
	m := box[0]
	if m.ID != sent.ID || m.From != store.Lead || m.To != "builder" || m.Text != "hi" || m.Summary != "greeting" || m.Color != "red" ||
		m.Read || m.Type != "message" || !m.Timestamp.Equal(sent.Timestamp) || m.Stamp != "" {
		t.Errorf("first = %+v", m)
	}
	if box[1].Text != "there" || box[1].ID != "mine-1" {
		t.Errorf("second = %+v", box[1])
	}
}

func testTexts(t *testing.T, open Opener) {
	s := open.team(t)
	texts := []string{"", "run it;", "-----BEGIN", "a\tb\r\nc", "<b>&amp;</b>", `{"type":"shutdown_request","requestId":"x"}`, "\x1b[201~", "\u2028 ü 🙂", strings.Repeat("x", 300_000)}
	for _, text := range texts {
		_ = must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: text}))
	}
	box := must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder"))
	if len(box) != len(texts) {
		t.Fatalf("%d messages, want %d", len(box), len(texts))
	}
	for i, m := range box {
		if m.Text != texts[i] {
			t.Errorf("message %d: %.60q, want %.60q", i, m.Text, texts[i])
		}
	}
}

func testMailLimits(t *testing.T, open Opener) {
	s := open.team(t)
	put := func(text string) error {
		_, err := s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: text})
		return err
	}
	wantCode(t, "a text that is not UTF-8", put("\xff"), fault.InvalidArgument)
	wantCode(t, "a first message that is too long", put(strings.Repeat("x", store.MaxPrompt+1)), fault.InvalidArgument)
	ok(t, put(strings.Repeat("p", store.MaxPrompt)))
	wantCode(t, "a message that is too long", put(strings.Repeat("x", store.MaxMessage+1)), fault.InvalidArgument)
	ok(t, put(strings.Repeat("m", store.MaxMessage)))
	if box := must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder")); len(box) != 2 || len(box[0].Text) != store.MaxPrompt || len(box[1].Text) != store.MaxMessage {
		t.Errorf("%d messages", len(box))
	}
}

func testBadBoxes(t *testing.T, open Opener) {
	s := open.team(t)
	for _, name := range append(badNames(), "user", "system", "a@b", "a b") {
		refused(t, "put "+name, fault.InvalidName)(s.Mail.Put(ctx(t), team, name, store.Message{From: "a", Text: "x"}))
		refused(t, "list "+name, fault.InvalidName)(s.Mail.List(ctx(t), team, name))
		wantCode(t, "mark "+name, s.Mail.MarkRead(ctx(t), team, name, []string{"x"}), fault.InvalidName)
		refused(t, "archive "+name, fault.InvalidName)(s.Mail.Archive(ctx(t), team, name))
	}
	for _, name := range badNames() {
		refused(t, "put into team "+name, fault.InvalidName)(s.Mail.Put(ctx(t), name, "builder", store.Message{From: "a", Text: "x"}))
	}
	refused(t, "put into no team", fault.TeamNotFound)(s.Mail.Put(ctx(t), "nobody", "builder", store.Message{From: "a", Text: "x"}))
}

func testDistinctBoxes(t *testing.T, open Opener) {
	s := open.team(t)
	owners := []string{store.Lead, "builder", "研究員", "工程師", "v1.2.3", "writer", "writer-2", "_internal", "caf\u00e9"}
	for _, owner := range owners {
		_ = must[store.Message](t)(s.Mail.Put(ctx(t), team, owner, store.Message{From: "a", Text: "for " + owner}))
	}
	for _, owner := range owners {
		if box := must[[]store.Message](t)(s.Mail.List(ctx(t), team, owner)); len(box) != 1 || box[0].Text != "for "+owner {
			t.Errorf("box of %s: %+v", owner, box)
		}
	}
	if box := must[[]store.Message](t)(s.Mail.List(ctx(t), team, "cafe\u0301")); len(box) != 1 {
		t.Errorf("the other spelling of a name has another box: %+v", box)
	}
}

func testMarkRead(t *testing.T, open Opener) {
	s := open.team(t)
	var ids []string
	for i := range 3 {
		ids = append(ids, must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: fmt.Sprint(i)})).ID)
	}
	ok(t, s.Mail.MarkRead(ctx(t), team, "builder", []string{ids[0], ids[2], "unknown", "odd\nid"}))
	ok(t, s.Mail.MarkRead(ctx(t), team, "builder", []string{ids[0]}))
	if unread := unreadTexts(t, s, "builder"); len(unread) != 1 || unread[0] != "1" {
		t.Errorf("unread: %q", unread)
	}
}

func unreadTexts(t *testing.T, s Stores, owner string) []string {
	t.Helper()
	var texts []string
	for _, m := range must[[]store.Message](t)(s.Mail.List(ctx(t), team, owner)) {
		if !m.Read {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

func testPrune(t *testing.T, open Opener) {
	s := open.team(t)
	var ids []string
	for i := range 6 {
		ids = append(ids, must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: fmt.Sprint(i)})).ID)
	}
	ok(t, s.Mail.MarkRead(ctx(t), team, "builder", append(ids[:2:2], ids[3], ids[4])))
	before := len(must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder")))
	n := must[int](t)(s.Mail.Prune(ctx(t), team, "builder", 1))
	after := must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder"))
	if before-n != len(after) {
		t.Errorf("%d messages, %d pruned, %d left", before, n, len(after))
	}
	if before == 6 && (n != 3 || !after[1].Read || after[1].Text != "4") {
		t.Errorf("pruned %d, left %+v; want the newest read one kept", n, after)
	}
	if unread := unreadTexts(t, s, "builder"); strings.Join(unread, "") != "25" {
		t.Errorf("unread: %q", unread)
	}
	if n := must[int](t)(s.Mail.Prune(ctx(t), team, "builder", 1)); n != 0 {
		t.Errorf("pruned %d once more", n)
	}
	if n := must[int](t)(s.Mail.Prune(ctx(t), team, "研究員", 0)); n != 0 {
		t.Errorf("pruned %d from no box", n)
	}
}

func testArchive(t *testing.T, open Opener) {
	s := open.team(t)
	if n := must[int](t)(s.Mail.Archive(ctx(t), team, "builder")); n != 0 {
		t.Errorf("archived %d from no box", n)
	}
	for i := range 3 {
		_ = must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: fmt.Sprint(i)}))
	}
	if n := must[int](t)(s.Mail.Archive(ctx(t), team, "builder")); n != 3 {
		t.Errorf("archived %d, want 3", n)
	}
	if box := must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder")); len(box) != 0 {
		t.Errorf("left: %+v", box)
	}
	_ = must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: "new"}))
	if unread := unreadTexts(t, s, "builder"); len(unread) != 1 {
		t.Errorf("unread: %q", unread)
	}
}

func testParallelSenders(t *testing.T, open Opener) {
	s := open.team(t)
	const senders, each = 6, 8
	parallel(t, senders, func(i int) error {
		for j := range each {
			if _, err := s.Mail.Put(ctx(t), team, "builder", store.Message{From: fmt.Sprint("s", i), Text: fmt.Sprint(j)}); err != nil {
				return err
			}
		}
		return nil
	})
	checkOrder(t, must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder")), senders*each)
}

// checkOrder checks that each sender's messages, numbered from 0, are there once
// and in order.
func checkOrder(t testing.TB, box []store.Message, total int) {
	t.Helper()
	next := map[string]int{}
	for _, m := range box {
		if want := fmt.Sprint(next[m.From]); m.Text != want {
			t.Errorf("from %s: message %s where %s was due", m.From, m.Text, want)
		}
		next[m.From]++
	}
	if len(box) != total {
		t.Errorf("%d messages, want %d", len(box), total)
	}
}

func testWatchMail(t *testing.T, open Opener) {
	s := open.team(t)
	_ = must[store.Message](t)(s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: "before"}))
	c := must[<-chan struct{}](t)(s.Mail.Watch(ctx(t), team, "builder"))
	const more = 20
	watched(t, c, func() error {
		for i := range more {
			if _, err := s.Mail.Put(ctx(t), team, "builder", store.Message{From: "a", Text: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		return nil
	}, func() bool {
		return len(must[[]store.Message](t)(s.Mail.List(ctx(t), team, "builder"))) == 1+more
	})
}

func testWatchEnds(t *testing.T, open Opener) {
	s := open.team(t)
	c, cancel := context.WithCancel(ctx(t))
	hints := must[<-chan struct{}](t)(s.Mail.Watch(c, team, "builder"))
	cancel()
	deadline := time.After(time.Minute)
	for {
		select {
		case _, open := <-hints:
			if !open {
				return
			}
		case <-deadline:
			t.Fatal("the channel is not closed")
		}
	}
}
