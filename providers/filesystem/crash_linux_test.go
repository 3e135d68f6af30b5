package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
)

const crashFiles = 10

// generationOf is the content of every file in the nth write.
func generationOf(n int) string {
	return strings.Repeat(fmt.Sprintf("%08d\n", n), 40_000)
}

// A provider killed while it writes leaves each file as it was or as it was to
// be. What it left beside them is gone after the next start.
func TestKillDuringWrites(t *testing.T) {
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for round := range rounds {
		w, kill := emptyWorld(t).mortal(args{"require_read_before_write": false})
		for i := range crashFiles {
			w.put(fmt.Sprint("root/f", i), generationOf(0))
		}
		var written atomic.Int64
		done := make(chan struct{})
		go func() { // until the process is gone
			defer close(done)
			for n := 1; ; n++ {
				got := w.Call(t.Context(), "write_file", args{"path": fmt.Sprint("f", n%crashFiles), "content": generationOf(n)})
				if got.Err != nil || got.Result == nil {
					return
				}
				written.Add(1)
			}
		}()
		// In the midst of a write: when its temporary file is there.
		after := int64(5 + 10*round)
		for deadline := time.Now().Add(3 * time.Minute); written.Load() < after || w.temporaryFiles() == 0; {
			require.True(t, time.Now().Before(deadline), "nothing is written")
		}
		kill()
		<-done
		for i := range crashFiles {
			body := w.bytes(fmt.Sprint("root/f", i))
			first := string(bytes.TrimLeft([]byte(body[:8]), "0"))
			n := 0
			if first != "" {
				_, err := fmt.Sscan(first, &n)
				require.NoError(t, err)
			}
			require.Equal(t, generationOf(n), body, "old or new, and whole")
		}
		again, _ := w.process(nil)
		again.must("stat", args{"path": "f0"})
		w.noTemporaryFiles()
		require.LessOrEqual(t, w.notes(), 1, "only the new process keeps notes")
	}
}

// The same of changes that belong together.
func TestKillDuringApplyEdits(t *testing.T) {
	w, kill := emptyWorld(t).mortal(args{"require_read_before_write": false})
	for i := range crashFiles {
		w.put(fmt.Sprint("root/f", i), generationOf(0)[:9])
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; ; n++ {
			var files []any
			for i := range crashFiles {
				files = append(files, args{"path": fmt.Sprint("f", i), "content": generationOf(n)[:9]})
			}
			got := w.Call(t.Context(), "apply_edits", args{"files": files})
			if got.Err != nil || got.Result == nil {
				return
			}
		}
	}()
	for deadline := time.Now().Add(3 * time.Minute); w.bytes("root/f0") == w.bytes(fmt.Sprint("root/f", crashFiles-1)); {
		require.True(t, time.Now().Before(deadline), "nothing is written")
	}
	kill()
	<-done
	again, _ := w.process(nil)
	again.must("stat", args{"path": "f0"})
	for i := range crashFiles {
		require.Equal(t, w.bytes("root/f0"), w.bytes(fmt.Sprint("root/f", i)), "all of one generation")
	}
	w.noTemporaryFiles()
	require.LessOrEqual(t, w.notes(), 1)
}

func (w world) temporaryFiles() (n int) {
	entries, err := os.ReadDir(w.root)
	require.NoError(w.t, err)
	for _, entry := range entries {
		if atomicfile.IsTemp(entry.Name()) {
			n++
		}
	}
	return n
}

// notes is how many journals there are.
func (w world) notes() int {
	found, err := filepath.Glob(w.base + "/cache/agent/filesystem/*.journal")
	require.NoError(w.t, err)
	return len(found)
}
