package teammate

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/observe"
)

// streamJSON names the format in a command line that asks for it.
const streamJSON = "stream-json"

// speaksStream tells whether a command's output is a stream in which a team can be
// observed: its line asks for that format.
func speaksStream(argv []string) bool {
	return slices.ContainsFunc(argv, func(word string) bool { return strings.Contains(word, streamJSON) })
}

// Bounds of what is kept of a stream.
const (
	maxEvents     = 1000
	maxEventBytes = 512 << 10
	streamEnd     = 2 * time.Second // for the last of it to be written down
)

// stream follows the output of one run of a command and keeps what it shows of a
// team beside the host's record. The command waits for neither the disk nor a
// reader.
type stream struct {
	in   *io.PipeWriter
	done chan struct{} // all is read and written down

	fresh  bytes.Buffer // lines of events since the last save
	record panes.ObservedRecord
	size   int // bytes of record.Events

	next chan panes.ObservedRecord // what is to be written: the newest
}

// followStream begins to follow a run for a task.
func (m *teammate) followStream(ctx context.Context, task string) *stream {
	ctx = context.WithoutCancel(ctx) // it ends with the output
	out, in := io.Pipe()
	s := &stream{in: in, done: make(chan struct{}), next: make(chan panes.ObservedRecord, 1), record: panes.ObservedRecord{Run: uuid.NewString(), Task: task}}
	go func() {
		err := observe.Run(ctx, observe.Options{
			In: out, Out: &s.fresh, Emit: observe.EmitEvents, Save: s.save,
		})
		if err != nil {
			m.o.Log.Warn("observe the stream", "error", err)
		}
		out.CloseWithError(io.ErrClosedPipe)
		close(s.next)
	}()
	go func() {
		defer close(s.done)
		for next := range s.next {
			if err := m.o.Panes.Records().WriteObserved(ctx, m.o.Team, m.o.Agent, next); err != nil {
				m.o.Log.Warn("keep what was observed", "error", err)
			}
		}
	}()
	return s
}

// Write implements io.Writer. It never fails: what cannot be observed is only not
// observed.
func (s *stream) Write(p []byte) (int, error) {
	_, _ = s.in.Write(p)
	return len(p), nil
}

// close says that nothing more comes, and waits a moment for it to be written down.
func (s *stream) close() {
	s.in.Close()
	select {
	case <-s.done:
	case <-time.After(streamEnd):
	}
}

// save takes the events since the last one and the state they led to.
func (s *stream) save(state observe.State) error {
	before := len(s.record.Events)
	for line := range bytes.Lines(s.fresh.Bytes()) {
		s.record.Events = append(s.record.Events, bytes.Clone(bytes.TrimRight(line, "\n")))
		s.size += len(line)
	}
	s.fresh.Reset()
	view, err := json.Marshal(state.View())
	if err != nil {
		return err
	}
	if len(s.record.Events) == before && (bytes.Equal(view, s.record.State) || before == 0) {
		return nil // nobody sees a difference
	}
	for len(s.record.Events) > maxEvents || s.size > maxEventBytes && len(s.record.Events) > 1 {
		s.size -= len(s.record.Events[0]) + 1
		s.record.Events = s.record.Events[1:]
	}
	s.record.Seq, s.record.State = state.Seq, view
	next := s.record
	next.Events = slices.Clone(next.Events)
	select {
	case <-s.next: // not written yet, and no longer the newest
	default:
	}
	s.next <- next // nobody else sends, so there is room
	return nil
}
