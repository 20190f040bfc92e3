package tmuxshim

import (
	"cmp"
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
	"strings"
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
	return filepath.Join(Folder(k.Runtime), hostID+sockSuffix)
}

const sockSuffix = ".sock"

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
	s, err := k.read(k.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		s, err = &server{keeper: k, Name: name}, nil
	}
	if err != nil {
		return nil, fault.New(fault.CorruptFile, "read what the tmux server %s remembers: %w", name, err).WithHint("remove %s", k.file(name))
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

// read reads what a server remembers. What no keeper writes for that server is an error.
func (k Keeper) read(file string) (*server, error) {
	s := &server{keeper: k}
	data, err := files.ReadFile(file, 0)
	if err == nil {
		err = json.Unmarshal(data, s)
	}
	if err == nil {
		err = s.check(file)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *server) check(file string) error {
	if s.keeper.file(s.Name) != file {
		return fmt.Errorf("it speaks of another server, %.60q", s.Name)
	}
	for _, p := range s.Panes {
		switch {
		case p.Window < 0 || p.Window >= len(s.Windows):
			return fmt.Errorf("pane %.20q is in no window", p.ID)
		case p.Host != "" && (!isHost(p.Host) || p.Mark != markOf(s.Name, p.ID, p.Host)):
			return fmt.Errorf("the host of pane %.20q, %.60q, is not its own", p.ID, p.Host)
		case p.Host != "" && p.Process.Check() != nil:
			return fmt.Errorf("the host of pane %.20q: %w", p.ID, p.Process.Check())
		}
	}
	return nil
}

// isHost tells the id of a host, which becomes the name of files: see rand.Text.
func isHost(id string) bool {
	return len(id) == 26 && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

func markOf(server, id, hostID string) backend.Mark {
	return backend.Mark{Base: base, Team: server, Agent: id, Host: hostID}
}

// gone tells whether the host of a pane is proved not to be there.
func (k Keeper) gone(p pane) bool {
	if p.Host == "" || p.Process.Probe() != signals.Gone {
		return false
	}
	_ = files.Remove(Folder(k.Runtime), p.Host+sockSuffix, fs.ModeSocket) // one that was killed has left it
	return true
}

// keep writes a server down, or forgets one without panes.
func (k Keeper) keep(s *server) error {
	file := k.file(s.Name)
	if len(s.Panes) == 0 {
		_ = files.Remove(filepath.Dir(file), filepath.Base(file), 0)
		_ = files.RemoveEmpty(filepath.Dir(file))
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

// start starts a pane's program, as tmux does (one word is a line for the shell): it opens a
// pane of the backend for it and waits until its host answers.
func (s *server) start(ctx context.Context, p *pane, words []string, dir string) error {
	if strings.ContainsRune(strings.Join(words, ""), 0) {
		return fault.New(fault.InvalidArgument, "the command of pane %s holds a NUL byte", p.ID)
	}
	k := s.keeper
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
	started.Mark = markOf(s.Name, p.ID, started.Host)
	l := Launch{Server: s.Name, Host: started.Host, Socket: k.socket(started.Host), Words: words, Dir: dir, Env: k.Environ, Kind: choice.Type, Terminal: choice.Socket}
	file, err := k.hand(l)
	if err != nil {
		return err
	}
	var opened panes.Closable
	spec, arrange, err := k.place(ctx, choice, s.Name)
	if err == nil {
		spec.Argv, spec.Dir, spec.Mark, spec.Name = []string{k.Executable, "tmux-shim", HostWord, file}, dir, started.Mark, s.Session
		spec.Label = backend.Label{Name: labelled(*p), State: "", Color: p.Color}
		r := choice.Backend.Open(ctx, []backend.Spec{spec})[0]
		opened, started.Pane, err = panes.Opened(spec, r), r.Pane.ID, r.Err
		if err == nil {
			arrange(r.Pane)
			started.Process, err = k.await(ctx, started)
		}
	}
	if err != nil {
		_ = files.Remove(filepath.Dir(file), filepath.Base(file), 0)
		if started.Pane != "" {
			_ = panes.Close(context.WithoutCancel(ctx), choice.Backend, opened)
		}
		return err
	}
	*p = started
	s.started = append(s.started, started)
	return nil
}

// place decides where a pane goes, as it is decided for our own teammates.
func (k Keeper) place(ctx context.Context, c panes.Choice, team string) (backend.Spec, func(backend.Pane), error) {
	here, err := c.Backend.Self(ctx)
	list, listErr := c.Backend.List(ctx)
	if err = errors.Join(err, listErr); err != nil {
		return backend.Spec{}, nil, err
	}
	v := panes.View{Lead: here.Self, Window: here.Window}
	for _, p := range list {
		if p.Mark.Base == base && p.Mark.Team == team {
			v.Ours = append(v.Ours, p)
		}
	}
	specs, _, arrangements := panes.Place(panes.Layout{}, v, 1)
	return specs[0], func(opened backend.Pane) {
		for _, a := range arrangements {
			a.Window = cmp.Or(a.Window, opened.Window)
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
func (k Keeper) label(ctx context.Context, p pane) {
	if p.Host == "" {
		return
	}
	if b, err := k.Open(p.Kind, p.Terminal); err == nil {
		_ = b.Label(ctx, p.Pane, p.Mark, backend.Label{Name: labelled(p), Color: p.Color})
	}
}

func labelled(p pane) string { return cmp.Or(p.Title, p.ID) }

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
		openErr = p.close(ctx, b)
	}
	return errors.Join(err, openErr)
}

// close closes a pane in which nothing runs any more.
func (p pane) close(ctx context.Context, b backend.Backend) error {
	vacated, err := panes.Vacated(backend.Marked{ID: p.Pane, Mark: p.Mark}, p.Process)
	if err != nil {
		return err
	}
	return panes.Close(ctx, b, vacated)[0]
}

// hostOf tells whether a process is the host of a pane: so says its command line.
func (k Keeper) hostOf(p pane) func(signals.Process) bool {
	file := filepath.Join(Folder(k.Runtime), Launch{Host: p.Host}.name())
	return func(q signals.Process) bool {
		return len(q.Argv) == 4 && q.Argv[1] == "tmux-shim" && q.Argv[2] == HostWord && q.Argv[3] == file
	}
}
