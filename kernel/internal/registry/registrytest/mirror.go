package registrytest

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// Mirror serves the folder of a mirror on a host; with a token only to those who show it.
func (n *Net) Mirror(host, dir, token string) { n.Handle(host, mirrorOf(dir, token)) }

// LoopbackMirror is the address of a server by plain http for the folder of a mirror.
func (n *Net) LoopbackMirror(dir, token string) string {
	address := n.loopback()
	n.Handle(address, mirrorOf(dir, token))
	return "http://" + address
}

func mirrorOf(dir, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		path := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(r.URL.Path, "/")))
		f, err := os.Open(path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(path+info.ModTime().String()))))
		http.ServeContent(w, r, info.Name(), info.ModTime(), f)
	})
}
