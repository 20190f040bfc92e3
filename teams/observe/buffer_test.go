package observe

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

func TestO05_Buffer(t *testing.T) {
	start := time.Unix(1000, 0)
	a := ToolUse{ToolName: "TaskCreate", ToolUseID: "a", Input: json.RawMessage(`{"subject":"one"}`)}
	newer := ToolUse{ToolName: "TaskCreate", ToolUseID: "a", Input: json.RawMessage(`{"subject":"two"}`)}

	t.Run("correlate", func(t *testing.T) {
		b := new(Buffer)
		b.Use(a, start)
		c, ok := b.Result(Result{ToolUseID: "a", Text: "done"})
		if !ok || c.ToolName != "TaskCreate" || c.Result.Text != "done" || b.Pending() != 0 {
			t.Errorf("%+v %v, %d pending", c, ok, b.Pending())
		}
		if _, ok := b.Result(Result{ToolUseID: "a"}); ok {
			t.Error("answered twice")
		}
	})
	t.Run("unknown", func(t *testing.T) {
		if _, ok := new(Buffer).Result(Result{ToolUseID: "a"}); ok {
			t.Error("a result without a use")
		}
	})
	t.Run("error is flagged and clears", func(t *testing.T) {
		b := new(Buffer)
		b.Use(a, start)
		if c, ok := b.Result(Result{ToolUseID: "a", IsError: true}); !ok || !c.Result.IsError || b.Pending() != 0 {
			t.Errorf("%+v %v", c, ok)
		}
	})
	t.Run("duplicate overwrites", func(t *testing.T) {
		b := new(Buffer)
		b.Use(a, start)
		b.Use(newer, start)
		if b.Pending() != 1 {
			t.Errorf("%d pending", b.Pending())
		}
		if c, _ := b.Result(Result{ToolUseID: "a"}); string(c.Input) != `{"subject":"two"}` {
			t.Errorf("input %s", c.Input)
		}
	})
	t.Run("flush by age", func(t *testing.T) {
		b := new(Buffer)
		b.Use(a, start)
		b.Use(ToolUse{ToolUseID: "b"}, start.Add(20*time.Second))
		if n := b.Flush(start.Add(30 * time.Second)); n != 0 || b.Pending() != 2 {
			t.Errorf("at 30 s: %d flushed, %d pending", n, b.Pending())
		}
		if n := b.Flush(start.Add(31 * time.Second)); n != 1 || b.Pending() != 1 {
			t.Errorf("at 31 s: %d flushed, %d pending", n, b.Pending())
		}
	})
	t.Run("bounded", func(t *testing.T) {
		b := new(Buffer)
		dropped := 0
		for i := range maxOpen + 5 {
			dropped += b.Use(ToolUse{ToolUseID: fmt.Sprint(i)}, start)
		}
		if dropped != 5 || b.Pending() != maxOpen {
			t.Errorf("%d dropped, %d pending", dropped, b.Pending())
		}
		big := make(json.RawMessage, maxInputs/2+1)
		b = new(Buffer)
		b.Use(ToolUse{ToolUseID: "a", Input: big}, start)
		if b.Use(ToolUse{ToolUseID: "b", Input: big}, start) != 1 || b.Pending() != 1 {
			t.Error("inputs are not bounded")
		}
	})
}

func TestO05_LateResult(t *testing.T) {
	w := seen(use("tu_1", "TeamCreate", object{"team_name": "a"}))
	w.now = w.now.Add(31 * time.Second)
	w.feed(result("tu_1", "", object{"team_name": "a"}))
	w.is(t, "none")
	w.warned(t, "no result within 30s")
	if s := w.Stats(); s.Expired != 1 {
		t.Errorf("stats %+v", s)
	}
}

// With many open uses the scan no longer looks for each id.
func TestO05_ManyOpen(t *testing.T) {
	w := seen(create("tu_c", "a")...)
	for i := range 20 {
		w.feed(use(fmt.Sprintf("tu_%d", i), "TaskCreate", object{"subject": "s"}))
	}
	for i := range 20 {
		w.feed(result(fmt.Sprintf("tu_%d", i), fmt.Sprintf("Task #%d created", i+1), nil))
	}
	if n := len(w.state.Team.Tasks); n != 20 || w.open.Pending() != 0 {
		t.Errorf("%d tasks, %d pending", n, w.open.Pending())
	}
	w.feed(use(`odd "id"`, "TaskCreate", object{"subject": "s"}), result(`odd "id"`, "Task #21 created", nil))
	if n := len(w.state.Team.Tasks); n != 21 {
		t.Errorf("id with escapes: %d tasks", n)
	}
}
