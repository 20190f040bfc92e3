package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/leadlight-dev/leadlight/cmd/internal/clients"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/spf13/cobra"
)

type mcpInstallOptions struct {
	Client          string
	Write, Delegate bool
}

// mcpInstalled is the answer of mcp install.
type mcpInstalled struct {
	Client  string `json:"client"`
	Path    string `json:"path"`
	Text    string `json:"text"` // what says how our server is started
	Written bool   `json:"written"`
	Changed bool   `json:"changed"` // the file did not say it before
}

func mcpInstallCommand(a *app, run func(context.Context, *app, mcpInstallOptions) error) *cobra.Command {
	var o mcpInstallOptions
	c := command(a, "mcp install", run, &o, takes(0, 0), noFiles)
	f := c.Flags()
	f.Var(choice(&o.Client, clients.Names()), "client", "`NAME` of the client: "+strings.Join(clients.Names(), ", "))
	f.BoolVar(&o.Write, "write", false, "edit the client's file")
	f.BoolVar(&o.Delegate, "delegate", false, "the lead coordinates only")
	return c
}

func runMCPInstall(_ context.Context, a *app, o mcpInstallOptions) error {
	if o.Client == "" {
		return usage("leadlight mcp install needs --client NAME").WithHint("the clients are: %s", strings.Join(clients.Names(), ", "))
	}
	home := a.getenv("HOME")
	if home == "" {
		return fault.New(fault.InvalidArgument, "HOME is not set, so the client's file cannot be found").WithHint("set HOME")
	}
	client, err := clients.Find(o.Client)
	if err != nil {
		return err
	}
	path := client.Path(clients.Place{Home: home, Getenv: a.getenv, Exists: exists, Darwin: runtime.GOOS == "darwin"})
	server := clients.Server{Name: lightProgram, Argv: []string{a.self(), "mcp", "--enable-teams"}}
	if o.Delegate {
		server.Argv = append(server.Argv, "--delegate")
	}
	text, err := client.Edit(nil, server)
	if err != nil {
		return err
	}
	res := mcpInstalled{Client: o.Client, Path: path, Text: string(text)}
	if o.Write {
		if res.Changed, err = rewrite(path, func(file []byte) ([]byte, error) { return client.Edit(file, server) }); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		res.Written = true
	}
	return a.answer(res, nil, func(w io.Writer) {
		switch {
		case res.Changed:
			a.say("written to %s; start %s anew", path, o.Client)
		case res.Written:
			a.say("%s says it already", path)
		default:
			a.say("for %s; --write puts it there", path)
			_, _ = w.Write(text)
		}
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// self is how this program is called by others: by its name, if that finds it.
func (a *app) self() string {
	program, err := a.light()
	if err != nil {
		return lightProgram
	}
	found, err := exec.LookPath(lightProgram)
	if err == nil && files.Same(found, program) {
		return lightProgram
	}
	return program
}

// rewrite changes a user's file as a whole: the new one takes the old one's place at
// once, with its mode, where a link leads if it is one. A file that somebody else
// changes meanwhile is left to them.
func rewrite(path string, change func([]byte) ([]byte, error)) (changed bool, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	before, err := files.ReadFile(path, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	after, err := change(before)
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	return true, replace(path, before, after)
}

func replace(path string, before, after []byte) error {
	dir, err := files.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(path)
	p, err := dir.Prepare(name, after)
	if err != nil {
		return err
	}
	defer p.Discard()
	if same, err := dir.Holds(name, before); err != nil {
		return err
	} else if !same {
		return fault.New(fault.Rejected, "the file has changed meanwhile").WithHint("try again")
	}
	return p.Commit()
}
