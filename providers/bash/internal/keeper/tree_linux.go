package keeper

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxVisits ends a walk through a tree that grows as fast as it is walked.
const maxVisits = 20000

// walk calls visit for every process below root, parents before their children. What is
// born meanwhile may be missed: a caller that wants all of them gone walks again.
func walk(root int, visit func(pid int)) {
	children := childrenNow()
	found := children(root)
	for i := 0; i < len(found) && i < maxVisits; i++ {
		visit(found[i])
		found = append(found, children(found[i])...)
	}
}

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
			_ = unix.Kill(pid, unix.SIGCONT)
		}
		time.Sleep(pause)
	}
}

// blocksTerm reports whether SIGTERM would have to wait.
func blocksTerm(pid int) bool {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, mask, _ := strings.Cut(string(status), "\nSigBlk:\t")
	mask, _, _ = strings.Cut(mask, "\n")
	blocked, err := strconv.ParseUint(mask, 16, 64)
	return err == nil && blocked&(1<<(unix.SIGTERM-1)) != 0
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
		walk(os.Getpid(), func(pid int) {
			if !found[pid] {
				found[pid] = true
				_ = unix.Kill(pid, unix.SIGSTOP)
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
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true // dead and buried
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) == 0 || strings.ContainsAny(string(fields[0]), "TtZXD")
}

// childrenNow returns the way to find the children of a process. Asking its threads is
// cheap, but needs a kernel built with CONFIG_PROC_CHILDREN.
func childrenNow() func(pid int) []int {
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		return childrenByScan()
	}
	return childrenByTask
}

// childrenByTask asks each thread of pid for the children it forked.
func childrenByTask(pid int) []int {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	var found []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

// childrenByScan reads the parent of every process there is, once.
func childrenByScan() func(pid int) []int {
	byParent := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		if parent, ok := parentIn(text); ok {
			byParent[parent] = append(byParent[parent], pid)
		}
	}
	return func(pid int) []int { return byParent[pid] }
}

// parentIn reads the fourth field of a stat file. The second is the name of the
// program in parentheses, which may itself hold spaces and parentheses.
func parentIn(stat []byte) (int, bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
