package teams

import (
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestNextTry: the pauses double up to a minute, the sixth loss in a row is left alone,
// ten minutes of running clear the count, and a clock that is set back delays nobody.
func TestNextTry(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, test := range []struct {
		name string
		lost time.Time
		last *store.Replaced
		due  bool
		next store.Replaced // where it is due
	}{
		{"the first, too early", ago(replaceFirst / 2), nil, false, store.Replaced{}},
		{"the first", ago(replaceFirst), nil, true, store.Replaced{Times: 1, At: now}},
		{"the third, too early", ago(0), &store.Replaced{Times: 2, At: ago(3 * time.Second)}, false, store.Replaced{}},
		{"the third", ago(0), &store.Replaced{Times: 2, At: ago(4 * time.Second)}, true, store.Replaced{Times: 3, At: now}},
		{"the fifth", ago(0), &store.Replaced{Times: 4, At: ago(16 * time.Second)}, true, store.Replaced{Times: 5, At: now}},
		{"the sixth", ago(0), &store.Replaced{Times: 5, At: ago(32 * time.Second)}, true, store.Replaced{Times: 5, At: ago(32 * time.Second), GivenUp: true}},
		{"after it ran long", ago(time.Second), &store.Replaced{Times: 5, At: ago(replaceCalm + 2*time.Second)}, true, store.Replaced{Times: 1, At: now}},
		{"after the clock was set back", ago(-time.Hour), &store.Replaced{Times: 1, At: ago(-time.Hour)}, true, store.Replaced{Times: 2, At: now}},
	} {
		next, due := nextTry(&store.Bookkeeping{StoppedAt: &test.lost, Replaced: test.last}, now)
		if due != test.due || (due && next != test.next) {
			t.Errorf("%s: due %v, then %+v; want %v, %+v", test.name, due, next, test.due, test.next)
		}
	}
}
