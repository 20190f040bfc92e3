package tmuxshim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// programless is how old a server must be whose panes never got a program before its client
// counts as gone: a client gives them one at once.
const programless = 10 * time.Minute

// Found is what there is of the shim.
type Found struct {
	Servers []string // that have panes, each as people name it
	Litter  []api.Orphan
}

// Look finds what the shim remembers, and what calls that were killed have left: launches
// that nobody took, hosts, sockets and panes that no server remembers, servers without
// panes. remove removes that, too; what cannot be is told as kept. It looks while no call is
// under way, and knows only of panes in backends that answer.
func (k Keeper) Look(ctx context.Context, remove bool) (Found, error) {
	if _, err := os.Stat(Folder(k.Runtime)); err != nil { // where there is a host, there is its socket
		return Found{}, nil
	}
	release, err := lock.In(ctx, k.Runtime, lockName, "tidy up after tmux-shim", lockLimit)
	if err != nil {
		return Found{}, err
	}
	l := &look{Keeper: k, remove: remove, known: map[string]bool{}}
	l.servers()
	l.strayPanes(ctx)
	l.strayFiles(ctx)
	release()
	for _, end := range l.hosts { // which want the lock, to say that they leave
		end()
	}
	if remove {
		_ = files.RemoveEmpty(Folder(k.Runtime))
		k.tidy(ctx)
	}
	return l.Found, nil
}

// look is one look, with the lock in hand.
type look struct {
	Keeper
	Found
	remove bool
	known  map[string]bool // hosts that a server remembers, or that were dealt with
	hosts  []func()        // end hosts, once the lock is given back
}

// add tells of one thing, and how it is removed if that is wanted: files at once, since a
// call may write them anew, and hosts later.
func (l *look) add(kind, what, why string, remove func() error) {
	at := len(l.Litter)
	l.Litter = append(l.Litter, api.Orphan{Kind: kind, What: what, Why: why})
	end := func() {
		if err := remove(); err != nil {
			l.Litter[at].Kept = err.Error()
		} else {
			l.Litter[at].Removed = true
		}
	}
	switch {
	case !l.remove:
	case kind == "pane" || kind == "process":
		l.hosts = append(l.hosts, end)
	default:
		end()
	}
}

// addFile tells of a file of the shim's folder, if it is of the kind that is made there.
func (l *look) addFile(kind, name string, of fs.FileMode, why string) {
	if f, err := files.In(Folder(l.Runtime), name, of); err == nil {
		l.add(kind, f.String(), why, f.Remove)
	}
}

// servers reads what servers remember. A file that cannot be read remembers everything:
// then nothing is a stray.
func (l *look) servers() {
	names, _ := filepath.Glob(filepath.Join(Folder(l.Runtime), "server-*.json"))
	for _, file := range names {
		s, err := l.read(file)
		if err != nil {
			l.known = nil
			l.Servers = append(l.Servers, file+" (damaged)")
			continue
		}
		s.Panes = slices.DeleteFunc(s.Panes, func(p pane) bool { return p.Host != "" && p.Process.Probe() == signals.Gone })
		began := 0
		for _, p := range s.Panes {
			if p.Host != "" {
				began++
				if l.known != nil {
					l.known[p.Host] = true
				}
			}
		}
		info, err := os.Stat(file)
		switch {
		case len(s.Panes) == 0:
			l.addFile("file", filepath.Base(file), 0, "all of its panes are gone")
		case began == 0 && err == nil && time.Since(info.ModTime()) > programless:
			l.addFile("file", filepath.Base(file), 0, "its panes never got a program")
		default:
			l.Servers = append(l.Servers, fmt.Sprintf("%s (%d panes)", s.Name, len(s.Panes)))
		}
	}
}

// backends are where panes of the shim may be: where new ones go, and without a terminal.
func (k Keeper) backends(ctx context.Context) []panes.Choice {
	var out []panes.Choice
	c, err := k.Choose(ctx)
	if err == nil {
		out = append(out, c)
	}
	if folder := panes.HeadlessFolder(k.Runtime); c.Type != panes.Headless {
		if b, err := k.Open(panes.Headless, folder); err == nil {
			out = append(out, panes.Choice{Type: panes.Headless, Socket: folder, Backend: b})
		}
	}
	return out
}

// listed are the shim's panes in a backend; one that does not answer has none to be told.
func listed(ctx context.Context, c panes.Choice) []backend.Pane {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	list, _ := c.Backend.List(ctx)
	return slices.DeleteFunc(list, func(p backend.Pane) bool { return p.Mark.Base != base })
}

// strayPanes are panes with the shim's mark that no server remembers.
func (l *look) strayPanes(ctx context.Context) {
	for _, c := range l.backends(ctx) {
		for _, p := range listed(ctx, c) {
			if l.known == nil || l.known[p.Mark.Host] {
				continue
			}
			l.known[p.Mark.Host] = true
			stray := pane{ID: string(p.ID), Host: p.Mark.Host, Kind: c.Type, Terminal: c.Socket, Pane: p.ID, Mark: p.Mark}
			l.add("pane", fmt.Sprintf("%s of tmux-shim's server %s", p.ID, p.Mark.Team), "no server of tmux-shim names it", func() error {
				st, err := l.status(ctx, l.socket(stray.Host))
				if stray.Process = st.Identity; err == nil {
					return l.end(ctx, stray)
				}
				return stray.close(ctx, c.Backend)
			})
		}
	}
}

func (k Keeper) status(ctx context.Context, socket string) (host.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return host.Dial(socket).Status(ctx)
}

// strayFiles are launches nobody took, and sockets that no server names. Who answers on one
// in a pane that no backend lists is told to end, and takes the pane along.
func (l *look) strayFiles(ctx context.Context) {
	entries, _ := os.ReadDir(Folder(l.Runtime)) // absent: nothing
	for _, e := range entries {
		file := filepath.Join(Folder(l.Runtime), e.Name())
		switch id, isSocket := strings.CutSuffix(e.Name(), sockSuffix); {
		case strings.HasPrefix(e.Name(), launchPrefix):
			l.addFile("file", e.Name(), 0, "no host took it")
		case isSocket && l.known != nil && !l.known[id]:
			st, err := l.status(ctx, file)
			switch {
			case errors.Is(err, host.ErrNoHost):
				l.addFile("socket", e.Name(), fs.ModeSocket, "nobody listens on it")
			case err == nil:
				l.add("process", fmt.Sprintf("the host %d on %s", st.PID, file), "no server of tmux-shim names it", func() error {
					if _, err := host.Dial(file).Shutdown(ctx, host.ShutdownRequest{}); err != nil {
						return err
					}
					return st.Identity.Wait(ctx)
				})
			}
		}
	}
}
