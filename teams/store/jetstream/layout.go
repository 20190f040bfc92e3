package jetstream

import (
	"context"
	"encoding/base32"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Schema is the version of the layout on an engine that this program writes. An engine
// with a newer one is fault.VersionTooNew and is left untouched.
const Schema = 1

// meta is the entry that says what the buckets are.
type meta struct {
	Schema int    `json:"schema"`
	ID     string `json:"id"` // of these buckets: an engine that lost its disk gets another
}

// duplicates is how long the engine knows a message again.
const duplicates = 2 * time.Minute

func (e *Engine) state() string    { return "KV_" + e.bucket() }
func (e *Engine) bucket() string   { return e.prefix + "-state" }
func (e *Engine) machines() string { return e.prefix + "-machines" }
func (e *Engine) mail() string     { return e.prefix + "-mail" }

// key is the subject of an entry of the state.
func (e *Engine) key(parts ...string) string {
	return "$KV." + e.bucket() + "." + strings.Join(parts, ".")
}

// subject is one of the mail.
func (e *Engine) subject(parts ...string) string { return e.prefix + "." + strings.Join(parts, ".") }

func streamOf(subject string, e *Engine) string {
	if strings.HasPrefix(subject, "$KV."+e.bucket()+".") {
		return e.state()
	}
	return e.mail()
}

// token makes one element of a subject of any name.
func token(name string) string {
	return base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(name))
}

// Join connects to an engine and makes there what teams need, unless it is there. It
// returns the id of it.
func Join(ctx context.Context, o Options) (id string, err error) {
	if err := o.Access.check(); err != nil {
		return "", err
	}
	e, err := open(o)
	if err != nil {
		return "", err
	}
	defer e.Close()
	err = e.patiently(ctx, func(ctx context.Context) error {
		err := e.prepare(ctx, 3)
		if codeOf(err) == replicasNotSupported {
			err = e.prepare(ctx, 1)
		}
		return err
	})
	if err != nil {
		return "", e.explain(ctx, "prepare the engine "+e.url, err)
	}
	return e.settle(ctx)
}

// Errors of an engine that cannot keep three replicas.
const (
	replicasNotSupported = 10074 // it is a single node
	noPeers              = 10005 // it is a cluster of fewer than three nodes, or some are away
)

// noRoom are the errors of an engine that can keep no more.
var noRoom = []jetstream.ErrorCode{
	10023, // its resources are used up
	10047, // its storage is
	10077, // what was to be kept could not be written
}

const (
	maxStreams jetstream.ErrorCode = 10027 // of an account
	noLeader   jetstream.ErrorCode = 10008 // of the cluster
)

// codeOf is the code of an error of the engine, 0 for any other error.
func codeOf(err error) jetstream.ErrorCode {
	if api, is := errors.AsType[*jetstream.APIError](err); is {
		return api.ErrorCode
	}
	return 0
}

func (e *Engine) prepare(ctx context.Context, replicas int) error {
	for _, bucket := range []jetstream.KeyValueConfig{
		{Bucket: e.bucket(), Description: "leadlight: teams, tasks, and what was read"},
		{Bucket: e.machines(), Description: "leadlight: machines and when they were seen", MaxBytes: 64 << 20},
	} {
		bucket.History, bucket.Storage, bucket.Replicas = 1, jetstream.FileStorage, replicas
		if _, err := e.js.KeyValue(ctx, bucket.Bucket); !errors.Is(err, jetstream.ErrBucketNotFound) {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := e.js.CreateKeyValue(ctx, bucket); err != nil && !errors.Is(err, jetstream.ErrBucketExists) {
			return err
		}
	}
	if _, err := e.js.Stream(ctx, e.mail()); !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	_, err := e.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: e.mail(), Description: "leadlight: messages", Subjects: []string{e.subject("mail", ">"), e.subject("part", ">"), e.subject("archive", ">")},
		Storage: jetstream.FileStorage, Replicas: replicas, Duplicates: duplicates,
	})
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return nil
	}
	return err
}

// settle reads what the buckets are, and says it in those that are new.
func (e *Engine) settle(ctx context.Context) (string, error) {
	fresh, err := json.Marshal(meta{Schema, uuid.NewString()})
	if err != nil {
		return "", err
	}
	_, err = e.put(ctx, write{subject: e.key("meta"), value: fresh, cas: true})
	if err != nil && !errors.Is(err, errConflict) {
		return "", err
	}
	return e.check(ctx)
}

// Check says whether the engine is the one that was joined, whose id is given.
func (e *Engine) Check(ctx context.Context, id string) error {
	found, err := e.check(ctx)
	if err == nil && found != id {
		err = fault.New(fault.EngineUnavailable, "the engine %s is not the one that this machine has joined: what it keeps was made anew", e.url).
			WithHint("leadlight machine leave --force, then leadlight machine join %s begins anew; leadlight gc ends teammates of before", e.url)
	}
	return err
}

func (e *Engine) check(ctx context.Context) (string, error) {
	x, err := e.last(ctx, e.state(), e.key("meta"))
	if err != nil {
		return "", err
	}
	var m meta
	switch {
	case x == nil:
		return "", fault.New(fault.EngineUnavailable, "the engine %s is not prepared", e.url).WithHint("leadlight machine join %s prepares it", e.url)
	case json.Unmarshal(x.value, &m) != nil || m.ID == "":
		return "", fault.New(fault.CorruptFile, "the entry meta of the bucket %s on %s is damaged", e.bucket(), e.url).WithHint("nats kv get %s meta shows it", e.bucket())
	case m.Schema > Schema:
		return "", fault.New(fault.VersionTooNew, "the engine %s was prepared by a newer leadlight (layout %d, this one knows %d)", e.url, m.Schema, Schema).WithHint("update leadlight; the engine was left untouched")
	}
	return m.ID, nil
}
