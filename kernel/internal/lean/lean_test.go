package lean

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var kept []byte

// limit waits until the limit is what it should be: the runtime tells of a collection some time after it.
func limit(t *testing.T, should func(int64) bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		runtime.GC()
		return should(debug.SetMemoryLimit(-1))
	}, time.Minute, time.Millisecond)
}

func TestBound(t *testing.T) {
	t.Setenv("GOGC", "")
	debug.SetMemoryLimit(math.MaxInt64)
	const soft, much = 24 << 20, 64 << 20
	Bound(soft)
	limit(t, func(l int64) bool { return l == soft })
	kept = make([]byte, much)
	limit(t, func(l int64) bool { return l > much*3/2 && l < 2*much })
	kept = nil
	limit(t, func(l int64) bool { return l == soft })

	debug.SetMemoryLimit(100 << 20)
	for range 3 {
		runtime.GC()
	}
	Bound(soft)
	limit(t, func(l int64) bool { return l == 100<<20 })
	debug.SetMemoryLimit(math.MaxInt64)
}

// A process that is told how to collect garbage does that.
func TestBoundByTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		variable string
		want     int64
	}{
		{"GOGC=200", math.MaxInt64},
		{"GOMEMLIMIT=50MiB", 50 << 20},
	} {
		t.Run(c.variable, func(t *testing.T) {
			if os.Getenv("LEAN_TEST") != "" {
				Bound(24 << 20)
				require.Equal(t, c.want, debug.SetMemoryLimit(-1))
				return
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBoundByTheEnvironment$/^"+c.variable+"$")
			cmd.Env = append(os.Environ(), "LEAN_TEST=1", c.variable)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}

func TestRestGivesBackWhatIsNotInUse(t *testing.T) {
	kept = make([]byte, 64<<20)
	runtime.GC() // at which it is in use
	before := read("/memory/classes/heap/released:bytes")
	kept = nil
	rest()
	require.GreaterOrEqual(t, read("/memory/classes/heap/released:bytes"), before+60<<20)
	require.Less(t, read("/memory/classes/heap/objects:bytes"), uint64(16<<20))
}

func BenchmarkRest(b *testing.B) {
	for b.Loop() {
		rest()
	}
}
