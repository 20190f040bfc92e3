package daemon

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/changes"
)

// teamState begins the names of what the history holds of a team: team/NAME is the team
// without its tasks and its mail, team/NAME/task/I one of its tasks, and team/NAME/box/OWNER/I
// one message. So a change costs what has changed, and not the whole team. An older leadlight
// kept all of it in team/NAME.
const teamState = "team/"

// changedRows are the rows by which the history comes to hold now, and no longer was; one
// that is nil is removed.
func changedRows(name string, was, now changes.Team) map[string]json.RawMessage {
	rows := map[string]json.RawMessage{}
	prefix := teamState + name
	changedItems(rows, func(int) string { return prefix }, frame(was), frame(now))
	changedItems(rows, numbered(prefix+"/task/"), was.Tasks, now.Tasks)
	for owner, box := range was.Boxes {
		changedItems(rows, numbered(prefix+"/box/"+owner+"/"), box, now.Boxes[owner])
	}
	for owner, box := range now.Boxes {
		if _, known := was.Boxes[owner]; !known {
			changedItems(rows, numbered(prefix+"/box/"+owner+"/"), nil, box)
		}
	}
	return rows
}

// frame is a team, if there is one, without what has rows of its own.
func frame(t changes.Team) []changes.Team {
	if t.Name == "" {
		return nil
	}
	t.Tasks, t.Boxes = nil, nil
	return []changes.Team{t}
}

// numbered names the rows of a list, in its order.
func numbered(prefix string) func(int) string {
	return func(i int) string { return fmt.Sprintf("%s%09d", prefix, i) }
}

func changedItems[T any](rows map[string]json.RawMessage, name func(int) string, was, now []T) {
	for i := range max(len(was), len(now)) {
		switch {
		case i >= len(now):
			rows[name(i)] = nil
		case i >= len(was) || !reflect.DeepEqual(was[i], now[i]):
			rows[name(i)], _ = json.Marshal(now[i]) // these types always encode
		}
	}
}

// readTeams puts teams together from their rows: seen, what was seen of each last, without
// those that cannot be read; and written, what the history holds of each in this form.
func readTeams(rows map[string]json.RawMessage, log *slog.Logger) (seen, written map[string]changes.Team) {
	seen, written = map[string]changes.Team{}, map[string]changes.Team{}
	damaged, older := map[string]bool{}, map[string]bool{}
	for _, row := range slices.Sorted(maps.Keys(rows)) { // a team comes before its parts
		name, part, _ := strings.Cut(strings.TrimPrefix(row, teamState), "/")
		t := written[name]
		if err := readPart(&t, part, rows[row]); err != nil {
			log.Warn("a team's last state cannot be read; it is seen as new", "state", row, "error", err)
			damaged[name] = true
		}
		older[name] = older[name] || part == "" && len(t.Tasks)+len(t.Boxes) > 0
		written[name] = t
	}
	for name, t := range written {
		if !damaged[name] && t.Name != "" {
			seen[name] = t
		}
		if older[name] {
			written[name] = changes.Team{Name: "/"} // like no team: its row is written anew, or removed
		}
	}
	return seen, written
}

// readPart takes a row into its team; one that cannot be read keeps its place.
func readPart(t *changes.Team, part string, doc json.RawMessage) error {
	if part == "" {
		return json.Unmarshal(doc, t)
	}
	kind, rest, _ := strings.Cut(part, "/")
	if kind == "task" {
		t.Tasks = append(t.Tasks, api.Task{})
		return json.Unmarshal(doc, &t.Tasks[len(t.Tasks)-1])
	}
	owner := rest[:max(0, strings.LastIndexByte(rest, '/'))]
	if t.Boxes == nil {
		t.Boxes = map[string][]api.Message{}
	}
	box := append(t.Boxes[owner], api.Message{})
	t.Boxes[owner] = box
	return json.Unmarshal(doc, &box[len(box)-1])
}
