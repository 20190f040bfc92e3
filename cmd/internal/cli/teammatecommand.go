package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/oneshot"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
)

// TeammateLink is the name by which this program is called to be one.
const TeammateLink = panes.TeammateLink

// TeammateCommand is the life of a teammate that Claude Code, started by leadlight claude, starts
// in its place: called by the link whose name is panes.TeammateLink, with the client's own
// arguments behind it. It returns the exit status.
func TeammateCommand(argv []string, std Stdio, environ []string) int {
	lead, err := panes.ReadLead(filepath.Dir(argv[0]))
	a := newApp(std, lead.Environ)
	if err == nil {
		defer a.close()
		err = a.foreignMember(lead, argv[1:], environ)
	}
	return a.finish(err)
}

// foreignMember lives it. The variables are the lead's; of the pane's only what says which
// terminal it is in.
func (a *app) foreignMember(lead panes.Lead, args, pane []string) error {
	j, err := profiles.ParseJoining(args)
	if err != nil {
		return err
	}
	s, err := a.set(nil)
	if err != nil {
		return err
	}
	c, err := a.compose(s, teams.Caller{Name: j.Agent, Teammate: true})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := a.enter(ctx, c, lead, j, args, pane); err != nil {
		told := fmt.Sprintf("%s did not start: %s", j.Agent, fault.Of(err).Message)
		return errors.Join(err, c.service.TellLead(ctx, j.Team, told, j.Agent+" did not start"))
	}
	return a.live(ctx, c, j.Team, j.Agent, pane)
}

func (a *app) enter(ctx context.Context, c *composition, lead panes.Lead, j profiles.Ask, args, pane []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working folder: %w", err)
	}
	g := teams.ForeignMember{Ask: j, Client: slices.Concat(lead.Client, profiles.WithoutFlag(args, "--settings", lead.Hook)), Dir: dir}
	at := newApp(Stdio{}, pane)
	if in, inside, err := tmux.ParseInside(at.getenv("TMUX")); err == nil && inside {
		g.Backend, g.Terminal, g.Pane = "tmux", in.Socket, at.getenv("TMUX_PANE")
	} else if _, session, found := strings.Cut(at.getenv("ITERM_SESSION_ID"), ":"); found {
		g.Pane = session
	}
	return c.service.Prepare(ctx, g)
}

// checkTeammateCommand makes sure that a client starts its teammates by us: fault.Unsupported. The
// version says whether it ought to, its program whether it knows the variable at all: a
// newer version may have dropped it.
func (a *app) checkTeammateCommand(ctx context.Context, program string) error {
	limited, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	c := exec.CommandContext(limited, program, "--version")
	c.Env = a.environ
	said, err := oneshot.Output(c)
	if err != nil {
		return fault.New(fault.Unsupported, "%s does not say its version: %w", program, err).WithHint("run %s --version to see why", program)
	}
	client, version, known := profiles.ClientOf(string(said))
	if !known {
		return fault.New(fault.Unsupported, "%s does not say its version, but %.60q", program, said).WithHint("is it Claude Code?")
	}
	if !client.TeammateCommand {
		return fault.New(fault.Unsupported, "Claude Code %s (%s) does not let others host its teammates", version, program).WithHint("install a newer version")
	}
	if knows, err := mentions(program, profiles.TeammateCommand); err != nil {
		return fmt.Errorf("look into %s: %w", program, err)
	} else if !knows {
		return fault.New(fault.Unsupported, "Claude Code %s (%s) does not know %s, by which its teammates would run in our hosts", version, program, profiles.TeammateCommand).
			WithHint("install a version that does, such as 2.1.332, or run claude itself")
	}
	return nil
}

// versionLimit is how long a client may take to say its version.
const versionLimit = 30 * time.Second

// minProgram is the size, in bytes, from which a file is the client itself. What is
// smaller starts it from elsewhere, and says nothing of what it knows.
const minProgram = 1 << 20

// mentions tells whether a program's file holds a text.
func mentions(program, text string) (bool, error) {
	f, err := files.OpenRegular(program)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || fi.Size() < minProgram {
		return err == nil, err
	}
	buf := make([]byte, 1<<20)
	for kept := 0; ; {
		n, err := f.Read(buf[kept:])
		if bytes.Contains(buf[:kept+n], []byte(text)) {
			return true, nil
		}
		if err == io.EOF {
			return false, nil
		} else if err != nil {
			return false, err
		}
		kept = copy(buf, buf[max(0, kept+n-len(text)):kept+n])
	}
}
