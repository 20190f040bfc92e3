package runs

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/db"
)

// Bounds of texts, in bytes.
const (
	maxTitle = 4 << 10
	maxText  = 256 << 10
	maxDoc   = 4 << 20
)

// Extended codes of SQLite, see https://sqlite.org/rescode.html.
const (
	sqliteForeignKey = 787
	sqliteUnique     = 2067
	sqlitePrimaryKey = 1555
)

// explain gives an error of the database its code. The rules are checked before,
// with better words; this is the net below.
func explain(ctx context.Context, q querier, what string, err error) error {
	switch db.Code(err) {
	case sqliteForeignKey:
		return fault.New(fault.Rejected, "%s: something else refers to it, or it refers to what is not there: %w", what, err)
	case sqliteUnique, sqlitePrimaryKey:
		return fault.New(fault.DuplicateName, "%s: it is there already: %w", what, err)
	}
	return db.Explain(ctx, q, what, err)
}

func noTeam(id string) error {
	return fault.New(fault.TeamNotFound, "no team with the id %q is defined", clip(id)).WithHint("team:list lists them")
}

func noMember(id string) error {
	return fault.New(fault.MemberNotFound, "there is no member with the id %q", clip(id)).WithHint("teamMember:list lists a team's")
}

func noRole(id string) error {
	return fault.New(fault.ProfileNotFound, "there is no role %q", clip(id)).WithHint("leadlight run team ls lists those of teams, leadlight help agents the profiles, which are roles, too")
}

func noRun(id string) error {
	return fault.New(fault.RunNotFound, "there is no run %q", clip(id)).WithHint("leadlight run ls lists them")
}

func noTask(id string) error {
	return fault.New(fault.TaskNotFound, "there is no task %q of a run", clip(id)).WithHint("teamRun:report lists the tasks of a run")
}

func noItem(id string) error {
	return fault.New(fault.ItemNotFound, "there is no item %q", clip(id)).WithHint("leadlight run item ls lists a run's")
}

// clip keeps a stranger's text short in a message.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// checkText refuses a text that is no text or too long, or a title that says
// nothing.
func checkText(what, text string, most int) error {
	switch {
	case most == maxTitle && strings.TrimSpace(text) == "":
		return fault.New(fault.InvalidArgument, "the %s is empty", what)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return fault.New(fault.InvalidArgument, "the %s is not text in UTF-8", what)
	case len(text) > most:
		return fault.New(fault.LimitReached, "the %s has %d bytes, the limit is %d", what, len(text), most)
	}
	return nil
}

// validText makes any bytes text.
func validText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
