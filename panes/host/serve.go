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
)

// operation is one thing that can be asked for.
type operation struct {
	do      func(context.Context, *Host, json.RawMessage) (any, error)
	abandon bool // hanging up calls it off
}

// operations is everything but attach, which is not answered with one line.
func operations() map[string]operation {
	return map[string]operation{
		"status":    {do: opStatus},
		"capture":   {do: with(opCapture)},
		"inject":    {do: with(opInject), abandon: true},
		"keys":      {do: with(opKeys), abandon: true},
		"shutdown":  {do: with(opShutdown)},
		"variables": {do: with(opVariables)},
	}
}

// with reads the parameters of an operation.
func with[P any](do func(context.Context, *Host, P) (any, error)) func(context.Context, *Host, json.RawMessage) (any, error) {
	return func(ctx context.Context, h *Host, raw json.RawMessage) (any, error) {
		var p P
		if err := decodeParams(raw, &p); err != nil {
			return nil, err
		}
		return do(ctx, h, p)
	}
}

const opAttach = "attach"

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
	if q.Op == opAttach {
		s.attach(ctx, conn, r, q.Params)
		return
	}
	if q.Op == opFollow {
		s.follow(ctx, conn, r)
		return
	}
	op, ok := operations()[q.Op]
	if !ok {
		known := append(slices.Collect(maps.Keys(operations())), opAttach, opFollow)
		slices.Sort(known)
		s.answer(conn, nil, fault.New(fault.Unsupported, "this host does not know the operation %q", q.Op).
			WithHint("it knows: %s", strings.Join(known, " ")))
		return
	}
	if op.abandon {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() { // ends when the connection is closed, by either side
			io.Copy(io.Discard, r)
			cancel()
		}()
	}
	result, err := op.do(ctx, s.host, q.Params)
	s.answer(conn, result, err)
}

func (s *server) answer(conn *net.UnixConn, result any, failure error) {
	conn.SetWriteDeadline(time.Now().Add(answerLimit))
	if err := writeAnswer(conn, result, failure); err != nil {
		s.host.log.Debug("answer", "error", err)
	}
}

func opStatus(_ context.Context, h *Host, _ json.RawMessage) (any, error) { return h.Status(), nil }

func opCapture(ctx context.Context, h *Host, p captureParams) (any, error) {
	return h.Capture(ctx, p.Lines, p.ANSI)
}

func opInject(ctx context.Context, h *Host, in Input) (any, error) {
	return struct{}{}, h.Inject(ctx, in)
}

func opKeys(ctx context.Context, h *Host, p keysParams) (any, error) {
	return struct{}{}, h.Keys(ctx, p.Keys)
}

func opVariables(_ context.Context, h *Host, p variablesParams) (any, error) {
	found := []string{}
	for _, kv := range h.env {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains(p.Names, name) {
			found = append(found, kv)
		}
	}
	return found, nil
}

func opShutdown(ctx context.Context, h *Host, r ShutdownRequest) (any, error) {
	return h.Shutdown(context.WithoutCancel(ctx), r)
}

// Shutdown closes the host (see Closing) and ends what runs. The error is
// UNPROVEN if something may still run.
func (h *Host) Shutdown(ctx context.Context, r ShutdownRequest) (Report, error) {
	h.shutDown(cmp.Or(r.Reason, CauseShutdown), r.Recorded)
	term, kill := cmp.Or(r.Term, h.term), cmp.Or(r.Kill, h.kill)
	if r.Force {
		term = 0
	}
	ended, err := h.End(ctx, term, kill)
	return Report{
		Ended: len(ended.Ended), Killed: ended.Killed,
		Leftovers: describe(ended.Leftovers), Survivors: describe(ended.Survivors),
	}, err
}
