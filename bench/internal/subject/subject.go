// Package subject drives what is measured: MCP servers over stdio and HTTP, command lines, the kernel's engine, and
// functions of this process, all by the same batches of the same operations.
package subject

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Subject is something that carries out operations.
type Subject interface {
	// Name is short, and the key of its rows.
	Name() string
	// Can reports whether the subject has an operation.
	Can(op string) bool
	// Batch carries out an operation as often as the batch says. An error leaves what was measured before it. The end of ctx
	// cancels the calls that run.
	Batch(ctx context.Context, op string, b Batch) (Samples, error)
	// PID is the process that serves; zero when there is none of its own.
	PID() int
	// Close ends it, with all its processes.
	Close()
}

// Batch is a number of repetitions of one operation.
type Batch struct {
	N, Workers int
	// From is the number of the first repetition: ${i} in Vars, as ${next} is the one after.
	From int
	// Limit ends the batch early; the call that runs is not cut off.
	Limit time.Duration
	// Vars are put into the arguments of the operation.
	Vars Vars
}

// Samples are what a batch brought.
type Samples struct {
	Took []float64 // milliseconds
	// First is the time until the first output, of operations that print.
	First []float64
	// Output is how many bytes the last call printed while it ran, and Text what it answered.
	Output int
	Text   string
	// CPU is the processor time of one call in milliseconds, of subjects that say.
	CPU float64
	// WireOut and WireIn are bytes, of all calls together.
	WireOut, WireIn int
}

// answered is what one call brought.
type answered struct {
	text   func() string
	output int
	first  time.Duration
	took   time.Duration // zero for all of the time there was
}

// repeat carries out a batch with a stopwatch of this process.
func repeat(ctx context.Context, b Batch, one func(ctx context.Context, vars Vars) (answered, error)) (s Samples, err error) {
	var (
		mu    sync.Mutex
		next  atomic.Int64
		work  sync.WaitGroup
		begun = time.Now()
	)
	for range max(1, b.Workers) {
		work.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= max(1, b.N) || i > 0 && b.Limit > 0 && time.Since(begun) > b.Limit {
					return
				}
				vars := b.Vars.Repetition(b.From + i)
				start := time.Now()
				a, failed := one(ctx, vars)
				if a.took == 0 {
					a.took = time.Since(start)
				}
				mu.Lock()
				if failed != nil {
					err = failed
					mu.Unlock()
					return
				}
				s.add(a)
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return s, err
}

func (s *Samples) add(a answered) {
	s.Took = append(s.Took, Milliseconds(a.took))
	if a.first > 0 {
		s.First = append(s.First, Milliseconds(a.first))
	}
	s.Output = a.output
	if len(s.Took) == 1 && a.text != nil {
		s.Text = a.text()
	}
}

// Milliseconds is a duration as rows have it.
func Milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
