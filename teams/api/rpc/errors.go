package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// wireError is an error as the wire carries it.
type wireError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *wireError) Error() string { return fmt.Sprintf("[%d] %s", e.Code, e.Message) }

// The codes with which a server that ends takes back what it has not answered.
const (
	codeCancelled = -32097
	codeTooLate   = -32096
)

// fromWire is what came of a call, as one of our own errors. One that was taken back although
// ctx goes on was so because the daemon ends.
func fromWire(ctx context.Context, method string, err error) error {
	own, ok := errors.AsType[*wireError](err)
	if ok && (own.Code == codeCancelled || own.Code == codeTooLate) {
		err = fmt.Errorf("%w: %w", ErrHungUp, err)
	}
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return fmt.Errorf("%s: %w", method, err)
	case errors.Is(err, ErrHungUp):
		return fault.New(fault.Failed, "%s: the daemon ended, or closed the connection: %w", method, err).WithHint("leadlight daemon status tells whether it runs")
	case !ok:
		return fmt.Errorf("%s: %w", method, err)
	}
	var told fault.Error
	if json.Unmarshal(own.Data, &told) == nil && told.Code != "" {
		told.Cause = err
		return &told
	}
	return fault.New(fault.Failed, "%s: %w", method, err)
}
