// Package lean keeps a process small that mostly waits, as a kernel does and a provider: what its work has left is given back
// once there is nothing to do, and garbage does not grow without bounds meanwhile.
package lean

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/agentco/agent/proto/early"
)

// The first rest comes soon after the start, which has touched most of what it touched for the last time. Later ones wait
// until a while has passed in which an assistant thinks, and not a program calls: the next call finds again what it needs,
// which costs it about a millisecond.
const (
	firstQuiet = 400 * time.Millisecond
	laterQuiet = 5 * time.Second
)

const (
	// noise is what a process allocates that does nothing, and worth what one has that did something since it rested.
	noise = 128 << 10
	worth = 1 << 20
	// spare is how much heap that nobody uses is kept, for the next call.
	spare = 4 << 20
	// large is a heap that may hold much more than is in use: what it is known to have is that of the last collection, which
	// work may have been going on at.
	large = 16 << 20
)

// Keep gives memory back whenever the process has been quiet for a while, until ctx ends.
func Keep(ctx context.Context) {
	quiet, seen := firstQuiet, watch{}
	for {
		select {
		case <-time.After(quiet):
		case <-ctx.Done():
			return
		}
		if seen.due(read("/gc/heap/allocs:bytes")) {
			rest()
			quiet = laterQuiet
		}
	}
}

// watch is what a process had allocated when it was looked at for the last time, and when it rested; zero before that.
type watch struct{ seen, rested uint64 }

// due reports whether a process that has allocated so much has been quiet since the last look, and has done enough since it
// rested. A start is always enough.
func (w *watch) due(allocated uint64) bool {
	quiet := allocated-w.seen < noise
	w.seen = allocated
	if !quiet || w.rested > 0 && allocated-w.rested <= worth {
		return false
	}
	w.rested = allocated
	return true
}

// rest gives back the heap that is not in use, when that is much, and what is in memory of the binary.
func rest() {
	held := read("/memory/classes/heap/objects:bytes") + read("/memory/classes/heap/free:bytes")
	if held > min(large, read("/gc/heap/live:bytes")+spare) {
		debug.FreeOSMemory()
	}
	early.Slim()
}

func read(metric string) uint64 {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
