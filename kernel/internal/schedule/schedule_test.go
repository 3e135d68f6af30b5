package schedule

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func shared(provider string) Claim { return Claim{Provider: provider, Operation: "op"} }
func exclusive(provider string) Claim {
	return Claim{Provider: provider, Operation: "op", Exclusive: true}
}
func keyed(op string, keys ...string) Claim { return Claim{Provider: "fs", Operation: op, Keys: keys} }
func serialised(c Claim) Claim {
	c.Serialised = true
	return c
}
func interactiveOf(provider string) Claim {
	return Claim{Provider: provider, Operation: "ask", Interactive: true}
}

func TestConflicts(t *testing.T) {
	tests := []struct {
		name string
		a, b Claim
		want bool
	}{
		{"shared beside shared", shared("fs"), shared("fs"), false},
		{"exclusive beside shared", exclusive("fs"), shared("fs"), true},
		{"exclusive beside another provider", exclusive("fs"), exclusive("bash"), false},
		{"equal keys", keyed("write", "a"), keyed("write", "a"), true},
		{"other keys", keyed("write", "a"), keyed("write", "b"), false},
		{"equal keys of another operation", keyed("write", "a"), keyed("edit", "a"), false},
		{"keys beside an exclusive one", keyed("write", "a"), exclusive("fs"), true},
		{"keys beside one without", keyed("write", "a"), keyed("write"), false},
		{"a repeated one beside the same key of another operation", serialised(keyed("write", "a")), keyed("edit", "a"), true},
		{"a repeated one beside one of its keys", serialised(keyed("copy", "a", "b")), keyed("edit", "b"), true},
		{"a repeated one beside other keys", serialised(keyed("write", "a")), keyed("write", "b"), false},
		{"a repeated one beside one without keys", serialised(keyed("write", "a")), keyed("read"), false},
		{"a repeated one without keys", serialised(keyed("read")), keyed("write", "a"), true},
		{"a repeated one beside another provider", serialised(shared("fs")), shared("bash"), false},
		{"two questions of two providers", interactiveOf("a"), interactiveOf("b"), true},
		{"a question beside work", interactiveOf("a"), shared("b"), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, test.a.conflicts(test.b))
			require.Equal(t, test.want, test.b.conflicts(test.a))
		})
	}
}

func TestAcquireInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Scheduler
		var mu sync.Mutex
		var order []string
		run := func(name string, c Claim) {
			go func() {
				release, err := s.Acquire(t.Context(), c)
				require.NoError(t, err)
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				time.Sleep(time.Second)
				release()
				release() // more than once is harmless
			}()
			synctest.Wait()
		}
		run("first reader", shared("fs"))
		run("second reader", shared("fs"))
		run("writer", exclusive("fs"))
		run("late reader", shared("fs")) // must not overtake the writer
		run("other provider", exclusive("bash"))
		require.Equal(t, []string{"first reader", "second reader", "other provider"}, order)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"first reader", "second reader", "other provider", "writer", "late reader"}, order)
		require.Empty(t, s.queue)
	})
}

func TestAcquireGivesUp(t *testing.T) {
	var s Scheduler
	release, err := s.Acquire(t.Context(), exclusive("fs"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no patience"))
	_, err = s.Acquire(ctx, exclusive("fs"))
	require.ErrorContains(t, err, "no patience")
	release()
	release, err = s.Acquire(t.Context(), exclusive("fs"))
	require.NoError(t, err, "who gave up is not in the way")
	release()
}

func TestExclusionHolds(t *testing.T) {
	var s Scheduler
	var inside, most atomic.Int32
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() {
			release, err := s.Acquire(t.Context(), exclusive("fs"))
			if err != nil {
				return
			}
			most.Store(max(most.Load(), inside.Add(1)))
			inside.Add(-1)
			release()
		})
	}
	wait.Wait()
	require.Equal(t, int32(1), most.Load())
}

func TestClaimOf(t *testing.T) {
	args, err := structpb.NewStruct(map[string]any{"path": "a", "line": 1, "tags": map[string]any{"x": []any{1, "1"}}})
	require.NoError(t, err)
	resource, question := toolv1.ToolKind_TOOL_KIND_RESOURCE, toolv1.ToolKind_TOOL_KIND_INTERACTIVE
	require.True(t, ClaimOf("fs", "w", resource, nil, args).Exclusive)
	require.True(t, ClaimOf("fs", "w", resource, &toolv1.ConcurrencySpec{}, args).Exclusive)
	require.True(t, ClaimOf("fs", "w", question, nil, args).Interactive)
	keys := func(fields ...string) []string {
		return ClaimOf("fs", "w", resource, &toolv1.ConcurrencySpec{Safe: true, KeyFields: fields}, args).Keys
	}
	require.Empty(t, keys())
	require.Equal(t, keys("path", "missing"), keys("path", "absent"))
	require.NotEqual(t, keys("path"), keys("line"))
	require.Equal(t, keys("tags"), keys("tags"))
	one, err := structpb.NewStruct(map[string]any{"line": "1"})
	require.NoError(t, err)
	require.NotEqual(t, keys("line"), ClaimOf("fs", "w", resource, &toolv1.ConcurrencySpec{Safe: true, KeyFields: []string{"line"}}, one).Keys)
}

func TestTimeout(t *testing.T) {
	tests := []struct {
		name                    string
		call, config, operation time.Duration
		want                    time.Duration
	}{
		{"the caller's", 1, 2, 3, 1},
		{"the configuration's", 0, 2, 3, 2},
		{"the operation's", 0, 0, 3, 3},
		{"nobody's", 0, 0, 0, DefaultTimeout},
		{"negative is nothing", -1, 0, 3, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, Timeout(test.call, test.config, test.operation)) })
	}
}
