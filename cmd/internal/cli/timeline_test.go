package cli

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

func TestTimeline(t *testing.T) {
	r := api.RunReport{
		Run: api.AgentTeamRun{ID: "0123456789", Status: api.RunRunning, StartedAt: 1000}, Team: api.AgentTeam{Name: "t\x1b<&"},
		Items: []api.AgentTeamItem{{SourceTaskID: "a", Title: "one <b>"}},
		Tasks: []api.RunTask{
			{ID: "a", Assignee: "ann", Status: api.ItemDone, StartedAt: 1000, CompletedAt: 6000},
			{ID: "b", Assignee: "bob", Status: api.ItemFailed, StartedAt: 6000, CompletedAt: 8000},
			{ID: "c", Assignee: "ann", Status: api.ItemInProgress, StartedAt: 9000},
			{ID: "d", Assignee: "bob", Status: api.ItemDone, StartedAt: 10900, CompletedAt: 10900},
		},
	}
	var b strings.Builder
	line := timelineOf(r, 11000)
	line.text(&b, 26, false)
	want := `t�<& 01234567: running, 10s
ann │██████████      ░░░░
bob │          ▒▒▒▒     █
    └────────────────────
     0                10s
█ done  ▒ failed  ░ under way
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	line.svg(&b)
	rects := 0
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v\n%s", err, b.String())
		}
		if start, ok := tok.(xml.StartElement); ok && start.Name.Local == "rect" {
			rects++
		}
	}
	if rects != 5 { // the ground, and a bar for each task
		t.Errorf("%d rectangles", rects)
	}
	timelineOf(api.RunReport{}, 0).text(io.Discard, 1, false) // a run of nothing
}
