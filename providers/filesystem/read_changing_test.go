package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/providers/filesystem/internal/text"
)

// changing is a file that something else changes between its description and
// the first read.
type changing struct {
	afero.File
	change func()
}

func (c changing) Read(p []byte) (int, error) {
	c.change()
	return c.File.Read(p)
}

// The size and the hash of a file that changes while it is read are those of
// what was read.
func TestReadOfAChangingFile(t *testing.T) {
	lines := strings.Repeat("fifteen letters\n", 1000)
	for _, tt := range []struct {
		name, before, after, read string
		maxBytes                  int
	}{
		{"cut, and held", lines, lines[:160], lines[:160], 1 << 20},
		{"cut to nothing, and held", lines, "", "", 1 << 20},
		{"cut, and read by the block", lines, lines[:160], lines[:160], 1000},
		{"grown, and held", lines[:160], lines, lines[:160], 1 << 20},
		{"grown, and read by the block", lines[:160], lines, lines[:160], 100},
		{"grown from nothing", "", lines[:160], lines[:160], 1 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			require.NoError(t, os.WriteFile(path, []byte(tt.before), 0o644))
			f, err := os.Open(path)
			require.NoError(t, err)
			defer func() { require.NoError(t, f.Close()) }()
			change := sync.OnceFunc(func() { require.NoError(t, os.WriteFile(path, []byte(tt.after), 0o644)) })

			w := &workspace{}
			out, err := w.read(t.Context(), "s", target{name: "f", resolved: path}, changing{f, change}, text.Window{First: 1, Count: 5000, MaxBytes: tt.maxBytes})
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(tt.read, out.Content))
			require.Equal(t, len(tt.read), out.Size)
			digest := sha256.Sum256([]byte(tt.read))
			require.Equal(t, hex.EncodeToString(digest[:]), out.SHA256)
		})
	}
}
