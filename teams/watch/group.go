package watch

import (
	"context"
	"sync"
)

// Group does something for each name of a set that changes. The zero Group is empty.
type Group struct {
	mu      sync.Mutex
	running map[string]context.CancelFunc
}

// Set begins what is wanted and does not run, and ends what runs and is not wanted.
func (g *Group) Set(ctx context.Context, wanted map[string]bool, begin func(ctx context.Context, name string)) {
	fresh := map[string]context.Context{}
	g.mu.Lock()
	for name, cancel := range g.running {
		if !wanted[name] {
			cancel()
			delete(g.running, name)
		}
	}
	if g.running == nil {
		g.running = map[string]context.CancelFunc{}
	}
	for name := range wanted {
		if g.running[name] == nil {
			fresh[name], g.running[name] = context.WithCancel(ctx)
		}
	}
	g.mu.Unlock()
	for name, own := range fresh {
		begin(own, name)
	}
}

// Ended says that what was done for a name is over: Set may begin it again.
func (g *Group) Ended(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cancel := g.running[name]; cancel != nil {
		cancel()
		delete(g.running, name)
	}
}
