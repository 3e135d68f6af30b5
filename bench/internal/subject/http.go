package subject

import (
	"context"
	"fmt"
	"net"
	"time"
)

// startHTTP starts a server at a free port of this machine, and waits until it listens.
func startHTTP(ctx context.Context, p *Peer, vars Vars) (*process, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	address := l.Addr().String()
	_ = l.Close()
	x, err := start(p, vars.With("address", address))
	if err != nil {
		return nil, "", err
	}
	for {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.Close()
			return x, "http://" + address + "/mcp", nil
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-x.ended:
			return nil, "", fmt.Errorf("%s ended: %s", p.Name, x.stderr.String())
		case <-ctx.Done():
			x.close()
			return nil, "", fmt.Errorf("%s does not listen at %s: %w", p.Name, address, ctx.Err())
		}
	}
}
