package schedule

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// visit is one call of a crowd: when it comes, how long it takes, and how long it waits at most.
type visit struct {
	claim               Claim
	comes, takes, waits time.Duration
}

func visits() *rapid.Generator[[]visit] {
	seconds := func(from, to int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.IntRange(from, to), func(n int) time.Duration { return time.Duration(n) * time.Second })
	}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) visit {
		return visit{
			claim: Claim{
				Provider:    rapid.SampledFrom([]string{"fs", "bash"}).Draw(t, "provider"),
				Operation:   rapid.SampledFrom([]string{"read", "write"}).Draw(t, "operation"),
				Exclusive:   rapid.Bool().Draw(t, "exclusive"),
				Interactive: rapid.IntRange(0, 4).Draw(t, "interactive") == 0,
				Serialised:  rapid.IntRange(0, 4).Draw(t, "serialised") == 0,
				Keys:        rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 0, 2).Draw(t, "keys"),
			},
			comes: seconds(0, 10).Draw(t, "comes"), takes: seconds(1, 5).Draw(t, "takes"), waits: seconds(1, 60).Draw(t, "waits"),
		}
	}), 1, 20)
}

// Whatever comes, when, and gives up when: no two calls in conflict run at once, nobody is overtaken by one it is in
// conflict with, and everybody gets a turn or gives up; nothing is left behind.
func TestOrderOfAnyCrowd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		crowd := visits().Draw(rt, "crowd")
		synctest.Test(t, func(t *testing.T) {
			var s Scheduler
			var mu sync.Mutex
			running := map[int]bool{}
			var faults []string
			began := make([]time.Time, len(crowd))
			var all sync.WaitGroup
			for i, v := range crowd {
				all.Go(func() {
					time.Sleep(v.comes + time.Duration(i)) // a nanosecond apart, so that who came first is known
					ctx, cancel := context.WithTimeout(t.Context(), v.waits)
					defer cancel()
					release, err := s.Acquire(ctx, v.claim)
					if err != nil {
						return
					}
					mu.Lock()
					began[i] = time.Now()
					for other := range running {
						if v.claim.conflicts(crowd[other].claim) {
							faults = append(faults, fmt.Sprintf("%+v beside %+v", v.claim, crowd[other].claim))
						}
					}
					running[i] = true
					mu.Unlock()
					time.Sleep(v.takes)
					mu.Lock()
					delete(running, i)
					mu.Unlock()
					release()
				})
			}
			all.Wait()
			require.Empty(t, faults)
			require.Empty(t, s.queue)
			requireNobodyOvertaken(t, crowd, began)
		})
	})
}

func requireNobodyOvertaken(t *testing.T, crowd []visit, began []time.Time) {
	t.Helper()
	for i, a := range crowd {
		for j, b := range crowd {
			came := a.comes+time.Duration(i) < b.comes+time.Duration(j)
			if came && a.claim.conflicts(b.claim) && !began[i].IsZero() && !began[j].IsZero() {
				require.False(t, began[j].Before(began[i]), "%+v overtook %+v", b, a)
			}
		}
	}
}
