package interop_test

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestMixedTeam lets Claude Code, an agent at a prompt and two shell workers finish
// tasks that wait for each other, and shut down clean.
func TestMixedTeam(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.stub("look", reviewer)
		r.write("home/leadlight/config.yaml", "profiles: {look: {kind: interactive, command: [look], ready: '^› ', quit: /quit}}\n")
		r.play("begin", update("1", "in_progress"), update("1", "completed"), text("The plan is made."))
		r.must("leadlight", "team", "create", "alpha", "--description", "for a test")
		for _, w := range []string{"w1", "w2"} {
			r.must("leadlight", "spawn", w, "--kind", "worker", "--", "sh", "-c", "echo done by "+w)
		}
		r.must("leadlight", "spawn", "lou", "--agent", "look")
		r.must("leadlight", "spawn", "amy", "--model", "haiku")
		r.must("leadlight", "task", "add", "plan", "--owner", "amy")
		r.must("leadlight", "task", "add", "left", "--owner", "w1", "--blocked-by", "1")
		r.must("leadlight", "task", "add", "right", "--owner", "w2", "--blocked-by", "1")
		r.must("leadlight", "task", "add", "review", "--owner", "lou", "--blocked-by", "2,3")
		r.must("leadlight", "send", "amy", "PLAY:begin")

		finished := func(n int) func() bool {
			return func() bool {
				done := 0
				for _, task := range into[[]api.Task](r, "task", "ls", "--json") {
					if task.Status == "completed" {
						done++
					}
				}
				return done == n
			}
		}
		r.eventually("amy and the workers have done their tasks", finished(3))
		r.must("leadlight", "send", "lou", "review it")
		r.eventually("all tasks are done", finished(4))
		r.goesDown("alpha", 4)
	})
}

// reviewer is an agent at a prompt that does the last task when it is told to.
const reviewer = `printf '› '
while read -r line; do
	case "$line" in
	/quit) exit ;;
	*"review it") leadlight task claim 4 && leadlight task done 4 --result good ;;
	esac
	printf '› '
done`
