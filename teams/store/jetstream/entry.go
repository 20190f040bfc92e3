package jetstream

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Headers of an entry. The engine and all who follow take each of them apart, so they are few:
// the id by which the engine knows a message again holds those of the newest writes of its key,
// its own last, and of a claim is known by its last letter that it is one.
const (
	idHeader     = jetstream.MsgIDHeader
	overHeader   = jetstream.ExpectedLastSubjSeqHeader
	writesHeader = "Leadlight-Writes" // the ids, as they were written before
	teamHeader   = "Leadlight-Team"   // id of the team that a roster is of
	operation    = "KV-Operation"     // the bucket's own: DEL marks a key that was deleted
	claims       = "!"                // ends the id of a claim
)

// keptWrites is how many ids an entry carries. A writer that has lost an answer finds
// its write unless so many others have followed.
const keptWrites = 8

// entry is one value of the bucket, or one message of the stream.
type entry struct {
	value []byte
	rev   uint64 // its number in the stream
	at    time.Time
	ids   string // of the newest writes of this key, its own last, with blanks between them
	mark
}

// mark is what the headers of an entry say of it.
type mark struct {
	team    string // the id of the team that a roster is of
	over    uint64 // of a claim: the number of the task's entry that it was made over
	deleted bool
}

// read takes in the headers. What is kept of them is what is needed: there are many entries.
func (x *entry) read(h nats.Header) {
	x.ids, x.team, x.deleted = cmp.Or(h.Get(writesHeader), h.Get(idHeader)), h.Get(teamHeader), h.Get(operation) != ""
	if strings.HasSuffix(x.ids, claims) {
		x.over, _ = strconv.ParseUint(h.Get(overHeader), 10, 64) // what is no number is no claim
	}
}

// errConflict says that somebody else has written meanwhile.
var errConflict = errors.New("somebody else has written meanwhile")

// write is a message for the engine.
type write struct {
	subject string
	value   []byte
	id      string // by which the engine knows it again; "": a new one
	cas     bool   // only if the last message of wide has the number rev
	rev     uint64 // 0: there is none
	wide    string // "": the subject itself
	was     string // the ids of the writes before
	mark
}

// over is a write that takes the place of an entry, nil for none, if that is still the newest.
func over(x *entry) write {
	if x == nil {
		return write{cas: true}
	}
	return write{cas: true, rev: x.rev, was: x.ids}
}

// header is what the engine is told of a write, and with it whoever reads it.
func (w *write) header() nats.Header {
	h := nats.Header{idHeader: {w.id}}
	if w.cas {
		h.Set(idHeader, strings.TrimLeft(newestWrites(w.was)+" "+w.id, " "))
		h.Set(overHeader, revText(w.rev))
	}
	if w.wide != "" {
		h.Set(jetstream.ExpectedLastSubjSeqSubjHeader, w.wide)
	}
	if w.team != "" {
		h.Set(teamHeader, w.team)
	}
	if w.deleted {
		h.Set(operation, "DEL")
	}
	return h
}

// newestWrites are those ids of writes that are kept when another follows.
func newestWrites(ids string) string {
	at := len(ids)
	for range keptWrites - 1 {
		if at = strings.LastIndexByte(ids[:at], ' '); at < 0 {
			return ids
		}
	}
	return ids[at+1:]
}

// newID is what a write is known again by: 128 bits of chance.
func newID() string {
	raw := binary.LittleEndian.AppendUint64(nil, rand.Uint64())
	return base64.RawURLEncoding.EncodeToString(binary.LittleEndian.AppendUint64(raw, rand.Uint64()))
}

// put sends a write, and again if the answer is lost, and returns its number.
func (e *Engine) put(ctx context.Context, w write) (*entry, error) {
	if w.id == "" {
		w.id = newID()
	}
	if w.over > 0 {
		w.id += claims
	}
	m := &nats.Msg{Subject: w.subject, Header: w.header(), Data: w.value}
	rev, err := e.deliver(ctx, &w, m)
	if err != nil {
		return nil, err
	}
	return &entry{value: w.value, rev: rev, at: time.Now(), ids: m.Header.Get(idHeader), mark: w.mark}, nil
}

func (e *Engine) deliver(ctx context.Context, w *write, m *nats.Msg) (uint64, error) {
	const op = "write to the engine"
	if err := e.reachable(op); err != nil {
		return 0, err
	}
	began := time.Now()
	for lost := false; ; lost = true {
		rev, err := e.publish(ctx, m)
		code := codeOf(err)
		switch {
		case err == nil:
			return rev, nil
		case code == jetstream.JSErrCodeStreamWrongLastSequence, code == jetstream.JSErrCodeStreamWrongLastSequenceConstant:
			if lost {
				return e.mine(ctx, w)
			}
			return 0, errConflict
		case code != 0 && !choosing(err), errors.Is(err, nats.ErrMaxPayload), ctx.Err() != nil, time.Since(began) > chooseLimit:
			return 0, e.explain(ctx, op, err)
		}
		e.log.Debug("an answer was lost; the write is sent again", "subject", w.subject, "error", err)
		if err := e.awaitConnection(ctx, began); err != nil {
			return 0, err
		}
		if code != 0 || errors.Is(err, nats.ErrNoResponders) { // it has answered at once, and would do so again
			pause(ctx)
		}
	}
}

// mine tells whether a write whose answer was lost is there: it, or what was written
// over it, carries its id.
func (e *Engine) mine(ctx context.Context, w *write) (uint64, error) {
	x, err := e.last(ctx, streamOf(w.subject, e), w.subject)
	if err != nil {
		return 0, err
	}
	if x != nil && slices.Contains(strings.Split(x.ids, " "), w.id) {
		return x.rev, nil
	}
	return 0, errConflict
}

// awaitConnection waits until the engine can be reached again, for what began then.
func (e *Engine) awaitConnection(ctx context.Context, began time.Time) error {
	const op = "find out what became of a write"
	patient := func() bool { return time.Since(began) <= retryLimit || e.switching() }
	switch {
	case e.connects(ctx, patient):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	return e.access.unavailable(op, e.nc.LastError())
}

// Errors of a cluster that will go away: its nodes choose who leads, or the write that is
// sent again is under way.
const (
	clusterNotAvailable = 10008
	clusterNotLeader    = 10009
	duplicateInProcess  = 10158
)

// choosing tells whether an error may be gone when the nodes of a cluster have chosen who
// leads.
func choosing(err error) bool {
	if code := codeOf(err); code != 0 {
		return slices.Contains([]jetstream.ErrorCode{clusterNotAvailable, clusterNotLeader, duplicateInProcess, noPeers}, code)
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, nats.ErrTimeout)
}

// pause is a moment before something is asked for again.
func pause(ctx context.Context) {
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
	}
}

// patiently asks for something, which may be asked for twice, until the nodes of a cluster
// have chosen who leads.
func (e *Engine) patiently(ctx context.Context, ask func(context.Context) error) error {
	for began := time.Now(); ; pause(ctx) {
		once, cancel := e.within(ctx, retryLimit)
		err := ask(once)
		cancel()
		if err == nil || !choosing(err) || ctx.Err() != nil || time.Since(began) > chooseLimit || e.awaitConnection(ctx, began) != nil {
			return err
		}
	}
}

// found is the answer to the question for a message.
type found struct {
	Error   *jetstream.APIError `json:"error"`
	Message *struct {
		Seq    uint64    `json:"seq"`
		Header []byte    `json:"hdrs"`
		Data   []byte    `json:"data"`
		Time   time.Time `json:"time"`
	} `json:"message"`
}

// last returns the newest message of a subject, which may hold wild cards, nil if there
// is none. The node that leads the stream answers, so nothing newer is there.
func (e *Engine) last(ctx context.Context, stream, subject string) (*entry, error) {
	return e.one(ctx, stream, map[string]any{"last_by_subj": subject})
}

// after returns the first message of a subject whose number is greater, nil if there is
// none. Where nothing is new that costs less than to be sent the newest.
func (e *Engine) after(ctx context.Context, stream, subject string, rev uint64) (*entry, error) {
	return e.one(ctx, stream, map[string]any{"next_by_subj": subject, "seq": rev + 1})
}

// one asks the node that leads a stream for one message, and again while none leads.
func (e *Engine) one(ctx context.Context, stream string, which map[string]any) (*entry, error) {
	const op = "read from the engine"
	if err := e.reachable(op); err != nil {
		return nil, err
	}
	var got found
	err := e.patiently(ctx, func(ctx context.Context) (err error) {
		got, err = e.lookFor(ctx, stream, which)
		return err
	})
	if err != nil {
		return nil, e.explain(ctx, op, err)
	}
	if got.Message == nil {
		return nil, nil
	}
	x := &entry{value: got.Message.Data, rev: got.Message.Seq, at: got.Message.Time}
	if len(got.Message.Header) > 0 {
		h, err := nats.DecodeHeadersMsg(got.Message.Header)
		if err != nil {
			return nil, e.explain(ctx, op, err)
		}
		x.read(h)
	}
	return x, nil
}

// lookFor asks once for one message.
func (e *Engine) lookFor(ctx context.Context, stream string, which map[string]any) (got found, err error) {
	ask, err := json.Marshal(which)
	if err != nil {
		return got, err
	}
	answer, err := e.request(ctx, &nats.Msg{Subject: "$JS.API.STREAM.MSG.GET." + stream, Data: ask})
	if err == nil {
		err = json.Unmarshal(answer.Data, &got)
	}
	switch {
	case err != nil:
		return got, err
	case got.Error != nil && got.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return found{}, nil
	case got.Error != nil:
		return got, got.Error
	case got.Message == nil:
		return got, errors.New("an answer without a message")
	}
	return got, nil
}

// purge removes all messages of a subject that are older than before, all for 0. One that
// is not there is removed already.
func (e *Engine) purge(ctx context.Context, stream, subject string, before uint64) error {
	options := []jetstream.StreamPurgeOpt{jetstream.WithPurgeSubject(subject)}
	if before > 0 {
		options = append(options, jetstream.WithPurgeSequence(before))
	}
	err := e.patiently(ctx, func(ctx context.Context) error {
		s, err := e.js.Stream(ctx, stream)
		if err == nil {
			err = s.Purge(ctx, options...)
		}
		return err
	})
	return e.explain(ctx, "remove from the engine", err)
}
