package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The stand-in does to files what Claude Code does: it makes the folder
// <file>.lock, reads, writes the whole file, and removes the folder. It shares no
// code with the stores.

// Styles of writing of the stand-in.
const (
	truncating = "truncating" // in place, emptied first: 2.1.41, 2.1.112
	renaming   = "renaming"   // temporary file and rename: from 2.1.177
)

// underClaudesLock runs do while the folder <path>.lock is ours.
func underClaudesLock(path string, do func() error) error {
	lock := path + ".lock"
	for deadline := time.Now().Add(20 * time.Second); ; {
		err := os.Mkdir(lock, 0o755)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	err := do()
	return errors.Join(err, os.Remove(lock))
}

// rewrite changes a JSON file as the stand-in does.
func rewrite[T any](path, style string, change func(*T)) error {
	return underClaudesLock(path, func() error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var v T
		if err := json.Unmarshal(data, &v); err != nil {
			return fmt.Errorf("read %s under the lock: %w", path, err)
		}
		change(&v)
		if data, err = json.MarshalIndent(v, "", "  "); err != nil {
			return err
		}
		if style == truncating {
			return os.WriteFile(path, data, 0o644)
		}
		temp := fmt.Sprintf("%s.tmp.%08x", path, os.Getpid())
		if err := os.WriteFile(temp, data, 0o644); err != nil {
			return err
		}
		return os.Rename(temp, path)
	})
}

type letters = []map[string]any

// standInBox marks the messages of the box args[0] as read, again and again, in
// the style args[1], until its input ends. It says how often.
func (a actor) standInBox() error {
	n := 0
	for end := a.curtain(); ; n++ {
		select {
		case <-end:
			a.say("%d", n)
			return nil
		case <-time.After(3 * time.Millisecond): // the client's turns are a second apart
		}
		err := rewrite(a.args[0], a.args[1], func(box *letters) {
			for _, m := range *box {
				m["read"] = true
			}
		})
		if err != nil {
			return err
		}
	}
}

// standInSend puts args[2] numbered messages from args[1] into the box args[0],
// in the style args[3].
func (a actor) standInSend() error {
	for i := range number(a.args[2]) {
		err := rewrite(a.args[0], a.args[3], func(box *letters) {
			*box = append(*box, map[string]any{
				"from": a.args[1], "text": fmt.Sprint(i), "timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "read": false,
			})
		})
		if err != nil {
			return err
		}
		a.say("%d", i)
	}
	return nil
}

// standInRoster counts up a field of the roster args[0], in the style args[1],
// until its input ends. It says the last number.
func (a actor) standInRoster() error {
	n := 0
	for end := a.curtain(); ; n++ {
		select {
		case <-end:
			a.say("%d", n)
			return nil
		case <-time.After(3 * time.Millisecond):
		}
		err := rewrite(a.args[0], a.args[1], func(t *map[string]any) { (*t)["counter"] = n + 1 })
		if err != nil {
			return err
		}
	}
}

// litterBelow lists temporary files and lock folders below a folder.
func litterBelow(dir string) []string {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err == nil && (filepath.Ext(name) == ".tmp" || filepath.Ext(name) == ".stale" || e.IsDir() && filepath.Ext(name) == ".lock") {
			found = append(found, path)
		}
		return nil
	})
	return found
}
