package store

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"golang.org/x/text/unicode/norm"
)

// reserved member names, compared without regard to case.
const reserved = " team-lead main user system * "

// CheckNewTeam says whether leadlight may create a team of that name.
func CheckNewTeam(name string) error {
	if len(name) < 3 || len(name) > 64 || !kebab(name) {
		return fault.New(fault.InvalidName, "%q is not a team name", Shown(name)).
			WithHint("3 to 64 lower-case letters and digits, in words joined by single hyphens, such as code-review")
	}
	return nil
}

// CheckTeam says whether name can be the folder of a team at all, whoever made
// it: one path element that is not hidden.
func CheckTeam(name string) error {
	bad := name == "" || len(name) > 255 || name[0] == '.' || name[0] == '-' || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) })
	if bad || strings.TrimSpace(name) == "" {
		return fault.New(fault.InvalidName, "%q cannot be a team's name", Shown(name)).
			WithHint("leadlight team ls lists the teams there are")
	}
	return nil
}

// CheckMember says whether name can be a teammate's name: 1 to 64 letters,
// digits, '_', '-' or '.', the first one a letter, digit or '_', and not
// reserved. It returns the name in its canonical form (NFC), which is the one to
// store: two spellings of one name are one member.
func CheckMember(name string) (string, error) {
	name = norm.NFC.String(name)
	if strings.Contains(reserved, " "+strings.ToLower(name)+" ") {
		return "", fault.New(fault.InvalidName, "the name %q is reserved", Shown(name)).
			WithHint("choose another name for the teammate")
	}
	if !safeMember(name) {
		return "", fault.New(fault.InvalidName, "%q is not a teammate's name", Shown(name)).
			WithHint("1 to 64 letters, digits, '_', '-' and '.', beginning with a letter, a digit or '_'")
	}
	return name, nil
}

// CheckAddress says whether name can be a mailbox's owner: a teammate or the
// lead. It returns the canonical form.
func CheckAddress(name string) (string, error) {
	if name == Lead {
		return Lead, nil
	}
	return CheckMember(name)
}

// Owner is the canonical form of the name, or address, by which a member of a team is meant.
func Owner(team, name string) (string, error) {
	if err := CheckTeam(team); err != nil {
		return "", err
	}
	return CheckAddress(LocalName(name, team))
}

// kebab tells whether name is words of lower-case letters and digits, joined by
// single hyphens: ^[a-z0-9]+(-[a-z0-9]+)*$.
func kebab(name string) bool {
	for word := range strings.SplitSeq(name, "-") {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
			return false
		}
	}
	return true
}

// ClaudeName tells whether Claude Code takes name as an agent's name:
// ^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$.
func ClaudeName(name string) bool {
	if len(name) < 1 || len(name) > 64 || name[0] == '_' || name[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// LocalName takes the team off an address: builder@alpha is builder in the team alpha.
func LocalName(name string, teams ...string) string {
	name = norm.NFC.String(name)
	for _, team := range teams {
		if local, ok := strings.CutSuffix(name, "@"+team); ok && local != "" && team != "" {
			return local
		}
	}
	return name
}

// AlikeNames tells whether two names differ in case at most.
func AlikeNames(a, b string) bool {
	return strings.EqualFold(norm.NFC.String(a), norm.NFC.String(b))
}

// SameName tells whether two names mean one member.
func SameName(a, b string) bool { return norm.NFC.String(a) == norm.NFC.String(b) }

// Shown makes a string fit for a message: short and free of control characters.
func Shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return '�'
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	if utf8.RuneCountInString(s) > 80 {
		s = string([]rune(s)[:79]) + "…"
	}
	return s
}

// Blank tells whether nobody would see anything of a text.
func Blank(text string) bool {
	const blankBraille = '\u2800'
	return !strings.ContainsFunc(text, func(r rune) bool { // what Unicode does not know yet may well be seen
		return r != blankBraille && !unicode.IsSpace(r) &&
			!unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
}

// safeMember also refuses the device names of Windows, which a shared file
// system could not hold.
func safeMember(name string) bool {
	if name == "" || !utf8.ValidString(name) || utf8.RuneCountInString(name) > 64 || len(name) > 240 {
		return false
	}
	for i, r := range name {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || (i > 0 && unicode.IsMark(r))
		if !letter && (i == 0 || (r != '-' && r != '.')) {
			return false
		}
	}
	return !deviceName(name)
}

func deviceName(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && stem[3] >= '1' && stem[3] <= '9'
}
