package files

import (
	"slices"
	"testing"
	"time"
)

func TestA17_PollingBacksOff(t *testing.T) {
	var pauses []int
	pause := firstPoll
	for range 8 {
		pauses = append(pauses, int(pause/time.Second))
		pause = backOff(pause, false)
	}
	if want := []int{1, 2, 4, 8, 16, 32, 60, 60}; !slices.Equal(pauses, want) {
		t.Errorf("%v, want %v", pauses, want)
	}
	if pause = backOff(pause, true); pause != firstPoll {
		t.Errorf("after a change: %s", pause)
	}
	if trusted, not := (&subscription{}), (&subscription{distrust: true}); trusted.pause(firstPoll) != lastPoll || not.pause(firstPoll) != firstPoll {
		t.Error("where events come a poll a minute is enough; else they are all there is")
	}
}
