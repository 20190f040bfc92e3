package host

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// The control protocol. A connection carries one request, a line of JSON
//
//	{"v":1,"op":"capture","params":{"lines":10}}
//
// and one answer, a line with either a result or an error:
//
//	{"v":1,"result":{…}}
//	{"v":1,"error":{"code":"INVALID_ARGUMENT","message":"…","hint":"…"}}
//
// Unknown fields are passed over. After the answer to attach the connection goes
// on with frames both ways: one byte of kind, four bytes of length (big-endian),
// the payload. Hanging up calls a wait or something being typed off.
const protocolVersion = 1

// Bounds of the protocol.
const (
	maxRequest   = 8 << 20         // bytes of a request
	maxFrame     = 64 << 10        // bytes of a frame's payload
	requestLimit = 5 * time.Second // for the request to arrive
	answerLimit  = 10 * time.Second
)

type request struct {
	V      int             `json:"v"`
	Op     string          `json:"op"`
	Params json.RawMessage `json:"params,omitempty"`
}

type answer struct {
	V      int             `json:"v"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *fault.Error    `json:"error,omitempty"`
}

// The parameters of the operations that have any.
type (
	captureParams struct {
		Lines int  `json:"lines,omitempty"`
		ANSI  bool `json:"ansi,omitempty"`
	}
	keysParams struct {
		Keys []string `json:"keys"`
	}
	variablesParams struct {
		Names []string `json:"names"`
	}
	attachParams struct {
		ReadOnly bool `json:"readOnly,omitempty"`
		Rows     int  `json:"rows,omitempty"`
		Cols     int  `json:"cols,omitempty"`
	}
)

// ShutdownRequest closes the host: what runs is ended.
type ShutdownRequest struct {
	Reason string        `json:"reason,omitempty"` // becomes the Cause; "" = CauseShutdown
	Term   time.Duration `json:"term,omitempty"`   // 0 = DefaultTerm
	Kill   time.Duration `json:"kill,omitempty"`

	Recorded bool `json:"recorded,omitempty"` // who asks writes the end down for all that end together: see Host.Recorded
}

// Report is what a shutdown did.
type Report struct {
	Ended     int      `json:"ended"`               // processes
	Killed    bool     `json:"killed"`              // TERM was not enough, or not tried
	Leftovers []string `json:"leftovers,omitempty"` // left alone, with the reason
	Survivors []string `json:"survivors,omitempty"` // could not be ended
}

// readRequest reads and checks a request.
func readRequest(r *bufio.Reader) (request, error) {
	line, err := readLine(r, maxRequest)
	if err != nil {
		return request{}, err
	}
	var q request
	if err := json.Unmarshal(line, &q); err != nil {
		return request{}, fault.New(fault.InvalidArgument, "the request is no JSON object: %w", err)
	}
	if q.V != protocolVersion {
		return request{}, fault.New(fault.VersionTooNew, "the request is of version %d, this host speaks version %d", q.V, protocolVersion).
			WithHint("use the same leadlight for the host and its clients")
	}
	return q, nil
}

// readLine reads up to a line break, which may be missing at the end.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > most:
			return nil, fault.New(fault.LimitReached, "the request is longer than %d bytes", most)
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("read a request: %w", err)
		}
	}
}

func decodeParams(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fault.New(fault.InvalidArgument, "the parameters do not fit: %w", err)
	}
	return nil
}

func writeAnswer(w io.Writer, result any, failure error) error {
	a := answer{V: protocolVersion, Error: fault.Of(failure)}
	if failure == nil {
		raw, err := json.Marshal(result)
		if err != nil {
			return err
		}
		a.Result = raw
	}
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// The kinds of frames.
const (
	frameOutput = 'o' // to the viewer: bytes for its terminal
	frameEnd    = 'x' // to the viewer: the host closes
	frameCut    = 'c' // to the viewer: it is too slow, with a sentence
	frameInput  = 'i' // from the viewer: bytes of its terminal
	frameResize = 'r' // from the viewer: rows and columns, two bytes each
	frameRedraw = 'p' // from the viewer: a new picture is wanted
)

func writeFrame(w io.Writer, kind byte, payload []byte) error {
	for first := true; first || len(payload) > 0; first = false {
		n := min(len(payload), maxFrame)
		frame := make([]byte, 5, 5+n)
		frame[0] = kind
		binary.BigEndian.PutUint32(frame[1:], uint32(n))
		if _, err := w.Write(append(frame, payload[:n]...)); err != nil {
			return err
		}
		payload = payload[n:]
	}
	return nil
}

var errFrame = errors.New("frame is too long")

func readFrame(r io.Reader) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, errFrame
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, err
	}
	return head[0], payload, nil
}
