// Package lean keeps a process small that mostly waits: what its work has left is given back once there is nothing to do,
// and garbage does not grow without bounds meanwhile.
package lean

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The first rest comes soon after the start, which has touched most of what it touched for the last time. Later ones wait
// until nobody seems to be at work, since the next call finds again what it needs: that costs it about a millisecond.
const (
	firstQuiet = 400 * time.Millisecond
	laterQuiet = 20 * time.Second
)

const (
	// noise is what a process allocates that does nothing, and worth what one has that did something.
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
	quiet, before, rested := firstQuiet, uint64(0), uint64(0)
	for {
		select {
		case <-time.After(quiet):
		case <-ctx.Done():
			return
		}
		now := read("/gc/heap/allocs:bytes")
		if now-before < noise && now-rested > worth {
			rest()
			quiet, rested = laterQuiet, now
		}
		before = now
	}
}

// rest gives back the heap that is not in use, when that is much, and what is in memory of the binary.
func rest() {
	held := read("/memory/classes/heap/objects:bytes") + read("/memory/classes/heap/free:bytes")
	if held > min(large, read("/gc/heap/live:bytes")+spare) {
		debug.FreeOSMemory()
	}
	slim()
}

func read(metric string) uint64 {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
