package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is what the processes of a tree hold, or held at most, in 10^6 bytes, by their names: several of one name are one
// sum.
func Memory(root int, peak bool) (total float64, parts map[string]float64) {
	key := "VmRSS:"
	if peak {
		key = "VmHWM:"
	}
	parts = map[string]float64{}
	for _, p := range Tree(root) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
		for line := range strings.Lines(string(b)) {
			if rest, ok := strings.CutPrefix(line, key); ok {
				kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				mb := kib * 1024 / 1e6
				total += mb
				s, _ := read(p.PID)
				parts[s.name] += mb
			}
		}
	}
	return total, parts
}

// Proportional is what the processes of a tree hold when each page that several share is shared out between them, in 10^6
// bytes. Zero where it cannot be told.
func Proportional(root int) (total float64) {
	for _, p := range Tree(root) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.PID))
		for line := range strings.Lines(string(b)) {
			if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
				kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				total += kib * 1024 / 1e6
			}
		}
	}
	return total
}

// ForgetPeak has the peaks of the processes of a tree begin anew, at what each holds now.
func ForgetPeak(root int) {
	for _, p := range Tree(root) {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID), []byte("5"), 0)
	}
}
