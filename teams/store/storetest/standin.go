package storetest

import (
	"bytes"
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
	for deadline := time.Now().Add(time.Minute); ; {
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

// rewrite changes a file as the stand-in does. It works on the text, so that it
// holds the lock no longer than the client would.
func rewrite(path, style string, change func(text []byte) []byte) error {
	return underClaudesLock(path, func() error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if len(data) == 0 || data[len(data)-1] != ']' && data[len(data)-1] != '}' {
			return fmt.Errorf("%s is torn under the lock: it ends in %.40q", path, data[max(0, len(data)-40):])
		}
		data = change(data)
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

// turn is the pause between two rewrites of a stand-in. The client's turns are a
// second apart.
const turn = 10 * time.Millisecond

// repeat runs do again and again until the child's input ends, and says how
// often.
func (a actor) repeat(do func(n int) error) error {
	n := 0
	for end := a.curtain(); ; n++ {
		select {
		case <-end:
			a.say("%d", n)
			return nil
		case <-time.After(turn):
		}
		if err := do(n); err != nil {
			return err
		}
	}
}

// standInBox treats the box args[0] by turns as an older client does, which marks
// messages as read, and as a newer one, which takes them out. It says what it took.
func (a actor) standInBox() error {
	return a.repeat(func(n int) error {
		if n%2 == 0 {
			return rewrite(a.args[0], truncating, func(text []byte) []byte {
				return bytes.ReplaceAll(text, []byte(`"read": false`), []byte(`"read": true`))
			})
		}
		var taken []byte
		err := rewrite(a.args[0], renaming, func(text []byte) []byte {
			taken = text
			return []byte("[]")
		})
		if err != nil {
			return err
		}
		var box []struct{ From, Text string }
		if err := json.Unmarshal(taken, &box); err != nil {
			return err
		}
		for _, m := range box {
			a.say("took %s %s", m.From, m.Text)
		}
		return nil
	})
}

// standInSend puts args[2] numbered messages from args[1] into the box args[0],
// in the style args[3].
func (a actor) standInSend() error {
	for i := range number(a.args[2]) {
		entry := fmt.Sprintf("{\n    \"from\": %q,\n    \"text\": \"%d\",\n    \"timestamp\": %q,\n    \"read\": false\n  }\n]",
			a.args[1], i, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
		err := rewrite(a.args[0], a.args[3], func(text []byte) []byte {
			if string(text) == "[]" {
				return []byte("[\n  " + entry)
			}
			return append(bytes.TrimRight(text[:len(text)-1], "\n"), ",\n  "+entry...)
		})
		if err != nil {
			return err
		}
		a.say("%d", i)
	}
	return nil
}

// standInRoster counts up the field "counter" of the roster args[0], in the style
// args[1].
func (a actor) standInRoster() error {
	return a.repeat(func(n int) error {
		return rewrite(a.args[0], a.args[1], func(text []byte) []byte {
			field := func(n int) []byte { return fmt.Appendf(nil, `"counter": %d,`, n) }
			if n == 0 {
				return append(append([]byte("{\n  "), field(1)...), text[1:]...)
			}
			return bytes.Replace(text, field(n), field(n+1), 1)
		})
	})
}

// orphansBelow lists temporary files and lock folders below a folder.
func orphansBelow(dir string) []string {
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
