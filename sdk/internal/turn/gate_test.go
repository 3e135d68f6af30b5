package turn_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agentco/agent/sdk/internal/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var alone = turn.Claim{Alone: true}

func key(k string) turn.Claim { return turn.Claim{Key: k} }

// scene is a gate with the calls that came to it. It lives in a bubble, where waiting is certain.
type scene struct {
	gate turn.Gate
	in   []string // who was let in, in order
	end  map[string]context.CancelFunc
	errs map[string]error
}

// come has a call ask for its turn, and gives back once it is in or waits.
func (s *scene) come(t *testing.T, name string, c turn.Claim) {
	ctx, cancel := context.WithCancel(t.Context())
	s.end[name] = cancel
	go func() {
		if err := s.gate.Enter(ctx, c); err != nil {
			s.errs[name] = err
			return
		}
		s.in = append(s.in, name)
		<-ctx.Done()
		s.gate.Leave(c)
	}()
	synctest.Wait()
}

// leave ends a call, or its waiting.
func (s *scene) leave(name string) {
	s.end[name]()
	synctest.Wait()
}

func play(t *testing.T, act func(t *testing.T, s *scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &scene{end: map[string]context.CancelFunc{}, errs: map[string]error{}}
		act(t, s)
		for _, end := range s.end {
			end()
		}
		synctest.Wait()
		require.NoError(t, s.gate.Enter(t.Context(), alone), "the gate is free at the end")
	})
}

func TestWhoRunsBesideWhom(t *testing.T) {
	for _, test := range []struct {
		name          string
		first, second turn.Claim
		beside        bool
	}{
		{"two plain ones", turn.Claim{}, turn.Claim{}, true},
		{"a plain one and a keyed one", turn.Claim{}, key("a"), true},
		{"two keys", key("a"), key("b"), true},
		{"one key", key("a"), key("a"), false},
		{"an exclusive one after a plain one", turn.Claim{}, alone, false},
		{"a plain one after an exclusive one", alone, turn.Claim{}, false},
		{"a keyed one after an exclusive one", alone, key("a"), false},
		{"two exclusive ones", alone, alone, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(t *testing.T, s *scene) {
				s.come(t, "first", test.first)
				s.come(t, "second", test.second)
				if test.beside {
					require.Equal(t, []string{"first", "second"}, s.in)
					return
				}
				require.Equal(t, []string{"first"}, s.in)
				s.leave("first")
				require.Equal(t, []string{"first", "second"}, s.in)
			})
		})
	}
}

func TestFirstComeFirstServed(t *testing.T) {
	play(t, func(t *testing.T, s *scene) {
		s.come(t, "0", key("a"))
		for i := 1; i < 5; i++ {
			s.come(t, fmt.Sprint(i), key("a"))
		}
		for i := range 5 {
			s.leave(fmt.Sprint(i))
		}
		require.Equal(t, []string{"0", "1", "2", "3", "4"}, s.in)
	})
}

func TestWhoKeepsComingDoesNotHoldUpAnExclusiveCall(t *testing.T) {
	play(t, func(t *testing.T, s *scene) {
		s.come(t, "reader", turn.Claim{})
		s.come(t, "writer", alone)
		s.come(t, "late reader", turn.Claim{})
		require.Equal(t, []string{"reader"}, s.in, "a late reader would keep the writer out")
		s.leave("reader")
		require.Equal(t, []string{"reader", "writer"}, s.in)
		s.leave("writer")
		require.Equal(t, []string{"reader", "writer", "late reader"}, s.in)
	})
}

func TestWhoIsInNobodysWayDoesNotWait(t *testing.T) {
	play(t, func(t *testing.T, s *scene) {
		s.come(t, "a", key("a"))
		s.come(t, "a again", key("a"))
		s.come(t, "b", key("b"))
		s.come(t, "plain", turn.Claim{})
		require.Equal(t, []string{"a", "b", "plain"}, s.in)
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	play(t, func(t *testing.T, s *scene) {
		s.come(t, "reader", turn.Claim{})
		s.come(t, "writer", alone)
		s.come(t, "late reader", turn.Claim{})
		s.leave("writer") // it gives up
		require.ErrorIs(t, s.errs["writer"], context.Canceled)
		require.Equal(t, []string{"reader", "late reader"}, s.in, "whoever waited behind it goes on")
	})
}

func BenchmarkEnterUncontended(b *testing.B) {
	var g turn.Gate
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_ = g.Enter(b.Context(), turn.Claim{})
			g.Leave(turn.Claim{})
		}
	})
}
