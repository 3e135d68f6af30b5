package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Used is the processor time of a process with all that descend from it, as far as their threads live: to the nanosecond,
// which what /proc/PID/stat says of them is not. It is zero where the system does not tell.
func Used(root int) (total time.Duration) {
	for _, p := range Tree(root) {
		total += used(p.PID)
	}
	return total
}

// UsedHere is Used of this process alone.
func UsedHere() time.Duration { return used(os.Getpid()) }

func used(pid int) (total time.Duration) {
	threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	for _, file := range threads {
		b, _ := os.ReadFile(file)
		running, _, _ := bytes.Cut(b, []byte(" "))
		ns, _ := strconv.ParseInt(string(running), 10, 64)
		total += time.Duration(ns)
	}
	return total
}
