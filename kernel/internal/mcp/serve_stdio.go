package mcp

import (
	"context"
	"io"
	"time"
)

// farewell is how long calls have to end in order once their client is gone. What has not ended then is killed: nothing may
// be left five seconds after the client.
const farewell = 3 * time.Second

// ServeStdio serves one client over a pair of streams until it closes its end, or ctx is done. Whoever calls it must
// see to it that nothing else writes to out. kill is called when calls do not end in order within three seconds; it must
// end all of them at once. The streams are not closed.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.Writer, kill func()) error {
	t := newStdio(in, out, s.options.MostCalls, s.options.Log)
	ss, err := s.sdk.Connect(context.WithoutCancel(ctx), t, nil)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.parcels[ss] = t.large
	s.mu.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- ss.Wait() }()
	select {
	case err = <-ended:
	case <-t.gone:
	case <-ctx.Done():
		s.leave(ss, context.Cause(ctx))
		go func() { _ = ss.Close() }()
	}
	s.leave(ss, errGone)
	return s.part(ended, err, kill)
}

// part waits for the calls to end, not for ever: a provider may be deaf, and a client may have left a full pipe behind.
func (s *Server) part(ended <-chan error, err error, kill func()) error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.Close()
	}()
	for range 2 {
		select {
		case <-closed:
			select {
			case err = <-ended:
			default:
			}
			return err
		case <-time.After(farewell):
			kill()
		}
	}
	return err
}
