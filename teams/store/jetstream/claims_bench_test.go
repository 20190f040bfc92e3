package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

// The load of BenchmarkClaims.
const (
	benchClaimers = 8
	benchMachines = 3
	benchTasks    = 2000
)

// BenchmarkClaims lets 8 claimers on 3 connections claim 2,000 tasks, each once, and in the
// same run 8 clients do as many bare updates of a bucket by compare-and-set.
func BenchmarkClaims(b *testing.B) {
	if os.Getenv(urlVar) == "" {
		b.Skip("make machines builds the engine")
	}
	for b.Loop() {
		bare := bareUpdates(b)
		claims := manyClaims(b)
		b.ReportMetric(bare, "updates/s")
		b.ReportMetric(claims, "claims/s")
		b.ReportMetric(claims/bare, "share")
	}
}

// atOnce lets the clients work n pieces, and returns how many a second.
func atOnce(b *testing.B, n int, work func(client, piece int) error) float64 {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for client := range benchClaimers {
		wg.Go(func() {
			for {
				piece := int(next.Add(1)) - 1
				if piece >= n {
					return
				}
				if err := work(client, piece); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(began).Seconds()
}

func bareUpdates(b *testing.B) float64 {
	ctx := context.Background()
	var buckets []jetstream.KeyValue
	for range benchMachines {
		nc, err := nats.Connect(os.Getenv(urlVar))
		if err != nil {
			b.Fatal(err)
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			b.Fatal(err)
		}
		kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "bare", History: 1, Storage: jetstream.FileStorage})
		if err != nil {
			b.Fatal(err)
		}
		buckets = append(buckets, kv)
	}
	defer func() {
		if nc, err := nats.Connect(os.Getenv(urlVar)); err == nil {
			if js, err := jetstream.New(nc); err == nil {
				_ = js.DeleteKeyValue(ctx, "bare")
			}
			nc.Close()
		}
	}()
	value := make([]byte, 300) // a small task
	revisions := make([]uint64, benchTasks)
	for i := range revisions {
		var err error
		if revisions[i], err = buckets[0].Put(ctx, fmt.Sprint(i), value); err != nil {
			b.Fatal(err)
		}
	}
	return atOnce(b, benchTasks, func(client, piece int) error {
		_, err := buckets[client%benchMachines].Update(ctx, fmt.Sprint(piece), value, revisions[piece])
		return err
	})
}

func manyClaims(b *testing.B) float64 {
	ctx, base := context.Background(), b.TempDir()
	var machines []storetest.Stores
	for range benchMachines {
		s, err := open(base)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		machines = append(machines, s)
	}
	if err := machines[0].Roster.Create(ctx, store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}}}); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = machines[0].Roster.Delete(ctx, "alpha") }()
	for i := range benchTasks {
		if _, err := machines[0].Tasks.Create(ctx, "alpha", store.Task{Subject: fmt.Sprint("task ", i)}); err != nil {
			b.Fatal(err)
		}
	}
	for _, s := range machines {
		if _, _, err := s.Tasks.List(ctx, "alpha"); err != nil {
			b.Fatal(err)
		}
	}
	var claimed sync.Map
	rate := atOnce(b, benchTasks, func(client, _ int) error {
		task, err := machines[client%benchMachines].Tasks.ClaimNext(ctx, "alpha", fmt.Sprint("w", client))
		if err != nil {
			return err
		}
		if _, twice := claimed.LoadOrStore(task.ID, true); twice {
			return errors.New("task " + task.ID + " is claimed twice")
		}
		return nil
	})
	if _, err := machines[0].Tasks.ClaimNext(ctx, "alpha", "w"); fault.CodeOf(err) != fault.NoTaskReady {
		b.Errorf("after all were claimed: %v", err)
	}
	return rate
}
