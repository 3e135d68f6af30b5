package client

import (
	"net"

	"google.golang.org/grpc/credentials"
)

// doorkeeper remembers why a provider that dialled the callback stream was not let in: to the provider itself it looks
// like a connection that was closed.
type doorkeeper struct {
	credentials.TransportCredentials
	callbacks *Callbacks
}

// ServerHandshake lets a provider in, or notes why not.
func (d *doorkeeper) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secure, info, err := d.TransportCredentials.ServerHandshake(conn)
	if err != nil {
		d.callbacks.mu.Lock()
		d.callbacks.refused = err
		d.callbacks.mu.Unlock()
	}
	return secure, info, err
}

// Clone makes another for the same callbacks.
func (d *doorkeeper) Clone() credentials.TransportCredentials {
	return &doorkeeper{d.TransportCredentials.Clone(), d.callbacks}
}
