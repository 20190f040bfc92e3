package integration_test

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/leadlight-dev/leadlight/panes"
)

// TestSoakDamagedFiles is TestXH09_DamagedFilesHarmNobody with every damage of every file
// and every verb. Each file is a part of its own: -run TestSoakDamagedFiles/headless/base/teams.
func TestSoakDamagedFiles(t *testing.T) {
	if os.Getenv("LEADLIGHT_SOAK") == "" {
		t.Skip("make soak runs it")
	}
	everywhere(t, func(t *testing.T, r *rig) {
		all := []*damaged{newDamaged(t, r)}
		for len(all) < damagedTeams {
			all = append(all, newDamaged(t, r.another()))
		}
		var taken sync.Map
		var done sync.WaitGroup
		for _, d := range all {
			files := d.files()
			done.Go(func() { d.meetAll(t, files, &taken) })
		}
		done.Wait()
		for _, d := range all {
			if !t.Failed() { // who was harmed is not there
				d.over()
			}
			t.Logf("%d times a verb met a damaged file", d.met)
		}
	})
}

// damagedTeams is how many teams meet damaged files at the same time.
const damagedTeams = 3

// meetAll lets all verbs meet every damage of those files that no other team has taken. It
// ends with the first failure, since who was harmed is not there for the next.
func (d *damaged) meetAll(t *testing.T, files []string, taken *sync.Map) {
	for _, file := range files {
		if _, is := taken.LoadOrStore(file, true); is || asAnother(file) {
			continue
		}
		whole := t.Run(file, func(part *testing.T) {
			was := d.t
			d.t, d.rig.t = part, part
			defer func() { d.t, d.rig.t = was, was }()
			for _, what := range slices.Sorted(maps.Keys(d.damages(file))) {
				if strings.Contains(file, "/locks/") && slices.Contains([]string{"emptied", "cut", "a neighbour", "a stranger"}, what) {
					continue // locks are empty, or say who has them: "an object" is all that
				}
				d.meet(file, what, append(d.cleaners(), d.down())...)
			}
		})
		if !whole {
			return
		}
	}
}

// asAnother tells whether a file is to c, or a lock to b, what another one is to a: c runs
// as a does.
func asAnother(file string) bool {
	name := strings.TrimSuffix(path.Base(file), ".json")
	return name == "c" || strings.HasPrefix(name, "c@") || strings.Contains(file, "/locks/") && (strings.HasSuffix(name, "-b") || strings.HasSuffix(name, "-c"))
}

// role is the name of a file; what is named by a number of the base folder or of a host is
// named after its member.
func (d *damaged) role(file string) string {
	if who, is := d.sockets()[file]; is {
		return "run/leadlight/hosts/" + who + ".sock"
	}
	if path.Base(path.Dir(file)) != "headless" {
		return file
	}
	var pane struct{ Mark struct{ Agent, Team string } }
	data, err := os.ReadFile(d.path(filepath.FromSlash(file)))
	if err != nil || json.Unmarshal(data, &pane) != nil {
		return file // it has just gone
	}
	return path.Join(path.Dir(file), pane.Mark.Agent+"@"+pane.Mark.Team)
}

// file is the path of the file that has a role now.
func (d *damaged) file(role string) string {
	if path.Base(path.Dir(role)) == "headless" {
		all, _ := filepath.Glob(d.path("run", "leadlight", "headless", "*.json"))
		for _, name := range all {
			if rel, err := filepath.Rel(d.dir, name); err == nil && d.role(filepath.ToSlash(rel)) == role {
				return name
			}
		}
	}
	for file := range d.sockets() {
		if d.role(file) == role {
			return d.path(filepath.FromSlash(file))
		}
	}
	return d.path(filepath.FromSlash(role))
}

// sockets are the members by the paths of their hosts' sockets.
func (d *damaged) sockets() map[string]string {
	out := map[string]string{}
	records, _ := filepath.Glob(d.path("base", "leadlight", "*", "hosts", "*.json"))
	for _, name := range records {
		var rec panes.HostRecord
		data, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(data, &rec) != nil {
			continue // a damaged one
		}
		if file, err := filepath.Rel(d.dir, rec.Socket); err == nil {
			team := filepath.Base(filepath.Dir(filepath.Dir(name)))
			out[filepath.ToSlash(file)] = strings.TrimSuffix(filepath.Base(name), ".json") + "@" + team
		}
	}
	return out
}
