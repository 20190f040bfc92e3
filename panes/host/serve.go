package host

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// operation answers one request; r is what comes behind it on the connection.
type operation func(ctx context.Context, conn *net.UnixConn, r *bufio.Reader, params json.RawMessage)

const opAttach = "attach"

// operations is everything that can be asked for.
func (s *server) operations() map[string]operation {
	h, done := s.host, struct{}{}
	return map[string]operation{
		opAttach: s.attach,
		opFollow: abandonable(s.follow),
		"status": answered(s, func(context.Context, json.RawMessage) (any, error) { return h.Status(), nil }),
		"capture": answered(s, func(ctx context.Context, p captureParams) (any, error) {
			return h.Capture(ctx, p.Lines, p.ANSI)
		}),
		"inject":    abandonable(answered(s, func(ctx context.Context, in Input) (any, error) { return done, h.Inject(ctx, in) })),
		"keys":      abandonable(answered(s, func(ctx context.Context, p keysParams) (any, error) { return done, h.Keys(ctx, p.Keys) })),
		"variables": answered(s, func(_ context.Context, p variablesParams) (any, error) { return h.variables(p.Names), nil }),
		"shutdown": answered(s, func(ctx context.Context, r ShutdownRequest) (any, error) {
			return h.Shutdown(context.WithoutCancel(ctx), r)
		}),
	}
}

// answered is an operation whose answer is what the host says to the parameters.
func answered[P any](s *server, ask func(context.Context, P) (any, error)) operation {
	return func(ctx context.Context, conn *net.UnixConn, _ *bufio.Reader, params json.RawMessage) {
		var p P
		var result any
		err := decodeParams(params, &p)
		if err == nil {
			result, err = ask(ctx, p)
		}
		s.answer(conn, result, err)
	}
}

// abandonable is an operation that hanging up calls off.
func abandonable(do operation) operation {
	return func(ctx context.Context, conn *net.UnixConn, r *bufio.Reader, params json.RawMessage) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() { // ends when the connection is closed, by either side
			io.Copy(io.Discard, r)
			cancel()
		}()
		do(ctx, conn, r, params)
	}
}

// handle serves one connection.
func (s *server) handle(ctx context.Context, conn *net.UnixConn) {
	conn.SetReadDeadline(time.Now().Add(requestLimit))
	r := bufio.NewReader(conn)
	q, err := readRequest(r)
	conn.SetReadDeadline(time.Time{})
	if err != nil {
		s.answer(conn, nil, err)
		return
	}
	all := s.operations()
	if do, ok := all[q.Op]; ok {
		do(ctx, conn, r, q.Params)
		return
	}
	s.answer(conn, nil, fault.New(fault.Unsupported, "this host does not know the operation %q", q.Op).
		WithHint("it knows: %s", strings.Join(slices.Sorted(maps.Keys(all)), " ")))
}

func (s *server) answer(conn *net.UnixConn, result any, failure error) {
	conn.SetWriteDeadline(time.Now().Add(answerLimit))
	if err := writeAnswer(conn, result, failure); err != nil {
		s.host.opt.Log.Debug("answer", "error", err)
	}
}

// variables are those of Options.Variables that have these names.
func (h *Host) variables(names []string) []string {
	return slices.DeleteFunc(slices.Clone(h.opt.Variables), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(names, name)
	})
}

// Shutdown closes the host (see Closing) and ends what runs. The error is
// UNPROVEN if something may still run.
func (h *Host) Shutdown(ctx context.Context, r ShutdownRequest) (Report, error) {
	h.shutDown(cmp.Or(r.Reason, CauseShutdown), r.Recorded)
	ended, err := h.End(ctx, cmp.Or(r.Term, h.term), cmp.Or(r.Kill, DefaultKill))
	return Report{
		Ended: len(ended.Ended), Killed: ended.Killed,
		Leftovers: signals.Lines(ended.Leftovers), Survivors: signals.Lines(ended.Survivors),
	}, err
}
