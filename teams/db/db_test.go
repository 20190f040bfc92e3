package db

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// TestVersions: steps are taken once, and a newer file is refused untouched.
func TestVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "x.db")
	one := Component{"c", []string{`CREATE TABLE a (x)`}}
	two := Component{"c", append(one.Steps, `CREATE TABLE b (x)`)}
	for _, c := range []Component{one, one, two} {
		d, err := Open(t.Context(), path, c)
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
	}
	before, err := os.ReadFile(path)
	if err = errors.Join(err, Check(t.Context(), path), Check(t.Context(), path+".none")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, one); fault.CodeOf(err) != fault.VersionTooNew {
		t.Errorf("%v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the newer file was touched: %v", err)
	}
	if left, err := filepath.Glob(path + "-*"); err != nil || len(left) > 0 {
		t.Errorf("who only looked left %v (%v)", left, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestDamaged(t *testing.T) {
	late := filepath.Join(t.TempDir(), "late.db")
	d, err := Open(t.Context(), late, Component{"c", []string{`CREATE TABLE a (x)`}})
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	pages, err := os.ReadFile(late)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(late, append(pages[:len(pages)-4096], bytes.Repeat([]byte("x"), 4096)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Check(t.Context(), late); fault.CodeOf(err) != fault.CorruptFile {
		t.Errorf("the last page is damaged: %v", err)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	junk := bytes.Repeat([]byte("no database "), 1000)
	if err := os.WriteFile(path, junk, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); fault.CodeOf(err) != fault.CorruptFile {
		t.Errorf("%v", err)
	}
	if err := Check(t.Context(), path); fault.CodeOf(err) != fault.CorruptFile {
		t.Errorf("%v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(junk, after) {
		t.Error("the damaged file was touched")
	}
}

// TestXH08_ALinkIsNoDatabase: the file that it leads to stays as it is.
func TestXH08_ALinkIsNoDatabase(t *testing.T) {
	dir := t.TempDir()
	path, precious := filepath.Join(dir, "x.db"), filepath.Join(dir, "precious")
	if err := errors.Join(os.WriteFile(precious, nil, 0o600), os.Symlink(precious, path)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); fault.CodeOf(err) != fault.CorruptFile {
		t.Errorf("%v", err)
	}
	if after, err := os.ReadFile(precious); err != nil || len(after) > 0 {
		t.Errorf("%d bytes were written: %v", len(after), err)
	}
}

// TestPowerCut: a commit is on disk before it returns. SQLite calls that synchronous
// 2; with less, the last commits of a write-ahead log can be lost.
func TestPowerCut(t *testing.T) {
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var mode string
	var level int
	err = errors.Join(d.QueryRow(`PRAGMA journal_mode`).Scan(&mode), d.QueryRow(`PRAGMA synchronous`).Scan(&level))
	if err != nil || mode != "wal" || level != 2 {
		t.Errorf("journal %s, synchronous %d: %v", mode, level, err)
	}
}

// TestXS44_DamagedWhileOpen: a file that gets damaged is named, with its code.
func TestXS44_DamagedWhileOpen(t *testing.T) {
	folder := t.TempDir()
	if _, err := Open(t.Context(), folder, Component{"c", nil}); fault.CodeOf(err) != fault.CorruptFile || !strings.Contains(err.Error(), folder+" is a folder") {
		t.Errorf("a folder: %v", err)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	one := Component{"c", []string{`CREATE TABLE a (x); WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO a SELECT randomblob(100) FROM n`}}
	d, err := Open(t.Context(), path, one)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Exec(`PRAGMA wal_checkpoint(truncate)`); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 8 << 10; i < len(data); i++ {
		data[i] = 'x'
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	d.SetMaxIdleConns(0) // a new connection, which has nothing in memory
	var n int
	err = d.QueryRow(`SELECT sum(length(x)) FROM a`).Scan(&n)
	if err == nil {
		t.Fatal("the damage is not seen")
	}
	if err = Explain(t.Context(), d, "read", err); fault.CodeOf(err) != fault.CorruptFile || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}

// coded is an error as SQLite has it.
type coded int

func (coded) Error() string { return "disk I/O error" }
func (c coded) Code() int   { return int(c) }

// TestXS44_TheFolderSaysWhy: SQLite calls what it cannot write an I/O error, for whatever reason.
func TestXS44_TheFolderSaysWhy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, says := range map[string]string{file: "a file stands where a folder belongs", filepath.Dir(file): ""} {
		const ioErrorSize = 4874
		if e := fault.Of(explain(filepath.Join(folder, "x.db"), coded(ioErrorSize))); !strings.Contains(e.Message, "disk I/O error") || !strings.Contains(e.Hint, says) {
			t.Errorf("%s: %v (%s)", folder, e, e.Hint)
		}
	}
}

// TestXS44_NoRoomIsNoDamage: nobody is told to move a good file away because what SQLite makes beside
// it, to read it, finds no room.
func TestXS44_NoRoomIsNoDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	for code, damage := range map[coded]bool{sqliteRead: true, sqliteShortRead: true, sqliteDamagedDisk: true, sqliteIO | 18<<8: false, sqliteIO | 19<<8: false} {
		if err := unread(path, code); (fault.CodeOf(err) == fault.CorruptFile) != damage {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// TestXS44_FullIsSaid: a database that finds no room is named, with the code of a full disk.
func TestXS44_FullIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	d, err := Open(t.Context(), path, Component{"c", []string{`CREATE TABLE a (x)`}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.SetMaxOpenConns(1) // the limit is a connection's
	if _, err := d.Exec(`PRAGMA max_page_count = 1`); err != nil {
		t.Fatal(err)
	}
	_, err = d.Exec(`INSERT INTO a VALUES (zeroblob(1 << 20))`)
	if err == nil {
		t.Fatal("there was room")
	}
	if err = Explain(t.Context(), d, "write", err); fault.CodeOf(err) != fault.DiskFull || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}
