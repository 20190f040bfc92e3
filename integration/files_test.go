package integration_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// rosterOf reads a roster as another program would.
func rosterOf(r *rig, team string) store.Team {
	r.t.Helper()
	fs, err := claudefs.Open(r.path("base"), claudefs.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer fs.Close()
	t, err := fs.Roster().Get(r.t.Context(), team)
	if err != nil {
		r.t.Fatal(err)
	}
	return t
}

// boxOf reads a mailbox as another program would.
func boxOf(r *rig, team, owner string) []store.Message {
	r.t.Helper()
	fs, err := claudefs.Open(r.path("base"), claudefs.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer fs.Close()
	box, err := fs.Mail(nil).List(r.t.Context(), team, owner)
	if err != nil {
		r.t.Fatal(err)
	}
	return box
}

// putMail writes a message into a box as another program would, in any name.
func putMail(r *rig, team, from, to, text string) {
	r.t.Helper()
	fs, err := claudefs.Open(r.path("base"), claudefs.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer fs.Close()
	if _, err := fs.Mail(nil).Put(r.t.Context(), team, to, store.Message{From: from, Text: text, Timestamp: time.Now()}); err != nil {
		r.t.Fatal(err)
	}
}

// hostRecord is what a member's host wrote of itself.
func hostRecord(r *rig, team, name string) panes.HostRecord {
	r.t.Helper()
	var rec panes.HostRecord
	data, err := os.ReadFile(r.path("base", "leadlight", team, "hosts", name+".json"))
	if err == nil {
		err = json.Unmarshal(data, &rec)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return rec
}

// plant writes a file below the base directory.
func plant(r *rig, name string, data []byte) {
	r.t.Helper()
	path := r.path("base", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// sample reads a file of testdata.
func sample(r *rig, name string) []byte {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		r.t.Fatal(err)
	}
	return data
}

// tree is every file below dir with what it holds, links as links; one that goes meanwhile, such
// as a lock, is none.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		var data []byte
		if err == nil && d.Type().IsRegular() {
			data, err = os.ReadFile(p)
		}
		if err != nil && p != dir && errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if out[rel] = d.Type().String(); d.Type().IsRegular() {
			out[rel] += " " + string(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rewrite replaces text in a file of the base directory, as an editor would.
func rewrite(r *rig, name, old, new string) {
	r.t.Helper()
	data, err := os.ReadFile(r.path("base", name))
	if err != nil {
		r.t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		r.t.Fatalf("%s does not hold %s:\n%s", name, old, data)
	}
	if err := os.WriteFile(r.path("base", name), []byte(strings.Replace(string(data), old, new, 1)), 0o600); err != nil {
		r.t.Fatal(err)
	}
}
