package registrytest

import (
	"io"
	"net"
	"net/http"
	"sync"
)

// connect is what a proxy does with CONNECT: whichever host is meant is on the one TLS server.
func (n *Net) connect(w http.ResponseWriter) {
	server, err := net.Dial("tcp", n.server.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = server.Close()
		return
	}
	var once sync.Once
	end := func() {
		_ = client.Close()
		_ = server.Close()
	}
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	for _, way := range [][2]net.Conn{{server, client}, {client, server}} {
		go func() {
			defer once.Do(end)
			_, _ = io.Copy(way[0], way[1])
		}()
	}
}
