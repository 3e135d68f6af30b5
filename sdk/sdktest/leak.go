package sdktest

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"time"
)

// mark tells the goroutines of one provider from all others in the process, other tests' included: a goroutine inherits
// the profiler's labels of the one that starts it.
type mark struct{ id string }

var marks atomic.Int64

func newMark() mark { return mark{fmt.Sprintf("sdktest-%d", marks.Add(1))} }

// do runs start, with everything that it starts marked.
func (m mark) do(start func()) {
	pprof.Do(context.Background(), pprof.Labels("provider", m.id), func(context.Context) { start() })
}

// left gives the stacks of the marked goroutines that do not end.
func (m mark) left() []string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		stacks := m.stacks()
		if len(stacks) == 0 || ctx.Err() != nil {
			return stacks
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func (m mark) stacks() (found []string) {
	var profile bytes.Buffer
	// Writing to memory cannot fail.
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1)
	for block := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(block, fmt.Sprintf("%q", m.id)) {
			found = append(found, block)
		}
	}
	return found
}
