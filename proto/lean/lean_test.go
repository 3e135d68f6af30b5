package lean

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

var kept []byte

// limit waits until the limit is what it should be: the runtime tells of a collection some time after it.
func limit(t *testing.T, should func(int64) bool) {
	t.Helper()
	for patience := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		runtime.GC()
		is := debug.SetMemoryLimit(-1)
		if should(is) {
			return
		}
		if time.Now().After(patience) {
			t.Fatalf("the limit stays at %d", is)
		}
	}
}

func TestBound(t *testing.T) {
	t.Setenv("GOGC", "")
	debug.SetMemoryLimit(math.MaxInt64)
	const soft, much = 24 << 20, 64 << 20
	Bound(soft)
	limit(t, func(l int64) bool { return l == soft })
	if is := debug.SetGCPercent(percent); is != percent {
		t.Errorf("garbage may grow to %d %% of what is in use, and not to %d", is, percent)
	}
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
		limit    int64
		garbage  int
	}{
		{"GOGC=200", math.MaxInt64, 200},
		{"GOMEMLIMIT=50MiB", 50 << 20, percent},
	} {
		t.Run(c.variable, func(t *testing.T) {
			if os.Getenv("LEAN_TEST") != "" {
				Bound(24 << 20)
				if is := debug.SetGCPercent(-1); is != c.garbage {
					t.Fatalf("garbage may grow to %d %% of what is in use, and not to %d", is, c.garbage)
				}
				if is := debug.SetMemoryLimit(-1); is != c.limit {
					t.Fatalf("the limit is %d and not %d", is, c.limit)
				}
				return
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBoundByTheEnvironment$/^"+c.variable+"$")
			cmd.Env = append(os.Environ(), "LEAN_TEST=1", c.variable)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		})
	}
}

func TestRestGivesBackWhatIsNotInUse(t *testing.T) {
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection that came now would take what is kept for needed
	kept = make([]byte, 64<<20)
	kept = nil
	before := read("/memory/classes/heap/released:bytes")
	rest()
	if back := read("/memory/classes/heap/released:bytes") - before; int64(back) < 60<<20 {
		t.Errorf("it gave back %d bytes", int64(back))
	}
	if left := read("/memory/classes/heap/objects:bytes"); left > 16<<20 {
		t.Errorf("it still has %d bytes", left)
	}
}

func TestWhenToRest(t *testing.T) {
	const kib, mib = 1 << 10, 1 << 20
	var w watch
	for i, look := range []struct {
		allocated uint64
		due       bool
	}{
		{600 * kib, false}, // it starts
		{700 * kib, true},  // little as that was, it touched most of the binary
		{900 * kib, false}, // it does something
		{900 * kib, false}, // too little to rest of
		{5 * mib, false},   // it works
		{5*mib + kib, true},
		{5*mib + kib, false}, // it has rested
		{7 * mib, false},
		{9 * mib, false}, // it goes on working
		{9 * mib, true},
	} {
		if due := w.due(look.allocated); due != look.due {
			t.Errorf("look %d, at %d bytes: %v", i, look.allocated, due)
		}
	}
}

func BenchmarkRest(b *testing.B) {
	for b.Loop() {
		rest()
	}
}
