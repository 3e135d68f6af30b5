package sdk_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

// crowd is a provider of operations with every kind of promise, whose calls say when they are in and wait to be let go.
type crowd struct {
	in      chan string
	release map[string]chan struct{}
	most    atomic.Int64
	now     atomic.Int64
}

type crowdIn struct {
	Name string `json:"name"`
	Path string `json:"path" default:"a"`
}

func newCrowd(names ...string) *crowd {
	c := &crowd{in: make(chan string, 16), release: map[string]chan struct{}{}}
	for _, name := range names {
		c.release[name] = make(chan struct{})
	}
	return c
}

func (c *crowd) provider() *sdk.Provider[struct{}] {
	p := sdk.New[struct{}]("crowd", "For tests.")
	run := func(ctx context.Context, _ *sdk.Call[struct{}], in crowdIn) (doOut, error) {
		c.most.Store(max(c.most.Load(), c.now.Add(1)))
		defer c.now.Add(-1)
		c.in <- in.Name
		select {
		case <-c.release[in.Name]:
			return doOut{in.Name}, nil
		case <-ctx.Done():
			return doOut{}, ctx.Err()
		}
	}
	sdk.Tool(p, "plain", "Runs.", run).Concurrent()
	sdk.Tool(p, "alone", "Runs.", run)
	sdk.Tool(p, "keyed", "Runs.", run).Concurrent("path")
	sdk.Tool(p, "other", "Runs.", run).Concurrent("path")
	sdk.Tool(p, "ask", "Runs.", run).Interactive().Concurrent()
	sdk.Tool(p, "question", "Runs.", run).Interactive().Concurrent()
	return p
}

func TestCallsRunBesideEachOtherAsDeclared(t *testing.T) {
	for _, test := range []struct {
		name          string
		first, second string // an operation, and the path
		beside        bool
	}{
		{"plain ones", "plain", "plain", true},
		{"an exclusive one and a plain one", "alone", "plain", false},
		{"a plain one and an exclusive one", "plain", "alone", false},
		{"equal keys", "keyed a", "keyed a", false},
		{"a key and its default", "keyed a", "keyed", false},
		{"other keys", "keyed a", "keyed b", true},
		{"equal keys of two operations", "keyed a", "other a", true},
		{"two that ask", "ask", "question", false},
		{"one that asks beside work", "ask", "keyed a", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCrowd("1", "2")
			h := sdktest.Start(t, c.provider(), nil)
			var calls sync.WaitGroup
			run := func(name, what string) {
				operation, path, _ := strings.Cut(what, " ")
				arguments := map[string]any{"name": name}
				if path != "" {
					arguments["path"] = path
				}
				calls.Go(func() {
					if r := h.Call(t.Context(), operation, arguments); r.Result["did"] != name {
						t.Error(name, r.Err, r.Status)
					}
				})
			}
			run("1", test.first)
			require.Equal(t, "1", <-c.in)
			run("2", test.second)
			if test.beside {
				require.Equal(t, "2", <-c.in)
				close(c.release["1"])
			} else {
				close(c.release["1"])
				require.Equal(t, "2", <-c.in)
				require.EqualValues(t, 1, c.most.Load(), "both ran at once")
			}
			close(c.release["2"])
			calls.Wait()
		})
	}
}

func TestWaitingForATurnEndsWithTheCall(t *testing.T) {
	c := newCrowd("1", "2")
	h := sdktest.Start(t, c.provider(), nil)
	var first sync.WaitGroup
	first.Go(func() { h.Call(t.Context(), "alone", map[string]any{"name": "1"}) })
	require.Equal(t, "1", <-c.in)
	var r *sdktest.Result
	for within := 250 * time.Millisecond; r == nil || r.Report == nil; within *= 2 { // until it is long enough for the call to come so far
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		r = h.Call(ctx, "plain", map[string]any{"name": "2"})
	}
	require.Equal(t, codes.Canceled, status.Code(r.Status))
	require.Equal(t, "cancelled while it waited for a call that it may not run beside; nothing was done", r.Report.GetMessage())
	close(c.release["1"])
	first.Wait()
	require.Empty(t, c.in, "it ran")
}

func TestArgumentsAreCheckedWithoutWaiting(t *testing.T) {
	c := newCrowd("1")
	h := sdktest.Start(t, c.provider(), nil)
	var first sync.WaitGroup
	first.Go(func() { h.Call(t.Context(), "alone", map[string]any{"name": "1"}) })
	require.Equal(t, "1", <-c.in)
	require.Contains(t, h.Call(t.Context(), "alone", map[string]any{"nam": "3"}).Err.GetMessage(), "did you mean name?")
	close(c.release["1"])
	first.Wait()
}
