package serve

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// maxVisits ends a walk through a tree that grows as fast as it is walked.
const maxVisits = 20000

// Walk calls visit for every process below root, parents before their children. What is
// born meanwhile may be missed: a caller that wants all of them gone walks again.
func Walk(root int, visit func(pid int)) {
	children := ChildrenNow()
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
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		time.Sleep(pause)
	}
}

// blocksTerm reports whether SIGTERM would have to wait.
func blocksTerm(pid int) bool {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	fields := words(string(status))
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
		Walk(os.Getpid(), func(pid int) {
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
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true // dead and buried
	}
	fields := afterName(string(stat))
	return len(fields) == 0 || slices.Contains([]byte("TtZXD"), fields[0][0])
}

// ChildrenNow returns the way to find the children of a process. Asking its threads is
// cheap, but needs a kernel built with CONFIG_PROC_CHILDREN.
func ChildrenNow() func(pid int) []int {
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		return childrenByScan()
	}
	return childrenByTask
}

// childrenByTask asks each thread of pid for the children it forked.
func childrenByTask(pid int) []int {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	var found []int
	for _, thread := range numbersIn(tasks) {
		text, err := os.ReadFile(tasks + strconv.Itoa(thread) + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range words(string(text)) {
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
	for _, pid := range numbersIn("/proc") {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			continue // the process has ended
		}
		if parent, ok := parentIn(string(stat)); ok {
			byParent[parent] = append(byParent[parent], pid)
		}
	}
	return func(pid int) []int { return byParent[pid] }
}

// numbersIn lists the entries of a directory that are numbers: processes, or threads of one.
func numbersIn(dir string) []int {
	entries, _ := os.ReadDir(dir)
	var found []int
	for _, entry := range entries {
		if n, err := strconv.Atoi(entry.Name()); err == nil {
			found = append(found, n)
		}
	}
	return found
}

// parentIn reads the fourth field of a stat file.
func parentIn(stat string) (int, bool) {
	fields := afterName(stat)
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil
}

// afterName returns the fields of a stat file from the third on. The second is the name of
// the program in parentheses, which may itself hold spaces and parentheses.
func afterName(stat string) []string {
	end := len(stat)
	for end > 0 && stat[end-1] != ')' {
		end--
	}
	return words(stat[end:])
}
