package tmuxshim

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/signals"
)

// Limits of single steps.
const (
	lockLimit  = 30 * time.Second // somebody else opens panes
	startLimit = 20 * time.Second // a host has to answer
	askLimit   = 2 * time.Second  // a host that runs has to answer
	endLimit   = 20 * time.Second // all that a pane has started has to end
)

// base is in the mark of every pane here, in the place of a base directory: no team's.
const base = "tmux-shim"

// lockName is a name that goes when the run folder is tidied up.
const lockName = "terminal-shim"

// Keeper keeps what servers remember, and reaches their panes.
type Keeper struct {
	Runtime    string   // the run folder
	Executable string   // this program
	Environ    []string // of the caller; programs get it, less what describes a terminal
	Terminal   *os.File // of the caller; nil: there is none
	// Choose returns the backend of new panes.
	Choose func(context.Context) (panes.Choice, error)
	// Open returns the backend of a pane that is there.
	Open func(kind, terminal string) (backend.Backend, error)
}

// Folder is where everything about the servers lies, in a run folder.
func Folder(runtime string) string { return filepath.Join(runtime, "shim") }

func (k Keeper) file(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(Folder(k.Runtime), "server-"+hex.EncodeToString(sum[:8])+".json")
}

func (k Keeper) socket(hostID string) string {
	return filepath.Join(Folder(k.Runtime), hostID+".sock")
}

// with carries out a call on a server, one caller after the other.
func (k Keeper) with(ctx context.Context, name string, c call) (out string, err error) {
	s, err := k.change(ctx, name, func(s *server) error {
		if len(s.Panes) == 0 && !c.verb.makes {
			return refusal("no server running on " + name)
		}
		out, err = c.verb.run(ctx, s, c)
		return err
	})
	if s != nil {
		if err != nil { // what was started is not remembered
			s.ended = append(s.ended, s.started...)
		}
		for _, p := range s.ended {
			if endErr := k.end(ctx, p); endErr != nil {
				err = errors.Join(err, endErr)
			}
		}
		if len(s.Panes) == 0 {
			k.tidy(ctx)
		}
		if s.viewed != nil {
			_, err = host.Dial(k.socket(s.viewed.Host)).Attach(ctx, host.AttachOptions{Terminal: k.Terminal})
		}
	}
	return out, err
}

// tidy removes what the run folder holds when nothing runs there any more.
func (k Keeper) tidy(ctx context.Context) {
	panes.NewManager(panes.Options{Runtime: k.Runtime}).TidyRun(ctx)
}

// left forgets the pane of a host that is about to go, with gone, which may be called
// twice. The host answers until the lock is ours: whoever started it holds the lock until
// it has answered, however soon its program has ended.
func (k Keeper) left(ctx context.Context, l Launch, gone func() error) error {
	_, err := k.change(ctx, l.Server, func(s *server) error {
		s.Panes = slices.DeleteFunc(s.Panes, func(p pane) bool { return p.Host == l.Host })
		_ = gone() // its socket goes before the folder; an error is told below
		return nil
	})
	err = errors.Join(err, gone())
	k.tidy(ctx)
	return err
}

// change loads a server without the panes whose hosts are gone, lets f change it, and
// keeps it, unless f fails.
func (k Keeper) change(ctx context.Context, name string, f func(*server) error) (*server, error) {
	if err := files.MakePrivate(k.Runtime); err != nil {
		return nil, err
	}
	release, err := lock.In(ctx, k.Runtime, lockName, "tmux-shim", lockLimit)
	if err != nil {
		return nil, err
	}
	defer release()
	s := &server{keeper: k, Name: name}
	data, err := files.ReadFile(k.file(name), 0)
	if err == nil {
		err = json.Unmarshal(data, s)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.CorruptFile, "read what the tmux server %s remembers: %w", name, err).WithHint("remove %s", k.file(name))
	}
	if s.broken() {
		return nil, fault.New(fault.CorruptFile, "%s does not hold what a tmux server remembers", k.file(name)).WithHint("remove it")
	}
	s.Panes = slices.DeleteFunc(s.Panes, k.gone)
	if len(s.Panes) == 0 { // as tmux does, with its last pane a server ends
		*s = server{keeper: k, Name: name}
	}
	if err := f(s); err != nil {
		return s, err
	}
	return s, k.keep(s)
}

// broken tells whether a file that was read cannot be one of ours.
func (s *server) broken() bool {
	return slices.ContainsFunc(s.Panes, func(p pane) bool { return p.Window < 0 || p.Window >= len(s.Windows) })
}

// gone tells whether the host of a pane is proved not to be there.
func (k Keeper) gone(p pane) bool {
	if p.Host == "" || p.Process.Probe() != signals.Gone {
		return false
	}
	_ = os.Remove(k.socket(p.Host)) // one that was killed has left it
	return true
}

// keep writes a server down, or forgets one without panes.
func (k Keeper) keep(s *server) error {
	file := k.file(s.Name)
	if len(s.Panes) == 0 {
		_ = os.Remove(file)
		_ = os.Remove(filepath.Dir(file)) // succeeds only when it is empty
		return nil
	}
	data, err := json.Marshal(s)
	if err == nil {
		err = files.ReplaceVolatile(file, data)
	}
	if err != nil {
		return fmt.Errorf("remember the panes of the tmux server %s: %w", s.Name, err)
	}
	return nil
}

// start opens a pane of the backend for a pane and waits until its host answers.
func (k Keeper) start(ctx context.Context, s *server, p *pane, words []string, dir string) error {
	choice, err := k.Choose(ctx)
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.Getwd(); err != nil {
			return fmt.Errorf("find the working folder: %w", err)
		}
	}
	started := *p
	started.Host, started.Kind, started.Terminal = rand.Text(), choice.Type, choice.Socket
	started.Mark = backend.Mark{Base: base, Team: s.Name, Agent: p.ID, Host: started.Host}
	l := Launch{Server: s.Name, Host: started.Host, Socket: k.socket(started.Host), Words: words, Dir: dir, Env: k.Environ, Kind: choice.Type, Terminal: choice.Socket}
	file, err := k.hand(l)
	if err != nil {
		return err
	}
	spec, arrange, err := k.place(ctx, choice, s.Name)
	if err == nil {
		spec.Argv, spec.Dir, spec.Mark, spec.Name = []string{k.Executable, "tmux-shim", HostWord, file}, dir, started.Mark, s.Session
		spec.Label = backend.Label{Name: labelled(*p), State: "", Color: p.Color}
		r := choice.Backend.Open(ctx, []backend.Spec{spec})[0]
		started.Pane, err = r.Pane.ID, r.Err
		if err == nil {
			arrange(r.Pane)
			started.Process, err = k.await(ctx, started)
		}
	}
	if err != nil {
		_ = os.Remove(file)
		if started.Pane != "" {
			_ = backend.CloseOne(context.WithoutCancel(ctx), choice.Backend, started.Pane, started.Mark)
		}
		return err
	}
	*p = started
	s.started = append(s.started, started)
	return nil
}

// place decides where a pane goes, as it is decided for our own teammates.
func (k Keeper) place(ctx context.Context, c panes.Choice, team string) (backend.Spec, func(backend.Pane), error) {
	self, window, inside, err := c.Backend.Self(ctx)
	list, listErr := c.Backend.List(ctx)
	if err = errors.Join(err, listErr); err != nil {
		return backend.Spec{}, nil, err
	}
	v := panes.View{}
	if inside {
		v.Lead, v.Window = &self, window
	}
	for _, p := range list {
		if p.Mark.Base == base && p.Mark.Team == team {
			v.Ours = append(v.Ours, p)
		}
	}
	specs, _, arrangements := panes.Place(panes.Layout{}, v, 1)
	return specs[0], func(opened backend.Pane) {
		for _, a := range arrangements {
			if a.Window == "" {
				a.Window = opened.Window
			}
			_ = c.Backend.Arrange(ctx, a.Layout) // sizes are no reason to fail
		}
	}, nil
}

// await waits for a pane's host.
func (k Keeper) await(ctx context.Context, p pane) (signals.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		st, err := host.Dial(k.socket(p.Host)).Status(ctx)
		if err == nil {
			return st.Identity, nil
		}
		select {
		case <-ctx.Done():
			return st.Identity, fault.New(fault.SpawnFailed, "the host of pane %s did not answer: %w", p.ID, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// press presses a key, or without one types a word and no more, in a pane whose program
// runs.
func (k Keeper) press(ctx context.Context, p pane, word, key string) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	c := host.Dial(k.socket(p.Host))
	if key != "" {
		return c.Keys(ctx, []string{key})
	}
	return c.Inject(ctx, host.Input{Text: word, Submit: host.SubmitNone})
}

// label shows title and colour on a pane that is there. One that cannot be labelled is
// as good a pane.
func (k Keeper) label(ctx context.Context, s *server, p pane) {
	if p.Host == "" {
		return
	}
	if b, err := k.Open(p.Kind, p.Terminal); err == nil {
		_ = b.Label(ctx, p.Pane, p.Mark, backend.Label{Name: labelled(p), Color: p.Color})
	}
}

func labelled(p pane) string {
	if p.Title != "" {
		return p.Title
	}
	return p.ID
}

// end ends what runs in a pane, and closes it.
func (k Keeper) end(ctx context.Context, p pane) error {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	_, err := host.Dial(k.socket(p.Host)).Shutdown(ctx, host.ShutdownRequest{})
	switch {
	case err == nil || errors.Is(err, host.ErrNoHost):
		err = p.Process.Wait(ctx) // it tidies up
	default: // it is mute: what bears its mark is ended from outside
		end := signals.TreeKiller{Host: p.Host, Kill: host.DefaultKill}
		if root, err := signals.Prove(p.Process, k.hostOf(p)); err == nil {
			end.Roots = []signals.Proof{root}
		}
		_, err = end.Run(ctx)
	}
	b, openErr := k.Open(p.Kind, p.Terminal)
	if openErr == nil {
		openErr = backend.CloseOne(ctx, b, p.Pane, p.Mark)
	}
	return errors.Join(err, openErr)
}

// hostOf tells whether a process is the host of a pane: so says its command line.
func (k Keeper) hostOf(p pane) func(signals.Process) bool {
	file := filepath.Join(Folder(k.Runtime), Launch{Host: p.Host}.name())
	return func(q signals.Process) bool {
		return len(q.Argv) == 4 && q.Argv[1] == "tmux-shim" && q.Argv[2] == HostWord && q.Argv[3] == file
	}
}
