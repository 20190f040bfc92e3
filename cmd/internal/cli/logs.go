package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/clipperhouse/displaywidth"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

type logsOptions struct {
	Names  []string
	Follow bool
	Lines  int
}

func logsCommand(a *app, run func(context.Context, *app, logsOptions) error) *cobra.Command {
	var o logsOptions
	c := command(a, "logs", run, &o, several(0, &o.Names), completeTeammates(a, -1))
	c.Flags().BoolVarP(&o.Follow, "follow", "f", false, "continue with what they write, until ^C")
	c.Flags().VarP(count(&o.Lines), "lines", "n", "only the last `N` lines of each")
	return c
}

func runLogs(ctx context.Context, a *app, svc *teams.Service, team string, o logsOptions) (err error) {
	defer func() {
		if o.Follow && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()
	if len(o.Names) == 0 {
		members, _, err := svc.Members(ctx, team, true)
		if err != nil {
			return err
		}
		o.Names = namesOf(members, func(m api.Member) bool { return m.Kind != "" }) // leadlight has no transcripts of others
		return a.logsOf(ctx, svc, team, o)
	}
	if o.Names, err = svc.Named(ctx, team, o.Names); err != nil {
		return err
	}
	if len(o.Names) > 1 {
		return a.logsOf(ctx, svc, team, o)
	}
	name := o.Names[0]
	if !a.json {
		return svc.Logs(ctx, team, name, o.Lines, o.Follow, a.out)
	}
	if o.Follow {
		return svc.Logs(ctx, team, name, o.Lines, true, jsonLines{a, name})
	}
	var b strings.Builder
	if err := svc.Logs(ctx, team, name, o.Lines, false, &b); err != nil {
		return err
	}
	return a.printJSON(paneText{name, b.String()})
}

// logsOf prints several transcripts: one after the other, or, followed, as they come.
func (a *app) logsOf(ctx context.Context, svc *teams.Service, team string, o logsOptions) error {
	logs, err := svc.LogsOf(ctx, team)
	if err != nil {
		return err
	}
	if a.json && !o.Follow {
		texts, errs := make([]paneText, len(o.Names)), make([]error, len(o.Names))
		for i, name := range o.Names {
			var b strings.Builder
			errs[i] = logs(name, o.Lines, false, &b)
			texts[i] = paneText{name, b.String()}
		}
		return errors.Join(append(errs, a.printJSON(texts))...)
	}
	one := func(name string) error {
		if a.json {
			return logs(name, o.Lines, o.Follow, jsonLines{a, name})
		}
		w := &prefixed{out: a.out, prefix: a.prefix(name, o.Names)}
		err := logs(name, o.Lines, o.Follow, w)
		return errors.Join(err, w.end())
	}
	errs := make([]error, len(o.Names))
	var wg sync.WaitGroup
	for i, name := range o.Names {
		wg.Go(func() { errs[i] = one(name) })
		if !o.Follow {
			wg.Wait()
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// prefix is what a teammate's lines begin with: its name, as wide as the widest.
func (a *app) prefix(name string, all []string) string {
	widest := 0
	for _, n := range all {
		widest = max(widest, displaywidth.String(oneLine(n)))
	}
	name = oneLine(name)
	return name + strings.Repeat(" ", widest-displaywidth.String(name)) + " | "
}

// prefixed writes whole lines, each behind a prefix.
type prefixed struct {
	out    io.Writer
	prefix string
	part   []byte // of a line that has no end yet
}

// Write implements io.Writer.
func (p *prefixed) Write(b []byte) (int, error) {
	i := bytes.LastIndexByte(b, '\n')
	if i < 0 {
		p.part = append(p.part, b...)
		return len(b), nil
	}
	err := p.flush(append(p.part, b[:i+1]...))
	p.part = append(p.part[:0], b[i+1:]...)
	return len(b), err
}

// end writes the last line, if it has no end.
func (p *prefixed) end() error {
	if len(p.part) == 0 {
		return nil
	}
	return p.flush(append(p.part, '\n'))
}

func (p *prefixed) flush(lines []byte) error {
	var b bytes.Buffer
	for line := range bytes.Lines(lines) {
		b.WriteString(p.prefix)
		b.Write(line)
	}
	_, err := p.out.Write(b.Bytes())
	return err
}

// jsonLines writes each piece of text as a JSON document of its own.
type jsonLines struct {
	a    *app
	name string
}

// Write implements io.Writer.
func (j jsonLines) Write(p []byte) (int, error) {
	return len(p), j.a.printJSON(paneText{j.name, string(p)})
}
