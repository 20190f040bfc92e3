package store

import (
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// CheckMembers holds the members that are new to the rules of names. Those that
// were there before are another program's affair.
func CheckMembers(was, now []Member) error {
	for i, m := range now {
		if slices.ContainsFunc(now[:i], func(o Member) bool { return SameName(o.Name, m.Name) }) {
			if countName(now, m.Name) > countName(was, m.Name) {
				return fault.New(fault.DuplicateName, "there is a member %q already", Shown(m.Name))
			}
		}
		if countName(was, m.Name) > 0 {
			continue
		}
		if _, err := CheckAddress(m.Name); err != nil {
			return err
		}
	}
	return nil
}

func countName(members []Member, name string) int {
	n := 0
	for _, m := range members {
		if SameName(m.Name, name) {
			n++
		}
	}
	return n
}
