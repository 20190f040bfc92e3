package observe_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/observe"
)

const stream = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"TeamCreate","input":{"team_name":"review"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"{\"team_name\":\"review\"}"}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t2","name":"TaskCreate","input":{"subject":"Read it"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"Task #1 created successfully: Read it"}]}}
`

// What the command line does: a file (or "-"), perhaps followed, a state file
// perhaps, and one kind of output.
func ExampleRun() {
	err := observe.Run(context.Background(), observe.Options{
		In:   strings.NewReader(stream), // or File: "stream.jsonl", Follow: true
		Out:  os.Stdout,
		Warn: os.Stderr,
		Emit: observe.EmitState, // StateFile: "state.json" to go on from there next time
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"name":"review","role":"lead","members":[],"tasks":[],"agents":[]}
	// {"name":"review","role":"lead","members":[],"tasks":[{"id":"1","subject":"Read it","status":"pending","blockedBy":[],"blocks":[]}],"agents":[]}
}

func ExampleNewObserver() {
	o := observe.NewObserver(strings.NewReader(stream), observe.State{})
	for event, err := range o.Events(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e, ok := event.(*events.Task); ok {
			fmt.Println(o.TeamName(), e.Kind(), e.Task.Subject)
		}
	}
	// Output: review task_created Read it
}
