package runs

import (
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// transitions says which status may follow which. What has no row is final.
type transitions map[string][]string

// runTransitions: pause lets running work end, so a paused run is never completed.
func runTransitions() transitions {
	return transitions{
		api.RunPending: {api.RunRunning, api.RunPaused, api.RunFailed, api.RunCancelled},
		api.RunRunning: {api.RunPaused, api.RunCompleted, api.RunFailed, api.RunCancelled},
		api.RunPaused:  {api.RunPending, api.RunRunning, api.RunFailed, api.RunCancelled},
	}
}

// itemTransitions: a failed item can be tried again, a done one is done.
func itemTransitions() transitions {
	return transitions{
		api.ItemTodo:       {api.ItemInProgress, api.ItemBlocked, api.ItemDone, api.ItemFailed},
		api.ItemInProgress: {api.ItemTodo, api.ItemBlocked, api.ItemDone, api.ItemFailed},
		api.ItemBlocked:    {api.ItemTodo, api.ItemInProgress, api.ItemDone, api.ItemFailed},
		api.ItemFailed:     {api.ItemTodo},
	}
}

func runStatuses() []string {
	return []string{api.RunPending, api.RunRunning, api.RunPaused, api.RunCompleted, api.RunFailed, api.RunCancelled}
}

func itemStatuses() []string {
	return []string{api.ItemTodo, api.ItemInProgress, api.ItemBlocked, api.ItemDone, api.ItemFailed}
}

// check refuses a step that is not in the table.
func (t transitions) check(what, from, to string, known []string) error {
	switch {
	case !slices.Contains(known, to):
		return fault.New(fault.InvalidArgument, "%q is not a status of %s", clip(to), what).WithHint("the statuses are: %s", strings.Join(known, ", "))
	case slices.Contains(t[from], to):
		return nil
	case len(t[from]) == 0:
		return fault.New(fault.Rejected, "%s is %s, and that is final", what, from)
	}
	return fault.New(fault.Rejected, "%s is %s, and cannot become %s", what, from, to).WithHint("from %s it can become: %s", from, strings.Join(t[from], ", "))
}
