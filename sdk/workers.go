package sdk

import "context"

// workers run the functions of operations. A goroutine that has run one waits for the next, with a stack that has grown: of
// a small call, that takes a good part of the time.
type workers struct {
	idle   chan func()
	places chan struct{}   // one of each that waits
	over   <-chan struct{} // closed when nobody waits any more
}

// mostIdle is how many wait at most, for what is called many times at once.
const mostIdle = 8

func newWorkers(life context.Context) *workers {
	return &workers{idle: make(chan func()), places: make(chan struct{}, mostIdle), over: life.Done()}
}

// run has a job run beside its caller.
func (w *workers) run(job func()) {
	select {
	case w.idle <- job:
	default:
		go w.work(job)
	}
}

func (w *workers) work(job func()) {
	for {
		job()
		select {
		case w.places <- struct{}{}:
		default:
			return
		}
		select {
		case job = <-w.idle:
			<-w.places
		case <-w.over:
			return
		}
	}
}
