package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/creachadair/jrpc2"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// firstCode is JSON-RPC's first number for errors of one's own.
const firstCode = -32000

// toWire is an error as the wire carries it.
func toWire(err error) error {
	if err == nil {
		return nil
	}
	if own, ok := errors.AsType[*jrpc2.Error](err); ok {
		return own
	}
	e := fault.Of(err)
	number := jrpc2.Code(firstCode - fault.ExitOf(e))
	if e.Code == fault.InvalidArgument {
		number = jrpc2.InvalidParams
	}
	return jrpc2.Errorf(number, "%s", e.Message).WithData(shown(e))
}

func shown(e *fault.Error) api.Error {
	return api.Error{Code: string(e.Code), Message: e.Message, Hint: e.Hint}
}

// fromWire is what the other side told, as one of our own errors again. A call that was
// cancelled although ctx goes on has lost its connection.
func fromWire(ctx context.Context, method string, err error) error {
	own, ok := errors.AsType[*jrpc2.Error](err)
	cut := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	switch {
	case err == nil:
		return nil
	case cut && ctx.Err() != nil:
		return fmt.Errorf("%s: %w", method, err)
	case cut || !ok:
		return fault.New(fault.Failed, "%s: the daemon ended, or closed the connection: %w", method, ErrHungUp).WithHint("leadlight daemon status tells whether it runs")
	}
	var told api.Error
	if json.Unmarshal(own.Data, &told) == nil && told.Code != "" {
		return &fault.Error{Code: fault.Code(told.Code), Message: told.Message, Hint: told.Hint, Cause: err}
	}
	return fault.New(fault.Failed, "%s: %w", method, err)
}
