package sdk

import (
	"context"
	"sync"
	"time"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/proto/plugin"
)

// mostKept is how many renderings wait at once: enough for calls beside each other.
const mostKept = 16

// kept are renderings that are too large to travel with their results, by call, until the kernel comes for them: that is at
// once if ever, so what has waited for long goes.
type kept struct {
	mu      sync.Mutex
	waiting map[string]*keptRendering
}

type keptRendering struct {
	made chan struct{}        // closed when tree is set
	tree *renderv1.RenderTree // nil when nothing shows the result
	over *time.Timer
}

// put makes room for the rendering of a call, which is given to made. It is not ok when too many wait already.
func (k *kept) put(call string) (made func(*renderv1.RenderTree), ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.waiting) >= mostKept {
		return nil, false
	}
	if k.waiting == nil {
		k.waiting = map[string]*keptRendering{}
	}
	if old := k.waiting[call]; old != nil {
		old.over.Stop() // which would hold on to it
	}
	r := &keptRendering{made: make(chan struct{})}
	r.over = time.AfterFunc(plugin.KeptFor, func() { k.drop(call, r) })
	k.waiting[call] = r
	return func(tree *renderv1.RenderTree) {
		r.tree = tree
		close(r.made)
	}, true
}

func (k *kept) drop(call string, r *keptRendering) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting[call] == r {
		delete(k.waiting, call)
	}
}

// take is the rendering of a call, which is not kept any more; nil when there is none.
func (k *kept) take(ctx context.Context, call string) *renderv1.RenderTree {
	k.mu.Lock()
	r := k.waiting[call]
	delete(k.waiting, call)
	k.mu.Unlock()
	if r == nil {
		return nil
	}
	r.over.Stop()
	select {
	case <-r.made:
		return r.tree
	case <-ctx.Done():
		return nil
	}
}
