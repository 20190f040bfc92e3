package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Hint is the notification of a watch.
const Hint = "store.hint"

// remain is a store.Remain as the wire carries it.
type remain struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

type nothing = rpc.Nothing

// Methods is the half that answers. stores returns what is served now, or why nothing is.
func Methods(stores func(context.Context) (store.Stores, error)) []rpc.Method {
	s := source(stores)
	return slices.Concat(s.ofRosters(), s.ofMail(), s.ofTasks())
}

// source returns the stores of now.
type source func(context.Context) (store.Stores, error)

func (s source) ofRosters() []rpc.Method {
	return []rpc.Method{
		method(s, "store.roster.create", "Make a team on the engine.", func(ctx context.Context, s store.Stores, p creating[store.Team]) (nothing, error) {
			return nothing{}, s.Roster.Create(ctx, p.Value)
		}).OfLead(),
		method(s, "store.roster.get", "The roster of a team on the engine.", func(ctx context.Context, s store.Stores, p target) (store.Team, error) {
			return s.Roster.Get(ctx, p.Team)
		}),
		method(s, "store.roster.list", "The teams on the engine.", func(ctx context.Context, s store.Stores, _ nothing) ([]string, error) { return s.Roster.List(ctx) }),
		method(s, "store.roster.delete", "Delete a team on the engine.", func(ctx context.Context, s store.Stores, p target) (nothing, error) {
			return nothing{}, s.Roster.Delete(ctx, p.Team)
		}).OfLead(),
		method(s, "store.roster.remains", "What removals that were cut off have left on the engine.", remains),
		method(s, "store.roster.tidy", "Remove one of those.", tidy).OfLead(),
		method(s, "store.roster.edit", "A roster to be changed, with a mark.", func(ctx context.Context, s store.Stores, p target) (edited[store.Team], error) {
			return peek(func(look func(*store.Team) error) error { return s.Roster.Update(ctx, p.Team, look) }, (*store.Team).Clone)
		}),
		method(s, "store.roster.put", "A changed roster, if the mark is still right.", putRoster),
		method(s, "store.roster.watch", "Hints at changes of rosters, as notifications.", func(ctx context.Context, s store.Stores, p target) (nothing, error) {
			return relay(ctx, func(ctx context.Context) (<-chan struct{}, error) { return s.Roster.Watch(ctx, p.Team) })
		}),
	}
}

func (s source) ofMail() []rpc.Method {
	return []rpc.Method{
		method(s, "store.mail.put", "Send a message.", func(ctx context.Context, s store.Stores, p creating[store.Message]) (store.Message, error) {
			return s.Mail.Put(ctx, p.At.Team, p.At.Owner, p.Value)
		}),
		method(s, "store.mail.list", "The messages of a mailbox.", func(ctx context.Context, s store.Stores, p target) ([]store.Message, error) {
			if p.After {
				ctx = store.AfterHint(ctx)
			}
			return s.Mail.List(ctx, p.Team, p.Owner)
		}),
		method(s, "store.mail.read", "Record messages as handed over.", func(ctx context.Context, s store.Stores, p creating[[]string]) (nothing, error) {
			return nothing{}, s.Mail.MarkRead(ctx, p.At.Team, p.At.Owner, p.Value)
		}),
		method(s, "store.mail.prune", "Archive read messages.", func(ctx context.Context, s store.Stores, p creating[int]) (int, error) {
			return s.Mail.Prune(ctx, p.At.Team, p.At.Owner, p.Value)
		}),
		method(s, "store.mail.archive", "Archive a mailbox.", func(ctx context.Context, s store.Stores, p target) (int, error) {
			return s.Mail.Archive(ctx, p.Team, p.Owner)
		}),
		method(s, "store.mail.watch", "Hints at changes of a mailbox, as notifications.", func(ctx context.Context, s store.Stores, p target) (nothing, error) {
			return relay(ctx, func(ctx context.Context) (<-chan struct{}, error) { return s.Mail.Watch(ctx, p.Team, p.Owner) })
		}),
	}
}

func (s source) ofTasks() []rpc.Method {
	return []rpc.Method{
		method(s, "store.tasks.create", "Add a task.", func(ctx context.Context, s store.Stores, p creating[store.Task]) (store.Task, error) {
			return s.Tasks.Create(ctx, p.At.Team, p.Value)
		}),
		method(s, "store.tasks.get", "One task.", func(ctx context.Context, s store.Stores, p target) (store.Task, error) {
			return s.Tasks.Get(ctx, p.Team, p.ID)
		}),
		method(s, "store.tasks.list", "The tasks of a team.", func(ctx context.Context, s store.Stores, p target) (listed, error) {
			list, warnings, err := s.Tasks.List(ctx, p.Team)
			return listed{list, warnings}, err
		}),
		method(s, "store.tasks.edit", "A task to be changed, with a mark.", func(ctx context.Context, s store.Stores, p target) (edited[store.Task], error) {
			return peek(func(look func(*store.Task) error) error {
				_, err := s.Tasks.Update(ctx, p.Team, p.ID, look)
				return err
			}, (*store.Task).Clone)
		}),
		method(s, "store.tasks.put", "A changed task, if the mark is still right.", putTask),
		method(s, "store.tasks.claim", "Claim a task.", func(ctx context.Context, s store.Stores, p target) (store.Task, error) {
			return s.Tasks.Claim(ctx, p.Team, p.ID, p.Who)
		}),
		method(s, "store.tasks.next", "Claim the next task.", func(ctx context.Context, s store.Stores, p target) (store.Task, error) {
			return s.Tasks.ClaimNext(ctx, p.Team, p.Who)
		}),
		method(s, "store.tasks.delete", "Remove a task.", func(ctx context.Context, s store.Stores, p target) (nothing, error) {
			return nothing{}, s.Tasks.Delete(ctx, p.Team, p.ID)
		}),
		method(s, "store.tasks.watch", "Hints at changes of a task list, as notifications.", func(ctx context.Context, s store.Stores, p target) (nothing, error) {
			return relay(ctx, func(ctx context.Context) (<-chan struct{}, error) { return s.Tasks.Watch(ctx, p.Team) })
		}),
	}
}

// method makes a method that works on the stores of now.
func method[P, R any](s source, name, about string, do func(context.Context, store.Stores, P) (R, error)) rpc.Method {
	return rpc.Func(name, about, func(ctx context.Context, p P) (R, error) {
		stores, err := s(ctx)
		if err != nil {
			var none R
			return none, err
		}
		return do(ctx, stores, p)
	})
}

func remains(ctx context.Context, s store.Stores, _ nothing) ([]remain, error) {
	found, err := s.Roster.Remains(ctx)
	out := []remain{}
	for _, x := range found {
		out = append(out, remain{x.What, x.Why})
	}
	return out, err
}

func tidy(ctx context.Context, s store.Stores, p remain) (nothing, error) {
	found, err := s.Roster.Remains(ctx)
	for _, x := range found {
		if x.What == p.What {
			return nothing{}, x.Remove(ctx)
		}
	}
	return nothing{}, err
}

// errPeek ends a change that only looks, errOther one whose mark is not right any more.
var (
	errPeek  = errors.New("it was only looked at")
	errOther = errors.New("somebody else was first")
)

// peek returns a value as a change gets it.
func peek[V any](update func(func(*V) error) error, clone func(*V) V) (edited[V], error) {
	var seen edited[V]
	err := update(func(v *V) error {
		seen.Value = clone(v)
		return errPeek
	})
	if !errors.Is(err, errPeek) {
		return seen, err
	}
	seen.Mark, err = markOf(seen.Value)
	return seen, err
}

func markOf(v any) (string, error) {
	data, err := json.Marshal(v)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// put puts a changed value in the place of the one with its mark, by update, if that is still there.
func put[V any](p putting[V], clone func(*V) V, keep func(was, next *V), update func(func(*V) error) (V, error)) (edited[V], error) {
	value, err := update(func(now *V) error {
		switch is, err := markOf(*now); {
		case err != nil:
			return err
		case is != p.Mark:
			return errOther
		}
		next := clone(&p.Value)
		keep(now, &next)
		*now = next
		return nil
	})
	if errors.Is(err, errOther) {
		return edited[V]{}, nil
	}
	return edited[V]{value, p.Mark}, err
}

func putRoster(ctx context.Context, s store.Stores, p putting[store.Team]) (edited[store.Team], error) {
	keep := func(was, next *store.Team) {
		keepSpelling(was.Metadata, next.Metadata)
		for i := range next.Members {
			if old := was.Member(next.Members[i].Name); old != nil {
				keepSpelling(old.Metadata, next.Members[i].Metadata)
			}
		}
	}
	return put(p, (*store.Team).Clone, keep, func(change func(*store.Team) error) (none store.Team, err error) {
		return none, s.Roster.Update(ctx, p.At.Team, change)
	})
}

func putTask(ctx context.Context, s store.Stores, p putting[store.Task]) (edited[store.Task], error) {
	keep := func(was, next *store.Task) { keepSpelling(was.Metadata, next.Metadata) }
	return put(p, (*store.Task).Clone, keep, func(change func(*store.Task) error) (store.Task, error) {
		return s.Tasks.Update(ctx, p.At.Team, p.At.ID, change)
	})
}

// keepSpelling gives values that came over the wire unchanged the bytes that they had.
func keepSpelling(was, now map[string]json.RawMessage) {
	for key, raw := range was {
		if sent, err := json.Marshal(raw); err == nil && bytes.Equal(sent, now[key]) {
			now[key] = raw
		}
	}
}

// relay tells the other side of hints until it hangs up.
func relay(ctx context.Context, watch func(context.Context) (<-chan struct{}, error)) (nothing, error) {
	peer := rpc.PeerOf(ctx)
	if peer == nil {
		return nothing{}, fault.New(fault.Unsupported, "hints need a connection")
	}
	if err := peer.Subscribe(Hint); err != nil {
		return nothing{}, err
	}
	long, stop := context.WithCancel(peer.Context())
	hints, err := watch(long)
	if err != nil {
		stop()
		peer.Unsubscribe(Hint)
		return nothing{}, err
	}
	go func() {
		defer stop()
		for range hints {
			if peer.Notify(long, Hint, nothing{}) != nil {
				break
			}
		}
		peer.Close()
	}()
	return nothing{}, nil
}
