package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// What agent init remembers of an installed program ends with the next write to it.
func TestTamperedAfterItWasRemembered(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	m.must("init")
	m.remembered(1)
	path := m.program()
	before, err := os.Stat(path)
	require.NoError(t, err)
	m.tamper()
	require.NoError(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
	require.Contains(t, m.must("init").stderr, "the copy in the cache was damaged and is replaced")
	m.must("invoke", "filesystem.list_directory", "path=.")
}

// A disk that fails changes a program without a write: its start finds that, and the next init believes the start.
func TestWhatAStartFindsIsForgotten(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	m.must("init")
	m.remembered(1)
	m.tamper()
	m.sameAsBefore(m.program())
	require.NotContains(t, m.must("init").stderr, "damaged", "the system says that nothing was written")

	r := m.run("invoke", "filesystem.list_directory", "path=.")
	require.NotZero(t, r.code)
	require.Contains(t, r.stdout+r.stderr, "checksum mismatch")
	require.Contains(t, r.stdout+r.stderr, "run agent init to install it again")
	require.Contains(t, m.must("init").stderr, "the copy in the cache was damaged and is replaced")
	m.must("invoke", "filesystem.list_directory", "path=.")
}

// program is where the one installed program is.
func (m *machine) program() string {
	m.Helper()
	found, err := filepath.Glob(m.path("cache/agent/providers/*/*/*/*/*/*/provider-*"))
	require.NoError(m, err)
	require.Len(m, found, 1)
	return found[0]
}

// sameAsBefore makes what is remembered of a file fit what the system says of it now.
func (m *machine) sameAsBefore(path string) {
	m.Helper()
	known, err := filepath.Glob(m.path("cache/agent/schemas/v1/files/*"))
	require.NoError(m, err)
	require.Len(m, known, 1)
	sealed, err := os.ReadFile(known[0])
	require.NoError(m, err)
	_, content, _ := bytes.Cut(sealed, []byte("\n"))
	var file map[string]any
	require.NoError(m, json.Unmarshal(content, &file))
	require.Equal(m, path, file["path"])
	var now syscall.Stat_t
	require.NoError(m, syscall.Stat(path, &now))
	file["size"], file["mtime_ns"], file["ctime_ns"], file["inode"], file["device"] = now.Size, now.Mtim.Nano(), now.Ctim.Nano(), now.Ino, now.Dev
	content, err = json.Marshal(file)
	require.NoError(m, err)
	require.NoError(m, os.WriteFile(known[0], fmt.Appendf(nil, "%x\n%s", sha256.Sum256(content), content), 0o600))
}
