package serve

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/agentco/agent/proto/early"
)

// stopLimit bounds the wait for processes to stop, which takes them no time unless the
// machine is too busy to let them.
const stopLimit = 300 * time.Millisecond

// blockLimit bounds how often a process is let go on that blocks SIGTERM: some do all their life.
const blockLimit = 20 * time.Millisecond

// stopAll stops every process below this one and returns them, none of them at a moment in which it blocks SIGTERM. A
// shell does that around a fork: stopped there, it would fork first when it goes on, and die of the signal then, which its
// child has not got.
func stopAll() map[int]bool {
	deadline, pause := time.Now().Add(blockLimit), 100*time.Microsecond
	for ; ; pause *= 2 {
		found := stopOnce()
		blocking := slices.DeleteFunc(slices.Collect(maps.Keys(found)), func(pid int) bool { return !blocksTerm(pid) })
		if len(blocking) == 0 || time.Now().After(deadline) {
			return found
		}
		for _, pid := range blocking {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		time.Sleep(pause)
	}
}

// blocksTerm reports whether SIGTERM would have to wait.
func blocksTerm(pid int) bool {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	fields := early.Words(string(status))
	at := slices.Index(fields, "SigBlk:") + 1
	if at == 0 || at == len(fields) {
		return false
	}
	blocked, err := strconv.ParseUint(fields[at], 16, 64)
	return err == nil && blocked&(1<<(syscall.SIGTERM-1)) != 0
}

// stopOnce stops every process below this one and returns them. A fork that has begun when
// its process is told to stop is still finished, so it looks again once all have stopped.
func stopOnce() map[int]bool {
	found := map[int]bool{}
	deadline, pause := time.Now().Add(stopLimit), 50*time.Microsecond
	for ; ; time.Sleep(pause) {
		pause = min(2*pause, 5*time.Millisecond)
		before, stopped := len(found), true
		for pid := range found {
			stopped = stopped && halted(pid)
		}
		early.Walk(os.Getpid(), func(pid int) {
			if !found[pid] {
				found[pid] = true
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
		})
		if stopped && len(found) == before || time.Now().After(deadline) {
			return found
		}
	}
}

// halted reports whether a process executes nothing: it is stopped, dead, or waits in the
// system, as one does after vfork.
func halted(pid int) bool {
	fields := early.Stat(pid) // none of what is dead and buried
	return len(fields) == 0 || slices.Contains([]byte("TtZXD"), fields[0][0])
}
