package proc

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// Load is a moment of the machine's use of its processors.
type Load struct {
	at         time.Time
	busy, ours int64
}

// Now takes note of the moment.
func Now() Load { return Load{time.Now(), busy(), ours()} }

// Foreign is how many cores others than this process and its descendants have used since. Of less than 50 ms nothing can
// be said: zero.
func (l Load) Foreign() float64 {
	seconds := time.Since(l.at).Seconds()
	if seconds < 0.05 {
		return 0
	}
	ticks := busy() - l.busy - (ours() - l.ours)
	return max(0, float64(ticks)/100/seconds)
}

// busy is what all processors have done, in ticks of 10 ms.
func busy() (ticks int64) {
	b, _ := os.ReadFile("/proc/stat")
	first, _, _ := strings.Cut(string(b), "\n")
	for i, field := range strings.Fields(first) {
		if i == 0 || i == 4 || i == 5 || i > 7 { // idle, and waiting for a disk
			continue
		}
		n, _ := strconv.ParseInt(field, 10, 64)
		ticks += n
	}
	return ticks
}

func ours() (ticks int64) {
	for _, p := range Tree(os.Getpid()) {
		s, _ := read(p.PID)
		ticks += s.ticks
	}
	return ticks
}
