package store

import (
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// CheckCreate holds a team that is to be made to the rules of names.
func CheckCreate(t Team) error {
	if err := CheckNewTeam(t.Name); err != nil {
		return err
	}
	return CheckMembers(nil, t.Members)
}

// CheckMembers holds the members that are new to the rules of names. Those that
// were there before are another program's affair.
func CheckMembers(was, now []Member) error {
	for i, m := range now {
		if countName(was, m.Name) == 0 {
			if _, err := CheckAddress(m.Name); err != nil {
				return err
			}
		}
		j := slices.IndexFunc(now[:i], func(o Member) bool { return AlikeNames(o.Name, m.Name) })
		if j >= 0 && countName(now, m.Name) > countName(was, m.Name) {
			return fault.New(fault.DuplicateName, "there is a member %q already", Shown(now[j].Name)).
				WithHint("choose a name that differs by more than upper and lower case")
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
