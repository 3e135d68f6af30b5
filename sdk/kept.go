package sdk

import (
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	"github.com/agentco/agent/proto/plugin"
)

const (
	// mostKept is how many renderings wait at once: enough for calls beside each other.
	mostKept = 16
	// keptBytes bounds them together, as they are on the wire: two of the largest fit, and in memory they take a few times
	// as much, which a provider must not hold on to for a kernel that does not come.
	keptBytes = 2 * messageBytes
)

// kept are renderings that are too large to travel with their results, by call, until the kernel comes for them: that is at
// once if ever, so what has waited for long goes, and before its time when newer ones need the room.
type kept struct {
	mu      sync.Mutex
	waiting []*keptRendering // oldest first
	bytes   int
}

type keptRendering struct {
	call string
	made chan struct{}        // closed when tree is set
	tree *renderv1.RenderTree // nil when nothing shows the result
	size int
	over *time.Timer
}

// put makes room for the rendering of a call, which is given to made. It is not ok when too many wait already.
func (k *kept) put(call string) (made func(*renderv1.RenderTree), ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropLocked(k.findLocked(call)) // of an earlier attempt
	if len(k.waiting) >= mostKept {
		return nil, false
	}
	r := &keptRendering{call: call, made: make(chan struct{})}
	r.over = time.AfterFunc(plugin.KeptFor, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.dropLocked(r)
	})
	k.waiting = append(k.waiting, r)
	return func(tree *renderv1.RenderTree) {
		k.weigh(r, proto.Size(tree))
		r.tree = tree
		close(r.made)
	}, true
}

// weigh counts a rendering that has been made. The oldest go when that is too much, since nobody has come for them.
func (k *kept) weigh(r *keptRendering, size int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.waiting, r) {
		return
	}
	r.size = size
	k.bytes += size
	for i := 0; k.bytes > keptBytes && i < len(k.waiting); {
		if old := k.waiting[i]; old != r && old.size > 0 {
			k.dropLocked(old)
		} else {
			i++
		}
	}
}

func (k *kept) findLocked(call string) *keptRendering {
	for _, r := range k.waiting {
		if r.call == call {
			return r
		}
	}
	return nil
}

func (k *kept) dropLocked(r *keptRendering) {
	if at := slices.Index(k.waiting, r); at >= 0 {
		r.over.Stop() // which would hold on to it
		k.waiting = slices.Delete(k.waiting, at, at+1)
		k.bytes -= r.size
	}
}

// take is the rendering of a call, which is not kept any more; nil when there is none.
func (k *kept) take(ctx context.Context, call string) *renderv1.RenderTree {
	k.mu.Lock()
	r := k.findLocked(call)
	k.dropLocked(r)
	k.mu.Unlock()
	if r == nil {
		return nil
	}
	select {
	case <-r.made:
		return r.tree
	case <-ctx.Done():
		return nil
	}
}
