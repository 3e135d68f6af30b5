package lean

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// step is how coarse the limit is: to set another one stops everything for a moment.
const step = 1 << 20

// percent is how much garbage a process that holds little may have, of what is in use. At the runtime's own 100 it would
// collect after every hundred or two small calls, which takes a tenth of their time.
const (
	percent        = 400
	runtimePercent = 100
)

// Bound has garbage collected at once when the process holds more than soft bytes, unless most of that is in use: then
// garbage may grow to half of what is. Below, it may grow to four times of it. What somebody has set stands instead, by GOGC,
// GOMEMLIMIT, debug.SetGCPercent or debug.SetMemoryLimit, before or later: a limit in the place of soft.
func Bound(soft int64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	if set := debug.SetGCPercent(percent); set != runtimePercent {
		debug.SetGCPercent(set)
	}
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	debug.SetMemoryLimit(soft)
	afterEachCollection(func(limit int64) (int64, bool) {
		if debug.SetMemoryLimit(-1) != limit {
			return 0, false
		}
		if wanted := max(soft, enough()/step*step); wanted != limit {
			debug.SetMemoryLimit(wanted)
			limit = wanted
		}
		return limit, true
	}, soft)
}

// enough is what the process needs by the last collection, with some air: a limit that lies below has the collector run
// all the time.
func enough() int64 {
	live := read("/gc/heap/live:bytes")
	heap := read("/memory/classes/heap/objects:bytes") + read("/memory/classes/heap/unused:bytes") +
		read("/memory/classes/heap/free:bytes") + read("/memory/classes/heap/released:bytes")
	return int64(read("/memory/classes/total:bytes") - heap + live + live/2)
}

// afterEachCollection calls do after every collection of garbage, with what it returned the last time, until it does not want
// to be called any more. It is told by an object that is garbage each time.
func afterEachCollection[T any](do func(T) (T, bool), value T) {
	sentinel := &struct{ _ *byte }{}
	runtime.AddCleanup(sentinel, func(value T) {
		if value, again := do(value); again {
			afterEachCollection(do, value)
		}
	}, value)
}
