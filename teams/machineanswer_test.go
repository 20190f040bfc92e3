package teams_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
)

// ordered lets a machine carry out what another one asks, as it comes over the wire.
func ordered(ctx context.Context, s *teams.Service, verb, params string) error {
	_, err := s.Answer(ctx, teams.Asked{Verb: verb, Params: json.RawMessage(params), Tell: func(any) error { return nil }})
	return err
}

// TestAnswerKeepsTheRules: what a teammate may not do here it may not do from another
// machine, and what cannot be read is refused.
func TestAnswerKeepsTheRules(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("bob"), running("ann"))
	for _, c := range []struct {
		verb, params string
		code         fault.Code
	}{
		{"stop", `{"team":"alpha","caller":{"name":"bob","teammate":true},"names":["ann"],"stop":{"Force":true}}`, fault.NotLead},
		{"spawn", `{"team":"alpha","caller":{"name":"bob","teammate":true},"specs":[{"Name":"eve"}],"runs":{"1":"rm -rf x"}}`, fault.NotLead},
		{"restart", `{"team":"alpha","caller":{"name":"bob","teammate":true},"names":["ann"]}`, fault.NotLead},
		{"press keys", `{"team":"alpha","caller":{"name":"bob","teammate":true},"names":["ann"],"keys":["x"]}`, fault.NotLead},
		{"stop", `{"team":"alpha","names":["ann"],"stop":{}}`, fault.InvalidName},
		{"stop", `{"team":"alpha","caller":{"name":"a\nb"},"names":["ann"],"stop":{}}`, fault.InvalidName},
		{"stop", `{"team":"alpha","caller":{"name":"team-lead"}}`, fault.InvalidArgument},
		{"restart", `{"team":"alpha","caller":{"name":"team-lead"},"names":["ann","bob"]}`, fault.InvalidArgument},
		{"spawn", `{"team":"../alpha","caller":{"name":"team-lead"},"specs":[{"Name":"eve"}],"runs":{"1":"x"}}`, fault.InvalidName},
		{"spawn", `{"team":"other","caller":{"name":"team-lead"},"specs":[{"Name":"eve"}],"runs":{"1":"x"}}`, fault.TeamNotFound},
		{"stop", `{"team":"alpha","caller":{"name":"team-lead"},"who":["ann"]}`, fault.InvalidArgument},
		{"stop", `{`, fault.InvalidArgument},
		{"show a pane", `{"team":"alpha","caller":{"name":"team-lead"},"names":["ann"]}`, fault.InvalidArgument}, // to whom?
		{"dance", `{}`, fault.Unsupported},
	} {
		wantCode(t, ordered(t.Context(), d.as(""), c.verb, c.params), c.code)
	}
}

// FuzzOrder: whatever another machine asks, a team that is not there stays so, and nothing
// breaks.
func FuzzOrder(f *testing.F) {
	for _, seed := range []string{
		"", "{", "[]", "null", `{"team":"alpha"}`, `{"team":"../x","names":["a"]}`, `{"team":"alpha","caller":{"name":"team-lead"},"names":["ann"],"stop":{"Ask":-1}}`,
		`{"team":"alpha","specs":[{"Name":"eve","Command":["x"],"Worktree":""}],"profiles":{"x":{"Kind":"worker"}},"runs":{"1":"x"}}`,
	} {
		f.Add("stop", seed)
		f.Add("spawn", seed)
		f.Add("observe", seed)
		f.Add("print logs", seed)
		f.Add("show a pane", seed)
	}
	f.Fuzz(func(t *testing.T, verb, params string) {
		d := newDesk(t)
		if err := ordered(t.Context(), d.as(""), verb, params); err == nil && verb != "look for room" { // of which nothing comes
			t.Errorf("%s %q was done to a team that is not there", verb, params)
		}
	})
}
