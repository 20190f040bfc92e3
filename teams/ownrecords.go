package teams

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"unicode"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/worktree"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// The records of our own about a team, each with what may stand in it: the state folder
// may have been written to by anybody, copied or cut.

// worktreeRecord is where the worktrees of a team are kept, by teammate.
func (tr *trees) worktreeRecord() panes.Own[map[string]worktree.Tree] {
	return panes.Own[map[string]worktree.Tree]{Name: "launch/.worktrees.json", Check: func(team string, all map[string]worktree.Tree) error {
		for name, tree := range all {
			if err := tr.worktrees().Check(tree, team, name); err != nil {
				return fmt.Errorf("the worktree of %.64q: %w", name, err)
			}
		}
		return nil
	}}
}

// withdrawnRecord is where the ids of requests to stop that were taken back are kept.
func withdrawnRecord() panes.Own[[]string] { return idsRecord("ledger/.withdrawn.json") }

// toldUnreadRecord is where the ids of messages are kept that somebody had not read before its
// end, and that the lead was told of.
func toldUnreadRecord() panes.Own[[]string] { return idsRecord("ledger/.unread.json") }

func idsRecord(name string) panes.Own[[]string] {
	return panes.Own[[]string]{Name: name, Check: func(_ string, ids []string) error {
		return errors.Join(each(ids, checkRequestID)...)
	}}
}

// agreedRecord is where it is kept which teammates have agreed to be shut down, and of which host:
// their lead may empty its box.
func agreedRecord() panes.Own[map[string]string] {
	return panes.Own[map[string]string]{Name: "ledger/.agreed.json", Check: func(_ string, all map[string]string) error {
		for name := range all {
			if _, err := store.CheckMember(name); err != nil {
				return err
			}
		}
		return nil
	}}
}

// requestsRecord is where plans and requests for permission are kept from when they are
// first seen: the box of the lead may be emptied by another program.
func requestsRecord() panes.Own[requests] {
	return panes.Own[requests]{Name: "ledger/.requests.json", Check: func(_ string, r requests) error {
		return errors.Join(each(r.all(), func(a asked) error { return checkRequest(a.id, a.from, *a.status) })...)
	}}
}

// hooksRecord is where the hooks of a team's file are kept: among the launch records, for
// a hook is a program.
func hooksRecord() panes.Own[[]hooks.Hook] {
	return panes.Own[[]hooks.Hook]{Name: "launch/.hooks.json", Check: func(_ string, all []hooks.Hook) error {
		if len(all) == 0 {
			return errors.New("it has no hook")
		}
		return errors.Join(each(all, checkHook)...)
	}}
}

// objectionsRecord counts how often in a row the hooks of the team file objected to the
// same thing. The task itself is the client's, which may hold its lock while it asks.
func objectionsRecord() panes.Own[map[string]int] {
	return panes.Own[map[string]int]{Name: "ledger/.objections.json", Check: func(_ string, all map[string]int) error {
		for what, n := range all {
			if n < 0 || n > 1<<20 {
				return fmt.Errorf("%.64q counts %d", what, n)
			}
		}
		return nil
	}}
}

// offersRecord is where a team keeps who was told of which task, so that all who watch the
// team tell it once.
func offersRecord() panes.Own[offers] {
	return panes.Own[offers]{Name: "ledger/.offers.json", Check: func(_ string, o offers) error {
		for task := range o.Tasks {
			if n, err := strconv.ParseUint(task, 10, 63); err != nil || n == 0 {
				return fmt.Errorf("%.60q is no id of a task", task)
			}
		}
		return nil
	}}
}

// each returns what check says about each of a list.
func each[T any](all []T, check func(T) error) []error {
	out := make([]error, 0, len(all))
	for _, v := range all {
		out = append(out, check(v))
	}
	return out
}

// maxRequestID is longer than any client's id of a request.
const maxRequestID = 512

func checkRequestID(id string) error {
	if id == "" || len(id) > maxRequestID || slices.ContainsFunc([]rune(id), unicode.IsControl) {
		return fmt.Errorf("%.60q is no id of a request", id)
	}
	return nil
}

func checkRequest(id, from, status string) error {
	states := []string{api.RequestOpen, api.RequestApproved, api.RequestRejected, api.RequestReplaced}
	switch {
	case checkRequestID(id) != nil:
		return checkRequestID(id)
	case from == "":
		return fmt.Errorf("the request %.60q is of nobody", id)
	case !slices.Contains(states, status):
		return fmt.Errorf("the request %.60q is in no state that there is: %.60q", id, status)
	}
	return nil
}

func checkHook(h hooks.Hook) error {
	switch {
	case !slices.Contains(hooks.Events(), h.Event):
		return fmt.Errorf("%.60q is no event of a hook", h.Event)
	case h.Command == "" && h.Refusal == "":
		return errors.New("a hook without a command")
	case h.Dir != "" && !filepath.IsAbs(h.Dir), h.Project != "" && !filepath.IsAbs(h.Project):
		return fmt.Errorf("the folder of the hook %s is not absolute", strconv.Quote(h.Command))
	}
	return nil
}
