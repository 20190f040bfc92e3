package jetstream

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTheNewestWritesAreKept: an entry carries the ids of so many writes, its own last.
func TestTheNewestWritesAreKept(t *testing.T) {
	t.Parallel()
	var x entry
	var all []string
	for i := range 2 * keptWrites {
		w := write{id: "w" + strconv.Itoa(i) + claims, cas: true, rev: 7, was: over(&x).was, mark: mark{team: "t", over: 7, deleted: true}}
		all = append(all, w.id)
		x = entry{}
		x.read(w.header())
		want := strings.Join(all[max(0, len(all)-keptWrites):], " ")
		if x.ids != want || x.mark != w.mark {
			t.Errorf("write %d: %q, %+v; want %q, %+v", i, x.ids, x.mark, want, w.mark)
		}
	}
}

func TestOneIsTakenOutOfAList(t *testing.T) {
	t.Parallel()
	for at := range 5 {
		var list []*node
		for i := range 5 {
			list = append(list, &node{num: int64(i)})
		}
		want := slices.Delete(slices.Clone(list), at, at+1)
		if got := without(list, at); !slices.Equal(got, want) {
			t.Errorf("without number %d: %v", at, got)
		}
	}
}

// TestAnAnswerIsReadAsTheEngineWritesIt: any other is read as JSON.
func TestAnAnswerIsReadAsTheEngineWritesIt(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]uint64{
		`{"stream":"KV_x","seq":42}`:                                      42,
		`{"stream":"KV_x","domain":"hub","seq":42}`:                       0,
		`{"stream":"KV_x","seq":42,"duplicate":true}`:                     0,
		`{"error":{"code":503,"err_code":1},"stream":"KV_x","seq":42}`:    0,
		`{"stream":"KV_x","error":{"code":400,"err_code":10071},"seq":0}`: 0,
		`{"stream":"KV_x","seq":`:                                         0,
		`+OK`:                                                             0,
		``:                                                                0,
	} {
		if got := ackOf([]byte(answer)); got != want {
			t.Errorf("%s: %d, want %d", answer, got, want)
		}
	}
}
