package registrytest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Signature is the secret in the addresses that a forge redirects to: nobody should ever read it in a message.
const Signature = "signed-for-five-minutes"

// store serves files with entity tags and ranges.
func (f *Forge) store(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>InvalidArgument</Code><Message>Only one auth mechanism allowed</Message></Error>`)
		return
	}
	id, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	f.mu.Lock()
	var data []byte
	for _, all := range f.repos {
		for _, one := range all {
			if fmt.Sprint(one.id) == id {
				data = one.Data(name)
			}
		}
	}
	f.mu.Unlock()
	if data == nil || r.URL.Query().Get("X-Amz-Signature") != Signature {
		http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(data)))
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
