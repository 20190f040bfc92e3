package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestTranscriptIsCappedAndRotated(t *testing.T) {
	dir := t.TempDir()
	open, rename := transcriptFiles(dir)
	tr := NewTranscript(open, rename, "t", 2000)
	var all strings.Builder
	for i := range 500 {
		line := fmt.Sprintf("line %d\r\n", i)
		all.WriteString(line)
		tr.Write([]byte(line))
	}
	tr.Write([]byte(strings.Repeat("z", 5000))) // one piece larger than everything
	all.WriteString(strings.Repeat("z", 5000))
	if err := tr.Err(); err != nil {
		t.Error(err)
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	var size int64
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		size += info.Size()
	}
	if size > 2000 || size < 1000 {
		t.Errorf("%d bytes are kept", size)
	}
	kept, err := ReadTranscript(open, "t", 0, false)
	if err != nil || !strings.HasSuffix(all.String(), string(kept)) || int64(len(kept)) != size {
		t.Errorf("kept %d bytes that are not the last ones (%v)", len(kept), err)
	}
	// A new host goes on where the old one stopped.
	tr = NewTranscript(open, rename, "t", 2000)
	tr.Write([]byte("next\n"))
	tr.Close()
	if kept, err := ReadTranscript(open, "t", 1, true); err != nil || !strings.HasSuffix(string(kept), "znext\n") {
		t.Errorf("%q, %v", kept, err)
	}
}

func TestReadTranscriptLines(t *testing.T) {
	dir := t.TempDir()
	open, rename := transcriptFiles(dir)
	if _, err := ReadTranscript(open, "none", 5, true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	tr := NewTranscript(open, rename, "t", 60)
	tr.Write([]byte("\x1b[31mone\x1b[0m\r\n50%\r100%\r\nthree\r\n"))
	tr.Write([]byte("four\r\nfive"))
	tr.Close()
	for _, tc := range []struct {
		lines int
		plain bool
		want  string
	}{
		{2, true, "four\nfive"}, {4, true, "100%\nthree\nfour\nfive"}, {0, true, "one\n100%\nthree\nfour\nfive"},
		{1, false, "five"}, {99, false, "\x1b[31mone\x1b[0m\r\n50%\r100%\r\nthree\r\nfour\r\nfive"},
	} {
		if got, err := ReadTranscript(open, "t", tc.lines, tc.plain); err != nil || string(got) != tc.want {
			t.Errorf("%d lines: %q, %v", tc.lines, got, err)
		}
	}
	long := NewTranscript(open, rename, "long", 1<<30)
	for i := range 80 {
		fmt.Fprintf(long, "\x1b[1m%d\x1b[0m%s\r\n", i, strings.Repeat("x", 40<<10))
		if i > 40 {
			fmt.Fprintf(long, "%d\n", i)
		}
	}
	for i := range 500 {
		fmt.Fprintf(long, "\x1b[2mline %d\x1b[0m\r\n", i)
	}
	long.Close()
	all, err := ReadTranscript(open, "long", 0, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 3, 399, 400, 500, 510, 5000} { // in the last part of the file, and beyond it
		if got, err := ReadTranscript(open, "long", n, true); err != nil || !bytes.Equal(got, lastLines(all, n)) {
			t.Errorf("the last %d lines of a long one: %d bytes, %v", n, len(got), err)
		}
	}
	bytesOf := func(n int) (read uint64) {
		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		_, _ = ReadTranscript(open, "long", n, true)
		runtime.ReadMemStats(&is)
		return is.TotalAlloc - was.TotalAlloc
	}
	if few, whole := bytesOf(3), bytesOf(5000); few > whole/3 {
		t.Errorf("3 lines of a long transcript took %d bytes of memory, all of it %d", few, whole)
	}
}

func TestFollowTranscript(t *testing.T) {
	open, rename := transcriptFiles(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	var got safeBuffer
	done := make(chan error, 1)
	go func() { done <- FollowTranscript(ctx, open, "t", 10, &got) }()
	tr := NewTranscript(open, rename, "t", 400)
	var want strings.Builder
	for i := range 100 { // through many rotations
		line := fmt.Sprintf("line %d", i)
		want.WriteString(line + "\n")
		tr.Write([]byte("\x1b[1m" + line + "\x1b[0m\r\n"))
		eventually(t, line, func() bool { return i%12 != 0 || strings.HasSuffix(got.String(), line+"\n") })
	}
	eventually(t, "the last line", func() bool { return got.String() == want.String() })
	tr.Write([]byte("begun"))
	tr.Close()
	eventually(t, "the line begun", func() bool {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return true
		default:
			return false
		}
	})
	if got := got.String(); got != want.String() && got != want.String()+"begun" {
		t.Errorf("%q", got)
	}
}

// Two rotations between two looks lose nothing.
func TestFollowerFindsTheFileBetween(t *testing.T) {
	open, rename := transcriptFiles(t.TempDir())
	tr := NewTranscript(open, rename, "t", 20) // ten bytes a file
	defer tr.Close()
	var got safeBuffer
	f := follower{open: open, name: "t", to: &got}
	defer func() { f.file.Close() }()
	for _, piece := range []string{"0123", "456789abcdefghijXY", "Z"} {
		tr.Write([]byte(piece))
		if err := f.step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.put(nil, true); err != nil { // the line that was begun
		t.Fatal(err)
	}
	if got.String() != "0123456789abcdefghijXYZ" {
		t.Errorf("%q", got.String())
	}
}

// A full disk costs the transcript, never the program, and is told.
func TestTranscriptOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	full.Close()
	open := func(string, int) (*os.File, error) { return os.OpenFile("/dev/full", os.O_WRONLY, 0) }
	h := newHost(t, Options{Transcript: NewTranscript(open, func(_, _ string) error { return nil }, "t", 1<<20)})
	exit, err := h.Run(limited(t), shell("echo one; echo two; exit 4"))
	if err != nil || exit.Code != 4 || h.Tail(0) != "one\ntwo\n" {
		t.Errorf("%+v, %v, %q", exit, err, h.Tail(0))
	}
	if why := h.Status().Transcript; !strings.Contains(why, syscall.ENOSPC.Error()) {
		t.Errorf("it says %q", why)
	}
}

func TestTranscriptRecovers(t *testing.T) {
	dir := t.TempDir()
	open, rename := transcriptFiles(filepath.Join(dir, "sub"))
	tr := NewTranscript(open, rename, "t", 1<<20)
	defer tr.Close()
	tr.Write([]byte("lost\n"))
	if err := tr.Err(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is written again", func() bool {
		tr.Write([]byte("kept\n"))
		got, err := ReadTranscript(open, "t", 0, true)
		return err == nil && string(got) == "kept\n"
	})
	if err := tr.Err(); err == nil {
		t.Error("the failure is forgotten")
	}
}

func TestHostKeepsWhatItShows(t *testing.T) {
	open, rename := transcriptFiles(t.TempDir())
	h := newHost(t, Options{Transcript: NewTranscript(open, rename, "t", 1<<20)})
	h.Write([]byte("starting\n"))
	c := shell("printf 'job\\nline\\n'")
	c.Pipes = true
	for _, c := range []Command{shell("echo hello"), c} {
		if _, err := h.Run(limited(t), c); err != nil {
			t.Fatal(err)
		}
	}
	h.Close()
	got, err := ReadTranscript(open, "t", 0, false)
	if want := "starting\r\nhello\r\njob\r\nline\r\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
}
