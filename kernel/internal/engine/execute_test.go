package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host/hosttest"
	"github.com/agentco/agent/kernel/internal/schedule"
)

// soon makes retries without anybody having to wait for them.
var soon = schedule.Retry{BaseDelay: time.Millisecond, Factor: 1, Max: 3}

func TestCallsAreMadeAgain(t *testing.T) {
	s := open(t, Options{Retry: soon}, SessionOptions{Approver: gate.ApproveAll("--yes")})
	tests := []struct {
		name, tool, category string
		times                int
		honest               bool
		attempts             int
		status               Status
	}{
		{"reading, late twice", "flaky_read", "TIMEOUT", 2, false, 3, Completed},
		{"reading, in conflict", "flaky_read", "CONCURRENCY_CONFLICT", 1, false, 2, Completed},
		{"reading, late for ever", "flaky_read", "TIMEOUT", 99, false, 4, Failed},
		{"reading, late for good", "flaky_read", "TIMEOUT", 1, true, 1, Failed},
		{"reading, of nothing", "flaky_read", "NOT_FOUND", 1, false, 1, Failed},
		{"reading, and it failed", "flaky_read", "EXECUTION_FAILED", 1, false, 1, Failed},
		{"reading, who knows", "flaky_read", "UNKNOWN", 1, false, 1, Failed},
		{"an idempotent change, late", "flaky_set", "TIMEOUT", 1, false, 2, Completed},
		{"a change that may have acted, late", "flaky_write", "TIMEOUT", 1, false, 1, Failed},
		{"a change that may have acted, in conflict", "flaky_write", "CONCURRENCY_CONFLICT", 1, false, 1, Failed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			r := hosttest.NewRecorder()
			o := s.Invoke(t.Context(), request(t, s, test.tool, map[string]any{
				"log": log, "category": test.category, "times": test.times, "honest": test.honest}), r.Show)
			require.Equal(t, test.status, o.Status, o.Error)
			require.Equal(t, test.attempts, o.Attempts)
			made, err := os.ReadFile(log)
			require.NoError(t, err)
			require.Equal(t, test.attempts, strings.Count(string(made), "\n"))
			names := r.Names()
			require.Len(t, names, test.attempts, "a progress for each retry, and the end")
			for _, name := range names[:test.attempts-1] {
				require.Equal(t, "progress", name)
			}
		})
	}
}

// All attempts of a call share its deadline, and a cancellation ends the waits between them.
func TestRetriesEnd(t *testing.T) {
	late := map[string]any{"category": "TIMEOUT", "times": 99}
	t.Run("with the deadline", func(t *testing.T) {
		s := open(t, Options{Retry: schedule.Retry{BaseDelay: time.Hour, Factor: 1, Max: 3}})
		late["log"] = filepath.Join(t.TempDir(), "log")
		r := request(t, s, "flaky_read", late)
		r.Timeout = 10 * time.Second // is over before the next attempt would be
		o := s.Invoke(t.Context(), r, nil)
		require.Equal(t, Failed, o.Status)
		require.Equal(t, 1, o.Attempts)
		require.Equal(t, "not this time", o.Error.GetMessage(), "what was answered is what is known")
	})
	t.Run("with the caller", func(t *testing.T) {
		s := open(t, Options{Retry: schedule.Retry{BaseDelay: 20 * time.Second, Factor: 1, Max: 3}})
		late["log"] = filepath.Join(t.TempDir(), "log")
		ctx, cancel := context.WithCancel(t.Context())
		r := hosttest.NewRecorder()
		go func() {
			<-r.Came // that it will be made again
			cancel()
		}()
		o := s.Invoke(ctx, request(t, s, "flaky_read", late), r.Show)
		require.Equal(t, Cancelled, o.Status)
		require.Equal(t, 1, o.Attempts)
		require.Contains(t, o.Error.GetMessage(), "was cancelled before it was tried again")
		require.Contains(t, o.Error.GetMessage(), "not this time")
	})
}

// Between attempts a call is not in the way of others.
func TestOthersRunBetweenAttempts(t *testing.T) {
	s := open(t, Options{Retry: schedule.Retry{BaseDelay: 20 * time.Second, Factor: 1, Max: 3}}, SessionOptions{Approver: gate.ApproveAll("--yes")})
	ctx, cancel := context.WithCancel(t.Context())
	r := hosttest.NewRecorder()
	waiting := make(chan Outcome, 1)
	go func() {
		waiting <- s.Invoke(ctx, request(t, s, "flaky_set", map[string]any{
			"log": filepath.Join(t.TempDir(), "log"), "category": "TIMEOUT", "times": 99}), r.Show)
	}()
	<-r.Came
	o := s.Invoke(t.Context(), request(t, s, "write", map[string]any{"path": filepath.Join(t.TempDir(), "f"), "content": ""}), nil)
	require.Equal(t, Completed, o.Status, "both need the provider for themselves")
	cancel()
	require.Equal(t, Cancelled, (<-waiting).Status)
}

// A call that ran into another one is made again when nothing of its provider runs that may be about the same.
func TestConflictsAreSerialised(t *testing.T) {
	s := open(t, Options{Retry: soon})
	tests := []struct {
		name, category string
		attempts       int
		status         Status
	}{
		{"a conflict waits for what runs", "CONCURRENCY_CONFLICT", 1, Failed},
		{"what was only late does not", "TIMEOUT", 2, Completed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			r := hosttest.NewRecorder()
			running := make(chan Outcome, 1)
			go func() { running <- s.Invoke(ctx, request(t, s, "block", nil), r.Show) }()
			<-r.Came
			var o Outcome
			for patience := time.Second; ; patience *= 2 { // all that it has, which may be too little for a slow machine
				log := filepath.Join(t.TempDir(), "log")
				call := request(t, s, "flaky_read", map[string]any{"log": log, "category": test.category, "times": 1})
				call.Timeout = patience
				o = s.Invoke(t.Context(), call, nil)
				made, _ := os.ReadFile(log)
				if strings.Count(string(made), "\n") == test.attempts && (o.Status == test.status) {
					break
				}
				require.Less(t, patience, 30*time.Second, "%v: %v", o.Status, o.Error)
			}
			cancel()
			<-running
			require.Equal(t, test.status, o.Status, o.Error)
			require.Equal(t, test.attempts, o.Attempts)
			if test.status == Failed {
				require.Equal(t, "not this time", o.Error.GetMessage())
			}
		})
	}
}
