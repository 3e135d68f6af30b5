package mcp

import (
	"context"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// farewell is how long calls have to end in order once their client is gone. What has not ended then is killed: nothing may
// be left five seconds after the client.
const farewell = 3 * time.Second

// ServeStdio serves one client over a pair of streams until it closes its end, or ctx is done. Whoever calls it must
// see to it that nothing else writes to out. kill is called when calls do not end in order within three seconds; it must
// end all of them at once. Only in is closed.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.Writer, kill func()) error {
	t := newStdio(s, in, out)
	ss, err := s.sdk.Connect(context.WithoutCancel(ctx), t, nil)
	if err != nil {
		return err
	}
	t.direct.session.Store(ss)
	s.mu.Lock()
	s.parcels[ss] = t.large
	s.mu.Unlock()
	select {
	case <-ended(ss):
	case <-t.gone:
	case <-ctx.Done():
		go func() { _ = ss.Close() }()
	}
	last := time.After(farewell + time.Second)
	stop := t.out.giveUp()
	s.part(ss, kill)
	t.finish(ended(ss), last)
	stop()
	return t.failure()
}

// part waits for a client's calls to end, not for ever: a provider may be deaf.
func (s *Server) part(ss *sdk.ServerSession, kill func()) {
	over := s.leave(ss, errGone)
	select {
	case <-over:
	case <-time.After(farewell):
		kill()
	}
	select {
	case <-over:
	case <-time.After(time.Second):
	}
	s.mu.Lock()
	delete(s.parcels, ss)
	s.mu.Unlock()
}
