package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/journal"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// usage is what a process holds.
type usage struct{ heapKiB, residentKiB, goroutines, descriptors int }

func (u usage) String() string {
	return fmt.Sprintf("heap %d KiB, resident %d KiB, %d goroutines, %d descriptors", u.heapKiB, u.residentKiB, u.goroutines, u.descriptors)
}

// usageOf is that of a process. What only it can know of itself is there of this one alone.
func usageOf(t *testing.T, pid int) (u usage) {
	t.Helper()
	if pid == os.Getpid() {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		u.heapKiB, u.goroutines = int(m.HeapAlloc>>10), runtime.NumGoroutine()
	}
	descriptors, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	require.NoError(t, err)
	u.descriptors = len(descriptors)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			u.residentKiB, err = strconv.Atoi(fields[1])
			require.NoError(t, err)
		}
	}
	return u
}

// TestSoak makes calls from eight sessions at once, each with its log, and looks whether the kernel, its provider and its
// keeper hold more at the end than half way. With AGENT_LONG there are 100,000 calls.
func TestSoak(t *testing.T) {
	const clients = 8
	calls := 2000
	if long {
		calls = 100_000
	}
	dir := t.TempDir()
	e, err := engine.Open(t.Context(), engine.Options{ProjectRoot: dir, Providers: []engine.ProviderSpec{{
		Name: "filesystem", Path: filepath.Join(binaries, "provider-filesystem"),
		Config: func(*configv1.ConfigSchema) (*structpb.Struct, error) {
			return structpb.NewStruct(map[string]any{"allowed_roots": []any{dir}})
		},
	}}})
	require.NoError(t, err)
	defer e.Close()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte(strings.Repeat("line\n", 800)), 0o600))
	var sessions []*engine.Session
	for range clients {
		sessions = append(sessions, soakSession(t, e, filepath.Join(dir, "sessions")))
	}
	processes := []int{os.Getpid()}
	for _, child := range childrenOf(os.Getpid()) { // among what other tests have left
		if strings.HasPrefix(commandLine(child), kernelsKeeper+" "+binaries+"/") {
			processes = append(append(processes, child), childrenOf(child)...)
		}
	}
	require.Len(t, processes, 3, "this one, the keeper, the provider")
	soak(t, sessions, calls/2)
	var before []usage
	for _, pid := range processes {
		before = append(before, usageOf(t, pid))
	}
	began := time.Now()
	soak(t, sessions, calls/2)
	t.Logf("%d calls in %v", calls/2, time.Since(began).Round(time.Millisecond))
	for i, pid := range processes {
		var after usage
		require.Eventually(t, func() bool { // what was begun for the last calls may still end
			after = usageOf(t, pid)
			return after.descriptors <= before[i].descriptors+4 && after.goroutines <= before[i].goroutines+8 &&
				after.heapKiB <= before[i].heapKiB+4<<10 && after.residentKiB <= before[i].residentKiB+24<<10
		}, time.Minute, 100*time.Millisecond, "process %d: %v, then %v", i, before[i], &after)
		t.Logf("process %d: %v, then %v", i, before[i], after)
	}
}

func soakSession(t *testing.T, e *engine.Engine, folder string) *engine.Session {
	t.Helper()
	id := ulid.Make().String()
	log, err := session.NewLog(folder, session.Meta{ID: id}, func(text string) { t.Error(text) })
	require.NoError(t, err)
	kept := journal.New(log, journal.Options{
		SessionID: id, Producers: func(string) []*commonv1.ProducerRef { return e.Providers()[0].Producers }, Warn: func(err error) { t.Error(err) },
	})
	t.Cleanup(func() { require.NoError(t, kept.Close(session.Completed)) })
	return e.Session(engine.SessionOptions{ID: id, Journal: kept})
}

func soak(t *testing.T, sessions []*engine.Session, calls int) {
	t.Helper()
	args, err := structpb.NewStruct(map[string]any{"path": "file"})
	require.NoError(t, err)
	var all sync.WaitGroup
	for _, s := range sessions {
		op, err := s.Lookup("filesystem", "read_file")
		require.NoError(t, err)
		all.Go(func() {
			for range calls / len(sessions) {
				if o := s.Invoke(t.Context(), engine.Request{Operation: op, Arguments: args}, nil); o.Status != engine.Completed {
					t.Error(o.Error)
					return
				}
			}
		})
	}
	all.Wait()
}
