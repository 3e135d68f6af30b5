package early

import (
	"os"
	"strconv"
	"syscall"
)

// maxVisits ends a walk through a tree that grows as fast as it is walked.
const maxVisits = 20000

// Walk calls visit for every process below root, parents before their children. What is born meanwhile may be missed: a
// caller that wants all of them gone walks again.
func Walk(root int, visit func(pid int)) {
	children := ChildrenNow()
	found := children(root)
	for i := 0; i < len(found) && i < maxVisits; i++ {
		visit(found[i])
		found = append(found, children(found[i])...)
	}
}

// KillBelow kills every process below this one, which leads a session: whole process groups, each in one step that no fork can
// slip through, which is what beats a fork bomb. A group of a descendant holds nothing but descendants, since a group never
// spans sessions, and in ours there is only this process beside them. The caller sees to it that none is reaped meanwhile, so
// that no id becomes somebody else's.
func KillBelow() {
	own, killed := syscall.Getpgrp(), map[int]bool{}
	Walk(os.Getpid(), func(pid int) {
		group, err := syscall.Getpgid(pid)
		switch {
		case err != nil || killed[group]:
		case group == own:
			_ = syscall.Kill(pid, syscall.SIGKILL)
		default:
			killed[group] = true
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	})
}

// ChildrenNow returns the way to find the children of a process. Asking its threads is cheap, but needs a system built with
// CONFIG_PROC_CHILDREN; else the parent of every process there is is read, once.
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
		for _, field := range Words(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

func childrenByScan() func(pid int) []int {
	byParent := map[int][]int{}
	for _, pid := range numbersIn("/proc") {
		if parent, ok := parentIn(Stat(pid)); ok {
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

// Stat is what /proc/PID/stat says of a process from its third field on, which is its state; nil when it has ended.
func Stat(pid int) []string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return afterName(string(stat))
}

// afterName returns the fields from the third on. The second is the name of the program in parentheses, which may itself hold
// spaces and parentheses.
func afterName(stat string) []string {
	end := len(stat)
	for end > 0 && stat[end-1] != ')' {
		end--
	}
	return Words(stat[end:])
}

// parentIn reads the second of these fields.
func parentIn(fields []string) (int, bool) {
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil
}
