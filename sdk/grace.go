package sdk

import (
	"context"
	"sync"
	"time"
)

// graceTime is how long a cancelled call may go on to put things right and report, the kill grace included.
const graceTime = 5 * time.Second

// grace is the context that outlives a call's own by the grace time. It is made when it is asked for, or at the
// cancellation, which most calls do not live to see.
type grace struct {
	once sync.Once
	ctx  context.Context
	end  context.CancelFunc
}

func (g *grace) of(f *frame) context.Context {
	g.once.Do(func() { g.ctx, g.end = f.server.graceOf(f.events.ctx) })
	return g.ctx
}

// finish ends the grace time with the call.
func (g *grace) finish() {
	g.once.Do(func() { g.ctx, g.end = graceOver, func() {} })
	g.end()
}

// graceOver is the grace context of a call that has ended before it had one.
var graceOver = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// graceOf gives the context that outlives ctx by the grace time.
func (s *server) graceOf(ctx context.Context) (context.Context, context.CancelFunc) {
	grace, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timed, release := context.WithTimeout(grace, s.grace)
		defer release()
		<-timed.Done()
		end()
	})
	return grace, func() {
		stop()
		end()
	}
}
