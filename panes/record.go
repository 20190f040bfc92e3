package panes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/signals"
)

// recordVersion is the version of both records that this program writes.
const recordVersion = 1

// LaunchRecord tells a host what to run. It holds no values of variables: they
// come in EnvFile, which the host deletes when it has read it.
type LaunchRecord struct {
	Version  int      `json:"version"`
	Host     string   `json:"host"` // id of the host that is to run it
	Team     string   `json:"team"`
	Agent    string   `json:"agent"`
	Kind     string   `json:"kind"`
	Profile  string   `json:"profile"`
	Argv     []string `json:"argv,omitempty"`
	Run      string   `json:"run,omitempty"`     // worker: the line for tasks that bring none
	RunTask  bool     `json:"runTask,omitempty"` // worker: obeys metadata.run of any task
	Dir      string   `json:"dir"`
	EnvNames []string `json:"envNames"` // for people; the values are elsewhere
	EnvFile  string   `json:"envFile"`
	Socket   string   `json:"socket"` // the host's control socket
	Backend  string   `json:"backend"`
	Terminal string   `json:"terminal,omitempty"` // the terminal's own socket
	Beside   *Beside  `json:"beside,omitempty"`   // nil: the lead was in no pane of it
	LedByUs  bool     `json:"ledByUs"`
	// ForeignPane is the pane, as the roster names it, of a member whose pane and entry another
	// lead made and takes away: the host changes neither.
	ForeignPane string `json:"foreignPane,omitempty"`

	PromptProtocol *profiles.PromptProtocol `json:"promptProtocol,omitempty"` // interactive: how it is spoken to
	Restart        string                   `json:"restart,omitempty"`        // "on-failure": the host starts the agent again
	Resume         []string                 `json:"resume,omitempty"`         // its argv then; empty: Argv
	GoOn           bool                     `json:"goOn,omitempty"`           // its first start is Resume already
	Plan           bool                     `json:"plan,omitempty"`           // must have a plan approved first

	// What it was made from, for a restart. Origin is the profile as it was, which may have
	// stood in a team file; of its variables it holds the names only.
	Origin   *profiles.Profile `json:"origin,omitempty"`
	Given    []string          `json:"given,omitempty"`    // the command that came with the spawn
	Session  string            `json:"session,omitempty"`  // id of the conversation that began
	Mode     string            `json:"mode,omitempty"`     // permission mode
	Settings string            `json:"settings,omitempty"` // file with more settings, for a native agent
	Asked    []string          `json:"asked,omitempty"`    // names of the variables that came with the spawn
	Layout   Layout            `json:"layout,omitzero"`

	Color      string    `json:"color,omitempty"`
	LaunchedAt time.Time `json:"launchedAt"`
	Deadline   time.Time `json:"deadline"` // until then a host that has not come is not lost
}

// CanResume tells whether the agent can go on with a conversation that is known to be its
// own.
func (l LaunchRecord) CanResume() bool { return len(l.Resume) > 0 && l.Session != profiles.NoSession }

// WithSession is the record for another conversation.
func (l LaunchRecord) WithSession(id string) LaunchRecord {
	change := func(argv []string) []string {
		out := slices.Clone(argv)
		for i := range out {
			out[i] = strings.ReplaceAll(out[i], l.Session, id)
		}
		return out
	}
	if l.Session != "" {
		l.Argv, l.Resume, l.Session = change(l.Argv), change(l.Resume), id
	}
	return l
}

// HostRecord is what a host writes of itself: who it is, and in the end how its
// agent ended.
type HostRecord struct {
	Version   int              `json:"version"`
	Host      string           `json:"host"`
	Process   signals.Identity `json:"process"`
	Socket    string           `json:"socket"`
	Pane      string           `json:"pane,omitempty"`
	StartedAt time.Time        `json:"startedAt"`
	Ended     *ExitRecord      `json:"ended,omitempty"`
}

// ExitRecord is how an agent ended.
type ExitRecord struct {
	State     string    `json:"state"` // stopped or failed
	ExitCode  *int      `json:"exitCode,omitempty"`
	Signal    string    `json:"signal,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Code      string    `json:"code,omitempty"` // error code, when the agent could not be started
	Hint      string    `json:"hint,omitempty"` // the way out of that
	Tail      []string  `json:"tail,omitempty"` // its last lines
	Leftovers []string  `json:"leftovers,omitempty"`
	Untold    bool      `json:"untold,omitempty"` // whoever asked for the shutdown tells the lead
	At        time.Time `json:"at"`
}

// Records keeps the launch and host records of teams below one base directory.
type Records struct {
	dir     *files.Dir
	baseKey string // names the base directory in the paths of sockets
}

// NewRecords returns the records below dir, which is the base directory.
func NewRecords(dir *files.Dir) *Records { return &Records{dir: dir, baseKey: BaseKey(dir.Path())} }

// OwnPath is a path below the folder that leadlight keeps for a team.
func OwnPath(team string, elem ...string) string {
	return path.Join(append([]string{"leadlight", team}, elem...)...)
}

func launchPath(team, agent string) string { return OwnPath(team, "launch", agent+".json") }
func hostPath(team, agent string) string   { return OwnPath(team, "hosts", agent+".json") }

// TranscriptPath is where the output of a member is kept, below the base.
func TranscriptPath(team, agent string) string { return OwnPath(team, "transcripts", agent+".log") }

// HostLock is the name of the lock that a member's host holds all its life.
func HostLock(team, agent string) string { return OwnPath(team, "locks", "host-"+agent) }

// WriteLaunch stores the launch record of a member.
func (r *Records) WriteLaunch(ctx context.Context, l LaunchRecord) error {
	l.Version = recordVersion
	return write(ctx, launchPath(l.Team, l.Agent), l, r.dir.Write)
}

// writeLaunchSoon is WriteLaunch for one who calls SyncLaunches before it says that it is
// written: an agent's start does not wait for the disk.
func (r *Records) writeLaunchSoon(ctx context.Context, l LaunchRecord) error {
	l.Version = recordVersion
	return write(ctx, launchPath(l.Team, l.Agent), l, r.dir.WriteVolatile)
}

// syncLaunches makes the launch records of members of a team durable.
func (r *Records) syncLaunches(team string, agents []string) error {
	var names []string
	for _, agent := range agents {
		names = append(names, launchPath(team, agent))
	}
	return r.dir.SyncFiles(names)
}

// Launch returns the launch record of a member, or fs.ErrNotExist. One that no spawn of
// this member writes is fault.CorruptFile.
func (r *Records) Launch(ctx context.Context, team, agent string) (LaunchRecord, error) {
	return checked[LaunchRecord](ctx, r, launchPath(team, agent), team, agent)
}

// WriteHost stores the host record of a member.
func (r *Records) WriteHost(ctx context.Context, team, agent string, h HostRecord) error {
	h.Version = recordVersion
	if h.Ended != nil {
		return write(ctx, hostPath(team, agent), h, r.dir.Write)
	}
	// After a crash of the machine there is no host that it could speak of; and an
	// agent's start does not wait for the disk.
	return write(ctx, hostPath(team, agent), h, r.dir.WriteVolatile)
}

// Host returns the host record of a member, or fs.ErrNotExist. One that no host of this
// member writes is fault.CorruptFile.
func (r *Records) Host(ctx context.Context, team, agent string) (HostRecord, error) {
	return checked[HostRecord](ctx, r, hostPath(team, agent), team, agent)
}

func checked[T interface {
	check(baseKey, team, agent string) error
}](ctx context.Context, r *Records, name, team, agent string) (T, error) {
	v, err := read[T](ctx, r.dir, name)
	if err != nil {
		return v, err
	}
	if why := v.check(r.baseKey, team, agent); why != nil {
		return *new(T), damaged(name, why)
	}
	return v, nil
}

// members are those who have a record in a folder.
func (r *Records) members(folder string) (names []string, err error) {
	entries, err := r.dir.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names, err
}

// Forget removes both records of a member.
func (r *Records) Forget(team, agent string) error {
	var errs []error
	for _, p := range []string{launchPath(team, agent), hostPath(team, agent)} {
		if err := r.dir.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// write writes a record as by does: files.Dir.Write or WriteVolatile.
func write(ctx context.Context, name string, v any, by func(context.Context, string, []byte) error) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return by(ctx, name, append(data, '\n'))
}

func read[T any](ctx context.Context, dir *files.Dir, name string) (T, error) {
	var v T
	_, err := dir.ReadRetry(ctx, name, func(b []byte) error {
		v = *new(T)
		return json.Unmarshal(b, &v)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), files.Unreadable(err):
		return v, err
	case err != nil:
		return *new(T), damaged(name, err)
	}
	return v, nil
}

// trustedRuns holds the commands that came from a team file, by task.
func trustedRuns() Own[map[string]string] {
	return Own[map[string]string]{Name: "launch/.runs.json", Check: func(_ string, all map[string]string) error {
		for task, line := range all {
			if err := checkRun(task, line); err != nil {
				return err
			}
		}
		return nil
	}}
}

// TrustRun notes that the command of a task came from the team file. Anybody who
// can write a task can put a command into it; a worker obeys only those that are
// noted here, outside the task list.
func (r *Records) TrustRun(ctx context.Context, team, task, line string) error {
	if err := checkRun(task, line); err != nil {
		return fault.New(fault.InvalidArgument, "trust a command: %w", err)
	}
	return trustedRuns().Edit(ctx, r, team, "trust a command", func(all *map[string]string) (bool, error) {
		if *all == nil {
			*all = map[string]string{}
		}
		(*all)[task] = line
		return true, nil
	})
}

// TrustedRuns returns all that TrustRun has noted of a team, by task.
func (r *Records) TrustedRuns(ctx context.Context, team string) map[string]string {
	all, err := trustedRuns().Read(ctx, r, team)
	if err != nil {
		return nil // who cannot be read is not trusted
	}
	return all
}

// TrustedRun tells whether line is the command that the team file gave to a task.
func (r *Records) TrustedRun(ctx context.Context, team, task, line string) bool {
	return line != "" && r.TrustedRuns(ctx, team)[task] == line
}
